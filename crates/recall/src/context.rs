//! `context`: recall packed into one cited Markdown block for a model.

use std::collections::BTreeSet;

use dormouse_vault::meta::{AccessKind, Archived};
use dormouse_vault::text::{content_words, estimate_tokens, truncate_chars};
use dormouse_vault::{Layer, NotePath};
use serde::{Deserialize, Serialize};

use crate::error::RecallError;
use crate::recall::Recall;
use crate::search::{Citation, Hit, Pairing, Passage, SearchRequest, cut};
use crate::units::{block_text, heading_path};

/// Notes and passages that are looked at; what doesn't fit is skipped, so there are more than go in.
const NOTES: usize = 64;
const PASSAGES: usize = 4;
/// The share of the budget that facts may take: about half. Measured on questions whose answers are
/// known, two fifths hold more of the answers' words than a half does.
const FACTS: (usize, usize) = (2, 5);
/// The share of a fact's words that stand in what it cites when it is a quotation.
const QUOTED: (usize, usize) = (9, 10);
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
    /// The blocks that a digest's fact comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Citation>,
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
    /// A digest's.
    fact: bool,
    /// What it cites.
    cites: Vec<Citation>,
}

/// Packs the best of `recall` for `query`: up to [`FACTS`] of the budget facts of digests, then the
/// blocks that the query finds and that the facts cite. A block that doesn't fit is skipped.
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
    let mut quotations: Vec<(&Hit, &Passage)> = Vec::new();
    for (hit, passage) in ranked(&digests).into_iter().filter(|(_, passage)| states(passage)) {
        let fact = fact(hit, passage);
        let limit = budget.saturating_mul(FACTS.0) / FACTS.1;
        if !packing.may_fit(&fact, limit) {
            continue;
        }
        if quotes(recall, &fact) {
            cited.extend(passage.cites.iter().cloned());
            quotations.push((hit, passage));
        } else if packing.add(fact, "## What is known", limit) {
            cited.extend(passage.cites.iter().cloned());
        }
    }
    let archived = recall.vault().meta::<Archived>().value.filter(|_| recall.config().drop_archived);
    let sleeps = |note: &NotePath| archived.as_ref().is_some_and(|archived| archived.notes.contains_key(note));
    // What the query itself points to, then what the facts point to beyond it: measured, the other
    // way round the facts' sources repeat the facts and leave no room for anything else.
    for (hit, passage) in ranked(&sources) {
        packing.add(piece(hit, passage), "## Where it comes from", budget);
    }
    for cite in cited.into_iter().filter(|cite| !sleeps(&cite.note)) {
        if let Some(piece) = cited_block(recall, &cite) {
            packing.add(piece, "## Where it comes from", budget);
        }
    }
    // What the facts left of their half, and sources could not use, goes to further facts. What a
    // source says that is there in full is not said again.
    for (hit, passage) in ranked(&digests).into_iter().filter(|(_, passage)| states(passage)) {
        let is_quotation = quotations.iter().any(|(_, quotation)| std::ptr::eq(*quotation, passage));
        if !(is_quotation && passage.cites.iter().any(|cite| packing.holds(cite))) {
            packing.add(fact(hit, passage), "## What is known further", budget);
        }
    }
    let (markdown, citations) = packing.render();
    let tokens = estimate_tokens(&markdown);
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
        fact: false,
        cites: Vec::new(),
    }
}

/// A digest's passage: what it states, and apart from it where that comes from.
fn fact(hit: &Hit, passage: &Passage) -> Piece {
    let text = without_provenance(&passage.text);
    Piece { text, fact: true, cites: passage.cites.clone(), ..piece(hit, passage) }
}

/// Whether a digest's passage states something: a line that only leads to other notes does not.
fn states(passage: &Passage) -> bool {
    let mut outside = String::new();
    let mut rest = passage.text.as_str();
    while let Some((before, link)) = rest.split_once("[[") {
        outside.push_str(before);
        rest = link.split_once("]]").map_or("", |(_, after)| after);
    }
    outside.push_str(rest);
    !passage.cites.is_empty() || content_words(&outside).len() > 1
}

/// Whether a fact has hardly a word that the blocks it cites don't have: they say it themselves, and more.
fn quotes(recall: &Recall, fact: &Piece) -> bool {
    let stated = fact.text.trim_start_matches(['-', '*', ' ']);
    // The subject in brackets is what a rule adds to a sentence that points back.
    let stated = stated.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map_or(stated, |(_, said)| said);
    let words: BTreeSet<String> = content_words(stated).into_iter().collect();
    let sources = fact.cites.iter().filter_map(|cite| cited_block(recall, cite));
    let there: BTreeSet<String> = sources.flat_map(|source| content_words(&source.text)).collect();
    let shared = words.intersection(&there).count();
    !there.is_empty() && shared * QUOTED.1 >= words.len() * QUOTED.0
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
        fact: false,
        cites: Vec::new(),
    })
}

