//! Links as Obsidian reads them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::quoting::Quoting;

/// The written form of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LinkKind {
    /// `[[target]]`
    Wiki,
    /// `![[target]]`
    Embed,
    /// `[text](target)`
    Markdown,
    /// `![text](target)`
    MarkdownEmbed,
    /// A quoted link in a frontmatter property.
    Frontmatter,
    /// A file that a canvas shows: a `file` node, or a group's background.
    Canvas,
}

/// A link as written; resolution is the snapshot's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Its form.
    pub kind: LinkKind,
    /// The whole link in the source, brackets included.
    pub span: Range<usize>,
    /// The target's bytes in the source, without subpath and shown text. A new target is written
    /// there in the link's own style, and then as [`Link::quoting`] asks. Empty for the note itself, and where
    /// a string is written in a way that could not be followed: such a link can't be changed in place.
    pub target_span: Range<usize>,
    /// The target, decoded, without subpath; empty for the source note itself.
    pub target: String,
    /// From `#` on, or empty.
    pub subpath: String,
    /// The shown text.
    pub display: Option<String>,
    /// The predicate of a typed edge: an inline field's key, or the frontmatter property's.
    pub predicate: Option<String>,
    /// The frontmatter key as Obsidian names it: `name` or `name.0`.
    pub key: Option<String>,
    /// 1-based line in the file.
    pub line: u32,
    /// How the link's text is written where it stands: with the escapes of a YAML or JSON string,
    /// or as it is.
    pub quoting: Quoting,
}
