//! Verdicts on candidates, and what follows from them.

use std::collections::BTreeSet;
use std::ops::Range;

use dormouse_vault::text::estimate_tokens;
use dormouse_vault::{BlockKind, Bucket, Layer, NotePath, Snapshot, Vault, VaultError, Version};

use crate::config::DreamConfig;
use crate::markdown::{DERIVED_FROM, plain};
use crate::report::Action;

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
    /// The note to update, or none: create.
    pub(crate) subject: Option<(Candidate, Flavour)>,
    /// Digests to link to, nearest first.
    pub(crate) related: Vec<(Candidate, Option<String>)>,
}

/// One same, unlocked and not full: update it. All others that have to do with the unit: links.
/// Verdicts on notes that were no candidates count for nothing.
pub(crate) fn settle(verdicts: &[Verdict], candidates: &[Candidate], bucket: Bucket, config: &DreamConfig) -> Settled {
    let mut settled = Settled { subject: None, related: Vec::new() };
    for candidate in candidates {
        let Some(verdict) = verdicts.iter().find(|v| v.path == candidate.path) else {
            continue;
        };
        match &verdict.relation {
            Relation::Same(flavour) if settled.subject.is_none() && writable(candidate, bucket, config) => {
                settled.subject = Some((candidate.clone(), *flavour));
            }
            Relation::Same(_) => settled.related.push((candidate.clone(), None)),
            Relation::Related(sentence) => settled.related.push((candidate.clone(), sentence.clone())),
        }
    }
    settled
}

fn writable(candidate: &Candidate, bucket: Bucket, config: &DreamConfig) -> bool {
    !candidate.locked && candidate.bucket == Some(bucket) && estimate_tokens(&candidate.text) <= config.subject_tokens
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
