//! Duplicates: pairs of digest notes that say the same, reported side by side and never merged.

mod candidates;
mod judge;
mod names;
mod page;

use dormouse_vault::{Layer, NotePath, Snapshot, Vault, VaultError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use page::entry;

use crate::config::DuplicatesConfig;
use crate::error::ConsolidateError;
use crate::inputs::Inputs;
use crate::progress::Watch;

/// Why two notes are reported, most certain first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DuplicateReason {
    /// A sync tool's copy of a note.
    ConflictCopy,
    /// The same words in the same order.
    Identical,
    /// Names that are equal but for case and blanks.
    SameName {
        /// Whether more than two notes have the name, so that none is suggested.
        ambiguous: bool,
    },
    /// Much of the text in common, both ways.
    Similar {
        /// Jaccard likeness of the shingles, 0..=1.
        jaccard: f64,
        /// The smaller of the two shares, 0..=1.
        containment: f64,
    },
    /// Names that differ by a letter or two.
    SimilarName {
        /// Likeness of the names, 0..=1.
        likeness: f64,
    },
}

/// Two notes that a person should look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DuplicatePair {
    /// The note that a merge would keep: the original, or the one with more links to it, or the
    /// first by path.
    pub keep: NotePath,
    /// The other.
    pub other: NotePath,
    /// Why.
    #[serde(flatten)]
    pub reason: DuplicateReason,
    /// Sentences that stand in both, at most five.
    pub common: Vec<String>,
    /// Sentences of `keep` alone, at most five.
    pub only_keep: Vec<String>,
    /// Sentences of `other` alone, at most five.
    pub only_other: Vec<String>,
    /// For a conflict copy: a unified diff from the original, cut at forty lines.
    pub diff: Option<String>,
}

/// All pairs: conflict copies first, then the most certain, then by path. Near-linear: only notes
/// that share a hash band, a text or a name are compared.
pub(crate) fn find(
    inputs: &Inputs,
    copies: Vec<DuplicatePair>,
    config: &DuplicatesConfig,
    watch: &Watch<'_>,
) -> Result<Vec<DuplicatePair>, ConsolidateError> {
    watch.begin(2 * inputs.digests.len());
    let views = judge::views(inputs, watch)?;
    let mut pairs = copies;
    for (done, (a, b)) in candidates::pairs(&views, watch)?.into_iter().enumerate() {
        if done % 64 == 0 {
            watch.check()?;
        }
        if let Some(pair) = judge::judge(inputs, &views, a, b, config) {
            pairs.push(pair);
        }
    }
    pairs.sort_by(|a, b| {
        rank(&a.reason).total_cmp(&rank(&b.reason)).then_with(|| (&a.keep, &a.other).cmp(&(&b.keep, &b.other)))
    });
    watch.step(2 * inputs.digests.len())?;
    Ok(pairs)
}

/// Order of certainty, smallest first.
fn rank(reason: &DuplicateReason) -> f64 {
    match reason {
        DuplicateReason::ConflictCopy => 0.0,
        DuplicateReason::Identical => 1.0,
        DuplicateReason::SameName { .. } => 2.0,
        DuplicateReason::Similar { jaccard, .. } => 4.0 - jaccard,
        DuplicateReason::SimilarName { likeness } => 6.0 - likeness,
    }
}

/// The conflict copies of digest notes beside their originals.
pub(crate) fn conflict_copies(vault: &Vault, snapshot: &Snapshot) -> Result<Vec<DuplicatePair>, ConsolidateError> {
    let mut out = Vec::new();
    for note in snapshot.notes().filter(|n| n.layer == Layer::Digest) {
        let Some(original) = &note.conflict_of else {
            continue;
        };
        let texts = (vault.read(original), vault.read(&note.path));
        let (ours, theirs) = match texts {
            (Ok(ours), Ok(theirs)) => (ours.text, theirs.text),
            (Err(VaultError::NotFound { .. }), _) | (_, Err(VaultError::NotFound { .. })) => {
                continue;
            }
            (Err(error), _) | (_, Err(error)) => return Err(error.into()),
        };
        out.push(judge::conflict_copy(original, &note.path, &ours, &theirs));
    }
    Ok(out)
}
