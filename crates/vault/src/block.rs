//! Headings and blocks: the units that are cited, indexed, conserved and split.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// An ATX or setext heading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// The heading's text as written, without markers.
    pub text: String,
    /// The whole heading, markers included, without the line end.
    pub span: Range<usize>,
    /// 1-based line in the file, frontmatter included.
    pub line: u32,
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BlockKind {
    /// A run of text lines.
    Paragraph,
    /// One list item's own lines, without nested items.
    ListItem,
    /// A block quote or callout, whole.
    Quote,
    /// A fenced or indented code block.
    Code,
    /// A table.
    Table,
    /// `$$ … $$`.
    Math,
    /// An HTML block or comment.
    Html,
    /// `%% … %%` on lines of its own.
    Comment,
    /// `---`, `***`.
    Rule,
    /// A footnote definition.
    Footnote,
}

/// One block of a note's body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Its whole lines, without the last line end; the block id is included.
    pub span: Range<usize>,
    /// First and last line, 1-based, frontmatter included.
    pub lines: (u32, u32),
    /// Index into `Document::headings` of the heading that it stands under.
    pub heading: Option<u32>,
    /// Obsidian block id, without `^`.
    pub id: Option<String>,
    /// Nesting depth of a list item, 0 at the top.
    pub depth: u8,
}
