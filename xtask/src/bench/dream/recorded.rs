//! Units that somebody wrote down before, in the place of a dreamer.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use async_trait::async_trait;
use dormouse_dream::{
    Abstractor, Candidate, ComposeJob, Composed, Decided, DreamConfig, DreamError, ExtractiveAbstractor, Fact, Flavour,
    Gated, GroundedUnit, Material, Relation, Unit, Verdict,
};
use dormouse_vault::Bucket;
use serde::Deserialize;

/// A line of the file.
#[derive(Debug, Clone, Deserialize)]
struct Line {
    conv: String,
    subject: String,
    statement: String,
    sources: Vec<Source>,
}

#[derive(Debug, Clone, Deserialize)]
struct Source {
    note: String,
    block: String,
}

/// Gives for each material the units that the file has for it. What it says is checked like any other
/// dreamer's word.
pub(crate) struct Recorded {
    name: String,
    /// By note.
    lines: BTreeMap<String, Vec<Line>>,
}

impl Recorded {
    /// Reads a file.
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let mut lines: BTreeMap<String, Vec<Line>> = BTreeMap::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let line: Line =
                serde_json::from_str(line).with_context(|| format!("{}:{}", file.display(), number + 1))?;
            if let Some(source) = line.sources.first() {
                lines.entry(source.note.clone()).or_default().push(line);
            }
        }
        let stem = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Ok(Self { name: format!("recorded:{stem}"), lines })
    }

    fn of(&self, note: &str) -> &[Line] {
        self.lines.get(note).map_or(&[], Vec::as_slice)
    }
}

#[async_trait]
impl Abstractor for Recorded {
    fn name(&self) -> &str {
        &self.name
    }

    async fn gate(&self, material: &Material, _: &DreamConfig) -> Result<Gated, DreamError> {
        let mut units: Vec<Unit> = Vec::new();
        for line in self.of(material.path.as_str()) {
            let evidence = line.sources.iter().filter_map(|source| {
                let is = |id: &Option<String>| id.as_deref().is_some_and(|id| id.eq_ignore_ascii_case(&source.block));
                material.passages.iter().find(|passage| is(&passage.id)).map(|passage| passage.text.clone())
            });
            let fact = Fact { text: line.statement.clone(), evidence: evidence.collect(), step: false };
            match units.iter_mut().find(|unit| unit.name == line.subject) {
                Some(unit) => unit.facts.push(fact),
                None => units.push(Unit {
                    name: line.subject.clone(),
                    bucket: Bucket::Personal,
                    summary: format!("What is known of {}.", line.subject),
                    facts: vec![fact],
                }),
            }
        }
        Ok(Gated { units, ..Gated::default() })
    }

    /// The same is a note of that name that comes from the same conversation; two people may have one
    /// name.
    async fn decide(
        &self,
        material: &Material,
        unit: &GroundedUnit,
        candidates: &[Candidate],
        _: &DreamConfig,
    ) -> Result<Decided, DreamError> {
        let conversation = self.of(material.path.as_str()).first().map(|line| line.conv.as_str());
        let known = |source: &str| self.of(source).first().map(|line| line.conv.as_str());
        let same = candidates.iter().filter(|candidate| {
            let named = candidate.name == unit.name || candidate.name.starts_with(&format!("{} (", unit.name));
            named && candidate.sources.iter().any(|source| known(source.as_str()) == conversation)
        });
        let verdicts = same
            .map(|candidate| Verdict { path: candidate.path.clone(), relation: Relation::Same(Flavour::Corroborate) })
            .collect();
        Ok(Decided { verdicts, ..Decided::default() })
    }

    async fn compose(&self, job: &ComposeJob<'_>, config: &DreamConfig) -> Result<Composed, DreamError> {
        // An instance more is woven in by rules, whoever judged.
        ExtractiveAbstractor.compose(job, config).await
    }
}
