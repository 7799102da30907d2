//! What a digest is to a unit, by words, names, links and numbers alone.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_vault::text::content_words;
use dormouse_vault::{Bucket, NotePath};

use super::cues::{supersedes, what_holds_no_more};
use super::homes::{homes, precise};
use super::kin::kin;
use super::names::{from_sentence, undated};
use crate::decide::{Candidate, Flavour, Relation, Verdict};
use crate::gate::{GroundedFact, GroundedUnit, figures, numbers};
use crate::markdown::{folded, plain, without_subject};
use crate::material::Material;
use crate::stated::{contained, last_said, stands};

/// Digests that are related by words alone: not more than this many.
const RELATED_BY_WORDS: usize = 4;

/// A verdict for each candidate that has to do with the unit. Unsure is not the same.
pub(super) fn verdicts(material: &Material, unit: &GroundedUnit, candidates: &[Candidate]) -> Vec<Verdict> {
    let theirs: Vec<BTreeSet<String>> = candidates.iter().map(words_of).collect();
    let mut holders: BTreeMap<&str, usize> = BTreeMap::new();
    for word in theirs.iter().flatten() {
        *holders.entry(word).or_default() += 1;
    }
    let weight =
        |word: &str| (1.0 + candidates.len() as f64 / (1.0 + holders.get(word).copied().unwrap_or(0) as f64)).ln();
    let mine: BTreeSet<String> = content_words(&unit.query()).into_iter().filter(|w| !is_number(w)).collect();
    let sum = |words: &BTreeSet<String>| words.iter().map(|w| weight(w)).sum::<f64>().max(f64::MIN_POSITIVE);
    let my_weight = sum(&mine);
    let my_name: BTreeSet<String> = content_words(&unit.name).into_iter().collect();

    let kin = kin(material, unit, candidates).map(|c| &c.path);
    let homes = homes(material, unit, candidates);
    let home = homes
        .first()
        .copied()
        .flatten()
        .map(|h| &h.candidate.path)
        .filter(|p| homes.iter().all(|h| h.is_some_and(|h| h.candidate.path == **p)));
    let mut out = Vec::new();
    let mut by_words = 0;
    let mut same_found = false;
    for (candidate, words) in candidates.iter().zip(&theirs) {
        let shared: BTreeSet<String> = mine.intersection(words).cloned().collect();
        let common = shared.iter().map(|w| weight(w)).sum::<f64>();
        let (of_mine, of_theirs) = (common / my_weight, common / sum(words));
        let sibling = candidate.sources.contains(&material.path);
        let linked = material.links.iter().any(|l| candidate.sources.contains(l) || candidate.path == *l);
        let same_bucket = candidate.bucket == Some(unit.bucket) && !candidate.locked;
        let same_name = folded(undated(&candidate.name)) == folded(&unit.name);
        let corrected = same_bucket && unit.facts.iter().any(|f| corrects(f, candidate, material).is_some());
        let at_home = home == Some(&candidate.path);
        let same = same_bucket
            && (at_home
                || home.is_none() && (same_name && (sibling || of_mine >= 0.25) || of_mine >= 0.6 && of_theirs >= 0.6)
                || corrected
                || home.is_none() && kin == Some(&candidate.path));
        if same && !same_found {
            same_found = true;
            let flavour = if corrected {
                Flavour::Correct
            } else if unit.facts.iter().any(|f| precise(f, candidate, material).is_some())
                || at_home && homes.iter().flatten().any(|h| h.flavour == Flavour::Refine)
            {
                Flavour::Refine
            } else {
                Flavour::Corroborate
            };
            out.push(Verdict { path: candidate.path.clone(), relation: Relation::Same(flavour) });
            continue;
        }
        let their_name: BTreeSet<String> = content_words(&candidate.name).into_iter().collect();
        let names = my_name.intersection(&their_name).filter(|w| weight(w) > 1.0).count();
        let near = of_mine >= 0.16 && of_theirs >= 0.1 && shared.len() >= 4 || names >= 2 && of_mine >= 0.1;
        if same || sibling || linked || near && by_words < RELATED_BY_WORDS {
            by_words += usize::from(!(same || sibling || linked));
            out.push(Verdict { path: candidate.path.clone(), relation: Relation::Related(None) });
        }
    }
    out
}

/// One part for each digest that facts of the unit belong to, and one for the rest. A unit that as a
/// whole is about what a digest is about stays whole. A part that speaks of what a digest of another
/// bucket is about goes there.
pub(super) fn parts(material: &Material, unit: &GroundedUnit, candidates: &[Candidate]) -> Vec<GroundedUnit> {
    let mut parts = by_home(material, unit, candidates);
    for part in parts.iter_mut().filter(|p| p.bucket == Bucket::Wiki) {
        let elsewhere = kin(material, part, candidates).and_then(|c| c.bucket).filter(|b| *b != part.bucket);
        let settled = || verdicts(material, part, candidates).iter().any(|v| matches!(v.relation, Relation::Same(_)));
        if let Some(bucket) = elsewhere.filter(|_| !settled()) {
            part.bucket = bucket;
        }
    }
    parts
}

