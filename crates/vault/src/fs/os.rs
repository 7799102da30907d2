//! The operating system's disk: no operation goes through a symbolic link.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use super::Disk;
use system as sys;

/// The operating system's disk.
///
/// On Unix no part of a path is followed when it is a symbolic link, so that a folder that is
/// swapped for a link between plan and commit leads nowhere: such an operation fails with `ELOOP`.
/// Only regular files are read: a pipe or a device in a note's place is an error and never a hang.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsDisk;

impl Disk for OsDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut file = sys::open(path)?;
        let mut bytes = Vec::with_capacity(file.metadata()?.len().try_into().unwrap_or(0));
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn write_new(&self, path: &Path, bytes: &[u8], durable: bool) -> io::Result<()> {
        fill(&sys::create_new(path, false)?, bytes, durable)
    }

    fn write_like(&self, path: &Path, bytes: &[u8], durable: bool, like: &Path) -> io::Result<()> {
        let pattern = sys::open(like)?;
        if pattern.metadata()?.permissions().readonly() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
        }
        sys::must_be_writable(like)?;
        let file = sys::create_new(path, true)?;
        sys::liken(&pattern, &file)?;
        fill(&file, bytes, durable)
    }

    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        sys::exchange(a, b)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        sys::link(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        match sys::rename_new(from, to) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            done => return done,
        }
        match sys::link(from, to) {
            Ok(()) => {
                return sys::remove(from).or_else(|error| match from.symlink_metadata() {
                    // It says no and is gone: then the new name is the only one.
                    Err(gone) if gone.kind() == io::ErrorKind::NotFound => Ok(()),
                    _ => sys::remove(to).and(Err(error)),
                });
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => {
                return Err(error);
            }
            Err(_) => {}
        }
        // An empty file of ours takes the name first, which fails when it is taken.
        drop(sys::create_new(to, false)?);
        sys::rename(from, to).inspect_err(|_| {
            if from.symlink_metadata().is_ok() {
                let _ = sys::remove(to);
            }
        })
    }

    fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()> {
        sys::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        sys::remove(path)
    }

    fn make_folders(&self, path: &Path) -> io::Result<()> {
        sys::make_folders(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        sys::remove_folder(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        sys::sync_folder(path)
    }
}

/// Opens a file of the cache for reading and writing, and makes it when it is missing; follows no
/// symbolic link.
pub(crate) fn open_or_create(path: &Path, append: bool) -> io::Result<File> {
    sys::open_or_create(path, append)
}

/// Writes all of `bytes`, however little the system takes at a time, and looks whether all arrived.
fn fill(mut file: &File, bytes: &[u8], durable: bool) -> io::Result<()> {
    file.write_all(bytes)?;
    if durable {
        file.sync_all()?;
    }
    if file.metadata()?.len() == bytes.len() as u64 { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

#[cfg(unix)]
#[path = "unix.rs"]
mod system;

#[cfg(not(unix))]
#[path = "plain.rs"]
mod system;
