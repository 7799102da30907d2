//! The journal: several files change together or not at all, whenever the process dies.
//!
//! A commit writes down its steps, puts the new contents in temporary files beside their targets,
//! and only then moves them into place. The journal's file name is the phase, and changing it is
//! one rename: `<id>.plan` (nothing is in place), `<id>.apply` (anything may be), `<id>.done` (all
//! is). Whoever finds a journal whose writer is gone takes a plan away, takes an apply back, and
//! clears up after a done.

mod back;
mod displaced;
mod run;

pub(crate) use run::Run;

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::capability;
use crate::error::{CommitError, VaultError};
use crate::fs::{self, Disk, OsDisk};
use crate::lock;
use crate::path::NotePath;
use crate::problem::{Problem, ProblemKind};
use crate::version::Version;
use run::{Io, gone};

/// What every temporary file's name starts with: a dot-file is never a note.
pub(crate) const TEMP_PREFIX: &str = ".dormouse-tmp-";
const FORMAT: u32 = 1;

/// One step of a commit. Paths are relative to the vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Step {
    /// `temp` becomes the new file `target`.
    Create { target: String, temp: String, new: Version },
    /// `temp` and `target` exchange their names.
    Replace { target: String, temp: String, expected: Version, new: Version },
    /// `from` gets the free name `target`. Two spellings that one file system may take for the same
    /// name go by way of `via`.
    Rename {
        from: String,
        target: String,
        expected: Version,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        via: Option<String>,
    },
}

/// A step with the content that its temporary file gets.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) step: Step,
    pub(crate) content: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Journal {
    version: u32,
    steps: Vec<Step>,
    /// The folders that the commit makes, outer ones first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    folders: Vec<String>,
}

/// Why the steps were not done. They have been taken back.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The ground of the step with this index moved.
    Moved(usize),
    Io(PathBuf, io::Error),
}

/// What taking a half-done commit back, or finishing it, has touched.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    pub(crate) problems: Vec<Problem>,
    pub(crate) touched: Vec<NotePath>,
    /// Where bytes are that another program wrote into a file after it was replaced.
    pub(crate) recovered: Vec<PathBuf>,
}

impl Step {
    fn target(&self) -> &str {
        match self {
            Self::Create { target, .. } | Self::Replace { target, .. } | Self::Rename { target, .. } => target,
        }
    }

    fn temp(&self) -> Option<&str> {
        match self {
            Self::Create { temp, .. } | Self::Replace { temp, .. } => Some(temp),
            Self::Rename { .. } => None,
        }
    }

    /// The names of ours that the step may leave.
    fn own(&self) -> Option<&str> {
        if let Self::Rename { via, .. } = self { via.as_deref() } else { self.temp() }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let from = if let Self::Rename { from, .. } = self { Some(from.as_str()) } else { None };
        from.into_iter().chain([self.target()])
    }

    /// The versions that the step itself knows: any other content is somebody else's.
    fn versions(&self) -> impl Iterator<Item = Version> {
        let (first, second) = match self {
            Self::Create { new, .. } => (*new, None),
            Self::Replace { expected, new, .. } => (*new, Some(*expected)),
            Self::Rename { expected, .. } => (*expected, None),
        };
        second.into_iter().chain([first])
    }
}

/// Settles what a writer that died has left, unless another is writing now; then tells what waits
/// for a person in `.dormouse/displaced/`. Does nothing, and makes no folder, in a vault that has
/// neither.
///
/// # Errors
/// The disk. The journal is then still there, for the next try.
pub(crate) fn settle(root: &Path) -> Result<Vec<Problem>, VaultError> {
    let root = root.canonicalize().map_err(|source| VaultError::Io { path: root.to_path_buf(), source })?;
    let cache = root.join(".dormouse");
    if cache.is_symlink() {
        return Ok(vec![cache_problem(format!(
            "{}: a symbolic link; nothing is written to this vault until a folder of its own is there",
            cache.display()
        ))]);
    }
    let found = journals(&root).map_err(|(path, source)| VaultError::io(path, source))?;
    let mut problems = Vec::new();
    if !found.is_empty() || displaced::is_waiting(&root) {
        let settled = lock::if_free(&root, || {
            let mut settled = settle_held(&OsDisk, &root)?;
            settled.recovered.extend(displaced::sweep(&OsDisk, &root));
            Ok::<_, CommitError>(settled)
        })?;
        problems.extend(settled.transpose()?.unwrap_or_default().problems);
    }
    problems.extend(displaced::report(&root));
    Ok(problems)
}

