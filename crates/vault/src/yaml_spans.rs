//! Where the properties of a YAML block stand in the source.

use std::ops::Range;

use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, StructureStyle};

use crate::quoting::Quoting;

/// One top-level property.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The key, unquoted.
    pub(crate) key: String,
    /// The key's bytes, quotes included.
    pub(crate) key_span: Range<usize>,
    /// From the value's first byte to its last; `None` for an empty value.
    pub(crate) value_span: Option<Range<usize>>,
    /// The scalars of the value that may hold a link.
    pub(crate) scalars: Vec<Scalar>,
}

/// A text inside a property.
#[derive(Debug)]
pub(crate) struct Scalar {
    /// `name` or `name.0`.
    pub(crate) path: String,
    /// The text that it stands for.
    pub(crate) value: String,
    /// Its bytes, quotes included; without the `|` or `>` of a block.
    pub(crate) span: Range<usize>,
    pub(crate) quoting: Quoting,
}

/// What [`of`] finds.
#[derive(Default)]
pub(crate) struct Spans {
    /// The properties in order.
    pub(crate) entries: Vec<Entry>,
    /// Whether they are one `{ … }`.
    pub(crate) flow: bool,
}

enum Frame {
    Map { key: Option<String>, is_key: bool },
    List { index: usize, is_key: bool },
}

/// Walks the events of `yaml`, which begins at byte `base` of the text and is known to be a
/// mapping. Stops at the first thing that can't be read.
pub(crate) fn of(yaml: &str, base: usize) -> Spans {
    let mut spans = Spans::default();
    let mut stack: Vec<Frame> = Vec::new();
    let mut parser = Parser::new_from_str(yaml);
    while let Some(Ok((event, at))) = parser.next_event() {
        let range = at.byte_range().unwrap_or(0..0);
        match event {
            Event::Scalar(value, style, ..) => {
                let source = yaml.get(range.clone()).unwrap_or("");
                let range = range.start..range.start + source.trim_end().len();
                let span = base + range.start..base + range.end;
                if let Some(Frame::Map { key: key @ None, .. }) = stack.last_mut() {
                    *key = Some(value.to_string());
                    if stack.len() == 1 {
                        let key = value.into_owned();
                        spans.entries.push(Entry { key, key_span: span, value_span: None, scalars: Vec::new() });
                    }
                    continue;
                }
                if !range.is_empty() {
                    spans.grow(&span);
                }
                let may_link = value.contains("[[") || value.contains("](");
                if let (true, Some(path), Some(entry)) = (may_link, path(&stack), spans.entries.last_mut()) {
                    entry.scalars.push(Scalar { path, value: value.into_owned(), span, quoting: quoting(style) });
                }
                done(&mut stack);
            }
            Event::Alias(_) => {
                spans.grow(&(base + range.start..base + range.end));
                done(&mut stack);
            }
            Event::MappingStart(style, ..) => {
                spans.flow |= stack.is_empty() && style == StructureStyle::Flow;
                spans.open(&stack, style, base, &range);
                let is_key = matches!(stack.last(), Some(Frame::Map { key: None, .. }));
                stack.push(Frame::Map { key: None, is_key });
            }
            Event::SequenceStart(style, ..) => {
                spans.open(&stack, style, base, &range);
                let is_key = matches!(stack.last(), Some(Frame::Map { key: None, .. }));
                stack.push(Frame::List { index: 0, is_key });
            }
            Event::MappingEnd | Event::SequenceEnd => {
                let closer = yaml.get(range.clone()).unwrap_or("");
                if stack.len() > 1 && (closer == "]" || closer == "}") {
                    spans.grow(&(base + range.start..base + range.end));
                }
                match stack.pop() {
                    Some(Frame::Map { is_key: true, .. } | Frame::List { is_key: true, .. }) => {
                        if let Some(Frame::Map { key, .. }) = stack.last_mut() {
                            *key = Some(String::new());
                        }
                    }
                    _ => done(&mut stack),
                }
            }
            Event::StreamEnd => break,
            _ => {}
        }
    }
    spans
}

impl Spans {
    /// Counts `span` to the value of the last property.
    fn grow(&mut self, span: &Range<usize>) {
        let Some(entry) = self.entries.last_mut() else {
            return;
        };
        let value = entry.value_span.get_or_insert(span.clone());
        value.start = value.start.min(span.start);
        value.end = value.end.max(span.end);
    }

    /// A collection begins; only a flow one has a bracket of its own.
    fn open(&mut self, stack: &[Frame], style: StructureStyle, base: usize, range: &Range<usize>) {
        if !stack.is_empty() && style == StructureStyle::Flow {
            self.grow(&(base + range.start..base + range.end));
        }
    }
}

/// The node on top is complete.
fn done(stack: &mut [Frame]) {
    match stack.last_mut() {
        Some(Frame::Map { key, .. }) => *key = None,
        Some(Frame::List { index, .. }) => *index += 1,
        None => {}
    }
}

fn quoting(style: ScalarStyle) -> Quoting {
    match style {
        ScalarStyle::SingleQuoted => Quoting::YamlSingle,
        ScalarStyle::DoubleQuoted => Quoting::YamlDouble,
        ScalarStyle::Literal | ScalarStyle::Folded => Quoting::YamlBlock,
        _ => Quoting::YamlPlain,
    }
}

/// How deep a string may lie, and how long its key may be in bytes, to be read for links: each link
/// carries its key.
const MAX_DEPTH: usize = 16;
const MAX_KEY: usize = 1024;

/// The key of the value that is being read: `name` or `name.0`.
fn path(stack: &[Frame]) -> Option<String> {
    if stack.len() > MAX_DEPTH {
        return None;
    }
    let mut path = String::new();
    for (level, frame) in stack.iter().enumerate() {
        if level > 0 {
            path.push('.');
        }
        match frame {
            Frame::Map { key, .. } => path.push_str(key.as_deref().filter(|key| key.len() <= MAX_KEY)?),
            Frame::List { index, .. } => path.push_str(&index.to_string()),
        }
    }
    (path.len() <= MAX_KEY).then_some(path)
}
