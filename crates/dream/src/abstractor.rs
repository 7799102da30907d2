//! The port to judgement: what is worth keeping, and what it is to what is there.

use async_trait::async_trait;
use chrono::NaiveDate;
use dormouse_model::Usage;
use dormouse_vault::Violation;

use crate::config::DreamConfig;
use crate::decide::{Candidate, Flavour, Verdict};
use crate::error::DreamError;
use crate::gate::{GroundedUnit, Unit};
use crate::material::{Language, Material};
use crate::report::DroppedUnit;

/// What the gate let through.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gated {
    /// Units; none is a good answer.
    pub units: Vec<Unit>,
    /// Items of a reply that were not valid, each with its reason.
    pub rejected: Vec<DroppedUnit>,
    /// What it cost.
    pub usage: Usage,
}

/// What the candidates are to a unit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decided {
    /// A verdict for each candidate that is not unrelated; the order has no meaning.
    pub verdicts: Vec<Verdict>,
    /// Items of a reply that were not valid: for the audit.
    pub rejected: Vec<String>,
    /// What it cost.
    pub usage: Usage,
}

/// The text of a digest note.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Composed {
    /// The whole note, frontmatter included.
    pub text: String,
    /// For the audit: what was left out.
    pub remarks: Vec<String>,
    /// What it cost.
    pub usage: Usage,
}

/// Which note is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target<'a> {
    /// A new one.
    Create,
    /// One that exists.
    Update {
        /// The note as it is.
        subject: &'a Candidate,
        /// How it changes.
        flavour: Flavour,
    },
}

/// A note to write: everything that its text is made from.
#[derive(Debug, Clone)]
pub struct ComposeJob<'a> {
    /// The material.
    pub material: &'a Material,
    /// The unit, with checked evidence; facts that a digest states already are not in it.
    pub unit: &'a GroundedUnit,
    /// The note's name: for a new note free in its bucket.
    pub name: &'a str,
    /// Which note.
    pub target: Target<'a>,
    /// Digests to link to, with a sentence where the abstractor gave one. Every one must become a
    /// link.
    pub related: &'a [(Candidate, Option<String>)],
    /// The day of the run.
    pub today: NaiveDate,
    /// The language to write in.
    pub language: Language,
    /// What the door found missing in the text composed before; empty the first time. There is one
    /// second try.
    pub violations: &'a [Violation],
}

/// Judges. Its answers are checked by code and never trusted: evidence against the material, links
/// against the vault, an update's text against what it must conserve.
///
/// Object-safe, so that the choice between rules and a model is the caller's at run time.
#[async_trait]
pub trait Abstractor: Send + Sync {
    /// For the ledger and the audit: `extractive`, or the model's name.
    fn name(&self) -> &str;

    /// Whether a model is involved. Default true.
    fn uses_model(&self) -> bool {
        true
    }

    /// Is there something in `material` that is worth recalling when the details are gone?
    ///
    /// # Errors
    /// [`DreamError::Model`] or [`DreamError::Reply`]; the material then stays pending.
    async fn gate(&self, material: &Material, config: &DreamConfig) -> Result<Gated, DreamError>;

    /// Cuts a unit whose facts belong to different notes: each part is decided and written alone.
    /// No fact may be lost or changed. Default: the unit as it is.
    fn parts(&self, material: &Material, unit: &GroundedUnit, candidates: &[Candidate]) -> Vec<GroundedUnit> {
        let _ = (material, candidates);
        vec![unit.clone()]
    }

    /// What is each of `candidates` to `unit`? At most one may be the same; unsure means create.
    ///
    /// # Errors
    /// As [`Abstractor::gate`].
    async fn decide(
        &self,
        material: &Material,
        unit: &GroundedUnit,
        candidates: &[Candidate],
        config: &DreamConfig,
    ) -> Result<Decided, DreamError>;

    /// The text of a new or updated note.
    ///
    /// # Errors
    /// As [`Abstractor::gate`].
    async fn compose(&self, job: &ComposeJob<'_>, config: &DreamConfig) -> Result<Composed, DreamError>;
}
