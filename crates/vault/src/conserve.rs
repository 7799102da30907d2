//! Conservation: what a write may not lose, checked mechanically at the door.

pub(crate) mod merge;
mod properties;
mod provenance;
pub(crate) mod retarget;
mod split;

use serde::Serialize;

use crate::change::{ChangeSet, Writer};
use crate::graph::EdgeKey;
use crate::ground::Touched;
use crate::note::Document;
use crate::path::NotePath;
use crate::snapshot::Snapshot;

/// The rule that a change set states and the door enforces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conservation {
    /// Nothing that exists is changed, but for appends: new events, resources, meta, audit.
    Additive,
    /// E-1: the subject's new out-edges ⊇ its old ones, predicates included.
    Superset {
        /// The one note whose body may change.
        subject: NotePath,
    },
    /// E-2: parent ∪ children ⊇ old parent, edges and text blocks alike, each block in exactly one.
    SplitUnion {
        /// The note that is split; it stays where it is.
        parent: NotePath,
        /// The new notes.
        children: Vec<NotePath>,
    },
    /// A rename of a file, or of a folder with all that moves from below it: each changed note or
    /// canvas has the same links as before, spelled for the new names, and nothing else of it
    /// changes; no link of another one comes to mean another file.
    Retarget {
        /// The old path.
        from: NotePath,
        /// The new path.
        to: NotePath,
    },
    /// Two notes become one: `keep` afterwards has every block and every edge of both, its own
    /// properties byte for byte but for `aliases` and `tags`, which have the values of both; `drop`
    /// goes to `.trash/`; links to it lead to `keep`, and nothing else of any other file changes.
    Merge {
        /// The note that stays.
        keep: NotePath,
        /// The note that goes.
        drop: NotePath,
    },
    /// A person's edit: nothing is checked but the version.
    Free,
}

/// What a change set would have lost, or added against a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// Out-edges of the subject that are not in the new body.
    #[error("{path}: {} link(s) would be lost: {}", missing.len(), list(missing))]
    EdgesLost {
        /// The subject or parent.
        path: NotePath,
        /// The edges, in order.
        missing: Vec<EdgeKey>,
    },
    /// Blocks of the old parent that stand in none of the parts, or in more than one.
    #[error("{path}: {} block(s) would be lost or stand twice", blocks.len())]
    BlocksLost {
        /// The parent.
        path: NotePath,
        /// The blocks' text.
        blocks: Vec<String>,
    },
    /// A digest note without any `derived_from::` edge to an existing file.
    #[error("{path}: no provenance; add `derived_from:: [[…]]`")]
    NoProvenance {
        /// The digest note.
        path: NotePath,
    },
    /// A new link to a note that does not exist.
    #[error("{path}: link to a note that does not exist: {target}")]
    DanglingLink {
        /// The note.
        path: NotePath,
        /// The target as written.
        target: String,
    },
    /// A child of a split that does not link to its parent.
    #[error("{child}: no link to the parent {parent}")]
    ChildUnlinked {
        /// The child.
        child: NotePath,
        /// The parent.
        parent: NotePath,
    },
    /// Properties of the user that are not, byte for byte, in the new frontmatter.
    #[error("{path}: {} line(s) of frontmatter would be lost: {}", lines.len(), lines.join(" / "))]
    PropertiesLost {
        /// The note.
        path: NotePath,
        /// The lines, in order.
        lines: Vec<String>,
    },
    /// A change that the stated rule does not allow at all.
    #[error("{path}: outside of what the stated rule covers")]
    OutOfRule {
        /// The file.
        path: NotePath,
    },
}

/// What is looked at: a change set on its ground, and the vault without and with it.
pub(crate) struct Scene<'a> {
    pub(crate) set: &'a ChangeSet,
    pub(crate) parts: Vec<Part<'a>>,
    pub(crate) now: &'a Snapshot,
    pub(crate) after: &'a Snapshot,
    /// Whether a file is on the disk at this moment, whatever the snapshot remembers.
    pub(crate) on_disk: &'a dyn Fn(&NotePath) -> bool,
}

/// One note or canvas of the set, parsed before and after.
pub(crate) struct Part<'a> {
    pub(crate) touched: &'a Touched,
    pub(crate) old: Option<Document>,
    pub(crate) new: Document,
}

impl<'a> Part<'a> {
    pub(crate) fn new(touched: &'a Touched) -> Self {
        let parse = if touched.path.is_canvas() { Document::parse_canvas } else { Document::parse };
        Self { touched, old: touched.text_before().map(parse), new: parse(touched.text_after()) }
    }

    fn path(&self) -> &NotePath {
        &self.touched.path
    }

    /// The old out-edges as they resolve after the change, so that a link which a new note makes
    /// whole counts as the same link.
    fn old_edges(&self, scene: &Scene<'_>) -> Vec<EdgeKey> {
        self.old.as_ref().map_or_else(Vec::new, |old| scene.after.edges_of(self.path(), old))
    }

    fn new_edges(&self, scene: &Scene<'_>) -> Vec<EdgeKey> {
        scene.after.edges_of(self.path(), &self.new)
    }
}

/// Everything that the set would lose under its rule and its writer's duties; empty when all is
/// conserved. Linear in the texts, and for a rename in the notes that it concerns.
pub(crate) fn check(scene: &Scene<'_>) -> Vec<Violation> {
    let mut found = match &scene.set.rule {
        Conservation::Additive | Conservation::Free => Vec::new(),
        Conservation::Superset { .. } => scene.parts.iter().filter_map(|part| edges_kept(part, scene)).collect(),
        Conservation::SplitUnion { parent, children } => split::check(parent, children, scene),
        Conservation::Retarget { from, to } => retarget::check(from, to, scene),
        Conservation::Merge { keep, drop } => merge::check(keep, drop, scene),
    };
    if matches!(scene.set.writer, Writer::Dream | Writer::Split) {
        found.extend(scene.parts.iter().filter_map(properties::check));
        found.extend(provenance::no_new_dangling(scene));
    }
    if scene.set.writer == Writer::Dream {
        found.extend(scene.parts.iter().filter_map(|part| provenance::check(part, scene)));
    }
    found
}

/// E-1 for one note.
fn edges_kept(part: &Part<'_>, scene: &Scene<'_>) -> Option<Violation> {
    let new = part.new_edges(scene);
    let missing: Vec<EdgeKey> = part.old_edges(scene).into_iter().filter(|edge| !new.contains(edge)).collect();
    (!missing.is_empty()).then(|| Violation::EdgesLost { path: part.path().clone(), missing })
}

fn list(edges: &[EdgeKey]) -> String {
    edges.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
