//! Unix: each call opens the folder of its path, link by link, and works beneath it.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};

use rustix::fs::{self, Access, AtFlags, CWD, FileType, Gid, Mode, OFlags, Uid};
use rustix::io::{Errno, retry_on_intr};

type Said<T> = rustix::io::Result<T>;

/// A folder that was reached without following a link, and a name in it.
struct Spot<'p> {
    folder: OwnedFd,
    name: &'p OsStr,
}

fn spot(path: &Path) -> Said<Spot<'_>> {
    let name = path.file_name().ok_or(Errno::INVAL)?;
    Ok(Spot { folder: folder(path.parent().ok_or(Errno::INVAL)?)?, name })
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn folder(path: &Path) -> Said<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let opened =
        retry_on_intr(|| fs::openat2(CWD, path, WALK | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS));
    match opened {
        // An old kernel, or a sandbox that does not know the call.
        Err(Errno::NOSYS | Errno::PERM) => walk(path, &|_, _| Err(Errno::NOENT)),
        done => done,
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn folder(path: &Path) -> Said<OwnedFd> {
    walk(path, &|_, _| Err(Errno::NOENT))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
const WALK: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const WALK: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// Goes down an absolute path folder by folder; `missing` may make one that is not there.
fn walk(path: &Path, missing: &dyn Fn(&OwnedFd, &OsStr) -> Said<()>) -> Said<OwnedFd> {
    let flags = WALK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = retry_on_intr(|| fs::open("/", flags, Mode::empty()))?;
    for part in path.components() {
        let name = match part {
            Component::RootDir => continue,
            Component::Normal(name) => name,
            _ => return Err(Errno::INVAL),
        };
        let open = |at: &OwnedFd| retry_on_intr(|| fs::openat(at, name, flags, Mode::empty()));
        let next = match open(&at) {
            Err(Errno::NOENT) => missing(&at, name).and_then(|()| open(&at)),
            opened => opened,
        };
        at = next.map_err(|errno| if is_link(&at, name) { Errno::LOOP } else { errno })?;
    }
    Ok(at)
}

fn is_link(folder: &OwnedFd, name: &OsStr) -> bool {
    fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
}

/// Opens a regular file for reading.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let spot = spot(path)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(retry_on_intr(|| fs::openat(&spot.folder, spot.name, flags, Mode::empty()))?);
    let found = file.metadata()?;
    if found.is_file() {
        Ok(file)
    } else if found.is_dir() {
        Err(Errno::ISDIR.into())
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "neither a file nor a folder"))
    }
}

/// A new file; a private one can be read by its owner alone until it is likened to another.
pub(super) fn create_new(path: &Path, private: bool) -> io::Result<File> {
    let spot = spot(path)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(if private { 0o600 } else { 0o666 });
    Ok(File::from(retry_on_intr(|| fs::openat(&spot.folder, spot.name, flags, mode))?))
}

/// A regular file for reading and writing, made when it is missing.
pub(super) fn open_or_create(path: &Path, append: bool) -> io::Result<File> {
    let spot = spot(path)?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let flags = if append { flags | OFlags::APPEND } else { flags };
    let mode = Mode::from_raw_mode(0o666);
    let file = File::from(retry_on_intr(|| fs::openat(&spot.folder, spot.name, flags, mode))?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Says no where an ordinary program could not save the file in place.
pub(super) fn must_be_writable(path: &Path) -> io::Result<()> {
    let spot = spot(path)?;
    match fs::accessat(&spot.folder, spot.name, Access::WRITE_OK, AtFlags::EACCESS) {
        Err(error @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) => Err(error.into()),
        _ => Ok(()),
    }
}

/// Gives `to` the owner, the attributes and the permissions of `from`: permissions always, the
/// others as far as this process may.
pub(super) fn liken(from: &File, to: &File) -> io::Result<()> {
    let (wanted, has) = (from.metadata()?, to.metadata()?);
    if wanted.uid() != has.uid() {
        let _ = fs::fchown(to, Some(Uid::from_raw(wanted.uid())), None);
    }
    if wanted.gid() != has.gid() {
        let _ = fs::fchown(to, None, Some(Gid::from_raw(wanted.gid())));
    }
    copy_attributes(from, to);
    let mode = Mode::from_raw_mode((wanted.mode() & 0o777) as fs::RawMode);
    match retry_on_intr(|| fs::fchmod(to, mode)) {
        // A file system without permissions is no reason not to write.
        Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        done => Ok(done?),
    }
}

/// What programs keep beside a file's bytes, access lists included; labels of the system's security
/// are the system's to give.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn copy_attributes(from: &File, to: &File) {
    let mut names = vec![0; fs::flistxattr_query(from).unwrap_or(0)];
    let length = fs::flistxattr(from, names.as_mut_slice()).unwrap_or(0);
    let is_kept = |name: &[u8]| !name.is_empty() && !name.starts_with(b"security.") && !name.starts_with(b"trusted.");
    for name in names.get(..length).unwrap_or_default().split(|byte| *byte == 0).filter(|name| is_kept(name)) {
        let mut value = vec![0; fs::fgetxattr_query(from, name).unwrap_or(0)];
        if let Ok(length) = fs::fgetxattr(from, name, value.as_mut_slice()) {
            value.truncate(length);
            let _ = fs::fsetxattr(to, name, &value, fs::XattrFlags::empty());
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn copy_attributes(_: &File, _: &File) {}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_with(from: &Path, to: &Path, flags: rustix::fs::RenameFlags) -> io::Result<()> {
    let (from, to) = (spot(from)?, spot(to)?);
    retry_on_intr(|| fs::renameat_with(&from.folder, from.name, &to.folder, to.name, flags)).map_err(|errno| {
        if matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) {
            io::ErrorKind::Unsupported.into()
        } else {
            errno.into()
        }
    })
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(super) fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    rename_with(a, b, rustix::fs::RenameFlags::EXCHANGE)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    rename_with(from, to, rustix::fs::RenameFlags::NOREPLACE)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(super) fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(super) fn rename_new(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn link(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (spot(from)?, spot(to)?);
    Ok(retry_on_intr(|| fs::linkat(&from.folder, from.name, &to.folder, to.name, AtFlags::empty()))?)
}

pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (spot(from)?, spot(to)?);
    Ok(retry_on_intr(|| fs::renameat(&from.folder, from.name, &to.folder, to.name))?)
}

pub(super) fn remove(path: &Path) -> io::Result<()> {
    let spot = spot(path)?;
    Ok(retry_on_intr(|| fs::unlinkat(&spot.folder, spot.name, AtFlags::empty()))?)
}

pub(super) fn remove_folder(path: &Path) -> io::Result<()> {
    let spot = spot(path)?;
    Ok(retry_on_intr(|| fs::unlinkat(&spot.folder, spot.name, AtFlags::REMOVEDIR))?)
}

pub(super) fn make_folders(path: &Path) -> io::Result<()> {
    let make = |folder: &OwnedFd, name: &OsStr| match fs::mkdirat(folder, name, Mode::from_raw_mode(0o777)) {
        Err(Errno::EXIST) => Ok(()),
        made => made,
    };
    Ok(walk(path, &make).map(drop)?)
}

pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    let spot = spot(path)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = retry_on_intr(|| fs::openat(&spot.folder, spot.name, flags, Mode::empty()))?;
    match File::from(folder).sync_all() {
        // Some file systems can't, and say so.
        Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::INVAL | Errno::OPNOTSUPP)) => Ok(()),
        done => done,
    }
}
