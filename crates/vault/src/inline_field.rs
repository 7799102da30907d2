//! Dataview inline fields: `key:: value`, `[key:: value]`, `(key:: value)`.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::block_id;
use crate::lines::Lines;
use crate::link::Link;

/// One inline field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InlineField {
    /// The key without formatting, as written.
    pub key: String,
    /// The value, trimmed.
    pub value: String,
    /// The whole field in the source.
    pub span: Range<usize>,
    /// The value's bytes in the source, trimmed.
    pub value_span: Range<usize>,
    /// 1-based line in the file.
    pub line: u32,
}

impl InlineField {
    /// The key under which Dataview finds the field too: in lower case, blanks as one dash, other
    /// marks left out; `Part of!` is `part-of`.
    #[must_use]
    pub fn lookup_key(&self) -> String {
        let words = self.key.split_whitespace().collect::<Vec<_>>().join("-");
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '-') || !c.is_ascii();
        words.chars().filter(kept).flat_map(char::to_lowercase).collect()
    }
}

/// How long a key may be, in bytes.
const MAX_KEY: usize = 120;

/// The field between the bracket at `open` and its partner at `close`, when there is one; both are
/// on one line. The work is bounded by the longest key.
pub(crate) fn bracketed(
    source: &str,
    open: usize,
    close: usize,
    base: usize,
    lines: &Lines<'_>,
) -> Option<InlineField> {
    let (_, colons, key) = key_at(source, open + 1, close, true)?;
    let value = source.get(colons + 2..close)?;
    Some(field(key, open..close + 1, colons + 2, value, base, lines))
}

/// The whole-line fields of `source`, which begins at byte `base` of the text. Linear.
pub(crate) fn whole_lines(
    source: &str,
    base: usize,
    lines: &Lines<'_>,
    opaque: &[Range<usize>],
    fields: &mut Vec<InlineField>,
) {
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        let begin = at;
        at += line.len();
        let content = line.trim_end();
        let text = begin + marker_len(content);
        let Some((start, colons, key)) = key_at(source, text, begin + content.len(), false) else {
            continue;
        };
        let hidden = opaque.get(opaque.partition_point(|o| o.end <= start));
        if hidden.is_some_and(|o| o.start < colons + 2) {
            continue;
        }
        let content = block_id::trailing(content).map_or(content, |(end, _)| content.get(..end).unwrap_or(content));
        let Some(value) = source.get(colons + 2..begin + content.len()) else {
            continue;
        };
        fields.push(field(key, start..begin + content.len(), colons + 2, value, base, lines));
    }
}

/// Gives the links inside a field's value the field's key as predicate. `fields` and `links` are
/// sorted by their start; a bracketed field inside a whole-line one wins.
pub(crate) fn set_predicates(fields: &[InlineField], links: &mut [Link]) {
    let mut open: Vec<&InlineField> = Vec::new();
    let mut coming = fields.iter().peekable();
    for link in links {
        while let Some(field) = coming.next_if(|f| f.value_span.start <= link.span.start) {
            open.push(field);
        }
        while open.pop_if(|f| f.value_span.end < link.span.end).is_some() {}
        if let Some(field) = open.last() {
            link.predicate = Some(field.key.to_lowercase());
        }
    }
}

fn field(
    key: &str,
    span: Range<usize>,
    value_start: usize,
    value: &str,
    base: usize,
    lines: &Lines<'_>,
) -> InlineField {
    let trimmed = value.trim();
    let start = base + value_start + (value.len() - value.trim_start().len());
    let value_span =
        if trimmed.is_empty() { base + value_start..base + value_start } else { start..start + trimmed.len() };
    InlineField {
        key: key.to_owned(),
        value: trimmed.to_owned(),
        value_span,
        line: lines.number(base + span.start),
        span: base + span.start..base + span.end,
    }
}

/// The key that stands in `source[from..to]` before the first `::`: where it starts, where the
/// colons are, and the key without formatting. Emoji need brackets.
fn key_at(source: &str, from: usize, to: usize, in_brackets: bool) -> Option<(usize, usize, &str)> {
    let text = source.get(from..to)?;
    let colons = text.as_bytes().windows(2).take(MAX_KEY).position(|pair| pair == b"::")?;
    let written = text.get(..colons)?;
    let key = written.trim().trim_matches(['*', '_', '~', '=']).trim();
    let legal = |c: char| {
        c.is_alphanumeric()
            || matches!(c, ' ' | '_' | '-' | '/')
            || (in_brackets && !c.is_ascii() && !c.is_whitespace() && !c.is_control())
    };
    let after = text.get(colons + 2..)?.chars().next();
    // `std::fs` and `a:::b` are not fields; neither is a line that begins with a bare `::`.
    let path_like = after.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') && !written.contains(' ');
    let named = key.chars().any(|c| c.is_alphanumeric() || (in_brackets && !c.is_ascii()));
    if !named || after == Some(':') || (path_like && !in_brackets) || !key.chars().all(legal) {
        return None;
    }
    Some((from + (written.len() - written.trim_start().len()), from + colons, key))
}

/// The blanks, quote marks, list markers and task box before a line's own text.
fn marker_len(line: &str) -> usize {
    let mut rest = line;
    loop {
        let before = rest.len();
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('>') {
            rest = after;
        }
        if let Some(after) = rest.strip_prefix(['-', '*', '+']).filter(|r| r.starts_with([' ', '\t'])) {
            rest = after;
        }
        let digits = rest.bytes().take(9).take_while(u8::is_ascii_digit).count();
        let numbered = rest.get(digits..).and_then(|r| r.strip_prefix(['.', ')']));
        if let Some(after) = numbered.filter(|r| digits > 0 && r.starts_with([' ', '\t'])) {
            rest = after;
        }
        let mut boxed = rest.chars();
        if let (Some('['), Some(_), Some(']'), Some(' ')) = (boxed.next(), boxed.next(), boxed.next(), boxed.next()) {
            rest = rest.get(1..).and_then(|r| r.split_once(']')).map_or(rest, |(_, r)| r);
        }
        if rest.len() == before {
            return line.len() - rest.len();
        }
    }
}
