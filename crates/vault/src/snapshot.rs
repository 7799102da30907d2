//! The snapshot: an immutable view of the whole vault at one moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::graph::{EdgeKey, LinkGraph};
use crate::layout::Layout;
use crate::link::Link;
use crate::note::{Document, Note};
use crate::path::NotePath;
use crate::problem::Problem;
use crate::resolve::Resolution;

/// Notes, files, link graph, tags and problems of a vault at one moment. Cheap to clone through its
/// `Arc`; a change makes a new one.
#[derive(Debug, Clone)]
pub struct Snapshot {
    _todo: (),
}

/// What differs between two snapshots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delta {
    /// New notes and files, in order.
    pub added: Vec<NotePath>,
    /// Notes and files with other content, in order.
    pub changed: Vec<NotePath>,
    /// Notes and files that are gone, in order.
    pub removed: Vec<NotePath>,
}

impl Delta {
    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

impl Snapshot {
    /// All Markdown notes outside `meta/` and `audit/`, in path order; conflict copies included.
    pub fn notes(&self) -> impl Iterator<Item = &Arc<Note>> {
        std::iter::empty()
    }

    /// One note.
    #[must_use]
    pub fn note(&self, path: &NotePath) -> Option<&Arc<Note>> {
        let _ = path;
        todo!()
    }

    /// All files that are not notes (attachments, canvases, resources of other kinds), in order.
    pub fn files(&self) -> impl Iterator<Item = &NotePath> {
        std::iter::empty()
    }

    /// Whether a file of this path exists (a note or any other, `audit/` and `meta/` included).
    #[must_use]
    pub fn exists(&self, path: &NotePath) -> bool {
        let _ = path;
        todo!()
    }

    /// The file that `target` (decoded, without subpath) means in `source`.
    #[must_use]
    pub fn resolve(&self, source: &NotePath, target: &str) -> Resolution {
        let _ = (source, target);
        todo!()
    }

    /// The note that a person names: a full path, a path without `.md`, or a wikilink target seen
    /// from the vault's root, with or without brackets.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<Note>> {
        let _ = name;
        todo!()
    }

    /// Which heading or block a link's subpath means in `target`: its 1-based line, or `None` when
    /// the anchor is broken.
    #[must_use]
    pub fn anchor_line(&self, target: &NotePath, subpath: &str) -> Option<u32> {
        let _ = (target, subpath);
        todo!()
    }

    /// The edges of a document as if it stood at `source`: ordered, each key once. Works for text
    /// that is not in the snapshot yet.
    #[must_use]
    pub fn edges_of(&self, source: &NotePath, doc: &Document) -> Vec<EdgeKey> {
        let _ = (source, doc);
        todo!()
    }

    /// The resolved links with their positions, in document order.
    #[must_use]
    pub fn links_of<'a>(&self, note: &'a Note) -> Vec<(&'a Link, Resolution)> {
        note.doc.links.iter().map(|link| (link, self.resolve(&note.path, &link.target))).collect()
    }

    /// The link graph.
    #[must_use]
    pub fn graph(&self) -> &LinkGraph {
        todo!()
    }

    /// Unresolved targets with the notes that name them.
    #[must_use]
    pub fn unresolved(&self) -> BTreeMap<String, Vec<NotePath>> {
        todo!()
    }

    /// Tags (lower-case) with the number of notes that have them.
    #[must_use]
    pub fn tags(&self) -> BTreeMap<String, usize> {
        todo!()
    }

    /// Problems of the scan and of every note, in path order.
    #[must_use]
    pub fn problems(&self) -> Vec<(String, Problem)> {
        todo!()
    }

    /// The layers' folders.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        todo!()
    }

    /// Grows with every change within one process.
    #[must_use]
    pub fn revision(&self) -> u64 {
        todo!()
    }

    /// A hash over all paths and versions: equal for equal vaults, in every process.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        todo!()
    }
}
