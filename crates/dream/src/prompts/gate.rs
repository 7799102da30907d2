//! The gate's question: what in this note is worth recalling when the details are gone?

use std::collections::BTreeSet;

use dormouse_model::Request;
use dormouse_vault::Bucket;
use dormouse_vault::text::{estimate_tokens, truncate_tokens};
use serde_json::{Value, json};

use super::{fenced, named, reply::object_with, request, text_of};
use crate::config::DreamConfig;
use crate::error::ReplyFault;
use crate::gate::{Fact, Unit};
use crate::machine::{Question, Reading};
use crate::markdown::folded;
use crate::material::{Language, Material};

const TASK_EN: &str = "\
Is there something in this note that is worth recalling months from now, when its details are forgotten? An empty list is a good answer: \
small talk, mood, weather and mere activity are not kept.\n\
A unit is one abstraction with a short, descriptive name (not a sentence), and facts that support it. Facts about one subject belong in one unit. Buckets:\n\
- procedure: how to do something; its steps are facts with \"step\": true, in order\n\
- personal: who somebody is, what they prefer, what never to do\n\
- wiki: what something is, what happened, what was decided and why, what was measured\n\
Each fact states one thing in one sentence and is understood alone: name who, what and which instead of it, this, they; keep numbers and names exactly.\n\
Each fact has evidence: one to three spans copied verbatim from the note, character by character. A fact without evidence is thrown away.";
const TASK_ZH: &str = "\
这篇笔记里有没有几个月后细节已忘时仍值得想起的东西？空列表也是好答案：闲聊、心情、天气、单纯的活动不保留。\n\
一个单元是一个抽象，有简短的描述性名称（不是句子），以及支持它的事实。关于同一主题的事实放在同一个单元。类别：\n\
- procedure：怎样做一件事；步骤是 \"step\": true 的事实，按顺序\n\
- personal：某人是谁、偏好什么、绝不能做什么\n\
- wiki：是什么、发生了什么、为什么这样决定、测量得到什么\n\
每条事实用一句话只说一件事，并且单独也能看懂：写明是谁、是什么、哪一个，不用“它”“这个”“他们”；数字和名称照抄。\n\
每条事实都有 evidence：从笔记里逐字复制的一到三段原文。没有证据的事实会被丢弃。";

/// A part of a material that fits the model's budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    text: String,
}

/// Cuts a material at headings and blocks into parts of at most `budget` estimated tokens. A block
/// that is longer is cut inside.
pub(crate) fn cuts(material: &Material, budget: usize) -> Vec<Cut> {
    let budget = budget.max(64);
    let mut out = Vec::new();
    let mut text = String::new();
    let mut heading: &[String] = &[];
    for passage in &material.passages {
        let new_heading = passage.heading != heading;
        heading = &passage.heading;
        let title =
            if new_heading && !heading.is_empty() { format!("## {}\n", heading.join(" / ")) } else { String::new() };
        let mut rest = passage.text.as_str();
        while !rest.is_empty() {
            let have = estimate_tokens(&text);
            let need = estimate_tokens(rest) + estimate_tokens(&title);
            let full = have + need > budget || (new_heading && have * 10 > budget * 6 && have + need * 2 > budget);
            if full && !text.is_empty() {
                out.push(Cut { text: std::mem::take(&mut text) });
            }
            let piece = truncate_tokens(rest, budget);
            let piece = if piece.is_empty() { rest } else { piece };
            text.push_str(&title);
            text.push_str(piece);
            text.push_str("\n\n");
            rest = rest.get(piece.len()..).unwrap_or("");
        }
    }
    if !text.trim().is_empty() {
        out.push(Cut { text });
    }
    out
}

/// Asks for the units of one cut.
#[derive(Debug)]
pub(crate) struct GateQuestion<'a> {
    pub(crate) material: &'a Material,
    pub(crate) cut: &'a Cut,
    pub(crate) config: &'a DreamConfig,
}

impl Question for GateQuestion<'_> {
    type Answer = Vec<Unit>;

    fn request(&self) -> Request {
        let date = self.material.date.map(|d| d.to_string()).unwrap_or_default();
        let content = format!("{}\n{date}\n\n{}", self.material.name, self.cut.text);
        let task = match self.material.language {
            Language::English => TASK_EN,
            Language::Chinese => TASK_ZH,
        };
        request(
            self.material.language,
            format!("{task}\n\n{}", fenced(&content)),
            ("dream_units", schema(self.config, estimate_tokens(&self.cut.text))),
            // Each fact repeats its span, beside names and keys.
            300 + 4 * estimate_tokens(&self.cut.text),
            self.config,
        )
    }

    fn read(&self, text: &str) -> Result<Reading<Vec<Unit>>, ReplyFault> {
        let object = object_with(text, "units")?;
        let items = object.get("units").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut reading = Reading { answer: Vec::new(), rejected: Vec::new() };
        for (n, item) in items.iter().enumerate() {
            match unit(item, self.material) {
                Ok(unit) => reading.answer.push(unit),
                Err(reason) => reading.rejected.push(format!("{}: {reason}", named(n, item))),
            }
        }
        Ok(reading)
    }

    fn join(&self, mut first: Vec<Unit>, second: Vec<Unit>) -> Vec<Unit> {
        let have: BTreeSet<(Bucket, String)> = first.iter().map(|u| (u.bucket, folded(&u.name))).collect();
        first.extend(second.into_iter().filter(|u| !have.contains(&(u.bucket, folded(&u.name)))));
        first
    }

    fn language(&self) -> Language {
        self.material.language
    }
}

