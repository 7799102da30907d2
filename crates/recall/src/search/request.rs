//! What a search is asked.

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::filter::Filters;

/// A search. Any string is a legal query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct SearchRequest {
    /// Free text; `in:digest`, `bucket:wiki`, `tag:x`, `folder:a/b`, `date:2026-11..`,
    /// `prop:key=value`, `links:x`, `"exact phrase"` and `-not` mean what they say, and what does not
    /// parse is text. docs/query.md has the whole language.
    pub query: String,
    /// Notes to return, default 10, at most 1,000.
    pub limit: usize,
    /// Passages a note, default 3, at most 100.
    pub passages: usize,
    /// Conditions on the notes, beside those in the query.
    pub filters: Filters,
    /// Return archived notes too. Default false.
    pub include_archived: bool,
    /// Say how each score came about. Default false.
    pub explain: bool,
    /// Which signals take part. Default: all.
    pub signals: SignalSwitches,
    /// The present moment; default: the clock's. Without either, nothing is old and nothing spooled.
    pub now: Option<DateTime<FixedOffset>>,
    /// Keep this search out of the access spool. Default false.
    pub quiet: bool,
    /// Prefer notes of the time that words such as `last week` or 上周三 name, seen from `now`; without
    /// a `now` they are text. Each reading is told in the reply's notices. Default false: only dates
    /// that are written out are preferred.
    pub soft_dates: bool,
    /// Where to go on: the cursor of the reply before, to the same question. Default: from the start.
    pub cursor: Option<String>,
    /// Bytes of passages' text that the whole reply may have. Default: no bound. The best passages
    /// are taken; the one that crosses the line is cut, and the reply says how much was left out.
    pub byte_budget: Option<usize>,
    /// Bytes of one passage; a longer block is cut around what matched. Default 2,000.
    pub max_passage_bytes: usize,
    /// Follow the links of the hits so many steps, 0 to 3. Default 0.
    pub expand: usize,
    /// Notes that expansion may bring. Default 20, at most 200.
    pub expand_limit: usize,
}

impl Default for SearchRequest {
    fn default() -> Self {
        Self {
            query: String::new(),
            limit: 10,
            passages: 3,
            filters: Filters::default(),
            include_archived: false,
            explain: false,
            signals: SignalSwitches::default(),
            now: None,
            quiet: false,
            soft_dates: false,
            cursor: None,
            byte_budget: None,
            max_passage_bytes: 2_000,
            expand: 0,
            expand_limit: 20,
        }
    }
}

impl SearchRequest {
    /// A search for `query` with every default.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), ..Self::default() }
    }
}

/// The signals of the ranking, each of which can be switched off: the base score of the block
/// itself always stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct SignalSwitches {
    /// Shares of the blocks around.
    pub neighbours: bool,
    /// Share of the whole note.
    pub note: bool,
    /// Speakers, casts, replies, questions, names, times and places.
    pub form: bool,
    /// Dates that the query names.
    pub dates: bool,
    /// Further good blocks of a note.
    pub support: bool,
    /// The layers' weights.
    pub layer: bool,
    /// Inbound links.
    pub centrality: bool,
    /// Same theme as the best digests.
    pub community: bool,
    /// Freshness.
    pub recency: bool,
    /// Spreading along links.
    pub links: bool,
    /// Digest text and score lent to the cited source blocks.
    pub digests: bool,
    /// Archived notes are dropped.
    pub archive: bool,
    /// Vectors, when an embedder is set.
    pub meaning: bool,
}

impl Default for SignalSwitches {
    fn default() -> Self {
        Self::ALL
    }
}

impl SignalSwitches {
    /// Every signal on.
    pub const ALL: Self = Self {
        neighbours: true,
        note: true,
        form: true,
        dates: true,
        support: true,
        layer: true,
        centrality: true,
        community: true,
        recency: true,
        links: true,
        digests: true,
        archive: true,
        meaning: true,
    };

    /// Every signal off: BM25 of the blocks alone.
    pub const NONE: Self = Self {
        neighbours: false,
        note: false,
        form: false,
        dates: false,
        support: false,
        layer: false,
        centrality: false,
        community: false,
        recency: false,
        links: false,
        digests: false,
        archive: false,
        meaning: false,
    };

    /// The names of the signals, as [`SignalSwitches::without`] takes them.
    pub const NAMES: [&'static str; 13] = [
        "neighbours",
        "note",
        "form",
        "dates",
        "support",
        "layer",
        "centrality",
        "community",
        "recency",
        "links",
        "digests",
        "archive",
        "meaning",
    ];

    /// All of `self` but the signal of this name; an unknown name changes nothing.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        match name {
            "neighbours" => self.neighbours = false,
            "note" => self.note = false,
            "form" => self.form = false,
            "dates" => self.dates = false,
            "support" => self.support = false,
            "layer" => self.layer = false,
            "centrality" => self.centrality = false,
            "community" => self.community = false,
            "recency" => self.recency = false,
            "links" => self.links = false,
            "digests" => self.digests = false,
            "archive" => self.archive = false,
            "meaning" => self.meaning = false,
            _ => {}
        }
        self
    }
}
