//! One commit at work: prepare, move into place, or take back.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{FORMAT, Failure, Journal, Step, TEMP_PREFIX, Work};
use crate::fs::Disk;
use crate::version::Version;

/// One commit at work below `root`.
pub(crate) struct Run<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) root: &'a Path,
    pub(super) id: String,
    /// Whether the journal itself must survive a power cut. One exchange is atomic without it.
    pub(super) durable: bool,
}

/// A result with the path that it is about.
pub(super) type Io<T> = Result<T, (PathBuf, io::Error)>;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum There {
    Nothing,
    /// A file with content of this version.
    Text(Version),
    /// A folder, a link, a pipe: nothing that a plan was ever made from.
    Other,
}

impl<'a> Run<'a> {
    pub(crate) fn new(disk: &'a dyn Disk, root: &'a Path, steps: usize) -> Self {
        Self { disk, root, id: fresh_id(), durable: steps > 1 }
    }

    /// The temporary file of the `n`-th step on `target`.
    pub(crate) fn temp_for(&self, target: &str, n: usize) -> String {
        let folder = target.rfind('/').map_or("", |slash| target.get(..=slash).unwrap_or(""));
        format!("{folder}{TEMP_PREFIX}{}-{n}", self.id)
    }

    /// Does all steps or none. Returns where displaced bytes were kept, for a file system without
    /// atomic exchange.
    pub(crate) fn perform(&self, work: &[Work]) -> Result<Vec<PathBuf>, Failure> {
        let steps: Vec<Step> = work.iter().map(|w| w.step.clone()).collect();
        let folders = self.missing_folders(&steps);
        if let Err((path, error)) = self.prepare(&steps, work, &folders) {
            self.abandon(&steps, &folders);
            return Err(Failure::Io(path, error));
        }
        let mut emulated = false;
        for (n, step) in steps.iter().enumerate() {
            let done = self.forward(step, &mut emulated);
            if !matches!(done, Ok(true)) {
                self.take_back(&steps, n + 1, &folders);
                return Err(match done {
                    Err((path, error)) => Failure::Io(path, error),
                    Ok(_) => Failure::Moved(n),
                });
            }
        }
        if let Err((path, error)) = self.sync_targets(&steps).and_then(|()| self.phase("apply", "done")) {
            self.take_back(&steps, steps.len(), &folders);
            return Err(Failure::Io(path, error));
        }
        // That rename was the commit: nothing that fails from here on undoes it, and what is left
        // over is cleared at the next open.
        let _ = self.sync_journal();
        Ok(self.put_by(&steps, "done", emulated).unwrap_or_default())
    }

    fn prepare(&self, steps: &[Step], work: &[Work], folders: &[String]) -> Io<()> {
        self.make_folders(&self.folder())?;
        let journal = Journal { version: FORMAT, steps: steps.to_vec(), folders: folders.to_vec() };
        let bytes = serde_json::to_vec(&journal).map_err(|e| (self.file("plan"), e.into()))?;
        self.on(&self.file("plan"), |disk, path| disk.write_new(path, &bytes, self.durable))?;
        self.sync_journal()?;
        for Work { step, content } in work {
            let target = self.root.join(step.target());
            self.make_folders(target.parent().unwrap_or(self.root))?;
            let Some(temp) = step.temp().map(|temp| self.root.join(temp)) else { continue };
            // What fails is told of the note, not of a name that nobody knows.
            self.on(&target, |disk, target| match step {
                Step::Replace { .. } => disk.write_like(&temp, content.as_bytes(), true, target),
                _ => disk.write_new(&temp, content.as_bytes(), true),
            })?;
        }
        self.phase("plan", "apply")?;
        self.sync_journal()
    }

    /// Undoes a commit that failed in its `reached`-th step. Where even that fails, the journal
    /// stays for the next open.
    fn take_back(&self, steps: &[Step], reached: usize, folders: &[String]) {
        let undone = self.back(steps.get(..reached).unwrap_or(steps), false).and_then(|kept| {
            for path in kept {
                tracing::warn!(path = %path.display(), "two edits met; the older one is kept here");
            }
            self.put_by(steps, "apply", false)
        });
        match undone {
            Ok(_) => self.drop_folders(folders),
            Err((path, error)) => tracing::warn!(path = %path.display(), %error, "left to the next open"),
        }
    }

