//! Labels: the terms that set a community's notes apart from the others', by class-based TF-IDF
//! (Grootendorst 2022): `tf(t, c) · ln(1 + A / f(t))`, A the mean number of words of a community.

use std::fs;

use dormouse_vault::Vault;
use dormouse_vault::text::content_words;

use super::last_run::{ByHash, hash};
use super::terms::{Written, are_twins, as_written, is_denial, is_telling, stem};
use crate::error::ConsolidateError;
use crate::inputs::{Digest, Inputs};
use crate::progress::Watch;

/// How labels are made; counts up when that changes, so that no label of another build is kept.
pub(super) const LABELS: u32 = 3;

/// A label with its terms.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label {
    pub(super) label: String,
    pub(super) terms: Vec<String>,
}

/// How often a word of the name, of an alias, of the description, of the text counts.
const NAME: f32 = 4.0;
const ALIAS: f32 = 2.0;
const DESCRIPTION: f32 = 2.0;
const TEXT: f32 = 1.0;

/// Terms that a community is remembered by until it is known how rare they are.
const CANDIDATES: usize = 128;
/// Notes of a community, evenly spread, that are read to see how its terms are written.
const SHOWING: usize = 20;
/// Places that a term may take in a label before it is given up.
const TRIED: usize = 40;

/// One label a group; those of `kept` stand. A group of one note is labelled by its name. Without
/// `words`, which says how often words occur in the vault, all groups are labelled, `kept` or not, and
/// what was counted is returned beside the labels. Linear in the texts of the groups to be labelled.
pub(super) fn label(
    inputs: &Inputs<'_>,
    groups: &[Vec<u32>],
    kept: Vec<Option<Label>>,
    words: Option<Vocabulary>,
    wanted: usize,
    watch: &Watch<'_>,
) -> Result<(Vec<Label>, Option<Vocabulary>), ConsolidateError> {
    let mut kept = if words.is_some() { kept } else { Vec::new() };
    kept.resize(groups.len(), None);
    let mut gathered = Gathered::default();
    let mut counted: Vec<Option<Counted>> = Vec::with_capacity(groups.len());
    for (group, kept) in groups.iter().zip(&kept) {
        watch.check()?;
        let count = if kept.is_none() { Some(Counted::of(inputs, group, watch)?) } else { None };
        if let Some(count) = count.as_ref().filter(|_| words.is_none()) {
            gathered.add(count);
        }
        counted.push(count.map(Counted::trimmed));
    }
    let made = if words.is_none() { Some(gathered.finish(groups.len())) } else { None };
    let mut out = Vec::with_capacity(groups.len());
    if let Some(vocabulary) = words.as_ref().or(made.as_ref()) {
        for ((group, kept), count) in groups.iter().zip(kept).zip(counted) {
            watch.check()?;
            out.push(match kept {
                Some(label) => label,
                None => count.unwrap_or_default().label(inputs, group, vocabulary, wanted),
            });
        }
    }
    Ok((out, made))
}

/// A word of a group, all forms together.
#[derive(Debug, Default)]
struct Count {
    weight: f32,
    /// Notes that have it.
    notes: u32,
    last: u32,
    word: Box<str>,
}

/// The words of a group.
#[derive(Debug, Default)]
struct Counted {
    words: ByHash<Count>,
    total: f32,
}

impl Counted {
    fn of(inputs: &Inputs<'_>, group: &[u32], watch: &Watch<'_>) -> Result<Self, ConsolidateError> {
        let mut out = Self::default();
        let digests = group.iter().filter_map(|&node| inputs.digests.get(node as usize).map(|d| (node, d)));
        for (at, (node, digest)) in digests.enumerate() {
            if at % 64 == 0 {
                watch.check()?;
            }
            for (text, weight) in parts(digest) {
                for word in content_words(&text) {
                    if word.chars().any(char::is_alphabetic) && !is_denial(&word) {
                        let count = out.words.entry(hash(stem(&word))).or_default();
                        if count.notes == 0 || count.last != node {
                            count.notes += 1;
                            count.last = node;
                        }
                        if count.word.is_empty() {
                            count.word = word.into();
                        }
                        count.weight += weight;
                        out.total += weight;
                    }
                }
            }
        }
        Ok(out)
    }

