//! Words of running text, for lexical likeness and labels.

use std::collections::BTreeSet;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Whether `c` is a Han, Hiragana, Katakana or Hangul character, written without blanks.
#[must_use]
pub fn is_cjk(c: char) -> bool {
    matches!(u32::from(c),
        0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF
        | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// The words of `text`, lower-case, NFC, in order: Latin words whole (with inner `'`, `_`, `.`
/// between digits dropped or kept as the word's), CJK runs as overlapping bigrams (a run of one
/// character as itself). Linear.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut run: Vec<char> = Vec::new();
    each_lower(text, |c| {
        if c.is_ascii() {
            if !run.is_empty() {
                flush_run(&mut run, &mut out);
            }
            if c.is_ascii_alphanumeric() || c == '_' {
                word.push(c);
            } else if c != '\'' {
                flush_word(&mut word, &mut out);
            }
        } else if is_cjk(c) {
            flush_word(&mut word, &mut out);
            run.push(c);
        } else {
            flush_run(&mut run, &mut out);
            if c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c) {
                word.push(c);
            } else if c != '’' {
                flush_word(&mut word, &mut out);
            }
        }
    });
    flush_word(&mut word, &mut out);
    flush_run(&mut run, &mut out);
    out
}

/// The characters in lower case, composed. Most texts are composed already, and most characters ASCII.
fn each_lower(text: &str, mut with: impl FnMut(char)) {
    let mut lower = |c: char| {
        if c.is_ascii() {
            with(c.to_ascii_lowercase());
        } else {
            c.to_lowercase().for_each(&mut with);
        }
    };
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => text.chars().for_each(&mut lower),
        _ => text.nfc().for_each(&mut lower),
    }
}

fn flush_word(word: &mut String, out: &mut Vec<String>) {
    if !word.is_empty() {
        out.push(std::mem::take(word));
    }
}

fn flush_run(run: &mut Vec<char>, out: &mut Vec<String>) {
    match run.as_slice() {
        [] => {}
        [one] => out.push(one.to_string()),
        many => out.extend(many.windows(2).map(|pair| pair.iter().collect::<String>())),
    }
    run.clear();
}

/// The words of `text` that carry meaning: no function words of English or Chinese, no single Latin
/// letters, a plural `s` folded away.
#[must_use]
pub fn content_words(text: &str) -> Vec<String> {
    words(text).into_iter().filter(|w| !is_function_word(w)).map(fold_plural).collect()
}

/// The set of runs of `n` consecutive content words, for likeness of whole texts.
#[must_use]
pub fn shingles(text: &str, n: usize) -> BTreeSet<String> {
    let words = content_words(text);
    words.windows(n.max(1)).map(|run| run.join(" ")).collect()
}

fn fold_plural(mut word: String) -> String {
    let plural = word.len() > 3
        && word.is_ascii()
        && word.ends_with('s')
        && !word.ends_with("ss")
        && !word.ends_with("us")
        && !word.ends_with("is");
    if plural {
        word.pop();
    }
    word
}

fn is_function_word(word: &str) -> bool {
    let mut chars = word.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if c.is_ascii() => c.is_ascii_alphabetic(),
        (Some(c), _) if c.is_ascii() => word.len() <= 8 && ENGLISH.binary_search(&word).is_ok(),
        // No word of the list is longer than two characters.
        _ => word.len() <= 6 && CHINESE.contains(&word),
    }
}

#[rustfmt::skip]
const ENGLISH: &[&str] = &[
    "about", "above", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "being", "below", "between", "both", "but", "by", "can", "cannot", "could", "did", "do", "does",
    "doing", "down", "during", "each", "few", "for", "from", "further", "had", "has", "have", "having", "he", "her",
    "here", "hers", "him", "his", "how", "if", "in", "into", "is", "it", "its", "just", "me", "more", "most", "my",
    "no", "nor", "not", "of", "off", "on", "once", "only", "or", "other", "our", "ours", "out", "over", "own", "same",
    "she", "should", "so", "some", "such", "than", "that", "the", "their", "theirs", "them", "then", "there", "these",
    "they", "this", "those", "through", "to", "too", "under", "until", "up", "very", "was", "we", "were", "what",
    "when", "where", "which", "while", "who", "whom", "why", "will", "with", "would", "you", "your", "yours",
];

#[rustfmt::skip]
const CHINESE: &[&str] = &[
    "的", "了", "是", "在", "和", "与", "也", "就", "都", "而", "及", "或", "我", "你", "他", "她", "它", "这", "那", "有", "不", "把", "被", "让", "给", "对", "从", "到", "为", "以",
    "我们", "你们", "他们", "这个", "那个", "一个", "没有", "什么", "怎么", "因为", "所以", "如果", "但是", "可以", "已经", "就是", "还是", "这样", "那样", "以及", "并且", "然后", "时候",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_runs_become_bigrams_and_latin_words_stay_whole() {
        assert_eq!(words("用BM25检索记忆"), ["用", "bm25", "检索", "索记", "记忆"]);
        assert_eq!(words("Don't re-read foo_bar"), ["dont", "re", "read", "foo_bar"]);
    }

    #[test]
    fn function_words_carry_no_meaning() {
        assert_eq!(content_words("What are the links of a note?"), ["link", "note"]);
        assert!(ENGLISH.is_sorted());
    }
}
