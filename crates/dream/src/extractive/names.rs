//! Names and summaries: short, descriptive, stable.

use dormouse_vault::text::{is_cjk, truncate_chars};

use crate::markdown::{name_text, plain};
use crate::material::{Language, Material};

/// The material's own name, fit for a note; `None` when it says nothing (a date, "Notes").
pub(super) fn title(material: &Material) -> Option<String> {
    let name = name_text(&material.name);
    let padded = super::cues::padded(&name);
    let words: Vec<&str> = padded.split_whitespace().collect();
    let empty = |w: &&&str| {
        w.chars().all(|c| c.is_ascii_digit())
            || [
                "note", "notes", "untitled", "log", "daily", "event", "session", "journal", "笔记",
                "日记", "日志", "记录", "杂记",
            ]
            .contains(*w)
    };
    if words.is_empty() || words.iter().all(|w| empty(&w)) {
        return None;
    }
    Some(clip(&name, 64))
}

/// A name from a sentence: its first clause, at most ten words or twenty-four characters of Chinese.
pub(super) fn from_sentence(sentence: &str) -> String {
    let text = name_text(&plain(sentence))
        .trim_start_matches(|c: char| !c.is_alphanumeric())
        .to_owned();
    let text = text
        .strip_prefix("The ")
        .or_else(|| text.strip_prefix("the "))
        .unwrap_or(&text)
        .trim();
    let clause_end = text
        .char_indices()
        .find(|(i, c)| {
            let next = text.get(i + c.len_utf8()..).and_then(|r| r.chars().next());
            matches!(c, ',' | ';' | ':' | '.' | '!' | '?')
                && next.is_none_or(|n| n.is_whitespace() || is_cjk(n))
                || matches!(c, '，' | '。' | '；' | '：' | '！' | '？' | '(' | '（')
        })
        .map_or(text.len(), |(i, _)| i);
    let clause = text.get(..clause_end).unwrap_or(text).trim();
    // "Oh yeah", "用户强调": an opening that says nothing goes on into the next clause.
    let chinese = clause.chars().any(is_cjk);
    let thin = if chinese {
        clause.chars().count() < 7
    } else {
        clause.split_whitespace().count() < 4
    };
    let clause = if thin { text } else { clause };
    let short = if clause.chars().any(is_cjk) {
        truncate_chars(clause, 24).to_owned()
    } else {
        let mut words: Vec<&str> = clause.split_whitespace().collect();
        if words.len() > 10 {
            let joint = words
                .iter()
                .take(11)
                .rposition(|w| JOINTS.contains(w))
                .filter(|at| *at >= 5);
            words.truncate(joint.unwrap_or(8));
        }
        while words.len() > 3
            && words
                .last()
                .is_some_and(|w| TRAILING.contains(&w.to_lowercase().as_str()))
        {
            words.pop();
        }
        words.join(" ")
    };
    capitalised(
        short.trim_end_matches(|c: char| {
            !c.is_alphanumeric() && !matches!(c, ')' | '%' | '+' | '#')
        }),
    )
}

/// Words that a clause can be cut before.
const JOINTS: &[&str] = &[
    "and", "or", "but", "when", "because", "so", "while", "since", "if",
];

/// Words that a name should not end with.
const TRAILING: &[&str] = &[
    "a", "an", "the", "and", "or", "but", "of", "to", "in", "on", "at", "by", "for", "with",
    "from", "that", "which", "is", "are", "was", "were", "as", "its", "his", "her", "their", "not",
    "than", "then", "when", "where", "into", "over",
];

/// A text cut at a word, at most `max` characters, with an ellipsis where something is missing.
pub(super) fn clip(text: &str, max: usize) -> String {
    let short = truncate_chars(text, max);
    if short.len() == text.len() {
        return text.to_owned();
    }
    let at = short
        .rfind(|c: char| c.is_whitespace() || is_cjk(c))
        .filter(|at| *at > short.len() / 2);
    let cut = match at {
        Some(at)
            if short
                .get(at..)
                .and_then(|r| r.chars().next())
                .is_some_and(char::is_whitespace) =>
        {
            short.get(..at).unwrap_or(short)
        }
        _ => short,
    };
    format!("{}…", cut.trim_end_matches(|c: char| !c.is_alphanumeric()))
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// The name of a procedure taken from a material.
pub(super) fn of_steps(title: &str, language: Language) -> String {
    match language {
        Language::English => format!("{title}: steps"),
        Language::Chinese => format!("{title}的步骤"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_first_clause_and_never_a_long_sentence() {
        assert_eq!(
            from_sentence(
                "The user prefers short answers with the conclusion in the first sentence."
            ),
            "User prefers short answers with the conclusion"
        );
        assert_eq!(
            from_sentence("用户希望用中文讨论设计,但代码一律用英文。"),
            "用户希望用中文讨论设计"
        );
        assert_eq!(
            from_sentence(
                "The user prefers that a failing idle task is reported and the others go on, and sleeps."
            ),
            "User prefers that a failing idle task is reported"
        );
        assert_eq!(
            from_sentence("Never start a server, ever."),
            "Never start a server"
        );
        assert_eq!(clip("one two three four", 9), "one two…");
    }
}
