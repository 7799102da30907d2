//! What a digest says already. Provenance in the notes themselves, not the ledger, is what keeps a
//! material from being written twice.

use std::collections::BTreeSet;

use dormouse_vault::NotePath;
use dormouse_vault::text::content_words;

use crate::decide::{Candidate, CandidateBlock};
use crate::gate::{GroundedFact, figures};
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
        .find(|note| {
            note.blocks.iter().any(|block| {
                block_states(fact, &note.name, material, &ids, block, likeness)
                    && !was_superseded(fact, note, block, material)
            })
        })
        .map(|n| &n.path)
}

/// Whether a block states a fact only as what was superseded later, by words that the material has
/// no more: it was changed back.
fn was_superseded(fact: &GroundedFact, note: &Candidate, block: &CandidateBlock, material: &Material) -> bool {
    let marked = ["Superseded ", "更正:"].iter().any(|mark| block.text.contains(mark));
    let last = || last_said(note, block, material).map(|(said, _)| said);
    marked
        && last().is_some_and(|last| {
            !letters(&last).contains(&letters(without_subject(&fact.text, &note.name))) && !stands(&last, material)
        })
}

/// What `block` says last from `material`, and the block of the material that it was taken from.
pub(crate) fn last_said(
    note: &Candidate,
    block: &CandidateBlock,
    material: &Material,
) -> Option<(String, Option<String>)> {
    if !block.open || block.related || !block.sources.iter().any(|(path, _)| *path == material.path) {
        return None;
    }
    let raw = note.text.get(block.span.clone())?;
    let target = material.path.link_target();
    let mut said = String::new();
    let mut last = None;
    for (i, part) in raw.split("(derived_from::").enumerate() {
        let (field, after) = if i == 0 { ("", part) } else { part.split_once("]])").unwrap_or((part, "")) };
        let cited = field.trim_start().trim_start_matches("[[").split('|').next().unwrap_or("");
        let (cited, id) = cited.split_once("#^").map_or((cited, None), |(path, id)| (path, Some(id.to_owned())));
        if i > 0 && cited == target {
            last = Some((said.clone(), id));
        }
        if !plain(after).trim().is_empty() {
            said = after.to_owned();
        }
    }
    last.map(|(said, id)| (undated(&said), id))
}

/// Whether the material says so as it is now, whatever the punctuation. Linear in the material.
pub(crate) fn stands(said: &str, material: &Material) -> bool {
    let whole: String = material.passages.iter().map(|p| letters(&p.text)).collect();
    whole.contains(&letters(said))
}

/// Letters and digits alone: what a statement keeps when it is made safe for a digest.
fn letters(text: &str) -> String {
    folded(&plain(text)).chars().filter(|c| c.is_alphanumeric()).collect()
}

/// A statement without list mark, subject in brackets and the date of a correction before it.
fn undated(said: &str) -> String {
    let text = plain(said.trim().trim_start_matches("- ").trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'));
    let text = text.trim();
    let dated = ["Superseded ", "More precisely, "].iter().any(|m| text.starts_with(m))
        || text.chars().take(10).all(|c| c.is_ascii_digit() || c == '-') && text.chars().count() > 10;
    let text = if dated { text.split_once([':', '：']).map_or(text, |(_, rest)| rest) } else { text }.trim();
    let text = match text.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((_, rest)) => rest,
        None => text,
    };
    ["User: ", "Agent: ", "用户：", "助手："].iter().find_map(|s| text.strip_prefix(s)).unwrap_or(text).to_owned()
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
    figures(text).is_subset(&figures(other)) && denials(text) == denials(other)
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