    /// The words that may come to stand in the label.
    fn trimmed(self) -> Self {
        let mut words: Vec<(u64, Count)> =
            self.words.into_iter().filter(|(_, count)| is_telling(&count.word)).collect();
        let weight = |count: &Count| count.weight * (count.notes as f32).sqrt();
        if words.len() > CANDIDATES {
            words.select_nth_unstable_by(CANDIDATES, |a, b| {
                weight(&b.1).total_cmp(&weight(&a.1)).then_with(|| a.1.word.cmp(&b.1.word))
            });
            words.truncate(CANDIDATES);
        }
        Self { words: words.into_iter().collect(), total: self.total }
    }

    fn label(self, inputs: &Inputs<'_>, group: &[u32], vocabulary: &Vocabulary, wanted: usize) -> Label {
        let (notes, total) = (group.len().max(1) as f64, f64::from(self.total).max(1.0));
        let mut scored: Vec<(i64, Box<str>)> = self
            .words
            .into_iter()
            .map(|(key, count)| {
                let weight = f64::from(count.weight);
                let all = vocabulary.total(key).map_or(weight, f64::from).max(weight);
                let rarity = (1.0 + vocabulary.mean / all).ln();
                // A term of one note alone names the note, not the theme.
                let score = weight / total * rarity * (f64::from(count.notes) / notes).sqrt();
                // Rounded before it is compared: the logarithm's last bit may differ between machines.
                ((score * 1e9).round() as i64, count.word)
            })
            .collect();
        scored.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let digests = || group.iter().filter_map(|&node| inputs.digests.get(node as usize));
        let every = group.len().div_ceil(SHOWING);
        let shown = || digests().step_by(every.max(1));
        let texts: Vec<String> = shown().flat_map(parts).map(|(text, _)| text).collect();
        let names: Vec<String> = shown().flat_map(names).collect();
        let mut found: Vec<Written> = Vec::new();
        for (_, word) in scored.into_iter().take(TRIED) {
            if found.len() >= 2 * wanted || found.iter().filter(|written| written.firm).count() >= wanted {
                break;
            }
            found
                .extend(as_written(&word, &texts, &names).filter(|new| found.iter().all(|have| have.term != new.term)));
        }
        // What is seen to be a whole word comes before what only may be one.
        found.sort_by_key(|written| !written.firm);
        let mut terms: Vec<String> = Vec::new();
        for Written { term, .. } in found {
            if terms.len() < wanted && !terms.iter().any(|have| are_twins(have, &term)) {
                terms.push(term);
            }
        }
        let mut named = digests();
        let label = match (named.next(), named.next()) {
            (Some(one), None) => one.note.name.to_string(),
            (Some(first), _) if terms.is_empty() => first.note.name.to_string(),
            _ => terms.iter().take(3).cloned().collect::<Vec<_>>().join(" · "),
        };
        Label { label, terms }
    }
}

fn parts(digest: &Digest<'_>) -> [(String, f32); 4] {
    let description = digest.note.description.as_deref().unwrap_or("");
    [
        (digest.note.name.to_string(), NAME),
        (digest.note.aliases.join("\n"), ALIAS),
        (description.to_owned(), DESCRIPTION),
        (digest.statement().unwrap_or_default(), TEXT),
    ]
}

/// What a note is called.
fn names(digest: &Digest<'_>) -> Vec<String> {
    std::iter::once(digest.note.name.to_string()).chain(digest.note.aliases.iter().cloned()).collect()
}

/// Words of all groups, while they are counted.
#[derive(Default)]
struct Gathered {
    /// The weight of each, and whether more than one group has it.
    words: ByHash<(f32, bool)>,
    total: f64,
}

