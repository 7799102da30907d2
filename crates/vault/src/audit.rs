//! Audit pages: append-only Markdown in `audit/<date>/`, for a person. Their links are no edges.

use chrono::{DateTime, FixedOffset};

use crate::change::{Change, ChangeSet, Writer};
use crate::conserve::Conservation;
use crate::layout::Layout;
use crate::path::NotePath;

/// One section of an audit page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// The page: `dream`, `split`, `memory`, `duplicates`, `health`.
    pub page: &'static str,
    /// When, with the offset whose day names the folder.
    pub at: DateTime<FixedOffset>,
    /// The section's heading, without `#`.
    pub title: String,
    /// The section's Markdown; links as `[[path|Name]]`.
    pub body: String,
}

impl AuditEntry {
    /// The page's path: `audit/2026-11-30/dream.md`.
    #[must_use]
    pub fn path(&self, layout: &Layout) -> NotePath {
        let _ = layout;
        todo!()
    }

    /// The change that appends the section (`## 14:05:09 title`); a new page starts with an H1.
    #[must_use]
    pub fn to_change(&self, layout: &Layout) -> Change {
        let _ = layout;
        todo!()
    }
}

/// The change set that appends all entries.
#[must_use]
pub fn append(entries: &[AuditEntry], layout: &Layout) -> ChangeSet {
    let mut set = ChangeSet::new(Writer::Audit, Conservation::Additive);
    set.changes.extend(entries.iter().map(|e| e.to_change(layout)));
    set
}