    /// Moves one step into place; `false` when what it displaced was not what it expected.
    fn forward(&self, step: &Step, emulated: &mut bool) -> Io<bool> {
        let target = self.root.join(step.target());
        match step {
            Step::Create { temp, .. } => self.take_name(&self.root.join(temp), &target),
            Step::Replace { temp, expected, .. } => {
                let temp = self.root.join(temp);
                if self.there(&target)? != There::Text(*expected) {
                    return Ok(false);
                }
                match self.exchange(&temp, &target) {
                    Ok(atomic) => *emulated |= !atomic,
                    Err((_, error)) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                    Err(error) => return Err(error),
                }
                Ok(self.there(&temp)? == There::Text(*expected))
            }
            Step::Rename { from, expected, via, .. } => {
                let from = self.root.join(from);
                if self.there(&from)? != There::Text(*expected) {
                    return Ok(false);
                }
                let taken = match via {
                    Some(via) if self.disk.is_same_file(&from, &target) => {
                        self.respell(&from, &target, &self.root.join(via))?
                    }
                    _ => self.take_name(&from, &target)?,
                };
                Ok(taken && self.there(&target)? == There::Text(*expected))
            }
        }
    }

    /// Another spelling for a file where case is ignored: in one step where the system can.
    pub(super) fn respell(&self, from: &Path, target: &Path, via: &Path) -> Io<bool> {
        self.on(target, |disk, to| disk.rename_over(from, to))?;
        if self.disk.is_spelled(target) {
            return Ok(!self.disk.is_spelled(from));
        }
        Ok(self.take_name(from, via)? && self.take_name(via, target)?)
    }

