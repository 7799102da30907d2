//! Keeping the index up with the vault: only notes whose version differs are read again, and when
//! nothing can be written an index in memory answers instead.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use dormouse_vault::{CommitError, Note, Snapshot, Stage, Vault};

use crate::error::RecallError;
use crate::index::{BlockIndex, IndexError, IndexedNote, MemoryIndex, NoteKey, TantivyIndex};
use crate::recall::SyncReport;
use crate::search::Citations;
use crate::text::ANALYZER_VERSION;
use crate::units::units_of;

/// The layout of the index; another one makes it anew.
const FORMAT_VERSION: u32 = 2;

/// The index in use and the snapshot that it stands for.
#[derive(Debug, Clone)]
pub(crate) struct Current {
    pub(crate) index: Arc<dyn BlockIndex>,
    pub(crate) in_memory: bool,
    pub(crate) snapshot: Arc<Snapshot>,
    /// The live notes of the snapshot.
    pub(crate) notes: Arc<HashMap<NoteKey, Arc<Note>>>,
    pub(crate) citations: Arc<Citations>,
    /// Whether the index holds every live note of the snapshot: none changed while it was read.
    complete: bool,
    pub(crate) warnings: Vec<String>,
}

/// Brings `before`, or the index on disk, up to the vault's current snapshot.
pub(crate) fn bring_up(vault: &Vault, before: Option<Current>) -> Result<(Current, SyncReport), RecallError> {
    let snapshot = vault.snapshot();
    let mut report = SyncReport::default();
    let mut warnings = Vec::new();
    let step = before.as_ref().map(|current| Step::between(&current.snapshot, &snapshot));
    let (kept, memory) = match &before {
        Some(current) if current.in_memory => (None, Some(Arc::clone(&current.index))),
        Some(current) => (Some(Arc::clone(&current.index)), None),
        None => (None, None),
    };
    // What an index lacks that held all of the snapshot before is the step from that one.
    let known = |same: bool| step.as_ref().filter(|_| same && before.as_ref().is_some_and(|current| current.complete));
    let (same_on_disk, same_in_memory) = (kept.is_some(), memory.is_some());
    // An index in memory is left again as soon as the one on disk can be had.
    let on_disk = match kept {
        Some(index) => Some(index),
        None if vault.is_read_only() => None,
        None => open_on_disk(vault, &mut report, &mut warnings),
    };
    if let Some(index) = on_disk {
        match on_disk_update(vault, &snapshot, index.as_ref(), known(same_on_disk), &mut report) {
            Ok(complete) => {
                let made = Made { index, in_memory: false, complete, warnings };
                return Ok(finish(made, snapshot, before.as_ref().zip(step.as_ref()), report));
            }
            Err(IndexError::Busy) => {
                warnings.push("another process is writing the search index; this one searches in memory".to_owned())
            }
            Err(error) => warnings.push(format!("the search index can't be written ({error}); searching in memory")),
        }
    } else if vault.is_read_only() {
        warnings.push("the vault is read-only; the search index lives in memory".to_owned());
    }
    let index = memory.unwrap_or_else(|| Arc::new(MemoryIndex::new()));
    let complete = update(vault, &snapshot, index.as_ref(), known(same_in_memory), &mut report)?;
    let made = Made { index, in_memory: true, complete, warnings };
    Ok(finish(made, snapshot, before.as_ref().zip(step.as_ref()), report))
}

/// From one snapshot to the next: the live notes that are new or others, and those that are gone.
struct Step {
    changed: Vec<Arc<Note>>,
    gone: Vec<NoteKey>,
}

