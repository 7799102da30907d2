//! What the model answers to each of dream's three questions, and what it does wrong in it.

use std::collections::BTreeMap;

use dormouse_vault::Bucket;
use serde_json::{Value, json};

use super::faults::Fault;
use super::random::Random;
use super::words::{PEOPLE, SPELLED, STRANGERS, SUBJECTS};
use super::world::Statement;

/// A line of the request that states something.
struct Line<'t> {
    text: &'t str,
    statement: Statement,
}

fn lines(shown: &str) -> Vec<Line<'_>> {
    let bare = |line| ["User: ", "用户："].iter().find_map(|mark| str::strip_prefix(line, mark)).unwrap_or(line);
    shown
        .lines()
        .map(bare)
        .filter_map(|text| Some(Line { text, statement: Statement::read(text)? }))
        .filter(|line| line.text.ends_with(['.', '。']))
        .collect()
}

/// The units of a note: a subject each.
pub(crate) fn units(shown: &str, fault: Option<Fault>, random: &mut Random) -> Value {
    if fault == Some(Fault::DropsAll) {
        return json!({ "units": [] });
    }
    let lines = lines(shown);
    let mut by_subject: BTreeMap<usize, Vec<&Line<'_>>> = BTreeMap::new();
    for line in &lines {
        by_subject.entry(line.statement.subject).or_default().push(line);
    }
    let mut out: Vec<Value> = by_subject.into_iter().map(|(subject, lines)| unit(subject, &lines, random)).collect();
    if let (Some(fault), false) = (fault, out.is_empty()) {
        let at = random.below(out.len());
        spoil(&mut out[at], fault, &lines, random);
    }
    json!({ "units": out })
}

