//! Two views as one: a large index, and over it the notes that changed since it was written.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use dormouse_vault::Version;

use super::{Asked, Best, Field, Found, IndexError, IndexView, NoteKey, NoteTerms, Sought, UnitId, counted};

/// `base` without the notes in `hidden`, and the notes of `over`, all of which are hidden in `base`.
#[derive(Debug)]
pub(crate) struct Layered {
    base: Arc<dyn IndexView>,
    over: Arc<dyn IndexView>,
    hidden: HashSet<NoteKey>,
    units: u64,
}

impl Layered {
    /// Lays `over` on `base`. Linear in the hidden notes.
    ///
    /// # Errors
    /// [`IndexError`].
    pub(crate) fn new(
        base: Arc<dyn IndexView>,
        over: Arc<dyn IndexView>,
        hidden: HashSet<NoteKey>,
    ) -> Result<Self, IndexError> {
        let below: Vec<Found> = hidden.iter().copied().map(Found::elsewhere).collect();
        let below = base.gather(&below, Asked::default())?;
        let dead: u64 = below.iter().map(|note| note.units.len() as u64).sum();
        let units = (base.unit_count()? + over.unit_count()?).saturating_sub(dead);
        Ok(Self { base, over, hidden, units })
    }

    fn shown(&self, note: NoteKey) -> bool {
        !self.hidden.contains(&note)
    }
}

impl IndexView for Layered {
    fn versions(&self) -> Result<BTreeMap<NoteKey, Version>, IndexError> {
        let mut out = self.base.versions()?;
        out.retain(|note, _| self.shown(*note));
        out.extend(self.over.versions()?);
        Ok(out)
    }

    fn unit_count(&self) -> Result<u64, IndexError> {
        Ok(self.units)
    }

    fn frequency(&self, field: Field, term: &str) -> Result<u64, IndexError> {
        let below = self.base.frequency(field, term)?;
        // A word of hidden notes alone is unknown, and is looked at for that.
        let below = if below > self.hidden.len() as u64 * 64 || self.hidden.is_empty() {
            below
        } else {
            let limit = usize::try_from(below).unwrap_or(usize::MAX);
            let places = self.base.first(field, term, limit)?;
            places.into_iter().filter(|(note, _)| self.shown(*note)).count() as u64
        };
        Ok(below + self.over.frequency(field, term)?)
    }

    fn best(
        &self,
        terms: &[Sought<'_>],
        limit: usize,
        keep: &mut dyn FnMut(NoteKey) -> bool,
    ) -> Result<Best, IndexError> {
        let mut above = self.over.best(terms, limit, keep)?;
        let below = self.base.best(terms, limit, &mut |note| self.shown(note) && keep(note))?;
        // The scores of two engines can't be compared, and the upper layer is small.
        above.notes.extend(below.notes);
        above.complete &= below.complete;
        Ok(above)
    }

    fn gather(&self, notes: &[Found], asked: Asked<'_>) -> Result<Vec<NoteTerms>, IndexError> {
        let (above, below): (Vec<Found>, Vec<Found>) = notes.iter().partition(|found| !self.shown(found.note));
        let mut out = self.base.gather(&below, asked)?;
        if !above.is_empty() {
            out.extend(self.over.gather(&above, asked)?);
            out.sort_by_key(|terms| terms.note);
        }
        Ok(out)
    }

    fn first(&self, field: Field, term: &str, limit: usize) -> Result<Vec<(NoteKey, UnitId)>, IndexError> {
        let mut out = self.base.first(field, term, limit)?;
        out.retain(|(note, _)| self.shown(*note));
        out.extend(self.over.first(field, term, limit)?);
        out.truncate(limit);
        Ok(out)
    }

    fn holders(&self, term: &str) -> Result<BTreeSet<NoteKey>, IndexError> {
        let mut out = self.base.holders(term)?;
        out.retain(|note| self.shown(*note));
        out.extend(self.over.holders(term)?);
        Ok(out)
    }

    fn similar(&self, term: &str) -> Result<Vec<(String, u64)>, IndexError> {
        let words: BTreeSet<String> =
            self.base.similar(term)?.into_iter().chain(self.over.similar(term)?).map(|(word, _)| word).collect();
        counted(self, words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{BlockIndex, IndexedNote, IndexedUnit, MemoryIndex, TantivyIndex};

    fn note(key: u64, version: &str, words: &[&str]) -> IndexedNote {
        let body = words.iter().map(|word| (*word).to_owned()).collect();
        let header = IndexedUnit { block: UnitId::HEADER, ..IndexedUnit::default() };
        let units = vec![IndexedUnit { body, ..IndexedUnit::default() }, header];
        IndexedNote { key: NoteKey(key), version: Version::of(version.as_bytes()), day: 0, units }
    }

    /// Notes 1 and 2 below, 2 anew and 3 above, 1 gone.
    #[test]
    fn two_layers_answer_as_one_index_would() {
        let base = TantivyIndex::in_memory("test").unwrap();
        let below = vec![note(1, "a", &["ship", "lost"]), note(2, "a", &["ship", "old"]), note(4, "a", &["ship"])];
        base.apply(&[], &mut below.into_iter()).unwrap();
        let over = MemoryIndex::new();
        let above = || vec![note(2, "b", &["ship", "new"]), note(3, "a", &["sea"])];
        over.apply(&[], &mut above().into_iter()).unwrap();
        let hidden = [NoteKey(1), NoteKey(2), NoteKey(3)].into();
        let layered = Layered::new(base.view().unwrap(), over.view().unwrap(), hidden).unwrap();
        base.apply(&[NoteKey(1)], &mut above().into_iter()).unwrap();
        let one = base.view().unwrap();

        assert_eq!(layered.versions().unwrap(), one.versions().unwrap());
        assert_eq!(layered.unit_count().unwrap(), one.unit_count().unwrap());
        for word in ["ship", "lost", "old", "new", "sea", "none"] {
            assert_eq!(
                layered.frequency(Field::Body, word).unwrap(),
                one.frequency(Field::Body, word).unwrap(),
                "{word}"
            );
            assert_eq!(layered.holders(word).unwrap(), one.holders(word).unwrap(), "{word}");
        }
        assert_eq!(layered.similar("shop").unwrap(), one.similar("shop").unwrap());
        assert_eq!(layered.similar("lose").unwrap(), []);
        let sought = [Sought { field: Field::Body, term: "ship", weight: 1.0 }];
        let asked = Asked { terms: &["ship", "new"], speakers: &[] };
        let found = |view: &dyn IndexView| {
            let best = view.best(&sought, 10, &mut |_| true).unwrap();
            view.gather(&best.notes, asked).unwrap()
        };
        assert_eq!(found(&layered), found(one.as_ref()));
    }
}
