//! Which notes may be returned: looked at one by one, as far as a search meets them.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use crate::index::NoteKey;

/// The notes that a query's phrases and exclusions leave, and what is known of the others' conditions.
#[derive(Debug, Default)]
pub(crate) struct Allowed {
    only: Option<BTreeSet<NoteKey>>,
    out: BTreeSet<NoteKey>,
    known: RefCell<HashMap<NoteKey, bool>>,
}

impl Allowed {
    /// Whether a note may be returned; `conditions` are asked at most once.
    pub(crate) fn of(&self, key: NoteKey, conditions: impl FnOnce() -> bool) -> bool {
        if self.out.contains(&key) || self.only.as_ref().is_some_and(|only| !only.contains(&key)) {
            return false;
        }
        *self.known.borrow_mut().entry(key).or_insert_with(conditions)
    }

    /// Leaves a note out.
    pub(crate) fn leave_out(&mut self, key: NoteKey) {
        self.out.insert(key);
    }

    /// Leaves all notes out but these.
    pub(crate) fn keep(&mut self, keys: BTreeSet<NoteKey>) {
        self.only = Some(match self.only.take() {
            Some(only) => only.intersection(&keys).copied().collect(),
            None => keys,
        });
    }
}