/// [`settle`] for whoever holds the writer's lock.
pub(crate) fn settle_held(disk: &dyn Disk, root: &Path) -> Result<Settled, CommitError> {
    let mut settled = Settled::default();
    let failed = |(path, source)| CommitError::Io { path, source };
    for (id, phase) in journals(root).map_err(failed)? {
        settle_one(&Run { disk, root, id, durable: true }, &phase, &mut settled).map_err(failed)?;
    }
    settled.recovered = displaced::sweep_when_due(disk, root);
    settled.touched.sort();
    settled.touched.dedup();
    Ok(settled)
}

fn settle_one(run: &Run<'_>, phase: &str, settled: &mut Settled) -> Io<()> {
    let file = run.file(phase);
    let bytes = run.on(&file, |disk, path| disk.read(path))?;
    let journal =
        serde_json::from_slice::<Journal>(&bytes).ok().filter(|j| j.version == FORMAT && j.is_inside(run.root));
    let Some(journal) = journal else {
        if phase == "plan" {
            // It was cut off before it named the first file that it would have made.
            return run.on(&file, |disk, path| disk.remove(path));
        }
        settled.problems.push(cache_problem(format!(
            "{}: this journal can't be read and is set aside; compare the last notes that were written",
            file.display()
        )));
        let aside = file.with_extension("unreadable");
        return run.on(&aside, |disk, to| disk.rename_over(&file, to));
    };
    match phase {
        "plan" => {
            for temp in journal.steps.iter().filter_map(Step::temp).map(|t| run.root.join(t)) {
                gone(run.disk.remove(&temp)).map_err(|error| (temp, error))?;
            }
            run.drop_folders(&journal.folders);
            run.on(&file, |disk, path| disk.remove(path))
        }
        "apply" => {
            for path in run.back(&journal.steps, true)? {
                tracing::warn!(path = %path.display(), "a note was edited after a commit was cut off; the edit stands, the older text is kept here");
            }
            settled.touched.extend(journal.steps.iter().flat_map(Step::names).filter_map(|p| NotePath::new(p).ok()));
            run.put_by(&journal.steps, phase, false)?;
            run.drop_folders(&journal.folders);
            Ok(())
        }
        _ => run.put_by(&journal.steps, phase, false).map(drop),
    }
}

impl Journal {
    /// Whether every step is one that a commit could have written: a journal is a file, and a vault
    /// may come from anybody. Each name lies inside the vault, links followed, in no dot-folder,
    /// and each temporary file lies beside its target.
    fn is_inside(&self, root: &Path) -> bool {
        let is_ours = |name: &str| {
            NotePath::new(name).is_ok_and(|path| !capability::is_hidden(&path))
                && fs::real(root, &root.join(name)).is_some()
        };
        self.folders.iter().all(|folder| is_ours(folder))
            && self.steps.iter().all(|step| {
                let beside = step.own().is_none_or(|temp| {
                    let (folder, name) = temp.rsplit_once('/').unwrap_or(("", temp));
                    let (beside, _) = step.target().rsplit_once('/').unwrap_or(("", ""));
                    folder == beside && name.starts_with(TEMP_PREFIX)
                });
                beside && step.names().all(is_ours)
            })
    }
}

/// The journals of a vault with their phases, oldest first. A missing folder has none; one that
/// can't be listed may hide a half-done commit, so that is an error.
fn journals(root: &Path) -> Io<Vec<(String, String)>> {
    let folder = root.join(".dormouse/journal");
    let listed = match std::fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed.and_then(Iterator::collect::<io::Result<Vec<_>>>),
    };
    let mut found: Vec<(String, String)> = listed
        .map_err(|error| (folder, error))?
        .iter()
        .filter_map(|entry| {
            let name = entry.file_name();
            let (id, phase) = name.to_str()?.split_once('.')?;
            matches!(phase, "plan" | "apply" | "done").then(|| (id.to_owned(), phase.to_owned()))
        })
        .collect();
    found.sort();
    Ok(found)
}

fn cache_problem(message: String) -> Problem {
    Problem { kind: ProblemKind::Cache, line: None, message }
}
