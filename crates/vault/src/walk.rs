//! The walk: which files a vault has, and what the file system says of each. Reads no content.
//!
//! Names that start with a dot are not there, as in Obsidian; `.gitignore` means nothing. Symlinks
//! are never followed: one that stays inside would show a file under two names, one that leaves
//! would let a note name a file outside the vault. Each gives a problem instead.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::path::NotePath;
use crate::problem::{Problem, ProblemKind};

/// A file whose modification time is younger than this when it is looked at may change again
/// without a new time (the coarsest file systems count in steps of two seconds).
const SETTLED: Duration = Duration::from_secs(3);

/// What tells, without reading, whether a file is still the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// Bytes.
    pub(crate) size: u64,
    /// Modification time in nanoseconds since the epoch; 0 when the file system has none.
    pub(crate) mtime_ns: i64,
    /// Time of the last change of the inode, where there is such a thing.
    ctime_ns: i64,
    /// Whether the file was written so recently that an equal stamp proves nothing.
    fresh: bool,
}

impl Stamp {
    fn of(metadata: &Metadata, now: SystemTime) -> Self {
        let modified = metadata.modified().ok();
        let settled = modified.and_then(|at| now.duration_since(at).ok()).is_some_and(|age| age >= SETTLED);
        Self {
            size: metadata.len(),
            mtime_ns: modified.map_or(0, since_epoch),
            ctime_ns: changed(metadata),
            fresh: !settled,
        }
    }

    /// Whether a file that had this stamp when it was read still has the same content for sure.
    pub(crate) fn proves(&self, now: &Self) -> bool {
        !self.fresh && (self.size, self.mtime_ns, self.ctime_ns) == (now.size, now.mtime_ns, now.ctime_ns)
    }
}

impl Stamp {
    /// Whether size and modification time are the same.
    pub(crate) fn looks_like(&self, now: &Self) -> bool {
        (self.size, self.mtime_ns) == (now.size, now.mtime_ns)
    }
}

/// Nanoseconds since the epoch; what lies beyond the years 1677 to 2262 counts as their end.
fn since_epoch(at: SystemTime) -> i64 {
    let nanos = |d: Duration| i64::try_from(d.as_nanos()).unwrap_or(i64::MAX);
    at.duration_since(UNIX_EPOCH).map_or_else(|before| -nanos(before.duration()), nanos)
}

#[cfg(unix)]
fn changed(metadata: &Metadata) -> i64 {
    use std::os::unix::fs::MetadataExt;
    metadata.ctime().saturating_mul(1_000_000_000).saturating_add(metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> i64 {
    0
}

#[expect(
    clippy::disallowed_methods,
    reason = "compared with file times of the same machine; never stored, shown or decided by"
)]
fn now() -> SystemTime {
    SystemTime::now()
}

/// Problems by the path that they are about, as shown.
pub(crate) type PathProblems = BTreeMap<String, Vec<Problem>>;

/// What a walk found. A file costs its name and its stamp: whether it is a known one is asked later,
/// and only what is not becomes a [`NotePath`].
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The folders with files of their own, vault-relative, with a slash at the end; the root is
    /// empty.
    folders: Vec<String>,
    /// The files' names, one after the other.
    names: String,
    files: Vec<Listed>,
    /// What could not be listed.
    pub(crate) problems: PathProblems,
}

#[derive(Debug)]
struct Listed {
    folder: u32,
    end: u32,
    stamp: Stamp,
}

impl Listing {
    fn problem(&mut self, relative: &Path, kind: ProblemKind, message: String) {
        let shown = relative.iter().map(OsStr::to_string_lossy).collect::<Vec<_>>().join("/");
        self.problems.entry(shown).or_default().push(Problem { kind, line: None, message });
    }

    /// How many files there are.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Hands over each file, as it is spelled on disk, in the order of the walk.
    pub(crate) fn each(&self, mut seen: impl FnMut(&str, Stamp)) {
        let mut path = String::new();
        let mut start = 0;
        for file in &self.files {
            let folder = self.folders.get(file.folder as usize).map_or("", String::as_str);
            path.clear();
            path.push_str(folder);
            path.push_str(self.names.get(start..file.end as usize).unwrap_or(""));
            start = file.end as usize;
            seen(&path, file.stamp);
        }
    }

    /// A file that can't be read under this name.
    pub(crate) fn bad_name(&mut self, path: &str, reason: &str) {
        self.problem(Path::new(path), ProblemKind::BadName, format!("{reason}; rename the file to have it read"));
    }

