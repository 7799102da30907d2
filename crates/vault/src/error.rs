//! The crate's errors: the disk, a conflict, a refusal. A user's malformed note is never one.

use std::io;
use std::path::PathBuf;

use crate::change::Writer;
use crate::conserve::Violation;
use crate::note::NoteText;
use crate::path::{NotePath, PathError};
use crate::version::Version;

/// What can go wrong with a vault.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// The folder does not exist or is no folder.
    #[error("{}: not a folder; name an existing vault", path.display())]
    NotAFolder {
        /// The folder that was named.
        path: PathBuf,
    },
    /// A path that can't be a note's.
    #[error("{given:?}: {source}")]
    Path {
        /// What was given.
        given: PathBuf,
        /// Which rule it breaks.
        source: PathError,
    },
    /// No such file.
    #[error("{path}: no such note")]
    NotFound {
        /// The note.
        path: NotePath,
    },
    /// The operating system said no.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// A commit was refused or failed.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

impl VaultError {
    /// An error of the disk, with the file or folder that it is about.
    pub(crate) fn io(path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io { path: path.into(), source }
    }
}

/// Why a change set was not applied. In every case the vault is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// The file is not what the plan was made from.
    #[error("{}: changed since it was read", .0.path)]
    Conflict(Box<Conflict>),
    /// The writer may not do this.
    #[error("{path}: {writer} may not write here")]
    Denied {
        /// Who asked.
        writer: Writer,
        /// Where.
        path: NotePath,
    },
    /// The note says `locked: true`, as it stands now: a person alone writes it.
    #[error("{path}: the note is locked, and {writer} may not write it; a person may, or takes `locked: true` away")]
    NoteLocked {
        /// Who asked.
        writer: Writer,
        /// The note.
        path: NotePath,
    },
    /// The change set would lose something.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Conservation(Vec<Violation>),
    /// The change would alter frontmatter that can't be read.
    #[error("{path}: line {line}: the frontmatter is malformed; mend it before it is changed")]
    MalformedFrontmatter {
        /// The note.
        path: NotePath,
        /// 1-based line.
        line: u32,
    },
    /// The file is not UTF-8 and is never rewritten.
    #[error("{path}: not UTF-8; it is never rewritten")]
    NotUtf8 {
        /// The file.
        path: NotePath,
    },
    /// Two changes of one set name the same file.
    #[error("{path}: named twice in one change")]
    NamedTwice {
        /// The file.
        path: NotePath,
    },
    /// Another process holds the lock.
    #[error("another process is writing to this vault ({what}); try again when it has finished")]
    Locked {
        /// Which lock.
        what: &'static str,
    },
    /// The vault was opened read-only, or lies on a read-only file system.
    #[error("{}: the vault is read-only", path.display())]
    ReadOnly {
        /// The vault.
        path: PathBuf,
    },
    /// A symbolic link stands where the vault has to write: it is written through none.
    #[error("{}: there is a symbolic link on the way, and nothing is written through one; put the file or folder itself there", path.display())]
    Symlink {
        /// The file or folder that can't be reached without it.
        path: PathBuf,
    },
    /// The operating system said no.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

impl CommitError {
    /// What the operating system said of `path`, as the error that it means.
    pub(crate) fn of_disk(path: PathBuf, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::ReadOnlyFilesystem {
            return Self::ReadOnly { path };
        }
        #[cfg(unix)]
        if rustix::io::Errno::from_io_error(&source) == Some(rustix::io::Errno::LOOP) {
            return Self::Symlink { path };
        }
        Self::Io { path, source }
    }
}

/// A conflict, with everything that is needed to plan again.
#[derive(Debug, Clone)]
pub struct Conflict {
    /// The file.
    pub path: NotePath,
    /// The version that the plan was made from; `None` for a create.
    pub expected: Option<Version>,
    /// What is there now; `None` when nothing is.
    pub current: Option<NoteText>,
    /// Unified diff from the current content to the planned one.
    pub diff: String,
}
