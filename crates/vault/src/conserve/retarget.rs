//! A rename: links to the old name become links to the new one, and nothing else changes.

use std::collections::BTreeSet;

use crate::change::Change;
use crate::conserve::{Part, Scene, Violation};
use crate::graph::{EdgeKey, EdgeTarget};
use crate::link::{Link, LinkKind};
use crate::note::Document;
use crate::path::NotePath;
use crate::rename::{Moves, bears_links};
use crate::resolve::Resolution;
use crate::snapshot::Snapshot;

/// Checks a rename: each changed note or canvas differs in the spelling of link targets alone, and
/// no link of another one comes to mean another file. What is not UTF-8 can't be rewritten and is
/// passed over.
pub(super) fn check(from: &NotePath, to: &NotePath, scene: &Scene<'_>) -> Vec<Violation> {
    let moves = Moves::of(scene.set);
    let out_of_rule = |path: &NotePath| Violation::OutOfRule { path: path.clone() };
    if moves.is_empty() {
        return vec![out_of_rule(from)];
    }
    let mut found: Vec<Violation> = Vec::new();
    for change in &scene.set.changes {
        let covered = match change {
            Change::Rename { from: old, to: new, .. } => renamed(from, to, old).as_ref() == Some(new),
            other => bears_links(other.path()),
        };
        if !covered {
            found.push(out_of_rule(change.path()));
        }
    }
    let turn = Turn { moves: &moves, now: scene.now, after: scene.after };
    found.extend(scene.parts.iter().filter_map(|part| changed(&turn, part)));
    let touched: BTreeSet<&NotePath> = scene.parts.iter().map(|part| old_path(part)).collect();
    let others = moves.concerned(scene.now).into_iter().filter(|path| !touched.contains(path));
    found.extend(others.filter_map(|path| other(&turn, &path)));
    found
}

/// The new name that a rename of `from` to `to` gives to `old`, which it may be or lie below.
pub(crate) fn renamed(from: &NotePath, to: &NotePath, old: &NotePath) -> Option<NotePath> {
    if old == from {
        return Some(to.clone());
    }
    let rest = old.as_str().strip_prefix(from.as_str()).filter(|rest| rest.starts_with('/'))?;
    NotePath::new(&format!("{to}{rest}")).ok()
}

fn old_path<'a>(part: &Part<'a>) -> &'a NotePath {
    part.touched.from.as_ref().unwrap_or(&part.touched.path)
}

fn changed(turn: &Turn<'_>, part: &Part<'_>) -> Option<Violation> {
    if part.touched.before.as_ref().is_some_and(|before| !before.utf8) {
        return None;
    }
    let old = (part.touched.text_before()?, part.old.as_ref()?);
    turn.compare(old_path(part), old, (part.touched.text_after(), &part.new))
}

pub(super) fn other(turn: &Turn<'_>, path: &NotePath) -> Option<Violation> {
    let source = turn.now.linking(path).filter(|source| source.utf8)?;
    turn.compare(path, ("", source.doc()), ("", source.doc()))
}

/// The vault before and after a rename.
pub(crate) struct Turn<'a> {
    pub(crate) moves: &'a Moves,
    pub(crate) now: &'a Snapshot,
    pub(crate) after: &'a Snapshot,
}

/// What of a link must survive, and where it leads.
type Kept<'d> = (LinkKind, &'d str, EdgeKey);

impl Turn<'_> {
    /// Whether the text `before`, of the note whose old path is `source`, and the text `after` differ
    /// in anything but the spelling of targets, or a link means another file than it did.
    pub(crate) fn compare(
        &self,
        source: &NotePath,
        before: (&str, &Document),
        after: (&str, &Document),
    ) -> Option<Violation> {
        let path = self.moves.to(source);
        let mut old = kept(self.now, source, before.1);
        for link in &mut old {
            if let EdgeTarget::File(file) = &link.2.target {
                link.2.target = EdgeTarget::File(self.moves.to(file).clone());
            }
        }
        let new = kept(self.after, path, after.1);
        let same = old.len() == new.len() && old.iter().zip(&new).all(|(old, new)| self.is_same(old, new));
        if !same {
            let mut left = new;
            old.retain(|link| {
                let at = left.iter().position(|new| self.is_same(link, new));
                at.map(|at| left.swap_remove(at)).is_none()
            });
            let missing: Vec<EdgeKey> = old.into_iter().map(|link| link.2).collect();
            if !missing.is_empty() {
                return Some(Violation::EdgesLost { path: path.clone(), missing });
            }
        }
        let alike = same && skeleton(before.0, before.1) == skeleton(after.0, after.1);
        (!alike).then(|| Violation::OutOfRule { path: path.clone() })
    }

    /// Whether a link leads where it led. One that led nowhere may come to mean a moved file.
    fn is_same(&self, old: &Kept<'_>, new: &Kept<'_>) -> bool {
        let leads = match (&old.2.target, &new.2.target) {
            (EdgeTarget::Unresolved(_), EdgeTarget::File(file)) => self.moves.makes(file),
            // A relative link to nothing is spelled anew when its note moves.
            (EdgeTarget::Unresolved(old), EdgeTarget::Unresolved(new)) => {
                old == new || (old.starts_with('.') && new.starts_with('.'))
            }
            (old, new) => old == new,
        };
        leads && old.0 == new.0 && old.1 == new.1 && old.2.predicate == new.2.predicate
    }
}

/// What the links of a document say, in the order of the text.
fn kept<'d>(snapshot: &Snapshot, source: &NotePath, doc: &'d Document) -> Vec<Kept<'d>> {
    let kept = |link: &'d Link| {
        let target = match snapshot.resolve_link(source, link) {
            Resolution::File { path, .. } => EdgeTarget::File(path),
            Resolution::Unresolved(key) => EdgeTarget::Unresolved(key),
            Resolution::External => return None,
        };
        let predicate = link.predicate.as_ref().map(|p| p.to_lowercase());
        Some((link.kind, link.subpath.as_str(), EdgeKey { target, predicate }))
    };
    doc.links.iter().filter_map(kept).collect()
}

/// Whether two texts have links of the same forms at the same places, and nothing else differs.
pub(crate) fn is_alike(old: (&str, &Document), new: (&str, &Document)) -> bool {
    let (left, right) = (&old.1.links, &new.1.links);
    let forms = left.iter().zip(right).all(|(a, b)| a.kind == b.kind && a.subpath == b.subpath);
    left.len() == right.len() && forms && skeleton(old.0, old.1) == skeleton(new.0, new.1)
}

/// A text with the targets of its links cut out.
fn skeleton(text: &str, doc: &Document) -> String {
    let mut targets: Vec<_> = doc.links.iter().map(|link| &link.target_span).collect();
    targets.sort_by_key(|span| (span.start, span.end));
    let (mut rest, mut at) = (String::with_capacity(text.len()), 0);
    for span in targets {
        rest.push_str(text.get(at..span.start).unwrap_or(""));
        rest.push('\0');
        at = at.max(span.end);
    }
    rest.push_str(text.get(at..).unwrap_or(""));
    rest
}
