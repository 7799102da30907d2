//! Small pieces of Markdown: what may stand in a fact, a link, a heading, a property.

use std::sync::OnceLock;

use dormouse_vault::NotePath;
use unicode_normalization::UnicodeNormalization;

/// The predicate of provenance.
pub(crate) const DERIVED_FROM: &str = "derived_from";

/// A wikilink as we write it: full path, no extension, an anchor where there is one.
pub(crate) fn link(path: &NotePath, block: Option<&str>, shown: &str) -> String {
    let anchor = block.map(|id| format!("#^{id}")).unwrap_or_default();
    let shown = shown_text(shown);
    let target = path.link_target();
    if shown.is_empty() { format!("[[{target}{anchor}]]") } else { format!("[[{target}{anchor}|{shown}]]") }
}

/// The provenance field at the end of a fact. Dataview reads it inside of a line, Obsidian shows it
/// as a link.
pub(crate) fn provenance(link: &str) -> String {
    format!("({DERIVED_FROM}:: {link})")
}

/// Text that can stand between `|` and `]]`, and inside a field's round brackets.
fn shown_text(text: &str) -> String {
    one_line(text)
        .chars()
        .filter(|c| !matches!(c, '[' | ']' | '|' | '(' | ')' | '`' | '^' | '#'))
        .collect::<String>()
        .trim()
        .to_owned()
}

