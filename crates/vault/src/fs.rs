//! The one door to the disk: every byte that Dormouse writes into a vault passes a [`Disk`].

mod names;
mod os;

use std::io;
use std::path::Path;

pub(crate) use names::{collision, fold, locate, real, relative};
pub use os::OsDisk;
pub(crate) use os::open_or_create;

/// The operations on files that a commit is made of. [`OsDisk`] is the real one; a test puts one
/// in its place that fails at the n-th operation, or that writes where an editor would.
///
/// Paths are absolute. Every operation either happens or gives an error; one that fails half way
/// may leave a part of the file that it was writing, which the caller removes.
pub trait Disk: Send + Sync {
    /// The whole content of a file.
    ///
    /// # Errors
    /// What the operating system says.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Writes a file that must not exist, and makes it durable when `durable`.
    ///
    /// # Errors
    /// `AlreadyExists`, or what the operating system says (a full disk, a read-only folder).
    fn write_new(&self, path: &Path, bytes: &[u8], durable: bool) -> io::Result<()>;

    /// [`Disk::write_new`] with the permissions of `like`, and its owner and attributes as far as
    /// the system lets. Nobody who can't read `like` can read the new file, at any moment. Default:
    /// `write_new`.
    ///
    /// # Errors
    /// As [`Disk::write_new`]; `PermissionDenied` where `like` is read-only.
    fn write_like(&self, path: &Path, bytes: &[u8], durable: bool, like: &Path) -> io::Result<()> {
        let _ = like;
        self.write_new(path, bytes, durable)
    }

    /// Exchanges two existing names in one atomic step.
    ///
    /// # Errors
    /// `Unsupported` where the system or the file system has no such step.
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()>;

    /// Gives the file at `from` a second name, which must be free. Default: there is no such thing.
    ///
    /// # Errors
    /// `AlreadyExists`, `Unsupported`, or what the operating system says.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let _ = (from, to);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Renames to a name that must be free, in one atomic step where there is one.
    ///
    /// # Errors
    /// `AlreadyExists`, or what the operating system says.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Renames, replacing what is there.
    ///
    /// # Errors
    /// What the operating system says.
    fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// What the operating system says; `NotFound` when there is none.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes a folder and those above it.
    ///
    /// # Errors
    /// What the operating system says.
    fn make_folders(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder. Default: leaves it.
    ///
    /// # Errors
    /// What the operating system says; one that is not empty stays.
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        let _ = path;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Whether two names are one file: hard links, or two spellings where case is ignored.
    fn is_same_file(&self, a: &Path, b: &Path) -> bool {
        names::is_same_file(a, b)
    }

    /// Whether the folder has an entry that is spelled just so; a file system that ignores case
    /// answers to other spellings as well, and this doesn't.
    fn is_spelled(&self, path: &Path) -> bool {
        names::is_spelled(path)
    }

    /// Makes a folder's names durable. Does nothing where the system has no such call.
    ///
    /// # Errors
    /// What the operating system says.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}
