//! Labels: the terms that set a community's notes apart from the others', by class-based TF-IDF
//! (Grootendorst 2022): `tf(t, c) · ln(1 + A / f(t))`, A the mean number of words of a community.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_vault::text::{content_words, is_cjk};

use crate::error::ConsolidateError;
use crate::inputs::{Digest, Inputs};
use crate::progress::Watch;

/// A label with its terms.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label {
    pub(super) label: String,
    pub(super) terms: Vec<String>,
}

/// How often a word of the name, of the description, of the text counts.
const NAME: f64 = 4.0;
const DESCRIPTION: f64 = 2.0;
const TEXT: f64 = 1.0;

/// One label a group. A group of one note is labelled by its name. Linear in the texts.
pub(super) fn label(
    inputs: &Inputs,
    groups: &[Vec<usize>],
    terms: usize,
    watch: &Watch<'_>,
) -> Result<Vec<Label>, ConsolidateError> {
    let mut counts = Vec::with_capacity(groups.len());
    for group in groups {
        counts.push(count(inputs, group, watch)?);
    }
    let mut everywhere: BTreeMap<&str, f64> = BTreeMap::new();
    for (term, (weight, _)) in counts.iter().flatten() {
        *everywhere.entry(term).or_insert(0.0) += weight;
    }
    let mean = everywhere.values().sum::<f64>() / groups.len().max(1) as f64;
    let labelled = groups.iter().zip(&counts).map(|(group, count)| {
        let terms = distinctive(count, &everywhere, mean, group.len(), terms, &whole_text(inputs, group));
        let name = match group.as_slice() {
            [one] => inputs.digests.get(*one).map(|d| d.note.name.to_string()),
            _ => None,
        };
        let first_three = || terms.iter().take(3).cloned().collect::<Vec<_>>().join(" · ");
        Label { label: name.unwrap_or_else(first_three), terms }
    });
    Ok(labelled.collect())
}

/// Per term: its weight in the group, and how many of the notes have it.
fn count(
    inputs: &Inputs,
    group: &[usize],
    watch: &Watch<'_>,
) -> Result<BTreeMap<String, (f64, usize)>, ConsolidateError> {
    let mut out: BTreeMap<String, (f64, usize)> = BTreeMap::new();
    for digest in group.iter().filter_map(|&n| inputs.digests.get(n)) {
        watch.check()?;
        let mut here = BTreeSet::new();
        for (words, weight) in texts(digest) {
            for word in words {
                if word.chars().any(char::is_alphabetic) {
                    out.entry(word.clone()).or_insert((0.0, 0)).0 += weight;
                    here.insert(word);
                }
            }
        }
        for word in here {
            if let Some(entry) = out.get_mut(&word) {
                entry.1 += 1;
            }
        }
    }
    Ok(out)
}

/// Everything that the words of a group are taken from, lower-case.
fn whole_text(inputs: &Inputs, group: &[usize]) -> String {
    let mut out = String::new();
    for digest in group.iter().filter_map(|&n| inputs.digests.get(n)) {
        let description = digest.note.description.as_deref().unwrap_or("");
        for part in [&*digest.note.name, description, &digest.statement()] {
            out.push_str(&part.to_lowercase());
            out.push('\n');
        }
    }
    out
}

fn texts(digest: &Digest) -> [(Vec<String>, f64); 3] {
    let description = digest.note.description.as_deref().unwrap_or("");
    [
        (content_words(&digest.note.name), NAME),
        (content_words(description), DESCRIPTION),
        (content_words(&digest.statement()), TEXT),
    ]
}

