//! Sections: a heading, and what stands below it up to the next one of its level or above.

use std::ops::Range;

use super::block::{block_before, goes_on, never_closed};
use super::{EditError, TextEdit, in_line_ends, line_end};
use crate::anchor::heading_key;
use crate::block::Heading;
use crate::note::Document;

/// A section of one text. Deeper headings below are a part of it, as where Obsidian embeds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// 1-based line of its heading.
    pub line: u32,
    /// The heading, markers included, without the line end.
    pub heading: Range<usize>,
    /// From the first line below the heading that is not blank to the last one, without the last
    /// line end; empty, behind the heading, when all are blank.
    pub content: Range<usize>,
    /// Whether new text at its end carries on a list.
    in_list: bool,
    /// The line of a fence or the like that is open at its end.
    open: Option<u32>,
}

/// The section that `subpath` names, as in a link: `Heading` or `A#B`, with or without `#` in front;
/// case and most punctuation don't count. Of several parts each lies below the one before.
/// `occurrence`, from 1, says which one is meant where several answer; without it they are an
/// error.
///
/// # Errors
/// [`EditError::NoSuchHeading`], [`EditError::AmbiguousHeading`], [`EditError::NoSuchOccurrence`].
pub fn section(text: &str, doc: &Document, subpath: &str, occurrence: Option<usize>) -> Result<Section, EditError> {
    let parts: Vec<String> = subpath.split('#').map(heading_key).filter(|part| !part.is_empty()).collect();
    let mut found = answering(&doc.headings, &parts);
    if found.is_empty() {
        // A heading with `#` in it, named as it is written.
        found = answering(&doc.headings, &[heading_key(subpath)]);
    }
    if found.is_empty()
        && let Some(line) = doc.anchor_line(subpath).filter(|_| !parts.is_empty())
    {
        // Obsidian goes downwards and does not ask whose section it is.
        found.extend(doc.headings.iter().position(|heading| heading.line == line));
    }
    let lines = || found.iter().filter_map(|at| doc.headings.get(*at)).map(|heading| heading.line).collect();
    let at = match (found.as_slice(), occurrence) {
        ([], _) => return Err(EditError::NoSuchHeading),
        ([only], None) => *only,
        (_, None) => return Err(EditError::AmbiguousHeading { lines: lines() }),
        (several, Some(n)) => {
            let chosen = n.checked_sub(1).and_then(|n| several.get(n)).copied();
            chosen.ok_or_else(|| EditError::NoSuchOccurrence { lines: lines() })?
        }
    };
    let heading = doc.headings.get(at).ok_or(EditError::NoSuchHeading)?;
    let next = doc.headings.iter().skip(at + 1).find(|next| next.level <= heading.level);
    let end = next.map_or(text.len(), |next| line_start(text, next.span.start));
    let below = heading.span.end..end;
    let body = text.get(below.clone()).unwrap_or("");
    let content = if body.trim().is_empty() {
        below.start..below.start
    } else {
        let last = below.start + body.trim_end().len();
        let lead = body.len() - body.trim_start().len();
        line_start(text, below.start + lead)..last
    };
    // A block with a heading below it has ended, and is not the one to go on with.
    let last = block_before(doc, content.end)
        .filter(|block| block.span.end > heading.span.end && block.span.end >= content.end);
    Ok(Section {
        line: heading.line,
        heading: heading.span.clone(),
        in_list: last.is_some_and(|block| goes_on(text, block)),
        open: last.and_then(|block| never_closed(text, block)),
        content,
    })
}

/// Which headings answer to `parts`: the last part is its own, the others are above it, in order.
fn answering(headings: &[Heading], parts: &[String]) -> Vec<usize> {
    let Some((own, above)) = parts.split_last() else {
        return Vec::new();
    };
    let mut open: Vec<(u8, String)> = Vec::new();
    let mut found = Vec::new();
    for (at, heading) in headings.iter().enumerate() {
        open.retain(|(level, _)| *level < heading.level);
        let key = heading_key(&heading.text);
        let mut wanted = above.iter().peekable();
        for (_, name) in &open {
            wanted.next_if(|part| *part == name);
        }
        if key == *own && wanted.peek().is_none() {
            found.push(at);
        }
        open.push((heading.level, key));
    }
    found
}

