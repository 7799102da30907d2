//! What the tests share: one run on a vault, and doubles for the model and for judgement.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::DateTime;
use dormouse_dream::{
    Abstractor, Candidate, ComposeJob, Composed, Decided, DreamConfig, DreamContext, DreamError, DreamReport,
    DreamRequest, ExtractiveAbstractor, Gated, GroundedUnit, LexicalNeighbours, Material, ModelAbstractor, dream,
};
use dormouse_fixtures::TempVault;
use dormouse_model::{Reply, ScriptedModel};
use dormouse_vault::{FixedClock, NotePath, Vault};

pub(crate) fn clock() -> FixedClock {
    FixedClock::new(DateTime::parse_from_rfc3339("2026-11-30T14:05:09+01:00").unwrap())
}

pub(crate) fn path(text: &str) -> NotePath {
    NotePath::new(text).unwrap()
}

/// One run with everything else at its default.
pub(crate) fn run(
    vault: &TempVault,
    abstractor: &dyn Abstractor,
    request: DreamRequest,
) -> Result<DreamReport, DreamError> {
    let vault = Vault::open(vault.path()).unwrap();
    run_open(&vault, abstractor, request)
}

pub(crate) fn run_open(
    vault: &Vault,
    abstractor: &dyn Abstractor,
    request: DreamRequest,
) -> Result<DreamReport, DreamError> {
    run_at(vault, abstractor, request, &clock())
}

pub(crate) fn run_at(
    vault: &Vault,
    abstractor: &dyn Abstractor,
    request: DreamRequest,
    clock: &FixedClock,
) -> Result<DreamReport, DreamError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(dream(
        DreamContext {
            vault,
            abstractor,
            neighbours: &LexicalNeighbours::new(vault),
            clock,
            config: &DreamConfig::default(),
            observer: &(),
            cancel: &|| false,
        },
        request,
    ))
}

/// A run by rules over everything that is pending.
pub(crate) fn by_rules(vault: &TempVault) -> DreamReport {
    run(vault, &ExtractiveAbstractor, DreamRequest::default()).unwrap()
}

/// The digest layer as text.
pub(crate) fn digests(vault: &TempVault) -> String {
    vault.dump_if(|p| p.starts_with("digest/"))
}

pub(crate) fn digest_count(vault: &TempVault) -> usize {
    vault.files().keys().filter(|p| p.starts_with("digest/") && p.ends_with(".md")).count()
}

pub(crate) fn audit(vault: &TempVault) -> String {
    vault.dump_if(|p| p.starts_with("audit/"))
}

/// Every `derived_from` of every digest resolves, to a block that exists where one is named.
pub(crate) fn provenance_is_whole(vault: &Vault) {
    let snapshot = vault.snapshot();
    for note in snapshot.notes().filter(|n| n.bucket.is_some()) {
        let mut sources = 0;
        for (link, resolution) in snapshot.links_of(note) {
            let target = resolution.path().unwrap_or_else(|| panic!("{}: dangling {}", note.path, link.target));
            if link.predicate.as_deref() == Some("derived_from") {
                sources += 1;
                if !link.subpath.is_empty() {
                    assert!(
                        snapshot.anchor_line(target, &link.subpath).is_some(),
                        "{}: {}{}",
                        note.path,
                        link.target,
                        link.subpath
                    );
                }
            }
        }
        assert!(sources > 0, "{}: no provenance", note.path);
    }
}

/// A run with a scripted model.
pub(crate) fn by_model(vault: &TempVault, replies: &[&str]) -> (DreamReport, Arc<ScriptedModel>) {
    let script = Arc::new(ScriptedModel::new(replies.iter().map(|r| Reply::text(*r)).collect()));
    let report = run(vault, &ModelAbstractor::new(script.clone()), DreamRequest::default()).unwrap();
    (report, script)
}

/// Judges by rules, but something of its own happens when a text is composed.
pub(crate) struct Meddling<F: Fn(&ComposeJob<'_>, Composed) -> Composed + Send + Sync>(pub(crate) F);

#[async_trait]
impl<F: Fn(&ComposeJob<'_>, Composed) -> Composed + Send + Sync> Abstractor for Meddling<F> {
    fn name(&self) -> &str {
        "meddling"
    }

    fn uses_model(&self) -> bool {
        false
    }

    async fn gate(&self, material: &Material, config: &DreamConfig) -> Result<Gated, DreamError> {
        ExtractiveAbstractor.gate(material, config).await
    }

    async fn decide(
        &self,
        m: &Material,
        u: &GroundedUnit,
        c: &[Candidate],
        config: &DreamConfig,
    ) -> Result<Decided, DreamError> {
        ExtractiveAbstractor.decide(m, u, c, config).await
    }

    async fn compose(&self, job: &ComposeJob<'_>, config: &DreamConfig) -> Result<Composed, DreamError> {
        Ok((self.0)(job, ExtractiveAbstractor.compose(job, config).await?))
    }
}
