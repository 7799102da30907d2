//! Evidence: BM25 of blocks and of notes, from the places of the query's terms.
//!
//! The places of every term come in order of note and unit, so that one merge over all of them
//! meets each unit once; nothing is kept but the units that some term stands in.

use std::collections::{BTreeMap, BTreeSet};

use super::citations::Citations;
use super::terms::{Term, Terms};
use crate::config::RecallConfig;
use crate::index::{NoteKey, Posting, UnitId};

/// A block, as note and number.
pub(crate) type Place = (NoteKey, u32);

/// What the query's words say about blocks and notes.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// BM25 per block (the best of its parts), 0..=1 of the best allowed block, in order.
    blocks: Vec<(Place, f64)>,
    /// BM25 per note, 0..=1 of the best allowed note, in order.
    notes: Vec<(NoteKey, Said)>,
    /// Per block: the share of the digest blocks that cite it.
    pub(crate) lent: BTreeMap<Place, f64>,
}

/// What a note has of the query.
#[derive(Debug, Clone, Copy, Default)]
struct Said {
    score: f64,
    /// Whether a qualifying term stands in it, or in a digest block that cites it.
    qualifies: bool,
}

impl Evidence {
    /// The blocks that some term stands in, with their scores.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (Place, f64)> {
        self.blocks.iter().copied()
    }

    /// The score of a block. O(log n).
    pub(crate) fn block(&self, place: Place) -> f64 {
        let at = self.blocks.binary_search_by(|(have, _)| have.cmp(&place));
        at.ok().and_then(|at| self.blocks.get(at)).map_or(0.0, |(_, score)| *score)
    }

    /// The score of a note. O(log n).
    pub(crate) fn note(&self, note: NoteKey) -> f64 {
        self.said(note).map_or(0.0, |said| said.score)
    }

    /// Whether a qualifying term stands in a note. O(log n).
    pub(crate) fn qualifies(&self, note: NoteKey) -> bool {
        self.said(note).is_some_and(|said| said.qualifies)
    }

    /// The notes that qualify, in order.
    pub(crate) fn qualified(&self) -> impl Iterator<Item = NoteKey> {
        self.notes.iter().filter(|(_, said)| said.qualifies).map(|(note, _)| *note)
    }

    fn said(&self, note: NoteKey) -> Option<&Said> {
        let at = self.notes.binary_search_by(|(have, _)| have.cmp(&note)).ok()?;
        self.notes.get(at).map(|(_, said)| said)
    }
}

/// What may take part.
pub(crate) struct Scope<'a> {
    /// Whether a note is live.
    pub(crate) live: &'a dyn Fn(NoteKey) -> bool,
    /// Whether a note may be returned.
    pub(crate) allowed: &'a dyn Fn(NoteKey) -> bool,
    /// Whether a note's blocks lend to the blocks that they cite.
    pub(crate) lends: &'a dyn Fn(NoteKey) -> bool,
    /// Units in the index.
    pub(crate) units: u64,
    /// Notes in the vault.
    pub(crate) notes: usize,
}

/// Rarities of a term: in blocks, in headers, in notes.
#[derive(Debug, Clone, Copy, Default)]
struct Rarity {
    body: f64,
    header: f64,
    note: f64,
}

/// A unit in which some term stands.
#[derive(Debug, Default)]
struct Row {
    /// Term and count.
    body: Vec<(usize, f64)>,
    /// Terms.
    header: Vec<usize>,
    length: f64,
}

