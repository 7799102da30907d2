//! The score of a block with its surroundings: what stands around it, in its note, and what its
//! form says. The formula and its weights are in docs/ranking.md.

use std::collections::{BTreeMap, BTreeSet};

use super::alike::{Alike, Candidates};
use super::evidence::{Evidence, Place};
use super::request::SignalSwitches;
use super::terms::Terms;
use crate::config::RecallConfig;
use crate::index::{BlockIndex, IndexError, Marks, NoteKey, UnitId};

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

/// Scores the blocks of the notes that hold the best candidates; best first within a note.
pub(crate) fn score(
    index: &dyn BlockIndex,
    evidence: &Evidence,
    meaning: &Candidates<'_>,
    terms: &Terms,
    asks: &Asks,
    switches: SignalSwitches,
    config: &RecallConfig,
) -> Result<BTreeMap<NoteKey, Vec<Scored>>, IndexError> {
    let mut out = BTreeMap::new();
    let mut notes = candidates(evidence, asks, meaning.allowed, switches, config);
    let alike = &meaning.alike(&mut notes);
    let notes: Vec<NoteKey> = notes.into_iter().collect();
    for (note, units) in index.units(&notes)? {
        let blocks = form_of(units);
        let surroundings = Surroundings { note, blocks: &blocks, evidence, alike, switches, config };
        let mut scored: Vec<Scored> =
            blocks.iter().enumerate().filter_map(|(at, _)| surroundings.score(at, terms, asks)).collect();
        scored.sort_by(|a, b| b.score().total_cmp(&a.score()).then(a.block.cmp(&b.block)));
        if !scored.is_empty() {
            out.insert(note, scored);
        }
    }
    Ok(out)
}

/// The notes of the best blocks.
fn candidates(
    evidence: &Evidence,
    asks: &Asks,
    allowed: &dyn Fn(NoteKey) -> bool,
    switches: SignalSwitches,
    config: &RecallConfig,
) -> BTreeSet<NoteKey> {
    // Most blocks share their note with the one before.
    let mut here: Option<(NoteKey, Option<f64>)> = None;
    let mut note_share = |note: NoteKey| match here {
        Some((have, share)) if have == note => share,
        _ => {
            let share = (evidence.qualifies(note) && allowed(note)).then(|| {
                let said = if switches.note { config.note_share * evidence.note(note) } else { 0.0 };
                said + config.date_bonus * asks.fit(note)
            });
            here = Some((note, share));
            share
        }
    };
    let mut ranked: Vec<(f64, Place)> = Vec::new();
    for (place, score) in evidence.blocks() {
        let lent = evidence.lent.get(&place).copied().unwrap_or(0.0);
        ranked.extend(note_share(place.0).map(|share| (score + lent + share, place)));
    }
    let order = |a: &(f64, Place), b: &(f64, Place)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    let wanted = config.candidates.max(1);
    if ranked.len() > wanted {
        ranked.select_nth_unstable_by(wanted, order);
        ranked.truncate(wanted);
    }
    ranked.into_iter().map(|(_, place)| place.0).collect()
}

/// The blocks of a note in order, the parts of one taken together: the header first.
fn form_of(units: Vec<(UnitId, Marks)>) -> Vec<(u32, Marks)> {
    let mut out: Vec<(u32, Marks)> = Vec::new();
    for (unit, marks) in units {
        match out.last_mut() {
            // A block asks when its last part does.
            Some((block, have)) if *block == unit.block => *have = Marks(have.0 & !Marks::QUESTION | marks.0),
            _ => out.push((unit.block, marks)),
        }
    }
    out
}

struct Surroundings<'a> {
    note: NoteKey,
    blocks: &'a [(u32, Marks)],
    evidence: &'a Evidence,
    alike: &'a Alike,
    switches: SignalSwitches,
    config: &'a RecallConfig,
}

impl Surroundings<'_> {
    /// The own score of the block `by` places away, with its form; nothing for the note's header.
    fn near(&self, at: usize, by: isize) -> (f64, Marks) {
        let found =
            at.checked_add_signed(by).and_then(|at| self.blocks.get(at)).filter(|(block, _)| *block != UnitId::HEADER);
        found.map_or((0.0, Marks::default()), |(block, marks)| (self.own(*block), *marks))
    }

    fn own(&self, block: u32) -> f64 {
        self.evidence.block((self.note, block)) + self.meant(block)
    }

    fn meant(&self, block: u32) -> f64 {
        self.config.meaning_share * self.alike.of((self.note, block))
    }

    fn score(&self, at: usize, terms: &Terms, asks: &Asks) -> Option<Scored> {
        let (block, marks) = *self.blocks.get(at)?;
        let (switches, config) = (self.switches, self.config);
        let mut scored = Scored { block, parts: Vec::new(), speaker: 1.0, cast: 1.0 };
        scored.add("block", self.evidence.block((self.note, block)));
        scored.add("meaning", self.meant(block));
        let body = block != UnitId::HEADER;
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
            scored.add("digests", self.evidence.lent.get(&(self.note, block)).copied().unwrap_or(0.0));
        }
        if scored.parts.is_empty() {
            return None;
        }
        if switches.note {
            scored.add("note", config.note_share * self.evidence.note(self.note));
        }
        scored.add("date", config.date_bonus * asks.fit(self.note));
        if switches.form && terms.cast.contains(&self.note) {
            scored.cast = (1.0 + config.cast_bonus).clamp(0.5, 2.0);
        }
        if body && switches.form {
            self.add_form(&mut scored, marks, asks);
            if terms.spoken.contains(&(self.note, block)) {
                let bonus = if terms.names_others { config.subject_bonus } else { config.speaker_bonus };
                scored.speaker = (1.0 + bonus).clamp(0.5, 2.0);
            }
        }
        Some(scored)
    }

    fn add_form(&self, scored: &mut Scored, marks: Marks, asks: &Asks) {
        let config = self.config;
        if marks.has(Marks::QUESTION) {
            scored.add("question", -config.question_penalty);
        }
        scored.add("names", config.entity_bonus * f64::from(marks.entities()) / 3.0);
        if asks.when && marks.has(Marks::TIME) {
            scored.add("time", config.when_bonus);
        }
        if asks.place && marks.has(Marks::PLACE) {
            scored.add("place", config.where_bonus);
        }
    }
}
