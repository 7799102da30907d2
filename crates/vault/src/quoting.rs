//! Strings that stand inside another language: a link in a YAML value or in a canvas.
//!
//! Such a link is read from the string that is meant, and written into the string as it stands in
//! the file. [`Alignment`] maps one onto the other, [`Quoting::escape`] writes in the way back.

use std::ops::Range;

/// How the text of a link is written in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
pub enum Quoting {
    /// As it is: Markdown.
    #[default]
    None,
    /// A YAML string without quotes.
    YamlPlain,
    /// A YAML string in single quotes.
    YamlSingle,
    /// A YAML string in double quotes.
    YamlDouble,
    /// A YAML block, `|` or `>`.
    YamlBlock,
    /// A JSON string, in a canvas.
    Json,
}

impl Quoting {
    /// `text`, a part of a link on one line, as it is written inside such a string: what an editor
    /// of [`Link::target_span`](crate::Link::target_span) puts there. `None` where the text can't
    /// stand in a string of this kind. Linear.
    #[must_use]
    pub fn escape(self, text: &str) -> Option<String> {
        let plain = !text.chars().any(|c| c.is_control() || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}'));
        match self {
            Self::None => plain.then(|| text.to_owned()),
            Self::YamlPlain => {
                let breaks = text.contains(": ") || text.contains(" #") || text.ends_with(':') || text.starts_with('#');
                (plain && !breaks).then(|| text.to_owned())
            }
            Self::YamlSingle => plain.then(|| text.replace('\'', "''")),
            Self::YamlBlock => plain.then(|| text.to_owned()),
            Self::YamlDouble => Some(double_quoted(text)),
            Self::Json => {
                let quoted = serde_json::Value::from(text).to_string();
                quoted.strip_prefix('"')?.strip_suffix('"').map(ToOwned::to_owned)
            }
        }
    }
}

fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}') => {
                out.push_str(&format!("\\u{:04X}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

/// A stretch of the string that is meant, and of the source that stands for it. In a verbatim one
/// the bytes are the same.
#[derive(Debug)]
struct Run {
    value: Range<usize>,
    source: Range<usize>,
    verbatim: bool,
}

/// Where each byte of a string stands in the source.
#[derive(Debug, Default)]
pub(crate) struct Alignment {
    runs: Vec<Run>,
}

impl Alignment {
    /// Aligns `value` with `source`, the string as it is written, without its outer quotes or the mark
    /// of a block. The lines of a block are indented by `indent`, the first one being cut off there.
    /// `None` when the one is not what the other stands for. Linear.
    pub(crate) fn of(source: &str, value: &str, quoting: Quoting, indent: usize) -> Option<Self> {
        let mut align = Align { source, value, s: 0, v: 0, runs: Vec::new() };
        while align.s < source.len() {
            match quoting {
                Quoting::Json | Quoting::YamlDouble if align.at(0) == b'\\' => align.escape(quoting)?,
                Quoting::YamlSingle if align.rest().starts_with("''") => align.replaced(2, "'")?,
                Quoting::YamlBlock if matches!(align.at(0), b'\n' | b'\r') => align.line_end(indent)?,
                Quoting::YamlDouble | Quoting::YamlSingle | Quoting::YamlPlain => {
                    if !align.fold()? {
                        align.same()?;
                    }
                }
                _ => align.same()?,
            }
        }
        // The line end behind a block may be kept, and is no part of its bytes.
        let rest = value.get(align.v..)?;
        let done = if quoting == Quoting::YamlBlock { rest.trim_matches('\n').is_empty() } else { rest.is_empty() };
        done.then_some(Self { runs: align.runs })
    }

    /// The bytes of the source that stand for `value[range]`. Logarithmic.
    pub(crate) fn span(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let start = self.runs.get(self.runs.partition_point(|run| run.value.end <= range.start));
        let start = match start {
            Some(run) if run.verbatim => run.source.start + (range.start - run.value.start),
            Some(run) => run.source.start,
            None => self.runs.last()?.source.end,
        };
        if range.is_empty() {
            return Some(start..start);
        }
        let run = self.runs.get(self.runs.partition_point(|run| run.value.end < range.end))?;
        let end = if run.verbatim { run.source.start + (range.end - run.value.start) } else { run.source.end };
        (start <= end).then_some(start..end)
    }
}

/// The two texts while they are walked along together.
struct Align<'a> {
    source: &'a str,
    value: &'a str,
    s: usize,
    v: usize,
    runs: Vec<Run>,
}

impl Align<'_> {
    fn at(&self, ahead: usize) -> u8 {
        self.source.as_bytes().get(self.s + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &str {
        self.source.get(self.s..).unwrap_or("")
    }

    /// One character that stands for itself.
    fn same(&mut self) -> Option<()> {
        let c = self.rest().chars().next()?;
        let len = c.len_utf8();
        self.value.get(self.v..)?.starts_with(c).then_some(())?;
        match self.runs.last_mut() {
            Some(run) if run.verbatim && run.source.end == self.s && run.value.end == self.v => {
                run.source.end += len;
                run.value.end += len;
            }
            _ => self.runs.push(Run { value: self.v..self.v + len, source: self.s..self.s + len, verbatim: true }),
        }
        self.s += len;
        self.v += len;
        Some(())
    }

    /// `len` bytes of the source stand for `meant`.
    fn replaced(&mut self, len: usize, meant: &str) -> Option<()> {
        self.value.get(self.v..)?.starts_with(meant).then_some(())?;
        if !meant.is_empty() {
            self.runs.push(Run { value: self.v..self.v + meant.len(), source: self.s..self.s + len, verbatim: false });
        }
        self.s += len;
        self.v += meant.len();
        Some(())
    }

    fn escape(&mut self, quoting: Quoting) -> Option<()> {
        let yaml = quoting == Quoting::YamlDouble;
        let hex = |align: &Self, from: usize, digits: usize| {
            u32::from_str_radix(align.rest().get(from..from + digits)?, 16).ok()
        };
        let (len, meant) = match self.at(1) {
            b'u' => {
                let first = hex(self, 2, 4)?;
                if (0xD800..0xDC00).contains(&first) && self.rest().get(6..8) == Some("\\u") {
                    let second = hex(self, 8, 4)?;
                    let low = second.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
                    (12, char::from_u32(0x10000 + ((first - 0xD800) << 10) + low)?)
                } else {
                    (6, char::from_u32(first)?)
                }
            }
            b'U' if yaml => (10, char::from_u32(hex(self, 2, 8)?)?),
            b'x' if yaml => (4, char::from_u32(hex(self, 2, 2)?)?),
            b'\n' if yaml => return self.continued(2),
            b'\r' if yaml => return self.continued(3),
            b'n' => (2, '\n'),
            b't' => (2, '\t'),
            b'r' => (2, '\r'),
            b'b' => (2, '\u{8}'),
            b'f' => (2, '\u{C}'),
            b'\t' if yaml => (2, '\t'),
            b'0' if yaml => (2, '\0'),
            b'a' if yaml => (2, '\u{7}'),
            b'v' if yaml => (2, '\u{B}'),
            b'e' if yaml => (2, '\u{1B}'),
            b'N' if yaml => (2, '\u{85}'),
            b'_' if yaml => (2, '\u{A0}'),
            b'L' if yaml => (2, '\u{2028}'),
            b'P' if yaml => (2, '\u{2029}'),
            mark @ (b'"' | b'\\' | b'/' | b' ') => (2, char::from(mark)),
            _ => return None,
        };
        self.replaced(len, meant.encode_utf8(&mut [0; 4]))
    }

    /// A line end that is escaped stands for nothing, as do the blanks behind it.
    fn continued(&mut self, len: usize) -> Option<()> {
        let blanks = self.rest().get(len..)?.bytes().take_while(|b| matches!(b, b' ' | b'\t')).count();
        self.replaced(len + blanks, "")
    }

    /// A line end in a flow scalar, with the blanks around it: a blank, or the empty lines.
    fn fold(&mut self) -> Option<bool> {
        if !matches!(self.at(0), b' ' | b'\t' | b'\n' | b'\r') {
            return Some(false);
        }
        let len = self.rest().bytes().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).count();
        let white = self.rest().get(..len)?;
        match white.bytes().filter(|b| *b == b'\n').count() {
            0 => (0..len).try_for_each(|_| self.same())?,
            1 => self.replaced(len, " ")?,
            lines => self.replaced(len, &"\n".repeat(lines - 1))?,
        }
        Some(true)
    }

    /// A line end in a block scalar, with the indentation of the next line.
    fn line_end(&mut self, indent: usize) -> Option<()> {
        let mark = if self.at(0) == b'\r' { 2 } else { 1 };
        let blanks = self.rest().get(mark..)?.bytes().take(indent).take_while(|b| *b == b' ').count();
        let meant = match self.value.as_bytes().get(self.v) {
            Some(b'\n') if self.v > 0 => "\n",
            Some(b' ') if self.v > 0 => " ",
            _ => "",
        };
        self.replaced(mark + blanks, meant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands in `source` for `part` of `value`.
    #[track_caller]
    fn check(quoting: Quoting, source: &str, value: &str, part: &str, expected: &str) {
        let alignment = Alignment::of(source, value, quoting, 2).unwrap();
        let at = value.find(part).unwrap();
        assert_eq!(&source[alignment.span(&(at..at + part.len())).unwrap()], expected);
    }

    #[test]
    fn a_part_of_a_string_is_found_where_it_is_written() {
        use Quoting::{Json, YamlBlock, YamlDouble, YamlPlain, YamlSingle};
        check(YamlDouble, r#"a \"q\" [[D]]"#, "a \"q\" [[D]]", "[[D]]", "[[D]]");
        check(YamlDouble, r"[[\u00e9\x41\U0001F980]]!", "[[éA🦀]]!", "éA🦀", r"\u00e9\x41\U0001F980");
        check(YamlDouble, "a  \n  [[x\\\n   y]]", "a [[xy]]", "[[xy]]", "[[x\\\n   y]]");
        check(YamlSingle, "it''s [[it''s]]", "it's [[it's]]", "[[it's]]", "[[it''s]]");
        check(YamlPlain, "see\n\n  [[B]]", "see\n[[B]]", "[[B]]", "[[B]]");
        check(YamlBlock, "one\n   [[B]]\n", "one\n [[B]]\n", "[[B]]", "[[B]]");
        check(YamlBlock, "one\n  [[B]]", "one [[B]]\n", "[[B]]", "[[B]]");
        check(Json, r"\n[[\ud83e\udd80\/x]]", "\n[[🦀/x]]", "🦀/x", r"\ud83e\udd80\/x");
    }

    #[test]
    fn what_does_not_stand_for_the_string_is_not_aligned() {
        assert!(Alignment::of("a", "b", Quoting::Json, 0).is_none());
        assert!(Alignment::of(r"\ud83e", "x", Quoting::Json, 0).is_none());
        assert!(Alignment::of("a", "ab", Quoting::YamlPlain, 0).is_none());
    }

    #[test]
    fn a_new_text_is_written_as_its_string_asks() {
        assert_eq!(Quoting::Json.escape("a\"b\\c").unwrap(), r#"a\"b\\c"#);
        assert_eq!(Quoting::YamlDouble.escape("a\"b\t").unwrap(), "a\\\"b\\u0009");
        assert_eq!(Quoting::YamlSingle.escape("it's").unwrap(), "it''s");
        assert_eq!(Quoting::YamlPlain.escape("a: b"), None);
        assert_eq!(Quoting::None.escape("a\nb"), None);
    }
}
