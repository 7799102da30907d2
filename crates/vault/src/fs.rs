//! The one door to the disk: every byte that Dormouse writes into a vault passes a [`Disk`].

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use crate::path::NotePath;

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

    /// Gives `to` the permissions of `from`.
    ///
    /// # Errors
    /// What the operating system says.
    fn copy_mode(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Exchanges two existing names in one atomic step.
    ///
    /// # Errors
    /// `Unsupported` where the system or the file system has no such step.
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()>;

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

    /// Makes a folder's names durable. Does nothing where the system has no such call.
    ///
    /// # Errors
    /// What the operating system says.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

/// The operating system's disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsDisk;

#[expect(clippy::disallowed_methods, reason = "this is the door that the lint guards")]
impl Disk for OsDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn write_new(&self, path: &Path, bytes: &[u8], durable: bool) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        file.write_all(bytes)?;
        if durable {
            file.sync_all()?;
        }
        if file.metadata()?.len() == bytes.len() as u64 {
            Ok(())
        } else {
            Err(io::Error::from(io::ErrorKind::WriteZero))
        }
    }

    fn copy_mode(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::set_permissions(to, fs::metadata(from)?.permissions())
    }

    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        atomic::exchange(a, b)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        match atomic::rename_new(from, to) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                // An empty file of ours takes the name first, which fails when it is taken.
                drop(OpenOptions::new().write(true).create_new(true).open(to)?);
                fs::rename(from, to)
            }
            done => done,
        }
    }

    fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn make_folders(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }
}

/// The two renames that std doesn't have.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod atomic {
    use std::io;
    use std::path::Path;

    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;

    pub(super) fn exchange(a: &Path, b: &Path) -> io::Result<()> {
        renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).map_err(said)
    }

    pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
        renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE).map_err(said)
    }

    fn said(errno: Errno) -> io::Error {
        if matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) {
            io::Error::from(io::ErrorKind::Unsupported)
        } else {
            errno.into()
        }
    }
}

/// Where there are no such renames.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod atomic {
    use std::io;
    use std::path::Path;

    pub(super) fn exchange(_: &Path, _: &Path) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    pub(super) fn rename_new(_: &Path, _: &Path) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

/// Where `path` lies below `root`: as spelled, else under the same names in another Unicode form.
pub(crate) fn locate(root: &Path, path: &NotePath) -> PathBuf {
    let exact = root.join(path.as_disk());
    if path.as_str().is_ascii() || exact.symlink_metadata().is_ok() {
        return exact;
    }
    path.as_disk().split('/').fold(root.to_path_buf(), |folder, name| {
        let plain = folder.join(name);
        if plain.symlink_metadata().is_ok() {
            return plain;
        }
        let nfc: String = name.nfc().collect();
        twin(&folder, |other| other.nfc().eq(nfc.chars())).unwrap_or(plain)
    })
}

/// The file that `located` really is, symlinks followed; `None` when it lies outside `root` (which
/// is canonical), or is a dangling link. What doesn't exist yet is judged by its folder.
pub(crate) fn real(root: &Path, located: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut at = located;
    while at.symlink_metadata().is_err() {
        missing.push(at.file_name()?);
        at = at.parent()?;
    }
    let mut real = at.canonicalize().ok()?;
    if !real.starts_with(root) {
        return None;
    }
    real.extend(missing.iter().rev());
    Some(real)
}

/// `path` below `root` as a vault path; `None` when it is none.
pub(crate) fn relative(root: &Path, path: &Path) -> Option<NotePath> {
    let names: Option<Vec<&str>> = path
        .strip_prefix(root)
        .ok()?
        .components()
        .map(|c| if let Component::Normal(name) = c { name.to_str() } else { None })
        .collect();
    NotePath::new(&names?.join("/")).ok()
}

/// A file beside `path` whose name differs from its own only by case or Unicode form, or the file
/// itself; `except` is passed over. Linear in the folder.
pub(crate) fn collision(path: &Path, except: Option<&Path>) -> Option<PathBuf> {
    let folder = path.parent()?;
    let wanted = fold(path.file_name()?.to_str()?);
    let found = twin(folder, |other| fold(other) == wanted && except != Some(folder.join(other).as_path()))?;
    Some(found)
}

fn twin(folder: &Path, is_it: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let mut names: Vec<_> = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
    names.retain(|name| name.to_str().is_some_and(&is_it));
    names.sort();
    names.first().map(|name| folder.join(name))
}

/// A name without its case and Unicode form: two names that fold alike can't lie side by side on
/// every file system.
pub(crate) fn fold(name: &str) -> String {
    name.nfc().flat_map(char::to_lowercase).nfc().collect()
}
