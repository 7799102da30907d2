//! The ways in which a served model goes wrong, and what each makes of a right answer.

use serde_json::{Value, json};

/// A way to go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// The object stands between prose that has brackets of its own.
    Prose,
    /// In a code fence.
    Fence,
    /// Behind reasoning that holds another object.
    Think,
    /// Cut in the middle, and nothing says so.
    Truncated,
    /// Cut in the middle, and the server says that the length was used up.
    CutByLength,
    /// A bucket, a relation or a change that does not exist.
    WrongEnum,
    /// A number that is on no list.
    UnknownTarget,
    /// A link to a note that nobody wrote.
    HallucinatedLink,
    /// Nothing.
    Empty,
    /// It would rather not.
    Refusal,
    /// The same key twice in one object.
    RepeatedKeys,
    /// Too many requests, with the time to wait.
    TooMany,
    /// The server failed.
    ServerError,
    /// The connection ends in the middle of the reply.
    CutConnection,
    /// A reply that is no JSON at all.
    Garbage,
}

/// The question that a request asks, by the name of its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// What is worth keeping.
    Units,
    /// What candidates are to a unit.
    Verdicts,
    /// Which facts change which blocks.
    Changes,
}

impl Asked {
    /// The question of a request's body; `None` when it asks something else.
    pub(crate) fn of(body: &Value) -> Option<Self> {
        match body.pointer("/response_format/json_schema/name")?.as_str()? {
            "dream_units" => Some(Self::Units),
            "dream_verdicts" => Some(Self::Verdicts),
            "dream_changes" => Some(Self::Changes),
            _ => None,
        }
    }
}

impl Fault {
    /// All of them.
    pub(crate) const ALL: [Self; 15] = [
        Self::Prose,
        Self::Fence,
        Self::Think,
        Self::Truncated,
        Self::CutByLength,
        Self::WrongEnum,
        Self::UnknownTarget,
        Self::HallucinatedLink,
        Self::Empty,
        Self::Refusal,
        Self::RepeatedKeys,
        Self::TooMany,
        Self::ServerError,
        Self::CutConnection,
        Self::Garbage,
    ];

    /// What a person calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Prose => "prose around the JSON",
            Self::Fence => "code fence",
            Self::Think => "think tags",
            Self::Truncated => "truncated, not said",
            Self::CutByLength => "truncated, said",
            Self::WrongEnum => "wrong enum",
            Self::UnknownTarget => "unknown target",
            Self::HallucinatedLink => "hallucinated link",
            Self::Empty => "empty reply",
            Self::Refusal => "refusal",
            Self::RepeatedKeys => "repeated keys",
            Self::TooMany => "429 with Retry-After",
            Self::ServerError => "500",
            Self::CutConnection => "cut connection",
            Self::Garbage => "reply that is no JSON",
        }
    }

    /// Whether it can happen to an answer to this question.
    pub(crate) fn fits(self, asked: Asked) -> bool {
        match self {
            Self::UnknownTarget => asked != Asked::Units,
            Self::WrongEnum | Self::HallucinatedLink => asked != Asked::Changes,
            _ => true,
        }
    }

    /// What becomes of the text of a right answer; the answer itself where there is nothing to spoil
    /// (`None`: it did not happen).
    pub(crate) fn spoil(self, asked: Asked, text: &str) -> Option<String> {
        Some(match self {
            Self::Prose => format!("Sure {{here it is}}, as [asked]:\n{text}\nAnything else? {{wave}}"),
            Self::Fence => format!("```json\n{text}\n```"),
            Self::Think => {
                format!("<think>Perhaps {{\"units\": [], \"verdicts\": [], \"changes\": []}}? No.</think>\n{text}")
            }
            Self::Truncated | Self::CutByLength => text.chars().take(text.chars().count() / 2).collect(),
            Self::Empty => String::new(),
            Self::Refusal => "I'm sorry, but I can't help with the content of this note.".to_owned(),
            Self::RepeatedKeys => {
                let rest = text.trim_start().strip_prefix('{')?;
                format!("{{\"{}\": [], {rest}", asked.key())
            }
            Self::WrongEnum => spoil_items(asked, text, |item| {
                let key = if asked == Asked::Units { "bucket" } else { "relation" };
                item.insert(key.to_owned(), json!("sibling"));
                true
            })?,
            Self::UnknownTarget => {
                let mut value: Value = serde_json::from_str(text).ok()?;
                let item = match asked {
                    Asked::Verdicts => json!({ "candidate": 999, "relation": "same", "change": "correct" }),
                    _ => json!({ "fact": 999, "block": 999 }),
                };
                value.get_mut(asked.key())?.as_array_mut()?.push(item);
                value.to_string()
            }
            Self::HallucinatedLink => spoil_items(asked, text, |item| {
                const LINK: &str = "[[digest/wiki/nobody-wrote-this|a note]]";
                match asked {
                    Asked::Units => {
                        let Some(fact) = item.get_mut("facts").and_then(|facts| facts.get_mut(0)) else {
                            return false;
                        };
                        let said = fact.get("text").and_then(Value::as_str).unwrap_or_default();
                        let said = format!("{said} See {LINK}.");
                        fact.as_object_mut().is_some_and(|fact| fact.insert("text".to_owned(), json!(said)).is_some())
                    }
                    _ => {
                        item.insert("sentence".to_owned(), json!(format!("Compare {{link}} and {LINK}.")));
                        true
                    }
                }
            })?,
            Self::TooMany | Self::ServerError | Self::CutConnection | Self::Garbage => text.to_owned(),
        })
    }
}

impl Asked {
    /// The key of the answer's list.
    fn key(self) -> &'static str {
        match self {
            Self::Units => "units",
            Self::Verdicts => "verdicts",
            Self::Changes => "changes",
        }
    }
}

/// Spoils the first item of an answer; `None` when it has none that can be.
fn spoil_items(
    asked: Asked,
    text: &str,
    spoil: impl FnOnce(&mut serde_json::Map<String, Value>) -> bool,
) -> Option<String> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    let item = value.get_mut(asked.key())?.as_array_mut()?.first_mut()?.as_object_mut()?;
    spoil(item).then(|| value.to_string())
}
