//! Obsidian block ids: ` ^id` at the end of a block, or alone on a line after it.

use crate::block::{Block, BlockKind};
use crate::lines::Lines;

/// Finds the ids of `blocks` and lets a line that holds nothing but an id belong to the block
/// before it. The id after a list names the list: it is set on its first item, or on the last one
/// where the first has an id of its own. Linear.
pub(crate) fn assign(text: &str, lines: &Lines<'_>, blocks: &mut Vec<Block>) {
    let mut named: Vec<Block> = Vec::with_capacity(blocks.len());
    let mut list_start = 0;
    for mut block in blocks.drain(..) {
        let source = text.get(block.span.clone()).unwrap_or("");
        let alone = (block.kind == BlockKind::Paragraph).then(|| whole(source)).flatten();
        if let Some(id) = alone {
            let last = named.len().saturating_sub(1);
            let target = match named.last() {
                Some(b) if b.heading != block.heading || b.kind == BlockKind::Rule => None,
                Some(b) if b.kind == BlockKind::ListItem => Some(list_start),
                Some(_) => Some(last),
                None => None,
            };
            let free = |at: &usize| named.get(*at).is_some_and(|b| b.id.is_none());
            let target = target.filter(free).or_else(|| target.map(|_| last).filter(free));
            if let Some(to) = target {
                if let Some(named) = named.get_mut(to) {
                    named.id = Some(id.to_owned());
                }
                if let Some(before) = named.last_mut() {
                    before.span.end = block.span.end;
                    before.lines.1 = block.lines.1;
                }
                continue;
            }
            block.id = Some(id.to_owned());
        } else if may_end_with_id(block.kind) {
            let last = usize::try_from(block.lines.1).unwrap_or(usize::MAX) - 1;
            let first = usize::try_from(block.lines.0).unwrap_or(usize::MAX) - 1;
            let id = trailing(lines.text(last));
            let id = id.or_else(|| (block.kind == BlockKind::ListItem).then(|| trailing(lines.text(first))).flatten());
            block.id = id.map(|(_, id)| id.to_owned());
        }
        let goes_on = |b: &Block| b.kind == BlockKind::ListItem && b.heading == block.heading;
        if block.kind != BlockKind::ListItem || !named.last().is_some_and(goes_on) {
            list_start = named.len();
        }
        named.push(block);
    }
    *blocks = named;
}

fn may_end_with_id(kind: BlockKind) -> bool {
    use BlockKind::{Footnote, ListItem, Paragraph, Quote, Table};
    matches!(kind, Paragraph | ListItem | Quote | Table | Footnote)
}

/// The id when `source` is nothing but `^id`.
fn whole(source: &str) -> Option<&str> {
    source.trim().strip_prefix('^').filter(|id| is_id(id))
}

/// Where ` ^id` begins at the end of `line`, and the id.
pub(crate) fn trailing(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_end();
    let caret = line.rfind('^')?;
    let id = line.get(caret + 1..).filter(|id| is_id(id))?;
    let before = line.get(..caret)?;
    (before.is_empty() || before.ends_with([' ', '\t'])).then_some((before.trim_end().len(), id))
}

/// Letters, digits and hyphens, at least one.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}
