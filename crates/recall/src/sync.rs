//! Keeping the index up with the vault.
//!
//! What changed lies in memory over the index on disk, so that a change is found at once and a search
//! writes nothing. When enough has gathered, or a caller asks for it, it is written down, by one process
//! at a time. Whatever can't be written stays in memory.

mod disk;
mod keeper;

use std::sync::Arc;

use dormouse_vault::{Note, Snapshot};

pub(crate) use keeper::Keeper;

use crate::index::{IndexView, NoteKey};
use crate::search::Citations;

/// What a search answers from: one moment of the vault and its index.
#[derive(Debug, Clone)]
pub(crate) struct Current {
    pub(crate) view: Arc<dyn IndexView>,
    /// Whether nothing of it lies on disk.
    pub(crate) in_memory: bool,
    /// Whether no note had changed once more while it was read.
    pub(crate) whole: bool,
    pub(crate) snapshot: Arc<Snapshot>,
    /// The live notes of the snapshot.
    pub(crate) notes: imbl::HashMap<NoteKey, Arc<Note>>,
    pub(crate) citations: Arc<Citations>,
    pub(crate) warnings: Arc<[String]>,
}

/// From one snapshot to the next: the live notes that are new or others, and those that are gone.
#[derive(Debug, Default)]
pub(crate) struct Step {
    pub(crate) changed: Vec<Arc<Note>>,
    pub(crate) gone: Vec<NoteKey>,
}

impl Step {
    /// Compares two snapshots, which share the notes that did not change. Linear, without hashing.
    pub(crate) fn between(old: &Snapshot, new: &Snapshot) -> Self {
        let mut out = Self::default();
        let mut before = old.notes().filter(|note| note.is_live()).peekable();
        for note in new.notes().filter(|note| note.is_live()) {
            if before.next_if(|have| Arc::ptr_eq(have, note)).is_some() {
                continue;
            }
            while let Some(lost) = before.next_if(|have| have.path < note.path) {
                out.gone.push(NoteKey::of(&lost.path));
            }
            let same = before.next_if(|have| have.path == note.path);
            if same.is_none_or(|have| !Arc::ptr_eq(have, note)) {
                out.changed.push(Arc::clone(note));
            }
        }
        out.gone.extend(before.map(|lost| NoteKey::of(&lost.path)));
        out
    }
}