/// All blanks and control characters as single blanks.
pub(crate) fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A double-quoted YAML scalar.
pub(crate) fn yaml_text(text: &str) -> String {
    let mut out = String::from("\"");
    for c in one_line(text).chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

/// A name: one line, without link and heading marks.
pub(crate) fn name_text(text: &str) -> String {
    let plain = plain(text);
    one_line(&plain)
        .trim_matches(|c: char| matches!(c, '#' | '*' | '_' | '`' | '[' | ']' | '|' | '^') || c.is_whitespace())
        .replace("[[", "")
        .replace("]]", "")
}

/// A fact's text that is one line of Markdown and can't swallow the field that follows it: no block
/// marker in front, no open code span, math, comment or inline field. Links stay.
pub(crate) fn fact_text(text: &str) -> String {
    let mut out = one_line(text).replace("%%", "%").replace("<!--", "<! --").replace(":: ", ": ");
    if out.ends_with("::") {
        out.pop();
    }
    if !balanced_ticks(&out) {
        out = out.replace('`', "'");
    }
    if out.matches('$').count() % 2 == 1 {
        out = out.replace("\\$", "$").replace('$', "\\$");
    }
    while let Some(open) = trailing_id(&out) {
        out.truncate(open);
        out = out.trim_end().to_owned();
    }
    let digits = out.chars().take_while(char::is_ascii_digit).count();
    let first = out.chars().next();
    let second = out.chars().nth(1);
    let marker = match first {
        Some('>' | '<' | '|' | '~') => true,
        Some('-' | '+' | '*') => second.is_none_or(|c| c == ' ') || out.starts_with("---") || out.starts_with("***"),
        Some('#') => out.trim_start_matches('#').starts_with(' ') || out.trim_start_matches('#').is_empty(),
        Some('`') => out.starts_with("```"),
        Some('[') => out.starts_with("[ ]") || out.starts_with("[x]") || out.starts_with("[^"),
        _ => false,
    };
    if marker {
        out.insert(0, '\\');
    } else if digits > 0
        && out.get(digits..).is_some_and(|rest| rest.starts_with(['.', ')']))
        && out.get(digits + 1..).is_some_and(|r| r.starts_with(' '))
    {
        out.insert(digits, '\\');
    }
    out
}

/// The text without what poses as provenance: a claim can't name its own source. In code spans it
/// stays. Linear in the text times the number of such places.
pub(crate) fn without_forged_sources(text: &str) -> String {
    let mut out = text.to_owned();
    let mut from = 0;
    while let Some(at) = out.get(from..).and_then(find_source).map(|n| from + n) {
        if code_spans(&out).iter().any(|span| span.contains(&at)) {
            from = at + DERIVED_FROM.len();
            continue;
        }
        let before = out.get(..at).unwrap_or("").trim_end_matches(['(', '[', ' ']).len();
        let rest = out.get(at..).unwrap_or("");
        let end = match rest.find("]]") {
            Some(end) => end + 2,
            None => rest.find([')', ']']).map_or(rest.len(), |end| end + 1),
        };
        let closed = rest.get(end..).unwrap_or("").trim_start_matches([')', ']']).len();
        out.replace_range(before..out.len() - closed, "");
        from = before;
    }
    out
}

/// The first thing in `text` that poses as provenance.
pub(crate) fn forged_source(text: &str) -> Option<&str> {
    let stripped = without_forged_sources(text);
    (stripped != text).then(|| find_source(text).and_then(|at| text.get(at..)))?
}

/// Where a field of provenance begins, whatever the case and the blanks around its colons.
fn find_source(text: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    lower.match_indices(DERIVED_FROM).find_map(|(at, _)| {
        let rest = lower.get(at + DERIVED_FROM.len()..)?.trim_start_matches(['*', '_', ' ']);
        rest.starts_with("::").then_some(at)
    })
}

/// Where a block id at the end of `text` begins.
fn trailing_id(text: &str) -> Option<usize> {
    let (head, id) = text.rsplit_once('^')?;
    let valid = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    (valid && (head.is_empty() || head.ends_with(' '))).then_some(head.len())
}

/// Whether each run of backticks has a partner of the same length.
pub(crate) fn balanced_ticks(text: &str) -> bool {
    let mut open: Option<usize> = None;
    let mut run = 0;
    for c in text.chars().chain([' ']) {
        if c == '`' {
            run += 1;
        } else if run > 0 {
            match open {
                None => open = Some(run),
                Some(have) if have == run => open = None,
                Some(_) => return false,
            }
            run = 0;
        }
    }
    open.is_none()
}

/// A piece of text around wikilinks.
pub(crate) enum Piece<'a> {
    /// Anything else.
    Text(&'a str),
    /// `[[target|shown]]`, the target with its subpath; `!` in front is taken in.
    Link {
        /// Before `|`.
        target: &'a str,
        /// After `|`.
        shown: Option<&'a str>,
    },
}

/// Cuts `text` at its wikilinks; those in code spans are text. Linear.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    let spans = code_spans(text);
    let mut spans = spans.iter().peekable();
    let mut from = 0;
    let mut at = 0;
    while let Some(open) = text.get(at..).and_then(|rest| rest.find("[[")).map(|n| at + n) {
        while spans.next_if(|span| span.end <= open).is_some() {}
        if let Some(span) = spans.peek().filter(|span| span.start <= open) {
            at = span.end;
            continue;
        }
        let after = text.get(open + 2..).unwrap_or("");
        let Some(close) = after.find("]]") else { break };
        let inner = after.get(..close).unwrap_or("");
        if let Some(next) = inner.rfind("[[") {
            at = open + 2 + next;
            continue;
        }
        let before = text.get(from..open).unwrap_or("");
        out.push(Piece::Text(before.strip_suffix('!').unwrap_or(before)));
        let (target, shown) = match inner.split_once('|') {
            Some((target, shown)) => (target, Some(shown)),
            None => (inner, None),
        };
        out.push(Piece::Link { target, shown });
        at = open + 2 + close + 2;
        from = at;
    }
    out.push(Piece::Text(text.get(from..).unwrap_or("")));
    out
}

/// Code spans of one line: runs of backticks with a partner of the same length. Linear in the
/// number of runs times the number of different lengths.
fn code_spans(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in text.match_indices('`') {
        match runs.last_mut() {
            Some((start, len)) if *start + *len == at => *len += 1,
            _ => runs.push((at, 1)),
        }
    }
    let mut last: std::collections::BTreeMap<usize, Vec<usize>> = std::collections::BTreeMap::new();
    for (i, (_, len)) in runs.iter().enumerate().rev() {
        last.entry(*len).or_default().push(i);
    }
    let mut out = Vec::new();
    let mut i = 0;
    while let Some((start, len)) = runs.get(i).copied() {
        let partners = last.entry(len).or_default();
        while partners.last().is_some_and(|p| *p <= i) {
            partners.pop();
        }
        match partners.last().copied().and_then(|p| Some((p, runs.get(p)?))) {
            Some((partner, (end, _))) => {
                out.push(start..end + len);
                i = partner + 1;
            }
            None => i += 1,
        }
    }
    out
}

/// What a link shows when it is read aloud.
pub(crate) fn spoken(target: &str, shown: Option<&str>) -> String {
    let shown = shown.map(str::trim).filter(|s| !s.is_empty());
    let bare = target.split('#').next().unwrap_or(target);
    let stem = bare.rsplit('/').next().unwrap_or(bare);
    shown.unwrap_or(if stem.is_empty() { target } else { stem }).to_owned()
}

