//! What notes state of themselves in tags and properties, kept light.
//!
//! A snapshot holds its documents packed. A condition on a tag would spread out every one of them at
//! every question, so what such a condition needs is kept per version of a note, from the first
//! question on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_vault::{Note, NotePath, Snapshot, Version};
use serde_json::{Map, Value};

/// The tags and properties of a note.
#[derive(Debug, Default)]
pub(crate) struct Stated {
    /// In lower case.
    tags: Vec<String>,
    properties: Map<String, Value>,
}

impl Stated {
    fn of(note: &Note) -> Self {
        let document = note.document();
        Self {
            tags: document.tags.iter().map(|tag| tag.to_lowercase()).collect(),
            properties: document.frontmatter.properties,
        }
    }

    /// Whether there is this tag or one below it; `wanted` in lower case.
    pub(crate) fn has_tag(&self, wanted: &str) -> bool {
        let below = |tag: &str| tag.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.tags.iter().any(|tag| below(tag))
    }

    /// Whether there is this property, with this value if one is wanted. Case is ignored.
    pub(crate) fn has_property(&self, key: &str, wanted: Option<&str>) -> bool {
        let found = self.properties.get(key).or_else(|| {
            let key = key.to_lowercase();
            self.properties.iter().find(|(have, _)| have.to_lowercase() == key).map(|(_, value)| value)
        });
        found.is_some_and(|value| wanted.is_none_or(|wanted| equals(value, wanted.trim())))
    }
}

fn equals(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text.trim().to_lowercase() == wanted.to_lowercase(),
        Value::Array(items) => items.iter().any(|item| equals(item, wanted)),
        Value::Null => wanted.is_empty(),
        other => other.to_string().eq_ignore_ascii_case(wanted),
    }
}

/// What notes state, as far as it was asked for.
#[derive(Debug, Default)]
pub(crate) struct Traits(Mutex<HashMap<NotePath, (Version, Arc<Stated>)>>);

impl Traits {
    /// What a note states. Linear in its document at the first call for its version, then O(1).
    pub(crate) fn of(&self, note: &Note) -> Arc<Stated> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((version, stated)) = kept().get(&note.path)
            && *version == note.version
        {
            return Arc::clone(stated);
        }
        let stated = Arc::new(Stated::of(note));
        kept().insert(note.path.clone(), (note.version, Arc::clone(&stated)));
        stated
    }

    /// Forgets notes that are gone, once they may be as many as those that are there.
    pub(crate) fn forget(&self, snapshot: &Snapshot) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() > 64 && kept.len() > 2 * snapshot.notes().count() {
            kept.retain(|path, _| snapshot.note(path).is_some());
        }
    }
}
