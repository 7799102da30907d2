//! Which digest speaks of the same thing in other words: it shares with a unit what is telling in both.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_vault::text::{content_words, is_cjk};

use super::topics;
use crate::decide::Candidate;
use crate::gate::GroundedUnit;
use crate::markdown::plain;
use crate::material::Material;
use crate::stated::bare;
use dormouse_vault::Bucket;

/// The share of the lesser side's telling words, by weight, that both must have, when it is two words, and
/// when it is more; for Chinese less, where a text has a pair for every two neighbours and most of them
/// tell little. Measured on the labelled events: what is of a kind mostly shares more, what only looks
/// like it less.
const SHARE: (f64, f64) = (0.25, 0.18);
const SHARE_OF_PAIRS: (f64, f64) = (0.2, 0.12);

/// Words that say nothing of what a text is about: of time and number, of telling and wanting.
#[rustfmt::skip]
const VAGUE: &[&str] = &[
    "again", "agent", "always", "asked", "away", "bad", "best", "better", "big", "came", "case", "change", "close", "day", "degree", "done", "early", "end", "even", "every", "everything",
    "first", "five", "four", "get", "go", "gone", "good", "got", "great", "half", "hour", "instead", "keep", "kept", "know", "known", "last", "late", "later", "least", "less", "like",
    "line", "long", "longer", "lot", "made", "make", "making", "many", "may", "mean", "minute", "month", "more", "morning", "much", "must", "need", "never", "new", "next", "nine", "nobody",
    "now", "old", "one", "open", "part", "people", "place", "please", "put", "rather", "reason", "rest", "right", "said", "same", "say", "second", "set", "seven", "short", "since", "six",
    "step", "still", "take", "ten", "than", "thing", "think", "third", "three", "time", "today", "told", "took", "twice", "two", "use", "used", "user", "wait", "want", "way", "week",
    "well", "went", "without", "work", "wrong", "year", "yesterday", "zero", "cause", "caused", "fix", "fixed", "problem", "issue", "lesson", "decision", "decided", "rule", "prefer", "found", "happened", "turned", "learned", "stopped", "started",
    "一次", "一个", "两个", "三个", "今天", "用户", "助手", "希望", "以后", "之后", "之前", "现在", "时候", "问题", "需要", "不要", "没有", "可以", "每次", "就是", "一下", "这个", "那个", "两天", "一天", "小时", "分钟", "原因", "决定", "教训", "约定", "结论", "改为", "修复", "解决", "发现",
];

/// How near the nearest of several must be to the next one: else it is not clear which.
const AHEAD: f64 = 1.05;

/// The candidate that speaks of the same thing as `unit`, whatever its bucket; `None` when none
/// does, or it is not clear which. Linear in the text of the candidates.
pub(super) fn kin<'c>(material: &Material, unit: &GroundedUnit, candidates: &'c [Candidate]) -> Option<&'c Candidate> {
    if topics::is_name(&unit.name) {
        return None;
    }
    let theirs: Vec<Words> = candidates.iter().map(Words::of).collect();
    let mut holders: BTreeMap<&str, usize> = BTreeMap::new();
    for word in theirs.iter().flat_map(|w| &w.all) {
        *holders.entry(word).or_default() += 1;
    }
    // A word that all of them have tells nothing.
    let weight = |word: &str| {
        let seen = holders.get(word).copied().unwrap_or(0) as f64;
        ((1.0 + candidates.len().max(8) as f64) / seen.max(0.7)).ln()
    };
    let sum = |words: &BTreeSet<String>| words.iter().map(|w| weight(w)).sum::<f64>();
    let said = format!("{}\n{}", unit.query(), material.name);
    let mine = telling(&said);
    let my_runs = runs(&said);
    // What the event says beside it shows what it is about, though less.
    let context: String = material.passages.iter().map(|p| format!("{}\n", plain(&p.text))).collect();
    let around: BTreeSet<String> = telling(&context).difference(&mine).cloned().collect();
    let mut found: Vec<(f64, &Candidate)> = Vec::new();
    for (candidate, words) in candidates.iter().zip(&theirs) {
        if !may_join(material, unit, candidate) {
            continue;
        }
        let lesser = sum(&mine).min(sum(&words.all)).max(f64::MIN_POSITIVE);
        // One block must have it, with the name of the note: words from here and there are no subject.
        let best = words
            .blocks
            .iter()
            .map(|block| {
                let shared: BTreeSet<String> = mine.intersection(block).cloned().collect();
                let beside: BTreeSet<String> = around.intersection(block).cloned().collect();
                (sum(&shared) + sum(&beside) / 2.0, shared)
            })
            .max_by(|(a, _), (b, _)| a.total_cmp(b));
        let Some((common, shared)) = best else {
            continue;
        };
        let (share, count) = (common / lesser, distinct(&shared));
        let chinese = shared.iter().all(|w| w.chars().all(is_cjk));
        let (of_two, of_more) = if chinese { SHARE_OF_PAIRS } else { SHARE };
        let least = if count > 2 { of_more } else { of_two };
        let verbatim = unit.bucket == Bucket::Personal
            && candidate.blocks.iter().any(|b| !b.related && !my_runs.is_disjoint(&runs(&b.text)));
        if count >= 2 && share >= least || verbatim {
            found.push((share + if verbatim { SHARE.0 } else { 0.0 }, candidate));
        }
    }
    found.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.path.cmp(&y.path)));
    match found.as_slice() {
        [(best, first), (next, second), ..] => {
            let clear = *best >= next * AHEAD || !first.sources.is_disjoint(&second.sources);
            clear.then_some(*first)
        }
        [(_, only)] => Some(*only),
        [] => None,
    }
}

