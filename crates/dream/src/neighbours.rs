//! Replay: which digests are near a unit? The port, and a lexical implementation of its own.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use dormouse_vault::text::content_words;
use dormouse_vault::{Layer, NotePath, Snapshot, Vault, Version};

use crate::markdown::plain;

/// A digest near a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbour {
    /// The digest note.
    pub path: NotePath,
    /// Its nearness, greater is nearer; only the order counts.
    pub score: f64,
}

/// Finds digest notes. Paths that are no digest are ignored by the caller, so a general search can
/// stand here.
pub trait Neighbours: Send + Sync {
    /// The digests nearest to `query`, best first, at most `limit`.
    fn neighbours(&self, query: &str, limit: usize) -> Vec<Neighbour>;
}

/// BM25 over the digest notes of the vault's current snapshot. Follows the vault: before each query
/// only notes whose version changed are read. A query is linear in the number of digests.
#[derive(Debug)]
pub struct LexicalNeighbours<'v> {
    vault: &'v Vault,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    revision: Option<u64>,
    notes: BTreeMap<NotePath, Indexed>,
    /// In how many notes a word stands.
    holders: BTreeMap<String, usize>,
    length: usize,
}

#[derive(Debug)]
struct Indexed {
    version: Version,
    words: BTreeMap<String, usize>,
    length: usize,
}

/// BM25's saturation and length norm, the usual values.
const K1: f64 = 1.2;
const B: f64 = 0.75;

impl<'v> LexicalNeighbours<'v> {
    /// Over the digests of `vault`. Reads nothing yet.
    #[must_use]
    pub fn new(vault: &'v Vault) -> Self {
        Self { vault, state: Mutex::default() }
    }
}

impl Neighbours for LexicalNeighbours<'_> {
    fn neighbours(&self, query: &str, limit: usize) -> Vec<Neighbour> {
        let snapshot = self.vault.snapshot();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.follow(self.vault, &snapshot);
        state.search(query, limit)
    }
}

impl State {
    fn follow(&mut self, vault: &Vault, snapshot: &Snapshot) {
        if self.revision == Some(snapshot.revision()) {
            return;
        }
        let digests: BTreeMap<&NotePath, Version> = snapshot
            .notes()
            .filter(|n| n.layer == Layer::Digest && n.is_live())
            .map(|n| (&n.path, n.version))
            .collect();
        let gone: Vec<NotePath> = self
            .notes
            .iter()
            .filter(|(path, have)| digests.get(path) != Some(&have.version))
            .map(|(path, _)| path.clone())
            .collect();
        for path in gone {
            self.remove(&path);
        }
        for path in digests.into_keys() {
            if !self.notes.contains_key(path)
                && let Ok(text) = vault.read(path)
            {
                let name = snapshot.note(path).map(|n| n.name.to_string()).unwrap_or_default();
                self.insert(path.clone(), text.version, &format!("{name}\n{}", plain(&text.text)));
            }
        }
        self.revision = Some(snapshot.revision());
    }

    fn insert(&mut self, path: NotePath, version: Version, text: &str) {
        let mut words: BTreeMap<String, usize> = BTreeMap::new();
        let mut length = 0;
        for word in content_words(text) {
            *words.entry(word).or_default() += 1;
            length += 1;
        }
        for word in words.keys() {
            *self.holders.entry(word.clone()).or_default() += 1;
        }
        self.length += length;
        self.notes.insert(path, Indexed { version, words, length });
    }

    fn remove(&mut self, path: &NotePath) {
        let Some(old) = self.notes.remove(path) else {
            return;
        };
        self.length -= old.length;
        for word in old.words.keys() {
            if let Some(count) = self.holders.get_mut(word) {
                *count -= 1;
                if *count == 0 {
                    self.holders.remove(word);
                }
            }
        }
    }

    fn search(&self, query: &str, limit: usize) -> Vec<Neighbour> {
        let count = self.notes.len() as f64;
        let average = (self.length as f64 / count.max(1.0)).max(1.0);
        let mut terms: BTreeMap<String, f64> = BTreeMap::new();
        for word in content_words(query) {
            if let Some(&holders) = self.holders.get(&word) {
                let idf = (1.0 + (count - holders as f64 + 0.5) / (holders as f64 + 0.5)).ln();
                terms.insert(word, idf);
            }
        }
        let mut hits: Vec<Neighbour> = self
            .notes
            .iter()
            .filter_map(|(path, note)| {
                let norm = K1 * (1.0 - B + B * note.length as f64 / average);
                let score: f64 = terms
                    .iter()
                    .filter_map(|(word, idf)| {
                        note.words.get(word).map(|n| idf * *n as f64 * (K1 + 1.0) / (*n as f64 + norm))
                    })
                    .sum();
                (score > 0.0).then(|| Neighbour { path: path.clone(), score })
            })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
        hits.truncate(limit);
        hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(notes: &[(&str, &str)]) -> State {
        let mut state = State::default();
        for (path, text) in notes {
            state.insert(NotePath::new(path).unwrap(), Version::of(text.as_bytes()), text);
        }
        state
    }

    fn paths(state: &State, query: &str) -> Vec<String> {
        state.search(query, 24).into_iter().map(|n| n.path.to_string()).collect()
    }

    #[test]
    fn rare_words_lead_and_notes_without_a_word_in_common_stay_out() {
        let s = state(&[
            ("digest/wiki/a.md", "Alpha lowers the weight of hub notes"),
            ("digest/wiki/b.md", "Stop list and stemmer of notes"),
            ("digest/wiki/c.md", "中文按单字和二元组建索引"),
        ]);
        assert_eq!(paths(&s, "alpha of notes"), ["digest/wiki/a.md", "digest/wiki/b.md"]);
        assert_eq!(paths(&s, "二元组索引"), ["digest/wiki/c.md"]);
        assert!(paths(&s, "zebra").is_empty());
    }

    #[test]
    fn a_removed_note_leaves_nothing_behind() {
        let mut s = state(&[("digest/wiki/a.md", "alpha beta"), ("digest/wiki/b.md", "beta")]);
        s.remove(&NotePath::new("digest/wiki/a.md").unwrap());
        assert!(paths(&s, "alpha").is_empty());
        assert_eq!(s.holders.keys().collect::<Vec<_>>(), ["beta"]);
        assert_eq!(s.length, 1);
    }
}