/// Where the line of `at` begins.
fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}

/// The edit that puts `markdown` in the place of all that stands below the heading. The blank lines
/// around it stay.
#[must_use]
pub fn replace_section(text: &str, section: &Section, markdown: &str) -> TextEdit {
    let end = line_end(text);
    if section.content.is_empty() {
        return insertion(text, section.heading.end, markdown, false);
    }
    // An underlined heading right below would take the text's last line into it.
    let below = text.get(section.content.end..).and_then(|rest| rest.split_once('\n')).map_or("", |(_, rest)| rest);
    let gap = !below.is_empty() && !below.starts_with(['#', '\n', '\r', ' ', '\t']);
    let after = if gap { end.to_string() } else { String::new() };
    TextEdit { span: section.content.clone(), with: format!("{}{after}", in_line_ends(markdown, end)) }
}

/// The edit that puts `markdown` at the end of the section: right below a list that it carries on,
/// otherwise as a block of its own.
///
/// # Errors
/// [`EditError::NeverClosed`].
pub fn append_to_section(text: &str, section: &Section, markdown: &str) -> Result<TextEdit, EditError> {
    if let Some(line) = section.open {
        return Err(EditError::NeverClosed { line });
    }
    let at = section.content.end.max(section.heading.end);
    Ok(insertion(text, at, markdown, section.in_list && is_item(markdown)))
}

/// The edit that puts `markdown` in front of the heading, as a block of its own.
#[must_use]
pub fn insert_before_section(text: &str, section: &Section, markdown: &str) -> TextEdit {
    let end = line_end(text);
    let at = line_start(text, section.heading.start).max(mark_len(text));
    let before = text.get(..at).unwrap_or("").trim_end_matches([' ', '\t']);
    let gap = if before.len() <= mark_len(text) || before.ends_with("\n\n") || before.ends_with("\n\r\n") {
        String::new()
    } else {
        end.to_string()
    };
    TextEdit { span: at..at, with: format!("{gap}{}{end}{end}", in_line_ends(markdown, end)) }
}

/// The edit that puts `markdown` behind the section, as a block of its own: what it begins with, a
/// heading of the same level for one, ends the section.
///
/// # Errors
/// [`EditError::NeverClosed`].
pub fn insert_after_section(text: &str, section: &Section, markdown: &str) -> Result<TextEdit, EditError> {
    if let Some(line) = section.open {
        return Err(EditError::NeverClosed { line });
    }
    Ok(insertion(text, section.content.end.max(section.heading.end), markdown, false))
}

fn mark_len(text: &str) -> usize {
    if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 }
}

/// `markdown` behind the line that ends at `at`, with a blank line around it where none is.
pub(super) fn insertion(text: &str, at: usize, markdown: &str, tight: bool) -> TextEdit {
    let end = line_end(text);
    // Blanks at the end of the line stay where they are.
    let rest = text.get(at..).unwrap_or("");
    let at = at + rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let next = text.get(at..).and_then(|rest| rest.split_once('\n')).and_then(|(_, rest)| rest.lines().next());
    let after =
        if next.is_some_and(|line| !line.trim().is_empty()) && !tight { end.to_string() } else { String::new() };
    let before = if tight { end.to_string() } else { format!("{end}{end}") };
    TextEdit { span: at..at, with: format!("{before}{}{after}", in_line_ends(markdown, end)) }
}

/// Whether `markdown` begins with a list item.
pub(super) fn is_item(markdown: &str) -> bool {
    let line = markdown.trim_start_matches(['\r', '\n']).trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let marked =
        if rest.len() < line.len() { rest.strip_prefix(['.', ')']) } else { line.strip_prefix(['-', '*', '+']) };
    marked.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}
