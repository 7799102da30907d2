//! Systems that are no Unix: the standard library's calls, by path.
#![expect(clippy::disallowed_methods, reason = "this is the door that the lint guards")]

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

pub(super) fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

pub(super) fn create_new(path: &Path, _private: bool) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

pub(super) fn open_or_create(path: &Path, append: bool) -> io::Result<File> {
    OpenOptions::new().read(true).write(!append).append(append).create(true).truncate(false).open(path)
}

pub(super) fn must_be_writable(_: &Path) -> io::Result<()> {
    Ok(())
}

pub(super) fn liken(from: &File, to: &File) -> io::Result<()> {
    to.set_permissions(from.metadata()?.permissions())
}

pub(super) fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn rename_new(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn link(from: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(from, to)
}

pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

pub(super) fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}

pub(super) fn remove_folder(path: &Path) -> io::Result<()> {
    fs::remove_dir(path)
}

pub(super) fn make_folders(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
