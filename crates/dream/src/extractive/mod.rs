//! Rules in place of a model: deterministic, offline, English and Chinese. Keeps what it can
//! justify.

mod acts;
mod acts_zh;
mod agreement;
mod chat;
mod cues;
mod durable;
mod history;
mod homes;
mod instructions;
mod kin;
mod likeness;
mod measured;
mod names;
mod noise;
mod persons;
mod segment;
mod topics;
mod units;

pub(crate) use chat::turn;
pub(crate) use cues::padded;

use crate::abstractor::{Abstractor, ComposeJob, Composed, Decided, Gated, Target};
use crate::config::DreamConfig;
use crate::decide::{Candidate, Flavour};
use crate::error::DreamError;
use crate::gate::GroundedUnit;
use crate::material::Material;
use crate::weave::{place, related_lines, weave};
use async_trait::async_trait;

/// Judges by rules: cue sentences, headings, imperative steps, stated preferences, measured facts.
/// The same material always gives the same units. No model, no network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExtractiveAbstractor;

#[async_trait]
impl Abstractor for ExtractiveAbstractor {
    fn name(&self) -> &str {
        "extractive"
    }

    fn uses_model(&self) -> bool {
        false
    }

    async fn gate(&self, material: &Material, _: &DreamConfig) -> Result<Gated, DreamError> {
        let units = if let Some(unit) = history::of_commit(material) {
            vec![unit]
        } else if chat::is_chat(material) {
            units::of_chat(material)
        } else {
            units::of_claims(material, segment::claims(material))
        };
        Ok(Gated { units, ..Gated::default() })
    }

    fn parts(&self, material: &Material, unit: &GroundedUnit, candidates: &[Candidate]) -> Vec<GroundedUnit> {
        if history::is_history(material, unit) {
            return vec![unit.clone()];
        }
        likeness::parts(material, unit, candidates)
    }

    async fn decide(
        &self,
        material: &Material,
        unit: &GroundedUnit,
        candidates: &[Candidate],
        _: &DreamConfig,
    ) -> Result<Decided, DreamError> {
        let verdicts = if history::is_history(material, unit) {
            history::verdicts(unit, candidates)
        } else {
            likeness::verdicts(material, unit, candidates)
        };
        Ok(Decided { verdicts, ..Decided::default() })
    }

    async fn compose(&self, job: &ComposeJob<'_>, config: &DreamConfig) -> Result<Composed, DreamError> {
        let changes: Vec<(usize, usize)> = match job.target {
            Target::Update { subject, flavour: Flavour::Correct } => job
                .unit
                .facts
                .iter()
                .enumerate()
                .filter_map(|(i, fact)| Some((i, likeness::corrects(fact, subject, job.material)?)))
                .collect(),
            Target::Update { subject, flavour: Flavour::Refine } => job
                .unit
                .facts
                .iter()
                .enumerate()
                .filter_map(|(i, fact)| Some((i, homes::precise(fact, subject, job.material)?)))
                .collect(),
            _ => Vec::new(),
        };
        let mut woven = place(job, &changes, config);
        woven.related = related_lines(job);
        Ok(Composed { text: weave(job, &job.unit.summary, &woven), ..Composed::default() })
    }
}
