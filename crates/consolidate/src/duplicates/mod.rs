//! Duplicates: pairs of digest notes that say the same, reported side by side and never merged.
//!
//! [`Signature::of`] is all that is kept of a note for the search, and depends on what the note says
//! alone. From the signatures an inverted index gives the pairs that share rare features; only of
//! these are the texts compared, sentence by sentence and both ways. [`dismiss`] remembers what a
//! person has looked at.

mod again;
mod candidates;
mod dismissed;
mod judge;
mod kept;
mod meaning;
mod names;
mod numbers;
mod open;
mod page;
mod signature;

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::time::{Duration, Instant};

use dormouse_vault::meta::Dismissed;
use dormouse_vault::{Layer, NotePath, Problem, ProblemKind, Snapshot, Vault, VaultError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use similar::TextDiff;

pub use dismissed::{Dismissal, dismiss, dismissals, undismiss};
pub(crate) use kept::{Signed, sign};
pub use meaning::Vectors;
pub(crate) use open::PairsFound;
pub(crate) use page::entry;
pub use signature::Signature;

use crate::config::DuplicatesConfig;
use crate::error::ConsolidateError;
use crate::inputs::Inputs;
use crate::progress::Watch;
use candidates::{COMMON, Sample};
use judge::{Comparison, Name, View};

/// Sentences shown of each kind.
const SHOWN: usize = 5;
/// Lines of a diff that are shown.
const DIFF_LINES: usize = 40;
/// How long two texts are compared line by line; what is left then is shown as replaced whole.
const DIFF_TIME: Duration = Duration::from_millis(300);
/// Compared texts that are held at once.
const HELD: usize = 4096;

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
    /// Much of the text in common. A share is the mean of a note's sentences and of its words that
    /// stand in the other, boilerplate left out.
    Similar {
        /// What of `keep` stands in `other`, 0..=1.
        of_keep: f64,
        /// What of `other` stands in `keep`, 0..=1.
        of_other: f64,
    },
    /// Vectors that point the same way.
    SameMeaning {
        /// Their cosine, 0..=1.
        cosine: f64,
    },
    /// Names that differ by a letter or two.
    SimilarName {
        /// Likeness of the names, 0..=1.
        likeness: f64,
    },
}

/// One sentence of each note: the same one, edited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Changed {
    /// As it stands in `keep`.
    pub keep: String,
    /// As it stands in `other`.
    pub other: String,
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
    /// Sentences that stand in both in other words, at most five.
    pub changed: Vec<Changed>,
    /// Sentences of `keep` alone, at most five.
    pub only_keep: Vec<String>,
    /// Sentences of `other` alone, at most five.
    pub only_other: Vec<String>,
    /// For a conflict copy: a unified diff from the original, cut at forty lines. Its last line says
    /// so when the two differ too much to be compared whole in a third of a second.
    pub diff: Option<String>,
}

/// What a search knows beside the notes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Known<'a> {
    /// Pairs that are not to be shown again.
    pub(crate) dismissed: Option<&'a Dismissed>,
    /// Vectors, when a caller has any.
    pub(crate) vectors: Option<&'a dyn Vectors>,
}

