//! Properties: one key set or taken away, on its own lines.

use serde_json::{Map, Value};

use super::quote::yaml_quote;
use super::{EditError, TextEdit, apply, line_end};
use crate::frontmatter::{self, Read};
use crate::lines::Lines;
use crate::note::Document;
use crate::yaml_spans::Entry;

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
    let end = "---\nk: ".len() + value.trim().len();
    // A comment is no part of a value: it would stand behind the one that is there.
    let is_whole = |entry: &Entry| entry.value_span.as_ref().map_or(!value.contains('#'), |span| span.end == end);
    let one = read.entries.len() == 1 && read.entries.iter().all(is_whole);
    !value.contains(['\n', '\r']) && read.frontmatter.well_formed && one
}

/// The change of a property that is there: its value alone.
pub(super) fn change(text: &str, lines: &Lines<'_>, entry: &Entry, value: &str) -> Result<TextEdit, EditError> {
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

/// The edits that take property `key` away, with its comment on the same line; every line of it
/// when it stands more than once, which mends that. Comments on lines of their own stay.
///
/// # Errors
/// [`EditError::NoSuchProperty`], [`EditError::MalformedFrontmatter`] and
/// [`EditError::NotInPlace`] with the line.
pub fn remove_property(text: &str, key: &str) -> Result<Vec<TextEdit>, EditError> {
    let lines = Lines::new(text);
    let read = readable(text, &lines)?;
    let same: Vec<&Entry> = read.entries.iter().filter(|e| e.key == key).collect();
    let Some(first) = same.first() else {
        return Err(EditError::NoSuchProperty);
    };
    let line = lines.number(first.key_span.start);
    if read.flow {
        return Err(EditError::NotInPlace { line });
    }
    let whole_lines = |entry: &&Entry| {
        let start = lines.span(lines.at(entry.key_span.start)).start;
        let last = entry.value_span.as_ref().map_or(entry.key_span.end, |value| value.end);
        // A block scalar ends behind its last line end.
        let last = last.saturating_sub(1).max(start);
        TextEdit { span: start..lines.span(lines.at(last) + 1).start.min(text.len()), with: String::new() }
    };
    let edits: Vec<TextEdit> = same.iter().map(whole_lines).collect();
    let mut wanted = read.frontmatter.properties.clone();
    wanted.remove(key);
    verify_all(text, &read, &edits, &wanted, line)?;
    Ok(edits)
}

/// The frontmatter of `text`, when it can be read.
pub(super) fn readable(text: &str, lines: &Lines<'_>) -> Result<Read, EditError> {
    let read = frontmatter::read(text, lines);
    if read.frontmatter.well_formed {
        return Ok(read);
    }
    let line = read.problems.first().and_then(|p| p.line).unwrap_or(1);
    Err(EditError::MalformedFrontmatter { line })
}

/// Refuses edits after which the properties are not `wanted`, or the body is another.
pub(super) fn verify_all(
    text: &str,
    before: &Read,
    edits: &[TextEdit],
    wanted: &Map<String, Value>,
    line: u32,
) -> Result<(), EditError> {
    let edited = apply(text, edits)?;
    let after = frontmatter::read(&edited, &Lines::new(&edited));
    let alike = after.frontmatter.well_formed && after.frontmatter.properties == *wanted;
    if alike && edited.get(after.body..) == text.get(before.body..) {
        Ok(())
    } else {
        Err(EditError::NotInPlace { line })
    }
}
