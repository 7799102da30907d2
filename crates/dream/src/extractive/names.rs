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
                "note", "notes", "untitled", "log", "daily", "event", "session", "journal", "笔记", "日记", "日志",
                "记录", "杂记",
            ]
            .contains(*w)
    };
    if words.is_empty() || words.iter().all(|w| empty(&w)) {
        return None;
    }
    if is_review(&name) {
        return None;
    }
    subject_of(&name)
}

/// Whether a name is that of a look back over a span of time: it has no subject of its own.
pub(super) fn is_review(name: &str) -> bool {
    let padded = super::cues::padded(name);
    let spans = [" week ", " month ", " quarter ", " year ", " sprint "];
    (padded.contains(" review ") || padded.contains(" retrospective ")) && spans.iter().any(|s| padded.contains(s))
        || name.contains("回顾") && ["周", "月", "季", "年"].iter().any(|s| name.contains(s))
}

/// The subject of a title. One that is the first sentence of a talk loses its opening, what hangs on
/// it and its ellipsis; `None` when too little is left.
fn subject_of(title: &str) -> Option<String> {
    let cut = title.trim_end().trim_end_matches(['…', '.']).trim_end();
    let lower = cut.to_lowercase();
    let opening = OPENINGS_EN
        .iter()
        .filter(|o| lower.starts_with(*o))
        .map(|o| o.len())
        .max()
        .or_else(|| OPENINGS_ZH.iter().find(|o| cut.starts_with(*o)).map(|o| o.len()));
    let chinese = cut.chars().filter(|c| is_cjk(*c)).count();
    let long = if chinese > 4 { chinese > 20 } else { cut.split_whitespace().count() > 9 };
    let talk = opening.is_some() || cut.len() < title.trim_end().len() || long && cut.len() == lower.len();
    if !talk {
        return Some(clip(title, 64));
    }
    let mut rest = cut.get(opening.unwrap_or(0)..).unwrap_or(cut).trim();
    // "Before we go on with the parser: I looked at the history"
    if ["before ", "first", "good", "two things"].iter().any(|w| lower.starts_with(w))
        && let Some((_, after)) = rest.split_once([':', '.'])
    {
        return subject_of(after.trim()).filter(|s| s.split_whitespace().count() > 1);
    }
    let lower = rest.to_ascii_lowercase();
    let hangs = HANGING.iter().filter_map(|joint| lower.find(joint)).filter(|at| *at > 0).min();
    if let Some(at) = hangs {
        let head = rest.get(..at).unwrap_or(rest);
        if chinese > 4 && head.chars().count() >= 6 || head.split_whitespace().count() >= 2 {
            rest = head;
        }
    }
    let name = from_sentence(rest);
    let name =
        ["A ", "An "].iter().find_map(|article| name.strip_prefix(article)).map_or_else(|| name.clone(), capitalised);
    let enough = name.chars().filter(|c| is_cjk(*c)).count() >= 4 || name.split_whitespace().count() >= 2;
    enough.then_some(name)
}

#[rustfmt::skip]
const OPENINGS_EN: &[&str] = &[
    "i want a ", "i want to ", "i want ", "i need to ", "i need a ", "i need ", "i would like to ", "i'd like to ", "i'd like ", "we should agree on ",
    "we should ", "we need to ", "can you ", "could you ", "please ", "let's ", "how do you know that ", "i looked at ", "i ran ",
];
#[rustfmt::skip]
const OPENINGS_ZH: &[&str] = &["我想要", "我想", "我希望", "能不能", "可不可以", "请你", "请", "我需要", "我看了"];
#[rustfmt::skip]
const HANGING: &[&str] = &[
    ", ", " that ", " which ", " before ", " while ", " without ", " because ", " since ", " and it ", " this", "，", "。", "、但",
];

/// A name without the day that tells it from an older note of the same name.
pub(super) fn undated(name: &str) -> &str {
    match name.rsplit_once(" (") {
        Some((head, day)) if day.len() == 11 && day.ends_with(')') && day.starts_with(|c: char| c.is_ascii_digit()) => {
            head
        }
        _ => name,
    }
}

