//! Keeping the index up with the vault: only notes whose version differs are read again, and when
//! nothing can be written an index in memory answers instead.

use std::collections::BTreeMap;
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
    pub(crate) notes: Arc<BTreeMap<NoteKey, Arc<Note>>>,
    pub(crate) citations: Arc<Citations>,
    pub(crate) warnings: Vec<String>,
}

/// Brings `before`, or the index on disk, up to the vault's current snapshot.
pub(crate) fn bring_up(vault: &Vault, before: Option<Current>) -> Result<(Current, SyncReport), RecallError> {
    let snapshot = vault.snapshot();
    let mut report = SyncReport::default();
    let mut warnings = Vec::new();
    let (kept, memory) = match before {
        Some(current) if current.in_memory => (None, Some(current.index)),
        Some(current) => (Some(current.index), None),
        None => (None, None),
    };
    // An index in memory is left again as soon as the one on disk can be had.
    let on_disk = match kept {
        Some(index) => Some(index),
        None if vault.is_read_only() => None,
        None => open_on_disk(vault, &mut report, &mut warnings),
    };
    if let Some(index) = on_disk {
        match on_disk_update(vault, &snapshot, index.as_ref(), &mut report) {
            Ok(()) => return Ok(finish(index, false, snapshot, warnings, report)),
            Err(IndexError::Busy) => {
                warnings.push("another process is writing the search index; this one searches in memory".to_owned())
            }
            Err(error) => warnings.push(format!("the search index can't be written ({error}); searching in memory")),
        }
    } else if vault.is_read_only() {
        warnings.push("the vault is read-only; the search index lives in memory".to_owned());
    }
    let index = memory.unwrap_or_else(|| Arc::new(MemoryIndex::new()));
    update(vault, &snapshot, index.as_ref(), &mut report)?;
    Ok(finish(index, true, snapshot, warnings, report))
}

fn finish(
    index: Arc<dyn BlockIndex>,
    in_memory: bool,
    snapshot: Arc<Snapshot>,
    warnings: Vec<String>,
    mut report: SyncReport,
) -> (Current, SyncReport) {
    report.in_memory = in_memory;
    report.warnings.clone_from(&warnings);
    let citations = Arc::new(Citations::of(&snapshot));
    let live = snapshot.notes().filter(|note| note.is_live());
    let notes = Arc::new(live.map(|note| (NoteKey::of(&note.path), Arc::clone(note))).collect());
    (Current { index, in_memory, snapshot, notes, citations, warnings }, report)
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
    report: &mut SyncReport,
) -> Result<(), IndexError> {
    let due = Due::of(snapshot, index)?;
    report.notes = due.notes;
    if due.is_empty() {
        return Ok(());
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
    report: &mut SyncReport,
) -> Result<(), IndexError> {
    let due = Due::of(snapshot, index)?;
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
    fn of(snapshot: &Snapshot, index: &dyn BlockIndex) -> Result<Self, IndexError> {
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

    /// Reads what changed, one note at a time. A note that went away or changed once more since the
    /// snapshot is left out and is due again at the next sync.
    fn apply(self, vault: &Vault, index: &dyn BlockIndex, report: &mut SyncReport) -> Result<(), IndexError> {
        let mut gone = self.gone;
        report.removed = gone.len();
        let mut readable: BTreeMap<NoteKey, Arc<Note>> = BTreeMap::new();
        for note in self.changed {
            gone.push(NoteKey::of(&note.path));
            readable.insert(NoteKey::of(&note.path), note);
        }
        let mut read = 0;
        let mut units = readable.values().filter_map(|note| {
            let now = vault.read(&note.path).ok().filter(|now| now.version == note.version)?;
            read += 1;
            Some(units_of(note, &now.text))
        });
        index.apply(&gone, &mut units as &mut dyn Iterator<Item = IndexedNote>)?;
        drop(units);
        report.read = read;
        Ok(())
    }
}