fn unit(subject: usize, lines: &[&Line<'_>], random: &mut Random) -> Value {
    let about = &SUBJECTS[subject];
    let title = about.titles[match random.below(100) {
        0..75 => 0,
        75..93 => 1,
        _ => 2,
    }];
    let facts: Vec<Value> = lines
        .iter()
        .map(|line| {
            let text = if random.permille(700) { line.text.to_owned() } else { reworded(line, random) };
            json!({ "text": text, "evidence": [line.text], "step": about.bucket == Bucket::Procedure })
        })
        .collect();
    let summary = lines.first().map_or("", |line| line.text);
    json!({ "name": title, "bucket": about.bucket.as_str(), "summary": summary, "facts": facts })
}

/// The same in other words, where the person is known.
fn reworded(line: &Line<'_>, random: &mut Random) -> String {
    let person = PEOPLE.iter().flat_map(|p| p.iter()).find(|person| line.text.contains(**person));
    let contrast = [", not ", "不再是"].iter().any(|mark| line.text.contains(mark));
    match person {
        Some(person) if !contrast => line.statement.worded(random.below(4), person),
        _ => line.text.to_owned(),
    }
}

fn spoil(unit: &mut Value, fault: Fault, lines: &[Line<'_>], random: &mut Random) {
    let count = unit["facts"].as_array().map_or(0, Vec::len);
    let at = random.below(count);
    let text = unit["facts"][at]["text"].as_str().unwrap_or_default().to_owned();
    let Some(statement) = Statement::read(&text) else { return };
    let language = usize::from(statement.about().chinese);
    let value = statement.value.to_string();
    let other = if statement.value < 12 { 1 + (statement.value + 4) % 11 } else { statement.value * 3 + 7 };
    let stranger = random.pick(STRANGERS[language]);
    let swap = |to: &str| text.replacen(&value, to, 1);
    let fact = &mut unit["facts"][at];
    match fault {
        Fault::WrongEnum if random.permille(500) => unit["bucket"] = json!("concept"),
        Fault::WrongEnum => unit["op"] = json!("delete"),
        Fault::OtherBucket => {
            let is = unit["bucket"].as_str().unwrap_or_default().to_owned();
            unit["bucket"] = json!(if is == "wiki" { "procedure" } else { "wiki" });
        }
        Fault::FalseEvidence => fact["evidence"] = json!(["Everybody agreed on it after a long talk."]),
        Fault::NumberChanged => fact["text"] = json!(swap(&other.to_string())),
        Fault::NumberLost => fact["text"] = json!(swap(if language == 0 { "several" } else { "若干" })),
        Fault::NumberWide => {
            let wide = |c| char::from_u32(u32::from(c) + 0xFEE0).unwrap_or(c);
            fact["text"] = json!(swap(&other.to_string().chars().map(wide).collect::<String>()));
        }
        Fault::NumberSpelled => fact["text"] = json!(swap(random.pick(SPELLED[language]))),
        Fault::NameChanged => {
            if let Some(person) = PEOPLE[language].iter().find(|person| text.contains(**person)) {
                fact["text"] = json!(text.replace(person, stranger));
            }
        }
        Fault::Swapped => {
            if let Some(line) = lines.iter().find(|line| line.statement.value != statement.value) {
                fact["text"] = json!(swap(&line.statement.value.to_string()));
            }
        }
        Fault::InventedSource => {
            fact["text"] = json!(format!("{text} (derived_from:: [[daily/2025-01-01/never-was#^b1|2025-01-01]])"));
        }
        Fault::StolenSource => {
            let form = random.pick(&["(derived_from::", "(derived_from:: ", "[derived_from::", "derived_from:: "]);
            let close = if form.starts_with('(') {
                ")"
            } else if form.starts_with('[') {
                "]"
            } else {
                ""
            };
            fact["text"] = json!(format!("{text} {form}[[daily/2026-01-01/first#^b1|2026-01-01]]{close}"));
        }
        Fault::HiddenClaim => {
            fact["text"] = json!(format!("{text} (derived_from::{stranger} signs for {}]])", other * 1000 + 1));
        }
        Fault::InventedLink => fact["text"] = json!(format!("{text} See [[digest/wiki/no-such-note]].")),
        Fault::InventedFact => {
            let mut invented = statement;
            invented.value = other * 10 + 1;
            let said = invented.worded(random.below(4), stranger);
            let evidence = unit["facts"][at]["evidence"].clone();
            if let Some(facts) = unit["facts"].as_array_mut() {
                facts.push(json!({ "text": said, "evidence": evidence, "step": false }));
            }
        }
        Fault::InventedSummary => {
            let mut invented = statement;
            invented.value = other * 10 + 1;
            unit["summary"] = json!(invented.worded(random.below(4), stranger));
        }
        Fault::InventedName => {
            let name = unit["name"].as_str().unwrap_or_default().to_owned();
            unit["name"] = json!(format!("{name} {} {stranger}", other * 100 + 3));
        }
        _ => {}
    }
}

/// A numbered note of the request.
struct Shown<'t> {
    number: usize,
    name: &'t str,
    states: Vec<Statement>,
}

impl Shown<'_> {
    /// What most of it is about.
    fn subject(&self) -> Option<usize> {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for statement in &self.states {
            *counts.entry(statement.subject).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(_, n)| *n).map(|(subject, _)| subject)
    }
}

fn candidates(shown: &str) -> Vec<Shown<'_>> {
    let mut out: Vec<Shown<'_>> = Vec::new();
    for line in shown.lines() {
        let head = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
        match head.and_then(|(number, name)| Some((number.parse().ok()?, name))) {
            Some((number, name)) => out.push(Shown { number, name, states: Vec::new() }),
            None => {
                if let Some(last) = out.last_mut() {
                    last.states.extend(Statement::read_all(line));
                }
            }
        }
    }
    out
}

