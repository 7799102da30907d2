//! One writer per vault: a file lock between processes, a queue within one. The kernel releases
//! the lock when its holder dies.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
#[cfg(feature = "watch")]
use std::sync::TryLockError as TryQueueError;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::CommitError;
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
    let file = open(root, &root.join(".dormouse/lock"))?;
    let mut pause = Duration::from_millis(1);
    while !try_lock(&file, &root.join(".dormouse/lock"))? {
        if Instant::now() >= deadline {
            return Err(CommitError::Locked { what: "commit" });
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
    work()
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
    let made = file.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| OpenOptions::new().read(true).write(true).create(true).truncate(false).open(file)).map_err(
        |source| match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                CommitError::ReadOnly { path: root.to_path_buf() }
            }
            _ => CommitError::Io { path: file.to_path_buf(), source },
        },
    )
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
        let path = self.cache_dir().join("locks").join(format!("{what}.lock"));
        let file = open(self.root(), &path)?;
        if try_lock(&file, &path)? { Ok(StageLock { _file: file }) } else { Err(CommitError::Locked { what }) }
    }
}
