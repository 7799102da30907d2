//! An abstractor that passes everything on to a model, and holds what was kept against the notes.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use dormouse_dream::{
    Abstractor, Candidate, ComposeJob, Composed, Decided, DreamConfig, DreamError, Gated, GroundedUnit, Material,
    ModelAbstractor, Unit,
};
use dormouse_vault::NotePath;
use serde::Serialize;
use unicode_normalization::UnicodeNormalization as _;

/// A fact that was kept, for a person who judges it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct KeptFact {
    /// The note that it came from.
    pub(crate) note: NotePath,
    /// The unit.
    pub(crate) unit: String,
    /// What is stated.
    pub(crate) fact: String,
    /// The spans that the model gave for it.
    pub(crate) evidence: Vec<String>,
    /// Whether one of these spans stands in the note, read anew by rules of its own.
    pub(crate) verified: bool,
}

/// Remembers what the gate said and what became of it.
pub(crate) struct Witnessed {
    model: ModelAbstractor,
    said: Mutex<BTreeMap<NotePath, Vec<Unit>>>,
    kept: Mutex<Vec<KeptFact>>,
}

impl Witnessed {
    /// Judges by `model`.
    pub(crate) fn new(model: ModelAbstractor) -> Self {
        Self { model, said: Mutex::default(), kept: Mutex::default() }
    }

    /// The facts that went on behind the check, each once.
    pub(crate) fn kept(&self) -> Vec<KeptFact> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, material: &Material, unit: &GroundedUnit) {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let gated = said.get(&material.path).map(Vec::as_slice).unwrap_or_default();
        let note: String = material.passages.iter().map(|passage| bare(&passage.text)).collect();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for fact in &unit.facts {
            let facts = gated.iter().flat_map(|unit| &unit.facts);
            let evidence: Vec<String> = facts
                .filter(|said| letters(&said.text) == letters(&fact.text))
                .flat_map(|f| f.evidence.clone())
                .collect();
            let verified = evidence.iter().any(|span| !bare(span).is_empty() && note.contains(&bare(span)));
            let one = KeptFact {
                note: material.path.clone(),
                unit: unit.name.clone(),
                fact: fact.text.clone(),
                evidence,
                verified,
            };
            if !kept.contains(&one) {
                kept.push(one);
            }
        }
    }
}

/// A text without white space, in compatibility form and lower case: a span may begin with a capital that
/// the note has not.
fn bare(text: &str) -> String {
    text.nfkc().filter(|c| !c.is_whitespace()).collect::<String>().to_lowercase()
}

fn letters(text: &str) -> String {
    text.nfkc().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase()
}

#[async_trait]
impl Abstractor for Witnessed {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn gate(&self, material: &Material, config: &DreamConfig) -> Result<Gated, DreamError> {
        let gated = self.model.gate(material, config).await?;
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.entry(material.path.clone()).or_default().extend(gated.units.iter().cloned());
        Ok(gated)
    }

    fn parts(&self, material: &Material, unit: &GroundedUnit, candidates: &[Candidate]) -> Vec<GroundedUnit> {
        self.note(material, unit);
        self.model.parts(material, unit, candidates)
    }

    async fn decide(
        &self,
        material: &Material,
        unit: &GroundedUnit,
        candidates: &[Candidate],
        config: &DreamConfig,
    ) -> Result<Decided, DreamError> {
        self.model.decide(material, unit, candidates, config).await
    }

    async fn compose(&self, job: &ComposeJob<'_>, config: &DreamConfig) -> Result<Composed, DreamError> {
        self.model.compose(job, config).await
    }
}
