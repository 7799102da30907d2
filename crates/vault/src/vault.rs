//! An open vault: the current snapshot, reading, and the one door for writing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::change::{ChangeSet, FileDiff};
use crate::error::{CommitError, VaultError};
use crate::layout::Layout;
use crate::meta::{Artefact, Loaded};
use crate::note::NoteText;
use crate::path::NotePath;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::snapshot::{Delta, Snapshot};
use crate::spool::Spool;
use crate::version::Version;

/// How to open a vault.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Never write, not even into `.dormouse/`. A vault on a read-only file system is opened so by
    /// itself. Default false.
    pub read_only: bool,
    /// Settings in place of the vault's `dormouse.toml`.
    pub settings: Option<Settings>,
}

/// An open vault. Cheap to share behind an `Arc`; all methods take `&self`.
#[derive(Debug)]
pub struct Vault {
    root: PathBuf,
}

/// What a commit did.
#[derive(Debug, Clone)]
pub struct Committed {
    /// The files that were written, with their new versions.
    pub written: Vec<(NotePath, Version)>,
    /// The snapshot after it.
    pub snapshot: Arc<Snapshot>,
    /// Files whose displaced bytes were kept under `.dormouse/displaced/`, because the file system
    /// has no atomic exchange.
    pub displaced: Vec<PathBuf>,
}

/// Work that runs once at a time across processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// A dream run.
    Dream,
    /// A consolidate run.
    Consolidate,
    /// The embedded search index's writer.
    Index,
}

/// A held stage lock; released when dropped, and by the kernel when the process dies.
#[derive(Debug)]
pub struct StageLock {
    pub(crate) _file: std::fs::File,
}

impl Vault {
    /// Opens the vault at `root`: settles a half-done commit, reads settings, scans.
    ///
    /// # Errors
    /// [`VaultError::NotAFolder`], or the disk. A malformed note is a problem in the snapshot.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, VaultError> {
        Self::open_with(root, OpenOptions::default())
    }

    /// [`Vault::open`] with options.
    ///
    /// # Errors
    /// As [`Vault::open`].
    pub fn open_with(root: impl AsRef<Path>, options: OpenOptions) -> Result<Self, VaultError> {
        let _ = (root, options);
        todo!()
    }

    /// The vault's folder, absolute.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        todo!()
    }

    /// The layers' folders.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.settings().layout
    }

    /// Whether nothing can be written.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        todo!()
    }

    /// Problems that opening met (settings, cache, recovery); those of notes are the snapshot's.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        todo!()
    }

    /// `.dormouse/` of this vault. It may not exist.
    #[must_use]
    pub fn cache_dir(&self) -> PathBuf {
        self.root.join(".dormouse")
    }

    /// The current snapshot. Never blocks a writer.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        todo!()
    }

    /// Looks at the disk again (size and mtime, then content) and takes in what changed.
    ///
    /// # Errors
    /// The disk.
    pub fn refresh(&self) -> Result<Delta, VaultError> {
        todo!()
    }

    /// Reads a file of the vault with its version token.
    ///
    /// # Errors
    /// [`VaultError::NotFound`], or the disk.
    pub fn read(&self, path: &NotePath) -> Result<NoteText, VaultError> {
        let _ = path;
        todo!()
    }

    /// What `set` would do, without doing it; every check of [`Vault::commit`] is made.
    ///
    /// # Errors
    /// As [`Vault::commit`].
    pub fn preview(&self, set: &ChangeSet) -> Result<Vec<FileDiff>, CommitError> {
        let _ = set;
        todo!()
    }

    /// Applies `set`: all of it or nothing. Checks, in order: read-only, capabilities, versions,
    /// frontmatter, conservation; then writes under the journal and takes the new snapshot.
    ///
    /// # Errors
    /// [`CommitError`]; the vault is then as it was.
    pub fn commit(&self, set: &ChangeSet) -> Result<Committed, CommitError> {
        let _ = set;
        todo!()
    }

    /// Reads a derived signal from `meta/`. Missing, corrupt or newer: no value, and a problem
    /// that says so (none when it is merely missing).
    #[must_use]
    pub fn meta<T: Artefact>(&self) -> Loaded<T> {
        todo!()
    }

    /// The access spool.
    #[must_use]
    pub fn spool(&self) -> Spool {
        Spool { file: self.root.join(&self.layout().meta).join("access_spool.jsonl") }
    }

    /// Takes a stage's lock without waiting.
    ///
    /// # Errors
    /// [`CommitError::Locked`] when another process has it, [`CommitError::ReadOnly`], the disk.
    pub fn lock_stage(&self, stage: Stage) -> Result<StageLock, CommitError> {
        let _ = stage;
        todo!()
    }
}
