//! An abstractor that gives up once it is told to: between its questions, and in the middle of one.

use std::sync::Arc;

use async_trait::async_trait;
use dormouse_dream::{
    Abstractor, Candidate, ComposeJob, Composed, Decided, DreamConfig, DreamError, Gated, GroundedUnit, Material,
};
use dormouse_model::ModelError;
use tokio_util::sync::CancellationToken;

/// Passes everything on to `inner` until `cancel`. What it gives up stays pending.
pub(super) struct Cancellable {
    inner: Arc<dyn Abstractor>,
    cancel: CancellationToken,
}

impl Cancellable {
    pub(super) fn new(inner: Arc<dyn Abstractor>, cancel: CancellationToken) -> Self {
        Self { inner, cancel }
    }

    async fn unless_cancelled<T>(&self, work: impl Future<Output = Result<T, DreamError>>) -> Result<T, DreamError> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(ModelError::Cancelled.into()),
            done = work => done,
        }
    }
}

#[async_trait]
impl Abstractor for Cancellable {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn uses_model(&self) -> bool {
        self.inner.uses_model()
    }

    async fn gate(&self, material: &Material, config: &DreamConfig) -> Result<Gated, DreamError> {
        self.unless_cancelled(self.inner.gate(material, config)).await
    }

    fn parts(&self, material: &Material, unit: &GroundedUnit, candidates: &[Candidate]) -> Vec<GroundedUnit> {
        self.inner.parts(material, unit, candidates)
    }

    async fn decide(
        &self,
        material: &Material,
        unit: &GroundedUnit,
        candidates: &[Candidate],
        config: &DreamConfig,
    ) -> Result<Decided, DreamError> {
        self.unless_cancelled(self.inner.decide(material, unit, candidates, config)).await
    }

    async fn compose(&self, job: &ComposeJob<'_>, config: &DreamConfig) -> Result<Composed, DreamError> {
        self.unless_cancelled(self.inner.compose(job, config)).await
    }
}
