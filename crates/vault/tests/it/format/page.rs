//! The page as data: its fenced blocks, and each vault with what is said to be read from it.

use std::path::Path;

/// A fenced block of the page.
pub(super) struct Example {
    /// First word of the info string.
    pub(super) kind: String,
    /// The rest of it.
    pub(super) about: String,
    /// 1-based line of the opening fence.
    pub(super) line: usize,
    /// What stands between the fences, up to the first question.
    pub(super) text: String,
    /// The parts that a line `>>> kind about` begins.
    pub(super) questions: Vec<Question>,
}

/// What is read from a vault.
pub(super) struct Question {
    /// First word behind `>>>`.
    pub(super) kind: String,
    /// The rest of it.
    pub(super) about: String,
    /// 1-based line of the page.
    pub(super) line: usize,
    /// The answer that the page states.
    pub(super) expected: String,
}

impl Example {
    fn take(&mut self, line: &str, number: usize) {
        if let Some(question) = line.strip_prefix(">>> ") {
            let (kind, about) = words(question);
            self.questions.push(Question { kind, about, line: number, expected: String::new() });
            return;
        }
        let text = self.questions.last_mut().map_or(&mut self.text, |q| &mut q.expected);
        text.push_str(line);
        text.push('\n');
    }
}

/// The first word, and the rest.
fn words(info: &str) -> (String, String) {
    let (kind, about) = info.split_once(' ').unwrap_or((info, ""));
    (kind.to_owned(), about.trim().to_owned())
}

/// `docs/vault-format.md`.
pub(super) fn page() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/vault-format.md");
    std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// The fenced blocks that start at the left margin, in order.
pub(super) fn examples(page: &str) -> Vec<Example> {
    let mut out: Vec<Example> = Vec::new();
    let mut fence: Option<&str> = None;
    for (number, line) in page.lines().enumerate() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => out.last_mut().expect("an open block").take(line, number + 1),
            None if ticks >= 3 => {
                let (open, info) = line.split_at(ticks);
                let (kind, about) = words(info);
                fence = Some(open);
                out.push(Example { kind, about, line: number + 1, text: String::new(), questions: Vec::new() });
            }
            None => {}
        }
    }
    assert!(fence.is_none(), "a block of the page is not closed");
    out
}

/// The first block of this kind about this.
pub(super) fn example(kind: &str, about: &str) -> Example {
    let found = examples(&page()).into_iter().find(|e| e.kind == kind && e.about == about);
    found.unwrap_or_else(|| panic!("the page has no block `{kind} {about}`"))
}

/// `\r`, `\\`, `\xFF` and `\u{FEFF}` as the byte or character that they stand for.
pub(super) fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.extend(before.bytes());
        rest = if let Some(after) = after.strip_prefix('r') {
            out.push(b'\r');
            after
        } else if let Some(after) = after.strip_prefix('\\') {
            out.push(b'\\');
            after
        } else if let Some(after) = after.strip_prefix('x') {
            out.push(u8::from_str_radix(&after[..2], 16).expect("two hex digits"));
            &after[2..]
        } else {
            let inner = after.strip_prefix("u{").and_then(|a| a.split_once('}'));
            let (hex, after) = inner.unwrap_or_else(|| panic!("no such escape: \\{after}"));
            let c = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32).expect("a character");
            out.extend(c.to_string().bytes());
            after
        };
    }
    out.extend(rest.bytes());
    out
}
