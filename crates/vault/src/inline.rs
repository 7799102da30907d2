//! Inline syntax: code spans, comments, math, links, tags and bracketed fields of one run of lines.
//!
//! Written by hand on bytes, and linear: every search that can fail is answered from positions
//! that one first pass collected. pulldown-cmark's own wikilinks are not used: they panic on some
//! input and their ranges are not the source's.

use std::collections::HashMap;
use std::ops::Range;

use crate::inline_field::{self, InlineField};
use crate::lines::Lines;
use crate::link::{Link, LinkKind};
use crate::tag;
use crate::wikilink::{self, Parts};

/// Everything inline that was found so far, with spans into the whole text.
#[derive(Default)]
pub(crate) struct Inline {
    /// Links in order.
    pub(crate) links: Vec<Link>,
    /// Fields, bracketed ones before whole-line ones.
    pub(crate) fields: Vec<InlineField>,
    /// Tags without `#`.
    pub(crate) tags: Vec<String>,
}

/// Reads `text[segment]`. Linear in its length.
pub(crate) fn scan(text: &str, segment: &Range<usize>, lines: &Lines<'_>, found: &mut Inline) {
    let Some(source) = text.get(segment.clone()) else {
        return;
    };
    let marks = Marks::of(source);
    let from = found.links.len();
    Scan { source, base: segment.start, lines, marks: &marks, found }.run();
    inline_field::whole_lines(source, segment.start, lines, &marks.opaque, &mut found.fields);
    drop_outer(&mut found.links, from);
}

/// A Markdown link can't hold another one: of nested ones the innermost counts.
fn drop_outer(links: &mut Vec<Link>, from: usize) {
    let mut inner = usize::MAX;
    let mut outer = Vec::new();
    for (index, link) in links.iter().enumerate().skip(from).rev() {
        if link.kind == LinkKind::Markdown {
            if inner < link.span.end {
                outer.push(index);
            }
            inner = link.span.start;
        }
    }
    if !outer.is_empty() {
        let mut index = 0;
        links.retain(|_| {
            index += 1;
            outer.pop_if(|drop| *drop == index - 1).is_none()
        });
    }
}

/// Positions that the first pass collects, all in order.
#[derive(Default)]
pub(crate) struct Marks {
    /// Code spans and HTML comments.
    opaque: Vec<Range<usize>>,
    opens: Vec<usize>,
    closes: Vec<usize>,
    line_ends: Vec<usize>,
    /// `$` that may end inline math, and `$$`.
    math: Vec<usize>,
    display_math: Vec<usize>,
    /// The partner of each `[` and `(`.
    partner: HashMap<usize, usize>,
}

fn next_from(positions: &[usize], at: usize) -> Option<usize> {
    positions.get(positions.partition_point(|p| *p < at)).copied()
}

/// Whether the backslash at `i` escapes the byte after it.
fn escapes(bytes: &[u8], i: usize) -> bool {
    bytes.get(i) == Some(&b'\\') && bytes.get(i + 1).is_some_and(u8::is_ascii_punctuation)
}

