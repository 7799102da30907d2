//! The world that the year tells of: statements, how they are worded, and how they are read back.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use super::random::Random;
use super::words::{ATTRIBUTES, CHATTER, PEOPLE, SCOPES, SUBJECTS, Subject};

/// What a statement says: the truth behind its wording.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Statement {
    /// Index into [`SUBJECTS`].
    pub(crate) subject: usize,
    /// Index into [`ATTRIBUTES`].
    pub(crate) attribute: usize,
    pub(crate) value: usize,
    /// What it holds for, when it makes another one precise.
    pub(crate) scope: Option<&'static str>,
}

impl Statement {
    /// What it is about, whatever the value.
    pub(crate) fn topic(&self) -> (usize, usize) {
        (self.subject, self.attribute)
    }

    pub(crate) fn about(&self) -> &'static Subject {
        &SUBJECTS[self.subject]
    }

    fn parts(&self) -> (&'static str, &'static str, &'static str) {
        let language = usize::from(self.about().chinese);
        let attribute = &ATTRIBUTES[self.attribute];
        (self.about().noun, attribute.name[language], attribute.unit[language])
    }

    /// One of its wordings, by `person`.
    pub(crate) fn worded(&self, wording: usize, person: &str) -> String {
        let (noun, name, unit) = self.parts();
        let value = self.value;
        if let Some(scope) = self.scope {
            return if self.about().chinese {
                format!("{noun}的{name}{value}{unit}只适用于{scope}，{person}补充。")
            } else {
                format!("The {name} of {noun} of {value} {unit} holds only for {scope}, {person} says.")
            };
        }
        match (self.about().chinese, wording % 4) {
            (false, 0) => format!("The {name} of {noun} is {value} {unit}, and {person} signs for it."),
            (false, 1) => format!("{person} set the {name} of {noun} to {value} {unit}."),
            (false, 2) => format!("For {noun} we decided on {value} {unit} as the {name}, as {person} proposed."),
            (false, _) => format!("After the review with {person}, {noun} has {value} {unit} as its {name}."),
            (true, 0) => format!("{noun}的{name}是{value}{unit}，由{person}负责。"),
            (true, 1) => format!("{person}把{noun}的{name}定为{value}{unit}。"),
            (true, 2) => format!("我们决定{noun}的{name}用{value}{unit}，这是{person}的建议。"),
            (true, _) => format!("和{person}评审之后，{noun}的{name}确定为{value}{unit}。"),
        }
    }

    /// The same, against what was said before.
    fn against(&self, old: usize, day: NaiveDate, person: &str) -> String {
        let (noun, name, unit) = self.parts();
        let value = self.value;
        if self.about().chinese {
            format!("{noun}的{name}从{day}起是{value}{unit}，不再是{old}{unit}，{person}改的。")
        } else {
            format!("The {name} of {noun} is {value} {unit} from {day}, not {old} {unit}; {person} changed it.")
        }
    }

    /// All that a text states, sentence by sentence. Linear.
    pub(crate) fn read_all(text: &str) -> Vec<Self> {
        text.split_inclusive(['.', '。']).filter_map(Self::read).collect()
    }

    /// Reads a wording back; `None` when the text states nothing of this world. Linear.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let lower = text.to_lowercase();
        let subject = SUBJECTS.iter().position(|s| lower.contains(s.noun))?;
        let language = usize::from(SUBJECTS[subject].chinese);
        let rest = lower.replace(SUBJECTS[subject].noun, " ");
        let attribute = ATTRIBUTES.iter().position(|a| rest.contains(a.name[language]))?;
        let unit = ATTRIBUTES[attribute].unit[language];
        let value = rest.match_indices(unit).find_map(|(at, _)| number_before(&rest[..at]))?;
        let marked = [" holds only for ", "只适用于"].iter().any(|mark| lower.contains(mark));
        let scope = SCOPES[language].iter().find(|scope| marked && lower.contains(**scope)).copied();
        Some(Self { subject, attribute, value, scope })
    }
}

