//! `.dormouse/displaced/`: what a commit took the place of.
//!
//! A program that had a note open when a commit replaced it still writes into the file that it
//! opened, and that file has lost its name. So it is not removed at once: it waits here under a name
//! of ours until nobody can be writing to it any more, and is then compared with what the commit
//! displaced. If it is the same, it goes. If not, somebody's save came late: the file gets a name
//! without prefix and stays until a person has looked at it.
//!
//! | name | what | until |
//! |---|---|---|
//! | `recent-<id>-<n>` | what the n-th step of a commit displaced | ten minutes later (30 seconds, when there are more than a thousand), and no program has it open |
//! | `old-<id>-<n>` | the same, where the file system can't exchange names | 30 days later |
//! | `recent-<id>.json`, `old-<id>.json` | the commit's journal: which file was which note | the last of its files goes |
//! | `<id>-<n>-<note>` | text that could not stay in its note | a person removes it |

use std::collections::{BTreeMap, BTreeSet};
use std::fs as std_fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::run::{Io, Run, gone, kept_name};
use super::{Journal, Step, TEMP_PREFIX, cache_problem};
use crate::fs::{self, Disk};
use crate::problem::Problem;
use crate::version::Version;

pub(super) const FOLDER: &str = ".dormouse/displaced";
const RECENT: &str = "recent-";
const OLD: &str = "old-";
/// How long a displaced file waits for a late write by a program that can't be seen.
const RECENT_FOR: Duration = Duration::from_secs(600);
const OLD_FOR: Duration = Duration::from_secs(30 * 24 * 3600);
/// With more recent files than this the wait is short, so that looking through them stays cheap.
const MANY: usize = 1000;
const HURRIED_FOR: Duration = Duration::from_secs(30);
/// How often the commits of a process look for late writes.
const PAUSE: Duration = Duration::from_secs(10);
/// How many waiting texts are named one by one.
const NAMED: usize = 20;

impl Run<'_> {
    /// Moves the temporary files of a commit that is over to where late writes are noticed, and its
    /// journal after them. Returns where the old bytes are when they are kept for good reason
    /// (`emulated`).
    pub(super) fn put_by(&self, steps: &[Step], phase: &str, emulated: bool) -> Io<Vec<PathBuf>> {
        let class = if emulated { OLD } else { RECENT };
        let folder = self.displaced();
        let temps: Vec<&str> = steps
            .iter()
            .filter(|step| phase != "done" || matches!(step, Step::Replace { .. }))
            .filter_map(Step::temp)
            .collect();
        let has_room = !temps.is_empty() && self.make_folders(&folder).is_ok();
        let mut moved = Vec::new();
        for temp in temps.into_iter().map(|temp| self.root.join(temp)) {
            let to = folder.join(format!("{class}{}", own_name(&temp)));
            let done = if has_room { self.disk.rename_over(&temp, &to) } else { Err(io::ErrorKind::Other.into()) };
            match done {
                Ok(()) => moved.push(to),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // Another file system, or none that takes it: nobody can wait for late writes.
                Err(_) => gone(self.disk.remove(&temp)).map_err(|error| (temp, error))?,
            }
        }
        let journal = self.file(phase);
        let record = folder.join(format!("{class}{}.json", self.id));
        if moved.is_empty() || self.disk.rename_over(&journal, &record).is_err() {
            gone(self.disk.remove(&journal)).map_err(|error| (journal, error))?;
        }
        Ok(if emulated { moved } else { Vec::new() })
    }
}

/// `<id>-<n>` of a temporary file.
fn own_name(temp: &Path) -> String {
    temp.file_name().map(|n| n.to_string_lossy().trim_start_matches(TEMP_PREFIX).to_owned()).unwrap_or_default()
}

/// Whether anything lies here.
pub(super) fn is_waiting(root: &Path) -> bool {
    std_fs::read_dir(root.join(FOLDER)).is_ok_and(|mut entries| entries.next().is_some())
}

