//! The YAML that most notes have, read in one pass: lines of `key: value` whose values mean the same
//! to every reader of YAML. What is not plainly so is left to the YAML library.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::quoting::Quoting;
use crate::yaml_spans::{Entry, Scalar, Spans};

/// Reads `yaml`, which begins at byte `base` of the text, when every line of it is one of
///
/// - `key: some words`, `key: 2026-11-30`, `key: "some text"` without a backslash, `key: [a, b c]`
/// - `key:` and below it `- some words` or `- "some text"`
///
/// with each key once. `None` says nothing about the text but that it must be read with more care.
/// Linear.
pub(crate) fn read(yaml: &str, base: usize) -> Option<(Map<String, Value>, Spans)> {
    let mut properties = Map::new();
    let mut spans = Spans::default();
    let mut lines = Lines { yaml, at: 0 }.peekable();
    while let Some((start, line)) = lines.next() {
        let colon = line.find(':')?;
        let key = line.get(..colon).filter(|key| is_key(key))?;
        let rest = line.get(colon + 1..)?;
        let value_start = start + colon + 1 + (rest.len() - rest.trim_start_matches(' ').len());
        let mut entry = Entry {
            key: key.to_owned(),
            key_span: base + start..base + start + key.len(),
            value_span: None,
            scalars: Vec::new(),
        };
        let written = rest.trim_matches(' ');
        let value = if written.is_empty() {
            list(&mut lines, base, &mut entry)?
        } else {
            if !rest.starts_with(' ') {
                return None;
            }
            entry.value_span = Some(base + value_start..base + value_start + written.len());
            match flow(written) {
                Some(list) => list?,
                None => scalar(written, base + value_start, || key.to_owned(), &mut entry)?,
            }
        };
        if properties.insert(key.to_owned(), value).is_some() {
            return None;
        }
        spans.entries.push(entry);
    }
    Some((properties, spans))
}

/// Lines with their start, without their end.
struct Lines<'a> {
    yaml: &'a str,
    at: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.yaml.get(self.at..).filter(|rest| !rest.is_empty())?;
        let start = self.at;
        let line = rest.split_inclusive('\n').next()?;
        self.at += line.len();
        let line = line.strip_suffix('\n').unwrap_or(line);
        Some((start, line.strip_suffix('\r').unwrap_or(line)))
    }
}

fn is_key(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        && !is_reserved(key)
}

/// A list in lines of their own, at least one.
fn list<'a>(lines: &mut std::iter::Peekable<Lines<'a>>, base: usize, entry: &mut Entry) -> Option<Value> {
    let mut items = Vec::new();
    let mut depth = None;
    let item = |line: &'a str| {
        let text = line.trim_start_matches(' ');
        text.strip_prefix("- ").map(|rest| (line.len() - text.len(), rest.trim_matches(' ')))
    };
    while let Some((start, line)) = lines.next_if(|(_, line)| line.starts_with([' ', '-'])) {
        let (indent, written) = item(line)?;
        if *depth.get_or_insert(indent) != indent {
            return None;
        }
        let at = base + start + line.find(written)?;
        let path = || format!("{}.{}", entry.key, items.len());
        let (path, mut found) = (path(), Vec::new());
        std::mem::swap(&mut found, &mut entry.scalars);
        let mut holder = Entry { key: String::new(), key_span: 0..0, value_span: None, scalars: found };
        items.push(scalar(written, at, || path, &mut holder)?);
        entry.scalars = holder.scalars;
        let span = entry.value_span.get_or_insert(at..at);
        span.end = at + written.len();
    }
    (!items.is_empty()).then(|| items.into())
}

/// `[a, b]`; `None` when it does not begin as one, `Some(None)` when it is a more difficult one.
#[expect(clippy::option_option, reason = "no list, a list that is left to others, a list")]
fn flow(written: &str) -> Option<Option<Value>> {
    let inside = written.strip_prefix('[')?;
    let Some(inside) = inside.strip_suffix(']') else {
        return Some(None);
    };
    if inside.trim_matches(' ').is_empty() {
        return Some(Some(Value::Array(Vec::new())));
    }
    let mut items = Vec::new();
    for item in inside.split(',') {
        let item = item.trim_matches(' ');
        if !is_words(item) || item.contains(',') {
            return Some(None);
        }
        items.push(Value::from(item));
    }
    Some(Some(items.into()))
}

