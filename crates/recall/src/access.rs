//! The access spool: recall's one write, and never a reason to fail.

use chrono::{DateTime, FixedOffset};
use dormouse_vault::meta::AccessKind;
use dormouse_vault::{AccessHit, NotePath};

use crate::recall::Recall;

impl Recall {
    /// Appends hits to the spool; a warning when that fails. Nothing is noted without a time, in a
    /// read-only vault, or when the spool is off.
    pub(crate) fn note_access(
        &self,
        paths: &[NotePath],
        kind: AccessKind,
        now: Option<DateTime<FixedOffset>>,
    ) -> Option<String> {
        let at = now.filter(|_| self.config().spool && !self.vault().is_read_only())?;
        let hits: Vec<AccessHit> = paths.iter().map(|path| AccessHit { path: path.clone(), at, kind }).collect();
        self.vault().spool().append(&hits).err().map(|error| format!("the access spool can't be written: {error}"))
    }
}
