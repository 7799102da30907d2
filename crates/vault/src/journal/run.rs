//! One commit at work: prepare, move into place, or take back.

use std::io;
use std::path::{Path, PathBuf};

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

impl<'a> Run<'a> {
    pub(crate) fn new(disk: &'a dyn Disk, root: &'a Path, steps: usize) -> Self {
        Self { disk, root, id: fresh_id(root), durable: steps > 1 }
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
        let prepared = self.prepare(&steps, work);
        if let Err((path, error)) = prepared {
            self.abandon(&steps);
            return Err(Failure::Io(path, error));
        }
        let mut emulated = false;
        for (n, step) in steps.iter().enumerate() {
            let done = self.forward(step, &mut emulated);
            if !matches!(done, Ok(true)) {
                self.take_back(&steps);
                return Err(match done {
                    Err((path, error)) => Failure::Io(path, error),
                    Ok(_) => Failure::Moved(n),
                });
            }
        }
        if let Err((path, error)) = self.sync_targets(&steps).and_then(|()| self.phase("apply", "done")) {
            self.take_back(&steps);
            return Err(Failure::Io(path, error));
        }
        // That rename was the commit: nothing that fails from here on undoes it.
        let _ = self.sync_journal();
        Ok(self.clear(&steps, emulated))
    }

    fn prepare(&self, steps: &[Step], work: &[Work]) -> Io<()> {
        self.make_folders(&self.folder())?;
        let journal = Journal { version: FORMAT, steps: steps.to_vec() };
        let bytes = serde_json::to_vec(&journal).map_err(|e| (self.file("plan"), e.into()))?;
        self.on(&self.file("plan"), |disk, path| disk.write_new(path, &bytes, self.durable))?;
        self.sync_journal()?;
        for Work { step, content } in work {
            let target = self.root.join(step.target());
            self.make_folders(target.parent().unwrap_or(self.root))?;
            let Some(temp) = step.temp() else { continue };
            self.on(&self.root.join(temp), |disk, path| disk.write_new(path, content.as_bytes(), true))?;
            if matches!(step, Step::Replace { .. }) {
                // A file system without permissions is no reason not to write.
                let _ = self.disk.copy_mode(&target, &self.root.join(temp));
            }
        }
        self.phase("plan", "apply")?;
        self.sync_journal()
    }

    /// Undoes a commit that failed. Where even that fails, the journal stays for the next open.
    fn take_back(&self, steps: &[Step]) {
        match self.back(steps) {
            Ok(kept) => {
                for path in kept {
                    tracing::warn!(path = %path.display(), "two edits met; the older one is kept here");
                }
                self.abandon(steps);
            }
            Err((path, error)) => {
                tracing::warn!(path = %path.display(), %error, "left to the next open")
            }
        }
    }