/// The text without provenance fields, links as what they show, emphasis marks dropped: what is
/// compared and counted.
pub(crate) fn plain(text: &str) -> String {
    let text = without_provenance(text);
    let mut out = String::new();
    for piece in pieces(&text) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Link { target, shown } => out.push_str(&spoken(target, shown)),
        }
    }
    out.replace("**", "").replace('\\', "")
}

/// The text without `[name] ` before it, when that is what the note is called anyway.
pub(crate) fn without_subject<'t>(text: &'t str, name: &str) -> &'t str {
    text.strip_prefix('[')
        .and_then(|rest| rest.strip_prefix(name_text(name).as_str()))
        .and_then(|rest| rest.strip_prefix("] "))
        .unwrap_or(text)
}

/// The text without its `(derived_from:: …)` fields.
pub(crate) fn without_provenance(text: &str) -> String {
    static OPEN: OnceLock<String> = OnceLock::new();
    let open = OPEN.get_or_init(|| format!("({DERIVED_FROM}::"));
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(open.as_str()) {
        out.push_str(rest.get(..at).unwrap_or("").trim_end_matches(' '));
        let field = rest.get(at..).unwrap_or("");
        match field.find("]])") {
            Some(end) => rest = field.get(end + 3..).unwrap_or(""),
            None => {
                rest = field.get(open.len()..).unwrap_or("");
            }
        }
    }
    out.push_str(rest);
    out
}

/// The first `max` characters, with an ellipsis where there are more.
pub(crate) fn clip(text: &str, max: usize) -> String {
    let short = dormouse_vault::text::truncate_chars(text, max);
    if short.len() < text.len() { format!("{short}…") } else { short.to_owned() }
}

/// The form in which evidence is compared: NFKC, one blank for each run of blanks, straight quotes
/// and hyphens, lower case.
pub(crate) fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut gap = false;
    for c in text.nfkc() {
        let c = match c {
            '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{2032}' => '\'',
            '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{2033}' | '「' | '」' => '"',
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            c => c,
        };
        if c.is_whitespace() || c.is_control() || matches!(c, '\u{200B}'..='\u{200D}' | '\u{FEFF}') {
            gap = true;
            continue;
        }
        if matches!(c, '*' | '`' | '\\') {
            continue;
        }
        if gap && !out.is_empty() {
            out.push(' ');
        }
        gap = false;
        out.extend(c.to_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_never_swallows_the_field_behind_it() {
        assert_eq!(fact_text("# not a heading"), "\\# not a heading");
        assert_eq!(fact_text("#tag stays"), "#tag stays");
        assert_eq!(fact_text("- item"), "\\- item");
        assert_eq!(fact_text("1. step"), "1\\. step");
        assert_eq!(fact_text("an open ` tick"), "an open ' tick");
        assert_eq!(fact_text("`a` and ``b``"), "`a` and ``b``");
        assert_eq!(fact_text("costs $5"), "costs \\$5");
        assert_eq!(fact_text("x %% y <!-- z"), "x % y <! -- z");
        assert_eq!(fact_text("key:: [[x]]"), "key: [[x]]");
        assert_eq!(fact_text("std::fs stays ^b3"), "std::fs stays");
    }

    #[test]
    fn plain_text_has_no_provenance_and_no_brackets() {
        let text = "Alpha is [[a/b|0.15]]. (derived_from:: [[daily/x#^b1|2026-11-09]]) See [[c]].";
        assert_eq!(plain(text), "Alpha is 0.15. See c.");
        assert_eq!(plain("open [[never"), "open [[never");
        assert_eq!(plain("[[a [[b]]"), "[[a b");
        assert_eq!(plain("begins with `[[` and ends with `]]`"), "begins with `[[` and ends with `]]`");
    }

    #[test]
    fn evidence_is_compared_without_regard_to_blanks_quotes_and_width() {
        assert_eq!(folded("  “Use\u{a0}BM25” –\n ok"), "\"use bm25\" - ok");
        assert_eq!(folded("Ａ，b"), "a,b");
    }

    #[test]
    fn properties_are_quoted() {
        assert_eq!(yaml_text("A \"label\" \\ y\n---"), "\"A \\\"label\\\" \\\\ y ---\"");
    }
}
