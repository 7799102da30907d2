//! Meaning as a part of the text score: how like the query the blocks of the candidates are.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dormouse_vault::Version;

use super::citations::Place;
use crate::config::RecallConfig;
use crate::embed::{Asked, Meaning};
use crate::index::NoteKey;
use crate::text::analyze;

/// The likeness of the best block counts in full when it stands out by at least this share of the way
/// from the average to the same; less makes all of it count less.
const CLEAR: f64 = 0.25;

/// The vector of a query. Who speaks is a matter of its own: the names of speakers are left out of
/// the query as they are left out of the blocks, as long as there is another word.
pub(crate) fn ask(meaning: Option<&Meaning>, text: &str, names: &[String], config: &RecallConfig) -> Option<Asked> {
    let meaning = meaning?;
    let deadline = Duration::from_millis(config.embed.deadline_ms);
    if names.is_empty() {
        return Some(meaning.ask(text, deadline));
    }
    let words = analyze(text).into_iter().filter(|word| !names.contains(&word.surface));
    let words: Vec<&str> = words.filter_map(|word| text.get(word.span)).collect();
    let said = if words.is_empty() { text.to_owned() } else { words.join(" ") };
    Some(meaning.ask(&said, deadline))
}

/// What meaning has to say of the candidates of a query.
pub(crate) struct Candidates<'a> {
    pub(crate) asked: Option<&'a Asked>,
    /// The version of a live note.
    pub(crate) version: &'a dyn Fn(NoteKey) -> Option<Version>,
    /// Whether a note may be returned.
    pub(crate) allowed: &'a dyn Fn(NoteKey) -> bool,
    /// How many of the most alike blocks bring their notes in.
    pub(crate) limit: usize,
}

impl Candidates<'_> {
    fn ready(&self) -> Option<&Asked> {
        self.asked.filter(|asked| asked.is_ready())
    }

    /// The notes of the most alike blocks of the vault, which are results without a word in common.
    pub(crate) fn nearest(&self) -> BTreeSet<NoteKey> {
        let may = |note: NoteKey, version: Version| (self.version)(note) == Some(version) && (self.allowed)(note);
        let nearest = self.ready().map(|asked| asked.nearest(self.limit, &may));
        nearest.into_iter().flatten().map(|((note, _), _)| note).collect()
    }

    /// How alike the blocks of `notes` are.
    pub(crate) fn alike(&self, notes: impl Iterator<Item = NoteKey>) -> Alike {
        let Some(asked) = self.ready() else {
            return Alike::default();
        };
        let versions = notes.filter_map(|note| Some((note, (self.version)(note)?)));
        let cosines = versions.flat_map(|(note, version)| {
            asked.of_note(note, version).into_iter().map(move |(block, cosine)| ((note, block), f64::from(cosine)))
        });
        Alike::normalised(cosines.collect())
    }
}

/// How like the query blocks are, 0..=1: 0 for the average of the candidates and what is below it, 1
/// for the best.
#[derive(Debug, Default)]
pub(crate) struct Alike(BTreeMap<Place, f64>);

impl Alike {
    /// Puts cosines on one scale. Linear.
    fn normalised(mut cosines: BTreeMap<Place, f64>) -> Self {
        let mean = cosines.values().sum::<f64>() / cosines.len().max(1) as f64;
        let best = cosines.values().copied().fold(mean, f64::max);
        let width = (best - mean).max(CLEAR * (1.0 - mean)).max(f64::EPSILON);
        cosines.values_mut().for_each(|cosine| *cosine = ((*cosine - mean) / width).clamp(0.0, 1.0));
        Self(cosines)
    }

    /// That of one block. O(log n).
    pub(crate) fn of(&self, place: Place) -> f64 {
        self.0.get(&place).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_is_nothing_and_the_best_is_all() {
        let of = |cosines: &[f64]| {
            let places = cosines.iter().zip(0..).map(|(cosine, block)| ((NoteKey(1), block), *cosine));
            Alike::normalised(places.collect()).0.into_values().collect::<Vec<f64>>()
        };
        assert_eq!(of(&[0.0, 0.9, 0.3, 0.0]), [0.0, 1.0, 0.0, 0.0]);
        assert!(of(&[0.50, 0.51]).iter().all(|alike| *alike < 0.1), "nothing stands out");
        assert_eq!(of(&[1.0, 1.0]), [0.0, 0.0]);
        assert!(of(&[]).is_empty());
    }
}
