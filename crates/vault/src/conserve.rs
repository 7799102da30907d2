//! Conservation: what a write may not lose, checked mechanically at the door.

use serde::Serialize;

use crate::graph::EdgeKey;
use crate::path::NotePath;

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
    /// A rename: each changed note has the same edges as before, but for the renamed target.
    Retarget {
        /// The old path.
        from: NotePath,
        /// The new path.
        to: NotePath,
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
    /// A change that the stated rule does not allow at all.
    #[error("{path}: outside of what the stated rule covers")]
    OutOfRule {
        /// The file.
        path: NotePath,
    },
}

fn list(edges: &[EdgeKey]) -> String {
    edges.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
