//! Edits of a note's text that touch nothing outside their span.
//!
//! An edit is data: a range and what stands there afterwards. The functions here plan edits;
//! [`apply`] makes a new text of them. A property is changed on its own line, the rest of the
//! block keeps its comments, order, quoting and dates; the note's line ends are kept.

use std::fmt;
use std::ops::Range;

use serde_json::Value;

use crate::block::{Block, BlockKind};
use crate::frontmatter::{self, Read};
use crate::lines::Lines;
use crate::note::Document;
use crate::yaml_spans::Entry;

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
    /// The property stands more than once.
    #[error("line {line}: the property stands twice; keep one before it is changed")]
    DuplicateKey {
        /// 1-based line of the last one.
        line: u32,
    },
    /// The properties are written in a form that can't be edited line by line.
    #[error("line {line}: this property is written in a form that is not changed in place; edit it by hand")]
    NotInPlace {
        /// 1-based line.
        line: u32,
    },
    /// The key or value is no YAML for one property.
    #[error("the key or the value is not YAML for one property; quote it")]
    BadYaml,
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

/// The edits that set property `key` to `yaml_value`, which is YAML as it is to be written on the
/// key's line ([`yaml_quote`] makes one of any text). A property that is there keeps its place and
/// the comment behind it; a new one becomes the last; a note without frontmatter gets a block in
/// front of its text, behind a byte-order mark. `doc` is what [`Document::parse`] made of `text`.
///
/// The result is read again before it is handed out: every other property means what it meant.
///
/// # Errors
/// [`EditError::MalformedFrontmatter`], [`EditError::DuplicateKey`] and [`EditError::NotInPlace`]
/// with the line; [`EditError::BadYaml`] when `key: yaml_value` is not one property.
pub fn set_property(text: &str, doc: &Document, key: &str, yaml_value: &str) -> Result<Vec<TextEdit>, EditError> {
    let lines = Lines::new(text);
    let read = frontmatter::read(text, &lines);
    if !read.frontmatter.well_formed {
        let line = read.problems.first().and_then(|p| p.line).unwrap_or(1);
        return Err(EditError::MalformedFrontmatter { line });
    }
    if key.trim().is_empty() || !is_one_value(yaml_value) {
        return Err(EditError::BadYaml);
    }
    let end = line_end(text);
    let line = format!("{}: {}", yaml_quote(key), yaml_value.trim());
    let same: Vec<&Entry> = read.entries.iter().filter(|e| e.key == key).collect();
    let edit = match (read.frontmatter.span.as_ref(), same.as_slice()) {
        (None, _) => {
            let at = doc.body.start.min(text.len());
            TextEdit { span: at..at, with: format!("---{end}{line}{end}---{end}") }
        }
        (Some(span), _) if read.flow => {
            return Err(EditError::NotInPlace { line: lines.number(span.start) + 1 });
        }
        (Some(span), []) => {
            let at = lines.span(lines.at(span.end)).start;
            TextEdit { span: at..at, with: format!("{line}{end}") }
        }
        (Some(_), [entry]) => change(text, &lines, entry, yaml_value.trim())?,
        (Some(_), [.., last]) => {
            return Err(EditError::DuplicateKey { line: lines.number(last.key_span.start) });
        }
    };
    verify(text, &read, key, &edit, same.first().copied(), &lines)?;
    Ok(vec![edit])
}

/// Whether `value` can stand behind a key on one line.
fn is_one_value(value: &str) -> bool {
    let probe = format!("---\nk: {}\n---\n", value.trim());
    let read = frontmatter::read(&probe, &Lines::new(&probe));
    !value.contains(['\n', '\r']) && read.frontmatter.well_formed && read.entries.len() == 1
}

