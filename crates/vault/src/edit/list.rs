//! List properties: one value added or taken away, in the style that the list has.

use std::ops::Range;

use serde_json::Value;

use super::property::{change, entry_of, readable, set_property, verify_all};
use super::quote::yaml_quote;
use super::{EditError, TextEdit, line_end};
use crate::frontmatter::Read;
use crate::lines::Lines;
use crate::note::Document;
use crate::yaml_spans::Entry;

/// The edits that add the text `value` to the list property `key`; none when it is there. A list
/// keeps its style (`[a, b]` or a line each), a single value becomes a list of two, and a property
/// that is not there becomes a list of one, a line each.
///
/// # Errors
/// As [`set_property`].
pub fn add_to_list(text: &str, doc: &Document, key: &str, value: &str) -> Result<Vec<TextEdit>, EditError> {
    let lines = Lines::new(text);
    let read = readable(text, &lines)?;
    let entry = in_place(&read, key, &lines)?;
    let key = entry.map_or(key, |entry| entry.key.as_str());
    let have = read.frontmatter.properties.get(key);
    let old: Vec<Value> = match have {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items.clone(),
        Some(single) => vec![single.clone()],
    };
    if old.iter().any(|item| item.as_str() == Some(value)) {
        return Ok(Vec::new());
    }
    let quoted = yaml_quote(value);
    let Some(entry) = entry else {
        return grown(text, &lines, set_property(text, doc, key, "[]")?, &quoted);
    };
    let line = lines.number(entry.key_span.start);
    let edit = match &entry.value_span {
        None => {
            let end = line_end(text);
            let at = lines.span(lines.at(entry.key_span.start)).end;
            TextEdit { span: at..at, with: format!("{end}  - {quoted}") }
        }
        Some(span) => {
            let written = text.get(span.clone()).unwrap_or("");
            match (have, flow_items(written)) {
                (Some(Value::Array(_)), Some(items)) => {
                    let at = span.end - 1;
                    let gap = if items.is_empty() { "" } else { ", " };
                    let from = span.start + items.last().map_or(1, |item| item.end);
                    TextEdit { span: from..at, with: format!("{gap}{quoted}") }
                }
                (Some(Value::Array(_)), None) => {
                    let (_, indent) = dashes(text, &lines, span).ok_or(EditError::NotInPlace { line })?;
                    let at = lines.span(lines.at(span.end.saturating_sub(1).max(span.start))).end;
                    TextEdit { span: at..at, with: format!("{}{indent}- {quoted}", line_end(text)) }
                }
                _ => change(text, &lines, entry, &format!("[{}, {quoted}]", written.trim()))?,
            }
        }
    };
    let mut wanted = read.frontmatter.properties.clone();
    let items = old.into_iter().chain([Value::from(value)]).collect();
    wanted.insert(key.to_owned(), Value::Array(items));
    let edits = vec![edit];
    verify_all(text, &read, &edits, &wanted, line)?;
    Ok(edits)
}

/// The edits that take the text `value` out of the list property `key`, wherever it stands in it;
/// none when it does not. A list that loses its last value becomes `[]`.
///
/// # Errors
/// [`EditError::NoSuchProperty`], and as [`set_property`].
pub fn remove_from_list(text: &str, key: &str, value: &str) -> Result<Vec<TextEdit>, EditError> {
    let lines = Lines::new(text);
    let read = readable(text, &lines)?;
    let Some(entry) = in_place(&read, key, &lines)? else {
        return Err(EditError::NoSuchProperty);
    };
    let key = entry.key.as_str();
    let line = lines.number(entry.key_span.start);
    let old: Vec<Value> = match read.frontmatter.properties.get(key) {
        Some(Value::Array(items)) => items.clone(),
        Some(single) => vec![single.clone()],
        None => Vec::new(),
    };
    let goes = |item: &Value| item.as_str() == Some(value);
    let kept: Vec<Value> = old.iter().filter(|item| !goes(item)).cloned().collect();
    if kept.len() == old.len() {
        return Ok(Vec::new());
    }
    let span = entry.value_span.clone().ok_or(EditError::NotInPlace { line })?;
    let written = text.get(span.clone()).unwrap_or("");
    let edits = if kept.is_empty() {
        vec![change(text, &lines, entry, "[]")?]
    } else if let Some(items) = flow_items(written) {
        let mut edits = Vec::new();
        for (n, _) in old.iter().enumerate().filter(|(_, item)| goes(item)) {
            let item = items.get(n).ok_or(EditError::NotInPlace { line })?;
            // With the comma before it; the first ones with the comma behind.
            let before = n.checked_sub(1).and_then(|n| items.get(n)).map(|before| before.end..item.end);
            let first_kept = old.iter().position(|item| !goes(item)).unwrap_or(0);
            let behind = || items.get(n + 1).map(|next| item.start..next.start);
            let span_in = if n < first_kept { behind() } else { before };
            let cut = span_in.ok_or(EditError::NotInPlace { line })?;
            edits.push(TextEdit { span: span.start + cut.start..span.start + cut.end, with: String::new() });
        }
        edits
    } else {
        let (starts, _) = dashes(text, &lines, &span).ok_or(EditError::NotInPlace { line })?;
        let last = lines.at(span.end.saturating_sub(1).max(span.start)) + 1;
        let mut edits = Vec::new();
        for (n, _) in old.iter().enumerate().filter(|(_, item)| goes(item)) {
            let from = *starts.get(n).ok_or(EditError::NotInPlace { line })?;
            let to = starts.get(n + 1).copied().unwrap_or(last);
            edits.push(TextEdit { span: lines.span(from).start..lines.span(to).start, with: String::new() });
        }
        edits
    };
    let mut wanted = read.frontmatter.properties.clone();
    wanted.insert(key.to_owned(), Value::Array(kept));
    verify_all(text, &read, &edits, &wanted, line)?;
    Ok(edits)
}

