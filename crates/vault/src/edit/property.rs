//! Properties: one key set or taken away, on its own lines.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::quote::yaml_quote;
use super::{EditError, TextEdit, apply, line_end};
use crate::fold;
use crate::frontmatter::{self, Read};
use crate::lines::Lines;
use crate::note::Document;
use crate::yaml_spans::Entry;

/// The edits that set property `key` to `yaml_value`, which is YAML as it is to be written on the
/// key's line ([`yaml_quote`] makes one of any text). A property that is there keeps its place and
/// the comment behind it; a new one becomes the last; a note without frontmatter gets a block in
/// front of its text, behind a byte-order mark. `doc` is what [`Document::parse`] made of `text`.
///
/// `aliases`, `tags` and `cssclasses` are found in whatever case they are written, as Obsidian reads
/// them; another key that is there in another case only is refused.
///
/// The result is read again before it is handed out: every other property means what it meant.
///
/// # Errors
/// [`EditError::MalformedFrontmatter`], [`EditError::DuplicateKey`], [`EditError::OtherCase`] and
/// [`EditError::NotInPlace`] with the line; [`EditError::BadYaml`] when `key: yaml_value` is not one property.
pub fn set_property(text: &str, doc: &Document, key: &str, yaml_value: &str) -> Result<Vec<TextEdit>, EditError> {
    let lines = Lines::new(text);
    let read = readable(text, &lines)?;
    let value = one_value(yaml_value).filter(|_| !key.trim().is_empty()).ok_or(EditError::BadYaml)?;
    let end = line_end(text);
    let line = format!("{}: {}", yaml_quote(key), yaml_value.trim());
    let entry = entry_of(&read, key, &lines)?;
    let key = entry.map_or(key, |entry| entry.key.as_str());
    let edit = match (read.frontmatter.span.as_ref(), entry) {
        (None, _) => {
            let at = doc.body.start.min(text.len());
            TextEdit { span: at..at, with: format!("---{end}{line}{end}---{end}") }
        }
        (Some(span), _) if read.flow => {
            return Err(EditError::NotInPlace { line: lines.number(span.start) + 1 });
        }
        (Some(span), None) => {
            let at = lines.span(lines.at(span.end)).start;
            TextEdit { span: at..at, with: format!("{line}{end}") }
        }
        (Some(_), Some(entry)) => change(text, &lines, entry, yaml_value.trim())?,
    };
    verify(text, &read, (key, &value), &edit, entry, &lines)?;
    Ok(vec![edit])
}

/// What `value` means behind a key on one line, when it can stand there.
fn one_value(value: &str) -> Option<Value> {
    let probe = format!("---\nk: {}\n---\n", value.trim());
    let read = frontmatter::read(&probe, &Lines::new(&probe));
    let end = "---\nk: ".len() + value.trim().len();
    // A comment is no part of a value: it would stand behind the one that is there. Nor is a tag or
    // an anchor one when nothing follows: what is set next would be read as its text.
    let is_whole = |entry: &Entry| entry.value_span.as_ref().map_or(value.trim().is_empty(), |span| span.end == end);
    let one = read.entries.len() == 1 && read.entries.iter().all(is_whole);
    let is_one = !value.contains(['\n', '\r']) && read.frontmatter.well_formed && one;
    read.frontmatter.properties.get("k").filter(|_| is_one).cloned()
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

/// Refuses an edit after which another property would have changed, or this one is not `value`.
fn verify(
    text: &str,
    before: &Read,
    (key, value): (&str, &Value),
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
    let readable = after.frontmatter.well_formed && after.frontmatter.properties.get(key) == Some(value);
    let body = edited.get(after.body..) == text.get(before.body..);
    if readable && grown && body && others(&after) == others(before) {
        Ok(())
    } else {
        Err(EditError::NotInPlace { line })
    }
}

/// The edits that take property `key` away, with its comment on the same line. Comments on lines of
/// their own stay.
///
/// # Errors
/// [`EditError::NoSuchProperty`], and as [`set_property`].
pub fn remove_property(text: &str, key: &str) -> Result<Vec<TextEdit>, EditError> {
    let lines = Lines::new(text);
    let read = readable(text, &lines)?;
    let Some(entry) = entry_of(&read, key, &lines)? else {
        return Err(EditError::NoSuchProperty);
    };
    let line = lines.number(entry.key_span.start);
    if read.flow {
        return Err(EditError::NotInPlace { line });
    }
    let start = lines.span(lines.at(entry.key_span.start)).start;
    let last = entry.value_span.as_ref().map_or(entry.key_span.end, |value| value.end);
    // A block scalar ends behind its last line end.
    let last = last.saturating_sub(1).max(start);
    let end = lines.span(lines.at(last) + 1).start.min(text.len());
    let edits = vec![TextEdit { span: start..end, with: String::new() }];
    let mut wanted = read.frontmatter.properties.clone();
    wanted.remove(&entry.key);
    verify_all(text, &read, &edits, &wanted, line)?;
    Ok(edits)
}

/// The keys that Obsidian reads in any case.
const ANY_CASE: [&str; 3] = ["aliases", "tags", "cssclasses"];

/// The one entry that `key` names; `None` when it is not there in any case.
pub(super) fn entry_of<'r>(read: &'r Read, key: &str, lines: &Lines<'_>) -> Result<Option<&'r Entry>, EditError> {
    let folded = fold::case(key);
    let alike: Vec<&Entry> = read.entries.iter().filter(|e| fold::case(&e.key) == folded).collect();
    if ANY_CASE.contains(&folded.as_str()) {
        return match alike.as_slice() {
            [] => Ok(None),
            [entry] => Ok(Some(entry)),
            several => Err(EditError::DuplicateKey { lines: numbers(several.iter().copied(), lines) }),
        };
    }
    let other_case = |other: &&Entry| EditError::OtherCase { line: lines.number(other.key_span.start) };
    match alike.iter().find(|entry| entry.key == key) {
        Some(entry) => Ok(Some(entry)),
        None => alike.first().map_or(Ok(None), |other| Err(other_case(other))),
    }
}

fn numbers<'e>(entries: impl Iterator<Item = &'e Entry>, lines: &Lines<'_>) -> Vec<u32> {
    entries.map(|entry| lines.number(entry.key_span.start)).collect()
}

/// The frontmatter of `text`, when it can be read and no key stands in it twice.
pub(super) fn readable(text: &str, lines: &Lines<'_>) -> Result<Read, EditError> {
    let read = frontmatter::read(text, lines);
    if !read.frontmatter.well_formed {
        let line = read.problems.first().and_then(|p| p.line).unwrap_or(1);
        return Err(EditError::MalformedFrontmatter { line });
    }
    let mut count = BTreeMap::new();
    for entry in &read.entries {
        *count.entry(entry.key.as_str()).or_insert(0_usize) += 1;
    }
    let is_again = |entry: &&Entry| count.get(entry.key.as_str()).is_some_and(|n| *n > 1);
    let again = numbers(read.entries.iter().filter(is_again), lines);
    if again.is_empty() { Ok(read) } else { Err(EditError::DuplicateKey { lines: again }) }
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
