//! `meta/topics.json`: what a host might raise with the user.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use super::Artefact;
use crate::path::NotePath;

/// What a host might raise with the user, and what was raised or settled before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Topics {
    /// Format version.
    pub version: u32,
    /// When it was last changed.
    pub computed_at: DateTime<Utc>,
    /// Open ones first: with a date by that date, then the latest seen; then all others by id.
    pub topics: Vec<Topic>,
}
artefact!(
    Topics,
    "topics.json",
    1,
    "what was raised or resolved before is forgotten, and the next dream finds topics anew"
);

/// One thing to raise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Topic {
    /// Twelve hexadecimal digits, the same as long as its first evidence stands.
    pub id: String,
    /// What kind of thing.
    pub kind: TopicKind,
    /// What it is about: the question, the intention, or the name of the subject.
    pub subject: String,
    /// The day that was named, for a follow-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<NaiveDate>,
    /// The day of its first evidence.
    pub first_seen: NaiveDate,
    /// The day of its latest evidence.
    pub last_seen: NaiveDate,
    /// Where it stands, oldest first, at most five.
    pub evidence: Vec<TopicEvidence>,
    /// Whether it is still to be raised.
    #[serde(flatten)]
    pub state: TopicState,
}

/// What kind of thing a topic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TopicKind {
    /// An intention with a day.
    FollowUp,
    /// A question that nothing has answered yet.
    Question,
    /// A subject that came up on several days.
    Interest,
}

/// Where a topic stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TopicEvidence {
    /// The event.
    pub note: NotePath,
    /// The id of its block, without `^`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// The sentence, word for word.
    pub quote: String,
}

/// Whether a topic is still to be raised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum TopicState {
    /// It may be raised.
    Open,
    /// A host has raised it, or a person has put it aside: it is not shown again.
    Raised {
        /// When.
        at: DateTime<Utc>,
    },
    /// It is answered or done.
    Resolved {
        /// When that was seen or said.
        at: DateTime<Utc>,
        /// The event that says so; `None` when a person or host did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<NotePath>,
    },
}
