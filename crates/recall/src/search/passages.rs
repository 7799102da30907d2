//! Passages: the text of the best blocks, as a person reads it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use dormouse_vault::{Block, BlockKind, Note};
use unicode_segmentation::GraphemeCursor;

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
        cut: false,
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

/// Cuts a passage to at most `max` bytes, to the part with the most of what matched. Says how many
/// bytes went. Linear.
pub(crate) fn cut(passage: &mut Passage, max: usize) -> usize {
    let length = passage.text.len();
    if length <= max {
        return 0;
    }
    let window = window(&passage.text, &passage.highlights, max);
    let Some((before, kept)) = passage.text.get(..window.start).zip(passage.text.get(window.clone())) else {
        return 0;
    };
    let breaks = |text: &str| u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX);
    let first = passage.lines.0.saturating_add(breaks(before));
    passage.lines = (first, first.saturating_add(breaks(kept)));
    passage.text = kept.to_owned();
    passage.cut = true;
    let inside = passage.highlights.iter().filter(|h| h.start < window.end && h.end > window.start);
    let within = |at: usize| at.clamp(window.start, window.end) - window.start;
    passage.highlights = inside.map(|h| within(h.start)..within(h.end)).collect();
    length - passage.text.len()
}

/// The part of a text, `max` bytes at most, with the most highlights, and as much of what stands
/// around them as fits; from and to a blank or line end where one is near.
fn window(text: &str, highlights: &[Range<usize>], max: usize) -> Range<usize> {
    let mut best = 0..0;
    let mut most = 0;
    let mut last = 0;
    for (first, from) in highlights.iter().enumerate() {
        last = last.max(first);
        while highlights.get(last + 1).is_some_and(|next| next.end - from.start <= max) {
            last += 1;
        }
        if last + 1 - first > most {
            most = last + 1 - first;
            best = from.start..highlights.get(last).map_or(from.end, |to| to.end);
        }
    }
    let room = max.saturating_sub(best.len());
    let start = best.start.saturating_sub(room / 2).min(text.len().saturating_sub(max));
    let end = start.saturating_add(max).min(text.len());
    // Between characters as a reader sees them, and better between words.
    let start = boundary(text, start, true);
    let end = boundary(text, end, false).max(start);
    let blank_before = text.get(start..best.start.max(start)).and_then(|lead| lead.find(char::is_whitespace));
    let start = match blank_before.filter(|at| start > 0 && *at < NEAR) {
        Some(at) => text.get(start + at..).map_or(start, |rest| text.len() - rest.trim_start().len()).min(end),
        None => start,
    };
    let tail = text.get(best.end.clamp(start, end)..end).unwrap_or("");
    let blank_after = tail.rfind(char::is_whitespace).map(|at| end - tail.len() + at);
    let end = blank_after.filter(|at| end < text.len() && end - at < NEAR && *at > start).unwrap_or(end);
    start..end
}

/// How far, in bytes, a blank may be for a cut to go there.
const NEAR: usize = 40;

/// The nearest place between two characters as a reader sees them, at `at` or after, or before.
fn boundary(text: &str, at: usize, after: bool) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at = if after { at + 1 } else { at - 1 };
    }
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(false) if after => cursor.next_boundary(text, 0).ok().flatten().unwrap_or(text.len()),
        Ok(false) => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
        _ => at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn marked(text: &str, mark: &str) -> Passage {
        let highlights = text.match_indices(mark).map(|(at, found)| at..at + found.len()).collect();
        Passage {
            text: text.to_owned(),
            highlights,
            lines: (10, 10 + text.matches('\n').count() as u32),
            ..Passage::default()
        }
    }

    #[test]
    fn a_long_block_is_cut_to_where_it_matches_most() {
        let text =
            format!("needle\n{}the needle and the needle\n{}", "hay and hay\n".repeat(500), "more hay\n".repeat(500));
        let mut passage = marked(&text, "needle");
        let gone = cut(&mut passage, 200);
        assert!(passage.cut && passage.text.len() <= 200 && gone == text.len() - passage.text.len());
        let marks: Vec<&str> = passage.highlights.iter().map(|h| &passage.text[h.clone()]).collect();
        assert_eq!(marks, ["needle", "needle"]);
        let line = text.lines().position(|l| l.starts_with("the needle")).unwrap() as u32 + 10;
        assert!((passage.lines.0..=passage.lines.1).contains(&line), "{:?} {line}", passage.lines);
    }

    #[test]
    fn emoji_and_chinese_are_never_cut_in_two() {
        let family = "👨‍👩‍👧‍👦";
        let mut passage = marked(&format!("{}记忆{}", family.repeat(40), family.repeat(40)), "记忆");
        cut(&mut passage, 120);
        assert!(passage.text.trim_matches(|c| family.contains(c)) == "记忆");
        assert_eq!(passage.text.replace(family, ""), "记忆");
        assert_eq!(&passage.text[passage.highlights[0].clone()], "记忆");
    }

    proptest! {
        #[test]
        fn a_cut_keeps_to_its_size_and_its_highlights(text in "(a|b|记| |\n|🙂|é|👨‍👩‍👧){0,80}", max in 0usize..120) {
            let whole = marked(&text, "记");
            let mut passage = whole.clone();
            let gone = cut(&mut passage, max);
            prop_assert!(passage.text.len() <= max || !passage.cut && text.len() <= max);
            prop_assert_eq!(gone + passage.text.len(), text.len());
            prop_assert_eq!(passage.cut, text.len() > max);
            prop_assert!(text.contains(&passage.text));
            for highlight in &passage.highlights {
                prop_assert!("记".starts_with(passage.text.get(highlight.clone()).unwrap()));
            }
            prop_assert!(passage.lines.0 >= whole.lines.0 && passage.lines.1 <= whole.lines.1);
        }
    }
}
