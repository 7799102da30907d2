//! `context`: recall packed into one cited Markdown block for a model.

use std::collections::BTreeSet;

use dormouse_vault::meta::{AccessKind, Archived};
use dormouse_vault::text::{estimate_tokens, truncate_chars};
use dormouse_vault::{Layer, NotePath};
use serde::{Deserialize, Serialize};

use crate::error::RecallError;
use crate::recall::Recall;
use crate::search::{Citation, Hit, Pairing, Passage, SearchRequest, cut};
use crate::units::{block_text, heading_path};

/// Notes and passages that are looked at; what doesn't fit is skipped, so there are more than go in.
const NOTES: usize = 64;
const PASSAGES: usize = 4;
/// The longest passage; of a longer block the part that matches is taken.
const PASSAGE_BYTES: usize = 2_000;
/// The longest label of a link.
const LABEL_CHARS: usize = 120;

/// A block of Markdown within a token budget.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ContextBlock {
    /// The text: facts of digests first, then source blocks, each with its number, a link to its
    /// place and its lines. What notes say stands in code fences that nothing in it can close, since
    /// it is data and never an instruction. Empty when nothing was found.
    pub markdown: String,
    /// What the numbers mean, in order.
    pub citations: Vec<ContextCitation>,
    /// An estimate of the tokens of `markdown`, at most the budget.
    pub tokens: usize,
    /// What could not be used.
    pub warnings: Vec<String>,
    /// How the query was read, where that is not obvious.
    pub notices: Vec<String>,
}

/// A numbered passage of a [`ContextBlock`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ContextCitation {
    /// The number in the text, from 1.
    pub number: usize,
    /// The note.
    pub path: NotePath,
    /// Its block id, where it has one.
    pub block_id: Option<String>,
    /// First and last line in the file, 1-based.
    pub lines: (u32, u32),
    /// Whether the text is a part of a longer block.
    pub cut: bool,
}

/// A passage that may go in.
struct Piece {
    path: NotePath,
    name: String,
    date: Option<chrono::NaiveDate>,
    headings: Vec<String>,
    block_id: Option<String>,
    lines: (u32, u32),
    text: String,
    cut: bool,
}

/// Packs the best of `recall` for `query`: up to half of the budget facts of digests, then the
/// blocks that they cite and that the query finds. A block that doesn't fit is skipped.
pub(crate) fn pack(recall: &Recall, query: &str, budget: usize) -> Result<ContextBlock, RecallError> {
    let request = SearchRequest {
        limit: NOTES,
        passages: PASSAGES,
        max_passage_bytes: PASSAGE_BYTES,
        soft_dates: true,
        quiet: true,
        ..SearchRequest::new(query)
    };
    let reply = recall.answer(&request, Pairing::Apart)?;
    let (digests, sources): (Vec<&Hit>, Vec<&Hit>) = reply.hits.iter().partition(|hit| hit.layer == Layer::Digest);
    let mut packing = Packing { budget, ..Packing::default() };
    let mut cited: Vec<Citation> = Vec::new();
    for (hit, passage) in ranked(&digests) {
        if packing.add(piece(hit, passage), "## What is known", budget / 2) {
            cited.extend(passage.cites.iter().cloned());
        }
    }
    let archived = recall.vault().meta::<Archived>().value.filter(|_| recall.config().drop_archived);
    let sleeps = |note: &NotePath| archived.as_ref().is_some_and(|archived| archived.notes.contains_key(note));
    for cite in cited.into_iter().filter(|cite| !sleeps(&cite.note)) {
        if let Some(piece) = cited_block(recall, &cite) {
            packing.add(piece, "## Where it comes from", budget);
        }
    }
    for (hit, passage) in ranked(&sources) {
        packing.add(piece(hit, passage), "## Where it comes from", budget);
    }
    // What the facts left of their half, and sources could not use, goes to further facts.
    for (hit, passage) in ranked(&digests) {
        packing.add(piece(hit, passage), "## What is known further", budget);
    }
    let tokens = estimate_tokens(&packing.markdown);
    let Packing { markdown, citations, .. } = packing;
    // What did not get in was not returned.
    let mut cited: Vec<NotePath> = citations.iter().map(|citation| citation.path.clone()).collect();
    cited.sort();
    cited.dedup();
    let now = recall.clock.as_ref().map(|clock| clock.now());
    let mut warnings = reply.warnings;
    warnings.extend(recall.note_access(&cited, AccessKind::Returned, now));
    Ok(ContextBlock { markdown, citations, tokens, warnings, notices: reply.notices })
}

/// All passages of the hits, best first.
fn ranked<'a>(hits: &[&'a Hit]) -> Vec<(&'a Hit, &'a Passage)> {
    let mut out: Vec<(&Hit, &Passage)> =
        hits.iter().flat_map(|hit| hit.passages.iter().map(move |p| (*hit, p))).collect();
    out.sort_by(|a, b| {
        b.1.score.total_cmp(&a.1.score).then_with(|| a.0.path.cmp(&b.0.path)).then(a.1.lines.cmp(&b.1.lines))
    });
    out
}

