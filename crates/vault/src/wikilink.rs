//! What stands between `[[` and `]]`, and inside the parentheses of a Markdown link.

use std::borrow::Cow;
use std::ops::Range;

use percent_encoding::percent_decode_str;
use pulldown_cmark::{Event, Parser};

/// A link's parts, before it is known where it stands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    /// The target's bytes, relative to the content that was split.
    pub(crate) target_span: Range<usize>,
    /// The target, decoded.
    pub(crate) target: String,
    /// From `#` on, decoded; empty when there is none, or a path and nothing behind it.
    pub(crate) subpath: String,
    /// The shown text.
    pub(crate) display: Option<String>,
}

/// Splits the content of a wikilink: path, `#subpath`, `|shown`. The first bar splits; a backslash
/// right before it belongs to neither side. `None` when nothing is named.
pub(crate) fn split(content: &str) -> Option<Parts> {
    let (left, display) = match content.split_once('|') {
        Some((left, shown)) => (left.strip_suffix('\\').unwrap_or(left), Some(shown.trim().to_owned())),
        None => (content, None),
    };
    let (path, subpath) = left.find('#').and_then(|hash| left.split_at_checked(hash)).unwrap_or((left, ""));
    let target = path.trim();
    let subpath = subpath.trim_end();
    if target.is_empty() && subpath.is_empty() {
        return None;
    }
    let start = path.len() - path.trim_start().len();
    Some(Parts {
        target_span: start..start + target.len(),
        target: target.to_owned(),
        subpath: if subpath == "#" && !target.is_empty() { String::new() } else { subpath.to_owned() },
        display,
    })
}

/// Splits a Markdown destination at the first raw `#`, then decodes both sides. `None` when it is
/// empty; external destinations are for the caller to sort out with [`is_external`].
pub(crate) fn split_destination(raw: &str) -> Option<Parts> {
    let (path, fragment) = hash(raw).and_then(|hash| raw.split_at_checked(hash)).unwrap_or((raw, ""));
    if path.is_empty() && fragment.len() <= 1 {
        return None;
    }
    let fragment = if fragment.len() > 1 { decode(fragment) } else { String::new() };
    Some(Parts { target_span: 0..path.len(), target: decode(path), subpath: fragment, display: None })
}

/// Where the subpath of a Markdown destination begins: at the first `#` that is no part of a
/// character reference (`&#38;`) and is not escaped.
fn hash(raw: &str) -> Option<usize> {
    let is_subpath = |at: usize| {
        let before = raw.get(..at).unwrap_or("");
        let in_reference = before.ends_with('&') && raw.get(at - 1..).and_then(reference).is_some();
        let slashes = before.len() - before.trim_end_matches('\\').len();
        !in_reference && slashes % 2 == 0
    };
    raw.match_indices('#').map(|(at, _)| at).find(|at| is_subpath(*at))
}

/// Whether a destination has a scheme (`https:`, `mailto:`, `obsidian:`) or names a host (`//`).
pub(crate) fn is_external(destination: &str) -> bool {
    if destination.starts_with("//") {
        return true;
    }
    let Some((scheme, _)) = destination.split_once(':') else {
        return false;
    };
    (2..=32).contains(&scheme.len())
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'.' | b'-'))
}

/// Backslash escapes and character references, then percent escapes. What does not decode to UTF-8
/// stays as written.
fn decode(raw: &str) -> String {
    let unescaped: Cow<'_, str> = if raw.contains(['\\', '&']) { unescape(raw).into() } else { raw.into() };
    let decoded = percent_decode_str(&unescaped).decode_utf8().map(Cow::into_owned);
    decoded.unwrap_or_else(|_| unescaped.clone().into_owned())
}

fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(c) = rest.chars().next() {
        let behind = rest.get(c.len_utf8()..).unwrap_or("");
        let escaped = behind.chars().next().filter(|next| c == '\\' && next.is_ascii_punctuation());
        if let Some(next) = escaped {
            out.push(next);
            rest = behind.get(1..).unwrap_or("");
        } else if let Some((len, meant)) = if c == '&' { reference(rest) } else { None } {
            out.push_str(&meant);
            rest = rest.get(len..).unwrap_or("");
        } else {
            out.push(c);
            rest = behind;
        }
    }
    out
}

/// The longest name of a character reference, with `&` and `;`.
const MAX_REFERENCE: usize = 34;

/// A character reference, `&amp;` or `&#38;`, at the start of `text`: its length and what it stands
/// for. The Markdown parser knows the names.
fn reference(text: &str) -> Option<(usize, String)> {
    let name = text.bytes().skip(1).take(MAX_REFERENCE).position(|b| !b.is_ascii_alphanumeric() && b != b'#')?;
    let written = text.get(..name + 2).filter(|written| written.ends_with(';') && written.len() > 3)?;
    let read: String = Parser::new(written)
        .filter_map(|event| if let Event::Text(text) = event { Some(text.into_string()) } else { None })
        .collect();
    (read != written && !read.is_empty()).then_some((written.len(), read))
}

/// A destination and what follows it up to the closing parenthesis.
pub(crate) struct Destination {
    /// The destination without `<>`, relative to the text that was read.
    pub(crate) span: Range<usize>,
    /// Just behind the closing parenthesis.
    pub(crate) end: usize,
}

/// How deep parentheses may nest in a destination, as in CommonMark implementations. It also
/// bounds the work on a run of them.
const MAX_PARENS: usize = 32;

/// Reads `(destination "title")` at the start of `text`.
pub(crate) fn destination(text: &str) -> Option<Destination> {
    let bytes = text.as_bytes();
    let at = |i: usize| bytes.get(i).copied();
    if at(0) != Some(b'(') {
        return None;
    }
    let start = skip_blank(bytes, 1);
    let (span, mut i) = if at(start) == Some(b'<') {
        let mut i = start + 1;
        loop {
            match at(i)? {
                b'>' => break,
                b'<' | b'\n' => return None,
                b'\\' => i += 2,
                _ => i += 1,
            }
        }
        (start + 1..i, i + 1)
    } else {
        let mut depth = 0;
        let mut i = start;
        loop {
            match at(i)? {
                b'(' if depth == MAX_PARENS => return None,
                b'(' => depth += 1,
                b')' if depth == 0 => break,
                b')' => depth -= 1,
                b'\\' if at(i + 1).is_some_and(|b| b.is_ascii_punctuation()) => i += 1,
                b if b.is_ascii_whitespace() => break,
                b if b.is_ascii_control() => return None,
                _ => {}
            }
            i += 1;
        }
        if depth > 0 {
            return None;
        }
        (start..i, i)
    };
    let after = skip_blank(bytes, i);
    if let (true, Some(open @ (b'"' | b'\'' | b'('))) = (after > i, at(after)) {
        let close = if open == b'(' { b')' } else { open };
        let mut j = after + 1;
        loop {
            match at(j)? {
                b if b == close => break,
                b'(' if open == b'(' => return None,
                b'\\' => j += 2,
                _ => j += 1,
            }
        }
        i = skip_blank(bytes, j + 1);
    } else {
        i = after;
    }
    (at(i) == Some(b')') && text.get(span.clone()).is_some()).then_some(Destination { span, end: i + 1 })
}

fn skip_blank(bytes: &[u8], from: usize) -> usize {
    from + bytes.iter().skip(from).take_while(|b| b.is_ascii_whitespace()).count()
}
