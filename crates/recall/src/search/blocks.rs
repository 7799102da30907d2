//! The score of a block with its surroundings: what stands around it, in its note, and what its
//! form says. The formula and its weights are in docs/ranking.md.

use std::collections::BTreeMap;

use super::evidence::{BlockEvidence, Evidence, NoteEvidence};
use super::request::SignalSwitches;
use super::terms::Terms;
use crate::config::RecallConfig;
use crate::index::{Marks, NoteKey, UnitId};

/// A scored block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scored {
    /// Index into the note's blocks, or [`UnitId::HEADER`].
    pub(crate) block: u32,
    /// The named parts of its text score.
    pub(crate) parts: Vec<(&'static str, f64)>,
    /// Factor for being spoken by the one person whom the query names.
    pub(crate) speaker: f64,
    /// Factor for a conversation of all whom the query names.
    pub(crate) cast: f64,
}

impl Scored {
    /// The text score: the sum of the parts, never below a thousandth.
    pub(crate) fn text(&self) -> f64 {
        self.parts.iter().map(|(_, value)| value).sum::<f64>().max(0.001)
    }

    /// The text score with the factors of who speaks.
    pub(crate) fn score(&self) -> f64 {
        self.text() * self.speaker * self.cast
    }

    /// A block with one part alone.
    pub(crate) fn of(block: u32, part: &'static str, value: f64) -> Self {
        Self { block, parts: vec![(part, value)], speaker: 1.0, cast: 1.0 }
    }

    fn add(&mut self, name: &'static str, value: f64) {
        if value != 0.0 {
            self.parts.push((name, value));
        }
    }
}

/// What the query asks for besides its words.
#[derive(Debug, Clone)]
pub(crate) struct Asks {
    /// A time.
    pub(crate) when: bool,
    /// A place.
    pub(crate) place: bool,
    /// How well the date of a note fits the dates that the query names; empty when it names none.
    pub(crate) dated: BTreeMap<NoteKey, f64>,
}

impl Asks {
    fn fit(&self, note: NoteKey) -> f64 {
        self.dated.get(&note).copied().unwrap_or(0.0)
    }
}

/// Scores the blocks of the notes that were found; best first within a note.
pub(crate) fn score(
    evidence: &Evidence,
    terms: &Terms,
    asks: &Asks,
    allowed: &dyn Fn(NoteKey) -> bool,
    switches: SignalSwitches,
    config: &RecallConfig,
) -> BTreeMap<NoteKey, Vec<Scored>> {
    let mut out = BTreeMap::new();
    for (key, note) in evidence.notes().filter(|(key, note)| note.qualifies && allowed(*key)) {
        let surroundings = Surroundings { note, fit: asks.fit(key), terms, asks, switches, config };
        let mut scored: Vec<Scored> =
            note.blocks.iter().enumerate().filter_map(|(at, block)| surroundings.score(at, block)).collect();
        best_first(&mut scored);
        if !scored.is_empty() {
            out.insert(key, scored);
        }
    }
    out
}

/// Sorts blocks, best first.
pub(crate) fn best_first(blocks: &mut [Scored]) {
    blocks.sort_by(|a, b| b.score().total_cmp(&a.score()).then(a.block.cmp(&b.block)));
}

struct Surroundings<'a> {
    note: &'a NoteEvidence,
    /// How well the note's date fits.
    fit: f64,
    terms: &'a Terms,
    asks: &'a Asks,
    switches: SignalSwitches,
    config: &'a RecallConfig,
}

impl Surroundings<'_> {
    /// The own score of the block `by` places away, with its form; nothing for the note's header.
    fn near(&self, at: usize, by: isize) -> (f64, Marks) {
        let found = at.checked_add_signed(by).and_then(|at| self.note.blocks.get(at));
        found.filter(|b| b.block != UnitId::HEADER).map_or((0.0, Marks::default()), |b| (b.own + b.meant, b.marks))
    }

    fn score(&self, at: usize, block: &BlockEvidence) -> Option<Scored> {
        let (switches, config) = (self.switches, self.config);
        let mut scored = Scored { block: block.block, parts: Vec::new(), speaker: 1.0, cast: 1.0 };
        scored.add("block", block.own);
        scored.add("meaning", block.meant);
        let body = block.block != UnitId::HEADER;
        if body && switches.neighbours {
            let (before, asked) = self.near(at, -1);
            scored.add("before", config.before_share * before);
            scored.add("after", config.after_share * self.near(at, 1).0);
            scored.add("near", config.near_share * (self.near(at, -2).0 + self.near(at, 2).0));
            if switches.form && asked.has(Marks::QUESTION) {
                scored.add("reply", config.reply_share * before);
            }
        }
        if switches.digests {
            scored.add("digests", block.lent);
        }
        if scored.parts.is_empty() {
            return None;
        }
        if switches.note {
            scored.add("note", config.note_share * self.note.said);
        }
        scored.add("date", config.date_bonus * self.fit);
        if switches.form && self.note.cast {
            scored.cast = (1.0 + config.cast_bonus).clamp(0.5, 2.0);
        }
        if body && switches.form {
            self.add_form(&mut scored, block.marks);
            if block.spoken {
                let others = self.terms.names.len() > 1;
                let bonus = if others { config.subject_bonus } else { config.speaker_bonus };
                scored.speaker = (1.0 + bonus).clamp(0.5, 2.0);
            }
        }
        Some(scored)
    }

    fn add_form(&self, scored: &mut Scored, marks: Marks) {
        let (config, asks) = (self.config, self.asks);
        if marks.has(Marks::QUESTION) {
            scored.add("question", -config.question_penalty);
        }
        // Every sentence of an article has names; what is said rarely has.
        if marks.has(Marks::TURN) {
            scored.add("names", config.entity_bonus * f64::from(marks.entities()) / 3.0);
        }
        if asks.when && marks.has(Marks::TIME) {
            scored.add("time", config.when_bonus);
        }
        if asks.place && marks.has(Marks::PLACE) {
            scored.add("place", config.where_bonus);
        }
    }
}
