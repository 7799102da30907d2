//! What a digest says already. Provenance in the notes themselves, not the ledger, is what keeps a
//! material from being written twice.

use std::collections::BTreeSet;

use dormouse_vault::NotePath;
use dormouse_vault::text::content_words;

use crate::decide::{Candidate, CandidateBlock};
use crate::gate::{GroundedFact, numbers};
use crate::markdown::{folded, plain, without_subject};
use crate::material::Material;

/// How much of a fact's words a block must hold to count as the same statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Likeness {
    /// When the block cites the very same block of the material.
    pub(crate) same_anchor: f64,
    /// When it cites the material only.
    pub(crate) same_note: f64,
}

impl Likeness {
    /// Rules word a fact the same way each time; a model doesn't.
    pub(crate) fn of(uses_model: bool) -> Self {
        if uses_model { Self { same_anchor: 0.5, same_note: 0.75 } } else { Self { same_anchor: 0.85, same_note: 0.9 } }
    }
}

/// The digest that states `fact` already, from the same material.
pub(crate) fn stated<'c>(
    fact: &GroundedFact,
    material: &Material,
    citing: &'c [Candidate],
    likeness: Likeness,
) -> Option<&'c NotePath> {
    let ids: BTreeSet<String> = anchors(fact, material);
    citing
        .iter()
        .find(|note| note.blocks.iter().any(|block| block_states(fact, &note.name, material, &ids, block, likeness)))
        .map(|n| &n.path)
}

fn anchors(fact: &GroundedFact, material: &Material) -> BTreeSet<String> {
    fact.passages.iter().filter_map(|i| material.passages.get(*i)?.id.as_deref()).map(str::to_lowercase).collect()
}

fn block_states(
    fact: &GroundedFact,
    name: &str,
    material: &Material,
    ids: &BTreeSet<String>,
    block: &CandidateBlock,
    likeness: Likeness,
) -> bool {
    let mut cited = block.sources.iter().filter(|(path, _)| *path == material.path).peekable();
    if cited.peek().is_none() {
        return false;
    }
    let said = plain(without_subject(&fact.text, name));
    if folded(&block.text).contains(&folded(&said)) {
        return true;
    }
    let anchored = cited.any(|(_, id)| id.as_ref().is_some_and(|id| ids.contains(&id.to_lowercase())));
    let needed = if anchored { likeness.same_anchor } else { likeness.same_note };
    held(&said, &block.text) >= needed && same_claims(&said, &block.text)
}

/// Whether a block says the same thing as a text, from whatever source: most words both ways, the
/// same numbers, the same denials.
pub(crate) fn restates(text: &str, block: &str) -> bool {
    folded(text) == folded(block) || (held(text, block) >= 0.9 && held(block, text) >= 0.7 && same_claims(text, block))
}

/// [`contained`], with or without the words that only say whose rule or wish it is.
fn held(text: &str, other: &str) -> f64 {
    contained(text, other).max(contained(&bare(text), &bare(other)))
}

/// The text without the words that only say whose wish or rule it is.
pub(crate) fn bare(text: &str) -> String {
    const CHINESE: &[&str] =
        &["用户", "希望", "以后都", "以后", "强调", "要求", "每次", "必须", "不要", "因为", "所以"];
    const ENGLISH: &[&str] = &[
        "user", "users", "prefers", "prefer", "wants", "want", "wanted", "likes", "from", "now", "must", "never",
        "always", "agent",
    ];
    let mut out = text.to_owned();
    for cue in CHINESE {
        out = out.replace(cue, " ");
    }
    out.split_whitespace()
        .filter(|w| {
            let word = w.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            !ENGLISH.contains(&word.as_str())
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// The share of the content words of `text` that stand in `other`, 0..=1; 0 when there are none.
pub(crate) fn contained(text: &str, other: &str) -> f64 {
    let words: BTreeSet<String> = content_words(text).into_iter().collect();
    if words.is_empty() {
        return 0.0;
    }
    let other: BTreeSet<String> = content_words(other).into_iter().collect();
    words.intersection(&other).count() as f64 / words.len() as f64
}

/// Numbers of the text stand in the other, and both deny equally often.
fn same_claims(text: &str, other: &str) -> bool {
    let all = |t: &str| numbers(t);
    all(text).is_subset(&all(other)) && denials(text) == denials(other)
}

fn denials(text: &str) -> usize {
    let lower = text.to_lowercase();
    let english = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
        .filter(|w| {
            matches!(*w, "not" | "no" | "never" | "none" | "without" | "cannot")
                || w.ends_with("n't")
                || w.ends_with("n’t")
        })
        .count();
    english + lower.chars().filter(|c| matches!(c, '不' | '没' | '无' | '非' | '勿' | '别')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_claim_in_other_order_is_a_restatement_and_another_number_is_not() {
        assert!(restates("Alpha is 0.15 from today.", "alpha is 0.15 from today"));
        assert!(!restates("Alpha is 0.15 from today.", "Alpha is 0.35 from today."));
        assert!(!restates("Scores are normalised by their maximum.", "Scores are normalised and added."));
        assert!(!restates("Never start a server.", "Start a server."));
        assert!(!restates("不要自动删除副本", "自动删除副本"));
    }

    #[test]
    fn whose_wish_it_is_is_no_likeness() {
        assert_eq!(bare("The user prefers tea."), "The tea.");
        assert_eq!(bare("用户希望喝茶"), "喝茶");
    }
}
