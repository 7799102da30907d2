//! The dream ledger: which material was dreamed, at which version.

use chrono::{DateTime, Utc};
use dormouse_vault::meta::{Artefact, DreamLedger, DreamOutcome, Dreamed};
use dormouse_vault::{NotePath, Version};

/// An empty ledger.
pub(crate) fn empty(at: DateTime<Utc>) -> DreamLedger {
    DreamLedger { version: DreamLedger::VERSION, computed_at: at, materials: Default::default() }
}

/// Whether this very content was dreamed.
pub(crate) fn is_settled(ledger: &DreamLedger, path: &NotePath, version: Version) -> bool {
    matches!(
        ledger.materials.get(path),
        Some(Dreamed { content, outcome: DreamOutcome::Done { .. }, .. }) if *content == version
    )
}

/// Failed tries so far, for content of any version.
pub(crate) fn tries(ledger: &DreamLedger, path: &NotePath) -> u32 {
    match ledger.materials.get(path) {
        Some(Dreamed { outcome: DreamOutcome::Pending { tries, .. }, .. }) => *tries,
        _ => 0,
    }
}
