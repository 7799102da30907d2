//! Where one intent ends and the next begins: explicit words first, vocabulary second.

use std::collections::BTreeSet;

use dormouse_vault::text::content_words;

use super::spoken::{Speaker, Turn, is_request};

/// Turns of the user and the agent that a shift of vocabulary is judged by.
const LOOK_AHEAD: usize = 4;
/// Distinct content words on both sides below which vocabulary says nothing.
const MIN_WORDS: usize = 12;

/// Words that open a new matter, whatever they are followed by.
const STRONG: &[&str] = &[
    "second thing",
    "the second thing",
    "another topic",
    "another matter",
    "a different topic",
    "different question",
    "something else",
    "new topic",
    "next topic",
    "unrelated",
    "not related",
    "changing the subject",
    "switching topics",
    "第二件事",
    "第三件事",
    "另一件事",
    "另外一件事",
    "还有一件事",
    "换个话题",
    "换一个话题",
    "下一个问题",
    "别的事",
    "说另一个",
];
/// Words that may open one, when the vocabulary shifts as well.
const WEAK: &[&str] =
    &["by the way", "also", "another thing", "next", "separately", "now", "另外", "还有", "顺便", "对了", "接下来"];

/// Cuts the turns at new intents. Cuts fall before a turn of the user only. Near-linear.
pub(super) fn intents(turns: &[Turn]) -> Vec<&[Turn]> {
    let words: Vec<BTreeSet<String>> = turns.iter().map(|t| content_words(&t.text).into_iter().collect()).collect();
    let mut out = Vec::new();
    let mut start = 0;
    let mut said: BTreeSet<&String> = BTreeSet::new();
    for (at, turn) in turns.iter().enumerate() {
        let begins = at > start
            && turn.speaker == Speaker::User
            && opens(turn, words.get(at..).unwrap_or_default(), &said, at - start);
        if begins {
            out.extend(turns.get(start..at));
            start = at;
            said.clear();
        }
        said.extend(words.get(at).into_iter().flatten());
    }
    if let Some(rest) = turns.get(start..).filter(|rest| !rest.is_empty()) {
        out.push(rest);
    }
    out
}

fn opens(turn: &Turn, ahead: &[BTreeSet<String>], said: &BTreeSet<&String>, length: usize) -> bool {
    let lower = turn.text.to_lowercase();
    let head: String = lower.chars().take(60).collect();
    if STRONG.iter().any(|mark| head.contains(mark)) {
        return true;
    }
    let weak = WEAK.iter().any(|mark| {
        head.strip_prefix(mark).is_some_and(|rest| rest.chars().next().is_none_or(|c| !c.is_ascii_alphabetic()))
    });
    if length < if weak { 2 } else { 4 } || !is_request(&turn.text) {
        return false;
    }
    let next: BTreeSet<&String> = ahead.iter().take(LOOK_AHEAD).flatten().collect();
    if next.len() < MIN_WORDS || said.len() < MIN_WORDS {
        return false;
    }
    // One word in common is enough to go on; without an opening word twice the evidence is asked for.
    let shifted = !next.iter().any(|word| said.contains(*word));
    shifted && (weak || (next.len() >= 2 * MIN_WORDS && said.len() >= 2 * MIN_WORDS))
}
