//! Meaning as a part of the text score: how like the query the blocks of the candidates are.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dormouse_vault::Version;

use super::evidence::Place;
use super::reply::SignalState;
use super::request::SignalSwitches;
use super::signals::Signals;
use crate::config::RecallConfig;
use crate::embed::{Asked, Meaning};
use crate::index::NoteKey;

pub(crate) struct Alike<'a> {
    pub(crate) asked: Option<&'a Asked>,
    pub(crate) version: &'a dyn Fn(NoteKey) -> Option<Version>,
    pub(crate) config: &'a RecallConfig,
}

#[derive(Debug, Default)]
pub(crate) struct Meant {
    blocks: BTreeMap<Place, f64>,
    notes: BTreeMap<NoteKey, f64>,
}

impl Meant {
    pub(crate) fn block(&self, place: Place) -> f64 {
        self.blocks.get(&place).copied().unwrap_or(0.0)
    }
    pub(crate) fn note(&self, note: NoteKey) -> f64 {
        self.notes.get(&note).copied().unwrap_or(0.0)
    }
}

impl Alike<'_> {
    pub(crate) fn ask(
        meaning: Option<&Meaning>,
        text: &str,
        switches: SignalSwitches,
        config: &RecallConfig,
        index: &dyn crate::index::BlockIndex,
        signals: &mut Signals,
    ) -> Option<Asked> {
        let meaning = meaning?;
        if !switches.meaning {
            signals.state("meaning", SignalState::Off, None);
            return None;
        }
        use crate::text::{Role, analyze};
        let words = analyze(text);
        let mut kept = Vec::new();
        for w in &words {
            let name = index.postings(crate::index::Field::Speaker, &w.surface).map(|p| p.len() >= 3).unwrap_or(false);
            let stop = w.terms.iter().any(|(r, _)| *r == Role::Stop);
            if name || (stop && config.m_query > 1.5) { continue; }
            let n = w.terms.first().and_then(|(_, t)| index.postings(crate::index::Field::Body, t).ok()).map_or(0, |p| p.len()) as f64;
            let idf = (1.0 + (index.unit_count().unwrap_or(0) as f64 - n + 0.5).max(0.0) / (n + 0.5)).ln();
            kept.push((text.get(w.span.clone()).unwrap_or("").to_owned(), if stop { 0.3 } else { idf }));
        }
        let joined = kept.iter().map(|(w, _)| w.as_str()).collect::<Vec<_>>().join(" ");
        let asked = match config.m_query as i32 {
            1 | 2 if !joined.is_empty() => meaning.ask(&joined, Duration::from_millis(150)),
            3 if !kept.is_empty() => meaning.ask_words(&kept),
            4 if !kept.is_empty() => { for k in &mut kept { k.1 = 1.0; } meaning.ask_words(&kept) }
            _ => meaning.ask(text, Duration::from_millis(150)),
        };
        signals.state("meaning", asked.state, None);
        signals.warnings.extend(asked.warning.clone());
        let _ = config;
        asked.is_ready().then_some(asked)
    }

    pub(crate) fn of(&self, notes: &mut BTreeSet<NoteKey>, allowed: &dyn Fn(NoteKey) -> bool) -> Meant {
        let mut out = Meant::default();
        let Some(asked) = self.asked else {
            return out;
        };
        let c = self.config;
        if c.m_add > 0.0 {
            let ok = |note: NoteKey, version: Version| (self.version)(note) == Some(version) && allowed(note);
            for ((note, _), cos) in asked.nearest(c.m_add as usize, &ok) {
                if f64::from(cos) >= c.m_min {
                    notes.insert(note);
                }
            }
        }
        for note in notes.iter() {
            let Some(version) = (self.version)(*note) else { continue };
            for (block, cosine) in asked.of_note(*note, version) {
                out.blocks.insert((*note, block), f64::from(cosine));
            }
        }
        let n = out.blocks.len().max(1) as f64;
        let mean = out.blocks.values().sum::<f64>() / n;
        let max = out.blocks.values().copied().fold(0.0, f64::max).max(1e-6);
        let sd = (out.blocks.values().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt().max(1e-6);
        for x in out.blocks.values_mut() {
            *x = match c.m_norm as i32 {
                0 => x.max(0.0) / max,
                1 => ((*x - mean) / (max - mean).max(1e-6)).max(0.0),
                2 => ((*x - mean) / sd / 4.0).clamp(0.0, 1.0),
                3 => x.max(0.0),
                4 => ((*x - mean) / sd / 4.0).clamp(-0.5, 1.5),
                5 => ((*x - mean - sd) / (max - mean - sd).max(1e-6)).max(0.0),
                6 => ((*x - mean) / (max - mean).max(1e-6)).max(-1.0),
                _ => (x.max(0.0) / max).powi(2),
            };
        }
        for ((note, _), x) in &out.blocks {
            let e = out.notes.entry(*note).or_insert(0.0);
            *e = e.max(*x);
        }
        out
    }
}