impl Gathered {
    fn add(&mut self, counted: &Counted) {
        self.total += f64::from(counted.total);
        for (key, count) in &counted.words {
            let word = self.words.entry(*key).or_insert((0.0, false));
            word.1 |= word.0 > 0.0;
            word.0 += count.weight;
        }
    }

    fn finish(self, groups: usize) -> Vocabulary {
        let mut words: Vec<(u64, f32)> =
            self.words.into_iter().filter(|(_, word)| word.1).map(|(key, word)| (key, word.0)).collect();
        words.sort_unstable_by_key(|word| word.0);
        Vocabulary { words, mean: self.total / groups.max(1) as f64 }
    }
}

/// How often the words occur that more than one community has; of a large vault it is kept in
/// `.dormouse/consolidate/words`. It is made anew when all communities are labelled; until then one
/// that changes is labelled by it as it was.
pub(super) struct Vocabulary {
    /// By hash.
    words: Vec<(u64, f32)>,
    /// Words of a community.
    mean: f64,
}

impl Vocabulary {
    const FILE: &'static str = "consolidate/words";
    const HEAD: &'static [u8] = b"dormouse words\n";

    fn total(&self, key: u64) -> Option<f32> {
        let at = self.words.binary_search_by_key(&key, |word| word.0).ok()?;
        self.words.get(at).map(|word| word.1)
    }

    /// What was kept; `None` when that is missing, cut, or of labels that are made otherwise.
    pub(super) fn load(vault: &Vault) -> Option<Self> {
        let bytes = fs::read(vault.cache_dir().join(Self::FILE)).ok()?;
        let (labels, rest) = bytes.strip_prefix(Self::HEAD)?.split_first_chunk::<4>()?;
        let (mean, rest) = rest.split_first_chunk::<8>()?;
        let (count, rest) = rest.split_first_chunk::<8>()?;
        let word = |entry: &[u8]| {
            let (key, weight) = entry.split_first_chunk::<8>()?;
            Some((u64::from_le_bytes(*key), f32::from_le_bytes(*weight.first_chunk::<4>()?)))
        };
        let words: Vec<(u64, f32)> = rest.chunks_exact(12).filter_map(word).collect();
        let mean = f64::from_le_bytes(*mean);
        let whole = words.len() as u64 == u64::from_le_bytes(*count) && words.is_sorted_by_key(|word| word.0);
        let ours = u32::from_le_bytes(*labels) == LABELS;
        (ours && whole && mean.is_finite()).then_some(Self { words, mean })
    }

    /// Keeps it for the next run.
    pub(super) fn store(&self, vault: &Vault) {
        let mut bytes = Self::HEAD.to_vec();
        bytes.extend(LABELS.to_le_bytes());
        bytes.extend(self.mean.to_le_bytes());
        bytes.extend((self.words.len() as u64).to_le_bytes());
        for (key, weight) in &self.words {
            bytes.extend(key.to_le_bytes());
            bytes.extend(weight.to_le_bytes());
        }
        if vault.write_cache(Self::FILE, &bytes).is_err() {
            tracing::warn!("how often words occur was not kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_another_way_of_labelling_counted_are_not_used() {
        let vault = dormouse_fixtures::temp_vault("=== a.md\na\n");
        let open = Vault::open(vault.path()).unwrap();
        let kept = Vocabulary { words: vec![(1, 2.0), (3, 4.0)], mean: 5.0 };
        kept.store(&open);
        let read = Vocabulary::load(&open).unwrap();
        assert_eq!((read.words, read.mean), (kept.words, kept.mean));
        let mut bytes = fs::read(open.cache_dir().join(Vocabulary::FILE)).unwrap();
        bytes[Vocabulary::HEAD.len()] ^= 1;
        open.write_cache(Vocabulary::FILE, &bytes).unwrap();
        assert!(Vocabulary::load(&open).is_none());
    }
}
