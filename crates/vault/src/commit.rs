//! The door: every change set is checked here, then written under the journal.

use std::path::{Path, PathBuf};

use crate::capability;
use crate::change::{ChangeSet, FileDiff, Writer};
use crate::conserve::{self, Conservation, Part, Scene};
use crate::error::{CommitError, VaultError};
use crate::fs::{self, Disk, OsDisk};
use crate::ground::{self, Touched};
use crate::journal::{self, Failure, Run, Step, Work};
use crate::lock;
use crate::note::LOCKED;
use crate::path::NotePath;
use crate::problem::ProblemKind;
use crate::rename::{self, bears_links};
use crate::set_aside;
use crate::snapshot::Snapshot;
use crate::vault::{Committed, Vault};
use crate::version::Version;

/// How often an append or a put looks again when another program wrote between look and write.
const TRIES: usize = 8;

impl Vault {
    /// What `set` would do, without doing it; every check of [`Vault::commit`] is made. Changes
    /// that would do nothing give no diff.
    ///
    /// # Errors
    /// As [`Vault::commit`], but it takes no lock.
    pub fn preview(&self, set: &ChangeSet) -> Result<Vec<FileDiff>, CommitError> {
        self.admit(set)?;
        let (_, touched) = self.examine(&OsDisk, &self.canonical()?, set)?;
        Ok(touched.iter().filter(|t| !t.is_idle()).map(Touched::to_diff).collect())
    }

    /// Applies `set`: all of it or nothing. Checks, in order: read-only, files named twice,
    /// capabilities and the rule's reach, versions, UTF-8, `locked`, frontmatter, conservation; then writes
    /// under the journal and takes the new snapshot. Waits up to five seconds for another writer.
    /// A change that leaves a file as it is does not touch it. A put over a derived file that this
    /// build can't read, or of another version, first keeps that file's bytes under
    /// `.dormouse/set-aside/<name>-<n>`.
    ///
    /// # Errors
    /// [`CommitError`]; the vault is then as it was.
    pub fn commit(&self, set: &ChangeSet) -> Result<Committed, CommitError> {
        self.commit_on(&OsDisk, set)
    }

    /// [`Vault::commit`] through another [`Disk`]: for tests that break it.
    ///
    /// # Errors
    /// As [`Vault::commit`]. Where the disk fails for good, the next commit or open takes back
    /// what is half done.
    pub fn commit_on(&self, disk: &dyn Disk, set: &ChangeSet) -> Result<Committed, CommitError> {
        self.admit(set)?;
        let root = self.canonical()?;
        if set.is_empty() {
            return Ok(Committed { written: Vec::new(), snapshot: self.snapshot(), displaced: Vec::new() });
        }
        lock::with_writer(&root, lock::PATIENCE, || self.commit_held(disk, &root, set))
    }

    fn commit_held(&self, disk: &dyn Disk, root: &Path, set: &ChangeSet) -> Result<Committed, CommitError> {
        let settled = journal::settle_held(disk, root)?;
        if !settled.touched.is_empty() {
            self.take_in(&settled.touched).map_err(disk_error)?;
        }
        let mut tries = 1;
        loop {
            let (now, touched) = self.examine(disk, root, set)?;
            let active: Vec<&Touched> = touched.iter().filter(|t| !t.is_idle()).collect();
            if active.is_empty() {
                return Ok(Committed { written: Vec::new(), snapshot: now, displaced: settled.recovered });
            }
            if set.writer == Writer::Meta {
                let kept = active.iter().try_for_each(|put| set_aside::keep(disk, root, put));
                kept.map_err(|(path, source)| io_error(root, path, source))?;
            }
            match write(disk, root, &active) {
                Ok(displaced) => {
                    clear_folders(disk, root, set, &active);
                    let displaced = settled.recovered.into_iter().chain(displaced).collect();
                    return Ok(self.committed(&active, displaced));
                }
                Err((at, Failure::Moved(_))) if at.is_some_and(|t| !t.pinned) && tries < TRIES => tries += 1,
                Err((Some(moved), Failure::Moved(_))) => return Err(conflict(disk, root, moved)),
                Err((_, Failure::Moved(_))) => return Err(CommitError::Locked { what: "commit" }),
                Err((_, Failure::Io(path, source))) => return Err(io_error(root, path, source)),
            }
        }
    }

