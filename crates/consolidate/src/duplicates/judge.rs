//! Whether two texts say the same: their sentences side by side.

use std::collections::{BTreeSet, HashMap};

use dormouse_vault::text::{content_words, truncate_chars};

use super::candidates::Sample;
use super::numbers::{contradict, days, is_name, numbers};
use super::signature::{self, SHINGLE, Signature, sentences_of, shingle};
use super::{Changed, names};
use crate::config::DuplicatesConfig;

/// Likeness of two sentences' words (Dice), from which one is the other, edited.
const EDITED: f64 = 0.6;
/// Words that stand in more sentences of a note than this bring no two together.
const IN_MANY: usize = 64;
/// Share of the sentences found in the other note that may contradict it by a number.
const CONTRADICTED: f64 = 0.25;
/// The fewest words of its own that a note must share.
const EVIDENCE: usize = 6;
/// Share of rare features that two notes need whose features are not all known.
const SAMPLED: f64 = 0.15;
/// Characters of a sentence that are shown.
const SHOWN: usize = 200;

/// One sentence.
#[derive(Debug, Clone)]
struct Sentence {
    /// As it is shown.
    text: String,
    /// All words, numbers included.
    key: u64,
    /// Its words, each once, ascending; every number is the same word.
    words: Vec<u64>,
    /// Of these, the ones that are no boilerplate.
    own: Vec<u64>,
    /// What it counts for: its own words; 0 when the whole sentence is boilerplate.
    weight: usize,
    numbers: BTreeSet<String>,
}

/// A note as it is compared.
#[derive(Debug, Clone)]
pub(super) struct View {
    sentences: Vec<Sentence>,
    by_key: HashMap<u64, u32>,
    by_word: HashMap<u64, Vec<u32>>,
}

/// What stands for a number.
const NUMBER: &str = "0";

impl View {
    /// Linear in the statement.
    pub(super) fn of(statement: &str, signature: &Signature, common: u128) -> Self {
        let mut view = Self { sentences: Vec::new(), by_key: HashMap::new(), by_word: HashMap::new() };
        let is_common = |feature: u32| {
            signature.sketch.binary_search(&feature).is_ok_and(|at| common.checked_shr(at as u32).unwrap_or(0) & 1 == 1)
        };
        for text in sentences_of(statement) {
            let words = content_words(text);
            if words.is_empty() {
                continue;
            }
            let exact: Vec<u64> = words.iter().map(|word| signature::hash(word.as_bytes())).collect();
            let masked: Vec<u64> = words.iter().map(|word| signature::hash(mask(word).as_bytes())).collect();
            let mut boilerplate = vec![false; words.len()];
            for (at, _) in exact.windows(SHINGLE).enumerate().filter(|(_, run)| is_common(shingle(run))) {
                boilerplate.iter_mut().skip(at).take(SHINGLE).for_each(|word| *word = true);
            }
            let whole = is_common(signature::whole(&exact));
            let mut own: Vec<u64> =
                masked.iter().zip(&boilerplate).filter(|(_, b)| !**b && !whole).map(|(word, _)| *word).collect();
            own.sort_unstable();
            own.dedup();
            let mut words = masked;
            words.sort_unstable();
            words.dedup();
            let at = view.sentences.len() as u32;
            let key = signature::key(&exact);
            view.by_key.entry(key).or_insert(at);
            words.iter().for_each(|word| view.by_word.entry(*word).or_default().push(at));
            let shown = text.trim_start_matches(['-', '*', '+', '>', ' ']);
            view.sentences.push(Sentence {
                text: truncate_chars(shown, SHOWN).replace(['\n', '\r'], " "),
                key,
                weight: if whole { 0 } else { own.len().max(1) },
                words,
                own,
                numbers: numbers(text),
            });
        }
        view
    }

    /// Numbers of the whole note.
    pub(super) fn numbers(&self) -> BTreeSet<String> {
        self.sentences.iter().flat_map(|s| s.numbers.iter().cloned()).collect()
    }

