//! How a note is cut into units for the index: its header, and its blocks with their surroundings.

use std::collections::BTreeSet;

use chrono::{Datelike, NaiveDate};
use dormouse_vault::{Block, BlockKind, Document, Layer, Note};

use crate::filter::stated_date;
use crate::index::{IndexedNote, IndexedUnit, Marks, NoteKey, UnitId};
use crate::text::{analyze, fold, index_terms, kinds, marks, speaker};

/// Blocks longer than this, in bytes, are cut into parts, so that a long one that mentions
/// everything is no better than the best of its parts.
const PART_BYTES: usize = 1_200;

/// The units of a note whose text is `text`. Linear.
pub(crate) fn units_of(note: &Note, text: &str) -> IndexedNote {
    let doc = note.document();
    let opening = opening(note, &doc, text);
    let context = header_terms(&format!("{}\n{opening}", header_text(note, &doc)));
    let mut units = vec![note_header(note, &doc, &opening)];
    let mut under: Option<u32> = None;
    let mut header = context.clone();
    for (number, block) in doc.blocks.iter().enumerate() {
        let (Ok(number), false) = (u32::try_from(number), block.kind == BlockKind::Rule) else {
            continue;
        };
        if block.heading != under {
            under = block.heading;
            header = joined(&context, index_terms(&heading_path(&doc, block).join("\n")));
        }
        let shown = block_text(block, text);
        let who = speaker(shown).map(name_terms).unwrap_or_default();
        let plain = readable(shown);
        let points = note.layer == Layer::Digest && points_elsewhere(&doc, block);
        for (part, piece) in parts(&plain).enumerate() {
            let words = analyze(piece);
            let kinds = kinds(&words, piece);
            let mut body: Vec<String> = words.into_iter().flat_map(|word| word.terms).map(|(_, term)| term).collect();
            body.extend(kinds);
            let header = if points { joined(&header, body.drain(..)) } else { header.clone() };
            units.push(IndexedUnit {
                block: number,
                part: u16::try_from(part).unwrap_or(u16::MAX),
                marks: if who.is_empty() { marks(piece) } else { marks(piece).with(Marks::TURN) },
                body,
                header,
                speaker: who.clone(),
            });
        }
    }
    let day = stated_date(note).map_or(0, days);
    IndexedNote { key: NoteKey::of(&note.path), version: note.version, day, units }
}

/// Days since 1970-01-01, as far as an index keeps them.
fn days(date: NaiveDate) -> u16 {
    let days = date.num_days_from_ce() - NaiveDate::default().num_days_from_ce();
    u16::try_from(days.max(0)).unwrap_or(u16::MAX)
}

/// Headings over lists of other notes.
const RELATED: [&str; 6] = ["related", "see also", "sources", "相关", "参见", "来源"];

/// Whether a block of a digest stands in its list of other notes. What it says is what they say:
/// its words lead to it as a header's do, and are no statement of the note's own.
pub(crate) fn points_elsewhere(doc: &Document, block: &Block) -> bool {
    let heading = block.heading.and_then(|h| doc.headings.get(usize::try_from(h).ok()?));
    heading.is_some_and(|h| RELATED.contains(&h.text.trim().to_lowercase().as_str()))
}

/// The terms of a name: each of its words, folded.
pub(crate) fn name_terms(name: &str) -> Vec<String> {
    analyze(name).into_iter().map(|word| word.surface).filter(|w| !w.is_empty()).collect()
}

/// A block's text as it is shown: its lines without the block id.
pub(crate) fn block_text<'a>(block: &Block, text: &'a str) -> &'a str {
    let shown = text.get(block.span.clone()).unwrap_or("").trim();
    let Some(id) = block.id.as_deref() else {
        return shown;
    };
    let bare = shown.strip_suffix(id).and_then(|rest| rest.strip_suffix('^'));
    bare.map_or(shown, str::trim_end)
}

/// The headings that a block stands under, outermost first.
pub(crate) fn heading_path(doc: &Document, block: &Block) -> Vec<String> {
    let Some(at) = block.heading.and_then(|h| usize::try_from(h).ok()) else {
        return Vec::new();
    };
    let headings = doc.headings.get(..=at).unwrap_or(&[]);
    let mut path = Vec::new();
    let mut level = 7;
    for heading in headings.iter().rev() {
        if heading.level < level {
            level = heading.level;
            path.push(heading.text.clone());
        }
        if level <= 1 {
            break;
        }
    }
    path.reverse();
    path
}

/// The most characters of a note's opening that are taken for its subject.
const OPENING: usize = 24;
/// Where it ends.
const OPENING_ENDS: &str = ",;:(.!?\n，、；：（。！？是";

/// A first block of fewer bytes is no article that begins with its subject.
const ARTICLE_BYTES: usize = 300;