/// All pairs: conflict copies first, then the most certain, then by path. Near-linear: only notes that share a rare feature, a text, a name or
/// a direction are compared.
pub(crate) fn find(
    inputs: &Inputs<'_>,
    signed: &Signed,
    copies: Vec<DuplicatePair>,
    known: Known<'_>,
    config: &DuplicatesConfig,
    watch: &Watch<'_>,
) -> Result<Vec<DuplicatePair>, ConsolidateError> {
    let names = names_of(inputs);
    watch.check()?;
    let keys: Vec<String> = names.iter().map(|name| name.key.clone()).collect();
    let Signed { signatures, met } = signed;
    let mut candidates = met.pairs.clone();
    let alike = |pair: &(u32, u32)| may_be_named_alike(signatures, &names, *pair, config);
    candidates.extend(candidates::by_name_and_text(signatures, &keys, watch)?.into_iter().filter(alike));
    let paths = inputs.digests.iter().map(|digest| digest.path());
    let units = known.vectors.map(|vectors| meaning::units(paths, vectors, watch)).transpose()?.unwrap_or_default();
    candidates.extend(meaning::pairs(&units, config.meaning, watch)?);
    watch.check()?;
    candidates.sort_unstable();
    candidates.dedup();
    let mut search = Search { inputs, signatures, common: &met.common, names, units, config, held: HashMap::new() };
    let mut pairs = copies;
    for (a, b) in candidates {
        watch.check()?;
        pairs.extend(search.judge(a as usize, b as usize));
    }
    if let Some(dismissed) = known.dismissed {
        let live = |path: &NotePath| inputs.position(path).and_then(|at| signatures.get(at)).map(dismissed::says);
        // A conflict copy has no signature: its file is read.
        let says = |path: &NotePath| live(path).or_else(|| dismissed::says_now(inputs.vault(), path).ok());
        pairs.retain(|pair| !dismissed::holds(dismissed, &pair.keep, &pair.other, says));
    }
    pairs.sort_by(|a, b| {
        rank(&a.reason).total_cmp(&rank(&b.reason)).then_with(|| (&a.keep, &a.other).cmp(&(&b.keep, &b.other)))
    });
    watch.step(inputs.digests.len())?;
    Ok(pairs)
}

/// Whether a pair that was met by name or text is worth a look at the texts.
fn may_be_named_alike(signatures: &[Signature], names: &[Name], (a, b): (u32, u32), config: &DuplicatesConfig) -> bool {
    let says = |at: u32| signatures.get(at as usize).map_or(0, |s| s.text);
    let (Some(n), Some(m)) = (names.get(a as usize), names.get(b as usize)) else { return false };
    (says(a) != 0 && says(a) == says(b))
        || (n.numbers == m.numbers && (n.key == m.key || names::likeness(&n.key, &m.key) >= config.name_likeness))
}

fn names_of(inputs: &Inputs<'_>) -> Vec<Name> {
    let mut out: Vec<Name> = inputs.digests.iter().map(|d| Name::of(&d.note.name, d.path().stem())).collect();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    out.iter().for_each(|name| *counts.entry(name.key.clone()).or_insert(0) += 1);
    out.iter_mut().for_each(|name| name.shared = counts.get(&name.key).copied().unwrap_or(1));
    out
}

struct Search<'a> {
    inputs: &'a Inputs<'a>,
    signatures: &'a [Signature],
    common: &'a candidates::Common,
    names: Vec<Name>,
    units: Vec<Option<meaning::Unit>>,
    config: &'a DuplicatesConfig,
    held: HashMap<usize, Rc<View>>,
}

