//! One writer per vault: a file lock between processes, a queue within one. The kernel releases
//! the lock when its holder dies.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
#[cfg(feature = "watch")]
use std::sync::TryLockError as TryQueueError;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::CommitError;
use crate::fs::{self, Disk, OsDisk};
use crate::vault::{Stage, StageLock, Vault};

/// How long a commit waits for another process to finish.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// The queues of this process, one a vault, so that its threads don't poll against each other.
static QUEUES: Mutex<BTreeMap<PathBuf, Arc<Mutex<()>>>> = Mutex::new(BTreeMap::new());

/// Runs `work` while no other thread or process writes to the vault at `root`.
///
/// # Errors
/// `Locked` after `patience`, `ReadOnly` where the lock file can't be made, and those of `work`.
pub(crate) fn with_writer<T>(
    root: &Path,
    patience: Duration,
    work: impl FnOnce() -> Result<T, CommitError>,
) -> Result<T, CommitError> {
    let deadline = Instant::now() + patience;
    let queue =
        Arc::clone(QUEUES.lock().unwrap_or_else(PoisonError::into_inner).entry(root.to_path_buf()).or_default());
    let _turn = queue.lock().unwrap_or_else(PoisonError::into_inner);
    let path = root.join(".dormouse/lock");
    let mut pause = Duration::from_millis(1);
    let mut file = open(root, &path)?;
    loop {
        if try_lock(&file, &path)? {
            if is_still(&file, &path) {
                return work();
            }
            // Somebody removed the cache meanwhile, so that others lock another file.
            file = open(root, &path)?;
            continue;
        }
        if Instant::now() >= deadline {
            return Err(CommitError::Locked { what: "commit" });
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Whether the open file is the one that has the name.
#[cfg(unix)]
fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |found: io::Result<std::fs::Metadata>| found.ok().map(|found| (found.dev(), found.ino()));
    id(file.metadata()) == id(path.symlink_metadata())
}

#[cfg(not(unix))]
fn is_still(_: &File, _: &Path) -> bool {
    true
}

/// Runs `work` while no thread of this process commits to the vault at `root` (its real path). A
/// commit that takes longer than `patience` is not waited for.
#[cfg(feature = "watch")]
pub(crate) fn between_commits<T>(root: &Path, patience: Duration, work: impl FnOnce() -> T) -> T {
    let deadline = Instant::now() + patience;
    let queue =
        Arc::clone(QUEUES.lock().unwrap_or_else(PoisonError::into_inner).entry(root.to_path_buf()).or_default());
    loop {
        match queue.try_lock() {
            Ok(_turn) => return work(),
            Err(TryQueueError::Poisoned(_turn)) => return work(),
            Err(TryQueueError::WouldBlock) if Instant::now() >= deadline => return work(),
            Err(TryQueueError::WouldBlock) => thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// Takes the writer's lock without waiting and runs `work`; `None` when another has it.
pub(crate) fn if_free<T>(root: &Path, work: impl FnOnce() -> T) -> Result<Option<T>, CommitError> {
    match with_writer(root, Duration::ZERO, || Ok(work())) {
        Ok(done) => Ok(Some(done)),
        Err(CommitError::Locked { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn open(root: &Path, file: &Path) -> Result<File, CommitError> {
    let made = file.parent().filter(|folder| !folder.is_dir()).map_or(Ok(()), |folder| OsDisk.make_folders(folder));
    made.and_then(|()| fs::open_or_create(file, false)).map_err(|source| {
        if source.kind() == io::ErrorKind::PermissionDenied {
            return CommitError::ReadOnly { path: root.to_path_buf() };
        }
        match CommitError::of_disk(file.to_path_buf(), source) {
            CommitError::ReadOnly { .. } => CommitError::ReadOnly { path: root.to_path_buf() },
            error => error,
        }
    })
}

/// A file system without locks (some network mounts) has one writer by the user's promise alone.
fn try_lock(file: &File, path: &Path) -> Result<bool, CommitError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
            tracing::warn!(path = %path.display(), "the file system has no locks");
            Ok(true)
        }
        Err(TryLockError::Error(source)) => Err(CommitError::Io { path: path.to_path_buf(), source }),
    }
}

impl Stage {
    /// The lock's name, and that of its file `.dormouse/locks/<name>.lock`.
    const fn lock_name(self) -> &'static str {
        match self {
            Self::Dream => "dream",
            Self::Consolidate => "consolidate",
            Self::Index => "index",
            Self::Dismissals => "dismissals",
            Self::Topics => "topics",
        }
    }
}

impl Vault {
    /// Takes a stage's lock without waiting. A stage that holds its lock may commit.
    ///
    /// # Errors
    /// [`CommitError::Locked`] when it is held, by this process or another;
    /// [`CommitError::ReadOnly`]; the disk.
    pub fn lock_stage(&self, stage: Stage) -> Result<StageLock, CommitError> {
        if self.is_read_only() {
            return Err(CommitError::ReadOnly { path: self.root().to_path_buf() });
        }
        let what = stage.lock_name();
        let root = self.canonical()?;
        let path = root.join(".dormouse/locks").join(format!("{what}.lock"));
        let file = open(&root, &path)?;
        if try_lock(&file, &path)? { Ok(StageLock { _file: file }) } else { Err(CommitError::Locked { what }) }
    }
}
