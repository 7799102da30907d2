//! A copy of a text in which only block structure is left, byte for byte as long as the text.
//!
//! Brackets, emphasis marks and backticks have a meaning for blocks only at the start of a line.
//! Elsewhere they are replaced by a letter, so that no run of them can cost more than its length
//! in the block parser. Nesting deeper than [`MAX_MARKERS`] on one line is read as text.

use std::ops::Range;

/// How many list and quote markers one line may open with.
const MAX_MARKERS: usize = 48;

/// The masked copy of `text`. Linear.
pub(crate) fn inline(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        let content = content.strip_suffix('\r').unwrap_or(content);
        mask_line(content, &mut masked);
        masked.push_str(line.get(content.len()..).unwrap_or(""));
    }
    masked
}

/// Replaces `range` of `text` by blanks.
pub(crate) fn blank(text: &mut String, range: Range<usize>) {
    if text.get(range.clone()).is_some() {
        let blanks = " ".repeat(range.len());
        text.replace_range(range, &blanks);
    }
}

fn mask_line(line: &str, masked: &mut String) {
    let prefix = prefix_len(line);
    let (head, rest) = line.split_at_checked(prefix.len).unwrap_or((line, ""));
    masked.push_str(&head.replace('\r', " "));
    if prefix.too_deep {
        masked.extend(rest.chars().flat_map(|c| std::iter::repeat_n('x', c.len_utf8())));
        return;
    }
    if is_rule(rest) {
        masked.push_str(rest);
        return;
    }
    let kept = footnote_label(rest).unwrap_or(0);
    let (label, rest) = rest.split_at_checked(kept).unwrap_or(("", rest));
    masked.push_str(label);
    let fence = rest.starts_with("```");
    let is_mark = |c: char| matches!(c, '[' | ']' | '*' | '_' | '`' | '\r');
    let mut rest = rest;
    while let Some(at) = rest.find(is_mark) {
        let (clean, marked) = rest.split_at_checked(at).unwrap_or((rest, ""));
        masked.push_str(clean);
        let mut after = marked.chars();
        masked.push(match after.next() {
            Some('`') if fence => '`',
            Some('\r') => ' ',
            _ => 'x',
        });
        rest = after.as_str();
    }
    masked.push_str(rest);
}

struct Prefix {
    len: usize,
    too_deep: bool,
}

/// The blanks, quote marks and list markers that `line` begins with.
fn prefix_len(line: &str) -> Prefix {
    let bytes = line.as_bytes();
    let at = |i: usize| bytes.get(i).copied().unwrap_or(b' ');
    let (mut i, mut markers) = (0, 0);
    while i < bytes.len() {
        let marker = match at(i) {
            b' ' | b'\t' => {
                i += 1;
                continue;
            }
            b'>' => 1,
            b'-' | b'+' | b'*' if matches!(at(i + 1), b' ' | b'\t') => 1,
            b'0'..=b'9' => {
                let digits = bytes.iter().skip(i).take(9).take_while(|b| b.is_ascii_digit()).count();
                let ends = matches!(at(i + digits), b'.' | b')') && matches!(at(i + digits + 1), b' ' | b'\t');
                if ends { digits + 1 } else { 0 }
            }
            _ => 0,
        };
        if marker == 0 {
            break;
        }
        if markers == MAX_MARKERS {
            return Prefix { len: i, too_deep: true };
        }
        markers += 1;
        i += marker;
    }
    Prefix { len: i.min(line.len()), too_deep: false }
}

/// `***`, `_ _ _` and the like.
fn is_rule(rest: &str) -> bool {
    let Some(mark @ (b'*' | b'_' | b'-')) = rest.bytes().next() else {
        return false;
    };
    rest.bytes().all(|b| b == mark || b == b' ' || b == b'\t') && rest.bytes().filter(|b| *b == mark).count() >= 3
}

/// The length of `[^label]:` at the start of `rest`.
fn footnote_label(rest: &str) -> Option<usize> {
    let label = rest.strip_prefix("[^")?;
    let end = label.bytes().take(100).position(|b| matches!(b, b']' | b'[' | b' ' | b'\t'))?;
    (end > 0 && label.get(end..)?.starts_with("]:")).then_some(end + 4)
}