#[derive(Default)]
struct Packing {
    /// In the order of their first pieces.
    sections: Vec<(&'static str, Vec<Group>)>,
    texts: BTreeSet<String>,
    budget: usize,
    /// Estimated tokens of what is there, rendered.
    tokens: usize,
}

/// Facts of one digest, or one passage of another note.
struct Group {
    pieces: Vec<Piece>,
}

impl Packing {
    /// Adds a piece unless it is there already or the whole would pass `limit`. Linear in what is there,
    /// for a piece that may fit.
    fn add(&mut self, piece: Piece, section: &'static str, limit: usize) -> bool {
        let limit = limit.min(self.budget);
        if !self.may_fit(&piece, limit) {
            return false;
        }
        let folded = crate::text::fold(&piece.text);
        if piece.text.is_empty() || self.has(&piece) || self.texts.contains(&folded) {
            return false;
        }
        let at = self.sections.iter().position(|(name, _)| *name == section).unwrap_or_else(|| {
            self.sections.push((section, Vec::new()));
            self.sections.len() - 1
        });
        let Some((_, groups)) = self.sections.get_mut(at) else { return false };
        let home = groups.iter().position(|g| piece.fact && g.pieces.iter().all(|p| p.fact && p.path == piece.path));
        match home.and_then(|home| groups.get_mut(home)) {
            Some(group) => group.pieces.push(piece),
            None => groups.push(Group { pieces: vec![piece] }),
        }
        let tokens = estimate_tokens(&self.render().0);
        if tokens <= limit {
            self.texts.insert(folded);
            self.tokens = tokens;
            return true;
        }
        if let Some((_, groups)) = self.sections.get_mut(at) {
            let home = home.unwrap_or(groups.len().saturating_sub(1));
            groups.get_mut(home).into_iter().for_each(|group| drop(group.pieces.pop()));
            groups.retain(|group| !group.pieces.is_empty());
        }
        self.sections.retain(|(_, groups)| !groups.is_empty());
        false
    }

    /// Whether it is not certain that a piece is too long: its own text, less one token for rounding, is the
    /// least that it takes.
    fn may_fit(&self, piece: &Piece, limit: usize) -> bool {
        self.tokens + estimate_tokens(piece.text.trim_end_matches('\n')) <= limit.saturating_add(1)
    }

    /// Whether the block that a fact cites is there.
    fn holds(&self, cite: &Citation) -> bool {
        let mut all = self.sections.iter().flat_map(|(_, groups)| groups).flat_map(|group| &group.pieces);
        all.any(|have| !have.fact && have.path == cite.note && have.block_id == cite.block)
    }

    /// Whether lines of it are there already; no two blocks share a line.
    fn has(&self, piece: &Piece) -> bool {
        let meets = |p: &Piece| p.lines.0 <= piece.lines.1 && piece.lines.0 <= p.lines.1;
        let mut all = self.sections.iter().flat_map(|(_, groups)| groups).flat_map(|group| &group.pieces);
        all.any(|have| have.path == piece.path && meets(have))
    }

    /// The text, and what its numbers mean.
    fn render(&self) -> (String, Vec<ContextCitation>) {
        let mut markdown = String::new();
        let mut citations: Vec<ContextCitation> = Vec::new();
        for (section, groups) in &self.sections {
            markdown.push_str(section);
            markdown.push_str("\n\n");
            for group in groups {
                markdown.push_str(&entry(citations.len() + 1, &group.pieces));
                for piece in &group.pieces {
                    citations.push(ContextCitation {
                        number: citations.len() + 1,
                        path: piece.path.clone(),
                        block_id: piece.block_id.clone(),
                        lines: piece.lines,
                        cut: piece.cut,
                        sources: piece.cites.clone(),
                    });
                }
            }
        }
        (markdown, citations)
    }
}

/// `[1] [[path#^id|Name › Heading]] · 2026-11-30 · line 4`, and the text in a fence that is longer than
/// any run of backticks in it. Several facts of one digest stand in one fence, a line each, behind
/// their numbers and lines: `[1]–[3] [[path|Name]] · lines 4, 7, 9`.
fn entry(number: usize, pieces: &[Piece]) -> String {
    let Some(piece) = pieces.first() else { return String::new() };
    let mut label: Vec<&str> = vec![piece.name.as_str()];
    if !piece.fact {
        label.extend(piece.headings.iter().map(String::as_str).filter(|heading| *heading != piece.name));
    }
    let label = label.join(" › ").replace(|c: char| matches!(c, '|' | '[' | ']' | '`') || c.is_control(), " ");
    let date = piece.date.map(|day| format!(" · {day}")).unwrap_or_default();
    let span = |(first, last): (u32, u32)| if first == last { first.to_string() } else { format!("{first}–{last}") };
    let plural = if pieces.len() > 1 || piece.lines.0 != piece.lines.1 { "s" } else { "" };
    let lines = pieces.iter().map(|piece| span(piece.lines)).collect::<Vec<_>>().join(", ");
    let part = if pieces.iter().any(|piece| piece.cut) { ", in part" } else { "" };
    let anchor = piece.block_id.as_deref().filter(|_| pieces.len() == 1);
    let link = link(&piece.path, anchor, truncate_chars(&label, LABEL_CHARS).trim());
    let numbers = match pieces.len() {
        1 => format!("[{number}]"),
        count => format!("[{number}]–[{}]", number + count - 1),
    };
    let text = pieces.iter().map(|piece| piece.text.trim_end_matches('\n')).collect::<Vec<_>>().join("\n");
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    format!("{numbers} {link}{date} · line{plural} {lines}{part}\n{fence}note\n{text}\n{fence}\n\n")
}

/// A fact without the fields that say where it comes from; as it is where there is nothing else.
fn without_provenance(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("(derived_from::") {
        let (before, field) = rest.split_at(at);
        let Some(end) = field.find("]])").map(|end| end + 3) else { break };
        out.push_str(before.trim_end_matches(' '));
        rest = field.get(end..).unwrap_or("");
    }
    out.push_str(rest);
    if out.chars().any(char::is_alphanumeric) { out } else { text.to_owned() }
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
