//! Sentences, in English and Chinese.

use std::ops::Range;

/// The sentences of `text` as byte ranges, trimmed, in order; line ends always separate.
///
/// A Latin sentence ends at `.`, `!`, `?` (with closing quotes or brackets) before a blank and not
/// after a single letter, a common abbreviation or a list number; a Chinese one at `。！？；…`.
/// Linear.
#[must_use]
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let mut end = at + c.len_utf8();
        let closes = match c {
            '\n' | '\r' => true,
            '。' | '！' | '？' | '；' | '…' => true,
            '.' | '!' | '?' => {
                while let Some(&(_, next)) = chars.peek() {
                    if matches!(next, '.' | '!' | '?' | '"' | '\'' | ')' | ']' | '”' | '’' | '」' | '』' | '）')
                    {
                        end += next.len_utf8();
                        chars.next();
                    } else {
                        break;
                    }
                }
                let blank_next = chars.peek().is_none_or(|&(_, next)| next.is_whitespace() || super::is_cjk(next));
                blank_next && !(c == '.' && is_abbreviation(text.get(start..at).unwrap_or("")))
            }
            _ => false,
        };
        if closes {
            while let Some(&(_, next)) = chars.peek() {
                if matches!(next, '”' | '’' | '」' | '』' | '）' | '"') && !c.is_whitespace() {
                    end += next.len_utf8();
                    chars.next();
                } else {
                    break;
                }
            }
            push(text, start..end, &mut out);
            start = end;
        }
    }
    push(text, start..text.len(), &mut out);
    out
}

fn push(text: &str, range: Range<usize>, out: &mut Vec<Range<usize>>) {
    let Some(slice) = text.get(range.clone()) else { return };
    let lead = slice.len() - slice.trim_start().len();
    let trimmed = slice.trim();
    if trimmed.chars().any(char::is_alphanumeric) {
        out.push(range.start + lead..range.start + lead + trimmed.len());
    }
}

fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("");
    let lower = word.to_lowercase();
    matches!(
        lower.as_str(),
        "e.g"
            | "i.e"
            | "etc"
            | "vs"
            | "cf"
            | "mr"
            | "mrs"
            | "ms"
            | "dr"
            | "prof"
            | "st"
            | "no"
            | "fig"
            | "approx"
            | "ca"
    ) && lower != "no"
        || (word.chars().count() == 1 && word.chars().all(char::is_alphabetic) && word != "I")
        || (before.trim_start() == word && !word.is_empty() && word.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    fn check(text: &str, expected: &[&str]) {
        let got: Vec<_> = super::sentences(text).into_iter().map(|r| &text[r]).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn english_sentences_end_at_stops_but_not_in_numbers_and_abbreviations() {
        check("Use k1 0.8, b 0. It won, e.g. on prose! Why?", &["Use k1 0.8, b 0.", "It won, e.g. on prose!", "Why?"]);
        check("1. First step\n2. Second", &["1. First step", "2. Second"]);
    }

    #[test]
    fn chinese_sentences_end_at_full_width_stops() {
        check("先备份。然后升级！好吗？“可以。”走", &["先备份。", "然后升级！", "好吗？", "“可以。”", "走"]);
    }
}