impl Marks {
    fn of(source: &str) -> Self {
        let bytes = source.as_bytes();
        let at = |i: usize| bytes.get(i).copied().unwrap_or(b'\n');
        let line_ends = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at).collect();
        let mut marks = Self { line_ends, ..Self::default() };
        let runs = backtick_runs(bytes);
        let mut comments_left = true;
        let (mut squares, mut rounds) = (Vec::new(), Vec::new());
        let mut i = 0;
        while i < bytes.len() {
            match at(i) {
                b'\\' if escapes(bytes, i) => {
                    // An escaped bracket still closes a wikilink that a doubled one would.
                    if at(i + 1) == b']' && at(i + 2) == b']' {
                        marks.closes.push(i + 1);
                    }
                    i += 2;
                    continue;
                }
                b'`' => {
                    let len = bytes.iter().skip(i).take_while(|b| **b == b'`').count();
                    let close = runs.get(&len).and_then(|starts| next_from(starts, i + len));
                    i += len;
                    if let Some(close) = close {
                        marks.opaque.push(i - len..close + len);
                        i = close + len;
                    }
                    continue;
                }
                b'<' if comments_left && source.get(i..).is_some_and(|s| s.starts_with("<!--")) => {
                    match source.get(i + 4..).and_then(|s| s.find("-->")) {
                        Some(len) => {
                            marks.opaque.push(i..i + 4 + len + 3);
                            i += 4 + len + 3;
                            continue;
                        }
                        None => comments_left = false,
                    }
                }
                b'[' => {
                    if at(i + 1) == b'[' {
                        marks.opens.push(i);
                    }
                    squares.push(i);
                }
                b']' => {
                    if at(i + 1) == b']' {
                        marks.closes.push(i);
                    }
                    if let Some(open) = squares.pop() {
                        marks.partner.insert(open, i);
                    }
                }
                b'(' => rounds.push(i),
                b')' => {
                    if let Some(open) = rounds.pop() {
                        marks.partner.insert(open, i);
                    }
                }
                b'$' if at(i + 1) == b'$' => {
                    marks.display_math.push(i);
                    i += 1;
                }
                b'$' => {
                    let tight = i > 0 && !at(i - 1).is_ascii_whitespace();
                    if tight && !at(i + 1).is_ascii_digit() {
                        marks.math.push(i);
                    }
                }
                _ => {}
            }
            i += 1;
        }
        marks
    }
}

/// The starts of backtick runs by their length.
fn backtick_runs(bytes: &[u8]) -> HashMap<usize, Vec<usize>> {
    let mut runs: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut i = 0;
    while let Some(skip) = bytes.get(i..).and_then(|rest| rest.iter().position(|b| *b == b'`')) {
        i += skip;
        let len = bytes.iter().skip(i).take_while(|b| **b == b'`').count();
        runs.entry(len).or_default().push(i);
        i += len;
    }
    runs
}

/// The second pass.
struct Scan<'a> {
    source: &'a str,
    base: usize,
    lines: &'a Lines<'a>,
    marks: &'a Marks,
    found: &'a mut Inline,
}

