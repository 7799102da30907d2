//! The joined text: all of the note that stays, then what only the other one says.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::anchor::heading_key;
use crate::block::BlockKind;
use crate::conserve::merge::{skeletons, words};
use crate::edit::{TextEdit, apply};
use crate::note::Document;
use crate::path::NotePath;
use crate::rename::Respelling;

use super::{MergeError, edited};

/// Two bodies, one behind the other.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) text: String,
    /// Blocks that were appended, and that stand in both.
    pub(super) added: usize,
    pub(super) same: usize,
    /// Ids of the note that goes that are another one now, in order.
    pub(super) ids: Vec<(String, String)>,
    /// For each heading of the note that goes, its line in the joined text; `None` for one that the
    /// note that stays has as well.
    headings: Vec<Option<u32>>,
}

/// A heading, or a block with what is nested in it, up to the next.
struct Unit {
    span: Range<usize>,
    heading: Option<usize>,
    blocks: Range<usize>,
    goes: bool,
}

impl Joined {
    /// Joins the two with the edits of their links. `named` are the ids that some link names.
    pub(super) fn of(
        keep: &NotePath,
        stays: &Respelling,
        goes: &Respelling,
        named: &BTreeSet<String>,
    ) -> Result<Self, MergeError> {
        let own = edited(&stays.read, &stays.edits, keep)?;
        let end = if own.contains("\r\n") || (!own.contains('\n') && goes.read.text.contains("\r\n")) {
            "\r\n"
        } else {
            "\n"
        };
        let other = edited(&goes.read, &goes.edits, &goes.read.path)?;
        let other = other.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\n', end);
        labels(&own, &other, &goes.read.path)?;
        let name = goes.doc.name(&goes.read.path).to_owned();
        let once = Self::join(&own, &other, end, named, true, &name);
        if let Some(joined) = once.filter(|joined| joined.is_sound(&own, &other, true)) {
            return Ok(joined);
        }
        // A block that was left out held others apart: everything is appended.
        let all = Self::join(&own, &other, end, named, false, &name);
        all.filter(|joined| joined.is_sound(&own, &other, false)).ok_or_else(|| MergeError::Open { path: keep.clone() })
    }