fn number_before(text: &str) -> Option<usize> {
    let text = text.trim_end();
    let digits = text.chars().rev().take_while(char::is_ascii_digit).count();
    text[text.len() - digits..].parse().ok()
}

/// An event to be written down.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) blocks: Vec<String>,
    /// What its blocks state.
    pub(crate) states: Vec<Statement>,
}

/// What holds by now.
#[derive(Debug, Clone)]
pub(crate) struct World {
    random: Random,
    holds: BTreeMap<(usize, usize), usize>,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: Random::new(seed ^ 0x5EED_0001), holds: BTreeMap::new() }
    }

    /// What happens on a day: nothing on one of seven, else one to five events.
    pub(crate) fn events(&mut self, day: NaiveDate) -> Vec<Event> {
        if self.random.permille(140) {
            return Vec::new();
        }
        (0..1 + self.random.below(5)).map(|_| self.event(day)).collect()
    }

    fn event(&mut self, day: NaiveDate) -> Event {
        let subject = self.subject();
        let chinese = SUBJECTS[subject].chinese;
        let language = usize::from(chinese);
        let mut blocks = Vec::new();
        let mut states = Vec::new();
        let mut say =
            |text: &str| blocks.push(if chinese { format!("用户：{text}") } else { format!("User: {text}") });
        if self.random.permille(500) {
            say(self.random.pick(CHATTER[language]));
        }
        // One event of ten holds nothing worth keeping.
        let count = if self.random.permille(100) { 0 } else { 1 + self.random.below(4) };
        for _ in 0..count {
            // Now and then another subject of the same language comes up.
            let about = if self.random.permille(850) { subject } else { self.subject() };
            let about = if SUBJECTS[about].chinese == chinese { about } else { subject };
            let (text, statement) = self.statement(about, day);
            say(&text);
            states.push(statement);
        }
        if count == 0 || self.random.permille(300) {
            say(self.random.pick(CHATTER[language]));
        }
        let title = SUBJECTS[subject].titles[0];
        let name = match (chinese, self.random.below(3)) {
            (false, 0) => format!("About {}", SUBJECTS[subject].noun),
            (false, 1) => format!("{title}, a talk"),
            (true, 0) => format!("聊{}", SUBJECTS[subject].noun),
            (true, 1) => format!("{title}讨论"),
            _ => title.to_owned(),
        };
        Event { description: name.clone(), name, blocks, states }
    }

    /// Zipf's law: the first subject comes up thirty-two times as often as the last.
    fn subject(&mut self) -> usize {
        let weights: Vec<usize> = (1..=SUBJECTS.len()).map(|n| 10_000 / n).collect();
        let mut at = self.random.below(weights.iter().sum());
        for (i, weight) in weights.iter().enumerate() {
            if at < *weight {
                return i;
            }
            at -= weight;
        }
        0
    }

    /// Something new, the same once more, the same made precise, or its contrary.
    fn statement(&mut self, subject: usize, day: NaiveDate) -> (String, Statement) {
        let language = usize::from(SUBJECTS[subject].chinese);
        let attribute = self.random.below(ATTRIBUTES.len());
        let person = self.random.pick(PEOPLE[language]);
        let wording = self.random.below(4);
        let held = self.holds.get(&(subject, attribute)).copied();
        let mut statement = Statement { subject, attribute, value: held.unwrap_or(0), scope: None };
        match (held, self.random.below(100)) {
            (Some(_), 0..55) => (statement.worded(wording, person), statement),
            (Some(_), 55..75) => {
                statement.scope = Some(self.random.pick(SCOPES[language]));
                (statement.worded(wording, person), statement)
            }
            (held, _) => {
                let below = ATTRIBUTES[attribute].below;
                let mut value = 2 + self.random.below(below - 2);
                if Some(value) == held {
                    value = if value + 1 < below { value + 1 } else { 2 };
                }
                statement.value = value;
                self.holds.insert((subject, attribute), value);
                let text = match held {
                    Some(old) => statement.against(old, day, person),
                    None => statement.worded(wording, person),
                };
                (text, statement)
            }
        }
    }
}
