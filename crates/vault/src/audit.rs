//! Audit pages: append-only Markdown in `audit/<date>/`, for a person. Their links are no edges.

use chrono::{DateTime, FixedOffset};

use crate::change::{Change, ChangeSet, Writer};
use crate::conserve::Conservation;
use crate::layout::{Layer, Layout};
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
        layout.file(Layer::Audit, &format!("{}/{}.md", self.at.format("%Y-%m-%d"), self.page))
    }

    /// The change that appends the section (`## 14:05:09 title`); a new page starts with an H1.
    #[must_use]
    pub fn to_change(&self, layout: &Layout) -> Change {
        let page = self
            .page
            .chars()
            .next()
            .map_or_else(String::new, |first| first.to_uppercase().chain(self.page.chars().skip(1)).collect());
        Change::Append {
            path: self.path(layout),
            header: format!("# {page} {}\n\n", self.at.format("%Y-%m-%d")),
            content: self.section(),
        }
    }

    fn section(&self) -> String {
        let title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        let body = self.body.trim();
        let gap = if body.is_empty() { "" } else { "\n\n" };
        format!("## {} {title}\n\n{body}{gap}", self.at.format("%H:%M:%S"))
    }
}

/// The change set that appends all entries, in order; entries of one page become one change.
#[must_use]
pub fn append(entries: &[AuditEntry], layout: &Layout) -> ChangeSet {
    let mut set = ChangeSet::new(Writer::Audit, Conservation::Additive);
    for entry in entries {
        let path = entry.path(layout);
        let page = set.changes.iter_mut().find_map(|change| match change {
            Change::Append { path: other, content, .. } if *other == path => Some(content),
            _ => None,
        });
        match page {
            Some(content) => content.push_str(&entry.section()),
            None => set.changes.push(entry.to_change(layout)),
        }
    }
    set
}