/// A name from a sentence: its first clause, at most ten words or twenty-four characters of Chinese.
pub(super) fn from_sentence(sentence: &str) -> String {
    let text = name_text(&plain(sentence)).trim_start_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let text = ["From now on ", "from now on ", "Then ", "Yes, ", "User: ", "用户：", "另外，", "还有，"]
        .iter()
        .find_map(|opening| text.strip_prefix(opening))
        .unwrap_or(&text);
    let text = text.strip_prefix("The ").or_else(|| text.strip_prefix("the ")).unwrap_or(text).trim();
    let clause_end = text
        .char_indices()
        .find(|(i, c)| {
            let next = text.get(i + c.len_utf8()..).and_then(|r| r.chars().next());
            matches!(c, ',' | ';' | ':' | '.' | '!' | '?') && next.is_none_or(|n| n.is_whitespace() || is_cjk(n))
                || matches!(c, '，' | '。' | '；' | '：' | '！' | '？' | '(' | '（')
        })
        .map_or(text.len(), |(i, _)| i);
    let clause = text.get(..clause_end).unwrap_or(text).trim();
    // "Oh yeah", "用户强调": an opening that says nothing goes on into the next clause.
    let chinese = clause.chars().any(is_cjk);
    let thin = if chinese { clause.chars().count() < 7 } else { clause.split_whitespace().count() < 4 };
    let clause = match thin {
        true if chinese => next_clause(text, clause_end),
        true => text,
        false => clause,
    };
    let short = if clause.chars().any(is_cjk) {
        truncate_chars(clause, 24).to_owned()
    } else {
        let mut words: Vec<&str> = clause.split_whitespace().collect();
        if words.len() > 10 {
            let joint = words.iter().take(11).rposition(|w| JOINTS.contains(w)).filter(|at| *at >= 5);
            words.truncate(joint.unwrap_or(8));
        }
        while words.len() > 3 && words.last().is_some_and(|w| TRAILING.contains(&w.to_lowercase().as_str())) {
            words.pop();
        }
        words.join(" ")
    };
    capitalised(short.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, ')' | '%' | '+' | '#')))
}

/// The text up to the end of the clause after the one that ends at `end`.
fn next_clause(text: &str, end: usize) -> &str {
    let marks = ['，', '。', '；', '：', '！', '？'];
    let rest = text.get(end..).unwrap_or("").trim_start_matches(marks);
    let from = text.len() - rest.len();
    rest.find(marks).and_then(|n| text.get(..from + n)).unwrap_or(text)
}

/// Words that a clause can be cut before.
const JOINTS: &[&str] = &["and", "or", "but", "when", "because", "so", "while", "since", "if"];

/// Words that a name should not end with.
const TRAILING: &[&str] = &[
    "a", "an", "the", "and", "or", "but", "of", "to", "in", "on", "at", "by", "for", "with", "from", "that", "which",
    "is", "are", "was", "were", "as", "its", "his", "her", "their", "not", "than", "then", "when", "where", "into",
    "over",
];

/// A text cut at a word, at most `max` characters, with an ellipsis where something is missing.
pub(super) fn clip(text: &str, max: usize) -> String {
    let short = truncate_chars(text, max);
    if short.len() == text.len() {
        return text.to_owned();
    }
    let at = short.rfind(|c: char| c.is_whitespace() || is_cjk(c)).filter(|at| *at > short.len() / 2);
    let cut = match at {
        Some(at) if short.get(at..).and_then(|r| r.chars().next()).is_some_and(char::is_whitespace) => {
            short.get(..at).unwrap_or(short)
        }
        _ => short,
    };
    format!("{}…", cut.trim_end_matches(|c: char| !c.is_alphanumeric()))
}

pub(super) fn capitalised(text: &str) -> String {
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
            from_sentence("The user prefers short answers with the conclusion in the first sentence."),
            "User prefers short answers with the conclusion"
        );
        assert_eq!(from_sentence("用户希望用中文讨论设计,但代码一律用英文。"), "用户希望用中文讨论设计");
        assert_eq!(
            from_sentence("The user prefers that a failing idle task is reported and the others go on, and sleeps."),
            "User prefers that a failing idle task is reported"
        );
        assert_eq!(from_sentence("Never start a server, ever."), "Never start a server");
        assert_eq!(clip("one two three four", 9), "one two…");
    }
}
