//! The index in memory: what lies over the one on disk until enough has changed to be written, and the
//! plain truth that the embedded one is tested against.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use dormouse_vault::Version;

use super::{
    Asked, Best, BlockIndex, Field, Found, IndexError, IndexView, IndexedNote, NoteKey, NoteTerms, Sought, Standing,
    Unit, UnitId,
};
use crate::text::one_edit_apart;

/// An index that lives and dies with its process. A view of it costs a pointer a note.
#[derive(Debug, Default)]
pub struct MemoryIndex {
    notes: RwLock<Arc<Notes>>,
}

type Notes = BTreeMap<NoteKey, Arc<Entry>>;

/// Where each term stands: unit and count.
type Places = HashMap<String, Vec<(u32, u32)>>;

/// A note, with the places of each of its terms.
#[derive(Debug)]
struct Entry {
    version: Version,
    day: u16,
    units: Vec<Unit>,
    body: Places,
    header: Places,
    speaker: Places,
}

impl MemoryIndex {
    /// An empty index.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Entry {
    fn of(mut note: IndexedNote) -> Self {
        note.units.sort_by_key(|unit| UnitId { block: unit.block, part: unit.part });
        let mut units = Vec::new();
        let (mut body, mut header, mut speaker) = (Places::new(), Places::new(), Places::new());
        for (at, unit) in (0_u32..).zip(note.units) {
            let id = UnitId { block: unit.block, part: unit.part };
            let length = u32::try_from(unit.body.len()).unwrap_or(u32::MAX);
            units.push(Unit { id, marks: unit.marks, length });
            for (field, terms) in [(&mut body, unit.body), (&mut header, unit.header), (&mut speaker, unit.speaker)] {
                for term in terms {
                    let places = field.entry(term).or_default();
                    match places.last_mut() {
                        Some((unit, count)) if *unit == at => *count += 1,
                        _ => places.push((at, 1)),
                    }
                }
            }
        }
        Self { version: note.version, day: note.day, units, body, header, speaker }
    }

    fn places(&self, field: Field, term: &str) -> &[(u32, u32)] {
        let places = match field {
            Field::Body => &self.body,
            Field::Header => &self.header,
            Field::Speaker => &self.speaker,
        };
        places.get(term).map_or(&[], Vec::as_slice)
    }

    fn id(&self, unit: u32) -> Option<UnitId> {
        self.units.get(usize::try_from(unit).ok()?).map(|unit| unit.id)
    }
}

impl BlockIndex for MemoryIndex {
    fn apply(&self, remove: &[NoteKey], add: &mut dyn Iterator<Item = IndexedNote>) -> Result<(), IndexError> {
        let add: Vec<(NoteKey, Arc<Entry>)> = add.map(|note| (note.key, Arc::new(Entry::of(note)))).collect();
        let mut notes = self.notes.write().unwrap_or_else(PoisonError::into_inner);
        let notes = Arc::make_mut(&mut notes);
        remove.iter().for_each(|key| drop(notes.remove(key)));
        notes.extend(add);
        Ok(())
    }

    fn view(&self) -> Result<Arc<dyn IndexView>, IndexError> {
        let notes = self.notes.read().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::new(MemoryView { notes: Arc::clone(&notes) }))
    }
}

#[derive(Debug)]
struct MemoryView {
    notes: Arc<Notes>,
}

impl MemoryView {
    fn units(&self) -> usize {
        self.notes.values().map(|entry| entry.units.len()).sum()
    }
}

impl IndexView for MemoryView {
    fn versions(&self) -> Result<BTreeMap<NoteKey, Version>, IndexError> {
        Ok(self.notes.iter().map(|(key, entry)| (*key, entry.version)).collect())
    }

    fn unit_count(&self) -> Result<u64, IndexError> {
        Ok(self.units() as u64)
    }

    fn frequency(&self, field: Field, term: &str) -> Result<u64, IndexError> {
        Ok(self.notes.values().map(|entry| entry.places(field, term).len() as u64).sum())
    }

    fn best(
        &self,
        terms: &[Sought<'_>],
        limit: usize,
        keep: &mut dyn FnMut(NoteKey) -> bool,
    ) -> Result<Best, IndexError> {
        let mut scores: BTreeMap<(NoteKey, u32), f64> = BTreeMap::new();
        for sought in terms {
            let with = self.frequency(sought.field, sought.term)? as f64;
            let rare = ((self.units() as f64 + 1.0) / (with + 0.5)).ln().max(0.0) + f64::MIN_POSITIVE;
            for (key, entry) in self.notes.iter() {
                for (unit, count) in entry.places(sought.field, sought.term) {
                    let count = f64::from(*count);
                    *scores.entry((*key, *unit)).or_default() += sought.weight * rare * count / (count + 0.4);
                }
            }
        }
        let mut ranked: Vec<((NoteKey, u32), f64)> = scores.into_iter().filter(|((note, _), _)| keep(*note)).collect();
        let day = |note: &NoteKey| self.notes.get(note).map_or(0, |entry| entry.day);
        ranked.sort_by(|((a, at), one), ((b, there), other)| {
            other.total_cmp(one).then_with(|| day(b).cmp(&day(a))).then_with(|| (a, at).cmp(&(b, there)))
        });
        let complete = ranked.len() < limit;
        let mut seen = BTreeSet::new();
        let notes = ranked.into_iter().take(limit).map(|((note, _), _)| note).filter(|note| seen.insert(*note));
        Ok(Best { notes: notes.map(Found::elsewhere).collect(), complete })
    }

    fn gather(&self, notes: &[Found], asked: Asked<'_>) -> Result<Vec<NoteTerms>, IndexError> {
        let keys: BTreeSet<NoteKey> = notes.iter().map(|found| found.note).collect();
        let fields = [(Field::Body, asked.terms), (Field::Header, asked.terms), (Field::Speaker, asked.speakers)];
        let of = |note: NoteKey| {
            let entry = self.notes.get(&note)?;
            let mut standing = Vec::new();
            for (field, terms) in fields {
                for (term, text) in (0_u16..).zip(terms) {
                    let places = entry.places(field, text).iter();
                    standing.extend(places.map(|&(unit, count)| Standing { unit, field, term, count }));
                }
            }
            standing.sort_unstable();
            Some(NoteTerms { note, units: entry.units.clone(), standing })
        };
        Ok(keys.into_iter().filter_map(of).collect())
    }

    fn first(&self, field: Field, term: &str, limit: usize) -> Result<Vec<(NoteKey, UnitId)>, IndexError> {
        let places = self.notes.iter().flat_map(|(key, entry)| {
            entry.places(field, term).iter().filter_map(|(unit, _)| Some((*key, entry.id(*unit)?)))
        });
        Ok(places.take(limit).collect())
    }

    fn holders(&self, term: &str) -> Result<BTreeSet<NoteKey>, IndexError> {
        let has = |entry: &Entry| [Field::Body, Field::Header].iter().any(|f| !entry.places(*f, term).is_empty());
        Ok(self.notes.iter().filter(|(_, entry)| has(entry)).map(|(key, _)| *key).collect())
    }

    fn similar(&self, term: &str) -> Result<Vec<(String, u64)>, IndexError> {
        let mut found: BTreeMap<&str, u64> = BTreeMap::new();
        for (have, places) in self.notes.values().flat_map(|entry| &entry.body) {
            if one_edit_apart(have, term) {
                *found.entry(have).or_default() += places.len() as u64;
            }
        }
        Ok(found.into_iter().map(|(have, units)| (have.to_owned(), units)).collect())
    }
}
