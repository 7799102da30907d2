//! From claims to units: what is so, what the person wants, what the steps are.

use dormouse_vault::Bucket;
use dormouse_vault::text::truncate_chars;

use super::segment::{Claim, Kind, demands, first_person, leans_on_last};
use super::{chat, cues, names, topics};
use crate::gate::{Fact, Unit};
use crate::markdown::plain;
use crate::material::{Language, Material};

/// One unit for what is so, one for the person, one for the steps; what is so under several topic
/// headings is one unit a topic.
pub(super) fn of_claims(material: &Material, mut claims: Vec<Claim>) -> Vec<Unit> {
    of_a_talk(&mut claims);
    let title = names::title(material);
    let of_kind = |kind: Kind| claims.iter().filter(|c| c.kind == kind).collect::<Vec<_>>();
    let mut units = Vec::new();
    let mut steps: Vec<&Claim> = claims.iter().filter(|c| matches!(c.kind, Kind::Step | Kind::Method)).collect();
    let mut facts = of_kind(Kind::Fact);
    // What a talk adds to the steps that it arrived at.
    if !steps.is_empty() && facts.iter().all(|c| c.spoken) {
        steps.append(&mut facts);
    }
    let mut topics: Vec<Option<&str>> = Vec::new();
    for claim in &facts {
        if !topics.contains(&claim.topic.as_deref()) {
            topics.push(claim.topic.as_deref());
        }
    }
    let apart = topics.len() > 1
        && topics.iter().all(|topic| facts.iter().filter(|c| c.topic.as_deref() == *topic).count() > 1);
    if names::is_review(&material.name) {
        // What a look back says by the way is noise, unless it speaks of an event.
        let kept: Vec<&Claim> = facts
            .iter()
            .copied()
            .filter(|c| c.strong || demands(&c.text) || c.text.contains("[[") || leans_on_last(&plain(&c.evidence)))
            .collect();
        for group in by_leaning(&kept) {
            units.push(unit(named_by_first(&group), Bucket::Wiki, first_of(&group), &group));
        }
    } else if apart {
        for topic in topics {
            let here: Vec<&Claim> = facts.iter().copied().filter(|c| c.topic.as_deref() == topic).collect();
            let name = match (topic, &title) {
                (Some(topic), Some(title)) => names::clip(&format!("{title}: {topic}"), 80),
                (Some(topic), None) => names::clip(topic, 64),
                (None, _) => title.clone().unwrap_or_else(|| named_by_first(&here)),
            };
            units.push(unit(name, Bucket::Wiki, first_of(&here), &here));
        }
    } else if !facts.is_empty() {
        let name = title.clone().unwrap_or_else(|| named_by_first(&facts));
        // A talk is described by its first sentence, which only opens it.
        let talk = facts.iter().any(|c| c.spoken);
        let summary = material.description.clone().filter(|_| !talk).unwrap_or_else(|| first_of(&facts));
        units.push(unit(name, Bucket::Wiki, summary, &facts));
    }
    if !steps.is_empty() {
        let name = match &title {
            Some(title) => names::of_steps(title, material.language),
            None => named_by_first(&steps),
        };
        let summary = names::clip(
            &steps.iter().filter(|c| c.kind != Kind::Fact).map(|c| plain(&c.evidence)).collect::<Vec<_>>().join(" "),
            160,
        );
        units.push(unit(name, Bucket::Procedure, summary, &steps));
    }
    let personal = of_kind(Kind::Personal);
    if !personal.is_empty() {
        if let Some(title) = title.filter(|_| cues::about_person(material)) {
            units.push(unit(title, Bucket::Personal, first_of(&personal), &personal));
        } else {
            units.extend(by_topic(&personal, material.language));
        }
    }
    units
}