impl Search<'_> {
    /// Judges a candidate pair; `None` when the notes are no duplicates.
    fn judge(&mut self, a: usize, b: usize) -> Option<DuplicatePair> {
        let (first, second) = (self.inputs.digests.get(a)?.path(), self.inputs.digests.get(b)?.path());
        if is_source(self.inputs, first, second) || is_source(self.inputs, second, first) {
            return None;
        }
        let graph = self.inputs.snapshot.graph();
        let swap = graph.inbound(second) > graph.inbound(first);
        let (keep, other) = if swap { (b, a) } else { (a, b) };
        let (x, y) = (self.view(keep)?, self.view(other)?);
        let comparison = judge::compare(&x, &y);
        let reason = self.reason(keep, other, &x, &y, &comparison)?;
        let sides = comparison.sides(&x, &y, SHOWN);
        Some(DuplicatePair {
            keep: self.inputs.digests.get(keep)?.path().clone(),
            other: self.inputs.digests.get(other)?.path().clone(),
            reason,
            common: sides.common,
            changed: sides.changed,
            only_keep: sides.only_x,
            only_other: sides.only_y,
            diff: None,
        })
    }

    fn view(&mut self, at: usize) -> Option<Rc<View>> {
        if let Some(view) = self.held.get(&at) {
            return Some(Rc::clone(view));
        }
        if self.held.len() >= HELD {
            self.held.clear();
        }
        let (digest, signature) = (self.inputs.digests.get(at)?, self.signatures.get(at)?);
        let common = self.common.get(at).copied().unwrap_or(0);
        let view = Rc::new(View::of(&digest.statement()?, signature, common));
        self.held.insert(at, Rc::clone(&view));
        Some(view)
    }

    fn reason(&self, a: usize, b: usize, x: &View, y: &View, compared: &Comparison) -> Option<DuplicateReason> {
        let (s, t) = (self.signatures.get(a)?, self.signatures.get(b)?);
        let (n, m) = (self.names.get(a)?, self.names.get(b)?);
        let round = crate::communities::round;
        if s.text != 0 && s.text == t.text {
            return Some(DuplicateReason::Identical);
        }
        if numbers::contradict(&n.record, &m.record) {
            return None;
        }
        // Two texts of some length that have hardly a sentence in common only share a name.
        let long = s.tokens.min(t.tokens) as usize >= 2 * self.config.min_tokens;
        let apart = (long && compared.share() < 0.2) || compared.is_contradicted();
        if !n.key.is_empty() && n.key == m.key && n.numbers == m.numbers && n.shared <= COMMON && !apart {
            return Some(DuplicateReason::SameName { ambiguous: n.shared > 2 });
        }
        let (short, longer) = (s.tokens.min(t.tokens) as usize, s.tokens.max(t.tokens) as f64);
        let gate = short >= self.config.min_tokens && longer <= self.config.max_length_ratio * short as f64;
        if gate {
            let bits = |at: usize| self.common.get(at).copied().unwrap_or(0);
            let sampled = s.sketch.len().max(t.sketch.len()) >= signature::SKETCH;
            let sample = Sample::of(s, t, bits(a), bits(b));
            if let Some((of_keep, of_other)) = compared.verdict(&sample, sampled, self.config) {
                return Some(DuplicateReason::Similar { of_keep: round(of_keep), of_other: round(of_other) });
            }
        }
        if compared.is_contradicted() || numbers::contradict(&x.numbers(), &y.numbers()) {
            return None;
        }
        let cosine =
            meaning::cosine(self.units.get(a).and_then(Option::as_ref), self.units.get(b).and_then(Option::as_ref));
        if gate && cosine >= self.config.meaning {
            return Some(DuplicateReason::SameMeaning { cosine: round(cosine) });
        }
        let likeness = names::likeness(&n.key, &m.key);
        let telling = names::is_telling(&n.key) && names::is_telling(&m.key);
        let alike = !apart && telling && likeness >= self.config.name_likeness && n.numbers == m.numbers;
        alike.then_some(DuplicateReason::SimilarName { likeness: round(likeness) })
    }
}

/// Whether `digest` names `source` as its source, or as the note that it was split from.
fn is_source(inputs: &Inputs<'_>, digest: &NotePath, source: &NotePath) -> bool {
    let edges = inputs.snapshot.graph().out_edges(digest);
    edges.into_iter().any(|e| e.target == source && matches!(e.predicate, Some("derived_from" | crate::split::PART_OF)))
}

/// Order of certainty, smallest first.
fn rank(reason: &DuplicateReason) -> f64 {
    match reason {
        DuplicateReason::ConflictCopy => 0.0,
        DuplicateReason::Identical => 1.0,
        DuplicateReason::SameName { .. } => 2.0,
        DuplicateReason::Similar { of_keep, of_other } => 4.0 - f64::midpoint(*of_keep, *of_other),
        DuplicateReason::SameMeaning { cosine } => 6.0 - cosine,
        DuplicateReason::SimilarName { likeness } => 8.0 - likeness,
    }
}