fn by_home(material: &Material, unit: &GroundedUnit, candidates: &[Candidate]) -> Vec<GroundedUnit> {
    let homes = homes(material, unit, candidates);
    let as_a_whole = || {
        let corrected = |c: &Candidate| {
            c.bucket == Some(unit.bucket) && !c.locked && unit.facts.iter().any(|f| corrects(f, c, material).is_some())
        };
        let named = |c: &Candidate| c.bucket == Some(unit.bucket) && folded(undated(&c.name)) == folded(&unit.name);
        candidates.iter().any(|c| corrected(c) || named(c))
    };
    if homes.iter().all(Option::is_none) || as_a_whole() {
        return vec![unit.clone()];
    }
    let mut places: Vec<Option<&NotePath>> = Vec::new();
    for home in &homes {
        let place = home.map(|h| &h.candidate.path);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
        .into_iter()
        .map(|place| {
            let facts: Vec<GroundedFact> = unit
                .facts
                .iter()
                .zip(&homes)
                .filter(|(_, home)| home.map(|h| &h.candidate.path) == place)
                .map(|(fact, _)| fact.clone())
                .collect();
            let named_by = |facts: &[GroundedFact]| {
                facts.first().map(|f| from_sentence(without_subject(&f.text, &material.name))).unwrap_or_default()
            };
            let renamed = named_by(&unit.facts) == unit.name && !facts.is_empty();
            GroundedUnit {
                name: if renamed { named_by(&facts) } else { unit.name.clone() },
                bucket: unit.bucket,
                summary: match facts.first() {
                    Some(first) if renamed => plain(&first.text),
                    _ => unit.summary.clone(),
                },
                facts,
            }
        })
        .collect()
}

fn words_of(candidate: &Candidate) -> BTreeSet<String> {
    let mut text = format!("{}\n{}", candidate.name, candidate.description.as_deref().unwrap_or(""));
    for block in candidate.blocks.iter().filter(|b| !b.related) {
        text.push('\n');
        text.push_str(&block.text);
    }
    content_words(&text).into_iter().filter(|w| !is_number(w)).collect()
}

/// The block of `candidate` that the fact declares superseded: a fact that says so, with a number
/// of the block and some of its words in it; less is asked of a material that links to the source.
pub(super) fn corrects(fact: &GroundedFact, candidate: &Candidate, material: &Material) -> Option<usize> {
    if let Some(block) = replaced(fact, candidate, material) {
        return Some(block);
    }
    let said = what_holds_no_more(&plain(without_subject(&fact.text, &material.name)));
    if !supersedes(&said) || candidate.sources.contains(&material.path) {
        return None;
    }
    let linked = material.links.iter().any(|l| candidate.sources.contains(l));
    let mine: BTreeSet<String> = content_words(&said).into_iter().filter(|w| !is_number(w)).collect();
    let my_numbers = numbers(&said);
    let mut best: Option<(usize, usize)> = None;
    for (i, block) in candidate.blocks.iter().enumerate().filter(|(_, b)| b.open && !b.related) {
        let words: BTreeSet<String> = content_words(&block.text).into_iter().filter(|w| !is_number(w)).collect();
        let common = mine.intersection(&words).count();
        let shared = my_numbers.intersection(&numbers(&block.text)).count();
        // The same quantity with another figure.
        let (theirs, ours) = (figures(&block.text), figures(&said));
        let other = !ours.is_empty() && !theirs.is_empty() && !ours.is_subset(&theirs);
        let alike = other && common >= 3 && 5 * common >= 3 * words.len().min(mine.len());
        let enough =
            alike || if linked { shared >= 1 && common >= 1 || common >= 4 } else { shared >= 1 && common >= 3 };
        let newer = block.sources.iter().all(|(source, _)| match (source.date(), material.date) {
            (Some(old), Some(new)) => old <= new,
            _ => true,
        });
        let score = 3 * shared + common;
        if enough && newer && best.is_none_or(|(_, have)| score > have) {
            best = Some((i, score));
        }
    }
    best.map(|(i, _)| i)
}

/// The block of `candidate` that states from the same material what stands there no more, and whose
/// place the fact has taken: it cites the same block, or says most of the same with another figure.
fn replaced(fact: &GroundedFact, candidate: &Candidate, material: &Material) -> Option<usize> {
    if fact.step || !candidate.sources.contains(&material.path) {
        return None;
    }
    let ids: BTreeSet<&str> = fact.passages.iter().filter_map(|i| material.passages.get(*i)?.id.as_deref()).collect();
    let said = plain(without_subject(&fact.text, &material.name));
    let worded = |text: &str| content_words(text).into_iter().filter(|w| !is_number(w)).collect::<BTreeSet<_>>();
    let mine = worded(&said);
    let mut best: Option<(usize, usize)> = None;
    for (i, block) in candidate.blocks.iter().enumerate() {
        let Some((gone, id)) = last_said(candidate, block, material) else {
            continue;
        };
        let theirs = worded(&gone);
        let common = mine.intersection(&theirs).count();
        let same_block = id.is_some_and(|id| ids.contains(id.as_str()));
        let alike = common > 0 && 5 * common >= 3 * mine.len().min(theirs.len()) && figures(&said) != figures(&gone);
        if (same_block || alike) && best.is_none_or(|(_, have)| common > have) && !stands(&gone, material) {
            best = Some((i, common));
        }
    }
    best.map(|(i, _)| i)
}

fn is_number(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_digit())
}

/// The block of `candidate` that the fact repeats and makes more precise.
pub(super) fn refines(fact: &GroundedFact, candidate: &Candidate) -> Option<usize> {
    let said = plain(&fact.text);
    let mine = content_words(&said).len();
    candidate.blocks.iter().position(|block| {
        let theirs = content_words(&block.text).len();
        block.open
            && !block.related
            && theirs >= 4
            && mine >= theirs + 4
            && contained(&block.text, &said) >= 0.8
            && numbers(&block.text).is_subset(&numbers(&said))
    })
}
