//! From passages to claims: which sentences of a material are kept, and as what.

use dormouse_vault::text::sentences;

use super::agreement::{Remark, remark_on};
use super::cues::{
    Class, Cue, Section, about_person, about_the_talk, classify, heading, padded, section, speaks_of_user,
};
use super::instructions::{asks, is_instruction};
use super::names::{capitalised, is_review};
use super::noise::is_story;
use super::persons::of_household;
use crate::markdown::{Piece, pieces, plain};
use crate::material::{Language, Marker, Material, Origin, Passage};

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
    /// Whether it is kept for its own sake, or only beside others.
    pub(super) strong: bool,
    /// Whether it was said in a talk.
    pub(super) spoken: bool,
}

/// Where a claim goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A step of a procedure.
    Step,
    /// How something is done, in one sentence.
    Method,
    /// Of or for a person.
    Personal,
    /// Anything else.
    Fact,
}

/// A passage of at most this many characters and two sentences is kept whole.
const WHOLE: usize = 320;

/// All claims of a material in order; none when nothing stands for itself.
pub(super) fn claims(material: &Material) -> Vec<Claim> {
    let about_person = about_person(material);
    let steps = step_flags(material);
    let mut found: Vec<(Claim, bool)> = Vec::new();
    let mut listed: Option<(&[String], usize)> = None;
    for (at, (passage, is_step)) in material.passages.iter().zip(steps).enumerate() {
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
        let of_passage = of_passage(material, at, passage, of_section, about_person);
        if of_passage.is_empty() && material.origin == Origin::Remembered {
            found.extend(remembered(material, passage, about_person));
        }
        found.extend(of_passage);
    }
    of_one_person(&mut found);
    let strong = found.iter().filter(|(_, strong)| *strong).count();
    let weak = found.len() - strong;
    if strong == 0 && weak < 3 {
        return Vec::new();
    }
    found
        .into_iter()
        .filter(|(_, is_strong)| strong > 0 || !*is_strong)
        .map(|(claim, strong)| Claim { strong, ..claim })
        .collect()
}

/// What follows right behind a statement about somebody of the household is said of them too: what they do
/// about it, or how often it was so.
fn of_one_person(found: &mut [(Claim, bool)]) {
    let mut before = false;
    for (claim, _) in found {
        let own = of_household(&claim.evidence) || first_person(&claim.evidence);
        if before && claim.kind == Kind::Fact && !claim.spoken && claim.topic.is_none() {
            claim.kind = Kind::Personal;
        }
        before = claim.kind == Kind::Personal && (own || before) && !claim.spoken;
    }
}

/// What was given to be remembered needs no cue: all of it but questions and requests.
fn remembered(material: &Material, passage: &Passage, about_person: bool) -> Option<(Claim, bool)> {
    let text = passage.text.as_str();
    let said = plain(text);
    if said.trim_end().ends_with(['?', '？']) || requests(&said) || text.chars().count() > 2 * WHOLE {
        return None;
    }
    let personal = about_person || first_person(&said) || speaks_of_user(&padded(&said), &said, true);
    Some((claim(material, passage, text, if personal { Kind::Personal } else { Kind::Fact }), true))
}

/// Whether a text only asks the assistant for something.
fn requests(text: &str) -> bool {
    let padded = padded(text);
    ["please", "can you", "could you", "would you", "help me", "tell me", "show me", "lets", "let us"]
        .iter()
        .any(|w| padded.starts_with(&format!(" {w} ")))
        || ["请", "帮我", "能不能", "可不可以", "告诉我", "给我"].iter().any(|w| text.trim_start().starts_with(w))
}