/// The conflict copies of digest notes beside their originals, and the files among them that can't be
/// read: their pairs are left out.
pub(crate) fn conflict_copies(
    vault: &Vault,
    snapshot: &Snapshot,
    watch: &Watch<'_>,
) -> Result<(Vec<DuplicatePair>, Vec<Problem>), ConsolidateError> {
    let (mut out, mut problems) = (Vec::new(), Vec::new());
    for note in snapshot.notes().filter(|n| n.layer == Layer::Digest) {
        let Some(original) = &note.conflict_of else {
            continue;
        };
        watch.check()?;
        let texts = (vault.read(original), vault.read(&note.path));
        let (ours, theirs) = match texts {
            (Ok(ours), Ok(theirs)) => (ours.text, theirs.text),
            (Err(VaultError::NotFound { .. }), _) | (_, Err(VaultError::NotFound { .. })) => {
                continue;
            }
            (Err(error), _) | (_, Err(error)) => {
                let message = format!("a conflict copy was not compared: {error}");
                problems.push(Problem { kind: ProblemKind::Unreadable, line: None, message });
                continue;
            }
        };
        out.push(conflict_copy(original, &note.path, &ours, &theirs, DIFF_TIME));
    }
    Ok((out, problems))
}

/// The pair of a conflict copy and its original, compared for at most about `time`.
fn conflict_copy(original: &NotePath, copy: &NotePath, ours: &str, theirs: &str, time: Duration) -> DuplicatePair {
    let began = Instant::now();
    let diff = TextDiff::configure().timeout(time).diff_lines(ours, theirs);
    let cut = began.elapsed() >= time;
    let unified = diff.unified_diff().context_radius(1).to_string();
    let mut lines: Vec<&str> = unified.lines().take(DIFF_LINES + 1).collect();
    if lines.len() > DIFF_LINES {
        lines.truncate(DIFF_LINES);
        lines.push("…");
    }
    if cut {
        lines.push("… compared in part only: the two are long and differ much");
    }
    DuplicatePair {
        keep: original.clone(),
        other: copy.clone(),
        reason: DuplicateReason::ConflictCopy,
        common: Vec::new(),
        changed: Vec::new(),
        only_keep: Vec::new(),
        only_other: Vec::new(),
        diff: Some(lines.join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use dormouse_fixtures::temp_vault;

    use super::*;
    use crate::progress::Silent;

    #[test]
    fn a_copy_that_takes_too_long_to_compare_is_said_to_be_cut() {
        let path = |text| NotePath::new(text).unwrap();
        let text = |word: &str| (0..2_000).map(|i| format!("{word} {i}\n")).collect::<String>();
        let diff = |time| {
            let pair = conflict_copy(&path("a.md"), &path("b.md"), &text("one"), &text("two"), time);
            pair.diff.unwrap_or_default()
        };
        assert!(diff(Duration::ZERO).ends_with("… compared in part only: the two are long and differ much"));
        assert!(diff(Duration::from_secs(60)).ends_with("\n…"));
    }

    #[test]
    fn conflict_copies_are_not_read_once_the_run_is_cancelled() {
        let folder =
            temp_vault("=== digest/wiki/a.md\nx\n=== digest/wiki/a (Conflicted copy laptop 202611121030).md\ny\n");
        let vault = Vault::open(folder.path()).unwrap();
        let found = |cancel| {
            let watch = Watch { task: crate::Task::Duplicates, progress: &Silent, cancel };
            conflict_copies(&vault, &vault.snapshot(), &watch)
        };
        assert_eq!(found(&|| false).unwrap().0.len(), 1);
        assert!(matches!(found(&|| true), Err(ConsolidateError::Cancelled)));
    }
}