fn distinctive(
    count: &BTreeMap<String, (f64, usize)>,
    everywhere: &BTreeMap<&str, f64>,
    mean: f64,
    notes: usize,
    wanted: usize,
    text: &str,
) -> Vec<String> {
    let total: f64 = count.values().map(|c| c.0).sum();
    let mut scored: Vec<(f64, &String)> = count
        .iter()
        .filter(|(term, _)| !term.chars().any(|c| PARTICLES.contains(c)))
        .map(|(term, &(weight, spread))| {
            let all = everywhere.get(term.as_str()).copied().unwrap_or(weight);
            let rarity = (1.0 + mean / all).ln();
            // A term of one note alone names the note, not the theme.
            let shared = if notes > 1 { spread as f64 / notes as f64 } else { 1.0 };
            (weight / total.max(1.0) * rarity * shared.sqrt(), term)
        })
        .collect();
    // Rounded before it is compared: the logarithm's last bit may differ between machines.
    scored.sort_by(|a, b| (b.0 * 1e9).round().total_cmp(&(a.0 * 1e9).round()).then(a.1.cmp(b.1)));
    let mut out: Vec<String> = Vec::new();
    for (_, term) in scored {
        if out.len() == wanted {
            break;
        }
        let term = whole_word(term, text);
        // Chinese pairs of one word overlap: 检索, 索引. One of them is enough.
        if !out.iter().any(|have| overlaps(have, &term)) {
            out.push(term);
        }
    }
    out
}

/// Characters that join Chinese words and belong to none.
const PARTICLES: &str = "的了是在和与也就都而及或我你他她它谁这那有不把被让给对从到为以着过里个们之其于等";
/// The characters before and after a place in the text.
type Sides = (Option<char>, Option<char>);
/// The longest word that a Chinese pair grows to, in characters.
const LONGEST: usize = 4;

/// Two Chinese characters may be a part of a word: they grow by the neighbour that stands beside
/// them in at least four of five places, if there are two or more. Other terms stay.
fn whole_word(term: &str, text: &str) -> String {
    let mut word = term.to_owned();
    while word.chars().all(is_cjk) && (2..LONGEST).contains(&word.chars().count()) {
        let places: Vec<Sides> = text
            .match_indices(word.as_str())
            .map(|(at, found)| {
                let before = text.get(..at).and_then(|t| t.chars().next_back());
                (before, text.get(at + found.len()..).and_then(|t| t.chars().next()))
            })
            .collect();
        let usual = |side: &dyn Fn(&Sides) -> Option<char>| {
            let mut seen: BTreeMap<char, usize> = BTreeMap::new();
            for c in places.iter().filter_map(side).filter(|c| is_cjk(*c) && !PARTICLES.contains(*c)) {
                *seen.entry(c).or_insert(0) += 1;
            }
            let most = seen.into_iter().max_by_key(|(c, n)| (*n, std::cmp::Reverse(*c)));
            most.filter(|(_, n)| *n >= 2 && 5 * n >= 4 * places.len()).map(|(c, _)| c)
        };
        if let Some(before) = usual(&|place| place.0) {
            word.insert(0, before);
        } else if let Some(after) = usual(&|place| place.1) {
            word.push(after);
        } else {
            break;
        }
    }
    word
}

/// Whether two Chinese terms share a character pair, or are neighbours in the same run.
fn overlaps(a: &str, b: &str) -> bool {
    if !a.chars().any(is_cjk) || !b.chars().any(is_cjk) {
        return a == b;
    }
    let pairs =
        |s: &str| s.chars().zip(s.chars().skip(1)).map(|(x, y)| [x, y].iter().collect::<String>()).collect::<Vec<_>>();
    let ends = |s: &str| (s.chars().next(), s.chars().next_back());
    let (left, right) = (ends(a), ends(b));
    pairs(a).iter().any(|pair| b.contains(pair.as_str())) || left.1 == right.0 || right.1 == left.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_pairs_grow_to_the_word_that_they_are_a_part_of() {
        let text = "审计页要短。审计页在手机上。编辑器里的审计页";
        assert_eq!(whole_word("计页", text), "审计页");
        assert_eq!(whole_word("手机", text), "手机");
        assert_eq!(whole_word("page", text), "page");
        assert!(overlaps("审计页", "计页面") && overlaps("检索", "索引"));
        assert!(!overlaps("检索", "备份") && !overlaps("split", "lit"));
    }
}