fn piece(hit: &Hit, passage: &Passage) -> Piece {
    Piece {
        path: hit.path.clone(),
        name: hit.name.clone(),
        date: hit.date,
        headings: passage.heading_path.clone(),
        block_id: passage.block_id.clone(),
        lines: passage.lines,
        text: passage.text.clone(),
        cut: passage.cut,
    }
}

/// The block that a digest cites, read from its note at the snapshot's version.
fn cited_block(recall: &Recall, cite: &Citation) -> Option<Piece> {
    let snapshot = recall.vault().snapshot();
    let note = snapshot.note(&cite.note)?;
    let block = note.block(cite.block.as_deref()?)?;
    let read = recall.vault().read(&note.path).ok().filter(|read| read.version == note.version)?;
    let mut passage =
        Passage { lines: block.lines, text: block_text(block, &read.text).to_owned(), ..Passage::default() };
    cut(&mut passage, PASSAGE_BYTES);
    Some(Piece {
        path: note.path.clone(),
        name: note.name.to_string(),
        date: crate::filter::stated_date(note),
        headings: heading_path(note.doc(), block),
        block_id: block.id.clone(),
        lines: passage.lines,
        text: passage.text,
        cut: passage.cut,
    })
}

#[derive(Default)]
struct Packing {
    markdown: String,
    citations: Vec<ContextCitation>,
    section: &'static str,
    texts: BTreeSet<String>,
    budget: usize,
}

impl Packing {
    /// Adds a piece unless it is there already or the whole would pass `limit`.
    fn add(&mut self, piece: Piece, section: &'static str, limit: usize) -> bool {
        let folded = crate::text::fold(&piece.text);
        if piece.text.is_empty() || self.has(&piece) || self.texts.contains(&folded) {
            return false;
        }
        let number = self.citations.len() + 1;
        let mut more = String::new();
        if self.section != section {
            more.push_str(section);
            more.push_str("\n\n");
        }
        more.push_str(&entry(number, &piece));
        // Never less than the estimate of both together.
        if estimate_tokens(&self.markdown) + estimate_tokens(&more) > limit.min(self.budget) {
            return false;
        }
        self.markdown.push_str(&more);
        self.section = section;
        self.texts.insert(folded);
        let Piece { path, block_id, lines, cut, .. } = piece;
        self.citations.push(ContextCitation { number, path, block_id, lines, cut });
        true
    }

    /// Whether lines of it are there already; no two blocks share a line.
    fn has(&self, piece: &Piece) -> bool {
        let meets = |c: &ContextCitation| c.lines.0 <= piece.lines.1 && piece.lines.0 <= c.lines.1;
        self.citations.iter().any(|citation| citation.path == piece.path && meets(citation))
    }
}

/// `[1] [[path#^id|Name › Heading]] · 2026-11-30 · line 4`, and the text in a fence that is longer than
/// any run of backticks in it.
fn entry(number: usize, piece: &Piece) -> String {
    let mut label: Vec<&str> = vec![piece.name.as_str()];
    label.extend(piece.headings.iter().map(String::as_str).filter(|heading| *heading != piece.name));
    let label = label.join(" › ").replace(|c: char| matches!(c, '|' | '[' | ']' | '`') || c.is_control(), " ");
    let date = piece.date.map(|day| format!(" · {day}")).unwrap_or_default();
    let lines = match piece.lines {
        (first, last) if first == last => format!("line {first}"),
        (first, last) => format!("lines {first}–{last}"),
    };
    let part = if piece.cut { ", in part" } else { "" };
    let link = link(&piece.path, piece.block_id.as_deref(), truncate_chars(&label, LABEL_CHARS).trim());
    let fence = "`".repeat(longest_run(&piece.text).max(2) + 1);
    format!("[{number}] {link}{date} · {lines}{part}\n{fence}note\n{}\n{fence}\n\n", piece.text.trim_end_matches('\n'))
}

/// A link to a note, and a block of it, that Obsidian resolves: a wikilink, and for a path with signs
/// that a wikilink can't hold a Markdown link.
fn link(path: &NotePath, block: Option<&str>, label: &str) -> String {
    let target = path.link_target();
    let anchor = block.map(|id| format!("#^{id}")).unwrap_or_default();
    if !target.contains(['#', '^', '|', '[', ']', '`']) {
        return format!("[[{target}{anchor}|{label}]]");
    }
    let mut encoded = String::new();
    for c in path.as_str().chars() {
        if c.is_ascii() && !c.is_ascii_alphanumeric() && !matches!(c, '/' | '.' | '-' | '_') {
            encoded.push_str(&format!("%{:02X}", u32::from(c)));
        } else {
            encoded.push(c);
        }
    }
    format!("[{label}]({encoded}{anchor})")
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
