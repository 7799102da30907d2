//! A target as it stands in the source: the link's syntax, its percent escapes, and the string of
//! YAML or JSON around it. What is written anew keeps all three.

use std::collections::BTreeSet;

use crate::link::{Link, LinkKind};
use crate::quoting::Quoting;
use crate::wikilink;

/// The syntax that a target stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Wiki,
    /// `(target)`
    Plain,
    /// `(<target>)`
    Angle,
    /// A path in a canvas.
    Path,
}

/// How one target is written.
#[derive(Debug)]
pub(crate) struct Written {
    syntax: Syntax,
    quoting: Quoting,
    /// A JSON string that escapes what is not ASCII.
    ascii: bool,
    /// A JSON string that escapes slashes.
    slashes: bool,
    /// Characters that stand percent-encoded.
    encoded: BTreeSet<char>,
    /// Characters that stand behind a backslash.
    escaped: BTreeSet<char>,
}

impl Written {
    /// How the target of `link` is written in `text`; `None` when its bytes are not known.
    pub(crate) fn of(text: &str, link: &Link) -> Option<Self> {
        if link.target_span.is_empty() {
            return None;
        }
        let raw = text.get(link.target_span.clone())?;
        let whole = text.get(link.span.clone())?;
        let before = text.get(..link.target_span.start)?;
        let wiki = match link.kind {
            LinkKind::Wiki | LinkKind::Embed => true,
            LinkKind::Frontmatter => whole.trim_start_matches('!').starts_with("[["),
            _ => false,
        };
        let syntax = match link.kind {
            LinkKind::Canvas => Syntax::Path,
            _ if wiki => Syntax::Wiki,
            _ if before.ends_with('<') => Syntax::Angle,
            _ => Syntax::Plain,
        };
        let json = link.quoting == Quoting::Json;
        let mut written = Self {
            syntax,
            quoting: link.quoting,
            ascii: json && raw.contains("\\u"),
            slashes: json && raw.contains("\\/"),
            encoded: BTreeSet::new(),
            escaped: BTreeSet::new(),
        };
        if matches!(syntax, Syntax::Plain | Syntax::Angle) {
            written.learn(&meant(link.quoting, raw));
        }
        Some(written)
    }

    /// `text` inside the string that the link stands in.
    fn quoted(&self, text: &str) -> Option<String> {
        let escaped = self.quoting.escape(text)?;
        let mut out = String::with_capacity(escaped.len());
        for c in escaped.chars() {
            match c {
                '/' if self.slashes => out.push_str("\\/"),
                c if self.ascii && !c.is_ascii() => {
                    c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
                }
                c => out.push(c),
            }
        }
        Some(out)
    }
}

/// What the bytes inside a string stand for; themselves where they can't be read.
fn meant(quoting: Quoting, raw: &str) -> String {
    match quoting {
        Quoting::YamlSingle => raw.replace("''", "'"),
        Quoting::YamlDouble | Quoting::Json => {
            serde_json::from_str(&format!("\"{raw}\"")).unwrap_or_else(|_| raw.to_owned())
        }
        _ => raw.to_owned(),
    }
}

impl Written {
    /// Takes note of what a destination escapes, and how.
    fn learn(&mut self, raw: &str) {
        let mut rest = raw;
        while let Some(c) = rest.chars().next() {
            let mut len = c.len_utf8();
            if c == '\\' {
                if let Some(next) = rest.get(1..).and_then(|s| s.chars().next()).filter(char::is_ascii_punctuation) {
                    self.escaped.insert(next);
                    len += next.len_utf8();
                }
            } else if c == '%' {
                let run = rest.len() - rest.trim_start_matches(is_escape_part).len();
                let escapes = rest.get(..run).unwrap_or("");
                let decoded = percent_encoding::percent_decode_str(escapes).decode_utf8_lossy();
                // A run of escapes and the hex digits and letters around them: only what changed.
                if decoded != escapes {
                    self.encoded.extend(encoded_characters(escapes));
                }
                len = len.max(run);
            }
            rest = rest.get(len..).unwrap_or("");
        }
    }

    /// `target` in the place of what stands there; `None` when this syntax can't hold it.
    pub(crate) fn write(&self, target: &str) -> Option<String> {
        let raw = match self.syntax {
            Syntax::Path => target.to_owned(),
            Syntax::Wiki => {
                let breaks = target.contains(['#', '|', '\n']) || target.contains("[[") || target.contains("]]");
                let edges = target.trim() != target || target.starts_with('[') || target.ends_with([']', '\\']);
                if breaks || edges {
                    return None;
                }
                target.to_owned()
            }
            Syntax::Plain | Syntax::Angle => self.destination(target),
        };
        self.quoted(&raw)
    }

