//! The access spool: recall's only write. One line a hit, appended whole, folded in by consolidate.

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::error::VaultError;
use crate::meta::AccessKind;
use crate::path::NotePath;

/// One access of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessHit {
    /// The note.
    pub path: NotePath,
    /// When, in the reader's zone.
    pub at: DateTime<FixedOffset>,
    /// How.
    pub kind: AccessKind,
}

/// The spool of a vault: `meta/access_spool.jsonl`.
#[derive(Debug, Clone)]
pub struct Spool {
    pub(crate) file: std::path::PathBuf,
}

impl Spool {
    /// Appends hits, each as one line in one write, so that processes side by side never tear a
    /// line. Does nothing for an empty slice.
    ///
    /// # Errors
    /// The disk; a caller that only reads reports it and goes on.
    pub fn append(&self, hits: &[AccessHit]) -> Result<(), VaultError> {
        let _ = (hits, &self.file);
        todo!()
    }

    /// Reads what is spooled; lines that can't be read are skipped and counted. `mark` names what
    /// was read, for [`Spool::discard`].
    ///
    /// # Errors
    /// The disk.
    pub fn read(&self) -> Result<Spooled, VaultError> {
        todo!()
    }

    /// Drops what `read` returned, once it has been folded in. Hits that came in since stay.
    ///
    /// # Errors
    /// The disk.
    pub fn discard(&self, spooled: &Spooled) -> Result<(), VaultError> {
        let _ = spooled;
        todo!()
    }
}

/// What [`Spool::read`] found.
#[derive(Debug, Clone, Default)]
pub struct Spooled {
    /// The hits, in order.
    pub hits: Vec<AccessHit>,
    /// Lines that could not be read.
    pub skipped: usize,
    /// Bytes that were read.
    pub(crate) bytes: u64,
}