    /// Moves one step into place; `false` when what it displaced was not what it expected.
    fn forward(&self, step: &Step, emulated: &mut bool) -> Io<bool> {
        let target = self.root.join(step.target());
        match step {
            Step::Create { temp, .. } => self.take_name(&self.root.join(temp), &target),
            Step::Replace { temp, expected, .. } => {
                let temp = self.root.join(temp);
                if self.version(&target)? != Some(*expected) {
                    return Ok(false);
                }
                match self.disk.exchange(&temp, &target) {
                    Ok(()) => Ok(self.version(&temp)? == Some(*expected)),
                    Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                        *emulated = true;
                        self.emulate_exchange(&temp, &target, *expected)
                    }
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                    Err(error) => Err((target, error)),
                }
            }
            Step::Rename { from, expected, .. } => {
                let from = self.root.join(from);
                if self.version(&from)? != Some(*expected) {
                    return Ok(false);
                }
                Ok(self.take_name(&from, &target)? && self.version(&target)? == Some(*expected))
            }
        }
    }

    /// Takes back every step that is in place. An edit that somebody made on top stays; what it
    /// hides is kept under `.dormouse/displaced/` and named in the answer.
    pub(super) fn back(&self, steps: &[Step]) -> Io<Vec<PathBuf>> {
        let mut kept = Vec::new();
        for step in steps.iter().rev() {
            let target = self.root.join(step.target());
            match step {
                Step::Create { temp, new, .. } => {
                    let temp = self.root.join(temp);
                    let in_place = self.version(&temp)?.is_none() && self.version(&target)? == Some(*new);
                    if in_place && self.take_name(&target, &temp)? && self.version(&temp)? != Some(*new) {
                        // Edited in this very moment: it stays.
                        self.take_name(&temp, &target)?;
                    }
                }
                Step::Replace { temp, expected, new, .. } => {
                    let temp = self.root.join(temp);
                    self.mend_emulated(&temp)?;
                    kept.extend(self.exchange_back(&temp, &target, *expected, *new)?);
                }
                Step::Rename { from, .. } => {
                    let from = self.root.join(from);
                    if self.version(&from)?.is_none() && self.version(&target)?.is_some() {
                        self.take_name(&target, &from)?;
                    }
                }
            }
        }
        self.sync_targets(steps)?;
        Ok(kept)
    }

    /// `temp` holds the new bytes when the exchange has not happened, the displaced ones when it has.
    fn exchange_back(&self, temp: &Path, target: &Path, expected: Version, new: Version) -> Io<Option<PathBuf>> {
        let displaced = self.version(temp)?;
        let Some(displaced) = displaced.filter(|v| *v != new) else {
            return Ok(None);
        };
        if self.version(target)? == Some(new) {
            match self.disk.exchange(temp, target) {
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                    return self.on(target, |disk, to| disk.rename_over(temp, to)).map(|()| None);
                }
                done => done.map_err(|error| (target.to_path_buf(), error))?,
            }
            if self.version(temp)? == Some(new) {
                return Ok(None);
            }
            // Edited in this very moment: the newer edit goes back, the older bytes are kept.
            self.on(target, |disk, to| disk.exchange(temp, to))?;
        } else if self.version(target)?.is_none() && displaced != expected {
            return self.take_name(temp, target).map(|_| None);
        }
        self.keep(temp).map(Some)
    }

    /// Where there is no atomic exchange: the same end, with a copy of the old bytes made before.
    fn emulate_exchange(&self, temp: &Path, target: &Path, expected: Version) -> Io<bool> {
        let old = self.on(target, |disk, path| disk.read(path))?;
        let copy = emulated_copy(temp);
        self.on(&copy, |disk, path| disk.write_new(path, &old, true))?;
        if Version::of(&old) != expected || self.version(target)? != Some(expected) {
            self.on(&copy, |disk, path| disk.remove(path))?;
            return Ok(false);
        }
        self.on(target, |disk, to| disk.rename_over(temp, to))?;
        self.on(temp, |disk, to| disk.rename_over(&copy, to))?;
        Ok(true)
    }

    /// Finishes or undoes what a crash inside [`Run::emulate_exchange`] left.
    fn mend_emulated(&self, temp: &Path) -> Io<()> {
        let copy = emulated_copy(temp);
        if self.version(&copy)?.is_none() {
            return Ok(());
        }
        if self.version(temp)?.is_some() {
            self.on(&copy, |disk, path| disk.remove(path))
        } else {
            self.on(temp, |disk, to| disk.rename_over(&copy, to))
        }
    }

    /// Removes the temporary files and the journal of a commit that is done. Nothing here can fail
    /// it any more: what is left over is cleared at the next open.
    fn clear(&self, steps: &[Step], emulated: bool) -> Vec<PathBuf> {
        let mut kept = Vec::new();
        let mut clean = true;
        for step in steps {
            let (Step::Replace { .. }, Some(temp)) = (step, step.temp()) else {
                continue;
            };
            let temp = self.root.join(temp);
            if !emulated {
                clean &= gone(self.disk.remove(&temp)).is_ok();
            } else if let Ok(path) = self.keep(&temp) {
                kept.push(path);
            } else {
                clean = false;
            }
        }
        if clean {
            let _ = self.disk.remove(&self.file("done"));
        }
        kept
    }

    /// Removes all temporary files, then the journal; leaves the journal when that fails.
    fn abandon(&self, steps: &[Step]) {
        let temps = steps.iter().filter_map(Step::temp);
        let removed = temps.map(|temp| gone(self.disk.remove(&self.root.join(temp)))).filter(Result::is_err).count();
        if removed == 0 {
            let _ = self.disk.remove(&self.file("plan"));
            let _ = self.disk.remove(&self.file("apply"));
        }
    }

    /// Moves `temp` to `.dormouse/displaced/`.
    fn keep(&self, temp: &Path) -> Io<PathBuf> {
        let folder = self.root.join(".dormouse/displaced");
        self.make_folders(&folder)?;
        let name = temp.file_name().and_then(|n| n.to_str()).unwrap_or("bytes").trim_start_matches(TEMP_PREFIX);
        let to = folder.join(name);
        self.on(&to, |disk, to| disk.rename_over(temp, to))?;
        Ok(to)
    }

    fn take_name(&self, from: &Path, to: &Path) -> Io<bool> {
        match self.disk.rename_new(from, to) {
            Ok(()) => Ok(true),
            Err(e) if matches!(e.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => Ok(false),
            Err(error) => Err((to.to_path_buf(), error)),
        }
    }

    fn version(&self, path: &Path) -> Io<Option<Version>> {
        match self.disk.read(path) {
            Ok(bytes) => Ok(Some(Version::of(&bytes))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err((path.to_path_buf(), error)),
        }
    }

    fn sync_targets(&self, steps: &[Step]) -> Io<()> {
        let mut folders: Vec<PathBuf> = steps
            .iter()
            .flat_map(Step::names)
            .filter_map(|p| Some(self.root.join(p).parent()?.to_path_buf()))
            .collect();
        folders.sort();
        folders.dedup();
        folders.iter().filter(|f| f.is_dir()).try_for_each(|f| self.on(f, |disk, path| disk.sync_folder(path)))
    }

    fn make_folders(&self, folder: &Path) -> Io<()> {
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

    pub(super) fn file(&self, phase: &str) -> PathBuf {
        self.folder().join(format!("{}.{phase}", self.id))
    }
}

/// A name that no commit of this vault has now: process id and a counter. Ids order by age within
/// a process, and under the lock there is one process at a time.
fn fresh_id(root: &Path) -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let id = format!("{}-{:06}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let taken = |folder: &str| {
            let names = std::fs::read_dir(root.join(folder)).into_iter().flatten();
            names.filter_map(Result::ok).any(|entry| entry.file_name().to_string_lossy().starts_with(&id))
        };
        if !taken(".dormouse/journal") && !taken(".dormouse/displaced") {
            return id;
        }
    }
}

/// Where the old bytes are copied to before an exchange that is emulated.
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
