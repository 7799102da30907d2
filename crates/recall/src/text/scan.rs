//! The analyzer: words of running text, identifiers, numbers, Chinese and emoji as index terms.

use std::cell::RefCell;
use std::ops::Range;

use dormouse_vault::text::is_cjk;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::char::is_combining_mark;

use super::fold::fold;
use super::lexicon::{is_stop_word, lemma};

/// The longest term in characters; what is longer is cut, on both sides alike.
const MAX_TERM: usize = 64;

/// How a term stands for its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The word's stem: what is matched.
    Stem,
    /// The word as it is spelled, folded, marked with `=`.
    Exact,
    /// A word without meaning for a search, as spelled, marked with `=`.
    Stop,
    /// An identifier, number or compound in one piece.
    Whole,
    /// A piece of such a one.
    Part,
    /// One Chinese, Japanese or Korean character.
    Single,
    /// Two of them side by side.
    Pair,
}

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// Where it stands.
    pub(crate) span: Range<usize>,
    /// As it is spelled, folded: what phrases compare.
    pub(crate) surface: String,
    /// Its terms.
    pub(crate) terms: Vec<(Role, String)>,
}

/// The words of `text`, in order. Linear.
pub(crate) fn analyze(text: &str) -> Vec<Word> {
    let mut out = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if is_cjk(c) {
            let next = chars.peek().map(|(_, next)| *next).filter(|next| is_cjk(*next));
            out.push(cjk_word(start, c, next));
        } else if is_word_char(c) {
            let mut end = start + c.len_utf8();
            let mut last = c;
            while let Some(&(at, next)) = chars.peek() {
                let inside = is_word_char(next) && !is_cjk(next);
                let joins = is_joiner(next, last)
                    && text
                        .get(at + next.len_utf8()..)
                        .and_then(|rest| rest.chars().next())
                        .is_some_and(|after| joins_to(next, after));
                if !inside && !joins {
                    break;
                }
                end = at + next.len_utf8();
                last = next;
                chars.next();
            }
            let rest = text.get(end..).unwrap_or("");
            let sign = if end - start == 1 && c.is_ascii_alphabetic() { language_sign(rest) } else { 0 };
            (0..sign).for_each(|_| {
                chars.next();
            });
            let span = start..end + sign;
            if let Some(raw) = text.get(span.clone()) {
                out.push(word(raw, span, sign > 0));
            }
        } else if is_emoji(c) {
            let surface = c.to_string();
            out.push(Word { span: start..start + c.len_utf8(), terms: vec![(Role::Stem, surface.clone())], surface });
        }
    }
    out
}

/// All terms of `text` as the units of an index hold them, in order, repeated as often as they stand
/// there. Linear.
#[must_use]
pub fn index_terms(text: &str) -> Vec<String> {
    analyze(text).into_iter().flat_map(|word| word.terms).map(|(_, term)| term).collect()
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || is_combining_mark(c)
}

fn is_joiner(c: char, before: char) -> bool {
    matches!(c, '.' | '-' | '\'' | '’' | '@') || (c == ',' && before.is_ascii_digit())
}

fn joins_to(joiner: char, after: char) -> bool {
    if joiner == ',' { after.is_ascii_digit() } else { after.is_alphanumeric() && !is_cjk(after) }
}

/// The bytes of `++` or `#` after a one-letter name, as in C++ and F#.
fn language_sign(rest: &str) -> usize {
    let sign = if rest.starts_with("++") { 2 } else { usize::from(rest.starts_with('#')) };
    let ends = rest.get(sign..).and_then(|r| r.chars().next()).is_none_or(|c| !is_word_char(c));
    if ends { sign } else { 0 }
}

/// Pictographs, symbols and dingbats.
fn is_emoji(c: char) -> bool {
    matches!(u32::from(c), 0x2190..=0x21FF | 0x2300..=0x23FF | 0x2600..=0x27BF | 0x2B00..=0x2BFF | 0x1F000..=0x1FAFF)
}

fn cjk_word(start: usize, c: char, next: Option<char>) -> Word {
    let surface = fold(&c.to_string());
    let mut terms = vec![(Role::Single, surface.clone())];
    if let Some(next) = next {
        terms.push((Role::Pair, fold(&format!("{c}{next}"))));
    }
    Word { span: start..start + c.len_utf8(), surface, terms }
}

