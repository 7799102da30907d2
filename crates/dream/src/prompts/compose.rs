//! The question which block of a note a fact makes precise or contradicts. The model never writes
//! a body: it names places, and code adds there.

use dormouse_model::Request;
use serde_json::{Value, json};

use super::{fenced, reply::object_with, request};
use crate::abstractor::ComposeJob;
use crate::config::DreamConfig;
use crate::decide::{Candidate, Flavour};
use crate::error::ReplyFault;
use crate::machine::{Question, Reading};
use crate::markdown::{one_line, plain};
use crate::material::Language;

/// Asks where facts change a subject.
#[derive(Debug)]
pub(crate) struct ComposeQuestion<'a> {
    pub(crate) job: &'a ComposeJob<'a>,
    pub(crate) subject: &'a Candidate,
    pub(crate) flavour: Flavour,
    pub(crate) config: &'a DreamConfig,
}

impl ComposeQuestion<'_> {
    /// Blocks that a sentence can be added to, by their index in the candidate.
    fn open(&self) -> Vec<(usize, &str)> {
        self.subject
            .blocks
            .iter()
            .enumerate()
            .filter(|(_, b)| b.open && !b.related)
            .map(|(i, b)| (i, b.text.as_str()))
            .collect()
    }
}

impl Question for ComposeQuestion<'_> {
    /// Pairs of a fact's and a block's index.
    type Answer = Vec<(usize, usize)>;

    fn request(&self) -> Request {
        let open = self.open();
        let mut shown = format!("{}\n\n", one_line(&self.subject.name));
        shown.extend(open.iter().enumerate().map(|(n, (_, text))| format!("[block {}] {}\n", n + 1, one_line(text))));
        shown.push('\n');
        shown.extend(
            self.job.unit.facts.iter().enumerate().map(|(n, f)| format!("[fact {}] {}\n", n + 1, plain(&f.text))),
        );
        let missing = self.job.violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        let task = match (self.language(), self.flavour) {
            (Language::English, Flavour::Correct) => {
                "Which fact contradicts or narrows which block? The block stays; the fact is noted behind it with its date. List only pairs that you are sure of."
            }
            (Language::English, _) => {
                "Which fact makes which block more precise? The block stays; the fact is added behind it with its date. List only pairs that you are sure of."
            }
            (Language::Chinese, Flavour::Correct) => {
                "哪条事实与哪个段落矛盾或使其收窄？原段落保留，事实带日期写在其后。只列出有把握的配对。"
            }
            (Language::Chinese, _) => "哪条事实使哪个段落更精确？原段落保留，事实带日期写在其后。只列出有把握的配对。",
        };
        let again =
            if missing.is_empty() { String::new() } else { format!("\n\nThe last version was refused: {missing}") };
        let schema = json!({
            "type": "object",
            "properties": {
                "changes": {
                    "type": "array",
                    "maxItems": self.job.unit.facts.len(),
                    "items": {
                        "type": "object",
                        "properties": {
                            "fact": { "type": "integer", "minimum": 1, "maximum": self.job.unit.facts.len() },
                            "block": { "type": "integer", "minimum": 1, "maximum": open.len().max(1) }
                        },
                        "required": ["fact", "block"],
                        "additionalProperties": false
                    }
                }
            },
            "required": ["changes"],
            "additionalProperties": false
        });
        let task = format!("{task}\n\n{}{again}", fenced(&shown));
        let answer = 100 + 40 * self.job.unit.facts.len();
        request(self.language(), task, ("dream_changes", schema), answer, self.config)
    }

    fn read(&self, text: &str) -> Result<Reading<Self::Answer>, ReplyFault> {
        let object = object_with(text, "changes")?;
        let items = object.get("changes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let open = self.open();
        let mut reading = Reading { answer: Vec::new(), rejected: Vec::new() };
        for (n, item) in items.iter().enumerate() {
            let number =
                |key: &str| item.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()?.checked_sub(1));
            let fact = number("fact").filter(|f| *f < self.job.unit.facts.len());
            let block = number("block").and_then(|b| open.get(b)).map(|(i, _)| *i);
            match (fact, block) {
                (Some(fact), Some(block)) => reading.answer.push((fact, block)),
                (None, _) => reading.rejected.push(format!("change {}: `fact` is no number of the list", n + 1)),
                (_, None) => reading.rejected.push(format!("change {}: `block` is no number of the list", n + 1)),
            }
        }
        Ok(reading)
    }

    fn join(&self, mut first: Self::Answer, second: Self::Answer) -> Self::Answer {
        first.extend(second);
        first
    }

    fn language(&self) -> Language {
        self.job.language
    }
}
