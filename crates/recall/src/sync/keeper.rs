//! The keeper of the index: what lies on disk, what lies over it, and what is due.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use dormouse_vault::{Note, Snapshot, Vault};

use super::disk::{self, OnDisk};
use super::{Current, Step};
use crate::index::{BlockIndex, IndexError, IndexView, IndexedNote, Layered, MemoryIndex, NoteKey, TantivyIndex};
use crate::recall::{SyncProgress, SyncReport};
use crate::search::Citations;
use crate::units::units_of;

/// From this many notes over the index on disk on, they are written down.
const ENOUGH: usize = 64;
/// A plain index in memory holds at most this many notes; more go into one of the embedded kind.
const PLAIN: usize = 256;

/// Brings the index up, one caller at a time.
#[derive(Debug)]
pub(crate) struct Keeper {
    snapshot: Arc<Snapshot>,
    notes: imbl::HashMap<NoteKey, Arc<Note>>,
    citations: Arc<Citations>,
    disk: Option<OnDisk>,
    over: Arc<dyn BlockIndex>,
    /// Notes of the index on disk that are gone or lie over it.
    hidden: HashSet<NoteKey>,
    /// Notes that could not be read as the snapshot has them.
    missing: BTreeMap<NoteKey, Arc<Note>>,
    warnings: Vec<String>,
    /// Writing was tried in vain with this many notes.
    put_off: usize,
}

/// What a pass over notes did.
#[derive(Debug, Default)]
struct Pass {
    read: usize,
    removed: usize,
}

impl Keeper {
    /// Opens the index on disk and takes in what it lacks. What is little stays in memory; an index that
    /// is absent, of no use or far behind is written.
    ///
    /// # Errors
    /// Only when even an index in memory fails.
    pub(crate) fn open(vault: &Vault, progress: &dyn Fn(SyncProgress)) -> Result<(Self, SyncReport), IndexError> {
        let snapshot = vault.snapshot();
        let notes = live(&snapshot);
        let mut keeper = Self {
            citations: Arc::default(),
            snapshot,
            notes,
            disk: disk::open(vault),
            over: Arc::new(MemoryIndex::new()),
            hidden: HashSet::new(),
            missing: BTreeMap::new(),
            warnings: Vec::new(),
            put_off: 0,
        };
        let mut report = SyncReport::default();
        let mut due = keeper.due()?;
        let behind = keeper.disk.is_none() || due.changed.len() + due.gone.len() > ENOUGH;
        if behind && !vault.is_read_only() {
            match keeper.plan().run(vault, progress) {
                Ok(written) => {
                    keeper.rebase(vault, written, &mut report)?;
                    return Ok((keeper, report));
                }
                Err(error) => {
                    keeper.failed(vault, error);
                    due = keeper.due()?;
                }
            }
        }
        keeper.lay_over(vault, due, &mut report, progress)?;
        keeper.put_off = 2 * keeper.hidden.len();
        Ok((keeper, report))
    }

    /// Takes in what changed in the vault's snapshot: in memory, or, when it is much, on disk. Says
    /// whether enough has gathered to be written down. Linear in the notes of the vault, without reading
    /// any but those that changed.
    ///
    /// # Errors
    /// Only when the index in memory fails.
    pub(crate) fn take_in(&mut self, vault: &Vault) -> Result<bool, IndexError> {
        if !self.missing.is_empty() {
            // What is newer than the snapshot can only be read as the next one has it.
            vault.refresh_files(self.missing.values().map(|note| note.path.clone()));
        }
        let snapshot = vault.snapshot();
        if !Arc::ptr_eq(&snapshot, &self.snapshot) {
            let mut step = Step::between(&self.snapshot, &snapshot);
            for note in &step.changed {
                self.notes.insert(NoteKey::of(&note.path), Arc::clone(note));
            }
            for key in &step.gone {
                self.notes.remove(key);
                self.missing.remove(key);
            }
            let known: HashSet<NoteKey> = step.changed.iter().map(|note| NoteKey::of(&note.path)).collect();
            let again = self.missing.keys().filter(|key| !known.contains(*key));
            step.changed.extend(again.filter_map(|key| self.notes.get(key).cloned()));
            self.citations = Arc::default();
            let much = step.changed.len() > PLAIN && !vault.is_read_only();
            match much.then(|| self.plan().run(vault, &|_| ())) {
                Some(Ok(written)) => self.rebase(vault, written, &mut SyncReport::default())?,
                Some(Err(error)) => {
                    self.failed(vault, error);
                    self.pass(vault, step, &|_| ())?;
                }
                None => {
                    self.pass(vault, step, &|_| ())?;
                }
            }
            self.snapshot = snapshot;
        }
        let gathered = self.hidden.len().saturating_sub(self.missing.len());
        Ok(gathered > ENOUGH.max(self.put_off) && !vault.is_read_only())
    }

