//! From passages to claims: which sentences of a material are kept, and as what.

use dormouse_vault::text::sentences;

use super::cues::{Class, Section, classify, heading, padded, section, speaks_of_user};
use super::instructions::is_instruction;
use crate::markdown::plain;
use crate::material::{Language, Marker, Material, Passage};

/// A sentence or passage that is kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Claim {
    /// Verbatim from the passage: the evidence.
    pub(super) evidence: String,
    /// The statement with its references resolved.
    pub(super) text: String,
    pub(super) kind: Kind,
    /// The topic heading that it stands under.
    pub(super) topic: Option<String>,
}

/// Where a claim goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A step of a procedure.
    Step,
    /// Of or for a person.
    Personal,
    /// Anything else.
    Fact,
}

/// A passage of at most this many characters and two sentences is kept whole.
const WHOLE: usize = 320;

/// All claims of a material in order; none when nothing stands for itself.
pub(super) fn claims(material: &Material) -> Vec<Claim> {
    let about_person = matches!(
        heading(&material.name),
        Some(Section::Of(Class::Preference))
    );
    let steps = step_flags(material);
    let mut found: Vec<(Claim, bool)> = Vec::new();
    let mut listed: Option<(&[String], usize)> = None;
    for (passage, is_step) in material.passages.iter().zip(steps) {
        if passage.marker == Marker::Verbatim {
            continue;
        }
        let here = passage.heading.as_slice();
        let (in_list, count) = match listed {
            Some((heading, n)) if heading == here => (true, n),
            _ => (false, 0),
        };
        let item = passage.marker != Marker::Plain;
        if item || !in_list {
            listed = Some((here, count + 1));
        }
        if is_step {
            found.push((claim(material, passage, &passage.text, Kind::Step), true));
            continue;
        }
        let of_section = match section(here) {
            Some(Section::Of(class)) if item || !in_list => Some(class),
            _ => None,
        };
        found.extend(of_passage(material, passage, of_section, about_person));
    }
    let strong = found.iter().filter(|(_, strong)| *strong).count();
    let weak = found.len() - strong;
    if strong == 0 && weak < 3 {
        return Vec::new();
    }
    found
        .into_iter()
        .filter(|(_, is_strong)| strong > 0 || !*is_strong)
        .map(|(claim, _)| claim)
        .collect()
}

/// The claims of one passage, each with whether it stands for itself.
fn of_passage(
    material: &Material,
    passage: &Passage,
    of_section: Option<Class>,
    about_person: bool,
) -> Vec<(Claim, bool)> {
    let text = passage.text.as_str();
    let ranges = sentences(text);
    let said: Vec<&str> = ranges.iter().filter_map(|r| text.get(r.clone())).collect();
    let cues: Vec<_> = said.iter().map(|s| classify(s)).collect();
    let kind = |class: Class, text: &str| {
        let personal = match class {
            Class::Preference => true,
            Class::Rule => {
                about_person
                    || of_section.is_none_or(|c| c == Class::Preference)
                        && speaks_of_user(&padded(text), text, false)
            }
            _ => about_person,
        };
        if personal { Kind::Personal } else { Kind::Fact }
    };
    let question = text.trim_end().ends_with(['?', '？']);
    if let Some(class) = of_section
        && !question
        && text.chars().count() <= 2 * WHOLE
    {
        let class = match cues.iter().flatten().find(|c| c.class == Class::Preference) {
            Some(_) if class != Class::Preference => Class::Preference,
            _ => class,
        };
        return vec![(claim(material, passage, text, kind(class, text)), true)];
    }
    let strong = cues.iter().flatten().filter(|c| c.strong).count();
    let kept = cues.iter().flatten().count();
    if kept == 0 {
        return Vec::new();
    }
    if said.len() <= 2 && text.chars().count() <= WHOLE && !question {
        let lead = cues
            .iter()
            .flatten()
            .max_by_key(|c| (c.strong, std::cmp::Reverse(c.class)));
        return lead
            .map(|c| {
                (
                    claim(material, passage, text, kind(c.class, text)),
                    strong > 0,
                )
            })
            .into_iter()
            .collect();
    }
    said.iter()
        .zip(&cues)
        .filter_map(|(sentence, cue)| {
            let cue = (*cue)?;
            Some((
                claim(material, passage, sentence, kind(cue.class, sentence)),
                cue.strong,
            ))
        })
        .collect()
}

fn claim(material: &Material, passage: &Passage, evidence: &str, kind: Kind) -> Claim {
    let topic = passage
        .heading
        .iter()
        .find(|h| heading(h).is_none())
        .cloned();
    let subject = topic.as_deref().unwrap_or(&material.name);
    Claim {
        evidence: evidence.to_owned(),
        text: resolved(evidence, subject),
        kind,
        topic,
    }
}

/// The statement with what it speaks of in brackets before it, when it begins with a word that
/// points back.
fn resolved(text: &str, subject: &str) -> String {
    const ENGLISH: &[&str] = &[
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "they",
        "their",
        "them",
        "he",
        "she",
        "his",
        "her",
        "both",
        "such",
        "the cause",
        "the fix",
        "the reason",
        "the same",
        "the rest",
        "none of",
        "one of these",
        "two of",
        "with this",
        "with it",
        "with that",
        "without it",
        "and",
        "but",
    ];
    const CHINESE: &[&str] = &[
        "它", "这", "那", "此", "该", "其", "他", "她", "两者", "上述", "前者", "后者", "原因",
        "修复", "因此", "所以", "但", "而", "同样", "教训", "结果",
    ];
    let said = plain(text);
    let padded = padded(&said);
    let points_back = ENGLISH
        .iter()
        .any(|w| padded.starts_with(&format!(" {w} ")))
        || CHINESE.iter().any(|w| said.trim_start().starts_with(w));
    let subject = crate::markdown::name_text(subject);
    if points_back && !subject.is_empty() && Language::of(&subject) == Language::of(&said) {
        format!("[{subject}] {text}")
    } else {
        text.to_owned()
    }
}

/// Which passages are steps: numbered items under a heading that says so, and numbered runs of
/// three or more that read like instructions. Bullets under such a heading too, when none is
/// numbered.
fn step_flags(material: &Material) -> Vec<bool> {
    let passages = &material.passages;
    let mut flags = vec![false; passages.len()];
    let mut at = 0;
    while let Some(first) = passages.get(at) {
        let run = passages
            .iter()
            .skip(at)
            .take_while(|p| p.marker == first.marker && p.heading == first.heading)
            .count()
            .max(1);
        let items = passages.iter().skip(at).take(run);
        let named = matches!(section(&first.heading), Some(Section::Steps));
        let instructions = items.filter(|p| is_instruction(&p.text)).count();
        let steps = match first.marker {
            Marker::Number => run >= 2 && named || run >= 3 && instructions * 2 > run,
            Marker::Bullet => named && run >= 2 && instructions * 2 > run,
            Marker::Plain | Marker::Verbatim => false,
        };
        flags
            .iter_mut()
            .skip(at)
            .take(run)
            .for_each(|flag| *flag = steps);
        at += run;
    }
    flags
}
