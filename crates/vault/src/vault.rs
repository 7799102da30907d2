//! An open vault: the current snapshot, reading, and the one door for writing.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;

use crate::error::VaultError;
use crate::journal;
use crate::layout::Layout;
use crate::note::NoteText;
use crate::path::NotePath;
use crate::problem::{Problem, ProblemKind};
use crate::reading::{self, Found};
use crate::settings::Settings;
use crate::snapshot::{Delta, Snapshot};
use crate::take_in::{Books, Sighting, take_in};
use crate::version::Version;
use crate::walk::{self, Stamp};

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
    /// The root without symlinks: what a file that is read must lie in.
    real_root: PathBuf,
    settings: Settings,
    read_only: bool,
    problems: Vec<Problem>,
    current: ArcSwap<Snapshot>,
    /// Held while a new snapshot is made, never while one is read.
    books: Mutex<Books>,
}

/// What a commit did.
#[derive(Debug, Clone)]
pub struct Committed {
    /// The files that were written, with their new versions.
    pub written: Vec<(NotePath, Version)>,
    /// The snapshot after it.
    pub snapshot: Arc<Snapshot>,
    /// Files whose displaced bytes are kept under `.dormouse/displaced/`: the file system has no
    /// atomic exchange, or a program wrote into an earlier note after it was replaced.
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
    /// An empty folder and a folder that never met this crate are vaults. Linear in the size of the
    /// notes.
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
        let given = root.as_ref();
        let real_root = match given.canonicalize() {
            Ok(real) if real.is_dir() => real,
            Ok(_) => {
                return Err(VaultError::NotAFolder { path: given.to_owned() });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(VaultError::NotAFolder { path: given.to_owned() });
            }
            Err(error) => return Err(VaultError::io(given, error)),
        };
        let root = std::path::absolute(given).unwrap_or_else(|_| real_root.clone());
        let read_only = options.read_only || !is_writable(&real_root);
        let mut problems = Vec::new();
        if !read_only {
            problems.extend(journal::settle(&real_root)?);
        }
        let (settings, found) = options.settings.map_or_else(|| read_settings(&root), Settings::checked);
        problems.extend(found);
        let nothing = Snapshot::empty(settings.layout.clone());
        let vault = Self {
            root,
            real_root,
            settings,
            read_only,
            problems,
            current: ArcSwap::from_pointee(nothing),
            books: Mutex::new(Books::default()),
        };
        vault.refresh()?;
        Ok(vault)
    }

    /// The vault's folder, absolute.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The settings in force: those of the moment of opening.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The layers' folders.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.settings.layout
    }

    /// Whether nothing can be written.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Problems that opening met (settings, cache, recovery); those of notes are the snapshot's.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// `.dormouse/` of this vault. It may not exist.
    #[must_use]
    pub fn cache_dir(&self) -> PathBuf {
        self.root.join(".dormouse")
    }

    /// The current snapshot. Never blocks a writer, and no writer blocks it.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Looks at the disk again (size and mtime, then content) and takes in what changed. Costs one
    /// look at every file, and reading only those that differ.
    ///
    /// # Errors
    /// The disk: only when the vault's folder itself can't be listed. The snapshot is then as it was.
    pub fn refresh(&self) -> Result<Delta, VaultError> {
        let mut books = self.books();
        let listing = walk::walk(&self.root).map_err(|error| VaultError::io(&self.root, error))?;
        let gone: Vec<NotePath> =
            books.stamps.keys().filter(|path| !listing.files.contains_key(*path)).cloned().collect();
        let mut seen: Vec<Sighting> = gone.into_iter().map(Sighting::gone).collect();
        for (path, stamp) in listing.files {
            seen.extend(self.look(&books, path, stamp));
        }
        let walk_problems = Arc::new(listing.problems);
        Ok(self.publish(&mut books, seen, Some(walk_problems)))
    }

    /// Reads just these files again and publishes the snapshot that has them.
    pub(crate) fn take_in(&self, paths: &[NotePath]) -> Result<Arc<Snapshot>, VaultError> {
        self.refresh_files(paths.iter().cloned());
        Ok(self.snapshot())
    }

    /// [`Vault::refresh`] for these files alone: costs looking at them and what their change brings
    /// with it.
    pub fn refresh_files(&self, paths: impl IntoIterator<Item = NotePath>) -> Delta {
        let mut books = self.books();
        let mut seen = Vec::new();
        for path in paths.into_iter().collect::<BTreeSet<_>>() {
            match walk::look(&self.root, &path) {
                Some(stamp) => seen.extend(self.look(&books, path, stamp)),
                None => seen.push(Sighting::gone(path)),
            }
        }
        self.publish(&mut books, seen, None)
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a file unless its stamp proves that it is as it was.
    fn look(&self, books: &Books, path: NotePath, stamp: Stamp) -> Option<Sighting> {
        let known = books.stamps.get_key_value(&path);
        if known.is_some_and(|(have, before)| have.as_disk() == path.as_disk() && before.proves(&stamp)) {
            return None;
        }
        let snapshot = self.current.load();
        let found = reading::read(&self.root, &path, stamp, self.layout(), snapshot.note(&path));
        let stamp = (!matches!(found, Found::Gone)).then_some(stamp);
        Some(Sighting { path, stamp, found })
    }

    fn publish(&self, books: &mut Books, seen: Vec<Sighting>, walk_problems: Option<Arc<walk::PathProblems>>) -> Delta {
        let old = self.snapshot();
        let (mut next, delta) = take_in(books, &old, seen);
        if let Some(problems) = walk_problems.filter(|problems| *problems != old.walk_problems) {
            next.walk_problems = problems;
        }
        if next.differs_from(&old) {
            self.current.store(Arc::new(next));
        }
        delta
    }

    /// Reads a file of the vault with its version token. Bytes that are not UTF-8 are shown as
    /// U+FFFD, and the text is marked so.
    ///
    /// # Errors
    /// [`VaultError::NotFound`] (also for a name that starts with a dot and for a file that lies
    /// outside of the vault behind a symlink), or the disk.
    pub fn read(&self, path: &NotePath) -> Result<NoteText, VaultError> {
        let not_found = || VaultError::NotFound { path: path.clone() };
        if walk::is_hidden_path(path) {
            return Err(not_found());
        }
        let spelled = self.snapshot().spelled(path).unwrap_or_else(|| path.clone());
        let file = self.root.join(spelled.as_disk());
        let is_absent =
            |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        let failed = |error: io::Error| {
            if is_absent(&error) { not_found() } else { VaultError::io(&file, error) }
        };
        let real = file.canonicalize().map_err(failed)?;
        let inside = real.strip_prefix(&self.real_root).ok().and_then(|relative| walk::to_note_path(relative).ok());
        if inside.is_none_or(|path| walk::is_hidden_path(&path)) || !real.is_file() {
            return Err(not_found());
        }
        let bytes = fs::read(&real).map_err(failed)?;
        let version = Version::of(&bytes);
        let (text, utf8) = match String::from_utf8(bytes) {
            Ok(text) => (text, true),
            Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), false),
        };
        Ok(NoteText { path: spelled, text, version, utf8 })
    }
}

fn read_settings(root: &Path) -> (Settings, Vec<Problem>) {
    let unreadable = |message: String| {
        let problem = Problem { kind: ProblemKind::Settings, line: None, message };
        (Settings::default(), vec![problem])
    };
    match fs::read(root.join("dormouse.toml")) {
        Ok(bytes) => match std::str::from_utf8(&bytes) {
            Ok(text) => Settings::parse(text),
            Err(_) => unreadable("dormouse.toml: not UTF-8; the defaults are used".to_owned()),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => (Settings::default(), Vec::new()),
        Err(error) => unreadable(format!("dormouse.toml: {error}; the defaults are used")),
    }
}

/// Whether files can be made in `folder`, asked without making one.
#[cfg(unix)]
fn is_writable(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
fn is_writable(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|metadata| !metadata.permissions().readonly())
}