    /// What it takes to write down all that the index on disk lacks, without holding anybody up.
    pub(crate) fn plan(&self) -> Plan {
        Plan { notes: self.notes.clone() }
    }

    /// Stands on what was written. What changed meanwhile lies over it.
    ///
    /// # Errors
    /// Only when the index in memory fails.
    pub(crate) fn rebase(
        &mut self,
        vault: &Vault,
        written: Written,
        report: &mut SyncReport,
    ) -> Result<(), IndexError> {
        self.warnings.clear();
        self.put_off = 0;
        report.read += written.pass.read;
        report.removed += written.pass.removed;
        report.rebuilt |= written.rebuilt;
        self.disk = Some(written.disk);
        let due = self.due()?;
        self.lay_over(vault, due, report, &|_| ())
    }

    /// Goes on with what there is, since nothing could be written.
    pub(crate) fn failed(&mut self, vault: &Vault, error: IndexError) {
        self.put_off = 2 * self.hidden.len();
        self.warnings.clear();
        if self.disk.is_none() && self.hidden.is_empty() {
            self.disk = disk::open(vault);
        }
        match error {
            IndexError::Busy if self.disk.is_some() => {}
            IndexError::Busy => self
                .warnings
                .push("another process is writing the search index; this one searches in memory".to_owned()),
            error => self
                .warnings
                .push(format!("the search index can't be written ({error}); what changed is kept in memory")),
        }
    }

    /// What a search answers from.
    ///
    /// # Errors
    /// The engine.
    pub(crate) fn current(&self) -> Result<Current, IndexError> {
        let over = self.over.view()?;
        let view: Arc<dyn IndexView> = match &self.disk {
            Some(disk) if self.hidden.is_empty() => Arc::clone(&disk.view),
            Some(disk) => Arc::new(Layered::new(Arc::clone(&disk.view), over, self.hidden.clone())?),
            None => over,
        };
        Ok(Current {
            view,
            in_memory: self.disk.is_none(),
            whole: self.missing.is_empty(),
            snapshot: Arc::clone(&self.snapshot),
            notes: self.notes.clone(),
            citations: Arc::clone(&self.citations),
            warnings: self.warnings.as_slice().into(),
        })
    }

    /// Whether all of the snapshot lies on disk.
    pub(crate) fn is_written(&self) -> bool {
        self.disk.is_some() && self.hidden.is_empty()
    }

    /// Tells what there is now.
    pub(crate) fn describe(&self, report: &mut SyncReport) {
        report.notes = self.notes.len();
        report.in_memory = self.disk.is_none();
        report.warnings.clone_from(&self.warnings);
    }

    /// What the index on disk lacks of the snapshot, and what it has too much.
    fn due(&self) -> Result<Step, IndexError> {
        match &self.disk {
            Some(disk) => due(&self.notes, disk.view.as_ref()),
            None => Ok(Step { changed: in_order(self.notes.values().cloned()), gone: Vec::new() }),
        }
    }

    /// Makes the upper layer anew: `due` is all that the index on disk lacks.
    fn lay_over(
        &mut self,
        vault: &Vault,
        due: Step,
        report: &mut SyncReport,
        progress: &dyn Fn(SyncProgress),
    ) -> Result<(), IndexError> {
        self.hidden.clear();
        self.missing.clear();
        self.over = if due.changed.len() > PLAIN {
            Arc::new(TantivyIndex::in_memory(&disk::stamp())?)
        } else {
            Arc::new(MemoryIndex::new())
        };
        report.notes = self.notes.len();
        let pass = self.pass(vault, due, progress)?;
        report.read += pass.read;
        report.removed += pass.removed;
        Ok(())
    }

