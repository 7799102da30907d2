//! Blocks: one that has an id, and new ones at the end or behind another.

use std::ops::Range;

use super::section::{insertion, is_item};
use super::{EditError, TextEdit, in_line_ends, line_end};
use crate::block::{Block, BlockKind};
use crate::block_id;
use crate::note::Document;

/// A block that an id names: one, or a whole list whose id stands behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedBlock {
    /// 1-based line on which it begins.
    pub line: u32,
    /// What the id names, its whole lines without the last line end; the id is included.
    pub span: Range<usize>,
    /// The same without the id and the blanks before it.
    pub content: Range<usize>,
    kind: BlockKind,
    /// Whether it is a list of several items.
    several: bool,
    /// Where the id stands.
    id: Range<usize>,
    open: Option<u32>,
}

/// The block that `id` names, with or without `^`; case is ignored. `occurrence`, from 1, says which
/// one is meant where several have the id; without it they are an error.
///
/// # Errors
/// [`EditError::NoSuchBlock`], [`EditError::AmbiguousBlock`], [`EditError::NoSuchOccurrence`].
pub fn block(text: &str, doc: &Document, id: &str, occurrence: Option<usize>) -> Result<NamedBlock, EditError> {
    let id = id.trim().trim_start_matches('#').trim_start_matches('^');
    let named = |block: &&Block| block.id.as_deref().is_some_and(|have| have.eq_ignore_ascii_case(id));
    let found: Vec<&Block> = doc.blocks.iter().filter(named).collect();
    let lines = || found.iter().map(|block| block.lines.0).collect();
    let first = match (found.as_slice(), occurrence) {
        ([], _) => return Err(EditError::NoSuchBlock),
        ([only], None) => *only,
        (_, None) => return Err(EditError::AmbiguousBlock { lines: lines() }),
        (several, Some(n)) => {
            let chosen = n.checked_sub(1).and_then(|n| several.get(n)).copied();
            chosen.ok_or_else(|| EditError::NoSuchOccurrence { lines: lines() })?
        }
    };
    // The id may stand behind a list that the block only begins.
    let from = doc.blocks.iter().skip_while(|block| block.span.start < first.span.start);
    let (last, at) =
        from.filter_map(|block| Some((block, id_place(text, block, id)?))).next().ok_or(EditError::NoSuchBlock)?;
    let span = first.span.start..last.span.end;
    let head = text.get(span.start..at.start).unwrap_or("");
    let content = span.start..span.start + head.trim_end().len();
    Ok(NamedBlock {
        line: first.lines.0,
        content,
        id: at,
        kind: if first.span == last.span { first.kind } else { BlockKind::Paragraph },
        several: first.span != last.span,
        open: never_closed(text, last),
        span,
    })
}

/// Where `^id` stands in a block: at the end of a line of it.
fn id_place(text: &str, block: &Block, id: &str) -> Option<Range<usize>> {
    let source = text.get(block.span.clone())?;
    let mut at = block.span.start;
    let mut place = None;
    for line in source.split_inclusive('\n') {
        let content = line.trim_end();
        if let Some((_, have)) = block_id::trailing(content).filter(|(_, have)| have.eq_ignore_ascii_case(id)) {
            let end = at + content.len();
            place = Some(end - have.len() - 1..end);
        }
        at += line.len();
    }
    place
}

