//! Rules that hold until they are revoked: age does not make them less true.

use dormouse_vault::{Bucket, Note};

/// Words of a rule that holds until it is revoked.
const RULES_EN: [&str; 7] = ["never", "always", "must", "don't", "don’t", "do not", "forbidden"];
const RULES_ZH: [&str; 12] =
    ["不要", "禁止", "必须", "永远", "绝不", "务必", "切勿", "总是", "不得", "不许", "一定要", "千万"];

/// Whether a note of `personal` or `procedure` states a rule: a pure function of its text and path. `statement` is what it says.
pub(crate) fn is_rule(note: &Note, statement: &str) -> bool {
    if !matches!(note.bucket, Some(Bucket::Personal | Bucket::Procedure)) {
        return false;
    }
    let description = note.description.as_deref().unwrap_or("");
    let text = format!("{}\n{description}\n{}", note.name, statement).to_lowercase();
    RULES_ZH.iter().any(|cue| text.contains(cue)) || RULES_EN.iter().any(|cue| has_words(&text, cue))
}

/// Whether `cue` stands in `text` as whole words.
fn has_words(text: &str, cue: &str) -> bool {
    text.match_indices(cue).any(|(at, found)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_found_as_whole_words() {
        assert!(has_words("you must not", "must"));
        assert!(!has_words("mustard", "must"));
        assert!(has_words("never.", "never"));
    }
}