    fn join(own: &str, other: &str, end: &str, named: &BTreeSet<String>, once: bool, name: &str) -> Option<Self> {
        let (kept, gone) = (Document::parse(own), Document::parse(other));
        let mut standing: BTreeMap<String, Option<String>> = BTreeMap::new();
        for (text, block) in words_with_ids(own, &kept) {
            let id = standing.entry(text).or_default();
            if id.is_none() {
                *id = block;
            }
        }
        let theirs = words_with_ids(other, &gone);
        let mut same_ids: BTreeMap<String, String> = BTreeMap::new();
        let mut units = units(other, &gone);
        for unit in units.iter_mut().filter(|unit| unit.heading.is_none()) {
            let blocks = theirs.get(unit.blocks.clone()).unwrap_or(&[]);
            unit.goes = once
                && blocks.iter().all(|(text, id)| {
                    let names_it = id.as_ref().is_some_and(|id| named.contains(&id.to_lowercase()));
                    standing.get(text).is_some_and(|own| own.is_some() || !names_it)
                });
            if unit.goes {
                for (text, id) in blocks {
                    if let (Some(id), Some(Some(own))) = (id, standing.get(text)) {
                        same_ids.insert(id.to_lowercase(), own.clone());
                    }
                }
            }
        }
        drop_headings(&mut units, &gone, &kept);
        let mut taken: BTreeSet<String> =
            kept.blocks.iter().filter_map(|b| Some(b.id.as_ref()?.to_lowercase())).collect();
        let (mut ids, mut body, mut edits) = (Vec::new(), String::new(), Vec::new());
        let staying = |at: usize| units.iter().any(|u| u.heading.is_none() && !u.goes && u.blocks.contains(&at));
        let theirs_ids: BTreeSet<String> =
            gone.blocks.iter().filter_map(|b| Some(b.id.as_ref()?.to_lowercase())).collect();
        for (at, block) in gone.blocks.iter().enumerate().filter(|(at, _)| staying(*at)) {
            let Some(id) = &block.id else { continue };
            if taken.insert(id.to_lowercase()) {
                continue;
            }
            let free = |id: &String| !taken.contains(&id.to_lowercase()) && !theirs_ids.contains(&id.to_lowercase());
            let new = (2..).map(|n| format!("{id}-{n}")).find(free)?;
            edits.push(TextEdit { span: id_span(other, &gone, at, id)?, with: new.clone() });
            taken.insert(new.to_lowercase());
            ids.push((id.clone(), new));
        }
        for (old, new) in &same_ids {
            if !old.eq_ignore_ascii_case(new) && !ids.iter().any(|(id, _)| id.eq_ignore_ascii_case(old)) {
                ids.push((old.clone(), new.clone()));
            }
        }
        let mut headings: Vec<Option<u32>> = vec![None; gone.headings.len()];
        for unit in units.iter().filter(|unit| !unit.goes) {
            if let Some(slot) = unit.heading.and_then(|at| headings.get_mut(at)) {
                *slot = Some(body.matches('\n').count() as u32);
            }
            let within: Vec<TextEdit> = edits
                .iter()
                .filter(|edit| unit.span.contains(&edit.span.start))
                .map(|edit| TextEdit {
                    span: edit.span.start - unit.span.start..edit.span.end - unit.span.start,
                    with: edit.with.clone(),
                })
                .collect();
            body.push_str(&apply(other.get(unit.span.clone())?, &within).ok()?);
        }
        let body = body.trim_end_matches(['\n', '\r', ' ', '\t']);
        let mut text = own.to_owned();
        let added = units.iter().filter(|u| !u.goes).map(|u| u.blocks.len()).sum();
        let same = gone.blocks.len() - added;
        if !body.is_empty() {
            if text.get(kept.body.start..) == Some("") {
                // Properties alone, perhaps without an end of their last line.
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push_str(end);
                }
            } else {
                while !text.is_empty() && !text.ends_with(&format!("{end}{end}")) {
                    text.push_str(end);
                }
            }
            let first = units.iter().find(|unit| !unit.goes);
            if first.is_some_and(|unit| unit.heading.is_none()) && !kept.headings.is_empty() {
                let level = gone.headings.iter().map(|h| h.level).min().unwrap_or(2).min(2);
                let name: String = name.chars().filter(|c| !c.is_control()).collect();
                text.push_str(&format!("{} {}{end}{end}", "#".repeat(level.into()), name.trim()));
            }
            let before = text.matches('\n').count() as u32;
            headings.iter_mut().flatten().for_each(|line| *line += before + 1);
            text.push_str(body);
            text.push_str(end);
        }
        Some(Self { text, added, same, ids, headings })
    }

    /// Whether the joined text is read as the two were.
    fn is_sound(&self, own: &str, other: &str, once: bool) -> bool {
        let (kept, gone, now) = (Document::parse(own), Document::parse(other), Document::parse(&self.text));
        let (before, theirs, after) = (skeletons(own, &kept), skeletons(other, &gone), skeletons(&self.text, &now));
        let rest = after.strip_prefix(before.as_slice());
        let is_whole =
            rest.is_some_and(|rest| if once { rest.len() <= theirs.len() } else { rest == theirs.as_slice() });
        let has: BTreeSet<&String> = after.iter().collect();
        let links = |doc: &Document| doc.links.iter().filter(|l| l.span.start >= doc.body.start).count();
        let ids = |doc: &Document| -> BTreeSet<String> {
            doc.blocks.iter().filter_map(|b| Some(b.id.as_ref()?.to_lowercase())).collect()
        };
        let wanted = ids(&gone).into_iter().map(|id| self.id_of(&id).map_or(id, str::to_lowercase));
        let have = ids(&now);
        is_whole
            && theirs.iter().all(|block| has.contains(block))
            && links(&now) >= links(&kept)
            && (once || links(&now) == links(&kept) + links(&gone))
            && ids(&kept).is_subset(&have)
            && (once || wanted.into_iter().all(|id| have.contains(&id)))
            && now.headings.len() >= kept.headings.len() + self.headings.iter().flatten().count()
    }

    /// What an id of the note that goes is called now, when it is another one.
    pub(super) fn id_of(&self, id: &str) -> Option<&str> {
        self.ids.iter().find(|(old, _)| old.eq_ignore_ascii_case(id)).map(|(_, new)| new.as_str())
    }

    /// The line of the `at`-th heading of the note that goes.
    pub(super) fn heading_line(&self, at: usize) -> Option<u32> {
        self.headings.get(at).copied().flatten()
    }
}

/// Words and id of every block, in order.
fn words_with_ids(text: &str, doc: &Document) -> Vec<(String, Option<String>)> {
    words(text, doc).into_iter().zip(doc.blocks.iter().map(|block| block.id.clone())).collect()
}