/// A problem for each text that waits for a person.
pub(super) fn report(root: &Path) -> Vec<Problem> {
    let names = names(root).into_iter().filter(|name| !name.starts_with(RECENT) && !name.starts_with(OLD));
    let waiting: Vec<String> = names.collect();
    let mut problems: Vec<Problem> = waiting
        .iter()
        .take(NAMED)
        .map(|name| {
            cache_problem(format!(
                "{FOLDER}/{name}: text that could not stay in its note, since an edit and a commit met; take over what \
                 is missing, then remove this file"
            ))
        })
        .collect();
    if let Some(more) = waiting.len().checked_sub(NAMED).filter(|more| *more > 0) {
        problems.push(cache_problem(format!("{FOLDER}: {more} more such files")));
    }
    problems
}

fn names(root: &Path) -> Vec<String> {
    let entries = std_fs::read_dir(root.join(FOLDER)).into_iter().flatten().filter_map(Result::ok);
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// [`sweep`], at most once in ten seconds a vault and process.
pub(super) fn sweep_when_due(disk: &dyn Disk, root: &Path) -> Vec<PathBuf> {
    static LAST: Mutex<BTreeMap<PathBuf, Instant>> = Mutex::new(BTreeMap::new());
    let now = Instant::now();
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let is_due = last.get(root).is_none_or(|then| now.duration_since(*then) >= PAUSE);
    if !is_due {
        return Vec::new();
    }
    last.insert(root.to_path_buf(), now);
    drop(last);
    sweep(disk, root)
}

/// Looks for late writes, and removes what nobody can write to any more. Returns where the late
/// writes are. What fails here is left to the next sweep: a commit never fails for it.
pub(super) fn sweep(disk: &dyn Disk, root: &Path) -> Vec<PathBuf> {
    let names = names(root);
    if names.is_empty() {
        return Vec::new();
    }
    let mut sweep = Sweep { disk, folder: root.join(FOLDER), now: now(), open: None };
    let mut recovered = Vec::new();
    let is_crowded = names.iter().filter(|name| name.starts_with(RECENT)).count() > MANY;
    let recent_for = if is_crowded { HURRIED_FOR } else { RECENT_FOR };
    for (class, grace) in [(RECENT, recent_for), (OLD, OLD_FOR)] {
        let of_class = || names.iter().filter_map(|name| name.strip_prefix(class));
        let mut records: BTreeMap<&str, (Option<Record>, usize)> = of_class()
            .filter_map(|name| name.strip_suffix(".json"))
            .map(|id| (id, (sweep.record(class, id), 0)))
            .collect();
        for name in of_class().filter(|name| !name.ends_with(".json")) {
            let id = name.rsplit_once('-').map_or(name, |(id, _)| id);
            let entry = records.get_mut(id);
            let record = entry.as_ref().and_then(|(record, _)| record.as_ref());
            match sweep.look(class, name, record, grace) {
                Ok(Fate::Gone) => {}
                Ok(Fate::Recovered(path)) => recovered.push(path),
                Ok(Fate::Waits) | Err(_) => {
                    if let Some((_, waiting)) = entry {
                        *waiting += 1;
                    }
                }
            }
        }
        for (id, _) in records.iter().filter(|(_, (_, waiting))| *waiting == 0) {
            let _ = disk.remove(&sweep.folder.join(format!("{class}{id}.json")));
        }
    }
    for path in &recovered {
        tracing::warn!(path = %path.display(), "a program wrote into a note after it was replaced; its text is kept here");
    }
    recovered
}

/// What is known of a commit whose files wait.
struct Record {
    /// When the commit was planned.
    at: SystemTime,
    /// By `<id>-<n>`: the note's path and the versions that are the commit's own.
    files: BTreeMap<String, (PathBuf, Vec<Version>)>,
}

enum Fate {
    Gone,
    Recovered(PathBuf),
    Waits,
}

struct Sweep<'a> {
    disk: &'a dyn Disk,
    folder: PathBuf,
    now: SystemTime,
    /// The files that some program has open for writing; asked for once, when it matters.
    open: Option<BTreeSet<FileId>>,
}

