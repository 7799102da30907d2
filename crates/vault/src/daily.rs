//! The daily writer: an event becomes a note of its own and a line in the day's index.

use chrono::{DateTime, FixedOffset};

use crate::change::ChangeSet;
use crate::path::NotePath;
use crate::snapshot::Snapshot;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DailyEvent {
    /// When; its local day names the folder.
    pub at: DateTime<FixedOffset>,
    /// The event's name: title, link text and slug.
    pub name: String,
    /// One sentence.
    pub description: String,
    /// More properties, written as quoted strings after ours (`session`, `source`, …).
    pub properties: Vec<(String, String)>,
    /// The body's blocks, Markdown each (a paragraph, a list item with its `- `, a heading line, a
    /// fenced code block). Each gets a block id `^b1`, `^b2`, … but for headings.
    pub blocks: Vec<String>,
}

/// Plans the event's note and its line in the index. A slug that is taken gets `-2`, `-3`, ….
/// Returns the note's path with the change set (writer `AutoMemory`, rule `Additive`).
#[must_use]
pub fn plan_event(event: &DailyEvent, snapshot: &Snapshot) -> (NotePath, ChangeSet) {
    let _ = (event, snapshot);
    todo!()
}
