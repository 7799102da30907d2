//! Evidence: BM25 of the blocks of the notes that were found, and of these notes.

use std::collections::{BTreeMap, BTreeSet};

use super::alike::Alike;
use super::citations::{Cited, Place};
use super::terms::{Term, Terms};
use crate::config::RecallConfig;
use crate::index::{Field, Marks, NoteKey, NoteTerms, Standing, Unit};

/// What the query's words say about the notes that were found and their blocks.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    notes: BTreeMap<NoteKey, NoteEvidence>,
}

/// What a note has of the query.
#[derive(Debug, Default)]
pub(crate) struct NoteEvidence {
    /// BM25 of the whole note, 0..=1 of the best note that may be returned.
    pub(crate) said: f64,
    /// Whether a qualifying term stands in it, or in a digest block that cites it.
    pub(crate) qualifies: bool,
    /// Whether all persons speak in it whom the query names.
    pub(crate) cast: bool,
    /// Its blocks in order, the header last.
    pub(crate) blocks: Vec<BlockEvidence>,
}

/// What a block has of the query.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BlockEvidence {
    /// Index into the note's blocks, or [`UnitId::HEADER`].
    pub(crate) block: u32,
    /// What its form says.
    pub(crate) marks: Marks,
    /// BM25 of the best of its parts, 0..=1 of the best block that may be returned.
    pub(crate) own: f64,
    /// What its likeness to the query adds.
    pub(crate) meant: f64,
    /// The share of the digest blocks that cite it.
    pub(crate) lent: f64,
    /// Whether the person speaks whom the query is about, or, in a digest, is the one written of.
    pub(crate) spoken: bool,
    /// The terms in its own text, a bit each.
    words: u64,
}

impl Evidence {
    /// The notes in order of their keys.
    pub(crate) fn notes(&self) -> impl Iterator<Item = (NoteKey, &NoteEvidence)> {
        self.notes.iter().map(|(key, note)| (*key, note))
    }

    /// Lets the notes of the blocks that are most alike qualify, and adds a share of each block's likeness.
    pub(crate) fn mean(&mut self, nearest: &BTreeSet<NoteKey>, alike: &Alike, share: f64) {
        for (key, note) in &mut self.notes {
            note.qualifies |= nearest.contains(key);
            note.blocks.iter_mut().for_each(|block| block.meant = share * alike.of((*key, block.block)));
        }
    }

    /// The keys of the notes that qualify, in order.
    pub(crate) fn qualified(&self) -> impl Iterator<Item = NoteKey> {
        self.notes.iter().filter(|(_, note)| note.qualifies).map(|(key, _)| *key)
    }
}

impl NoteEvidence {
    fn block(&self, block: u32) -> Option<&BlockEvidence> {
        self.blocks.get(self.blocks.partition_point(|have| have.block < block)).filter(|have| have.block == block)
    }

    fn block_mut(&mut self, block: u32) -> Option<&mut BlockEvidence> {
        let at = self.blocks.partition_point(|have| have.block < block);
        self.blocks.get_mut(at).filter(|have| have.block == block)
    }
}

/// How much there is to search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    /// Units in the index.
    pub(crate) units: u64,
    /// Notes in the vault.
    pub(crate) notes: usize,
}

/// A digest block that may lend: its terms, and what it cites.
#[derive(Debug)]
pub(crate) struct Lender {
    block: u32,
    words: Vec<(usize, f64)>,
}

/// BM25 of this query.
pub(crate) struct Bm25<'a> {
    terms: &'a Terms,
    rarities: Vec<Rarity>,
    average: f64,
    config: &'a RecallConfig,
}

/// Rarities of a term: in blocks, in headers, in notes.
#[derive(Debug, Clone, Copy, Default)]
struct Rarity {
    body: f64,
    header: f64,
    note: f64,
}

impl<'a> Bm25<'a> {
    /// `found` are the notes that the mean length of a length norm is taken from.
    pub(crate) fn of(terms: &'a Terms, extent: Extent, found: &[NoteTerms], config: &'a RecallConfig) -> Self {
        let rarities = terms.terms.iter().map(|term| rarity_of(term, extent)).collect();
        Self { terms, rarities, average: average_length(found, config), config }
    }

    fn weight(&self, at: usize) -> f64 {
        self.terms.terms.get(at).map_or(0.0, |term| term.weight)
    }

