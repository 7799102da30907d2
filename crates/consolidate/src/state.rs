//! `.dormouse/consolidate.json`: when each task last ran, and which version of each digest note was
//! seen when, so that an edit counts as activity without trusting a file's mtime.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use dormouse_vault::{CommitError, NotePath, Vault, Version};
use serde::{Deserialize, Serialize};

use crate::cache;
use crate::inputs::Inputs;
use crate::scheduler::LastRuns;

const FILE: &str = "consolidate.json";

/// What the stage remembers between runs beside the derived signals.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct State {
    pub(crate) last_runs: LastRuns,
    pub(crate) seen: BTreeMap<NotePath, Seen>,
}

/// The version of a note at the last look.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) version: Version,
    /// The day on which a new version was met; `None` as long as it is the first one known.
    pub(crate) written: Option<NaiveDate>,
}

impl State {
    pub(crate) fn load(vault: &Vault) -> Self {
        cache::load(vault, FILE).unwrap_or_default()
    }

    pub(crate) fn store(&self, vault: &Vault) -> Result<(), CommitError> {
        cache::store(vault, FILE, self)
    }

    /// The state after a look at `inputs` on `today`. On the first look nothing counts as written:
    /// a fresh clone makes nothing recent. Later, a note that is new or has other content does.
    pub(crate) fn look(&self, inputs: &Inputs, today: NaiveDate) -> BTreeMap<NotePath, Seen> {
        let first = self.seen.is_empty();
        let seen = inputs.digests.iter().map(|digest| {
            let version = digest.note.version;
            let written = match self.seen.get(digest.path()) {
                Some(seen) if seen.version == version => seen.written,
                _ if first => None,
                _ => Some(today),
            };
            (digest.path().clone(), Seen { version, written })
        });
        seen.collect()
    }
}
