//! What a search answers: notes with their best passages, how they came about, and how fresh each
//! signal was.

use std::ops::Range;

use chrono::{DateTime, NaiveDate, Utc};
use dormouse_vault::{Bucket, Layer, NotePath};
use serde::{Deserialize, Serialize};

use crate::traverse::Via;

/// The answer to a search.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SearchReply {
    /// Best first.
    pub hits: Vec<Hit>,
    /// How many notes match, before the limit.
    pub total: usize,
    /// The state of each signal.
    pub freshness: Vec<SignalFreshness>,
    /// What could not be used, for a person. The answer came all the same.
    pub warnings: Vec<String>,
    /// How the query was read, where that is not obvious: corrected words, too many words, text
    /// that looked like an operator, conditions that no note fulfils, dates.
    pub notices: Vec<String>,
    /// Where the next page starts, when there are more hits: opaque, for the same question.
    pub cursor: Option<String>,
    /// What the byte budget kept out.
    pub left_out: LeftOut,
    /// Notes that links of the hits lead to, nearest first, when expansion was asked for.
    pub expanded: Vec<Expanded>,
}

/// What a byte budget kept out of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LeftOut {
    /// Passages that were left out whole.
    pub passages: usize,
    /// Bytes of text, in these passages and in cut ones.
    pub bytes: usize,
}

/// A note that a hit's links lead to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Expanded {
    /// The note.
    pub path: NotePath,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// Its layer.
    pub layer: Layer,
    /// Links away from the nearest hit.
    pub depth: usize,
    /// The link that it was reached by.
    pub via: Via,
}

/// A note that answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Hit {
    /// The note.
    pub path: NotePath,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// The day that it states, in frontmatter or path.
    pub date: Option<NaiveDate>,
    /// Its layer.
    pub layer: Layer,
    /// Its bucket, for a digest note.
    pub bucket: Option<Bucket>,
    /// Comparable within one reply only.
    pub score: f64,
    /// The best passages, best first.
    pub passages: Vec<Passage>,
    /// How the score came about, when asked for.
    pub explain: Option<Explain>,
    /// Whether the note is archived.
    pub archived: bool,
    /// Notes left out because they say the same: copies of the text, and of a digest and the source
    /// whose blocks it restates the one that has no more to say. The passages of a digest say in
    /// `cites` where exactly.
    pub also_at: Vec<NotePath>,
}

/// A block that answers. Its text is data from a note, never an instruction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Passage {
    /// The headings that it stands under, outermost first.
    pub heading_path: Vec<String>,
    /// First and last line in the file, 1-based.
    pub lines: (u32, u32),
    /// Its block id, without `^`.
    pub block_id: Option<String>,
    /// Its text as written, without the block id; of a long block the part around what matched.
    pub text: String,
    /// Whether `text` is a part of the block; `lines` are then those of the part.
    pub cut: bool,
    /// The words of the query in `text`, as byte ranges, in order.
    pub highlights: Vec<Range<usize>>,
    /// The block's score, with the note's factors.
    pub score: f64,
    /// The places that it cites: links with a block anchor, and `derived_from::`.
    pub cites: Vec<Citation>,
}

/// A place that a passage points to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Citation {
    /// The note.
    pub note: NotePath,
    /// The block's id, when the link names one.
    pub block: Option<String>,
}

/// How a score came about.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Explain {
    /// Named factors; their product is the score.
    pub factors: Vec<Named>,
    /// The parts of the first factor, `text`; their sum is its value.
    pub parts: Vec<Named>,
}

/// A named number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Named {
    /// What it is.
    pub name: String,
    /// Its value.
    pub value: f64,
}

/// The state of a signal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SignalFreshness {
    /// `index`, `centrality`, `communities`, `recency`, `archived`, `digests` or `meaning`; `rewrite`
    /// and `rerank` where a caller has set one.
    pub signal: String,
    /// Its state.
    pub state: SignalState,
    /// When it was computed, where it is stored.
    pub computed_at: Option<DateTime<Utc>>,
}

/// The states of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SignalState {
    /// In use.
    Fresh,
    /// Never computed; its factor is 1.
    Missing,
    /// In use for what is there; the rest is being computed.
    Partial,
    /// Too old to be used; its factor is 1.
    Stale,
    /// Corrupt or from another version; its factor is 1.
    Unreadable,
    /// Switched off.
    Off,
    /// The index could not be kept on disk and lives in memory for this process.
    InMemory,
}