    /// The sentence that says what `wanted` says, and whether in the same words.
    fn find(&self, wanted: &Sentence, counts: &mut Vec<u32>) -> Option<(usize, bool)> {
        if let Some(at) = self.by_key.get(&wanted.key) {
            return Some((*at as usize, true));
        }
        counts.clear();
        let lists = wanted.words.iter().filter_map(|word| self.by_word.get(word)).filter(|list| list.len() <= IN_MANY);
        lists.for_each(|list| counts.extend(list));
        counts.sort_unstable();
        let best = counts
            .chunk_by(|a, b| a == b)
            .filter_map(|run| {
                let at = *run.first()? as usize;
                let other = self.sentences.get(at)?;
                Some((2.0 * run.len() as f64 / (wanted.words.len() + other.words.len()) as f64, at))
            })
            .fold((0.0, 0), |best: (f64, usize), next| if next.0 > best.0 { next } else { best });
        (best.0 >= EDITED).then_some((best.1, false))
    }
}

fn mask(word: &str) -> &str {
    if word.chars().all(char::is_numeric) || is_name(word) { NUMBER } else { word }
}

/// How much of one note stands in another.
#[derive(Debug, Default)]
struct Found {
    /// Share of its weight, 0..=1.
    weight: f64,
    /// Share of its sentences, 0..=1.
    sentences: f64,
    /// Its own words that were found.
    words: usize,
    /// Sentences that were found, those that contradict included.
    met: usize,
    /// Sentences that were found with another number, and with another day.
    contradicted: (usize, usize),
    /// Whether an edited sentence has words in the place of others.
    replaced: bool,
    /// Sentences that are no boilerplate, and all.
    own: (usize, usize),
    /// Words, boilerplate or not, that were found, and all.
    raw: (usize, usize),
    /// The sentence of the other note that each one was found as, and whether in the same words.
    partner: Vec<Option<(usize, bool)>>,
}

impl Found {
    fn is_boilerplate(&self) -> bool {
        4 * self.own.0 <= self.own.1
    }

    fn share(&self) -> f64 {
        f64::midpoint(self.weight, self.sentences)
    }
}

fn find(of: &View, within: &View) -> Found {
    let mut found = Found::default();
    let (mut weight, mut all_weight, mut count, mut all) = (0, 0, 0, 0);
    let mut counts = Vec::new();
    let partners: Vec<_> = of.sentences.iter().map(|sentence| within.find(sentence, &mut counts)).collect();
    let told = of.sentences.iter().zip(&partners).filter(|(s, p)| s.weight > 0 && p.is_some_and(|(_, same)| same));
    let told = told.count();
    // Where other sentences are the same, one of common words that is nearly the same is it, edited.
    let trusted = told >= 2 || 3 * told >= of.sentences.iter().filter(|s| s.weight > 0).count().max(1);
    for (sentence, partner) in of.sentences.iter().zip(partners) {
        all_weight += sentence.weight;
        all += usize::from(sentence.weight > 0);
        found.raw.1 += sentence.words.len();
        found.partner.push(partner);
        let Some((other, same)) = partner.and_then(|(at, same)| Some((within.sentences.get(at)?, same))) else {
            continue;
        };
        found.met += 1;
        if !same && contradict(&sentence.numbers, &other.numbers) {
            found.contradicted.0 += 1;
            found.contradicted.1 += usize::from(contradict(&days(&sentence.numbers), &days(&other.numbers)));
            continue;
        }
        let common = |words: &[u64]| words.iter().filter(|w| other.words.binary_search(w).is_ok()).count();
        let raw = common(&sentence.words);
        found.raw.0 += raw;
        found.replaced |= raw < sentence.words.len() && raw < other.words.len();
        let own = common(&sentence.own);
        let whole = same || (trusted && sentence.own.is_empty());
        found.words += if same && sentence.weight > 0 { sentence.words.len() } else { own };
        let gained = if whole { sentence.weight } else { own };
        weight += gained;
        count += usize::from(sentence.weight > 0 && 2 * gained >= sentence.weight);
    }
    found.own = (all, of.sentences.len());
    found.weight = f64::from(weight as u32) / f64::from(all_weight.max(1) as u32);
    found.sentences = f64::from(count as u32) / f64::from(all.max(1) as u32);
    found
}

/// Two notes side by side.
pub(super) struct Comparison {
    of_x: Found,
    of_y: Found,
}