/// What each candidate is to the unit. Subjects that lie beside each other are related.
pub(crate) fn verdicts(shown: &str, fault: Option<Fault>, random: &mut Random) -> Value {
    let unit = shown.split("\n[1] ").next().unwrap_or("");
    let facts: Vec<Statement> = unit.lines().filter_map(Statement::read).collect();
    let candidates = candidates(shown);
    let Some(subject) = facts.first().map(|f| f.subject) else { return json!({ "verdicts": [] }) };
    let language = usize::from(SUBJECTS[subject].chinese);
    let verdict = |number: usize, relation: &str, change: &str, sentence: &str| json!({ "candidate": number, "relation": relation, "change": change, "sentence": sentence });
    let mut out = Vec::new();
    let mut same = None;
    for note in &candidates {
        match note.subject() {
            Some(about) if about == subject && same.is_none() && fault != Some(Fault::DropsSame) => {
                let new = |f: &&Statement| {
                    let about = note.states.iter().filter(|s| s.topic() == f.topic());
                    let last = about.clone().rfind(|s| s.scope.is_none() == f.scope.is_none());
                    about.count() > 0 && last != Some(*f)
                };
                let change = match facts.iter().find(new) {
                    _ if fault == Some(Fault::FalseCorrect) => "correct",
                    Some(fact) if fact.scope.is_some() => "refine",
                    Some(_) => "correct",
                    None => "corroborate",
                };
                same = Some(note.number);
                out.push(verdict(note.number, "same", change, ""));
            }
            Some(about) if about / 3 == subject / 3 && fault != Some(Fault::DropsLinks) => {
                let sentence = match random.below(3) {
                    0 => String::new(),
                    1 if language == 1 => "与{link}一起使用。".to_owned(),
                    1 => "Used together with {link}.".to_owned(),
                    _ => format!("Compare {}.", note.name),
                };
                out.push(verdict(note.number, "related", "none", &sentence));
            }
            _ => {}
        }
    }
    let far = candidates.iter().find(|c| c.subject().is_some_and(|about| about != subject));
    let stranger = random.pick(STRANGERS[language]);
    match fault {
        Some(Fault::UnknownTarget) => out.push(verdict(candidates.len() + 40, "same", "corroborate", "")),
        Some(Fault::WrongEnum) => out.push(verdict(1, "identical", "merge", "")),
        Some(Fault::SameUnrelated) => {
            if let Some(far) = far {
                out.retain(|v| v["relation"] != "same");
                out.push(verdict(far.number, "same", "refine", ""));
            }
        }
        Some(Fault::InventedLink) => {
            out.extend(
                far.map(|c| verdict(c.number, "related", "none", "See [[digest/wiki/no-such-note]] and {link}.")),
            );
        }
        Some(Fault::InventedSentence) => {
            let sentence = if random.permille(500) {
                format!("{{link}} grew to 48213 items under {stranger}.")
            } else {
                format!("Since 48213 {stranger} leads it")
            };
            out.extend(far.map(|c| verdict(c.number, "related", "none", &sentence)));
        }
        _ => {}
    }
    json!({ "verdicts": out })
}

/// Which fact changes which block: one about the same that does not say so already.
pub(crate) fn changes(shown: &str, fault: Option<Fault>, random: &mut Random) -> Value {
    let numbered = |mark: &str| -> Vec<(usize, Vec<Statement>)> {
        shown
            .lines()
            .filter_map(|line| {
                let (number, text) = line.strip_prefix(mark)?.split_once("] ")?;
                Some((number.parse().ok()?, Statement::read_all(text)))
            })
            .collect()
    };
    let (blocks, facts) = (numbered("[block "), numbered("[fact "));
    let mut out = Vec::new();
    for (fact, states) in &facts {
        let Some(statement) = states.first() else { continue };
        let about = |s: &&Statement| s.topic() == statement.topic();
        let block = blocks.iter().find(|(_, states)| {
            let last = states.iter().rev().find(|s| about(s) && s.scope.is_none() == statement.scope.is_none());
            states.iter().any(|s| about(&s)) && last.is_none_or(|last| last != statement)
        });
        out.extend(block.map(|(block, _)| json!({ "fact": fact, "block": block })));
    }
    match fault {
        Some(Fault::DropsAll) => out.clear(),
        Some(Fault::UnknownTarget) => out.push(json!({ "fact": facts.len() + 9, "block": 900 })),
        Some(Fault::WrongPair) if !blocks.is_empty() => {
            let block = blocks[random.below(blocks.len())].0;
            out = facts.iter().map(|(fact, _)| json!({ "fact": fact, "block": block })).collect();
        }
        _ => {}
    }
    json!({ "changes": out })
}