    fn destination(&self, target: &str) -> String {
        let plain = self.syntax == Syntax::Plain;
        let foreign = self.encoded.iter().any(|c| !c.is_ascii());
        let has = |set: &BTreeSet<char>| set.contains(&'(') || set.contains(&')');
        // One of a pair alone, escaped or encoded, would leave the other unbalanced.
        let parens = has(&self.encoded) || (plain && !is_balanced(target));
        let escaped_parens = has(&self.escaped);
        let mut out = String::with_capacity(target.len());
        for (at, c) in target.char_indices() {
            let paren = matches!(c, '(' | ')');
            let blank = c.is_ascii_whitespace() && plain;
            // `%` opens an escape, `#` a subpath, and code goes before links.
            let special = matches!(c, '<' | '>' | '%' | '#' | '`');
            // A character reference, `&amp;`.
            let reference = c == '&' && target.get(at + 1..).is_some_and(|rest| rest.contains(';'));
            let kept = self.encoded.contains(&c) || (foreign && !c.is_ascii());
            // Behind a backslash `%` still opens an escape.
            let escaped = (self.escaped.contains(&c) && c != '%') || (paren && escaped_parens);
            if escaped {
                out.extend(['\\', c]);
            } else if blank || special || reference || kept || (paren && parens) {
                encode(c, &mut out);
            } else {
                out.push(c);
            }
        }
        if wikilink::is_external(&out) { out.replacen(':', "%3A", 1) } else { out }
    }
}

fn encode(c: char, out: &mut String) {
    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
        out.push_str(&format!("%{byte:02X}"));
    }
}

fn is_escape_part(c: char) -> bool {
    c == '%' || c.is_ascii_hexdigit()
}

/// The characters that percent escapes stand for in `text`.
fn encoded_characters(text: &str) -> Vec<char> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        rest = rest.get(at + 1..).unwrap_or("");
        if let Some(byte) = rest.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            bytes.push(byte);
        }
    }
    String::from_utf8_lossy(&bytes).chars().collect()
}

fn is_balanced(text: &str) -> bool {
    let mut depth = 0_i32;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if !(0..=16).contains(&depth) {
            return false;
        }
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::note::Document;

    /// How `target` is written where `old` stands in `[x](…)`, and what is read from it there.
    fn written(old: &str, target: &str) -> (String, Vec<String>) {
        let text = format!("[x]({old}) and `code`\n");
        let doc = Document::parse(&text);
        let link = doc.links.first().unwrap();
        let raw = Written::of(&text, link).unwrap().write(target).unwrap();
        let mut after = text;
        after.replace_range(link.target_span.clone(), &raw);
        (raw, Document::parse(&after).links.into_iter().map(|link| link.target).collect())
    }

    #[test]
    fn what_a_destination_escapes_is_escaped_in_pairs() {
        let raw = |old: &str, target: &str| written(old, target).0;
        assert_eq!(raw("a%28b.md", "x (y).md"), "x%20%28y%29.md");
        assert_eq!(raw("a%29b.md", "x(y).md"), "x%28y%29.md");
        assert_eq!(raw("a\\(b.md", "x(y).md"), "x\\(y\\).md");
        assert_eq!(raw("<a%28b.md>", "x (y).md"), "x %28y%29.md");
        assert_eq!(raw("a.md", "x(y).md"), "x(y).md");
        assert_eq!(raw("a.md", "x)(y.md"), "x%29%28y.md");
        assert_eq!(raw("a.md", "100%.md"), "100%25.md");
        assert_eq!(raw("50%25.md", "100% 4%41.md"), "100%25%204%2541.md");
        assert_eq!(raw("a\\%b.md", "4%41.md"), "4%2541.md");
        assert_eq!(raw("a.md", "a`b.md"), "a%60b.md");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_name_is_read_back_from_every_style(
            old in prop::sample::select(vec![
                "a.md", "<a.md>", "a%20b.md", "a%28b.md", "a%29b%25.md", "a\\(b.md", "a\\)b\\%\\&.md", "<a\\<b%3E.md>",
                "%E5%9B%BE.md", "a&amp;b.md", "a%26b%3Bc.md", "./a\\.md", "a\\#b%23.md", "a%41%62.md", "a(b)\\_c.md",
            ]),
            name in "[a-f0-9%()&;#<> `'\"_*~é图:.+-]{0,12}",
            folder in prop::sample::select(vec!["", "a/", "../", "/", "C#/"]),
        ) {
            let target = format!("{folder}x{name}y.md");
            let (raw, read) = written(old, &target);
            prop_assert_eq!(read, [target], "{}", raw);
        }
    }
}
