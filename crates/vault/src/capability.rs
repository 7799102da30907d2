//! Who may write what: the table in [`Writer`], as a check.

use std::collections::BTreeSet;

use crate::change::{Change, ChangeSet, Writer};
use crate::conserve::retarget::renamed;
use crate::conserve::{Conservation, Violation};
use crate::error::CommitError;
use crate::fs;
use crate::layout::{Layer, Layout};
use crate::path::NotePath;
use crate::rename::bears_links;

/// Checks everything that needs no look at the disk: no file named twice, every change within its
/// writer's layer, and a rule that the writer may state.
pub(crate) fn check(set: &ChangeSet, layout: &Layout) -> Result<(), CommitError> {
    named_once(set)?;
    if let Some(change) = set.changes.iter().find(|change| !may(set, change, layout)) {
        return Err(CommitError::Denied { writer: set.writer, path: change.path().clone() });
    }
    let astray: Vec<Violation> = set
        .changes
        .iter()
        .filter(|change| !states_its_rule(set, change))
        .map(|change| Violation::OutOfRule { path: change.path().clone() })
        .collect();
    if astray.is_empty() { Ok(()) } else { Err(CommitError::Conservation(astray)) }
}

/// Whether `writer` may make `change` if it lay at `path`: asked again for a path that is a
/// symbolic link, with the place where the link ends.
pub(crate) fn may_at(set: &ChangeSet, change: &Change, path: &NotePath, layout: &Layout) -> bool {
    let moved = match change.clone() {
        Change::Create { content, .. } => Change::Create { path: path.clone(), content },
        Change::Replace { expected, content, .. } => Change::Replace { path: path.clone(), expected, content },
        Change::Append { header, content, .. } => Change::Append { path: path.clone(), header, content },
        Change::Put { content, .. } => Change::Put { path: path.clone(), content },
        Change::Rename { to, expected, .. } => Change::Rename { from: path.clone(), to, expected },
    };
    may(set, &moved, layout)
}

fn named_once(set: &ChangeSet) -> Result<(), CommitError> {
    let mut seen = BTreeSet::new();
    let mut fresh = BTreeSet::new();
    for change in &set.changes {
        let twice = !seen.insert(change.path())
            || match change {
                Change::Create { path: new, .. } | Change::Rename { to: new, .. } => {
                    !fresh.insert(fs::fold(new.as_str()))
                }
                _ => false,
            };
        if twice {
            return Err(CommitError::NamedTwice { path: change.path().clone() });
        }
    }
    Ok(())
}

fn may(set: &ChangeSet, change: &Change, layout: &Layout) -> bool {
    let path = change.path();
    let layer = layout.layer(path);
    let both = [Some(path), if let Change::Rename { to, .. } = change { Some(to) } else { None }];
    if both.into_iter().flatten().any(|path| is_hidden(path) && !is_discarded(set, change, path)) {
        return false;
    }
    let note = path.is_markdown();
    match (set.writer, change) {
        (Writer::Dream | Writer::Split, Change::Create { .. } | Change::Replace { .. }) => {
            note && layout.bucket(path).is_some()
        }
        (Writer::AutoMemory, Change::Create { .. }) => note && is_event(path, layout),
        (Writer::AutoMemory, Change::Append { .. }) => note && is_day_index(path, layout),
        (Writer::Ingest, Change::Create { .. }) => layer == Layer::Resource,
        (Writer::Meta, Change::Put { .. }) => layer == Layer::Meta && path.extension() == "json",
        (Writer::Audit, Change::Append { .. }) => note && layer == Layer::Audit,
        (Writer::Person, Change::Create { .. }) => is_persons(layer),
        (Writer::Person, Change::Replace { .. }) => {
            is_persons(layer) || (bears_links(path) && is_material(layer) && retargets(set))
        }
        (Writer::Person, Change::Rename { to, .. }) if is_discarded(set, change, to) => note && is_persons(layer),
        (Writer::Person, Change::Rename { to, .. }) => {
            let to = layout.layer(to);
            (is_persons(layer) && is_persons(to)) || (is_material(layer) && layer == to)
        }
        _ => false,
    }
}

