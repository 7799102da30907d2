//! An open vault: the current snapshot, reading, and the one door for writing.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::hash::Hash;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

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
use crate::walk::{self, Listing, Stamp};
use crate::warm::{self, Saver, Warm};

/// How to open a vault.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Never write, not even into `.dormouse/`. A vault on a read-only file system is opened so by
    /// itself. Default false.
    pub read_only: bool,
    /// Settings in place of the vault's `dormouse.toml`.
    pub settings: Option<Settings>,
    /// Neither use nor keep the cached snapshot (`.dormouse/snapshot`): read every file. Default
    /// false.
    pub no_cache: bool,
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
    /// What the cached snapshot knows; `None` when none is kept.
    saver: Option<Mutex<Saver>>,
    read_at_open: usize,
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
    /// A change to the pairs of notes that a person keeps apart.
    Dismissals,
    /// A change to what a host might raise with the user.
    Topics,
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
        let cache = root.join(".dormouse");
        let load = || if options.no_cache { Warm::default() } else { warm::load(&cache, &settings.layout) };
        let (warm, listing) = thread::scope(|scope| {
            let walking = scope.spawn(|| walk::walk(&root));
            let warm = load();
            (warm, walking.join())
        });
        let listing = listing.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let listing = listing.map_err(|error| VaultError::io(&root, error))?;
        if warm.damaged {
            let message = "`.dormouse/snapshot` could not be used; every note was read again".to_owned();
            problems.push(Problem { kind: ProblemKind::Cache, line: None, message });
        }
        let keeps = !read_only && !options.no_cache;
        let saver = keeps.then(|| Mutex::new(Saver::after(&warm)));
        let (start, books) = warm.start.unwrap_or_else(|| (Snapshot::empty(settings.layout.clone()), Books::default()));
        let mut vault = Self {
            root,
            real_root,
            settings,
            read_only,
            problems,
            current: ArcSwap::from_pointee(start),
            books: Mutex::new(books),
            saver,
            read_at_open: 0,
        };
        let compared = compare(listing, &vault.books());
        vault.read_at_open = compared.differing.len();
        vault.take_compared(&mut vault.books(), compared);
        vault.save();
        Ok(vault)
    }

    /// Brings the cached snapshot up to date, so that the next open reads only what changes from
    /// now on. Done when the vault is opened and when it is dropped; a service that runs for weeks
    /// calls it now and then. Costs what has changed. A cache that can't be written is no error:
    /// the next open takes longer.
    pub fn save(&self) {
        let Some(saver) = &self.saver else {
            return;
        };
        let mut books = self.books();
        let mut saver = saver.lock().unwrap_or_else(PoisonError::into_inner);
        saver.touch(books.take_touched());
        if let Err(error) = saver.save(&self.cache_dir(), &self.snapshot(), &books) {
            tracing::debug!(%error, "the cached snapshot is not saved");
        }
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

    /// How many files opening had to look into: all of them without a cached snapshot, none in a
    /// vault that has not changed since it was cached. A file whose modification time was younger
    /// than three seconds when it was read counts as changed.
    #[must_use]
    pub fn read_at_open(&self) -> usize {
        self.read_at_open
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
        let compared = compare(listing, &books);
        Ok(self.take_compared(&mut books, compared))
    }

    fn take_compared(&self, books: &mut Books, Compared { differing, gone, problems }: Compared) -> Delta {
        let gone = gone.into_iter().map(Sighting::gone);
        let seen = gone.chain(differing.into_iter().map(|(path, stamp)| self.sight(path, stamp)));
        self.publish(books, seen, Some(problems))
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
                Some(stamp) if is_proven(&books, path.as_disk(), &path, stamp) => {}
                Some(stamp) => seen.push(self.sight(path, stamp)),
                None => seen.push(Sighting::gone(path)),
            }
        }
        self.publish(&mut books, seen, None)
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a file.
    fn sight(&self, path: NotePath, stamp: Stamp) -> Sighting {
        let snapshot = self.current.load();
        let found = reading::read(&self.root, &path, stamp, self.layout(), snapshot.linking(&path));
        let stamp = (!matches!(found, Found::Gone)).then_some(stamp);
        Sighting { path, stamp, found }
    }

    fn publish(
        &self,
        books: &mut Books,
        seen: impl IntoIterator<Item = Sighting>,
        walk_problems: Option<walk::PathProblems>,
    ) -> Delta {
        let old = self.snapshot();
        let (mut next, delta) = take_in(books, &old, seen);
        if let Some(problems) = walk_problems.filter(|problems| *problems != *old.walk_problems) {
            next.get_or_insert_with(|| old.successor()).walk_problems = Arc::new(problems);
        }
        if let Some(next) = next {
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

/// A listing held against what is known.
struct Compared {
    /// Files that are new, or that may have another content.
    differing: BTreeMap<NotePath, Stamp>,
    gone: Vec<NotePath>,
    problems: walk::PathProblems,
}

/// Costs a look-up for each file, and a path for each that differs.
fn compare(mut listing: Listing, books: &Books) -> Compared {
    let mut proven = 0;
    let mut differing: BTreeMap<NotePath, Stamp> = BTreeMap::new();
    let (mut bad, mut passed) = (Vec::new(), Vec::new());
    listing.each(|disk, stamp| {
        if disk.is_ascii() && is_proven(books, disk, disk, stamp) {
            proven += 1;
            return;
        }
        let path = match NotePath::new(disk) {
            Ok(path) => path,
            Err(reason) => return bad.push((disk.to_owned(), reason)),
        };
        match differing.remove_entry(&path) {
            None => {
                differing.insert(path, stamp);
            }
            Some((other, other_stamp)) => {
                let first = walk::spelling(&path) < walk::spelling(&other);
                let (kept, out) = if first { ((path, stamp), other) } else { ((other, other_stamp), path) };
                passed.push(out.as_disk().to_owned());
                differing.insert(kept.0, kept.1);
            }
        }
    });
    for (path, reason) in bad {
        listing.bad_name(&path, &reason.to_string());
    }
    for path in passed {
        listing.collision(&path);
    }
    let known = differing.keys().filter(|path| books.stamps.contains_key(*path)).count();
    let gone = if proven + known == books.stamps.len() { Vec::new() } else { missing(&listing, books) };
    differing.retain(|path, stamp| !is_proven(books, path.as_disk(), path, *stamp));
    Compared { differing, gone, problems: listing.problems }
}

/// The known files that are not in the listing.
fn missing(listing: &Listing, books: &Books) -> Vec<NotePath> {
    let mut there: HashSet<NotePath> = HashSet::with_capacity(listing.len());
    listing.each(|disk, _| there.extend(NotePath::new(disk)));
    books.stamps.keys().filter(|path| !there.contains(*path)).cloned().collect()
}

/// Whether the file of this spelling is known, and its stamp proves that it is as it was.
fn is_proven<Q>(books: &Books, disk: &str, path: &Q, stamp: Stamp) -> bool
where
    NotePath: Borrow<Q>,
    Q: Hash + Eq + ?Sized,
{
    let known = books.stamps.get_key_value(path);
    known.is_some_and(|(have, before)| have.as_disk() == disk && before.proves(&stamp))
}

impl Drop for Vault {
    fn drop(&mut self) {
        self.save();
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
