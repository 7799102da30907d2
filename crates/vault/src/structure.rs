//! Block structure of a body: headings, blocks, and the lines whose text is read for links.
//!
//! pulldown-cmark decides what is a list item, a quote, code, a table. It is given a copy of the
//! text of the same length in which everything that has a meaning only inside a line is blanked
//! out ([`crate::mask`]): its inline parser then has nothing to do, which keeps the parse linear
//! on any input. What Obsidian adds to CommonMark (`%%` and `$$` over several lines, block ids) is
//! read here on lines.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::block::{Block, BlockKind, Heading};
use crate::block_id;
use crate::lines::{Lines, one_based};
use crate::mask;

/// What [`scan`] finds.
pub(crate) struct Structure {
    /// Headings in order.
    pub(crate) headings: Vec<Heading>,
    /// Blocks in order.
    pub(crate) blocks: Vec<Block>,
    /// Runs of lines that inline syntax may span, in order.
    pub(crate) segments: Vec<Segment>,
}

/// A run of lines that inline syntax may span.
pub(crate) struct Segment {
    /// Its bytes.
    pub(crate) span: Range<usize>,
    /// Whether it is a row of a table, whose bars are borders.
    pub(crate) table: bool,
}

/// Per line of the text: what one walk over the block events says.
struct Walk {
    kinds: Vec<(BlockKind, u8)>,
    /// `(line, owner from there on)` in order.
    changes: Vec<(usize, Option<usize>)>,
    /// Code and HTML lines: nothing in them is read.
    opaque: Vec<bool>,
    code: Vec<bool>,
    table: Vec<bool>,
    heading: Vec<bool>,
    /// Whether inline syntax may not reach into this line from the one before.
    fresh: Vec<bool>,
    headings: Vec<Heading>,
}

/// A `%%` or `$$` region: its first and last line.
struct Region {
    kind: BlockKind,
    lines: (usize, usize),
}

/// Reads the structure of `text[body]`. Linear.
pub(crate) fn scan(text: &str, body: Range<usize>, lines: &Lines<'_>) -> Structure {
    // An empty body has no line, though its place lies on the last line of the properties.
    let first = if body.is_empty() { lines.count() } else { lines.at(body.start) };
    let mut masked = mask::inline(text.get(body.clone()).unwrap_or(""));
    let mut walk = Walk::over(text, &masked, body.start, lines);
    let regions = regions(lines, first, &walk.code);
    if !regions.is_empty() {
        for region in &regions {
            for line in region.lines.0..=region.lines.1 {
                let span = lines.span(line);
                mask::blank(&mut masked, span.start.saturating_sub(body.start)..span.end.saturating_sub(body.start));
            }
        }
        walk = Walk::over(text, &masked, body.start, lines);
    }
    let mut owners = walk.owners(lines.count());
    for region in &regions {
        let owner = walk.kinds.len();
        walk.kinds.push((region.kind, 0));
        for line in region.lines.0..=region.lines.1 {
            set(&mut owners, line, Some(owner));
            set(&mut walk.fresh, line, true);
            set(&mut walk.opaque, line, region.kind == BlockKind::Math);
        }
        set(&mut walk.fresh, region.lines.1 + 1, true);
    }
    let mut segments = segments(lines, first, &walk);
    let mut blocks = blocks(lines, first, &walk, &owners);
    if text.starts_with('\u{feff}') {
        // The mark is no part of what stands behind it: a field there is one.
        let spans =
            segments.first_mut().map(|s| &mut s.span).into_iter().chain(blocks.first_mut().map(|b| &mut b.span));
        spans.for_each(|span| span.start = span.start.max('\u{feff}'.len_utf8()).min(span.end));
        blocks.retain(|block| !block.span.is_empty());
    }
    block_id::assign(text, lines, &mut blocks);
    Structure { headings: walk.headings, blocks, segments }
}

fn set<T>(values: &mut [T], at: usize, value: T) {
    if let Some(slot) = values.get_mut(at) {
        *slot = value;
    }
}

fn is_set(values: &[bool], at: usize) -> bool {
    values.get(at).copied().unwrap_or(false)
}