/// Whether the set's rule is one that its writer may state for this change.
fn states_its_rule(set: &ChangeSet, change: &Change) -> bool {
    match (&set.rule, change) {
        (Conservation::Additive, Change::Create { .. } | Change::Append { .. } | Change::Put { .. }) => {
            set.writer != Writer::Split
        }
        (Conservation::Superset { subject }, Change::Replace { path, .. }) => {
            matches!(set.writer, Writer::Dream | Writer::Person) && path == subject
        }
        (Conservation::Superset { .. }, Change::Create { .. }) => {
            matches!(set.writer, Writer::Dream | Writer::Person)
        }
        (Conservation::SplitUnion { parent, .. }, Change::Replace { path, .. }) => {
            matches!(set.writer, Writer::Split | Writer::Person) && path == parent
        }
        (Conservation::SplitUnion { children, .. }, Change::Create { path, .. }) => {
            matches!(set.writer, Writer::Split | Writer::Person) && children.contains(path)
        }
        (Conservation::Retarget { from, to }, Change::Rename { from: old, to: new, .. }) => {
            set.writer == Writer::Person && renamed(from, to, old).as_ref() == Some(new)
        }
        (Conservation::Retarget { .. } | Conservation::Merge { .. }, Change::Replace { .. }) => {
            set.writer == Writer::Person
        }
        (Conservation::Merge { drop, .. }, Change::Rename { from, to, .. }) => {
            set.writer == Writer::Person && from == drop && is_discarded(set, change, to)
        }
        (Conservation::Free, Change::Create { .. } | Change::Replace { .. }) => set.writer == Writer::Person,
        _ => false,
    }
}

/// A name that starts with a dot, anywhere in the path: Obsidian's own, git's, ours.
pub(crate) fn is_hidden(path: &NotePath) -> bool {
    path.as_str().split('/').any(|name| name.starts_with('.'))
}

/// Where a merge puts the note that goes: Obsidian's own place for deleted files.
pub(crate) const TRASH: &str = ".trash";

/// Whether `path` is the place in the trash that a merge gives to the note that goes.
pub(crate) fn is_discarded(set: &ChangeSet, change: &Change, path: &NotePath) -> bool {
    let Change::Rename { to, .. } = change else { return false };
    let in_trash = path.as_str().strip_prefix(TRASH).and_then(|rest| rest.strip_prefix('/'));
    let named = in_trash.is_some_and(|rest| !rest.split('/').any(|name| name.starts_with('.')));
    matches!(set.rule, Conservation::Merge { .. }) && path == to && named
}

fn retargets(set: &ChangeSet) -> bool {
    matches!(set.rule, Conservation::Retarget { .. } | Conservation::Merge { .. })
}

fn is_persons(layer: Layer) -> bool {
    matches!(layer, Layer::Digest | Layer::Other)
}

fn is_material(layer: Layer) -> bool {
    matches!(layer, Layer::Daily | Layer::Resource)
}

/// `daily/<date>/<event>.md`
fn is_event(path: &NotePath, layout: &Layout) -> bool {
    below(path, &layout.daily)
        .and_then(|rest| rest.split_once('/'))
        .is_some_and(|(day, name)| is_day(day) && !name.contains('/'))
}

/// `daily/<date>.md`
fn is_day_index(path: &NotePath, layout: &Layout) -> bool {
    below(path, &layout.daily).and_then(|rest| rest.strip_suffix(".md")).is_some_and(is_day)
}

fn is_day(text: &str) -> bool {
    text.len() == 10 && chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}

fn below<'a>(path: &'a NotePath, folder: &str) -> Option<&'a str> {
    path.as_str().strip_prefix(folder)?.strip_prefix('/')
}
