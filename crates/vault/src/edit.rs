//! Edits of a note's text that touch nothing outside their span.
//!
//! An edit is data: a range and what stands there afterwards. The functions here plan edits: by
//! byte range ([`replace_range`]), by heading ([`section`]), by block id ([`block`]) and by property
//! ([`set_property`] and its like). [`apply`] makes a new text of them, [`plan`] a change set that
//! names the version that was read, so that [`Vault::preview`](crate::Vault::preview) is the dry
//! run and a note that changed in between is a conflict. A property is changed on its own line, the
//! rest of the block keeps its comments, order, quoting and dates; the note's line ends are kept.
//!
//! ```
//! use dormouse_vault::{Document, edit};
//!
//! let text = "# Log\n\n- one\n\n# Else\n";
//! let log = edit::section(text, &Document::parse(text), "Log", None)?;
//! let edits = [edit::append_to_section(text, &log, "- two")?];
//! assert_eq!(edit::apply(text, &edits)?, "# Log\n\n- one\n- two\n\n# Else\n");
//! # Ok::<(), edit::EditError>(())
//! ```

mod block;
mod list;
mod property;
mod quote;
mod section;

pub use block::{NamedBlock, append_after_block, append_block, block, insert_after, replace_block};
pub use list::{add_to_list, remove_from_list};
pub use property::{remove_property, set_property};
pub use quote::yaml_quote;
pub use section::{Section, append_to_section, insert_after_section, insert_before_section, replace_section, section};

use std::fmt;
use std::ops::Range;

use crate::change::{Change, ChangeSet, Writer};
use crate::conserve::Conservation;
use crate::note::NoteText;
use crate::path::NotePath;

/// A replacement of one byte range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// The bytes that are replaced; empty for an insertion.
    pub span: Range<usize>,
    /// What stands there afterwards.
    pub with: String,
}

/// Why an edit is refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The file is no Markdown note: it has no properties, headings or blocks, and text that is put
    /// into it would destroy it.
    #[error("{path} is no Markdown note; only notes are edited")]
    NotANote {
        /// The file.
        path: NotePath,
    },
    /// A range lies outside the text or cuts a character.
    #[error("bytes {}..{} are no range of the text", .span.start, .span.end)]
    OutOfBounds {
        /// The range.
        span: Range<usize>,
    },
    /// Two edits touch the same bytes.
    #[error("two edits overlap at byte {at}")]
    Overlap {
        /// Where the second one begins.
        at: usize,
    },
    /// The frontmatter can't be read.
    #[error("line {line}: the frontmatter is malformed; mend it before it is changed")]
    MalformedFrontmatter {
        /// 1-based line.
        line: u32,
    },
    /// A property stands more than once: no property of such a block is changed, since the block is
    /// never rewritten and which of them counts is not ours to say.
    #[error("a property stands more than once in the frontmatter, on lines {}; keep one before any is changed", list(.lines))]
    DuplicateKey {
        /// 1-based lines of all that stand more than once, in order.
        lines: Vec<u32>,
    },
    /// The property is there in another case, which Obsidian takes for the same one.
    #[error("line {line}: the property stands there in another case; name it as it is written")]
    OtherCase {
        /// 1-based line.
        line: u32,
    },
    /// The properties are written in a form that can't be edited line by line.
    #[error("line {line}: this property is written in a form that is not changed in place; edit it by hand")]
    NotInPlace {
        /// 1-based line.
        line: u32,
    },
    /// The property is not there.
    #[error("there is no property of this name")]
    NoSuchProperty,
    /// No heading answers to the subpath.
    #[error("no heading answers to this subpath")]
    NoSuchHeading,
    /// Several headings answer to the subpath.
    #[error("several headings answer to this subpath, on lines {}; say which one", list(.lines))]
    AmbiguousHeading {
        /// 1-based lines, in order.
        lines: Vec<u32>,
    },
    /// No block has this id.
    #[error("no block has this id")]
    NoSuchBlock,
    /// Several blocks have this id.
    #[error("several blocks have this id, on lines {}; say which one", list(.lines))]
    AmbiguousBlock {
        /// 1-based lines, in order.
        lines: Vec<u32>,
    },
    /// Fewer headings or blocks have the name than were counted.
    #[error("there {} only {}, on line{} {}", if .lines.len() == 1 { "is" } else { "are" }, .lines.len(), if .lines.len() == 1 { "" } else { "s" }, list(.lines))]
    NoSuchOccurrence {
        /// 1-based lines of those that there are, in order.
        lines: Vec<u32>,
    },
    /// A code block, formula or comment above is never closed, so that the new text would become a
    /// part of it.
    #[error("line {line}: what opens here is never closed and would take the new text in; close it first")]
    NeverClosed {
        /// 1-based line.
        line: u32,
    },
    /// The key or value is no YAML for one property.
    #[error("the key or the value is not YAML for one property; quote it")]
    BadYaml,
}