impl Walk {
    /// Walks the block events of `masked`, whose first byte is byte `base` of the text.
    fn over(text: &str, masked: &str, base: usize, lines: &Lines<'_>) -> Self {
        let count = lines.count();
        let mut walk = Self {
            kinds: Vec::new(),
            changes: Vec::new(),
            opaque: vec![false; count],
            code: vec![false; count],
            table: vec![false; count],
            heading: vec![false; count],
            fresh: vec![false; count],
            headings: Vec::new(),
        };
        let indents: Vec<usize> = (0..count)
            .map(|line| {
                let text = lines.text(line);
                lines.span(line).start + text.len() - text.trim_start_matches([' ', '\t']).len()
            })
            .collect();
        let last_line = |range: &Range<usize>| {
            let line = lines.at((base + range.end).saturating_sub(1).max(base + range.start));
            let begins = indents.get(line).copied().unwrap_or(0);
            // A range may end inside the indentation of the line after it.
            if base + range.end <= begins && line > lines.at(base + range.start) { line - 1 } else { line }
        };
        let mut stack: Vec<Option<usize>> = Vec::new();
        let mut owner: Option<usize> = None;
        // Open quotes and footnotes own everything in them; `items` counts open list items.
        let (mut whole, mut items) = (0_usize, 0_usize);
        let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
        for (event, range) in Parser::new_ext(masked, options).into_offset_iter() {
            match event {
                Event::Start(tag) => {
                    let line = lines.at(base + range.start);
                    let kind = match &tag {
                        Tag::BlockQuote(_) => BlockKind::Quote,
                        Tag::FootnoteDefinition(_) => BlockKind::Footnote,
                        Tag::Item => BlockKind::ListItem,
                        Tag::Table(_) => BlockKind::Table,
                        Tag::CodeBlock(_) => BlockKind::Code,
                        Tag::HtmlBlock => BlockKind::Html,
                        Tag::Paragraph => BlockKind::Paragraph,
                        Tag::Heading { level, .. } => {
                            stack.push(owner);
                            let last = last_line(&range);
                            set(&mut walk.fresh, line, true);
                            if owner.is_none() {
                                walk.push_heading(text, lines, (line, last), *level);
                            }
                            continue;
                        }
                        Tag::List(_) | Tag::TableHead | Tag::TableRow => {
                            set(&mut walk.fresh, line, true);
                            stack.push(owner);
                            continue;
                        }
                        // Inline elements neither break lines nor own them.
                        _ => continue,
                    };
                    stack.push(owner);
                    set(&mut walk.fresh, line, true);
                    let own_item = kind == BlockKind::ListItem && whole == 0;
                    if owner.is_none() || own_item {
                        owner = Some(walk.kinds.len());
                        walk.kinds.push((kind, u8::try_from(items).unwrap_or(u8::MAX)));
                        walk.changes.push((line, owner));
                    }
                    match kind {
                        BlockKind::Quote | BlockKind::Footnote => whole += 1,
                        BlockKind::ListItem => items += 1,
                        BlockKind::Table => {
                            for line in line..=last_line(&range) {
                                set(&mut walk.table, line, true);
                            }
                        }
                        BlockKind::Code | BlockKind::Html => {
                            for line in line..=last_line(&range) {
                                set(&mut walk.opaque, line, true);
                                set(&mut walk.code, line, true);
                            }
                        }
                        _ => {}
                    }
                }
                Event::End(tag) => {
                    match tag {
                        TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition => whole = whole.saturating_sub(1),
                        TagEnd::Item => items = items.saturating_sub(1),
                        TagEnd::List(_)
                        | TagEnd::TableHead
                        | TagEnd::TableRow
                        | TagEnd::Table
                        | TagEnd::CodeBlock
                        | TagEnd::HtmlBlock
                        | TagEnd::Paragraph
                        | TagEnd::Heading(_) => {}
                        _ => continue,
                    }
                    owner = stack.pop().flatten();
                    let next = last_line(&range) + 1;
                    set(&mut walk.fresh, next, true);
                    walk.changes.push((next, owner));
                }
                Event::Rule if owner.is_none() => {
                    let line = lines.at(base + range.start);
                    walk.changes.push((line, Some(walk.kinds.len())));
                    walk.kinds.push((BlockKind::Rule, 0));
                    walk.changes.push((line + 1, None));
                    set(&mut walk.fresh, line, true);
                    set(&mut walk.fresh, line + 1, true);
                }
                _ => {}
            }
        }
        walk
    }