fn scalar(written: &str, at: usize, path: impl FnOnce() -> String, entry: &mut Entry) -> Option<Value> {
    if let Some(rest) = written.strip_prefix('"') {
        let text = rest.strip_suffix('"')?;
        if text.contains(['"', '\\', '\t']) || text.chars().any(char::is_control) {
            return None;
        }
        if text.contains("[[") || text.contains("](") {
            let span: Range<usize> = at..at + written.len();
            let quoting = Quoting::YamlDouble;
            entry.scalars.push(Scalar { path: path(), value: text.to_owned(), span, quoting });
        }
        return Some(text.into());
    }
    (is_words(written) || is_date(written)).then(|| written.into())
}

/// Words that no reader takes for anything but text.
fn is_words(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '/' | ',' | '\'');
    text.starts_with(char::is_alphabetic)
        && text.chars().all(plain)
        && !text.chars().any(|c| matches!(c, '\u{2028}' | '\u{2029}' | '\u{85}' | '\u{FEFF}'))
        && !is_reserved(text)
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// What some reader of YAML takes for a boolean, nothing or a number.
fn is_reserved(text: &str) -> bool {
    const WORDS: [&str; 12] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity"];
    text.len() <= 8 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::frontmatter::careful;
    use crate::yaml_spans;

    /// Where the quick reader answers, the careful one gives the same answer.
    fn check(yaml: &str) -> bool {
        let Some((properties, spans)) = read(yaml, 4) else {
            return false;
        };
        assert_eq!(careful(yaml).ok(), Some(Value::Object(properties)), "{yaml:?}");
        let slow = yaml_spans::of(yaml, 4);
        assert_eq!(format!("{:?}", spans.entries), format!("{:?}", slow.entries), "{yaml:?}");
        assert!(!slow.flow);
        true
    }

    #[test]
    fn what_most_notes_have_is_read_quickly() {
        for yaml in [
            "name: Winter stores\ntags: [a, b c]\ndate: 2026-11-30\n",
            "aliases:\n  - 冬天\n  - \"[[B|c]]\"\nempty: []\n",
            "tags:\n- one\n- two\nrel: \"[[A]] and [x](y.md)\"\r\nlast: it's 3 of them, e.g. v1.2\r\n",
            "a:   spaced   \n",
        ] {
            assert!(check(yaml), "{yaml:?}");
        }
    }

    #[test]
    fn what_may_mean_something_else_is_left_to_the_library() {
        for yaml in [
            "a: yes\n",
            "a: 12\n",
            "a: b: c\n",
            "a: b # c\n",
            "a: 'b'\n",
            "a:\n",
            "a: |\n  b\n",
            "a: \"b\\n\"\n",
            "a: &x b\n",
            "a: *x\n",
            "a:b\n",
            "a: [b, [c]]\n",
            "a: [b\n",
            "a: x\na: y\n",
            "- a\n",
            "a: b\n  c\n",
            "a:\n  - b\n    - c\n",
            "a:\n  b: c\n",
            "? a\n",
            "\ta: b\n",
            "a: @b\n",
            "2: b\n",
            "a: {b: c}\n",
        ] {
            assert!(!check(yaml), "{yaml:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn the_quick_reader_never_differs(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "a", "key", "name", ":", ": ", "- ", "  - ", "\n", "\n", "\r\n", "[", "]", ", ", ",", " ", "#", " #",
                    "\"", "'", "x", "yes", "2026-11-30", "12", "é", "日本", ".", "/", "-", "_", "[[A]]", "a: ", "b: ", "\nc: ",
                    "\n  - ", "~", "|", ">", "%", "@", "`", "&x", "*x", "!t", "?", "{", "}", "\\", "\t", "...", "---",
                ]),
                0..24,
            ),
        ) {
            check(&(parts.concat() + "\n"));
        }
    }
}