fn word(raw: &str, span: Range<usize>, sign: bool) -> Word {
    let raw = raw.strip_suffix("'s").or_else(|| raw.strip_suffix("’s")).unwrap_or(raw);
    let bare: String = raw.chars().filter(|c| !matches!(c, '\'' | '’' | ',')).collect();
    let surface = cut(fold(&bare));
    if sign {
        return Word { span, terms: vec![(Role::Whole, surface.clone())], surface };
    }
    let pieces = pieces(&bare);
    let mut terms = Vec::new();
    if pieces.len() > 1 {
        let whole: String = surface.chars().filter(|c| !matches!(c, '_' | '-')).collect();
        terms.push((Role::Whole, stem(&whole)));
        for piece in pieces {
            let piece = cut(fold(piece));
            if !is_stop_word(&piece) {
                terms.push((Role::Part, stem(&piece)));
            }
        }
    } else if is_stop_word(&surface) {
        terms.push((Role::Stop, format!("={surface}")));
    } else {
        let stem = stem(&surface);
        if stem != surface {
            terms.push((Role::Exact, format!("={surface}")));
        }
        terms.insert(0, (Role::Stem, stem));
        if let Some(version) =
            surface.strip_prefix('v').filter(|v| v.contains('.') && v.starts_with(|c: char| c.is_ascii_digit()))
        {
            terms.push((Role::Part, version.to_owned()));
        }
    }
    Word { span, surface, terms }
}

/// The pieces of a compound: at `_`, `-`, `@`, dots that are not inside a number, and where the
/// case turns (`loadPage`, `HTTPHeader`).
fn pieces(word: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    let mut chars = word.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let digits = before.is_some_and(|b| b.is_ascii_digit()) && next.is_some_and(|n| n.is_ascii_digit());
        if matches!(c, '_' | '-' | '@') || (c == '.' && !digits) {
            push(word, start..at, &mut out);
            start = at + c.len_utf8();
        } else if c.is_uppercase()
            && before.is_some_and(|b| b.is_lowercase() || (b.is_uppercase() && next.is_some_and(char::is_lowercase)))
        {
            push(word, start..at, &mut out);
            start = at;
        }
        before = Some(c);
    }
    push(word, start..word.len(), &mut out);
    out
}

fn push<'a>(word: &'a str, range: Range<usize>, out: &mut Vec<&'a str>) {
    out.extend(word.get(range).filter(|piece| !piece.is_empty()));
}

fn cut(term: String) -> String {
    dormouse_vault::text::truncate_chars(&term, MAX_TERM).to_owned()
}

thread_local! {
    static ENGLISH: RefCell<Stemmer> = RefCell::new(Stemmer::create(Algorithm::English));
}

/// The stem of a folded word: the lemma of irregular forms, Snowball's English stem of Latin words,
/// anything else as it is.
fn stem(word: &str) -> String {
    let word = lemma(word).unwrap_or(word);
    if word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase()) {
        ENGLISH.with_borrow(|english| english.stem(word).into_owned())
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        expected.assert_eq(&index_terms(text).join(" "));
    }

    #[test]
    fn words_are_stemmed_with_their_exact_form_beside() {
        check("Caroline's films were running", expect!["carolin =caroline film =films =were run =running"]);
        check("Café ΣΟΦΟΣ ｆｕｌｌ don't", expect!["cafe σοφοσ full =dont"]);
    }

    #[test]
    fn identifiers_stand_whole_and_in_pieces() {
        check("merge_sorted_runs", expect!["mergesortedrun merg sort run"]);
        check(
            "decodeHTTPHeader loadpagebykey loadPageByKey",
            expect![[r#"decodehttphead decod http header loadpagebykey loadpagebykey load page key"#]],
        );
        check("v1.2.3 0.8 1,210 C++ F# a.b@c.org", expect!["v1.2.3 1.2.3 0.8 1210 c++ f# a.b@c.org b c org"]);
    }

    #[test]
    fn chinese_stands_in_characters_and_pairs() {
        check("用BM25检索记忆🙂", expect!["用 bm25 检 检索 索 索记 记 记忆 忆 🙂"]);
    }

    #[test]
    fn nothing_readable_gives_nothing() {
        check("* >>> \" ~ \n --- ''", expect![""]);
    }
}