/// The claims of one passage, each with whether it stands for itself.
fn of_passage(
    material: &Material,
    at: usize,
    passage: &Passage,
    of_section: Option<Class>,
    about_person: bool,
) -> Vec<(Claim, bool)> {
    let (speaker, text) = speech(&passage.text);
    if speaker == Some(Speaker::Agent) && hedges(text) {
        return Vec::new();
    }
    let ranges = sentences(text);
    let said: Vec<&str> = ranges.iter().filter_map(|r| text.get(r.clone())).collect();
    let opening = plain(&material.name);
    let opening = opening.trim_end_matches('…').trim();
    let in_story = is_story(material, at);
    let cues: Vec<_> = said
        .iter()
        .map(|s| {
            let told = in_story || speaker == Some(Speaker::User) && asks(s);
            let cue = classify(s).filter(|c| !told || matches!(c.class, Class::Preference | Class::Cause))?;
            // The sentence that a talk is named after only opens it.
            let opens = speaker.is_some() && opening.chars().count() > 8 && s.starts_with(opening);
            let asks = speaker == Some(Speaker::User) && demands(s);
            match cue.strong {
                false if opens => None,
                false if asks => Some(Cue { class: Class::Rule, strong: true }),
                _ => Some(cue),
            }
        })
        .collect();
    let kind = |class: Class, text: &str| {
        let personal = match class {
            Class::Preference => true,
            Class::Rule => {
                about_person
                    || speaker == Some(Speaker::User)
                    || of_section.is_none() && speaker.is_none() && of_household(text)
                    || of_section.is_none_or(|c| c == Class::Preference) && speaks_of_user(&padded(text), text, false)
            }
            _ => about_person || of_section.is_none() && speaker.is_none() && of_household(text),
        };
        let personal = personal
            || class == Class::Lesson && speaker == Some(Speaker::User) && (first_person(text) || sets_terms(text));
        match class {
            _ if personal => Kind::Personal,
            Class::Method => Kind::Method,
            _ => Kind::Fact,
        }
    };
    let question = text.trim_end().ends_with(['?', '？']);
    let remark = cites_event(material, text).then(|| remark_on(&plain(text))).flatten();
    // It says nothing of its own: the fact before it is what agrees.
    if remark == Some(Remark::AgreesPointingBack) {
        return Vec::new();
    }
    let instance = remark.is_some() || is_review(&material.name) && cites_event(material, text);
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
        // What was known already, seen again.
        let kind = if about_person { Kind::Personal } else { Kind::Fact };
        return (instance && !question).then(|| (claim(material, passage, text, kind), false)).into_iter().collect();
    }
    if said.len() <= 2
        && !said.iter().any(|s| about_the_talk(s) || speaker.is_some() && s.trim_end().ends_with(['?', '？']))
        && text.chars().count() <= WHOLE
        && !question
    {
        let wish = |c: &Cue| c.strong && c.class == Class::Preference && of_household(text);
        let lead = cues.iter().flatten().max_by_key(|c| (wish(c), c.strong, std::cmp::Reverse(c.class)));
        return lead.map(|c| (claim(material, passage, text, kind(c.class, text)), strong > 0)).into_iter().collect();
    }
    said.iter()
        .zip(&cues)
        .filter_map(|(sentence, cue)| {
            let cue = (*cue)?;
            Some((claim(material, passage, sentence, kind(cue.class, sentence)), cue.strong))
        })
        .collect()
}

/// Who speaks in a turn of a talk with an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Agent,
}

/// A turn as its speaker and what is said, without an opening that only answers ("Yes.", "好，").
fn speech(text: &str) -> (Option<Speaker>, &str) {
    const MARKS: &[(&str, Speaker)] = &[
        ("User: ", Speaker::User),
        ("Agent: ", Speaker::Agent),
        ("Assistant: ", Speaker::Agent),
        ("用户：", Speaker::User),
        ("助手：", Speaker::Agent),
    ];
    let Some((speaker, mut rest)) = MARKS.iter().find_map(|(mark, speaker)| Some((*speaker, text.strip_prefix(mark)?)))
    else {
        return (None, text);
    };
    while let Some(range) = sentences(rest).into_iter().next() {
        let first = rest.get(range.clone()).unwrap_or("");
        let after = rest.get(range.end..).unwrap_or("").trim_start();
        let length = if Language::of(first) == Language::Chinese {
            first.chars().count() / 2
        } else {
            first.split_whitespace().count()
        };
        if after.is_empty() || length > 3 || classify(first).is_some() {
            break;
        }
        rest = after;
    }
    for opening in ["Yes, ", "Fine, ", "Good, ", "And ", "But ", "Then ", "对，", "好，", "可以，"] {
        rest = rest.strip_prefix(opening).unwrap_or(rest);
    }
    (Some(speaker), rest)
}