    fn qualifies(&self, at: usize) -> bool {
        self.terms.terms.get(at).is_some_and(|term| term.qualifies)
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

    fn in_body(&self, at: usize, count: f64, length: f64) -> f64 {
        self.weight(at) * self.rare(at).body * self.saturate(count, length)
    }

    fn in_header(&self, at: usize) -> f64 {
        self.config.header_weight * self.weight(at) * self.rare(at).header
    }

    fn in_note(&self, at: usize, count: f64) -> f64 {
        self.weight(at) * self.rare(at).note * self.saturate(count, self.average)
    }

    /// Whether a term is the name of the person whom the query is about.
    fn is_subject(&self, at: usize) -> bool {
        let term = self.terms.terms.get(at).map(|term| &term.text);
        term.is_some() && term == self.terms.subject_term.as_ref()
    }

    fn text(&self, words: &[(usize, f64)]) -> f64 {
        words.iter().map(|(at, count)| self.in_body(*at, *count, 0.0)).sum()
    }

    /// Weighs what stands in a note, and says what its blocks could lend. Linear.
    pub(crate) fn weigh(&self, note: &NoteTerms, digest: bool) -> (NoteEvidence, Vec<Lender>) {
        let mut out = NoteEvidence::default();
        let mut lenders: Vec<Lender> = Vec::new();
        let mut counts: Vec<f64> = vec![0.0; self.terms.terms.len()];
        let mut speaking: u64 = 0;
        let mut rest = note.standing.as_slice();
        for (number, unit) in (0_u32..).zip(&note.units) {
            let (here, later) = rest.split_at(rest.partition_point(|standing| standing.unit <= number));
            rest = later;
            let mut block = BlockEvidence { block: unit.id.block, marks: unit.marks, ..BlockEvidence::default() };
            let mut words: Vec<(usize, f64)> = Vec::new();
            for Standing { field, term, count, .. } in here.iter().copied() {
                let (at, count) = (usize::from(term), f64::from(count));
                match field {
                    Field::Body => {
                        block.own += self.in_body(at, count, f64::from(unit.length));
                        block.words |= 1 << (at % 64);
                        counts.get_mut(at).into_iter().for_each(|have| *have += count);
                        words.push((at, count));
                        out.qualifies |= self.qualifies(at);
                    }
                    Field::Header => {
                        block.spoken |= digest && self.is_subject(at);
                        block.own += self.in_header(at);
                        out.qualifies |= self.qualifies(at);
                    }
                    Field::Speaker => {
                        speaking |= 1 << (at % 64);
                        block.spoken |= self.terms.subject == Some(at);
                    }
                }
            }
            if !words.is_empty() {
                lenders.push(Lender { block: block.block, words });
            }
            match out.blocks.last_mut().filter(|have| have.block == block.block) {
                Some(have) => have.join(block),
                None => out.blocks.push(block),
            }
        }
        let named = (0..self.terms.names.len()).fold(0, |all: u64, at| all | 1 << (at % 64));
        out.cast = named != 0 && speaking & named == named;
        out.said = counts.iter().enumerate().filter(|(_, c)| **c > 0.0).map(|(at, c)| self.in_note(at, *c)).sum();
        (out, lenders)
    }
}

impl BlockEvidence {
    /// Takes in a further part of the block, which asks when its last part does.
    fn join(&mut self, part: Self) {
        self.marks = Marks(self.marks.0 & !Marks::QUESTION | part.marks.0);
        self.own = self.own.max(part.own);
        self.spoken |= part.spoken;
        self.words |= part.words;
    }
}

fn rarity_of(term: &Term, extent: Extent) -> Rarity {
    Rarity {
        body: rarity(term.body as f64, extent.units as f64),
        header: rarity(term.header as f64, extent.units as f64),
        note: rarity(term.notes, extent.notes as f64),
    }
}

/// BM25's inverse document frequency: `ln(1 + (N - n + ½) / (n + ½))`.
fn rarity(with: f64, of: f64) -> f64 {
    (1.0 + (of - with + 0.5).max(0.0) / (with + 0.5)).ln()
}

/// The mean length of the units, which only a length norm asks for.
fn average_length(found: &[NoteTerms], config: &RecallConfig) -> f64 {
    if config.b == 0.0 {
        return 0.0;
    }
    let lengths = || found.iter().flat_map(|note| &note.units).map(|unit: &Unit| f64::from(unit.length));
    lengths().sum::<f64>() / lengths().count().max(1) as f64
}

/// What a digest block cites, and its words with their counts.
type Loan = (Vec<Place>, Vec<(usize, f64)>);

/// The evidence on the way: what was weighed, and what digest blocks add to it.
pub(crate) struct Weighing<'a> {
    bm25: Bm25<'a>,
    notes: BTreeMap<NoteKey, NoteEvidence>,
    lending: Vec<Loan>,
    /// Whether a digest named for the person whom the query is about counts as spoken by that one.
    subjects: bool,
}