/// Whether a candidate takes in what is of a kind with it. Steps stay among steps, and what is of a person
/// in a note about them; what the event made itself is another matter.
fn may_join(material: &Material, unit: &GroundedUnit, candidate: &Candidate) -> bool {
    let Some(bucket) = candidate.bucket else {
        return false;
    };
    let stays = unit.bucket != Bucket::Wiki || unit.facts.iter().any(|f| f.step);
    !candidate.locked
        && (bucket == unit.bucket || !stays)
        && !candidate.sources.contains(&material.path)
        && !topics::is_name(&candidate.name)
}

/// The telling words of a candidate: all, and of each block with those of the name.
struct Words {
    all: BTreeSet<String>,
    blocks: Vec<BTreeSet<String>>,
}

impl Words {
    fn of(candidate: &Candidate) -> Self {
        let name = telling(&candidate.name);
        let mut all = name.clone();
        let mut blocks = Vec::new();
        for block in candidate.blocks.iter().filter(|b| !b.related) {
            let mut words = telling(&block.text);
            all.extend(words.iter().cloned());
            words.extend(name.iter().cloned());
            blocks.push(words);
        }
        Self { all, blocks }
    }
}

fn telling(text: &str) -> BTreeSet<String> {
    content_words(text)
        .into_iter()
        .filter(|w| !VAGUE.contains(&w.as_str()) && !w.chars().all(|c| c.is_ascii_digit()))
        .collect()
}

/// Runs of four words, or of four Chinese characters, within a clause: wishes come again in the same words.
/// A run of nothing but function words and numbers is none.
fn runs(text: &str) -> BTreeSet<String> {
    const WORDS: usize = 4;
    const CHARACTERS: usize = 4;
    let mut out = BTreeSet::new();
    for clause in bare(&plain(text)).to_lowercase().split(|c: char| ",.;:!?()[]，。；：！？、（）\n".contains(c))
    {
        let words: Vec<&str> =
            clause.split(|c: char| !c.is_alphanumeric()).filter(|w| w.is_ascii() && !w.is_empty()).collect();
        out.extend(words.windows(WORDS).map(|w| w.join(" ")).filter(|run| content_words(run).len() >= 2));
        let characters: Vec<char> = clause.chars().filter(|c| is_cjk(*c)).collect();
        let of_characters = characters.windows(CHARACTERS).map(|w| w.iter().collect::<String>());
        out.extend(of_characters.filter(|run| telling(run).len() >= 2));
    }
    out
}

/// How many words these are: overlapping pairs of Chinese characters are one run, and a run has a word for
/// every two characters.
fn distinct(words: &BTreeSet<String>) -> usize {
    let is_pair = |w: &&String| w.chars().all(is_cjk) && w.chars().count() == 2;
    let pairs: Vec<(char, char)> =
        words.iter().filter(is_pair).filter_map(|w| Some((w.chars().next()?, w.chars().last()?))).collect();
    let others = words.len() - pairs.len();
    let starts = pairs.iter().filter(|(first, _)| !pairs.iter().any(|(_, last)| last == first)).count();
    let characters = pairs.len() + starts;
    others + characters / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> usize {
        distinct(&telling(text))
    }

    #[test]
    fn overlapping_pairs_of_characters_count_as_the_words_that_they_are() {
        assert_eq!(pairs("线程池死锁"), 2);
        assert_eq!(pairs("水温"), 1);
        assert_eq!(pairs("boiler valve 水温"), 3);
    }

    #[test]
    fn words_of_time_and_number_tell_nothing_and_runs_stay_in_their_clause() {
        assert!(telling("again the second time, after three hours").is_empty());
        assert!(!runs("one thing a day on trips").is_disjoint(&runs("On trips, one thing a day on trips.")));
        assert!(runs("the green boat, and a sail").is_disjoint(&runs("a green boat and a sail")));
    }
}
