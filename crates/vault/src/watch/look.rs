//! Looking: which paths can be looked at alone, and which mean that everything must be.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, FileType};
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use crate::fold;
use crate::path::NotePath;
use crate::problem::ProblemKind;
use crate::snapshot::Snapshot;
use crate::walk;

/// What has to be done about some paths.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Look at the whole vault.
    pub(crate) everything: bool,
    /// These are folders: hear them.
    pub(crate) folders: Vec<PathBuf>,
    /// Look at these files.
    pub(crate) files: BTreeSet<NotePath>,
}

/// Plans the look at `paths` below the real `root`. Costs a look at each of them and at each symlink,
/// and reads nothing.
pub(crate) fn plan(root: &Path, snapshot: &Snapshot, paths: &BTreeSet<NotePath>) -> Plan {
    let troubled = troubled(root, snapshot);
    let twins = twins(paths);
    let mut plan = Plan::default();
    for path in paths {
        let file = root.join(path.as_disk());
        plan.everything |= twins.contains(path.as_str()) || troubled.contains(path.as_str());
        plan.everything |= respelled(snapshot, path);
        match fs::symlink_metadata(&file).map(|found| found.file_type()) {
            Ok(kind) if kind.is_dir() => {
                plan.everything = true;
                plan.folders.push(file);
            }
            Ok(kind) => plan.everything |= is_odd(root, snapshot, path, kind),
            Err(error) if is_absent(&error) => {
                if !snapshot.exists(path) {
                    plan.everything |= held(snapshot, path);
                    continue;
                }
            }
            Err(_) => plan.everything = true,
        }
        plan.files.insert(path.clone());
    }
    plan
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether something that is no folder can't be looked at alone: a symlink has a problem of its
/// own, and what lies behind one is not the vault's.
fn is_odd(root: &Path, snapshot: &Snapshot, path: &NotePath, kind: FileType) -> bool {
    kind.is_symlink() || (kind.is_file() && walk::look(root, path).is_none() && !snapshot.exists(path))
}

/// Whether the snapshot has, or the path has, another spelling of the name: which of the two is
/// read is decided by listing.
fn respelled(snapshot: &Snapshot, path: &NotePath) -> bool {
    path.as_disk() != path.as_str()
        || snapshot.spelled(path).is_some_and(|spelled| spelled.as_disk() != spelled.as_str())
}

/// Whether the snapshot has files below `folder`.
fn held(snapshot: &Snapshot, folder: &NotePath) -> bool {
    let inside = format!("{folder}/");
    let after = (Bound::Excluded(inside.as_str()), Bound::Unbounded);
    let starts = |path: Option<&NotePath>| path.is_some_and(|path| path.as_str().starts_with(&inside));
    starts(snapshot.notes.range::<_, str>(after).next().map(|(path, _)| path))
        || starts(snapshot.files.range::<_, str>(after).next().map(|(path, _)| path))
}

/// The paths that the walk had something to say of, the folders that these lie in, and what symlinks
/// lead to, since a link's problem says whether there is something.
fn troubled(root: &Path, snapshot: &Snapshot) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for (shown, problems) in snapshot.walk_problems.iter() {
        if problems.iter().any(|problem| problem.kind == ProblemKind::Symlink) {
            out.extend(target(root, &root.join(shown)).map(|target| target.as_str().to_owned()));
        }
        let path: String = shown.nfc().collect();
        out.extend(path.match_indices('/').filter_map(|(at, _)| path.get(..at)).map(str::to_owned));
        out.insert(path);
    }
    out
}

/// The path in the vault that a symlink leads to, whether something is there or not.
fn target(root: &Path, link: &Path) -> Option<NotePath> {
    let named = link.parent()?.join(fs::read_link(link).ok()?);
    let real = named.parent()?.canonicalize().ok()?.join(named.file_name()?);
    walk::to_note_path(real.strip_prefix(root).ok()?).ok()
}

/// Paths that differ from another of them by case alone: on some disks they are one file, and only
/// a listing tells how it is spelled.
fn twins(paths: &BTreeSet<NotePath>) -> BTreeSet<&str> {
    let mut folded: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for path in paths {
        folded.entry(fold::name(path.as_str())).or_default().push(path.as_str());
    }
    folded.into_values().filter(|same| same.len() > 1).flatten().collect()
}
