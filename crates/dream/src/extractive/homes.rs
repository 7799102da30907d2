//! Where a fact belongs: the digest that says it already, whose subject it speaks of, or that it
//! makes more precise. A fact without a home stays with its unit.

use std::collections::BTreeSet;

use dormouse_vault::NotePath;
use dormouse_vault::text::content_words;

use super::agreement::{Remark, goes_further, narrows_cue, remark_on};
use super::names::is_review;
use super::segment::leans_on_last;
use super::topics::{self, topic};
use crate::decide::{Candidate, Flavour};
use crate::gate::{GroundedFact, GroundedUnit, numbers};
use crate::markdown::{Piece, pieces, plain, without_subject};
use crate::material::{Language, Material};
use crate::stated::{bare, restates};
use dormouse_vault::Bucket;

/// A digest that takes a fact in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Home<'c> {
    pub(super) candidate: &'c Candidate,
    pub(super) flavour: Flavour,
}

/// The home of each fact of `unit`, in order. One fact that goes further than a digest which it
/// links to takes the whole unit there: the unit is about the same subject.
pub(super) fn homes<'c>(
    material: &Material,
    unit: &GroundedUnit,
    candidates: &'c [Candidate],
) -> Vec<Option<Home<'c>>> {
    let open: Vec<&Candidate> = candidates.iter().filter(|c| c.bucket == Some(unit.bucket) && !c.locked).collect();
    let mut out: Vec<Option<Home<'c>>> = Vec::new();
    let gathers = topics::is_name(&unit.name);
    let mut whole = None;
    for fact in &unit.facts {
        if fact.step {
            out.push(None);
            continue;
        }
        let said = plain(without_subject(&fact.text, &material.name));
        let home = repeated(&said, &open)
            .or_else(|| {
                let home = continued(material, fact, &open)?;
                whole = whole.or(Some(home).filter(|h| one_subject(unit, h.candidate)));
                Some(home)
            })
            .or_else(|| spoken_of(material, fact, &open))
            .or_else(|| {
                (leans_on_last(&said) || gathers && topic(&said).is_none())
                    .then(|| {
                        let candidate = out.last().copied().flatten()?.candidate;
                        Some(Home { candidate, flavour: Flavour::Corroborate })
                    })
                    .flatten()
            })
            .or_else(|| (unit.bucket == Bucket::Personal).then(|| of_topic(&said, &open)).flatten());
        out.push(home);
    }
    if let Some(Home { candidate, .. }) = whole {
        for (home, fact) in out.iter_mut().zip(&unit.facts) {
            let flavour = match precise(fact, candidate, material) {
                Some(_) => Flavour::Refine,
                None => Flavour::Corroborate,
            };
            *home = home.or(Some(Home { candidate, flavour }));
        }
    }
    out
}

/// The digest of which a block says the same.
fn repeated<'c>(said: &str, open: &[&'c Candidate]) -> Option<Home<'c>> {
    open.iter()
        .find(|c| c.blocks.iter().any(|b| b.open && !b.related && restates(said, &b.text)))
        .map(|candidate| Home { candidate, flavour: Flavour::Corroborate })
}

/// Whether a unit that goes further than a digest in one fact is about its subject as a whole: a wish,
/// or five words in common.
fn one_subject(unit: &GroundedUnit, candidate: &Candidate) -> bool {
    let mine: BTreeSet<String> = content_words(&bare(&unit.query())).into_iter().collect();
    let theirs: BTreeSet<String> = candidate.blocks.iter().flat_map(|b| content_words(&bare(&b.text))).collect();
    unit.bucket == Bucket::Personal || mine.intersection(&theirs).count() >= 5
}

/// The digest of a linked event that the fact goes further than.
fn continued<'c>(material: &Material, fact: &GroundedFact, open: &[&'c Candidate]) -> Option<Home<'c>> {
    let said = plain(without_subject(&fact.text, &material.name));
    let refine = |candidate| Home { candidate, flavour: Flavour::Refine };
    if goes_further(&said)
        && let Some(candidate) = linked(material, &fact.text).iter().find_map(|l| digest_of(l, open))
    {
        return Some(refine(candidate));
    }
    if !narrows_cue(&said) {
        return None;
    }
    let names = identifiers(&fact.text);
    let candidate = material
        .links
        .iter()
        .filter_map(|l| digest_of(l, open))
        .find(|c| c.blocks.iter().any(|b| b.open && !b.related && !names.is_disjoint(&identifiers(&b.text))))?;
    Some(refine(candidate))
}

/// The digest of an event that the fact says to be confirmed, or is an instance of. A review speaks
/// of what it links to.
fn spoken_of<'c>(material: &Material, fact: &GroundedFact, open: &[&'c Candidate]) -> Option<Home<'c>> {
    let said = plain(without_subject(&fact.text, &material.name));
    let links = linked(material, &fact.text);
    let about = is_review(&material.name) || remark_on(&said) == Some(Remark::Agrees);
    let direct = about.then(|| links.iter().find_map(|l| digest_of(l, open))).flatten();
    let candidate = direct.or_else(|| {
        // "This agrees with [[…]]" right behind the fact.
        let next = fact.passages.last()? + 1;
        let remark = material.passages.get(next)?;
        if remark_on(&plain(&remark.text)) != Some(Remark::AgreesPointingBack) {
            return None;
        }
        let links = linked(material, &remark.text);
        instance_of(&said, links.first()?, open)
    })?;
    Some(Home { candidate, flavour: Flavour::Corroborate })
}

