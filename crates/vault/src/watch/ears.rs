//! Ears: the operating system's events about folders, through `notify`.
//!
//! Where each folder needs a watch of its own (Linux), the watches are set here, one by one: hidden
//! folders cost none, a folder that vanishes meanwhile ends nothing, and a limit is noticed where
//! it is met. A folder's watch is set before the folder is listed, and the look at its files comes
//! after both, so that nothing falls in between. Elsewhere one watch hears the whole vault.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::walk;

/// Whether one watch hears everything below a folder.
const HEARS_BELOW: bool = !cfg!(any(target_os = "linux", target_os = "android"));

/// What is called with each event, on a thread of the ears' own.
pub(crate) type Heard = Box<dyn FnMut(notify::Result<Event>) + Send>;

/// Why something is not heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Deaf {
    /// The operating system gives no more watches.
    Limit,
    /// It gives none at all here.
    Refused,
}

/// Something that hears what happens in folders.
pub(crate) trait Ears: Send {
    /// Hears `folder` and what is below it from now on. A folder that is not there, or may not be
    /// listed, is no fault. Ends early once `stop` says so.
    fn cover(&mut self, folder: &Path, stop: &dyn Fn() -> bool) -> Result<(), Deaf>;
}

/// Where ears come from.
pub(crate) trait Listen: Send {
    /// New ears that hear nothing yet.
    fn open(&self, heard: Heard) -> Result<Box<dyn Ears>, Deaf>;
}

/// The operating system's.
#[derive(Debug)]
pub(crate) struct System;

impl Listen for System {
    fn open(&self, heard: Heard) -> Result<Box<dyn Ears>, Deaf> {
        let config = notify::Config::default().with_follow_symlinks(false);
        match RecommendedWatcher::new(heard, config) {
            Ok(watcher) => Ok(Box::new(Notified { watcher })),
            Err(error) => {
                tracing::warn!(%error, "the system gives no events");
                Err(why(&error).unwrap_or(Deaf::Refused))
            }
        }
    }
}

struct Notified {
    watcher: RecommendedWatcher,
}

impl Ears for Notified {
    fn cover(&mut self, folder: &Path, stop: &dyn Fn() -> bool) -> Result<(), Deaf> {
        let mut folders = vec![folder.to_path_buf()];
        while let Some(folder) = folders.pop().filter(|_| !stop()) {
            let mode = if HEARS_BELOW { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
            if let Err(error) = self.watcher.watch(&folder, mode) {
                match why(&error) {
                    Some(deaf) => {
                        tracing::warn!(%error, folder = %folder.display(), "a folder is not heard");
                        return Err(deaf);
                    }
                    None => continue,
                }
            }
            if !HEARS_BELOW {
                folders.extend(folders_in(&folder));
            }
        }
        Ok(())
    }
}

/// The folders in `folder` that the vault has.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let shown = entries.filter(|entry| !walk::is_hidden(&entry.file_name()));
    shown.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect()
}

/// What an error means for hearing; `None` when the folder alone is to blame.
fn why(error: &notify::Error) -> Option<Deaf> {
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => Some(Deaf::Limit),
        notify::ErrorKind::PathNotFound | notify::ErrorKind::WatchNotFound => None,
        notify::ErrorKind::Io(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied => None,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some(Deaf::Limit),
            _ if is_out_of_handles(error) => Some(Deaf::Limit),
            _ => Some(Deaf::Refused),
        },
        _ => Some(Deaf::Refused),
    }
}

#[cfg(unix)]
fn is_out_of_handles(error: &io::Error) -> bool {
    use rustix::io::Errno;
    error.raw_os_error().is_some_and(|code| code == Errno::MFILE.raw_os_error() || code == Errno::NFILE.raw_os_error())
}

#[cfg(not(unix))]
fn is_out_of_handles(_: &io::Error) -> bool {
    false
}
