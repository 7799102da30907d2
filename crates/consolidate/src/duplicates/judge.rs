//! Whether two notes are duplicates, and what they have in common.

use std::collections::{BTreeSet, HashMap};

use dormouse_vault::NotePath;
use dormouse_vault::text::{content_words, estimate_tokens, sentences, truncate_chars};
use similar::TextDiff;

use super::{DuplicatePair, DuplicateReason, names};
use crate::config::DuplicatesConfig;
use crate::error::ConsolidateError;
use crate::inputs::Inputs;
use crate::progress::Watch;

/// Words in a shingle.
const SHINGLE: usize = 3;
/// Sentences shown of each kind.
const SHOWN: usize = 5;
/// Lines of a diff that are shown.
const DIFF_LINES: usize = 40;

/// What is compared of a note. Headings, provenance and link targets are left out: they are alike
/// in every note of a kind.
#[derive(Debug, Clone)]
pub(super) struct View {
    pub(super) name: String,
    pub(super) statement: String,
    pub(super) tokens: usize,
    pub(super) words: Vec<String>,
    pub(super) text_hash: u64,
    pub(super) shingles: BTreeSet<u64>,
    pub(super) numbers: BTreeSet<String>,
    pub(super) name_numbers: BTreeSet<String>,
    /// How many notes have the same name.
    pub(super) same_name: usize,
}

/// One view a digest note. Linear in the texts.
pub(super) fn views(inputs: &Inputs, watch: &Watch<'_>) -> Result<Vec<View>, ConsolidateError> {
    let mut out = Vec::with_capacity(inputs.digests.len());
    for (at, digest) in inputs.digests.iter().enumerate() {
        if at % 64 == 0 {
            watch.step(at)?;
        }
        let statement = digest.statement();
        let words = content_words(&statement);
        let shingles = if words.len() < SHINGLE {
            BTreeSet::new()
        } else {
            words.windows(SHINGLE).map(|run| names::hash_bytes(run.join(" ").as_bytes())).collect()
        };
        let name = names::key(&digest.note.name);
        out.push(View {
            tokens: estimate_tokens(&statement),
            text_hash: names::hash_bytes(words.join(" ").as_bytes()),
            numbers: numbers(&statement),
            name_numbers: numbers(&format!("{name} {}", digest.path().stem())),
            statement,
            words,
            shingles,
            name,
            same_name: 0,
        });
    }
    let mut counts: HashMap<String, usize> = HashMap::new();
    for view in &out {
        *counts.entry(view.name.clone()).or_insert(0) += 1;
    }
    for view in &mut out {
        view.same_name = counts.get(&view.name).copied().unwrap_or(1);
    }
    Ok(out)
}

/// Numbers, dates and versions of a text: runs of digits with inner `.`, `-`, `:`, `/`.
fn numbers(text: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let mut run = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_numeric() || (!run.is_empty() && matches!(c, '.' | '-' | ':' | '/')) {
            run.push(c);
        } else if !run.is_empty() {
            out.insert(run.trim_end_matches(['.', '-', ':', '/']).to_owned());
            run.clear();
        }
    }
    out
}

/// Each has a number that the other lacks: two records of one form, not one thing twice.
fn contradict(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    !a.is_subset(b) && !b.is_subset(a)
}

/// Judges a candidate pair; `None` when the notes are no duplicates.
pub(super) fn judge(
    inputs: &Inputs,
    views: &[View],
    a: usize,
    b: usize,
    config: &DuplicatesConfig,
) -> Option<DuplicatePair> {
    let (x, y) = (views.get(a)?, views.get(b)?);
    let reason = reason(x, y, config)?;
    let (first, second) = (inputs.digests.get(a)?.path(), inputs.digests.get(b)?.path());
    if is_source(inputs, first, second) || is_source(inputs, second, first) {
        return None;
    }
    let graph = inputs.snapshot.graph();
    let swap = graph.inbound(second) > graph.inbound(first);
    let ((keep, kept), (other, dropped)) = if swap { ((second, y), (first, x)) } else { ((first, x), (second, y)) };
    Some(pair(keep, other, &kept.statement, &dropped.statement, reason))
}