    fn push_heading(&mut self, text: &str, lines: &Lines<'_>, at: (usize, usize), level: HeadingLevel) {
        for line in at.0..=at.1 {
            set(&mut self.heading, line, true);
        }
        let first = lines.text(at.0);
        let start = lines.span(at.0).start + first.len() - first.trim_start_matches([' ', '\t', '\u{FEFF}']).len();
        let end = lines.span(at.1).end;
        let source = text.get(start..end).unwrap_or("").trim_end();
        let written = if at.0 == at.1 {
            let inner = source.trim_start_matches('#').trim();
            let open = inner.trim_end_matches('#');
            if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { inner }
        } else {
            source.rsplit_once('\n').map_or(source, |(title, _underline)| title).trim_end()
        };
        self.headings.push(Heading {
            level: level as u8,
            text: written.to_owned(),
            span: start..start + source.len(),
            line: one_based(at.0),
        });
    }

    /// The owner of each line. A later change of the same line wins: it is the inner one.
    fn owners(&self, count: usize) -> Vec<Option<usize>> {
        let mut owners = vec![None; count];
        let mut changes = self.changes.iter().peekable();
        let mut current = None;
        for (line, owner) in owners.iter_mut().enumerate() {
            while let Some((_, to)) = changes.next_if(|(at, _)| *at <= line) {
                current = *to;
            }
            *owner = current;
        }
        owners
    }
}

/// Finds `%%` comments and `$$` math that begin a line outside code. One that is never closed is
/// ordinary text, so that a stray mark can't swallow the note.
fn regions(lines: &Lines<'_>, first: usize, code: &[bool]) -> Vec<Region> {
    let mut found = Vec::new();
    let last_with = |mark: &str| (first..lines.count()).rev().find(|line| lines.text(*line).contains(mark));
    let (last_comment, last_math) = (last_with("%%"), last_with("$$"));
    let mut line = first;
    while line < lines.count() {
        // A byte-order mark stands before the first line, and is no part of it.
        let text = lines.text(line).trim_start_matches('\u{FEFF}').trim();
        let (mark, kind, last) = match text.get(..2) {
            Some("%%") => ("%%", BlockKind::Comment, last_comment),
            Some("$$") => ("$$", BlockKind::Math, last_math),
            _ => ("", BlockKind::Paragraph, None),
        };
        let rest = text.get(2..).unwrap_or("");
        let end = match last {
            None => None,
            Some(_) if is_set(code, line) => None,
            Some(_) if rest.contains(mark) => (rest.find(mark) == Some(rest.len() - 2)).then_some(line),
            Some(last) => (line + 1..=last).find(|at| lines.text(*at).contains(mark)),
        };
        if let Some(end) = end {
            found.push(Region { kind, lines: (line, end) });
            line = end;
        }
        line += 1;
    }
    found
}

fn is_blank(lines: &Lines<'_>, line: usize) -> bool {
    lines.text(line).trim().is_empty()
}

fn segments(lines: &Lines<'_>, first: usize, walk: &Walk) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut open = false;
    for line in first..lines.count() {
        if is_set(&walk.opaque, line) || is_blank(lines, line) {
            open = false;
            continue;
        }
        let span = lines.span(line);
        match segments.last_mut() {
            Some(last) if open && !is_set(&walk.fresh, line) => last.span.end = span.end,
            _ => segments.push(Segment { span, table: is_set(&walk.table, line) }),
        }
        open = true;
    }
    segments
}

fn blocks(lines: &Lines<'_>, first: usize, walk: &Walk, owners: &[Option<usize>]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    // The owner of the block that may still grow; `Some(None)` is text that nothing claims.
    let mut open: Option<Option<usize>> = None;
    let mut headings = 0_u32;
    for line in first..lines.count() {
        if is_set(&walk.heading, line) {
            open = None;
            while walk.headings.get(headings as usize).is_some_and(|h| h.line <= one_based(line)) {
                headings += 1;
            }
            continue;
        }
        if is_blank(lines, line) {
            if open == Some(None) {
                open = None;
            }
            continue;
        }
        let owner = owners.get(line).copied().flatten();
        let span = lines.span(line);
        match blocks.last_mut() {
            Some(last) if open == Some(owner) => {
                last.span.end = span.end;
                last.lines.1 = one_based(line);
            }
            _ => {
                let (kind, depth) = owner.and_then(|o| walk.kinds.get(o)).copied().unwrap_or((BlockKind::Paragraph, 0));
                let number = one_based(line);
                let heading = headings.checked_sub(1);
                blocks.push(Block { kind, span, lines: (number, number), heading, id: None, depth });
                open = Some(owner);
            }
        }
    }
    blocks
}
