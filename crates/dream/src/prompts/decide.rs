//! The question what each candidate is to a unit.

use dormouse_model::Request;
use dormouse_vault::text::{estimate_tokens, truncate_chars};
use serde_json::{Value, json};

use super::{fenced, reply::object_with, request, text_of};
use crate::config::DreamConfig;
use crate::decide::{Candidate, Flavour, Relation, Verdict};
use crate::error::ReplyFault;
use crate::gate::GroundedUnit;
use crate::machine::{Question, Reading};
use crate::markdown::{one_line, plain};
use crate::material::{Language, Material};

const TASK_EN: &str = "\
A new unit of memory is about to be written. Below it stand existing notes, numbered. Say what each is to the unit:\n\
- same: it is about exactly the same subject, so that the unit belongs into it. At most one. When unsure, it is not the same.\n\
- related: somebody who reads one would want to know of the other. Rather one too many than one lost.\n\
- unrelated: leave it out of the list.\n\
For a same note say how it changes: corroborate (one more instance), refine (scope, boundary or step made more precise), correct (a claim is contradicted or narrowed).\n\
For a related note write a short sentence for the unit's note that says how they are related, with {link} where the link to it stands.";
const TASK_ZH: &str = "\
有一个新的记忆单元将要写入。下面是编号的已有笔记。说明每一篇与它的关系：\n\
- same：说的正是同一个主题，新单元应并入其中。最多一篇；没有把握就不算。\n\
- related：读到其中一篇的人会想知道另一篇。宁可多连一条，不可漏掉。\n\
- unrelated：不必列出。\n\
对 same 说明如何改变：corroborate（又一次印证）、refine（范围、边界或步骤更精确）、correct（与原说法矛盾或使其收窄）。\n\
对 related 写一个短句，说明两者有什么关系，在链接的位置写 {link}。";

/// Asks about all candidates that fit the budget.
#[derive(Debug)]
pub(crate) struct DecideQuestion<'a> {
    pub(crate) material: &'a Material,
    pub(crate) unit: &'a GroundedUnit,
    pub(crate) candidates: &'a [Candidate],
    pub(crate) config: &'a DreamConfig,
    /// Estimated tokens that the candidates may take.
    pub(crate) budget: usize,
}

impl DecideQuestion<'_> {
    fn shown(&self) -> String {
        let mut out = format!("{}\n{}\n", self.unit.name, self.unit.summary);
        out.extend(self.unit.facts.iter().map(|f| format!("- {}\n", plain(&f.text))));
        let each = self.budget / self.candidates.len().max(1);
        for (n, candidate) in self.candidates.iter().enumerate() {
            let mut note = format!("\n[{}] {}\n", n + 1, one_line(&candidate.name));
            if let Some(description) = &candidate.description {
                note.push_str(&format!("{}\n", truncate_chars(&one_line(description), 200)));
            }
            for block in candidate.blocks.iter().filter(|b| !b.related) {
                if estimate_tokens(&note) > each {
                    break;
                }
                note.push_str(&format!("- {}\n", truncate_chars(&one_line(&block.text), 300)));
            }
            out.push_str(&note);
        }
        out
    }
}

impl Question for DecideQuestion<'_> {
    type Answer = Vec<Verdict>;

    fn request(&self) -> Request {
        let task = match self.language() {
            Language::English => TASK_EN,
            Language::Chinese => TASK_ZH,
        };
        request(
            self.language(),
            format!("{task}\n\n{}", fenced(&self.shown())),
            ("dream_verdicts", schema(self.candidates.len())),
            100 + 100 * self.candidates.len(),
            self.config,
        )
    }

    fn read(&self, text: &str) -> Result<Reading<Vec<Verdict>>, ReplyFault> {
        let object = object_with(text, "verdicts")?;
        let items = object.get("verdicts").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut reading = Reading { answer: Vec::new(), rejected: Vec::new() };
        for (n, item) in items.iter().enumerate() {
            match verdict(item, self.candidates) {
                Ok(Some(verdict)) => reading.answer.push(verdict),
                Ok(None) => {}
                Err(reason) => reading.rejected.push(format!("verdict {}: {reason}", n + 1)),
            }
        }
        Ok(reading)
    }

    fn join(&self, mut first: Vec<Verdict>, second: Vec<Verdict>) -> Vec<Verdict> {
        first.extend(second);
        first
    }

    fn language(&self) -> Language {
        self.material.language
    }
}

fn verdict(item: &Value, candidates: &[Candidate]) -> Result<Option<Verdict>, &'static str> {
    let number = item.get("candidate").ok_or("`candidate` is missing")?;
    let number = number
        .as_u64()
        .or_else(|| number.as_str()?.trim_matches(['[', ']', ' ']).parse().ok())
        .ok_or("`candidate` must be a number of the list")?;
    let candidate = usize::try_from(number).ok().and_then(|n| n.checked_sub(1)).and_then(|n| candidates.get(n));
    let candidate = candidate.ok_or("`candidate` is no number of the list")?;
    let relation = match text_of(item, "relation").map(str::to_lowercase).as_deref() {
        Some("same") => match text_of(item, "change").map(str::to_lowercase).as_deref() {
            Some("refine") => Relation::Same(Flavour::Refine),
            Some("correct") => Relation::Same(Flavour::Correct),
            Some("corroborate" | "none") | None => Relation::Same(Flavour::Corroborate),
            Some(_) => return Err("`change` must be corroborate, refine or correct"),
        },
        Some("related") => Relation::Related(text_of(item, "sentence").map(str::to_owned)),
        Some("unrelated") => return Ok(None),
        _ => return Err("`relation` must be same, related or unrelated"),
    };
    Ok(Some(Verdict { path: candidate.path.clone(), relation }))
}

fn schema(candidates: usize) -> Value {
    json!({
        "type": "object",
        "properties": {
            "verdicts": {
                "type": "array",
                "maxItems": candidates,
                "items": {
                    "type": "object",
                    "properties": {
                        "candidate": { "type": "integer", "minimum": 1, "maximum": candidates },
                        "relation": { "type": "string", "enum": ["same", "related", "unrelated"] },
                        "change": { "type": "string", "enum": ["corroborate", "refine", "correct", "none"] },
                        "sentence": { "type": "string", "maxLength": 240 }
                    },
                    "required": ["candidate", "relation", "change", "sentence"],
                    "additionalProperties": false
                }
            }
        },
        "required": ["verdicts"],
        "additionalProperties": false
    })
}