/// The entry of `key`, on lines of its own; `None` when it is not there.
fn in_place<'r>(read: &'r Read, key: &str, lines: &Lines<'_>) -> Result<Option<&'r Entry>, EditError> {
    match entry_of(read, key, lines)? {
        Some(entry) if read.flow => Err(EditError::NotInPlace { line: lines.number(entry.key_span.start) }),
        entry => Ok(entry),
    }
}

/// The edits that make a new property, with a list of one item in the place of its `[]`.
fn grown(text: &str, lines: &Lines<'_>, edits: Vec<TextEdit>, quoted: &str) -> Result<Vec<TextEdit>, EditError> {
    let end = line_end(text);
    let line = edits.first().map_or(1, |edit| lines.number(edit.span.start));
    let listed = |edit: TextEdit| {
        let with = edit.with.replacen(": []", &format!(":{end}  - {quoted}"), 1);
        if with == edit.with { Err(EditError::NotInPlace { line }) } else { Ok(TextEdit { with, ..edit }) }
    };
    edits.into_iter().map(listed).collect()
}

/// The items of a flow list, as ranges of `written`; `None` when it is none.
fn flow_items(written: &str) -> Option<Vec<Range<usize>>> {
    if !(written.starts_with('[') && written.ends_with(']') && written.len() >= 2) {
        return None;
    }
    let mut items = Vec::new();
    let (mut depth, mut quote, mut start, mut escaped) = (0_usize, None, 1, false);
    let mut push = |from: usize, to: usize| {
        let item = written.get(from..to).unwrap_or("");
        let lead = item.len() - item.trim_start().len();
        if !item.trim().is_empty() {
            items.push(from + lead..from + lead + item.trim().len());
        }
    };
    for (at, c) in written.char_indices().skip(1) {
        match (quote, c) {
            (Some('"'), '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (Some(open), c) if c == open && !escaped => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if written.get(start..at).is_some_and(|s| s.trim().is_empty()) => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') if depth > 0 => depth -= 1,
            (None, ',') if depth == 0 => {
                push(start, at);
                start = at + 1;
            }
            _ => {}
        }
        escaped = false;
    }
    push(start, written.len() - 1);
    Some(items)
}

/// The lines on which the items of a block list begin, and their indentation.
fn dashes<'t>(text: &'t str, lines: &Lines<'t>, span: &Range<usize>) -> Option<(Vec<usize>, &'t str)> {
    let first = lines.at(span.start);
    let line = lines.text(first);
    let indent = line.get(..line.len() - line.trim_start_matches(' ').len())?;
    let is_item = |line: &str| {
        let rest = line.strip_prefix(indent)?.strip_prefix('-')?;
        (rest.is_empty() || rest.starts_with([' ', '\t'])).then_some(())
    };
    is_item(line)?;
    let last = lines.at(span.end.min(text.len()).saturating_sub(1).max(span.start));
    Some(((first..=last).filter(|n| is_item(lines.text(*n)).is_some()).collect(), indent))
}