/// Compares two notes, both ways. Linear in their texts but for words that stand in many sentences.
pub(super) fn compare(x: &View, y: &View) -> Comparison {
    Comparison { of_x: find(x, y), of_y: find(y, x) }
}

impl Comparison {
    /// Whether numbers or days tell the two apart.
    pub(super) fn is_contradicted(&self) -> bool {
        let (x, y) = (&self.of_x, &self.of_y);
        let numbers = x.contradicted.0.max(y.contradicted.0) as f64;
        x.contradicted.1 + y.contradicted.1 > 0
            || (numbers > 0.0 && numbers >= CONTRADICTED * x.met.min(y.met).max(1) as f64)
    }

    /// The share of each that stands in the other, when that makes them duplicates.
    pub(super) fn verdict(&self, sample: &Sample, sampled: bool, config: &DuplicatesConfig) -> Option<(f64, f64)> {
        let (x, y) = (&self.of_x, &self.of_y);
        if self.is_contradicted() {
            return None;
        }
        if x.is_boilerplate() && y.is_boilerplate() {
            // Nothing but boilerplate: a copy, or the next record of a form. One that says the
            // same with nothing replaced is a copy.
            let raw = |f: &Found| f.raw.0 as f64 / f.raw.1.max(1) as f64;
            let copy = raw(x) >= 0.95 && raw(y) >= 0.95 && !x.replaced && !y.replaced;
            return copy.then(|| (raw(x), raw(y)));
        }
        let (large, small) = (x.share().max(y.share()), x.share().min(y.share()));
        let told = x.words.max(y.words) >= EVIDENCE;
        let known = !sampled || sample.share() >= SAMPLED;
        (large >= config.share && small >= config.share_of_longer && told && known).then(|| (x.share(), y.share()))
    }

    /// The larger of the two shares, for notes that were met by their names.
    pub(super) fn share(&self) -> f64 {
        self.of_x.share().max(self.of_y.share())
    }

    /// What to show of `x` and `y`: sentences in both, changed, and of each alone; at most `max` of
    /// each kind.
    pub(super) fn sides(&self, x: &View, y: &View, max: usize) -> Sides {
        let mut sides = Sides::default();
        for (sentence, partner) in x.sentences.iter().zip(&self.of_x.partner) {
            match partner.and_then(|(at, same)| Some((y.sentences.get(at)?, same))) {
                Some((_, true)) => sides.common.push(sentence.text.clone()),
                Some((other, false)) => {
                    sides.changed.push(Changed { keep: sentence.text.clone(), other: other.text.clone() });
                }
                None => sides.only_x.push(sentence.text.clone()),
            }
        }
        let shown: BTreeSet<&str> = sides.changed.iter().map(|c| c.other.as_str()).collect();
        let alone = y.sentences.iter().zip(&self.of_y.partner).filter(|(_, partner)| partner.is_none());
        sides.only_y = alone.map(|(s, _)| s.text.clone()).filter(|text| !shown.contains(text.as_str())).collect();
        let mut seen = BTreeSet::new();
        sides.common.retain(|text| seen.insert(text.clone()));
        sides.common.truncate(max);
        sides.changed.truncate(max);
        sides.only_x.truncate(max);
        sides.only_y.truncate(max);
        sides
    }
}

/// Sentences side by side.
#[derive(Debug, Default)]
pub(super) struct Sides {
    pub(super) common: Vec<String>,
    pub(super) changed: Vec<Changed>,
    pub(super) only_x: Vec<String>,
    pub(super) only_y: Vec<String>,
}

/// A note's name as it is compared.
#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) key: String,
    pub(super) numbers: BTreeSet<String>,
    /// Days and versions: what a record is named after.
    pub(super) record: BTreeSet<String>,
    /// How many notes have the same name.
    pub(super) shared: usize,
}

impl Name {
    pub(super) fn of(name: &str, stem: &str) -> Self {
        let key = names::key(name);
        let numbers = numbers(&format!("{key} {stem}"));
        let mut record = days(&numbers);
        record.extend(numbers.iter().filter(|n| n.contains('.')).cloned());
        Self { key, numbers, record, shared: 0 }
    }
}