/// In a talk that came to a decision, what should be belongs to it, unless it is a wish or of a topic
/// of wishes.
fn of_a_talk(claims: &mut [Claim]) {
    if !claims.iter().any(|c| c.spoken && c.strong && c.kind == Kind::Fact) {
        return;
    }
    for claim in claims.iter_mut().filter(|c| c.spoken && c.kind == Kind::Personal) {
        let wish = matches!(cues::classify(&claim.evidence), Some(cues::Cue { class: cues::Class::Preference, .. }));
        if !wish && !first_person(&claim.evidence) && topics::topic(&claim.evidence).is_none() {
            claim.kind = Kind::Fact;
        }
    }
}

/// One unit for the wishes about each topic, and one for all others.
fn by_topic(personal: &[&Claim], language: Language) -> Vec<Unit> {
    let mut groups: Vec<(Option<topics::Topic>, Vec<&Claim>)> = Vec::new();
    for claim in personal {
        // In a talk, what is said next is still about the same.
        let topic = topics::topic(&plain(&claim.text)).or_else(|| {
            let (last, _) = groups.last()?;
            last.filter(|_| claim.spoken)
        });
        match groups.iter_mut().find(|(have, _)| *have == topic) {
            Some((_, group)) => group.push(claim),
            None => groups.push((topic, vec![claim])),
        }
    }
    groups
        .into_iter()
        .map(|(topic, group)| {
            let name = topic.map_or_else(|| named_by_wish(&group), |topic| topics::name(topic, language).to_owned());
            unit(name, Bucket::Personal, first_of(&group), &group)
        })
        .collect()
}

/// Claims one by one; one that leans on the claim before it stays with it.
fn by_leaning<'c>(claims: &[&'c Claim]) -> Vec<Vec<&'c Claim>> {
    let mut out: Vec<Vec<&Claim>> = Vec::new();
    for claim in claims {
        match out.last_mut() {
            Some(group) if leans_on_last(&plain(&claim.evidence)) => group.push(claim),
            _ => out.push(vec![claim]),
        }
    }
    out
}

fn unit(name: String, bucket: Bucket, summary: String, claims: &[&Claim]) -> Unit {
    let facts = claims
        .iter()
        .map(|c| Fact { text: c.text.clone(), evidence: vec![c.evidence.clone()], step: c.kind == Kind::Step })
        .collect();
    Unit { name, bucket, summary, facts }
}

fn named_by_first(claims: &[&Claim]) -> String {
    claims.first().map(|c| names::from_sentence(&c.evidence)).unwrap_or_default()
}

/// Personal units are named by the first clause that has the person in it.
fn named_by_wish(claims: &[&Claim]) -> String {
    let wish = claims.iter().find_map(|c| {
        let text = plain(&c.evidence);
        let at = ["The user ", "the user ", "用户"].iter().filter_map(|s| text.find(s)).min()?;
        let clause = names::from_sentence(text.get(at..)?);
        let points_away = clause.ends_with(" this") || clause.ends_with(" that");
        (!points_away && clause.split_whitespace().count() > 3 || clause.chars().any(dormouse_vault::text::is_cjk))
            .then_some(clause)
    });
    let first = claims.first().map(|c| c.evidence.as_str()).unwrap_or_default();
    // A rule that opens with its verb names itself best.
    match cues::classify(first) {
        Some(cues::Cue { class: cues::Class::Rule, .. }) => names::from_sentence(first),
        _ => wish.unwrap_or_else(|| names::from_sentence(first)),
    }
}

fn first_of(claims: &[&Claim]) -> String {
    claims.first().map(|c| names::clip(&plain(&c.evidence), 160)).unwrap_or_default()
}

/// One unit a speaker: what they say about themselves.
pub(super) fn of_chat(material: &Material) -> Vec<Unit> {
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
            let first = theirs.first().map(|s| s.evidence.as_str()).unwrap_or_default();
            let facts: Vec<Fact> = theirs
                .iter()
                .map(|s| Fact { text: s.text.clone(), evidence: vec![s.evidence.clone()], step: false })
                .collect();
            let name = format!("{speaker}: {}", truncate_chars(&names::from_sentence(first), 60));
            Unit { name, bucket: Bucket::Personal, summary: names::clip(&plain(first), 160), facts }
        })
        .collect()
}
