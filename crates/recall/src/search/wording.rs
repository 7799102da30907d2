//! What must and must not stand in a note, and what else it must fulfil. Notes are looked at one by one,
//! as far as a search meets them.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use dormouse_vault::text::is_cjk;

use super::phrase::{Phrase, holders};
use super::query::Query;
use crate::index::{IndexError, IndexView, NoteKey};

/// The notes that hold all words of a text, and the text as a phrase where words alone don't decide.
#[derive(Debug)]
struct Held {
    notes: BTreeSet<NoteKey>,
    phrase: Option<Phrase>,
}

/// The phrases and exclusions of a query, and what is known of the notes that were looked at.
#[derive(Debug, Default)]
pub(crate) struct Wording {
    phrases: Vec<Held>,
    without: Vec<Held>,
    known: RefCell<HashMap<NoteKey, bool>>,
    held: RefCell<HashMap<NoteKey, BTreeSet<u32>>>,
}

impl Wording {
    /// Looks up who holds the words of the phrases and exclusions.
    pub(crate) fn of(query: &Query, view: &dyn IndexView) -> Result<Self, IndexError> {
        let mut out = Self::default();
        for text in &query.phrases {
            if let (Some(phrase), Some(notes)) = (Phrase::read(text), holders(view, text)?) {
                out.phrases.push(Held { notes, phrase: Some(phrase) });
            }
        }
        for text in &query.without {
            let run = text.contains(char::is_whitespace) || text.chars().any(is_cjk);
            if let Some(notes) = holders(view, text)? {
                out.without.push(Held { notes, phrase: Phrase::read(text).filter(|_| run) });
            }
        }
        Ok(out)
    }

    /// Whether a note may be returned. `standing` says in which blocks a phrase stands; `others` are the
    /// further conditions. Each is asked at most once a note.
    pub(crate) fn hold(
        &self,
        key: NoteKey,
        standing: impl Fn(&Phrase) -> Vec<u32>,
        others: impl FnOnce() -> bool,
    ) -> bool {
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let stands = |held: &Held| held.phrase.as_ref().map(&standing);
        let holds = self.phrases.iter().all(|held| held.notes.contains(&key))
            && others()
            && self.phrases.iter().filter_map(stands).all(|at| {
                let found = !at.is_empty();
                self.held.borrow_mut().entry(key).or_default().extend(at);
                found
            })
            && !self
                .without
                .iter()
                .any(|held| held.notes.contains(&key) && stands(held).is_none_or(|at| !at.is_empty()));
        self.known.borrow_mut().insert(key, holds);
        holds
    }

    /// The blocks of a note in which phrases stand; `None` when the query has none.
    pub(crate) fn held(&self, key: NoteKey) -> Option<BTreeSet<u32>> {
        self.held.borrow().get(&key).cloned()
    }
}
