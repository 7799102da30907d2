//! Auto-memory: a conversation becomes daily events, without a model.
//!
//! One intent is one event, and each statement is a block of its own with its speaker in front, so
//! that it can be recalled and cited alone. Tool chatter, greetings and small talk are left out, and
//! so is everything that was put into the conversation from the vault: what was recalled is never
//! captured as something new. The same conversation always gives the same events, and what was
//! captured before is not captured again.

mod blocks;
mod intents;
mod spoken;

use chrono::{DateTime, FixedOffset};
use dormouse_model::Message;
use dormouse_vault::daily::DailyEvent;
use dormouse_vault::text::truncate_chars;
use dormouse_vault::{Layer, Snapshot};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use blocks::blocks;
use intents::intents;
use spoken::{Speaker, Turn, first_request, spoken};

/// The property that names the conversation of an event.
const SESSION: &str = "session";
/// The property that names the messages of an event: `3-12`, counted from 0, both ends included.
const MESSAGES: &str = "messages";

/// A conversation, whole: its first message is number 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// Names it for ever; the key that makes capturing idempotent.
    pub session: String,
    /// When its newest message was said; names the day.
    pub at: DateTime<FixedOffset>,
    /// Its messages in order.
    pub messages: Vec<Message>,
}

/// Settings of auto-memory. Plain data; every field has a default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AutoMemoryConfig {
    /// Characters of an event's name. Default 64.
    pub name_chars: usize,
    /// Characters of an event's description. Default 200.
    pub description_chars: usize,
    /// Characters of one block; longer statements are cut at sentences. Default 1,200.
    pub block_chars: usize,
    /// Blocks of one event; a longer one goes on in another note. Default 200.
    pub max_blocks: usize,
}

impl Default for AutoMemoryConfig {
    fn default() -> Self {
        Self { name_chars: 64, description_chars: 200, block_chars: 1_200, max_blocks: 200 }
    }
}

/// An event to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedEvent {
    /// What the vault's daily writer takes.
    pub event: DailyEvent,
    /// First and last message that it covers.
    pub messages: (usize, usize),
}

/// Plans the events of a conversation that `snapshot` does not hold yet. Messages up to the last one
/// that an event of this session covers are not looked at again. Near-linear in the text.
#[must_use]
pub fn plan_events(conversation: &Conversation, snapshot: &Snapshot, config: &AutoMemoryConfig) -> Vec<PlannedEvent> {
    let from = captured_until(&conversation.session, snapshot);
    let turns: Vec<Turn> = spoken(&conversation.messages).into_iter().filter(|turn| turn.message >= from).collect();
    let chinese = is_chinese(&turns);
    let mut planned = Vec::new();
    for intent in intents(&turns) {
        let Some(request) = first_request(intent) else {
            continue;
        };
        let all = blocks(intent, chinese, config.block_chars);
        let (Some(first), Some(last)) = (intent.first(), intent.last()) else {
            continue;
        };
        for part in all.chunks(config.max_blocks.max(1)) {
            planned.push(PlannedEvent {
                event: DailyEvent {
                    at: conversation.at,
                    name: name(&request, config.name_chars),
                    description: shortened(&request, config.description_chars),
                    properties: vec![
                        ("source".into(), "conversation".into()),
                        (SESSION.into(), conversation.session.clone()),
                        (MESSAGES.into(), format!("{}-{}", first.message, last.message)),
                    ],
                    blocks: part.to_vec(),
                },
                messages: (first.message, last.message),
            });
        }
    }
    planned
}

/// The number of the first message that no event of this session covers.
fn captured_until(session: &str, snapshot: &Snapshot) -> usize {
    let property = |note: &dormouse_vault::Note, key: &str| -> Option<String> {
        match note.doc().frontmatter.properties.get(key)? {
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    };
    snapshot
        .notes()
        .filter(|note| note.layer == Layer::Daily && property(note, SESSION).as_deref() == Some(session))
        .filter_map(|note| property(note, MESSAGES)?.split_once('-')?.1.trim().parse::<usize>().ok())
        .map(|last| last + 1)
        .max()
        .unwrap_or(0)
}

fn is_chinese(turns: &[Turn]) -> bool {
    let count = |wanted: fn(char) -> bool| {
        turns.iter().filter(|t| t.speaker == Speaker::User).flat_map(|t| t.text.chars()).filter(|c| wanted(*c)).count()
    };
    count(dormouse_vault::text::is_cjk) * 3 > count(char::is_alphabetic)
}

/// A title from a request: its first sentence without lead-in, shortened at a word.
fn name(request: &str, max: usize) -> String {
    let sentence = dormouse_vault::text::sentences(request)
        .into_iter()
        .next()
        .and_then(|range| request.get(range))
        .unwrap_or(request);
    let bare =
        spoken::without_lead_in(sentence).trim_end_matches(['.', '!', '?', '。', '！', '？', '…', '；', ':', '：']);
    let mut chars = bare.chars();
    let capital: String = chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default();
    shortened(&capital, max)
}

/// At most `max` characters, cut at a word where words have blanks, and marked.
fn shortened(text: &str, max: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = truncate_chars(&text, max);
    if cut.len() == text.len() {
        return text;
    }
    let at_word = match cut.rfind(' ') {
        Some(at) if at * 2 > cut.len() => cut.get(..at).unwrap_or(cut),
        _ => cut,
    };
    format!("{}…", at_word.trim_end_matches([',', '，', '、', ';']))
}
