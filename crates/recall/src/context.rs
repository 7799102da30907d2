//! `context`: recall packed into one cited Markdown block for a model.

use std::collections::BTreeSet;

use dormouse_vault::text::estimate_tokens;
use dormouse_vault::{Layer, NotePath};
use serde::{Deserialize, Serialize};

use crate::error::RecallError;
use crate::recall::Recall;
use crate::search::{Citation, Hit, Pairing, Passage, SearchRequest};
use crate::units::{block_text, heading_path};

/// Notes and passages that are looked at; what doesn't fit is skipped, so there are more than go in.
const NOTES: usize = 24;
const PASSAGES: usize = 4;

/// A block of Markdown within a token budget.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ContextBlock {
    /// The text: facts of digests first, then source blocks, each with its number. Empty when
    /// nothing was found. It is data from notes, never an instruction.
    pub markdown: String,
    /// What the numbers mean, in order.
    pub citations: Vec<ContextCitation>,
    /// An estimate of the tokens of `markdown`, at most the budget.
    pub tokens: usize,
    /// What could not be used.
    pub warnings: Vec<String>,
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
}

/// Packs the best of `recall` for `query`: up to half of the budget facts of digests, then the
/// blocks that they cite and that the query finds. A block that doesn't fit is skipped.
pub(crate) fn pack(recall: &Recall, query: &str, budget: usize) -> Result<ContextBlock, RecallError> {
    let request = SearchRequest { limit: NOTES, passages: PASSAGES, ..SearchRequest::new(query) };
    let reply = recall.answer(&request, Pairing::Apart)?;
    let (digests, sources): (Vec<&Hit>, Vec<&Hit>) = reply.hits.iter().partition(|hit| hit.layer == Layer::Digest);
    let mut packing = Packing { budget, ..Packing::default() };
    let mut cited: Vec<Citation> = Vec::new();
    for (hit, passage) in ranked(&digests) {
        if packing.add(piece(hit, passage), "## What is known", budget / 2) {
            cited.extend(passage.cites.iter().cloned());
        }
    }
    for cite in cited {
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
    Ok(ContextBlock { markdown: packing.markdown, citations: packing.citations, tokens, warnings: reply.warnings })
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
    }
}

/// The block that a digest cites, read from its note at the snapshot's version.
fn cited_block(recall: &Recall, cite: &Citation) -> Option<Piece> {
    let snapshot = recall.vault().snapshot();
    let note = snapshot.note(&cite.note)?;
    let block = note.block(cite.block.as_deref()?)?;
    let read = recall.vault().read(&note.path).ok().filter(|read| read.version == note.version)?;
    Some(Piece {
        path: note.path.clone(),
        name: note.name.to_string(),
        date: crate::filter::stated_date(note),
        headings: heading_path(note.doc(), block),
        block_id: block.id.clone(),
        lines: block.lines,
        text: block_text(block, &read.text).to_owned(),
    })
}

#[derive(Default)]
struct Packing {
    markdown: String,
    citations: Vec<ContextCitation>,
    section: &'static str,
    seen: BTreeSet<(NotePath, (u32, u32))>,
    texts: BTreeSet<String>,
    budget: usize,
}

impl Packing {
    /// Adds a piece unless it is there already or the whole would pass `limit`.
    fn add(&mut self, piece: Piece, section: &'static str, limit: usize) -> bool {
        let at = (piece.path.clone(), piece.lines);
        let folded = crate::text::fold(&piece.text);
        if piece.text.is_empty() || self.seen.contains(&at) || self.texts.contains(&folded) {
            return false;
        }
        let number = self.citations.len() + 1;
        let mut more = String::new();
        if self.section != section {
            more.push_str(if self.markdown.is_empty() { "" } else { "\n" });
            more.push_str(section);
            more.push_str("\n\n");
        }
        more.push_str(&entry(number, &piece));
        if estimate_tokens(&self.markdown) + estimate_tokens(&more) > limit.min(self.budget) {
            return false;
        }
        self.markdown.push_str(&more);
        self.section = section;
        self.seen.insert(at);
        self.texts.insert(folded);
        self.citations.push(ContextCitation { number, path: piece.path, block_id: piece.block_id, lines: piece.lines });
        true
    }
}

/// `- [1] text — [[path#^id|Name › Heading]], 2026-11-30`
fn entry(number: usize, piece: &Piece) -> String {
    let text = piece.text.lines().collect::<Vec<_>>().join("\n  ");
    let text = text.strip_prefix("- ").unwrap_or(&text);
    let anchor = piece.block_id.as_deref().map(|id| format!("#^{id}")).unwrap_or_default();
    let shown =
        std::iter::once(piece.name.as_str()).chain(piece.headings.iter().map(String::as_str)).collect::<BTreeSet<_>>();
    let mut label: Vec<&str> = vec![piece.name.as_str()];
    label.extend(piece.headings.iter().map(String::as_str).filter(|h| *h != piece.name));
    let label = if shown.len() > 1 { label.join(" › ") } else { piece.name.clone() };
    let date = piece.date.map(|day| format!(", {day}")).unwrap_or_default();
    format!(
        "- [{number}] {text} — [[{}{anchor}|{}]]{date}\n",
        piece.path.link_target(),
        label.replace(['|', '[', ']'], " ")
    )
}
