//! The index in memory: what stands in when nothing can be written, and the plain truth that the
//! embedded index is tested against.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use dormouse_vault::Version;

use super::{BlockIndex, Field, IndexError, IndexedNote, Marks, NoteKey, Posting, UnitId};
use crate::text::one_edit_apart;

/// An index that lives and dies with its process.
#[derive(Debug, Default)]
pub struct MemoryIndex {
    state: RwLock<State>,
}

/// Where a term stands: how often, and how many terms are there.
type Places = BTreeMap<(NoteKey, UnitId), (u32, u32)>;

#[derive(Debug, Default)]
struct State {
    notes: BTreeMap<NoteKey, Entry>,
    terms: BTreeMap<(Field, String), Places>,
}

#[derive(Debug)]
struct Entry {
    version: Version,
    units: Vec<(UnitId, Marks)>,
    terms: Vec<(Field, String)>,
}

impl MemoryIndex {
    /// An empty index.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn read<T>(&self, ask: impl FnOnce(&State) -> T) -> T {
        ask(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    fn remove(&mut self, key: NoteKey) {
        let Some(entry) = self.notes.remove(&key) else {
            return;
        };
        for term in entry.terms {
            if let Some(places) = self.terms.get_mut(&term) {
                places.retain(|(note, _), _| *note != key);
                if places.is_empty() {
                    self.terms.remove(&term);
                }
            }
        }
    }

    fn add(&mut self, note: IndexedNote) {
        self.remove(note.key);
        let mut entry = Entry { version: note.version, units: Vec::new(), terms: Vec::new() };
        for unit in note.units {
            let id = UnitId { block: unit.block, part: unit.part };
            let length = u32::try_from(unit.body.len()).unwrap_or(u32::MAX);
            entry.units.push((id, unit.marks));
            for (field, terms) in
                [(Field::Body, unit.body), (Field::Header, unit.header), (Field::Speaker, unit.speaker)]
            {
                for term in terms {
                    entry.terms.push((field, term.clone()));
                    self.terms.entry((field, term)).or_default().entry((note.key, id)).or_insert((0, length)).0 += 1;
                }
            }
        }
        entry.units.sort_unstable();
        entry.terms.sort_unstable();
        entry.terms.dedup();
        self.notes.insert(note.key, entry);
    }
}

impl BlockIndex for MemoryIndex {
    fn versions(&self) -> Result<BTreeMap<NoteKey, Version>, IndexError> {
        Ok(self.read(|s| s.notes.iter().map(|(key, entry)| (*key, entry.version)).collect()))
    }

    fn apply(&self, remove: &[NoteKey], add: &mut dyn Iterator<Item = IndexedNote>) -> Result<(), IndexError> {
        let add: Vec<IndexedNote> = add.collect();
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        remove.iter().for_each(|key| state.remove(*key));
        add.into_iter().for_each(|note| state.add(note));
        Ok(())
    }

    fn postings(&self, field: Field, term: &str) -> Result<Vec<Posting>, IndexError> {
        Ok(self.read(|s| {
            let places = s.terms.get(&(field, term.to_owned()));
            let places = places.into_iter().flatten();
            places.map(|(&(note, unit), &(count, length))| Posting { note, unit, count, length }).collect()
        }))
    }

    fn units(&self, notes: &[NoteKey]) -> Result<BTreeMap<NoteKey, Vec<(UnitId, Marks)>>, IndexError> {
        Ok(self.read(|s| notes.iter().filter_map(|note| Some((*note, s.notes.get(note)?.units.clone()))).collect()))
    }

    fn unit_count(&self) -> Result<u64, IndexError> {
        Ok(self.read(|s| s.notes.values().map(|entry| entry.units.len() as u64).sum()))
    }

    fn similar(&self, term: &str) -> Result<Vec<(String, u64)>, IndexError> {
        Ok(self.read(|s| {
            let body = s.terms.iter().filter(|((field, _), _)| *field == Field::Body);
            body.filter(|((_, have), _)| one_edit_apart(have, term))
                .map(|((_, have), places)| (have.clone(), places.len() as u64))
                .collect()
        }))
    }
}