    /// The checks that need no look at the files.
    fn admit(&self, set: &ChangeSet) -> Result<(), CommitError> {
        if self.is_read_only() {
            return Err(CommitError::ReadOnly { path: self.root().to_path_buf() });
        }
        capability::check(set, self.layout())
    }

    /// The checks that look at the files.
    fn examine(
        &self,
        disk: &dyn Disk,
        root: &Path,
        set: &ChangeSet,
    ) -> Result<(std::sync::Arc<Snapshot>, Vec<Touched>), CommitError> {
        let now = self.snapshot();
        let touched = ground::survey(disk, root, set, self.layout()).map_err(|error| plain(root, error))?;
        let parts: Vec<Part<'_>> = touched.iter().filter(|t| bears_links(&t.path)).map(Part::new).collect();
        parts.iter().try_for_each(|part| unlocked(part, set.writer))?;
        parts.iter().try_for_each(|part| frontmatter(part, set.writer))?;
        let added: Vec<NotePath> =
            touched.iter().filter(|t| t.is_new() || t.from.is_some()).map(|t| t.path.clone()).collect();
        // What goes to the trash is no file of the vault.
        let added: Vec<NotePath> = added.into_iter().filter(|path| !capability::is_hidden(path)).collect();
        let removed: Vec<NotePath> = touched.iter().filter_map(|t| t.from.clone()).collect();
        let after = now.overlaid(&added, &removed);
        let on_disk = |path: &NotePath| fs::locate(root, path).is_file();
        let lost = conserve::check(&Scene { set, parts, now: &now, after: &after, on_disk: &on_disk });
        if lost.is_empty() { Ok((now, touched)) } else { Err(CommitError::Conservation(lost)) }
    }

    fn committed(&self, active: &[&Touched], displaced: Vec<PathBuf>) -> Committed {
        let written = active.iter().map(|t| (t.path.clone(), t.version_after())).collect();
        let paths: Vec<NotePath> = active.iter().flat_map(|t| t.from.iter().chain([&t.path]).cloned()).collect();
        // What is written stays written; a snapshot that can't be taken now is taken by the next refresh.
        let snapshot = self.take_in(&paths).unwrap_or_else(|error| {
            tracing::warn!(%error, "the commit stands; the snapshot could not take it in");
            self.snapshot()
        });
        tracing::debug!(files = active.len(), "committed");
        Committed { written, snapshot, displaced }
    }

    /// The vault's folder without symbolic links: what is beneath it is reached through none.
    pub(crate) fn canonical(&self) -> Result<PathBuf, CommitError> {
        self.root().canonicalize().map_err(|source| CommitError::Io { path: self.root().to_path_buf(), source })
    }
}

/// Writes the files; on failure, the file whose ground moved.
fn write<'t>(
    disk: &dyn Disk,
    root: &Path,
    active: &[&'t Touched],
) -> Result<Vec<PathBuf>, (Option<&'t Touched>, Failure)> {
    let run = Run::new(disk, root, active.len());
    let mut work = Vec::new();
    let mut owners = Vec::new();
    for touched in active {
        for step in steps(touched, &run, work.len()) {
            owners.push(*touched);
            work.push(step);
        }
    }
    run.perform(&work).map_err(|failure| {
        let at = if let Failure::Moved(n) = failure { owners.get(n).copied() } else { None };
        (at, failure)
    })
}

/// Takes away what a renamed folder leaves empty. The commit stands, whatever comes of it.
fn clear_folders(disk: &dyn Disk, root: &Path, set: &ChangeSet, active: &[&Touched]) {
    let Conservation::Retarget { from, to } = &set.rule else {
        return;
    };
    let moved = || active.iter().filter(|touched| touched.from.is_some());
    if moved().all(|touched| touched.from.as_ref() != Some(from)) {
        let lay: Vec<&str> = moved().filter_map(|touched| touched.lay.as_deref()).collect();
        rename::clear(disk, root, (from, to), &lay);
    }
}