impl Step {
    /// Compares two snapshots, which share the notes that did not change. Linear, without hashing.
    fn between(old: &Snapshot, new: &Snapshot) -> Self {
        let mut out = Self { changed: Vec::new(), gone: Vec::new() };
        let mut before = old.notes().filter(|note| note.is_live()).peekable();
        for note in new.notes().filter(|note| note.is_live()) {
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

/// An index that has been brought up.
struct Made {
    index: Arc<dyn BlockIndex>,
    in_memory: bool,
    complete: bool,
    warnings: Vec<String>,
}

fn finish(
    made: Made,
    snapshot: Arc<Snapshot>,
    before: Option<(&Current, &Step)>,
    mut report: SyncReport,
) -> (Current, SyncReport) {
    let Made { index, in_memory, complete, warnings } = made;
    report.in_memory = in_memory;
    report.warnings.clone_from(&warnings);
    let notes = match before {
        Some((current, step)) => {
            let mut notes = Arc::clone(&current.notes);
            if !(step.gone.is_empty() && step.changed.is_empty()) {
                let notes = Arc::make_mut(&mut notes);
                step.gone.iter().for_each(|key| drop(notes.remove(key)));
                notes.extend(step.changed.iter().map(|note| (NoteKey::of(&note.path), Arc::clone(note))));
            }
            notes
        }
        None => {
            let live = snapshot.notes().filter(|note| note.is_live());
            let notes = live.map(|note| (NoteKey::of(&note.path), Arc::clone(note))).collect();
            Arc::new(notes)
        }
    };
    let citations = Arc::new(Citations::of(&snapshot));
    (Current { index, in_memory, snapshot, notes, citations, complete, warnings }, report)
}

fn stamp(vault: &Vault) -> String {
    let root = blake3::hash(vault.root().to_string_lossy().as_bytes()).to_hex();
    format!("dormouse-recall {FORMAT_VERSION} analyzer {ANALYZER_VERSION} root {root}")
}

fn open_on_disk(vault: &Vault, report: &mut SyncReport, warnings: &mut Vec<String>) -> Option<Arc<dyn BlockIndex>> {
    let folder = vault.cache_dir().join("index");
    let stamp = stamp(vault);
    let fresh = !folder.exists();
    let opened = match TantivyIndex::open(&folder, &stamp) {
        Ok(Some(index)) if index.versions().is_ok() => Some(index),
        Err(IndexError::Busy) => return None,
        _ => anew(vault, &folder, &stamp, warnings),
    };
    report.rebuilt = fresh || opened.is_none();
    opened.map(|index| Arc::new(index) as Arc<dyn BlockIndex>)
}

/// Throws an unusable index away, under the lock of its writers, and makes an empty one.
fn anew(vault: &Vault, folder: &Path, stamp: &str, warnings: &mut Vec<String>) -> Option<TantivyIndex> {
    let made = vault.lock_stage(Stage::Index).ok().and_then(|_held| {
        clear(folder).ok()?;
        TantivyIndex::open(folder, stamp).ok().flatten()
    });
    warnings.push(match made {
        Some(_) => "the search index was of no use and has been made anew".to_owned(),
        None => "the search index can't be used; searching in memory".to_owned(),
    });
    made
}

#[expect(
    clippy::disallowed_methods,
    reason = "the index folder is a cache that this file alone owns; no note is ever in it"
)]
fn clear(folder: &Path) -> std::io::Result<()> {
    match std::fs::symlink_metadata(folder) {
        Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(folder),
        Ok(_) => std::fs::remove_file(folder),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn on_disk_update(
    vault: &Vault,
    snapshot: &Snapshot,
    index: &dyn BlockIndex,
    known: Option<&Step>,
    report: &mut SyncReport,
) -> Result<bool, IndexError> {
    let due = Due::of(snapshot, index, known)?;
    report.notes = due.notes;
    if due.is_empty() {
        return Ok(true);
    }
    let _held = match vault.lock_stage(Stage::Index) {
        Ok(lock) => lock,
        Err(CommitError::Locked { .. }) => return Err(IndexError::Busy),
        Err(error) => {
            return Err(IndexError::Engine { source: Box::new(error) });
        }
    };
    due.apply(vault, index, report)
}

fn update(
    vault: &Vault,
    snapshot: &Snapshot,
    index: &dyn BlockIndex,
    known: Option<&Step>,
    report: &mut SyncReport,
) -> Result<bool, IndexError> {
    let due = Due::of(snapshot, index, known)?;
    report.notes = due.notes;
    due.apply(vault, index, report)
}

/// What an index lacks of a snapshot, and what it has too much.
struct Due {
    notes: usize,
    gone: Vec<NoteKey>,
    changed: Vec<Arc<Note>>,
}

impl Due {
    fn of(snapshot: &Snapshot, index: &dyn BlockIndex, known: Option<&Step>) -> Result<Self, IndexError> {
        if let Some(step) = known {
            let notes = snapshot.notes().filter(|note| note.is_live()).count();
            return Ok(Self { notes, gone: step.gone.clone(), changed: step.changed.clone() });
        }
        let mut have = index.versions()?;
        let mut due = Self { notes: 0, gone: Vec::new(), changed: Vec::new() };
        for note in snapshot.notes().filter(|note| note.is_live()) {
            due.notes += 1;
            if have.remove(&NoteKey::of(&note.path)) != Some(note.version) {
                due.changed.push(Arc::clone(note));
            }
        }
        due.gone = have.into_keys().collect();
        Ok(due)
    }

    fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.changed.is_empty()
    }

    /// Reads what changed, one note at a time, and says whether all could be read. A note that went away or changed once more since the
    /// snapshot is left out and is due again at the next sync.
    fn apply(self, vault: &Vault, index: &dyn BlockIndex, report: &mut SyncReport) -> Result<bool, IndexError> {
        let mut gone = self.gone;
        report.removed = gone.len();
        let mut readable: BTreeMap<NoteKey, Arc<Note>> = BTreeMap::new();
        for note in self.changed {
            gone.push(NoteKey::of(&note.path));
            readable.insert(NoteKey::of(&note.path), note);
        }
        let due = readable.len();
        let mut read = 0;
        let mut units = readable.values().filter_map(|note| {
            let now = vault.read(&note.path).ok().filter(|now| now.version == note.version)?;
            read += 1;
            Some(units_of(note, &now.text))
        });
        index.apply(&gone, &mut units as &mut dyn Iterator<Item = IndexedNote>)?;
        drop(units);
        report.read = read;
        Ok(read == due)
    }
}