fn reason(x: &View, y: &View, config: &DuplicatesConfig) -> Option<DuplicateReason> {
    if !x.words.is_empty() && x.words == y.words && x.numbers == y.numbers {
        return Some(DuplicateReason::Identical);
    }
    if contradict(&x.name_numbers, &y.name_numbers) {
        return None;
    }
    if !x.name.is_empty() && x.name == y.name {
        return Some(DuplicateReason::SameName { ambiguous: x.same_name > 2 });
    }
    if contradict(&x.numbers, &y.numbers) {
        return None;
    }
    similar(x, y, config).or_else(|| {
        let likeness = names::likeness(&x.name, &y.name);
        let telling = names::is_telling(&x.name) && names::is_telling(&y.name);
        let alike = telling && likeness >= config.name_likeness && x.name_numbers == y.name_numbers;
        alike.then_some(DuplicateReason::SimilarName { likeness: crate::communities::round(likeness) })
    })
}

/// Much in common, both ways, between notes of some and about the same length.
fn similar(x: &View, y: &View, config: &DuplicatesConfig) -> Option<DuplicateReason> {
    let (short, long) = (x.tokens.min(y.tokens), x.tokens.max(y.tokens));
    if short < config.min_tokens || long as f64 > config.max_length_ratio * short as f64 {
        return None;
    }
    let both = x.shingles.intersection(&y.shingles).count() as f64;
    let (of_x, of_y) = (both / (x.shingles.len().max(1) as f64), both / (y.shingles.len().max(1) as f64));
    let jaccard = both / (x.shingles.len() as f64 + y.shingles.len() as f64 - both).max(1.0);
    let containment = of_x.min(of_y);
    (jaccard >= config.jaccard && containment >= config.containment).then_some(DuplicateReason::Similar {
        jaccard: crate::communities::round(jaccard),
        containment: crate::communities::round(containment),
    })
}

/// Whether `digest` names `source` as its source, or as the note that it was split from.
fn is_source(inputs: &Inputs, digest: &NotePath, source: &NotePath) -> bool {
    let edges = inputs.snapshot.graph().out_edges(digest);
    edges.into_iter().any(|e| e.target == source && matches!(e.predicate, Some("derived_from" | crate::split::PART_OF)))
}

fn pair(keep: &NotePath, other: &NotePath, kept: &str, dropped: &str, reason: DuplicateReason) -> DuplicatePair {
    let (left, right) = (keyed_sentences(kept), keyed_sentences(dropped));
    let keys = |side: &[(String, String)]| side.iter().map(|s| s.0.clone()).collect::<BTreeSet<_>>();
    let (in_left, in_right) = (keys(&left), keys(&right));
    let shown = |side: &[(String, String)], wanted: &dyn Fn(&String) -> bool| -> Vec<String> {
        side.iter().filter(|s| wanted(&s.0)).map(|s| s.1.clone()).take(SHOWN).collect()
    };
    DuplicatePair {
        keep: keep.clone(),
        other: other.clone(),
        reason,
        common: shown(&left, &|k| in_right.contains(k)),
        only_keep: shown(&left, &|k| !in_right.contains(k)),
        only_other: shown(&right, &|k| !in_left.contains(k)),
        diff: None,
    }
}

/// Sentences with what they are compared by, each once, in order.
fn keyed_sentences(text: &str) -> Vec<(String, String)> {
    let mut seen = BTreeSet::new();
    let ranges = sentences(text).into_iter().filter_map(|r| text.get(r));
    ranges
        .map(|s| {
            (
                content_words(s).join(" "),
                truncate_chars(s.trim_start_matches(['-', '*', '+', '>', ' ']), 200).to_owned(),
            )
        })
        .filter(|(key, _)| !key.is_empty() && seen.insert(key.clone()))
        .collect()
}

/// The pair of a conflict copy and its original.
pub(super) fn conflict_copy(original: &NotePath, copy: &NotePath, ours: &str, theirs: &str) -> DuplicatePair {
    let diff = TextDiff::from_lines(ours, theirs);
    let unified = diff.unified_diff().context_radius(1).to_string();
    let mut lines: Vec<&str> = unified.lines().take(DIFF_LINES + 1).collect();
    if lines.len() > DIFF_LINES {
        lines.truncate(DIFF_LINES);
        lines.push("…");
    }
    let diff = Some(lines.join("\n"));
    DuplicatePair { diff, ..pair(original, copy, ours, theirs, DuplicateReason::ConflictCopy) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_with_their_inner_marks() {
        let got: Vec<_> = numbers("1.2 bar, on 2026-01-10. At 10:30, v1.2.3.").into_iter().collect();
        assert_eq!(got, ["1.2", "1.2.3", "10:30", "2026-01-10"]);
    }

    #[test]
    fn more_detail_is_no_contradiction() {
        let set = |s: &str| numbers(s);
        assert!(contradict(&set("1.2"), &set("1.7")));
        assert!(!contradict(&set("1.2"), &set("1.2 and 7")));
        assert!(!contradict(&set(""), &set("7")));
    }
}