    /// Takes notes into the upper layer.
    fn pass(&mut self, vault: &Vault, step: Step, progress: &dyn Fn(SyncProgress)) -> Result<Pass, IndexError> {
        self.hidden.extend(step.gone.iter().copied());
        self.hidden.extend(step.changed.iter().map(|note| NoteKey::of(&note.path)));
        let changed = step.changed.clone();
        let mut read = HashSet::new();
        let removed = step.gone.len();
        apply(vault, self.over.as_ref(), step, progress, &mut |key| {
            read.insert(key);
        })?;
        for note in changed {
            let key = NoteKey::of(&note.path);
            if read.contains(&key) {
                self.missing.remove(&key);
            } else {
                self.missing.insert(key, note);
            }
        }
        Ok(Pass { read: read.len(), removed })
    }
}

/// A pass over the index on disk that is due.
pub(crate) struct Plan {
    notes: imbl::HashMap<NoteKey, Arc<Note>>,
}

/// What a pass over the index on disk gave.
pub(crate) struct Written {
    disk: OnDisk,
    pass: Pass,
    rebuilt: bool,
}

impl Plan {
    /// Writes, under the lock of those who write the index.
    ///
    /// # Errors
    /// [`IndexError::Busy`] when another process writes; the disk.
    pub(crate) fn run(self, vault: &Vault, progress: &dyn Fn(SyncProgress)) -> Result<Written, IndexError> {
        let _held = disk::lock(vault)?;
        // Others may have written since, or thrown it away.
        let (disk, rebuilt) = match disk::open_written(vault)? {
            Some(disk) => (disk, false),
            None => (disk::anew(vault)?, true),
        };
        let due = due(&self.notes, disk.view.as_ref())?;
        let mut pass = Pass { read: 0, removed: due.gone.len() };
        if !due.gone.is_empty() || !due.changed.is_empty() {
            apply(vault, disk.index.as_ref(), due, progress, &mut |_| pass.read += 1)?;
        }
        Ok(Written { disk: OnDisk { view: disk.index.view()?, index: disk.index }, pass, rebuilt })
    }
}

/// The live notes of a snapshot by their keys.
fn live(snapshot: &Snapshot) -> imbl::HashMap<NoteKey, Arc<Note>> {
    let live = snapshot.notes().filter(|note| note.is_live());
    live.map(|note| (NoteKey::of(&note.path), Arc::clone(note))).collect()
}

/// Notes in the order of their paths, in which they are indexed.
fn in_order(notes: impl Iterator<Item = Arc<Note>>) -> Vec<Arc<Note>> {
    let mut notes: Vec<Arc<Note>> = notes.collect();
    notes.sort_by(|a, b| a.path.cmp(&b.path));
    notes
}

fn due(notes: &imbl::HashMap<NoteKey, Arc<Note>>, view: &dyn IndexView) -> Result<Step, IndexError> {
    let mut have = view.versions()?;
    let lacking = notes.iter().filter(|(key, note)| have.remove(key) != Some(note.version));
    let changed = in_order(lacking.map(|(_, note)| Arc::clone(note)));
    Ok(Step { changed, gone: have.into_keys().collect() })
}

/// Reads what changed, one note at a time. A note that went away or changed once more since the
/// snapshot is left out.
fn apply(
    vault: &Vault,
    index: &dyn BlockIndex,
    step: Step,
    progress: &dyn Fn(SyncProgress),
    taken: &mut dyn FnMut(NoteKey),
) -> Result<(), IndexError> {
    let Step { changed, mut gone } = step;
    gone.extend(changed.iter().map(|note| NoteKey::of(&note.path)));
    let of = changed.len();
    let mut units = changed.iter().enumerate().filter_map(|(done, note)| {
        progress(SyncProgress { done, of });
        let now = vault.read(&note.path).ok().filter(|now| now.version == note.version)?;
        taken(NoteKey::of(&note.path));
        Some(units_of(note, &now.text))
    });
    index.apply(&gone, &mut units as &mut dyn Iterator<Item = IndexedNote>)?;
    progress(SyncProgress { done: of, of });
    Ok(())
}
