//! Passages: the text of the best blocks, as a person reads it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use dormouse_vault::{Block, BlockKind, Note};

use super::blocks::Scored;
use super::reply::{Citation, Passage};
use crate::index::UnitId;
use crate::text::{Role, analyze};
use crate::units::{block_text, heading_path};

/// A further passage of a note is shown from this share of its best one's score on.
const WORTH_SHOWING: f64 = 0.25;

/// The passages of a note, best first. `text` is the note's, at the version that was scored.
pub(crate) fn passages(
    note: &Note,
    text: &str,
    scored: &[Scored],
    factor: f64,
    limit: usize,
    terms: &BTreeSet<&str>,
    cites: &BTreeMap<u32, BTreeSet<Citation>>,
) -> Vec<Passage> {
    let best = scored.first().map_or(0.0, Scored::score);
    let blocks = scored.iter().filter(|s| s.block != UnitId::HEADER && s.score() >= best * WORTH_SHOWING);
    let mut shown: Vec<(u32, f64)> = blocks.take(limit).map(|s| (s.block, s.score() * factor)).collect();
    if shown.is_empty() && limit > 0 {
        // The name alone matched: the note's first block stands for it.
        let first = note.doc().blocks.iter().position(|b| !matches!(b.kind, BlockKind::Rule | BlockKind::Comment));
        shown.extend(first.and_then(|at| u32::try_from(at).ok()).map(|at| (at, best * factor)));
    }
    shown.into_iter().filter_map(|(at, score)| passage(note, text, at, score, terms, cites)).collect()
}

fn passage(
    note: &Note,
    text: &str,
    at: u32,
    score: f64,
    terms: &BTreeSet<&str>,
    cites: &BTreeMap<u32, BTreeSet<Citation>>,
) -> Option<Passage> {
    let block: &Block = note.doc().blocks.get(usize::try_from(at).ok()?)?;
    let shown = block_text(block, text);
    Some(Passage {
        heading_path: heading_path(note.doc(), block),
        lines: block.lines,
        block_id: block.id.clone(),
        text: shown.to_owned(),
        highlights: highlights(shown, terms),
        score,
        cites: cites.get(&at).map(|c| c.iter().cloned().collect()).unwrap_or_default(),
    })
}

/// The words of a text that are terms of the query, neighbours joined.
fn highlights(text: &str, terms: &BTreeSet<&str>) -> Vec<Range<usize>> {
    let words = analyze(text);
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut pair = false;
    for word in &words {
        let is = |wanted: fn(Role) -> bool| {
            word.terms.iter().any(|(role, term)| wanted(*role) && terms.contains(term.as_str()))
        };
        let opens = is(|role| role == Role::Pair);
        let lone = word.terms.len() == 1 && is(|role| role == Role::Single) && terms.len() == 1;
        if opens || pair || lone || is(|role| matches!(role, Role::Stem | Role::Whole | Role::Part | Role::Stop)) {
            match out.last_mut() {
                Some(last) if last.end == word.span.start => last.end = word.span.end,
                _ => out.push(word.span.clone()),
            }
        }
        pair = opens;
    }
    out
}