impl Scan<'_> {
    fn at(&self, i: usize) -> u8 {
        self.source.as_bytes().get(i).copied().unwrap_or(b'\n')
    }

    fn run(mut self) {
        let bytes = self.source.as_bytes();
        let mut opaque = self.marks.opaque.iter().peekable();
        // Ends of link texts that are being read, with the place behind the whole link.
        let mut texts: Vec<(usize, usize)> = Vec::new();
        let mut field_end = 0;
        let mut i = 0;
        while i < bytes.len() {
            while opaque.next_if(|o| o.start < i).is_some() {}
            if let Some(hidden) = opaque.next_if(|o| o.start == i) {
                i = hidden.end;
                continue;
            }
            if let Some((_, end)) = texts.pop_if(|(close, _)| *close <= i) {
                i = i.max(end);
                continue;
            }
            match self.at(i) {
                b'\\' if escapes(bytes, i) => i += 2,
                b'$' => i = self.math(i),
                b'!' | b'[' => {
                    let embed = self.at(i) == b'!';
                    let open = i + usize::from(embed);
                    if self.at(open) != b'[' || (embed && self.hidden(open)) {
                        i += 1;
                    } else if let Some(end) = self.wikilink(i, open, embed) {
                        i = end;
                    } else if let Some((close, end)) = self.markdown_link(i, open, embed) {
                        texts.push((close, end));
                        i = open + 1;
                    } else {
                        if !embed && i >= field_end {
                            field_end = self.bracketed_field(i).unwrap_or(field_end);
                        }
                        // Behind a `!` the bracket has a turn of its own.
                        i += 1;
                    }
                }
                b'(' => {
                    if i >= field_end {
                        field_end = self.bracketed_field(i).unwrap_or(field_end);
                    }
                    i += 1;
                }
                b'#' if texts.is_empty() => i = self.tag(i),
                _ => i += 1,
            }
        }
    }

    fn hidden(&self, at: usize) -> bool {
        let after = self.marks.opaque.partition_point(|o| o.end <= at);
        self.marks.opaque.get(after).is_some_and(|o| o.start <= at)
    }

    /// Where reading goes on behind the math that opens at `i`, or behind the dollar.
    fn math(&self, i: usize) -> usize {
        if self.at(i + 1) == b'$' {
            return next_from(&self.marks.display_math, i + 2).unwrap_or(i) + 2;
        }
        if self.at(i + 1).is_ascii_whitespace() {
            return i + 1;
        }
        next_from(&self.marks.math, i + 2).unwrap_or(i) + 1
    }

    /// A wikilink whose `[[` stands at `open`; the innermost opening of a line wins.
    fn wikilink(&mut self, start: usize, open: usize, embed: bool) -> Option<usize> {
        if self.at(open + 1) != b'[' {
            return None;
        }
        let close = next_from(&self.marks.closes, open + 2)?;
        let line_end = next_from(&self.marks.line_ends, open).unwrap_or(usize::MAX);
        let inner = next_from(&self.marks.opens, open + 1).unwrap_or(usize::MAX);
        if close > line_end || inner < close {
            return None;
        }
        let parts = wikilink::split(self.source.get(open + 2..close)?)?;
        let kind = if embed { LinkKind::Embed } else { LinkKind::Wiki };
        self.push(kind, start..close + 2, open + 2, parts);
        Some(close + 2)
    }

    /// A Markdown link whose text opens at `open`: the end of its text, and its end.
    fn markdown_link(&mut self, start: usize, open: usize, embed: bool) -> Option<(usize, usize)> {
        let close = *self.marks.partner.get(&open)?;
        let rest = self.source.get(close + 1..)?;
        let destination = wikilink::destination(rest)?;
        let end = close + 1 + destination.end;
        let raw = rest.get(destination.span.clone())?;
        if raw.is_empty() {
            return None;
        }
        if !wikilink::is_external(raw)
            && let Some(mut parts) = wikilink::split_destination(raw)
        {
            parts.display = self.source.get(open + 1..close).map(ToOwned::to_owned);
            let kind = if embed { LinkKind::MarkdownEmbed } else { LinkKind::Markdown };
            self.push(kind, start..end, close + 1 + destination.span.start, parts);
        }
        Some((close, end))
    }

    fn push(&mut self, kind: LinkKind, span: Range<usize>, content: usize, parts: Parts) {
        let at = self.base;
        let target = at + content + parts.target_span.start..at + content + parts.target_span.end;
        self.found.links.push(Link {
            kind,
            line: self.lines.number(at + span.start),
            span: at + span.start..at + span.end,
            target_span: target,
            target: parts.target,
            subpath: parts.subpath,
            display: parts.display,
            predicate: None,
            key: None,
        });
    }

    /// `[key:: value]` or `(key:: value)` that opens at `i`: where it ends.
    fn bracketed_field(&mut self, i: usize) -> Option<usize> {
        let close = *self.marks.partner.get(&i)?;
        let field = inline_field::bracketed(self.source, i, close, self.base, self.lines)?;
        self.found.fields.push(field);
        Some(close)
    }

    fn tag(&mut self, i: usize) -> usize {
        let before = self.source.get(..i).and_then(|s| s.chars().next_back());
        let rest = self.source.get(i + 1..).unwrap_or("");
        match tag::len(rest) {
            Some(len) if tag::may_follow(before) => {
                self.found.tags.extend(rest.get(..len).map(ToOwned::to_owned));
                i + 1 + len
            }
            // Not looked at again: the next `#` has its own turn.
            _ => i + 1,
        }
    }
}