/// Scores blocks and notes. Linear in the places of the terms, times the number of terms.
pub(crate) fn weigh(terms: &Terms, citations: &Citations, scope: &Scope<'_>, config: &RecallConfig) -> Evidence {
    let rarities: Vec<Rarity> = terms.terms.iter().map(|term| rarity_of(term, scope)).collect();
    let average = average_length(terms, config);
    let bm25 = Bm25 { terms: &terms.terms, rarities: &rarities, average, config };
    let mut out = Evidence::default();
    let mut lending: Vec<(Place, Row)> = Vec::new();
    let mut words: Vec<f64> = vec![0.0; terms.terms.len()];
    let mut qualifies = false;
    let mut here: Option<(NoteKey, bool, bool)> = None;
    merge(&terms.terms, |note, unit, row| {
        if here.is_none_or(|(have, ..)| have != note) {
            if let Some((before, true, _)) = here {
                out.notes.push((before, bm25.note(&mut words, qualifies)));
            }
            let live = (scope.live)(note);
            here = Some((note, live, live && (scope.lends)(note)));
            qualifies = false;
        }
        let Some((_, true, lends)) = here else {
            return;
        };
        for (at, count) in &row.body {
            words.get_mut(*at).into_iter().for_each(|have| *have += count);
        }
        let mut standing = row.body.iter().map(|(at, _)| at).chain(&row.header);
        qualifies |= standing.any(|at| terms.terms.get(*at).is_some_and(|term| term.qualifies));
        let score = bm25.row(row);
        match out.blocks.last_mut() {
            Some((place, best)) if *place == (note, unit.block) => *best = best.max(score),
            _ => out.blocks.push(((note, unit.block), score)),
        }
        if lends && !citations.of_block(note, unit.block).is_empty() {
            lending.push(((note, unit.block), std::mem::take(row)));
        }
    });
    if let Some((last, true, _)) = here {
        out.notes.push((last, bm25.note(&mut words, qualifies)));
    }
    lend(&mut out, &lending, citations, scope, &bm25);
    normalise(&mut out, scope);
    out
}

fn rarity_of(term: &Term, scope: &Scope<'_>) -> Rarity {
    let mut notes = 0;
    let mut last = None;
    for place in &term.body {
        notes += usize::from(last != Some(place.note));
        last = Some(place.note);
    }
    Rarity {
        body: rarity(term.body.len(), scope.units),
        header: rarity(term.header.len(), scope.units),
        note: rarity(notes, scope.notes as u64),
    }
}

/// BM25's inverse document frequency: `ln(1 + (N - n + ½) / (n + ½))`.
fn rarity(with: usize, of: u64) -> f64 {
    let (with, of) = (with as f64, of as f64);
    (1.0 + (of - with + 0.5).max(0.0) / (with + 0.5)).ln()
}

/// The mean length of the places, which only a length norm asks for.
fn average_length(terms: &Terms, config: &RecallConfig) -> f64 {
    if config.b == 0.0 {
        return 0.0;
    }
    let places = || terms.terms.iter().flat_map(|term| &term.body);
    places().map(|place| f64::from(place.length)).sum::<f64>() / places().count().max(1) as f64
}

/// Calls `visit` for each unit that some term stands in, in order of note and unit.
fn merge(terms: &[Term], mut visit: impl FnMut(NoteKey, UnitId, &mut Row)) {
    let mut lists: Vec<(usize, bool, &[Posting])> = Vec::new();
    for (at, term) in terms.iter().enumerate() {
        lists.extend([(at, true, term.body.as_slice()), (at, false, term.header.as_slice())]);
    }
    lists.retain(|(_, _, places)| !places.is_empty());
    let mut row = Row::default();
    while let Some(next) = lists.iter().filter_map(|(_, _, places)| places.first()).map(|p| (p.note, p.unit)).min() {
        row.body.clear();
        row.header.clear();
        row.length = 0.0;
        let mut spent = false;
        for (at, body, places) in &mut lists {
            let Some((place, rest)) = places.split_first().filter(|(place, _)| (place.note, place.unit) == next) else {
                continue;
            };
            if *body {
                row.body.push((*at, f64::from(place.count)));
                row.length = f64::from(place.length);
            } else {
                row.header.push(*at);
            }
            *places = rest;
            spent |= rest.is_empty();
        }
        if spent {
            lists.retain(|(_, _, places)| !places.is_empty());
        }
        visit(next.0, next.1, &mut row);
    }
}

/// BM25 of rows of this query.
struct Bm25<'a> {
    terms: &'a [Term],
    rarities: &'a [Rarity],
    average: f64,
    config: &'a RecallConfig,
}

impl Bm25<'_> {
    fn weight(&self, at: usize) -> f64 {
        self.terms.get(at).map_or(0.0, |term| term.weight)
    }

    fn rare(&self, at: usize) -> Rarity {
        self.rarities.get(at).copied().unwrap_or_default()
    }

    fn saturate(&self, count: f64, length: f64) -> f64 {
        let b = self.config.b;
        let norm = if self.average > 0.0 { 1.0 - b + b * length / self.average } else { 1.0 };
        let k1 = self.config.k1.max(0.0);
        count * (k1 + 1.0) / (count + k1 * norm)
    }

    fn row(&self, row: &Row) -> f64 {
        let body: f64 = row
            .body
            .iter()
            .map(|&(at, count)| self.weight(at) * self.rare(at).body * self.saturate(count, row.length))
            .sum();
        let header: f64 = row.header.iter().map(|&at| self.weight(at) * self.rare(at).header).sum();
        body + self.config.header_weight * header
    }

    /// The score of a note from its counts, which are spent.
    fn note(&self, words: &mut [f64], qualifies: bool) -> Said {
        let mut score = 0.0;
        for (at, count) in words.iter_mut().enumerate().filter(|(_, count)| **count > 0.0) {
            score += self.weight(at) * self.rare(at).note * self.saturate(*count, self.average);
            *count = 0.0;
        }
        Said { score, qualifies }
    }
}