/// The change of a property that is there: its value alone.
fn change(text: &str, lines: &Lines<'_>, entry: &Entry, value: &str) -> Result<TextEdit, EditError> {
    let line = lines.number(entry.key_span.start);
    let after_key = text.get(entry.key_span.end..).unwrap_or("");
    let blanks = after_key.len() - after_key.trim_start_matches([' ', '\t']).len();
    if !after_key.get(blanks..).is_some_and(|rest| rest.starts_with(':')) {
        return Err(EditError::NotInPlace { line });
    }
    let colon = entry.key_span.end + blanks + 1;
    let with = if value.is_empty() { String::new() } else { format!(" {value}") };
    Ok(match &entry.value_span {
        None => TextEdit { span: colon..colon, with },
        // From the colon on, so that a tag, an anchor or a block mark goes with its value.
        Some(span) => TextEdit { span: colon..span.end.max(colon), with },
    })
}

/// Refuses an edit after which another property, or anything but one, would have changed.
fn verify(
    text: &str,
    before: &Read,
    key: &str,
    edit: &TextEdit,
    entry: Option<&Entry>,
    lines: &Lines<'_>,
) -> Result<(), EditError> {
    let line = entry.map_or(lines.number(edit.span.start), |entry| lines.number(entry.key_span.start));
    let edited = apply(text, std::slice::from_ref(edit))?;
    let after = frontmatter::read(&edited, &Lines::new(&edited));
    let others = |read: &Read| -> Vec<(String, Value)> {
        read.frontmatter.properties.iter().filter(|(k, _)| *k != key).map(|(k, v)| (k.clone(), v.clone())).collect()
    };
    let grown = after.entries.len() == before.entries.len() + usize::from(entry.is_none());
    let readable = after.frontmatter.well_formed && after.frontmatter.properties.contains_key(key);
    let body = edited.get(after.body..) == text.get(before.body..);
    if readable && grown && body && others(&after) == others(before) {
        Ok(())
    } else {
        Err(EditError::NotInPlace { line })
    }
}

/// The edit that puts `markdown` at the end of the note, as a block of its own.
#[must_use]
pub fn append_block(text: &str, markdown: &str) -> TextEdit {
    let end = line_end(text);
    let body = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let before = if body.is_empty() || body.ends_with(&format!("{end}{end}")) {
        String::new()
    } else if body.ends_with('\n') {
        end.to_string()
    } else {
        format!("{end}{end}")
    };
    TextEdit { span: text.len()..text.len(), with: format!("{before}{}{end}", in_line_ends(markdown, end)) }
}

/// The edit that puts `markdown` right after `block`: after a list item as the next line, so that
/// it may carry the list on; otherwise as a block of its own.
#[must_use]
pub fn insert_after(text: &str, block: &Block, markdown: &str) -> TextEdit {
    let end = line_end(text);
    let at = block.span.end.min(text.len());
    if block.kind == BlockKind::ListItem {
        return TextEdit { span: at..at, with: format!("{end}{}", in_line_ends(markdown, end)) };
    }
    let next = text.get(at..).and_then(|rest| rest.split_once('\n')).map(|(_, rest)| rest.lines().next().unwrap_or(""));
    let after = if next.is_some_and(|line| !line.trim().is_empty()) { end.to_string() } else { String::new() };
    TextEdit { span: at..at, with: format!("{end}{end}{}{after}", in_line_ends(markdown, end)) }
}

/// `text` as one YAML value that means exactly this string, also in flow lists and to parsers of
/// YAML 1.1: plain where that is safe, else in double quotes.
#[must_use]
pub fn yaml_quote(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}') => {
                out.push_str(&format!("\\u{:04X}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Whether every YAML parser reads `text` unquoted as this string.
fn is_plain(text: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/');
    let safe =
        |c: char| word(c) || matches!(c, ' ' | '-' | '.' | '(' | ')' | '+') || "，。、；！？（）《》“”".contains(c);
    let reserved = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.ends_with(|c: char| c != ' ' && safe(c))
        && text.chars().all(safe)
        && !reserved.contains(&text.to_ascii_lowercase().as_str())
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

/// `markdown` without outer line ends, with the note's line ends inside.
fn in_line_ends(markdown: &str, end: LineEnd) -> String {
    let lines: Vec<&str> = markdown.trim_matches(['\r', '\n']).lines().collect();
    lines.join(&end.to_string())
}
