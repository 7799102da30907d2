//! Terms as a person writes them: the usual form of an English word, and whole Chinese words.

use std::collections::BTreeMap;

use dormouse_vault::text::is_cjk;

use super::chinese::{is_broken, whole_word};

/// What words of one meaning have in common: an English word without its inflection. Other words
/// stay as they are.
pub(super) fn stem(word: &str) -> &str {
    if !word.is_ascii() {
        return word;
    }
    let mut root = word;
    for (ending, least) in [("ings", 4), ("ing", 4), ("ies", 3), ("ied", 3), ("ed", 4), ("es", 4), ("s", 3)] {
        if let Some(rest) = word.strip_suffix(ending).filter(|rest| rest.len() >= least && !rest.ends_with('s')) {
            // stopped, running
            let mut ends = rest.bytes().rev();
            let doubled = ending.len() > 1 && ends.next().zip(ends.next()).is_some_and(|(a, b)| a == b && a != b'l');
            root = if doubled { rest.get(..rest.len() - 1).unwrap_or(rest) } else { rest };
            break;
        }
    }
    // query and queries, make and making
    root.strip_suffix(['e', 'y', 'i']).filter(|rest| rest.len() >= 3).unwrap_or(root)
}

/// Whether a word can stand in a label: two letters at least, no fewer letters than digits, and more
/// than a denial.
pub(super) fn is_telling(word: &str) -> bool {
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    !is_denial(word) && letters >= 2 && letters >= digits && !word.contains('_') && !is_broken(word)
}

/// Whether a word says no and nothing else.
pub(super) fn is_denial(word: &str) -> bool {
    matches!(word, "not" | "no" | "nor" | "never" | "without" | "cannot")
}

/// Whether two terms of one label say nearly the same: one holds the other, or two Chinese ones
/// share a pair of characters.
pub(super) fn are_twins(a: &str, b: &str) -> bool {
    if !a.chars().any(is_cjk) || !b.chars().any(is_cjk) {
        let (a, b) = (a.to_lowercase(), b.to_lowercase());
        let (short, long) = if a.len() < b.len() { (&a, &b) } else { (&b, &a) };
        return stem(&a) == stem(&b) || (stem(short).len() >= 4 && long.starts_with(stem(short)));
    }
    let pairs =
        |s: &str| s.chars().zip(s.chars().skip(1)).map(|(x, y)| [x, y].iter().collect::<String>()).collect::<Vec<_>>();
    pairs(a).iter().any(|pair| b.contains(pair.as_str()))
}

/// A term as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) term: String,
    /// Whether it is seen to be whole: blanks or punctuation delimit it somewhere, or a name begins or
    /// ends with it.
    pub(super) firm: bool,
}

/// `term`, a lower-case content word or a Chinese pair, as the texts have it; `None` when it is no
/// word: a pair that straddles two. `names` are what the notes are called. O(texts).
pub(super) fn as_written(term: &str, texts: &[String], names: &[String]) -> Option<Written> {
    if term.chars().all(is_cjk) {
        whole_word(term, texts, names)
    } else {
        Some(Written { term: usual_form(term, texts), firm: true })
    }
}

/// Places of a word that are looked at.
pub(super) const PLACES: usize = 300;

/// The most frequent form of the word: lower-case if it is ever written so, or stands in capitals
/// only where a sentence begins.
fn usual_form(term: &str, texts: &[String]) -> String {
    let root = stem(term);
    let mut forms: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
    let mut places = 0;
    for text in texts {
        if places >= PLACES {
            break;
        }
        let mut within = false;
        for word in text.split_inclusive(|c: char| (is_cjk(c) || !c.is_alphanumeric()) && c != '\'') {
            let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric() || is_cjk(c));
            let first = root.chars().next();
            let begins = bare.chars().next().is_some_and(|c| Some(c) == first || c.to_lowercase().next() == first);
            let lower = if begins { bare.to_lowercase() } else { String::new() };
            if begins && stem(&lower) == root && !is_denial(&lower) {
                let form = forms.entry(bare).or_insert((0, false));
                form.0 += 1;
                form.1 |= within;
                places += 1;
            }
            if !bare.is_empty() {
                within = word.ends_with([' ', ',']) && bare.chars().next().is_some_and(char::is_alphanumeric);
            }
        }
    }
    let lower = |form: &str| !form.chars().any(char::is_uppercase);
    let name = |form: &str, within: bool| within || form.chars().skip(1).any(char::is_uppercase);
    let any_lower = forms.keys().any(|form| lower(form));
    let fitting = forms.iter().filter(|(form, seen)| if any_lower { lower(form) } else { name(form, seen.1) });
    let best = fitting.max_by(|a, b| a.1.0.cmp(&b.1.0).then(b.0.len().cmp(&a.0.len())).then(b.0.cmp(a.0)));
    best.map_or_else(|| term.to_owned(), |(form, _)| (*form).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(term: &str, text: &str) -> String {
        as_written(term, &[text.to_owned()], &[]).map_or_else(|| "–".to_owned(), |written| written.term)
    }

    #[test]
    fn english_words_stand_in_their_usual_form() {
        assert_eq!(written("deploy", "Deploys fail. Deploys again, deploy"), "deploy");
        assert_eq!(written("deploy", "Deploys fail when deploys run"), "deploys");
        assert_eq!(written("bm25", "BM25 wins. We chose BM25."), "BM25");
        assert_eq!(written("dormouse", "We build Dormouse for agents."), "Dormouse");
        assert_eq!(written("fusion", "Fusion by rank."), "fusion");
        assert_eq!(written("kubernete", "on kubernetes"), "kubernetes");
    }

    #[test]
    fn near_twins_are_told() {
        for (a, b) in [("deploy", "deploys"), ("deploy", "deployment"), ("审计页", "审计"), ("ranking", "ranked")]
        {
            assert!(are_twins(a, b), "{a} {b}");
        }
        assert!(!are_twins("检索", "索引") && !are_twins("split", "lit") && !are_twins("car", "cargo"));
    }
}