/// Whether a name is no more than the word for a bucket or a unit, as small models like to give.
fn is_a_kind(name: &str) -> bool {
    const KINDS: [&str; 9] = ["unit", "note", "fact", "facts", "步骤", "个人", "百科", "单元", "事实"];
    let name = name.trim().to_lowercase();
    KINDS.contains(&name.as_str()) || Bucket::ALL.iter().any(|bucket| bucket.as_str() == name)
}

/// One item of a reply, checked alone.
fn unit(item: &Value, material: &Material) -> Result<Unit, &'static str> {
    if !item.is_object() {
        return Err("not an object");
    }
    if ["op", "operation", "action"]
        .iter()
        .any(|key| text_of(item, key).is_some_and(|op| !op.eq_ignore_ascii_case("create")))
    {
        return Err("units are only proposed; there are no other operations");
    }
    let name = text_of(item, "name").ok_or("`name` is missing or empty")?;
    if is_a_kind(name) {
        return Err("`name` must say what the unit is about, not which kind it is");
    }
    let bucket = text_of(item, "bucket").ok_or("`bucket` is missing")?;
    let bucket = Bucket::ALL
        .into_iter()
        .find(|b| b.as_str().eq_ignore_ascii_case(bucket))
        .ok_or("`bucket` must be procedure, personal or wiki")?;
    let facts =
        item.get("facts").and_then(Value::as_array).filter(|f| !f.is_empty()).ok_or("`facts` is missing or empty")?;
    let facts: Vec<Fact> = facts.iter().map(|f| fact(f, material)).collect::<Result<_, _>>()?;
    let summary = text_of(item, "summary").unwrap_or("").to_owned();
    Ok(Unit { name: name.to_owned(), bucket, summary, facts })
}

fn fact(item: &Value, material: &Material) -> Result<Fact, &'static str> {
    let text = text_of(item, "text").ok_or("a fact's `text` is missing, empty or no text")?;
    let evidence: Vec<String> = match item.get("evidence") {
        Some(Value::String(span)) => vec![span.clone()],
        Some(Value::Array(spans)) => spans.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => return Err("a fact's `evidence` is missing"),
    };
    if evidence.iter().all(|span| span.trim().is_empty()) {
        return Err("a fact has no evidence");
    }
    // The heavy check comes later; a span that is plainly made up is worth a second asking.
    let known = material.passages.iter().any(|p| {
        let passage = folded(&crate::markdown::plain(&p.text));
        evidence
            .iter()
            .any(|span| passage.contains(folded(&crate::markdown::plain(span)).trim_matches(['"', '\'', ' '])))
    });
    if !known && evidence.iter().all(|span| span.chars().count() < 400) {
        return Err("the evidence is not copied verbatim from the note");
    }
    let step = item.get("step").and_then(Value::as_bool).unwrap_or(false);
    Ok(Fact { text: text.to_owned(), evidence, step })
}

/// The shape of an answer about a cut of so many tokens. A short one can't hold many units: the bound ends
/// a small model that repeats itself.
fn schema(config: &DreamConfig, tokens: usize) -> Value {
    json!({
        "type": "object",
        "properties": {
            "units": {
                "type": "array",
                "maxItems": config.max_units.min(1 + tokens / 40),
                "items": {
                    "type": "object",
                    "properties": {
                        "name": { "type": "string", "minLength": 1, "maxLength": 80 },
                        "bucket": { "type": "string", "enum": ["procedure", "personal", "wiki"] },
                        "summary": { "type": "string", "maxLength": 240 },
                        "facts": {
                            "type": "array",
                            "minItems": 1,
                            "maxItems": config.max_facts.min(1 + tokens / 12),
                            "items": {
                                "type": "object",
                                "properties": {
                                    "text": { "type": "string", "minLength": 1, "maxLength": config.max_fact_chars },
                                    "evidence": { "type": "array", "minItems": 1, "maxItems": 3, "items": { "type": "string", "minLength": 4, "maxLength": 400 } },
                                    "step": { "type": "boolean" }
                                },
                                "required": ["text", "evidence", "step"],
                                "additionalProperties": false
                            }
                        }
                    },
                    "required": ["name", "bucket", "summary", "facts"],
                    "additionalProperties": false
                }
            }
        },
        "required": ["units"],
        "additionalProperties": false
    })
}