    /// Exchanges two names; `false` where it was not one atomic step. There the old file first gets
    /// a second name, so that what is written into it in between is not lost with the first; a file
    /// system without such names has a copy made.
    pub(super) fn exchange(&self, temp: &Path, target: &Path) -> Io<bool> {
        match self.disk.exchange(temp, target) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            done => return done.map(|()| true).map_err(|error| (target.to_path_buf(), error)),
        }
        let copy = emulated_copy(temp);
        match self.disk.link(target, &copy) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err((target.to_path_buf(), error)),
            Err(_) => {
                let old = self.on(target, |disk, path| disk.read(path))?;
                let written = self.on(target, |disk, target| disk.write_like(&copy, &old, true, target));
                written.inspect_err(|_| drop(self.disk.remove(&copy)))?;
                if self.there(target)? != There::Text(Version::of(&old)) {
                    self.on(&copy, |disk, path| disk.remove(path))?;
                    return Err((target.to_path_buf(), io::ErrorKind::NotFound.into()));
                }
            }
        }
        // Where one of these says no, both copies stay: it may have happened all the same.
        self.on(target, |disk, to| disk.rename_over(temp, to))?;
        self.on(temp, |disk, to| disk.rename_over(&copy, to))?;
        Ok(false)
    }

    /// Removes all temporary files and the folders that were made for them, then the journal; leaves
    /// the journal when that fails. For a commit of which nothing was ever in place.
    fn abandon(&self, steps: &[Step], folders: &[String]) {
        let temps = steps.iter().filter_map(Step::temp);
        let left = temps.map(|temp| gone(self.disk.remove(&self.root.join(temp)))).filter(Result::is_err).count();
        if left == 0 {
            self.drop_folders(folders);
            let _ = self.disk.remove(&self.file("plan"));
            let _ = self.disk.remove(&self.file("apply"));
        }
    }

    /// Moves `temp` to `.dormouse/displaced/`, for a person to see.
    pub(super) fn keep(&self, temp: &Path, note: &Path) -> Io<PathBuf> {
        let folder = self.displaced();
        self.make_folders(&folder)?;
        let to = folder.join(kept_name(temp, note));
        self.on(&to, |disk, to| match disk.rename_over(temp, to) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                disk.write_new(to, &disk.read(temp)?, true).and_then(|()| disk.remove(temp))
            }
            done => done,
        })?;
        Ok(to)
    }

    pub(super) fn take_name(&self, from: &Path, to: &Path) -> Io<bool> {
        match self.disk.rename_new(from, to) {
            Ok(()) => Ok(true),
            Err(e) if matches!(e.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => Ok(false),
            Err(error) => Err((to.to_path_buf(), error)),
        }
    }

    pub(super) fn there(&self, path: &Path) -> Io<There> {
        match self.disk.read(path) {
            Ok(bytes) => Ok(There::Text(Version::of(&bytes))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(There::Nothing),
            Err(_) if path.symlink_metadata().is_ok_and(|found| !found.is_file()) => Ok(There::Other),
            Err(error) => Err((path.to_path_buf(), error)),
        }
    }

    pub(super) fn sync_targets(&self, steps: &[Step]) -> Io<()> {
        let mut folders: Vec<PathBuf> = steps
            .iter()
            .flat_map(Step::names)
            .filter_map(|p| Some(self.root.join(p).parent()?.to_path_buf()))
            .collect();
        folders.sort();
        folders.dedup();
        folders.iter().filter(|f| f.is_dir()).try_for_each(|f| self.on(f, |disk, path| disk.sync_folder(path)))
    }

    /// The folders of the targets that are not there, outer ones first.
    fn missing_folders(&self, steps: &[Step]) -> Vec<String> {
        let mut missing: Vec<String> = Vec::new();
        for (at, _) in steps.iter().flat_map(|step| step.target().match_indices('/').map(move |(n, s)| ((step, n), s)))
        {
            let (step, n) = at;
            let folder = step.target().get(..n).unwrap_or_default();
            if !missing.iter().any(|have| have == folder) && self.root.join(folder).symlink_metadata().is_err() {
                missing.push(folder.to_owned());
            }
        }
        missing
    }

    /// Takes away folders that were made for a commit that is no more; one that is in use stays.
    pub(super) fn drop_folders(&self, folders: &[String]) {
        for folder in folders.iter().rev() {
            let _ = self.disk.remove_folder(&self.root.join(folder));
        }
    }

    pub(super) fn make_folders(&self, folder: &Path) -> Io<()> {
        if folder.is_dir() { Ok(()) } else { self.on(folder, |disk, path| disk.make_folders(path)) }
    }

    fn phase(&self, from: &str, to: &str) -> Io<()> {
        self.on(&self.file(to), |disk, path| disk.rename_over(&self.file(from), path))
    }

    fn sync_journal(&self) -> Io<()> {
        if self.durable { self.on(&self.folder(), |disk, path| disk.sync_folder(path)) } else { Ok(()) }
    }

    pub(super) fn on<T>(&self, path: &Path, act: impl FnOnce(&dyn Disk, &Path) -> io::Result<T>) -> Io<T> {
        act(self.disk, path).map_err(|error| (path.to_path_buf(), error))
    }

    fn folder(&self) -> PathBuf {
        self.root.join(".dormouse/journal")
    }

    pub(super) fn displaced(&self) -> PathBuf {
        self.root.join(super::displaced::FOLDER)
    }

    pub(super) fn file(&self, phase: &str) -> PathBuf {
        self.folder().join(format!("{}.{phase}", self.id))
    }
}

/// The id of a commit: process, time and a counter, so that no two of a vault ever have the same.
#[expect(clippy::disallowed_methods, reason = "tells apart processes that had the same number; never stored or shown")]
fn fresh_id() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{}-{nanos:x}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// `<id>-<n>-<name of the note>`, no longer than a name may be.
pub(super) fn kept_name(temp: &Path, note: &Path) -> String {
    let name = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let (id, mut note) = (name(temp), name(note));
    let id = id.trim_start_matches(TEMP_PREFIX);
    while id.len() + 1 + note.len() > 255 && !note.is_empty() {
        note.remove(0);
    }
    format!("{id}-{note}")
}

/// Where the old file gets its second name before an exchange that is emulated.
pub(super) fn emulated_copy(temp: &Path) -> PathBuf {
    temp.with_extension("old")
}

/// A file that is not there any more is as good as removed.
pub(super) fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