impl Sweep<'_> {
    fn record(&self, class: &str, id: &str) -> Option<Record> {
        let file = self.folder.join(format!("{class}{id}.json"));
        let mut at = file.symlink_metadata().ok()?.modified().ok()?;
        if at.duration_since(self.now).is_ok_and(|ahead| ahead > RECENT_FOR) {
            // The clock was put back since: the wait begins anew, and does end.
            at = self.now;
            let _ = fs::open_or_create(&file, false).and_then(|file| file.set_modified(at));
        }
        let journal: Journal = serde_json::from_slice(&self.disk.read(&file).ok()?).ok()?;
        let named = |step: &Step| {
            let note = PathBuf::from(step.target());
            Some((own_name(Path::new(step.temp()?)), (note, step.versions().collect())))
        };
        Some(Record { at, files: journal.steps.iter().filter_map(named).collect() })
    }

    fn look(&mut self, class: &str, name: &str, record: Option<&Record>, grace: Duration) -> io::Result<Fate> {
        let file = self.folder.join(format!("{class}{name}"));
        let found = file.symlink_metadata()?;
        let written = found.modified()?;
        let since = record.map_or(written, |record| record.at);
        let is_due = self.now.duration_since(since).is_ok_and(|age| age >= grace);
        // A file that was written after the plan was made is looked into at once. The look at the
        // end needs no such sign, so that a clock that was put back hides nothing.
        if !is_due && (record.is_none() || written < since) {
            return Ok(Fate::Waits);
        }
        let known = record.and_then(|record| record.files.get(name));
        if is_due && known.is_some() && self.is_open(&found) {
            return Ok(Fate::Waits);
        }
        let note = known.map_or(Path::new("unknown"), |(note, _)| note);
        let is_ours = found.is_file()
            && known.is_some_and(|(_, versions)| {
                self.disk.read(&file).is_ok_and(|bytes| versions.contains(&Version::of(&bytes)))
            });
        if !is_ours {
            let to = self.folder.join(kept_name(Path::new(name), note));
            return self.disk.rename_new(&file, &to).map(|()| Fate::Recovered(to));
        }
        if is_due { self.disk.remove(&file).map(|()| Fate::Gone) } else { Ok(Fate::Waits) }
    }

    fn is_open(&mut self, file: &std_fs::Metadata) -> bool {
        file_id(file).is_some_and(|id| self.open.get_or_insert_with(open_for_writing).contains(&id))
    }
}

/// Device and inode.
type FileId = (u64, u64);

#[cfg(unix)]
fn file_id(file: &std_fs::Metadata) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn file_id(_: &std_fs::Metadata) -> Option<FileId> {
    None
}

/// The files that any process that we may look at has open for writing.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_for_writing() -> BTreeSet<FileId> {
    let list = |path: PathBuf| std_fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    let is_number = |entry: &std_fs::DirEntry| entry.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit());
    let mut open = BTreeSet::new();
    for process in list(PathBuf::from("/proc")).filter(is_number) {
        for handle in list(process.path().join("fd")) {
            let Some(file) = std_fs::metadata(handle.path()).ok().filter(std_fs::Metadata::is_file) else {
                continue;
            };
            let info = process.path().join("fdinfo").join(handle.file_name());
            let info = std_fs::read_to_string(info).unwrap_or_default();
            // Octal; the last two bits are 0 for a handle that only reads. What can't be read counts
            // as one that writes.
            let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).map(str::trim);
            let only_reads = flags.and_then(|f| u32::from_str_radix(f, 8).ok()).is_some_and(|flags| flags & 3 == 0);
            if !only_reads {
                open.extend(file_id(&file));
            }
        }
    }
    open
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn open_for_writing() -> BTreeSet<FileId> {
    BTreeSet::new()
}

#[expect(
    clippy::disallowed_methods,
    reason = "compared with file times of the same machine; decides only how long a copy waits"
)]
fn now() -> SystemTime {
    SystemTime::now()
}