fn steps(touched: &Touched, run: &Run<'_>, n: usize) -> Vec<Work> {
    let mut work = Vec::new();
    let place = touched.lay.as_ref().unwrap_or(&touched.lies);
    let expected = touched.before.as_ref().map(|b| b.version);
    let content = touched.after.clone().filter(|after| touched.text_before() != Some(after));
    if let Some(content) = content {
        let (target, temp, new) = (place.clone(), run.temp_for(place, n), Version::of(content.as_bytes()));
        let step = match expected {
            Some(expected) => Step::Replace { target, temp, expected, new },
            None => Step::Create { target, temp, new },
        };
        work.push(Work { step, content });
    }
    if touched.from.is_some() {
        let is_respelled = fs::fold(place) == fs::fold(&touched.lies);
        let via = is_respelled.then(|| run.temp_for(&touched.lies, n + work.len()));
        let step =
            Step::Rename { from: place.clone(), target: touched.lies.clone(), expected: touched.version_after(), via };
        work.push(Work { step, content: String::new() });
    }
    work
}

/// A note that is locked as it stands is written by no stage that writes digests.
fn unlocked(part: &Part<'_>, writer: Writer) -> Result<(), CommitError> {
    let locked = part.old.as_ref().is_some_and(|old| old.frontmatter.is_true(LOCKED));
    if locked && matches!(writer, Writer::Dream | Writer::Split) {
        return Err(CommitError::NoteLocked { writer, path: part.touched.path.clone() });
    }
    Ok(())
}

/// Malformed frontmatter is left as it is, and ours is never malformed.
fn frontmatter(part: &Part<'_>, writer: Writer) -> Result<(), CommitError> {
    let block = |doc: &crate::note::Document| doc.frontmatter.span.clone();
    let refused = |doc: &crate::note::Document| {
        let problem = doc.problems.iter().find(|p| p.kind == ProblemKind::MalformedFrontmatter);
        CommitError::MalformedFrontmatter {
            path: part.touched.path.clone(),
            line: problem.and_then(|p| p.line).unwrap_or(1),
        }
    };
    if let Some(old) = part.old.as_ref().filter(|old| is_malformed(old)) {
        let before = block(old).and_then(|span| part.touched.text_before()?.get(span));
        let after = block(&part.new).and_then(|span| part.touched.text_after().get(span));
        return if before == after { Ok(()) } else { Err(refused(old)) };
    }
    let ours = matches!(writer, Writer::Dream | Writer::Split | Writer::AutoMemory);
    if ours && is_malformed(&part.new) { Err(refused(&part.new)) } else { Ok(()) }
}

fn is_malformed(doc: &crate::note::Document) -> bool {
    doc.problems.iter().any(|p| p.kind == ProblemKind::MalformedFrontmatter)
}

fn conflict(disk: &dyn Disk, root: &Path, moved: &Touched) -> CommitError {
    let path = moved.from.as_ref().unwrap_or(&moved.path);
    let file = root.join(moved.lay.as_ref().unwrap_or(&moved.lies));
    match ground::read(disk, &file, path) {
        Ok(current) => moved.conflict(current, moved.before.as_ref().map(|b| b.version)),
        Err(error) => plain(root, error),
    }
}

fn io_error(root: &Path, path: PathBuf, source: std::io::Error) -> CommitError {
    match CommitError::of_disk(path, source) {
        CommitError::ReadOnly { .. } => CommitError::ReadOnly { path: root.to_path_buf() },
        error => error,
    }
}

/// The error with what the operating system said made plain.
fn plain(root: &Path, error: CommitError) -> CommitError {
    if let CommitError::Io { path, source } = error { io_error(root, path, source) } else { error }
}

fn disk_error(error: VaultError) -> CommitError {
    match error {
        VaultError::Commit(error) => error,
        VaultError::Io { path, source } => CommitError::Io { path, source },
        other => CommitError::Io { path: PathBuf::new(), source: std::io::Error::other(other) },
    }
}