    /// A file whose name is another's in another Unicode form.
    pub(crate) fn collision(&mut self, passed: &str) {
        let message = "another file has the same name in another Unicode form; only one of the two is read";
        self.problem(Path::new(passed), ProblemKind::NameCollision, message.to_owned());
    }
}

/// Lists the vault at `root`. Linear in the number of entries; deep nesting costs no stack.
///
/// # Errors
/// Only when the root itself can't be listed; anything below it becomes a problem.
pub(crate) fn walk(root: &Path) -> io::Result<Listing> {
    let now = now();
    let mut listing = Listing::default();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(root.join(&folder)) {
            Ok(entries) => entries,
            Err(error) if folder.as_os_str().is_empty() => return Err(error),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                listing.problem(&folder, ProblemKind::Unreadable, format!("the folder can't be listed: {error}"));
                continue;
            }
        };
        let prefix = folder_prefix(&folder);
        let number = u32::try_from(listing.folders.len()).unwrap_or(u32::MAX);
        listing.folders.push(prefix.clone().unwrap_or_default());
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let message = format!("the folder can't be listed whole: {error}");
                    listing.problem(&folder, ProblemKind::Unreadable, message);
                    break;
                }
            };
            let name = entry.file_name();
            if is_hidden(&name) {
                continue;
            }
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => folders.push(folder.join(&name)),
                Ok(metadata) if metadata.is_symlink() => {
                    let relative = folder.join(&name);
                    let message = symlink_message(root, &relative);
                    listing.problem(&relative, ProblemKind::Symlink, message);
                }
                Ok(metadata) if metadata.is_file() => match (name.to_str(), &prefix) {
                    (Some(name), Some(_)) => {
                        listing.names.push_str(name);
                        let end = u32::try_from(listing.names.len()).unwrap_or(u32::MAX);
                        listing.files.push(Listed { folder: number, end, stamp: Stamp::of(&metadata, now) });
                    }
                    _ => {
                        let shown = folder.join(&name);
                        let message = "the name is not Unicode; rename the file to have it read".to_owned();
                        listing.problem(&shown, ProblemKind::BadName, message);
                    }
                },
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    let relative = folder.join(&name);
                    listing.problem(&relative, ProblemKind::Unreadable, format!("can't be looked at: {error}"));
                }
            }
        }
    }
    Ok(listing)
}

/// A folder as the beginning of a path; `None` when it is not Unicode.
fn folder_prefix(folder: &Path) -> Option<String> {
    let mut prefix = String::new();
    for part in folder.iter() {
        prefix.push_str(part.to_str()?);
        prefix.push('/');
    }
    Some(prefix)
}

/// The NFC spelling first, then byte order: which of two spellings of one name is read.
pub(crate) fn spelling(path: &NotePath) -> (bool, &str) {
    (path.as_disk() != path.as_str(), path.as_disk())
}

fn symlink_message(root: &Path, relative: &Path) -> String {
    let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let whither = match root.join(relative).canonicalize() {
        Err(_) => "dangles or loops",
        Ok(target) if real_root.starts_with(&target) => "loops back to a folder that it lies in",
        Ok(target) if target.starts_with(&real_root) => "points to another place inside the vault",
        Ok(_) => "leaves the vault",
    };
    format!("a symlink that {whither}; it is not followed")
}

pub(crate) fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().first() == Some(&b'.')
}

/// The vault-relative path of a file below the root, or why it can't be one.
pub(crate) fn to_note_path(relative: &Path) -> Result<NotePath, String> {
    let mut joined = String::new();
    for part in relative.iter() {
        let part = part.to_str().ok_or_else(|| "the name is not Unicode".to_owned())?;
        if !joined.is_empty() {
            joined.push('/');
        }
        joined.push_str(part);
    }
    NotePath::new(&joined).map_err(|error| error.to_string())
}

/// Whether a path has a name that starts with a dot: such files are not there.
pub(crate) fn is_hidden_path(path: &NotePath) -> bool {
    path.as_str().split('/').any(|segment| segment.starts_with('.'))
}

/// Looks at one file as [`walk`] would: `None` when the walk would not list it.
pub(crate) fn look(root: &Path, path: &NotePath) -> Option<Stamp> {
    if is_hidden_path(path) {
        return None;
    }
    let mut at = root.to_owned();
    let mut metadata = None;
    for segment in path.as_disk().split('/') {
        at.push(segment);
        let found = fs::symlink_metadata(&at).ok().filter(|found| !found.is_symlink())?;
        metadata = Some(found);
    }
    metadata.filter(Metadata::is_file).map(|metadata| Stamp::of(&metadata, now()))
}
