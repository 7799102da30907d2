//! Filters: which notes a question is about. `list` and `search` share them, and they apply before
//! anything is cut to a limit.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use chrono::NaiveDate;
use dormouse_vault::{Bucket, Layer, Note, NotePath};
use serde::{Deserialize, Serialize};

/// Conditions on a note; all must hold, an empty one holds for every note.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Filters {
    /// One of these layers.
    pub layers: Vec<Layer>,
    /// One of these digest buckets.
    pub buckets: Vec<Bucket>,
    /// In this folder or deeper, vault-relative, case ignored.
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
    /// Further conditions: of each group one must hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub any_of: Vec<Vec<Condition>>,
    /// Conditions that must not hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub none_of: Vec<Condition>,
}

impl Filters {
    /// Whether no condition is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether archived notes are asked for by name, so that they must not be dropped.
    pub(crate) fn wants_archived(&self) -> bool {
        self.any_of.iter().flatten().any(|condition| *condition == Condition::Archived)
    }
}

/// One condition on a note. It prints as it is written in the query language (docs/query.md).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Condition {
    /// Of this layer: `in:digest`.
    Layer(Layer),
    /// Of this digest bucket: `bucket:wiki`.
    Bucket(Bucket),
    /// In this folder or deeper, case ignored: `folder:a/b`.
    Folder(String),
    /// With this tag or one below it, case ignored: `tag:a`.
    Tag(String),
    /// With this frontmatter property, and this value of it, case ignored: `prop:key`, `prop:key=value`.
    Property {
        /// The key.
        key: String,
        /// The value; any when there is none.
        value: Option<String>,
    },
    /// Dated on these days, both ends included, by what the note states: `date:2026-11..`.
    Dated {
        /// First day.
        from: Option<NaiveDate>,
        /// Last day.
        until: Option<NaiveDate>,
    },
    /// Links to a note of this name, or is linked from it: `links:X`. A name is a path, a wikilink
    /// target, a title or an alias.
    Links(String),
    /// Links to it: `links-to:X`.
    LinksTo(String),
    /// Is linked from it: `linked-from:X`.
    LinkedFrom(String),
    /// Sleeps: `is:archived`.
    Archived,
    /// Is material that waits for a dream: `is:pending`.
    Pending,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let day = |day: &Option<NaiveDate>| day.map(|day| day.to_string()).unwrap_or_default();
        match self {
            Self::Layer(layer) => write!(f, "in:{}", layer.as_str()),
            Self::Bucket(bucket) => write!(f, "bucket:{}", bucket.as_str()),
            Self::Folder(folder) => write!(f, "folder:{}", quoted(folder)),
            Self::Tag(tag) => write!(f, "tag:{}", quoted(tag)),
            Self::Property { key, value: None } => write!(f, "prop:{}", quoted(key)),
            Self::Property { key, value: Some(value) } => write!(f, "prop:{}", quoted(&format!("{key}={value}"))),
            Self::Dated { from, until } => write!(f, "date:{}..{}", day(from), day(until)),
            Self::Links(name) => write!(f, "links:{}", quoted(name)),
            Self::LinksTo(name) => write!(f, "links-to:{}", quoted(name)),
            Self::LinkedFrom(name) => write!(f, "linked-from:{}", quoted(name)),
            Self::Archived => f.write_str("is:archived"),
            Self::Pending => f.write_str("is:pending"),
        }
    }
}

/// The quotes of the query language.
pub(crate) const QUOTES: [(char, char); 3] = [('"', '"'), ('“', '”'), ('「', '」')];

/// Quotes around a value that have no closing one in it.
pub(crate) fn quotes_for(value: &str) -> Option<(char, char)> {
    QUOTES.into_iter().find(|(_, close)| !value.contains(*close))
}

/// A value as it is written in a query: quoted where it would end early without.
fn quoted(value: &str) -> String {
    let opens = |c: char| QUOTES.iter().any(|(open, _)| *open == c);
    let plain = !value.is_empty() && !value.contains(char::is_whitespace) && !value.contains(opens);
    match quotes_for(value).filter(|_| !plain) {
        Some((open, close)) => format!("{open}{value}{close}"),
        None => value.to_owned(),
    }
}

/// What notes are sorted by to stand newest first: undated ones last, equals in the order of their paths.
pub(crate) fn newest_first(note: &Note) -> (bool, Reverse<Option<NaiveDate>>, NotePath) {
    let date = stated_date(note);
    (date.is_none(), Reverse(date), note.path.clone())
}

/// The day that a note states itself, in its frontmatter or its path.
pub(crate) fn stated_date(note: &Note) -> Option<NaiveDate> {
    note.date.filter(|d| d.source != dormouse_vault::DateSource::Mtime).map(|d| d.day)
}