/// The text cut at its headings and outermost blocks; every byte from the first on is in one unit.
fn units(text: &str, doc: &Document) -> Vec<Unit> {
    let line_start = |at: usize| text.get(..at).and_then(|t| t.rfind('\n')).map_or(0, |n| n + 1).max(doc.body.start);
    let mut starts: Vec<(usize, Option<usize>, Option<usize>)> = Vec::new();
    let mut reach = 0;
    for (at, block) in doc.blocks.iter().enumerate() {
        if block.depth == 0 && block.span.start >= reach {
            starts.push((line_start(block.span.start), None, Some(at)));
        }
        reach = reach.max(block.span.end);
    }
    let inside = |at: usize| {
        let next = doc.blocks.partition_point(|b| b.span.start < at);
        next.checked_sub(1).and_then(|i| doc.blocks.get(i)).is_some_and(|b| at < b.span.end)
    };
    let free = doc.headings.iter().enumerate().filter(|(_, h)| h.span.start >= doc.body.start && !inside(h.span.start));
    starts.extend(free.map(|(at, heading)| (line_start(heading.span.start), Some(at), None)));
    starts.sort_unstable();
    let mut out: Vec<Unit> = Vec::new();
    for (i, (start, heading, block)) in starts.iter().enumerate() {
        let end = starts.get(i + 1).map_or(text.len(), |next| next.0);
        let first = block.unwrap_or(0);
        let last = starts.iter().skip(i + 1).find_map(|next| next.2).unwrap_or(doc.blocks.len());
        let blocks = if block.is_some() { first..last } else { 0..0 };
        out.push(Unit { span: *start..end, heading: *heading, blocks, goes: false });
    }
    out
}

/// A heading goes when the note that stays has it and nothing stays below it.
fn drop_headings(units: &mut [Unit], gone: &Document, kept: &Document) {
    let own: BTreeSet<(u8, String)> = kept.headings.iter().map(|h| (h.level, heading_key(&h.text))).collect();
    for at in 0..units.len() {
        let Some(heading) = units.get(at).and_then(|unit| gone.headings.get(unit.heading?)) else { continue };
        let mut below = units.iter().skip(at + 1).take_while(|unit| {
            unit.heading.and_then(|h| gone.headings.get(h)).is_none_or(|next| next.level > heading.level)
        });
        let same = own.contains(&(heading.level, heading_key(&heading.text)));
        let stays = below.any(|unit| match unit.heading.and_then(|h| gone.headings.get(h)) {
            Some(next) => !own.contains(&(next.level, heading_key(&next.text))),
            None => !unit.goes,
        });
        if let Some(unit) = units.get_mut(at) {
            unit.goes = same && !stays;
        }
    }
}

/// Where the id of the `at`-th block is written, without its `^`.
fn id_span(text: &str, doc: &Document, at: usize, id: &str) -> Option<Range<usize>> {
    let from = doc.blocks.get(at)?.span.start;
    let rest = text.get(from..)?;
    rest.match_indices(&format!("^{id}")).find_map(|(n, found)| {
        let before = rest.get(..n)?.chars().next_back().is_none_or(char::is_whitespace);
        let behind = rest.get(n + found.len()..)?;
        let ends = behind.trim_start_matches([' ', '\t', '\r']).chars().next().is_none_or(|c| c == '\n');
        (before && ends).then(|| from + n + 1..from + n + found.len())
    })
}

/// Refuses two definitions of one footnote or link reference that differ: the second would not count.
fn labels(own: &str, other: &str, path: &NotePath) -> Result<(), MergeError> {
    let of = |text: &str| -> BTreeMap<String, String> {
        let doc = Document::parse(text);
        let blocks = doc.blocks.iter().filter(|b| matches!(b.kind, BlockKind::Footnote | BlockKind::Paragraph));
        // A footnote is its whole block, a link reference a line.
        let pieces = blocks.flat_map(|b| {
            let whole = text.get(b.span.clone()).unwrap_or("");
            if b.kind == BlockKind::Footnote { vec![whole] } else { whole.lines().collect() }
        });
        let defined = pieces.filter_map(|piece| {
            let (label, rest) = piece.trim().strip_prefix('[')?.split_once("]:")?;
            (!label.contains([']', '['])).then(|| (label.to_lowercase(), rest.trim().to_owned()))
        });
        let mut out = BTreeMap::new();
        defined.for_each(|(label, rest)| {
            out.entry(label).or_insert(rest);
        });
        out
    };
    let have = of(own);
    let clash = of(other).into_iter().find(|(label, text)| have.get(label).is_some_and(|own| own != text));
    clash.map_or(Ok(()), |(label, _)| Err(MergeError::SameLabel { path: path.clone(), label }))
}

/// `text` with a paragraph of `lines` behind it.
pub(super) fn with_lines(text: &str, lines: &[String]) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut out = text.to_owned();
    while !out.is_empty() && !out.ends_with(&format!("{end}{end}")) {
        out.push_str(end);
    }
    for line in lines {
        out.push_str(line);
        out.push_str(end);
    }
    out
}
