//! Evidence: BM25 of blocks and of notes, from the places of the query's terms.

use std::collections::{BTreeMap, BTreeSet};

use super::citations::Citations;
use super::terms::Terms;
use crate::config::RecallConfig;
use crate::index::{NoteKey, UnitId};

/// What the query's words say about blocks and notes.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// BM25 per block (the best of its parts), 0..=1 of the best allowed block.
    pub(crate) blocks: BTreeMap<(NoteKey, u32), f64>,
    /// Per block: the share of the digest blocks that cite it.
    pub(crate) lent: BTreeMap<(NoteKey, u32), f64>,
    /// BM25 per note, 0..=1 of the best allowed note.
    pub(crate) notes: BTreeMap<NoteKey, f64>,
    /// Notes that a qualifying term stands in.
    pub(crate) qualified: BTreeSet<NoteKey>,
}

/// Counts of one unit: own and headings', per term.
#[derive(Debug, Default)]
struct Row {
    body: Vec<(usize, f64)>,
    header: Vec<usize>,
    length: f64,
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

/// Scores blocks and notes. Linear in the places of the terms.
pub(crate) fn weigh(terms: &Terms, citations: &Citations, scope: &Scope<'_>, config: &RecallConfig) -> Evidence {
    let (mut rows, idf) = rows(terms, scope);
    let mut out = Evidence::default();
    lend(&mut out, &mut rows, terms, &idf, citations, scope, config);
    let average = rows.values().map(|r| r.length).sum::<f64>() / (rows.len().max(1) as f64);
    for (&(note, unit), row) in &rows {
        let score = row_score(row, terms, &idf, average, config);
        let best = out.blocks.entry((note, unit.block)).or_insert(0.0);
        *best = best.max(score);
    }
    out.notes = notes(terms, scope, config);
    qualify(&mut out, terms, citations, scope);
    let allowed = |note: &NoteKey| (scope.allowed)(*note);
    normalise(&mut out.blocks, &mut out.lent, |(note, _)| allowed(note));
    let best = out.notes.iter().filter(|(note, _)| allowed(note)).map(|(_, s)| *s).fold(0.0, f64::max);
    if best > 0.0 {
        out.notes.values_mut().for_each(|s| *s = (*s / best).min(1.0));
    }
    out
}

type Rows = BTreeMap<(NoteKey, UnitId), Row>;

fn rows(terms: &Terms, scope: &Scope<'_>) -> (Rows, Vec<(f64, f64)>) {
    let mut rows: Rows = BTreeMap::new();
    let mut idf = Vec::with_capacity(terms.terms.len());
    for (at, term) in terms.terms.iter().enumerate() {
        for place in term.body.iter().filter(|p| (scope.live)(p.note)) {
            let row = rows.entry((place.note, place.unit)).or_default();
            row.body.push((at, f64::from(place.count)));
            row.length = f64::from(place.length);
        }
        for place in term.header.iter().filter(|p| (scope.live)(p.note)) {
            rows.entry((place.note, place.unit)).or_default().header.push(at);
        }
        idf.push((rarity(term.body.len(), scope.units), rarity(term.header.len(), scope.units)));
    }
    (rows, idf)
}

/// BM25's inverse document frequency: `ln(1 + (N - n + ½) / (n + ½))`.
fn rarity(with: usize, of: u64) -> f64 {
    let (with, of) = (with as f64, of as f64);
    (1.0 + (of - with + 0.5).max(0.0) / (with + 0.5)).ln()
}

fn saturate(count: f64, length: f64, average: f64, config: &RecallConfig) -> f64 {
    let norm = if average > 0.0 { 1.0 - config.b + config.b * length / average } else { 1.0 };
    let k1 = config.k1.max(0.0);
    count * (k1 + 1.0) / (count + k1 * norm)
}

fn row_score(row: &Row, terms: &Terms, idf: &[(f64, f64)], average: f64, config: &RecallConfig) -> f64 {
    let weight = |at: usize| terms.terms.get(at).map_or(0.0, |t| t.weight);
    let rare = |at: usize| idf.get(at).copied().unwrap_or_default();
    let body: f64 = row
        .body
        .iter()
        .map(|&(at, count)| weight(at) * rare(at).0 * saturate(count, row.length, average, config))
        .sum();
    let header: f64 = row.header.iter().map(|&at| weight(at) * rare(at).1).sum();
    body + config.header_weight * header
}

/// What digest blocks add to the source blocks that they cite: their words are counted there as
/// well, and a share of their score goes there. Only words that the source block lacks add
/// anything, since a digest that repeats its source is no second witness.
fn lend(
    out: &mut Evidence,
    rows: &mut Rows,
    terms: &Terms,
    idf: &[(f64, f64)],
    citations: &Citations,
    scope: &Scope<'_>,
    config: &RecallConfig,
) {
    let mut extra: BTreeMap<(NoteKey, u32), BTreeMap<usize, f64>> = BTreeMap::new();
    for ((note, unit), row) in rows.iter().filter(|((note, _), _)| (scope.lends)(*note)) {
        for target in citations.of_block(*note, unit.block) {
            let have = words_of(rows, *target);
            let new = row.body.iter().filter(|(at, _)| !have.contains(at));
            let added = Row { body: new.copied().collect(), ..Row::default() };
            if added.body.is_empty() {
                continue;
            }
            let share = config.digest_share * row_score(&added, terms, idf, 0.0, config);
            let lent = out.lent.entry(*target).or_insert(0.0);
            *lent = lent.max(share);
            let words = extra.entry(*target).or_default();
            for (at, count) in added.body {
                *words.entry(at).or_insert(0.0) += config.expansion_weight * count;
            }
        }
    }
    for ((note, block), words) in extra {
        let row = rows.entry((note, UnitId { block, part: 0 })).or_default();
        row.body.extend(words);
    }
}

/// The terms that a block's own text has, in any of its parts.
fn words_of(rows: &Rows, (note, block): (NoteKey, u32)) -> BTreeSet<usize> {
    let part = |part| (note, UnitId { block, part });
    rows.range(part(0)..=part(u16::MAX)).flat_map(|(_, row)| row.body.iter().map(|(at, _)| *at)).collect()
}

fn notes(terms: &Terms, scope: &Scope<'_>, config: &RecallConfig) -> BTreeMap<NoteKey, f64> {
    let mut out: BTreeMap<NoteKey, f64> = BTreeMap::new();
    for term in &terms.terms {
        let mut counts: BTreeMap<NoteKey, f64> = BTreeMap::new();
        for place in term.body.iter().filter(|p| (scope.live)(p.note)) {
            *counts.entry(place.note).or_insert(0.0) += f64::from(place.count);
        }
        let rare = rarity(counts.len(), scope.notes as u64);
        for (note, count) in counts {
            *out.entry(note).or_insert(0.0) += term.weight * rare * saturate(count, 0.0, 0.0, config);
        }
    }
    out
}

fn qualify(out: &mut Evidence, terms: &Terms, citations: &Citations, scope: &Scope<'_>) {
    for term in terms.terms.iter().filter(|t| t.qualifies) {
        out.qualified.extend(term.body.iter().chain(&term.header).map(|p| p.note));
        for place in term.body.iter().filter(|p| (scope.lends)(p.note)) {
            out.qualified.extend(citations.of_block(place.note, place.unit.block).iter().map(|(note, _)| *note));
        }
    }
}

type Scores = BTreeMap<(NoteKey, u32), f64>;

fn normalise(blocks: &mut Scores, lent: &mut Scores, allowed: impl Fn(&(NoteKey, u32)) -> bool) {
    let best = blocks.iter().filter(|(at, _)| allowed(at)).map(|(_, s)| *s).fold(0.0, f64::max);
    if best > 0.0 {
        blocks.values_mut().chain(lent.values_mut()).for_each(|s| *s = (*s / best).min(1.0));
    }
}
