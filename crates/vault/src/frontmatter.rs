//! Frontmatter: read for meaning, kept byte for byte.

use std::ops::Range;

use serde_json::Value;

/// A note's properties.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frontmatter {
    /// The block in the source, from the first `---` to the end of the closing line; `None` when
    /// the note has no frontmatter.
    pub span: Option<Range<usize>>,
    /// The properties in order. Dates are strings as written. Empty when the YAML is malformed.
    pub properties: serde_json::Map<String, Value>,
    /// Whether the YAML could be read. A write into malformed frontmatter is refused.
    pub well_formed: bool,
}

impl Frontmatter {
    /// A text property, trimmed; `None` for anything else.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.properties.get(key)?.as_str().map(str::trim).filter(|s| !s.is_empty())
    }
}
