//! What the last search found and nobody has settled since: `.dormouse/consolidate/pairs.json`.

use chrono::NaiveDate;
use dormouse_vault::meta::Dismissed;
use dormouse_vault::{NotePath, Vault};
use serde::{Deserialize, Serialize};

use super::{DuplicatePair, dismissed};
use crate::cache;
use crate::error::ConsolidateError;
use crate::inputs::Inputs;
use crate::progress::Watch;

const FILE: &str = "consolidate/pairs.json";

/// The pairs of a search for duplicates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PairsFound {
    /// The day of its page.
    pub(crate) day: NaiveDate,
    pub(crate) pairs: Vec<(NotePath, NotePath)>,
}

impl PairsFound {
    pub(crate) fn of(pairs: &[DuplicatePair], day: NaiveDate) -> Self {
        Self { day, pairs: pairs.iter().map(|pair| (pair.keep.clone(), pair.other.clone())).collect() }
    }

    /// Keeps them for the next health check.
    pub(crate) fn store(&self, vault: &Vault) {
        if cache::store(vault, FILE, self).is_err() {
            tracing::warn!("the pairs that were found could not be kept");
        }
    }

    /// The pairs of the last search that are open: both notes are there, and the pair is not dismissed.
    /// `None` when there was no search. Reads the notes of dismissed pairs alone.
    pub(crate) fn open(inputs: &Inputs<'_>, watch: &Watch<'_>) -> Result<Option<Self>, ConsolidateError> {
        let vault = inputs.vault();
        let Some(found) = cache::load::<Self>(vault, FILE) else { return Ok(None) };
        let dismissed = vault.meta::<Dismissed>().value;
        let says = |path: &NotePath| dismissed::says_now(vault, path).ok();
        let is_settled = |a: &NotePath, b: &NotePath| {
            !inputs.snapshot.exists(a)
                || !inputs.snapshot.exists(b)
                || dismissed.as_ref().is_some_and(|dismissed| dismissed::holds(dismissed, a, b, says))
        };
        let mut pairs = Vec::new();
        for (a, b) in found.pairs {
            watch.check()?;
            if !is_settled(&a, &b) {
                pairs.push((a, b));
            }
        }
        Ok(Some(Self { day: found.day, pairs }))
    }
}