/// Whether an agent only offers, asks or looks around.
fn hedges(text: &str) -> bool {
    let padded = padded(text);
    [
        "we could",
        "i would",
        "my proposal",
        "i could",
        "i suggest",
        "there is a note",
        "shall i",
        "understood",
        "noted",
        "agreed",
    ]
    .iter()
    .any(|w| padded.starts_with(&format!(" {w} ")))
        || ["我建议", "之前没有", "关于", "明白", "记住了", "记下了", "好的", "那就", "已改", "已经改", "改好了"]
            .iter()
            .any(|w| text.starts_with(w))
}

/// Whether a sentence says what should be.
pub(super) fn demands(text: &str) -> bool {
    let padded = padded(text);
    [" should ", " has to ", " have to "].iter().any(|w| padded.contains(w))
        || ["应该", "应当", "需要", "就要", "不要"].iter().any(|w| text.contains(w))
}

/// Whether a person says how it is to be with them: by a bound, or for whenever they do something.
fn sets_terms(text: &str) -> bool {
    let padded = padded(text);
    [
        "when we",
        "when i",
        "whenever",
        "in everything",
        "in any",
        "always",
        "at most",
        "at least",
        "no more than",
        "not more than",
    ]
    .iter()
    .any(|w| padded.contains(&format!(" {w} ")))
        || ["不超过", "最多", "至少", "不少于", "以内", "用中文", "用英文"].iter().any(|w| text.contains(w))
}

pub(super) fn first_person(text: &str) -> bool {
    let padded = padded(text);
    ["i", "me", "my", "mine", "ill", "im", "ive"].iter().any(|w| padded.contains(&format!(" {w} ")))
        || text.contains('我')
}

/// Whether a text links to another note of the material's links.
fn cites_event(material: &Material, text: &str) -> bool {
    pieces(text).iter().any(|piece| match piece {
        Piece::Link { target, .. } => {
            let target = target.split('#').next().unwrap_or(target).trim();
            material.links.iter().any(|l| l.link_target() == target)
        }
        Piece::Text(_) => false,
    })
}

/// Whether a statement goes on from the one before it.
pub(super) fn leans_on_last(text: &str) -> bool {
    let padded = padded(text);
    ["so", "therefore", "hence", "thus"].iter().any(|w| padded.starts_with(&format!(" {w} ")))
        || ["those rules", "these rules", "beyond those", "of those"].iter().any(|w| padded.contains(&format!(" {w} ")))
        || ["所以", "因此", "于是"].iter().any(|w| text.trim_start().starts_with(w))
}

fn claim(material: &Material, passage: &Passage, evidence: &str, kind: Kind) -> Claim {
    let topic = passage.heading.iter().find(|h| heading(h).is_none()).cloned();
    let subject = topic.as_deref().unwrap_or(&material.name);
    let text = match speech(&passage.text).0 {
        // Who "I" is must be said.
        Some(Speaker::User) if first_person(evidence) => match material.language {
            Language::English => format!("User: {evidence}"),
            Language::Chinese => format!("用户：{evidence}"),
        },
        Some(Speaker::Agent) => match material.language {
            Language::English => format!("Agent: {evidence}"),
            Language::Chinese => format!("助手：{evidence}"),
        },
        Some(Speaker::User) => capitalised(evidence),
        None => resolved(evidence, subject),
    };
    Claim { evidence: evidence.to_owned(), text, kind, topic, strong: false, spoken: speech(&passage.text).0.is_some() }
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
        "它", "这", "那", "此", "该", "其", "他", "她", "两者", "上述", "前者", "后者", "原因", "修复", "因此", "所以",
        "但", "而", "同样", "教训", "结果",
    ];
    let said = plain(text);
    let padded = padded(&said);
    let points_back = ENGLISH.iter().any(|w| padded.starts_with(&format!(" {w} ")))
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
        flags.iter_mut().skip(at).take(run).for_each(|flag| *flag = steps);
        at += run;
    }
    flags
}