impl<'a> Weighing<'a> {
    pub(crate) fn new(bm25: Bm25<'a>, subjects: bool) -> Self {
        Self { bm25, notes: BTreeMap::new(), lending: Vec::new(), subjects }
    }

    /// Takes in a note; `cited` is what its blocks cite, for one that lends.
    pub(crate) fn add(&mut self, note: &NoteTerms, cited: Option<&Cited>) {
        let (evidence, lenders) = self.bm25.weigh(note, self.subjects && cited.is_some());
        self.notes.insert(note.note, evidence);
        for lender in lenders {
            let places = cited.and_then(|cited| cited.get(&lender.block)).filter(|places| !places.is_empty());
            self.lending.extend(places.map(|places| (places.clone(), lender.words)));
        }
    }

    /// The notes that are lent to and were not taken in yet.
    pub(crate) fn lacking(&self) -> BTreeSet<NoteKey> {
        let cited = self.lending.iter().flat_map(|(places, _)| places).map(|(note, _)| *note);
        cited.filter(|note| !self.notes.contains_key(note)).collect()
    }

    /// Lends, and scales to the best of what may be returned.
    pub(crate) fn finish(mut self, returned: &dyn Fn(NoteKey) -> bool) -> Evidence {
        self.lend();
        let allowed: BTreeSet<NoteKey> = self.notes.keys().copied().filter(|note| returned(*note)).collect();
        let of = |note: &NoteKey| allowed.contains(note);
        let blocks = self.notes.iter().filter(|(key, _)| of(key)).flat_map(|(_, note)| &note.blocks);
        let best = blocks.map(|block| block.own).fold(0.0, f64::max);
        let said = self.notes.iter().filter(|(key, _)| of(key)).map(|(_, note)| note.said).fold(0.0, f64::max);
        let scale = |value: f64, best: f64| if best > 0.0 { (value / best).min(1.0) } else { value };
        for note in self.notes.values_mut() {
            note.said = scale(note.said, said);
            for block in &mut note.blocks {
                block.own = scale(block.own, best);
                block.lent = scale(block.lent, best);
            }
        }
        Evidence { notes: self.notes }
    }

    /// What digest blocks add to the source blocks that they cite: their words are counted there as
    /// well, and a share of their score goes there. Only words that the source block lacks add
    /// anything, since a digest that repeats its source is no second witness.
    fn lend(&mut self) {
        let mut added: BTreeMap<Place, BTreeMap<usize, f64>> = BTreeMap::new();
        for (places, words) in &self.lending {
            let qualifies = words.iter().any(|(at, _)| self.bm25.qualifies(*at));
            for (note, block) in places {
                let Some(evidence) = self.notes.get_mut(note) else {
                    continue;
                };
                evidence.qualifies |= qualifies;
                let have = evidence.block(*block).map_or(0, |block| block.words);
                let new: Vec<(usize, f64)> =
                    words.iter().copied().filter(|(at, _)| have & 1 << (at % 64) == 0).collect();
                if new.is_empty() {
                    continue;
                }
                let share = self.bm25.config.digest_share * self.bm25.text(&new);
                if let Some(block) = evidence.block_mut(*block) {
                    block.lent = block.lent.max(share);
                }
                let words = added.entry((*note, *block)).or_default();
                for (at, count) in new {
                    *words.entry(at).or_insert(0.0) += self.bm25.config.expansion_weight * count;
                }
            }
        }
        for ((note, block), words) in added {
            // Of the terms that it lacked, each adds what it would have in the block's own text.
            let words: Vec<(usize, f64)> = words.into_iter().collect();
            let more = self.bm25.text(&words);
            let block = self.notes.get_mut(&note).and_then(|evidence| evidence.block_mut(block));
            block.into_iter().for_each(|block| block.own += more);
        }
    }
}
