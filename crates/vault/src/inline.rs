//! Inline syntax: code spans, comments, math, links, tags and bracketed fields of one run of lines.
//!
//! Written by hand on bytes, and linear: every search that can fail is answered from positions
//! that one first pass collected. pulldown-cmark's own wikilinks are not used: they panic on some
//! input and their ranges are not the source's.

use std::ops::Range;

use crate::inline_field::{self, InlineField};
use crate::lines::Lines;
use crate::link::{Link, LinkKind};
use crate::marks::{Marks, escapes, next_from, next_marked};
use crate::quoting::Quoting;
use crate::structure::Segment;
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

impl Inline {
    /// Puts the fields in order and gives the links in them their predicate. Called once, when all
    /// segments are read.
    pub(crate) fn finish(&mut self) {
        self.fields.sort_by_key(|f| (f.span.start, std::cmp::Reverse(f.span.end)));
        inline_field::set_predicates(&self.fields, &mut self.links);
    }
}

/// Reads one segment of `text`. Linear in its length.
pub(crate) fn scan(text: &str, segment: &Segment, lines: &Lines<'_>, found: &mut Inline) {
    let Some(source) = text.get(segment.span.clone()) else {
        return;
    };
    // Without one of these there is neither link nor tag nor field.
    if !source.bytes().any(|byte| matches!(byte, b'[' | b'#' | b':')) {
        return;
    }
    let base = segment.span.start;
    let marks = Marks::of(source, segment.table);
    let from = found.links.len();
    let mut scan = Scan { source, base, lines, marks: &marks, found, shown: Vec::new() };
    scan.run();
    let shown = scan.shown;
    settle(source, &mut found.links, from, &shown);
    inline_field::whole_lines(source, base, lines, &marks.opaque, &mut found.fields);
}

/// A Markdown link can't hold another one: of nested ones the innermost counts. The others get
/// their shown text; `shown` has it for each Markdown link and image from `from` on, in order.
fn settle(source: &str, links: &mut Vec<Link>, from: usize, shown: &[Range<usize>]) {
    let mut inner = usize::MAX;
    let mut outer = Vec::new();
    let mut shown = shown.iter().rev();
    for (index, link) in links.iter_mut().enumerate().skip(from).rev() {
        let text = match link.kind {
            LinkKind::Markdown | LinkKind::MarkdownEmbed => shown.next(),
            _ => continue,
        };
        if link.kind == LinkKind::Markdown {
            let holds_one = inner < link.span.end;
            inner = link.span.start;
            if holds_one {
                outer.push(index);
                continue;
            }
        }
        link.display = text.and_then(|text| source.get(text.clone())).map(ToOwned::to_owned);
    }
    if !outer.is_empty() {
        let mut index = 0;
        links.retain(|_| {
            index += 1;
            outer.pop_if(|drop| *drop == index - 1).is_none()
        });
    }
}

/// How deep in other links' texts an image may stand. It bounds what shown texts are copied.
const MAX_NESTED: usize = 8;

/// The second pass.
struct Scan<'a> {
    source: &'a str,
    base: usize,
    lines: &'a Lines<'a>,
    marks: &'a Marks,
    found: &'a mut Inline,
    /// The shown texts of Markdown links and images in the order of the links.
    shown: Vec<Range<usize>>,
}

impl Scan<'_> {
    fn at(&self, i: usize) -> u8 {
        self.source.as_bytes().get(i).copied().unwrap_or(b'\n')
    }

    fn run(&mut self) {
        let bytes = self.source.as_bytes();
        let mut opaque = self.marks.opaque.iter().peekable();
        // Ends of link texts that are being read, with the place behind the whole link.
        let mut texts: Vec<(usize, usize)> = Vec::new();
        let mut field_end = 0;
        let mut i = 0;
        while i < bytes.len() {
            let hidden = opaque.peek().map_or(usize::MAX, |hidden| hidden.start);
            let text_end = texts.last().map_or(usize::MAX, |(close, _)| *close);
            i = next_marked(bytes, i, hidden.min(text_end));
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
                    if self.at(open) != b'[' || (embed && self.marks.hides(open)) {
                        i += 1;
                    } else if let Some(end) = self.wikilink(i, open, embed) {
                        i = end;
                    } else if (!embed || texts.len() < MAX_NESTED)
                        && let Some((close, end)) = self.markdown_link(i, open, embed)
                    {
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

    /// Where reading goes on behind the math that opens at `i`, or behind the dollar.
    fn math(&self, i: usize) -> usize {
        if self.at(i + 1) == b'$' {
            return self.marks.display_math_end(i + 2).unwrap_or(i) + 2;
        }
        if self.at(i + 1).is_ascii_whitespace() {
            return i + 1;
        }
        self.marks.math_end(i + 2).unwrap_or(i) + 1
    }

    /// A wikilink whose `[[` stands at `open`; the innermost opening of a line wins.
    fn wikilink(&mut self, start: usize, open: usize, embed: bool) -> Option<usize> {
        if self.at(open + 1) != b'[' {
            return None;
        }
        let close = next_from(&self.marks.closes, open + 2)?;
        let inner = next_from(&self.marks.opens, open + 1).unwrap_or(usize::MAX);
        if close > self.marks.line_end(open) || inner < close {
            return None;
        }
        let parts = wikilink::split(self.source.get(open + 2..close)?)?;
        let kind = if embed { LinkKind::Embed } else { LinkKind::Wiki };
        self.push(kind, start..close + 2, open + 2, parts);
        Some(close + 2)
    }

    /// A Markdown link whose text opens at `open`: the end of its text, and its end.
    fn markdown_link(&mut self, start: usize, open: usize, embed: bool) -> Option<(usize, usize)> {
        let close = self.marks.partner(open)?;
        let rest = self.source.get(close + 1..)?;
        let destination = wikilink::destination(rest)?;
        let end = close + 1 + destination.end;
        let raw = rest.get(destination.span.clone())?;
        if raw.is_empty() {
            return None;
        }
        if !wikilink::is_external(raw)
            && let Some(parts) = wikilink::split_destination(raw)
        {
            self.shown.push(open + 1..close);
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
            quoting: Quoting::None,
        });
    }

    /// `[key:: value]` or `(key:: value)` that opens at `i`: where it ends.
    fn bracketed_field(&mut self, i: usize) -> Option<usize> {
        let close = self.marks.partner(i).filter(|close| *close < self.marks.line_end(i))?;
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
