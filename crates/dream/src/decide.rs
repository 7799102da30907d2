//! Verdicts on candidates, and what follows from them.

use std::collections::BTreeSet;
use std::ops::Range;

use chrono::NaiveDate;
use dormouse_vault::text::{content_words, estimate_tokens, is_cjk};
use dormouse_vault::{BlockKind, Bucket, Layer, NotePath, Snapshot, Vault, VaultError, Version};

use crate::config::DreamConfig;
use crate::gate::GroundedUnit;
use crate::markdown::{DERIVED_FROM, folded, plain, without_subject};
use crate::report::Action;
use crate::stated::restates;

/// A digest note that may have to do with a unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Where it lies.
    pub path: NotePath,
    /// The version that was read.
    pub version: Version,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// Its bucket; `None` outside the bucket folders.
    pub bucket: Option<Bucket>,
    /// How near it is, by the neighbours' own measure.
    pub score: f64,
    /// The whole note.
    pub text: String,
    /// Its body's blocks: where they stand and what they say.
    pub blocks: Vec<CandidateBlock>,
    /// What it was derived from.
    pub sources: BTreeSet<NotePath>,
    /// All files that it links to.
    pub links: BTreeSet<NotePath>,
    /// Whether only a person may write it (`locked: true`, or not readable).
    pub locked: bool,
}

/// A block of a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateBlock {
    /// Its bytes in [`Candidate::text`].
    pub span: Range<usize>,
    /// Whether a sentence can be added to it: a paragraph or list item.
    pub open: bool,
    /// Whether it stands under the heading of related notes.
    pub related: bool,
    /// What it says, without provenance.
    pub text: String,
    /// Its provenance: the source, and the block of it.
    pub sources: Vec<(NotePath, Option<String>)>,
}

/// How an update changes its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flavour {
    /// Another instance: provenance and blocks are added, no block changes otherwise.
    Corroborate,
    /// Scope, boundary or step made precise.
    Refine,
    /// The claim narrowed, or contradicted: noted in place, dated, with both sources.
    Correct,
}

impl From<Flavour> for Action {
    fn from(flavour: Flavour) -> Self {
        match flavour {
            Flavour::Corroborate => Self::Corroborate,
            Flavour::Refine => Self::Refine,
            Flavour::Correct => Self::Correct,
        }
    }
}

/// What a candidate is to a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relation {
    /// It is about the same thing.
    Same(Flavour),
    /// It has to do with it: becomes a link, in this sentence where there is one.
    Related(Option<String>),
}

/// A verdict on one candidate; those without are unrelated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The candidate.
    pub path: NotePath,
    /// What it is.
    pub relation: Relation,
}

/// What is done with a unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settled {
    /// Where a new note goes: beside the one that is the same and has no room.
    pub(crate) bucket: Bucket,
    /// The note to update, or none: create.
    pub(crate) subject: Option<(Candidate, Flavour)>,
    /// Digests to link to, nearest first.
    pub(crate) related: Vec<(Candidate, Option<String>)>,
}

/// One same, unlocked and not full: update it. All others that have to do with the unit: links.
/// Verdicts on notes that were no candidates count for nothing. `written` are notes that the same
/// material was just written into, `full` those that have no room for this unit.
///
/// What a verdict forgot is seen from the notes themselves: one of the unit's own name is the same
/// (in another bucket, when no verdict knows it), and so is one that states a fact of it already. A note that is full hands over to the one that
/// goes on under its name.
pub(crate) fn settle(
    verdicts: &[Verdict],
    candidates: &[Candidate],
    unit: &GroundedUnit,
    written: &BTreeSet<NotePath>,
    full: &BTreeSet<NotePath>,
    config: &DreamConfig,
) -> Settled {
    let open = |c: &&Candidate| has_room(c, full, config);
    let same = candidates.iter().find_map(|c| match verdicts.iter().find(|v| v.path == c.path)?.relation {
        Relation::Same(flavour) => Some((c, flavour)),
        Relation::Related(_) => None,
    });
    // Units that one material keeps apart by the order of their names' words are two.
    let apart = |c: &Candidate, name: &str| written.contains(&c.path) && !same_name(&c.name, name);
    let of_name = |name: &str, bucket: Option<Bucket>| {
        let mut there = candidates.iter().filter(|c| c.bucket == bucket).filter(open);
        there.find(|c| same_title(&c.name, name) && !apart(c, name))
    };
    let named = of_name(&unit.name, Some(unit.bucket));
    let same = same.filter(|(c, _)| {
        let other = named.is_some_and(|named| named.path != c.path);
        !other || same_title(&c.name, &unit.name) || shares_words(unit, c)
    });
    let said = same.and_then(|(c, flavour)| {
        let next = Some(c).filter(open).or_else(|| of_name(&c.name, c.bucket));
        next.map(|c| (c, flavour))
    });
    let states = || {
        let mut here = candidates.iter().filter(|c| c.bucket == Some(unit.bucket)).filter(open);
        here.find(|c| unit.facts.iter().any(|f| states(c, &f.text)))
    };
    // One of the very name in another bucket is two things when a verdict says how they are related;
    // without any it was forgotten.
    let forgotten = || {
        let mut unjudged = candidates.iter().filter(|c| verdicts.iter().all(|v| v.path != c.path)).filter(open);
        unjudged.find(|c| same_name(&c.name, &unit.name) && !written.contains(&c.path) && shares_words(unit, c))
    };
    let subject = said.or_else(|| named.or_else(states).or_else(forgotten).map(|c| (c, Flavour::Corroborate)));
    let related = candidates.iter().filter(|c| subject.is_none_or(|(s, _)| s.path != c.path)).filter_map(|c| {
        match &verdicts.iter().find(|v| v.path == c.path)?.relation {
            Relation::Same(_) => Some((c.clone(), None)),
            Relation::Related(sentence) => Some((c.clone(), sentence.clone())),
        }
    });
    Settled {
        bucket: same.and_then(|(c, _)| c.bucket).unwrap_or(unit.bucket),
        related: related.collect(),
        subject: subject.map(|(c, flavour)| (c.clone(), flavour)),
    }
}