fn list(lines: &[u32]) -> String {
    lines.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// `text` with all `edits` applied, in whatever order they are given. Insertions at one place keep
/// their order. Linear in text and edits.
///
/// # Errors
/// [`EditError::OutOfBounds`] and [`EditError::Overlap`].
pub fn apply(text: &str, edits: &[TextEdit]) -> Result<String, EditError> {
    let mut ordered: Vec<&TextEdit> = edits.iter().collect();
    ordered.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in ordered {
        let out_of_bounds = || EditError::OutOfBounds { span: edit.span.clone() };
        text.get(edit.span.clone()).ok_or_else(out_of_bounds)?;
        let kept = text.get(at..edit.span.start).ok_or(EditError::Overlap { at: edit.span.start })?;
        out.push_str(kept);
        out.push_str(&edit.with);
        at = edit.span.end;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    Ok(out)
}

/// The edit that puts `with` in the place of the bytes `span`, or inserts it where they are none.
/// Line ends of `with` become those of the note.
///
/// # Errors
/// [`EditError::OutOfBounds`] when `span` lies outside of the text or cuts a character.
pub fn replace_range(text: &str, span: Range<usize>, with: &str) -> Result<TextEdit, EditError> {
    if text.get(span.clone()).is_none() {
        return Err(EditError::OutOfBounds { span });
    }
    Ok(TextEdit { span, with: to_line_ends(with, line_end(text)) })
}

/// A person's change of the note `read` by `edits`: writer [`Writer::Person`], rule
/// [`Conservation::Free`], planned from the version that was read. Edits that change nothing give a
/// set that writes nothing.
///
/// # Errors
/// [`EditError::NotANote`] for any other file, whatever the edits; else as [`apply`].
pub fn plan(read: &NoteText, edits: &[TextEdit]) -> Result<ChangeSet, EditError> {
    if !read.path.is_markdown() {
        return Err(EditError::NotANote { path: read.path.clone() });
    }
    let content = apply(&read.text, edits)?;
    let change = Change::Replace { path: read.path.clone(), expected: read.version, content };
    Ok(ChangeSet::new(Writer::Person, Conservation::Free).with(change))
}

/// The line end that a note uses: that of its first line, `\n` when there is none.
fn line_end(text: &str) -> LineEnd {
    let first = text.find('\n').and_then(|at| text.get(..at));
    if first.is_some_and(|line| line.ends_with('\r')) { LineEnd::CrLf } else { LineEnd::Lf }
}

#[derive(Debug, Clone, Copy)]
enum LineEnd {
    Lf,
    CrLf,
}

impl fmt::Display for LineEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        })
    }
}

/// `text` with the line ends `end`.
fn to_line_ends(text: &str, end: LineEnd) -> String {
    let plain = text.replace("\r\n", "\n");
    if matches!(end, LineEnd::Lf) { plain } else { plain.replace('\n', "\r\n") }
}

/// `markdown` without outer line ends, with the note's line ends inside.
fn in_line_ends(markdown: &str, end: LineEnd) -> String {
    let lines: Vec<&str> = markdown.trim_matches(['\r', '\n']).lines().collect();
    lines.join(&end.to_string())
}
