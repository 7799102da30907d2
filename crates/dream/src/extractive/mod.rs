//! Rules in place of a model: deterministic, offline, English and Chinese. Keeps what it can
//! justify.

mod chat;
mod cues;
mod instructions;
mod likeness;
mod measured;
mod names;
mod segment;

use async_trait::async_trait;
use dormouse_vault::Bucket;
use dormouse_vault::text::truncate_chars;

use crate::abstractor::{Abstractor, ComposeJob, Composed, Decided, Gated, Target};
use crate::config::DreamConfig;
use crate::decide::{Candidate, Flavour};
use crate::error::DreamError;
use crate::gate::{Fact, GroundedUnit, Unit};
use crate::markdown::plain;
use crate::material::Material;
use crate::weave::{place, related_lines, weave};
use segment::{Claim, Kind};

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
        let units = if chat::is_chat(material) {
            of_chat(material)
        } else {
            of_claims(material, segment::claims(material))
        };
        Ok(Gated {
            units,
            ..Gated::default()
        })
    }

    async fn decide(
        &self,
        material: &Material,
        unit: &GroundedUnit,
        candidates: &[Candidate],
        _: &DreamConfig,
    ) -> Result<Decided, DreamError> {
        Ok(Decided {
            verdicts: likeness::verdicts(material, unit, candidates),
            ..Decided::default()
        })
    }

    async fn compose(
        &self,
        job: &ComposeJob<'_>,
        config: &DreamConfig,
    ) -> Result<Composed, DreamError> {
        let changes: Vec<(usize, usize)> = match job.target {
            Target::Update {
                subject,
                flavour: Flavour::Correct,
            } => job
                .unit
                .facts
                .iter()
                .enumerate()
                .filter_map(|(i, fact)| Some((i, likeness::corrects(fact, subject, job.material)?)))
                .collect(),
            Target::Update {
                subject,
                flavour: Flavour::Refine,
            } => job
                .unit
                .facts
                .iter()
                .enumerate()
                .filter_map(|(i, fact)| Some((i, likeness::refines(fact, subject)?)))
                .collect(),
            _ => Vec::new(),
        };
        let mut woven = place(job, &changes, config);
        woven.related = related_lines(job);
        Ok(Composed {
            text: weave(job, &job.unit.summary, &woven),
            ..Composed::default()
        })
    }
}

/// One unit for what is so, one for the person, one for the steps; what is so under several topic
/// headings is one unit a topic.
fn of_claims(material: &Material, claims: Vec<Claim>) -> Vec<Unit> {
    let title = names::title(material);
    let of_kind = |kind: Kind| claims.iter().filter(|c| c.kind == kind).collect::<Vec<_>>();
    let mut units = Vec::new();
    let facts = of_kind(Kind::Fact);
    let mut topics: Vec<Option<&str>> = Vec::new();
    for claim in &facts {
        if !topics.contains(&claim.topic.as_deref()) {
            topics.push(claim.topic.as_deref());
        }
    }
    let apart = topics.len() > 1
        && topics.iter().all(|topic| {
            facts
                .iter()
                .filter(|c| c.topic.as_deref() == *topic)
                .count()
                > 1
        });
    if apart {
        for topic in topics {
            let here: Vec<&Claim> = facts
                .iter()
                .copied()
                .filter(|c| c.topic.as_deref() == topic)
                .collect();
            let name = match (topic, &title) {
                (Some(topic), Some(title)) => names::clip(&format!("{title}: {topic}"), 80),
                (Some(topic), None) => names::clip(topic, 64),
                (None, _) => title.clone().unwrap_or_else(|| named_by_first(&here)),
            };
            units.push(unit(name, Bucket::Wiki, first_of(&here), &here));
        }
    } else if !facts.is_empty() {
        let name = title.clone().unwrap_or_else(|| named_by_first(&facts));
        let summary = material
            .description
            .clone()
            .unwrap_or_else(|| first_of(&facts));
        units.push(unit(name, Bucket::Wiki, summary, &facts));
    }
    let steps = of_kind(Kind::Step);
    if !steps.is_empty() {
        let name = match &title {
            Some(title) => names::of_steps(title, material.language),
            None => named_by_first(&steps),
        };
        let summary = names::clip(
            &steps
                .iter()
                .map(|c| plain(&c.evidence))
                .collect::<Vec<_>>()
                .join(" "),
            160,
        );
        units.push(unit(name, Bucket::Procedure, summary, &steps));
    }
    let personal = of_kind(Kind::Personal);
    if !personal.is_empty() {
        let about_person = matches!(
            cues::heading(&material.name),
            Some(cues::Section::Of(cues::Class::Preference))
        );
        let name = title
            .filter(|_| about_person)
            .unwrap_or_else(|| named_by_wish(&personal));
        units.push(unit(name, Bucket::Personal, first_of(&personal), &personal));
    }
    units
}

fn unit(name: String, bucket: Bucket, summary: String, claims: &[&Claim]) -> Unit {
    let facts = claims
        .iter()
        .map(|c| Fact {
            text: c.text.clone(),
            evidence: vec![c.evidence.clone()],
            step: c.kind == Kind::Step,
        })
        .collect();
    Unit {
        name,
        bucket,
        summary,
        facts,
    }
}

fn named_by_first(claims: &[&Claim]) -> String {
    claims
        .first()
        .map(|c| names::from_sentence(&c.evidence))
        .unwrap_or_default()
}

/// Personal units are named by the first clause that has the person in it.
fn named_by_wish(claims: &[&Claim]) -> String {
    let wish = claims.iter().find_map(|c| {
        let text = plain(&c.evidence);
        let at = ["The user ", "the user ", "用户"]
            .iter()
            .filter_map(|s| text.find(s))
            .min()?;
        let clause = names::from_sentence(text.get(at..)?);
        let points_away = clause.ends_with(" this") || clause.ends_with(" that");
        (!points_away && clause.split_whitespace().count() > 3
            || clause.chars().any(dormouse_vault::text::is_cjk))
        .then_some(clause)
    });
    let first = claims
        .first()
        .map(|c| c.evidence.as_str())
        .unwrap_or_default();
    // A rule that opens with its verb names itself best.
    match cues::classify(first) {
        Some(cues::Cue {
            class: cues::Class::Rule,
            ..
        }) => names::from_sentence(first),
        _ => wish.unwrap_or_else(|| names::from_sentence(first)),
    }
}

fn first_of(claims: &[&Claim]) -> String {
    claims
        .first()
        .map(|c| names::clip(&plain(&c.evidence), 160))
        .unwrap_or_default()
}

/// One unit a speaker: what they say about themselves.
fn of_chat(material: &Material) -> Vec<Unit> {
    let said = chat::statements(material);
    let mut speakers: Vec<&str> = Vec::new();
    for statement in &said {
        if !speakers.contains(&statement.speaker.as_str()) {
            speakers.push(&statement.speaker);
        }
    }
    speakers
        .into_iter()
        .map(|speaker| {
            let theirs: Vec<_> = said.iter().filter(|s| s.speaker == speaker).collect();
            let first = theirs
                .first()
                .map(|s| s.evidence.as_str())
                .unwrap_or_default();
            let facts: Vec<Fact> = theirs
                .iter()
                .map(|s| Fact {
                    text: s.text.clone(),
                    evidence: vec![s.evidence.clone()],
                    step: false,
                })
                .collect();
            let name = format!(
                "{speaker}: {}",
                truncate_chars(&names::from_sentence(first), 60)
            );
            Unit {
                name,
                bucket: Bucket::Personal,
                summary: names::clip(&plain(first), 160),
                facts,
            }
        })
        .collect()
}