/// The edit that puts `markdown` in the place of what the block says. The id stays, unless
/// `markdown` ends with one of its own; a list item keeps its marker and indentation when
/// `markdown` is no item.
#[must_use]
pub fn replace_block(text: &str, block: &NamedBlock, markdown: &str) -> TextEdit {
    let end = line_end(text);
    let mut with = in_line_ends(markdown, end);
    if block.kind == BlockKind::ListItem {
        let source = text.get(block.content.clone()).unwrap_or("");
        let line = source.lines().next().unwrap_or("");
        let indent = line.len() - line.trim_start().len();
        let marker = if is_item(markdown) { indent } else { indent + marker_len(line.trim_start()) };
        let lead = line.get(..marker).unwrap_or("");
        let hang = " ".repeat(if is_item(markdown) { indent } else { marker });
        let mut lines = with.lines();
        let mut item = format!("{lead}{}", lines.next().unwrap_or(""));
        for line in lines {
            item.push_str(&end.to_string());
            if !line.is_empty() {
                item.push_str(&hang);
                item.push_str(line);
            }
        }
        with = item;
    }
    // What broke into the paragraph above would be taken into it.
    let breaks_in = block.several || !matches!(block.kind, BlockKind::ListItem | BlockKind::Paragraph);
    let above = text.get(..block.span.start).and_then(|before| before.lines().next_back()).unwrap_or("");
    if breaks_in && !above.trim().is_empty() {
        with.insert_str(0, &end.to_string());
    }
    let last = with.lines().next_back().unwrap_or("");
    let own_id = block_id::trailing(last).is_some();
    // An id in the middle of an item moves to its end; one on a line of its own stays there.
    let behind = text.get(block.id.end..block.span.end).is_some_and(|rest| !rest.trim().is_empty());
    if (behind || block.content.is_empty()) && !own_id {
        let id = text.get(block.id.clone()).unwrap_or("");
        return TextEdit { span: block.span.clone(), with: format!("{with} {id}") };
    }
    let span = if own_id { block.span.clone() } else { block.content.clone() };
    TextEdit { span, with }
}

/// The length of a list marker with the blanks behind it and a task's box.
fn marker_len(line: &str) -> usize {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = line.get(digits + 1..).unwrap_or("");
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let item = rest.get(blanks..).unwrap_or("");
    let task = item.starts_with('[') && item.chars().nth(2) == Some(']') && item.chars().nth(3) == Some(' ');
    let task = if task { item.char_indices().nth(4).map_or(item.len(), |(at, _)| at) } else { 0 };
    (digits + 1 + blanks + task).min(line.len())
}

/// The edit that puts `markdown` right behind the block, as [`insert_after`] does.
///
/// # Errors
/// [`EditError::NeverClosed`].
pub fn append_after_block(text: &str, block: &NamedBlock, markdown: &str) -> Result<TextEdit, EditError> {
    if let Some(line) = block.open {
        return Err(EditError::NeverClosed { line });
    }
    let tight = block.kind == BlockKind::ListItem && is_item(markdown);
    let mut edit = insertion(text, block.span.end, markdown, tight);
    if tight {
        let source = text.get(block.span.clone()).unwrap_or("");
        let indent: String = source.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
        let end = line_end(text).to_string();
        let indented = |line: &str| if line.is_empty() { String::new() } else { format!("{indent}{line}") };
        edit.with = edit.with.split(&end).map(indented).collect::<Vec<_>>().join(&end);
    }
    Ok(edit)
}

/// The last block that ends at `at` or before.
pub(super) fn block_before(doc: &Document, at: usize) -> Option<&Block> {
    let count = doc.blocks.partition_point(|block| block.span.start < at);
    count.checked_sub(1).and_then(|last| doc.blocks.get(last))
}

/// Whether an item behind this block carries on its list.
pub(super) fn goes_on(text: &str, block: &Block) -> bool {
    let last = text.get(block.span.clone()).and_then(|source| source.lines().next_back()).unwrap_or("");
    block.kind == BlockKind::ListItem && !last.trim_start().starts_with('^')
}

/// The line of a block that takes in all that follows, since what opens it is never closed.
pub(super) fn never_closed(text: &str, block: &Block) -> Option<u32> {
    let source = text.get(block.span.clone())?;
    let mut lines = source.lines();
    let first = lines.next()?.trim_start_matches([' ', '\t', '>']);
    let last = lines.next_back().map(|line| line.trim_matches([' ', '\t', '>']));
    let open = match block.kind {
        BlockKind::Code => {
            let mark = first.chars().next().filter(|c| matches!(c, '`' | '~'))?;
            let fence = first.len() - first.trim_start_matches(mark).len();
            !last.is_some_and(|line| line.len() >= fence && line.chars().all(|c| c == mark))
        }
        BlockKind::Math => source.trim().len() < 4 || !source.trim_end().ends_with("$$"),
        BlockKind::Comment => source.trim().len() < 4 || !source.trim_end().ends_with("%%"),
        BlockKind::Html if first.starts_with("<!--") => !source.contains("-->"),
        _ => false,
    };
    open.then_some(block.lines.0)
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
