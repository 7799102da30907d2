//! Labels: the terms that set a community's notes apart from the others', by class-based TF-IDF
//! (Grootendorst 2022): `tf(t, c) · ln(1 + A / f(t))`, A the mean number of words of a community.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_vault::text::content_words;

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
        let terms = distinctive(count, &everywhere, mean, group.len(), terms);
        let name = match group.as_slice() {
            [one] => inputs.digests.get(*one).map(|d| d.note.name.to_string()),
            _ => None,
        };
        let first_three = || {
            terms
                .iter()
                .take(3)
                .cloned()
                .collect::<Vec<_>>()
                .join(" · ")
        };
        Label {
            label: name.unwrap_or_else(first_three),
            terms,
        }
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
) -> Vec<String> {
    let total: f64 = count.values().map(|c| c.0).sum();
    let mut scored: Vec<(f64, &String)> = count
        .iter()
        .map(|(term, &(weight, spread))| {
            let all = everywhere.get(term.as_str()).copied().unwrap_or(weight);
            let rarity = (1.0 + mean / all).ln();
            // A term of one note alone names the note, not the theme.
            let shared = if notes > 1 {
                spread as f64 / notes as f64
            } else {
                1.0
            };
            (weight / total.max(1.0) * rarity * shared.sqrt(), term)
        })
        .collect();
    // Rounded before it is compared: the logarithm's last bit may differ between machines.
    scored.sort_by(|a, b| {
        (b.0 * 1e9)
            .round()
            .total_cmp(&(a.0 * 1e9).round())
            .then(a.1.cmp(b.1))
    });
    let mut out: Vec<String> = Vec::new();
    for (_, term) in scored {
        if out.len() == wanted {
            break;
        }
        // Chinese bigrams of one word overlap: 检索, 索记, 记忆. Keep what adds a character pair.
        if !out.iter().any(|have| overlaps(have, term)) {
            out.push(term.clone());
        }
    }
    out
}

/// Whether two bigrams are neighbours in the same run of characters.
fn overlaps(a: &str, b: &str) -> bool {
    let pair = |s: &str| {
        let mut chars = s.chars();
        match (chars.next(), chars.next(), chars.next()) {
            (Some(x), Some(y), None) if dormouse_vault::text::is_cjk(x) => Some((x, y)),
            _ => None,
        }
    };
    matches!((pair(a), pair(b)), (Some(a), Some(b)) if a.1 == b.0 || b.1 == a.0)
}