/// Whether a candidate may take in more.
pub(crate) fn has_room(candidate: &Candidate, full: &BTreeSet<NotePath>, config: &DreamConfig) -> bool {
    !candidate.locked
        && candidate.bucket.is_some()
        && !full.contains(&candidate.path)
        && estimate_tokens(&candidate.text) <= config.subject_tokens
}

/// Whether a block of the note says the same as a fact.
pub(crate) fn states(note: &Candidate, fact: &str) -> bool {
    let said = plain(without_subject(fact, &note.name));
    note.blocks.iter().any(|b| b.open && !b.related && restates(&said, &b.text))
}

/// Whether unit and note have a word in common.
fn shares_words(unit: &GroundedUnit, note: &Candidate) -> bool {
    let mine: BTreeSet<String> = content_words(&unit.query()).into_iter().collect();
    let blocks = note.blocks.iter().filter(|b| !b.related).map(|b| b.text.as_str());
    blocks.chain([note.name.as_str()]).flat_map(content_words).any(|word| mine.contains(&word))
}

/// Whether two names say the same: the same words in any order, whatever day stands behind them.
pub(crate) fn same_title(a: &str, b: &str) -> bool {
    same_name(a, b) || {
        let (a, b) = (title_words(without_day(a)), title_words(without_day(b)));
        !a.is_empty() && a == b
    }
}

fn same_name(a: &str, b: &str) -> bool {
    folded(without_day(a)) == folded(without_day(b))
}

/// A name without the day that is put behind one that was taken.
pub(crate) fn without_day(name: &str) -> &str {
    match name.trim_end().strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
        Some((bare, day)) if day.parse::<NaiveDate>().is_ok() => bare,
        _ => name,
    }
}

/// Latin words that carry meaning, and each CJK character but those that only join.
fn title_words(name: &str) -> BTreeSet<String> {
    let latin = content_words(name).into_iter().filter(|word| !word.chars().any(is_cjk));
    let cjk = name.chars().filter(|c| is_cjk(*c) && !"的了和与及之在是".contains(*c)).map(String::from);
    latin.chain(cjk).collect()
}

/// The headings that we write over links to related notes.
pub(crate) const RELATED: [&str; 2] = ["Related", "相关"];

/// Reads a digest note as a candidate. `None` when it is no live digest, or has changed since the
/// snapshot (the caller refreshes and asks again).
pub(crate) fn candidate(
    vault: &Vault,
    snapshot: &Snapshot,
    path: &NotePath,
    score: f64,
) -> Result<Option<Candidate>, VaultError> {
    let Some(note) = snapshot.note(path).filter(|n| n.layer == Layer::Digest && n.is_live() && n.utf8) else {
        return Ok(None);
    };
    let read = match vault.read(path) {
        Ok(read) => read,
        Err(VaultError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    if read.version != note.version {
        return Ok(None);
    }
    let doc = note.doc();
    let resolved = snapshot.links_of(note);
    let related_heading = |heading: Option<u32>| {
        heading
            .and_then(|h| doc.headings.get(h as usize))
            .is_some_and(|h| RELATED.iter().any(|r| r.eq_ignore_ascii_case(h.text.trim())))
    };
    let blocks = doc
        .blocks
        .iter()
        .filter_map(|block| {
            let sources = resolved
                .iter()
                .filter(|(l, _)| l.predicate.as_deref().is_some_and(|p| p.eq_ignore_ascii_case(DERIVED_FROM)))
                .filter(|(l, _)| l.span.start >= block.span.start && l.span.end <= block.span.end)
                .filter_map(|(l, r)| Some((r.path()?.clone(), l.subpath.strip_prefix("#^").map(str::to_owned))))
                .collect();
            Some(CandidateBlock {
                span: block.span.clone(),
                open: matches!(block.kind, BlockKind::Paragraph | BlockKind::ListItem),
                related: related_heading(block.heading),
                text: plain(read.text.get(block.span.clone())?),
                sources,
            })
        })
        .collect();
    let edges = snapshot.graph().out_edges(path);
    let locked = note.is_locked() || (note.doc().frontmatter.span.is_some() && !note.doc().frontmatter.well_formed);
    Ok(Some(Candidate {
        path: path.clone(),
        version: note.version,
        name: note.name.to_string(),
        description: note.description.as_deref().map(str::to_owned),
        bucket: note.bucket,
        score,
        blocks,
        sources: edges
            .iter()
            .filter(|e| e.predicate.is_some_and(|p| p.eq_ignore_ascii_case(DERIVED_FROM)))
            .map(|e| e.target.clone())
            .collect(),
        links: edges.iter().map(|e| e.target.clone()).collect(),
        locked,
        text: read.text,
    }))
}