/// What an article without a title of its own is about: what its first block begins with, up to a
/// comma, a bracket, a full stop or the Chinese `是`. Empty for a note that has a title or is short.
fn opening(note: &Note, doc: &Document, text: &str) -> String {
    if note.name.as_ref() != note.path.stem() {
        return String::new();
    }
    let first = doc.blocks.iter().find(|block| block.kind == BlockKind::Paragraph);
    let plain = first.map(|block| readable(block_text(block, text))).unwrap_or_default();
    if plain.len() < ARTICLE_BYTES {
        return String::new();
    }
    let end = plain.find(|c| OPENING_ENDS.contains(c)).unwrap_or(plain.len());
    plain.get(..end).unwrap_or("").chars().take(OPENING).collect()
}

fn note_header(note: &Note, doc: &Document, opening: &str) -> IndexedUnit {
    let mut text = header_text(note, doc);
    text.push('\n');
    text.push_str(opening);
    text.push('\n');
    text.push_str(note.path.stem());
    for heading in &doc.headings {
        text.push('\n');
        text.push_str(&heading.text);
    }
    IndexedUnit { block: UnitId::HEADER, body: header_terms(&text), marks: Marks::default(), ..IndexedUnit::default() }
}

/// What every block of a note is indexed with: name, aliases, description, tags and date.
fn header_text(note: &Note, doc: &Document) -> String {
    let mut lines = vec![note.name.to_string()];
    lines.extend(note.aliases.iter().cloned());
    lines.extend(note.description.as_deref().map(str::to_owned));
    lines.extend(doc.tags.iter().cloned());
    lines.extend(stated_date(note).map(|day| day.format("%-d %B %Y %Y-%m-%d").to_string()));
    lines.join("\n")
}

/// The terms of a header, each once: a name that is repeated says no more.
fn header_terms(text: &str) -> Vec<String> {
    index_terms(text).into_iter().collect::<BTreeSet<_>>().into_iter().collect()
}

/// The terms of a header with further ones, each once, in order.
fn joined(header: &[String], more: impl IntoIterator<Item = String>) -> Vec<String> {
    let terms: BTreeSet<String> = header.iter().cloned().chain(more).collect();
    terms.into_iter().collect()
}

/// A block's text as a person reads it: links as their shown text, provenance left out.
pub(crate) fn readable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find("[[") {
        let (before, link) = (rest.get(..open).unwrap_or(""), rest.get(open + 2..).unwrap_or(""));
        let line = link.find('\n').unwrap_or(link.len());
        let Some(close) = link.get(..line).and_then(|l| l.find("]]")) else {
            // Nothing closes on this line: the rest of it is text, and is looked at once.
            out.push_str(before);
            out.push_str("[[");
            out.push_str(link.get(..line).unwrap_or(""));
            rest = link.get(line..).unwrap_or("");
            continue;
        };
        let inside = link.get(..close).unwrap_or("");
        rest = link.get(close + 2..).unwrap_or("");
        match provenance(before) {
            Some(kept) => out.push_str(kept),
            None => {
                out.push_str(before);
                out.push_str(shown(inside));
            }
        }
    }
    out.push_str(rest);
    out
}

/// The text before a provenance field, when the link right after `before` is one's value.
fn provenance(before: &str) -> Option<&str> {
    let key = before.trim_end().trim_end_matches(',').trim_end();
    let field = key.strip_suffix("::").filter(|k| fold(k).ends_with("derived_from"))?;
    let kept = field.get(..field.len().checked_sub("derived_from".len())?)?;
    Some(kept.trim_end_matches(['(', '[']))
}

/// What a wikilink shows: its display text, else the last segment of its target.
fn shown(inside: &str) -> &str {
    if let Some((_, display)) = inside.split_once('|') {
        return display;
    }
    let target = inside.split('#').next().filter(|t| !t.is_empty()).unwrap_or(inside);
    target.rsplit('/').next().unwrap_or(target)
}

/// Cuts a text into parts of at most [`PART_BYTES`], at line ends or blanks where there are any.
pub(crate) fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        if text.len() <= PART_BYTES {
            return Some(text);
        }
        let hard = (0..=PART_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        let window = text.get(..hard).unwrap_or(text);
        let soft = window
            .rfind('\n')
            .or_else(|| window.rfind(char::is_whitespace))
            .or_else(|| window.rfind(['。', '，', '；']));
        let cut = soft.filter(|at| *at > PART_BYTES / 4).unwrap_or(hard).max(1);
        let cut = (cut..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        let (part, after) = text.split_at_checked(cut)?;
        rest = Some(after);
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_read_as_what_they_show_and_provenance_is_left_out() {
        assert_eq!(readable("see [[digest/wiki/bm25|the ranking]] and [[a/b#H]]"), "see the ranking and b");
        assert_eq!(readable("A fact. (derived_from:: [[daily/x#^b3]])"), "A fact. )");
        assert_eq!(readable("broken [[ link"), "broken [[ link");
    }

    #[test]
    fn long_texts_are_cut_between_words_and_nothing_is_lost() {
        for text in ["word ".repeat(2_000), "汉字".repeat(3_000), String::new(), "x".repeat(5_000)] {
            let cut: Vec<&str> = parts(&text).collect();
            assert_eq!(cut.concat(), text);
            assert!(cut.iter().all(|p| p.len() <= PART_BYTES));
        }
    }
}
