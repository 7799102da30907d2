//! Filters: which notes a question is about. `list` and `search` share them, and they apply before
//! anything is cut to a limit.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use dormouse_vault::{Bucket, Layer, Note, NotePath, Snapshot};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Conditions on a note; all must hold, an empty one holds for every note.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Filters {
    /// One of these layers.
    pub layers: Vec<Layer>,
    /// One of these digest buckets.
    pub buckets: Vec<Bucket>,
    /// In this folder or deeper, vault-relative, without a final slash.
    pub folder: Option<String>,
    /// All of these tags, without `#`, case ignored; `a` matches `a/b` too, as in Obsidian.
    pub tags: Vec<String>,
    /// Frontmatter properties with these values, case ignored; a list matches when one item does.
    pub properties: BTreeMap<String, String>,
    /// Dated on this day or later. Undated notes fail it; a file's mtime is no date.
    pub from: Option<NaiveDate>,
    /// Dated on this day or earlier.
    pub until: Option<NaiveDate>,
    /// Links to this note.
    pub links_to: Option<NotePath>,
    /// Is linked from this note.
    pub linked_from: Option<NotePath>,
}

impl Filters {
    /// Whether no condition is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether `note` fulfils all conditions. Linear in the note's tags and links.
    #[must_use]
    pub fn matches(&self, note: &Note, snapshot: &Snapshot) -> bool {
        (self.layers.is_empty() || self.layers.contains(&note.layer))
            && (self.buckets.is_empty() || note.bucket.is_some_and(|b| self.buckets.contains(&b)))
            && self.folder.as_deref().is_none_or(|f| in_folder(&note.path, f))
            && self.tags.iter().all(|t| has_tag(note, t))
            && self.properties.iter().all(|(k, v)| has_property(note, k, v))
            && self.in_dates(note)
            && self
                .links_to
                .as_ref()
                .is_none_or(|to| snapshot.graph().out_edges(&note.path).iter().any(|e| e.target == to))
            && self
                .linked_from
                .as_ref()
                .is_none_or(|from| snapshot.graph().in_edges(&note.path).iter().any(|e| e.source == from))
    }

    fn in_dates(&self, note: &Note) -> bool {
        if self.from.is_none() && self.until.is_none() {
            return true;
        }
        stated_date(note)
            .is_some_and(|day| self.from.is_none_or(|from| day >= from) && self.until.is_none_or(|until| day <= until))
    }
}

/// The day that a note states itself, in its frontmatter or its path.
pub(crate) fn stated_date(note: &Note) -> Option<NaiveDate> {
    note.date.filter(|d| d.source != dormouse_vault::DateSource::Mtime).map(|d| d.day)
}

fn in_folder(path: &NotePath, folder: &str) -> bool {
    let folder = folder.trim_matches('/');
    folder.is_empty() || path.is_in(folder)
}

fn has_tag(note: &Note, wanted: &str) -> bool {
    let wanted = wanted.trim_start_matches('#').to_lowercase();
    note.doc().tags.iter().any(|tag| {
        let tag = tag.to_lowercase();
        tag == wanted || tag.strip_prefix(&wanted).is_some_and(|rest| rest.starts_with('/'))
    })
}

fn has_property(note: &Note, key: &str, wanted: &str) -> bool {
    let properties = &note.doc().frontmatter.properties;
    let found =
        properties.get(key).or_else(|| properties.iter().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, v)| v));
    found.is_some_and(|value| equals(value, wanted))
}

fn equals(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text.trim().to_lowercase() == wanted.trim().to_lowercase(),
        Value::Array(items) => items.iter().any(|item| equals(item, wanted)),
        Value::Null => wanted.trim().is_empty(),
        other => {
            let written = other.to_string();
            written.as_str() == wanted.trim()
        }
    }
}