/// What digest blocks add to the source blocks that they cite: their words are counted there as
/// well, and a share of their score goes there. Only words that the source block lacks add
/// anything, since a digest that repeats its source is no second witness.
fn lend(out: &mut Evidence, lending: &[(Place, Row)], citations: &Citations, scope: &Scope<'_>, bm25: &Bm25<'_>) {
    let mut targets: BTreeMap<Place, BTreeMap<usize, f64>> = BTreeMap::new();
    let mut cited: BTreeSet<NoteKey> = BTreeSet::new();
    for ((note, block), row) in lending {
        let qualifies = row.body.iter().any(|(at, _)| bm25.terms.get(*at).is_some_and(|term| term.qualifies));
        for target in citations.of_block(*note, *block).iter().filter(|(note, _)| (scope.live)(*note)) {
            if qualifies {
                cited.insert(target.0);
            }
            let have = words_of(bm25.terms, *target);
            let added = row.body.iter().filter(|(at, _)| !have.contains(at)).copied();
            let added = Row { body: added.collect(), ..Row::default() };
            if added.body.is_empty() {
                continue;
            }
            let share = bm25.config.digest_share * bm25.row(&added);
            let lent = out.lent.entry(*target).or_insert(0.0);
            *lent = lent.max(share);
            let words = targets.entry(*target).or_default();
            for (at, count) in added.body {
                *words.entry(at).or_insert(0.0) += bm25.config.expansion_weight * count;
            }
        }
    }
    for (place, words) in targets {
        // Of the terms that it lacked, each adds what it would have in the block's own text.
        let more = bm25.row(&Row { body: words.into_iter().collect(), ..Row::default() });
        match out.blocks.binary_search_by(|(have, _)| have.cmp(&place)) {
            Ok(at) => out.blocks.get_mut(at).into_iter().for_each(|(_, score)| *score += more),
            Err(at) => out.blocks.insert(at, (place, more)),
        }
    }
    for note in cited {
        match out.notes.binary_search_by(|(have, _)| have.cmp(&note)) {
            Ok(at) => out.notes.get_mut(at).into_iter().for_each(|(_, said)| said.qualifies = true),
            Err(at) => out.notes.insert(at, (note, Said { score: 0.0, qualifies: true })),
        }
    }
}

/// The terms that a block's own text has, in any of its parts. O(log n) a term.
fn words_of(terms: &[Term], (note, block): Place) -> BTreeSet<usize> {
    let stands = |term: &Term| {
        let first = term.body.partition_point(|p| (p.note, p.unit.block) < (note, block));
        term.body.get(first).is_some_and(|p| (p.note, p.unit.block) == (note, block))
    };
    terms.iter().enumerate().filter(|(_, term)| stands(term)).map(|(at, _)| at).collect()
}

fn normalise(out: &mut Evidence, scope: &Scope<'_>) {
    let mut here: Option<(NoteKey, bool)> = None;
    let mut allowed = |note: NoteKey| match here {
        Some((have, allowed)) if have == note => allowed,
        _ => {
            let allowed = (scope.allowed)(note);
            here = Some((note, allowed));
            allowed
        }
    };
    let best = out.blocks.iter().filter(|((note, _), _)| allowed(*note)).map(|(_, s)| *s).fold(0.0, f64::max);
    if best > 0.0 {
        let scores = out.blocks.iter_mut().map(|(_, score)| score).chain(out.lent.values_mut());
        scores.for_each(|score| *score = (*score / best).min(1.0));
    }
    let best = out.notes.iter().filter(|(note, _)| allowed(*note)).map(|(_, s)| s.score).fold(0.0, f64::max);
    if best > 0.0 {
        out.notes.iter_mut().for_each(|(_, said)| said.score = (said.score / best).min(1.0));
    }
}