/// The digest of the user's wishes about the same thing, in the same language: the one with most of
/// them.
fn of_topic<'c>(said: &str, open: &[&'c Candidate]) -> Option<Home<'c>> {
    let about = topic(said)?;
    let language = Language::of(said);
    let count = |c: &Candidate| c.blocks.iter().filter(|b| !b.related && topic(&b.text) == Some(about)).count();
    let candidate = open
        .iter()
        .filter(|c| Language::of(&c.name) == language)
        .map(|c| (count(c), *c))
        .filter(|(n, _)| *n > 0)
        .max_by(|(a, x), (b, y)| a.cmp(b).then_with(|| y.path.cmp(&x.path)))?
        .1;
    // "Before" is what consent is about, and no bound of it.
    let flavour = if bounds(said) && about != topics::Topic::Consent { Flavour::Refine } else { Flavour::Corroborate };
    Some(Home { candidate, flavour })
}

/// The events that a text links to, in order.
fn linked(material: &Material, text: &str) -> Vec<NotePath> {
    pieces(text)
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Link { target, .. } => {
                let target = target.split('#').next().unwrap_or(target).trim();
                material.links.iter().find(|l| l.link_target() == target).cloned()
            }
            Piece::Text(_) => None,
        })
        .collect()
}

/// The digest that most of an event went into.
fn digest_of<'c>(event: &NotePath, open: &[&'c Candidate]) -> Option<&'c Candidate> {
    let cites = |c: &Candidate| c.blocks.iter().filter(|b| b.sources.iter().any(|(path, _)| path == event)).count();
    open.iter()
        .map(|c| (cites(c), *c))
        .filter(|(n, _)| *n > 0)
        .max_by(|(a, x), (b, y)| a.cmp(b).then_with(|| y.path.cmp(&x.path)))
        .map(|(_, c)| c)
}

/// The one digest of an event that has a block from it with the same counts and names as the fact,
/// whatever the language.
fn instance_of<'c>(said: &str, event: &NotePath, open: &[&'c Candidate]) -> Option<&'c Candidate> {
    let mine = marks(said);
    let mut found = open.iter().filter(|c| {
        c.blocks.iter().any(|b| b.sources.iter().any(|(path, _)| path == event) && !mine.is_disjoint(&marks(&b.text)))
    });
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// What a statement keeps in another language: numbers, counts, names in Latin letters in a Chinese
/// text.
fn marks(text: &str) -> BTreeSet<String> {
    const COUNTS: &[(&str, &str, &str)] = &[
        ("one", "一", "1"),
        ("two", "两", "2"),
        ("three", "三", "3"),
        ("four", "四", "4"),
        ("five", "五", "5"),
        ("eight", "八", "8"),
        ("ten", "十", "10"),
    ];
    let padded = super::cues::padded(text);
    let mut out = numbers(text);
    for (english, chinese, digit) in COUNTS {
        if padded.contains(&format!(" {english} ")) || text.contains(chinese) {
            out.insert((*digit).to_owned());
        }
    }
    out
}

/// Names of code: the words of code spans that are no paths.
fn identifiers(text: &str) -> BTreeSet<String> {
    let paths = |span: &&str| span.contains('/');
    let spans = text.split('`').skip(1).step_by(2).filter(|s| !paths(s)).flat_map(|span| {
        span.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
            .filter(|w| w.contains('_') || w.len() > 7)
            .map(str::to_lowercase)
            .collect::<Vec<_>>()
    });
    spans.collect()
}

/// The block of `candidate` that the fact makes more precise: it repeats it with more, or narrows
/// it in so many words.
pub(super) fn precise(fact: &GroundedFact, candidate: &Candidate, material: &Material) -> Option<usize> {
    let said = plain(without_subject(&fact.text, &material.name));
    if let Some(block) = super::likeness::refines(fact, candidate) {
        return Some(block);
    }
    let links = linked(material, &fact.text);
    if goes_further(&said) && links.iter().any(|l| candidate.sources.contains(l)) {
        return nearest(&said, candidate, 1);
    }
    let names = identifiers(&fact.text);
    let named = candidate.blocks.iter().position(|b| b.open && !b.related && !names.is_disjoint(&identifiers(&b.text)));
    if narrows_cue(&said)
        && let Some(block) = named
        && material.links.iter().any(|l| candidate.sources.contains(l))
    {
        return Some(block);
    }
    let wish = candidate.bucket == Some(Bucket::Personal) && topic(&said).is_some();
    let least = if wish { 2 } else { 4 };
    (narrows_cue(&said) || wish && bounds(&said)).then(|| nearest(&said, candidate, least)).flatten()
}

/// Whether a wish sets a condition, a bound or a time.
fn bounds(said: &str) -> bool {
    narrows_cue(said) || said.contains("之前") || super::cues::padded(said).contains(" before ")
}

/// The open block with most words in common, at least `least`; of a topic only within the topic.
fn nearest(said: &str, candidate: &Candidate, least: usize) -> Option<usize> {
    let mine: BTreeSet<String> = content_words(&bare(said)).into_iter().collect();
    let about = topic(said);
    candidate
        .blocks
        .iter()
        .enumerate()
        .filter(|(_, b)| b.open && !b.related)
        .filter(|(_, b)| about.is_none() || topic(&b.text) == about)
        .map(|(i, b)| {
            let theirs: BTreeSet<String> = content_words(&bare(&b.text)).into_iter().collect();
            (mine.intersection(&theirs).count(), i)
        })
        .filter(|(n, _)| *n >= least)
        .max_by(|(a, x), (b, y)| a.cmp(b).then_with(|| y.cmp(x)))
        .map(|(_, i)| i)
}
