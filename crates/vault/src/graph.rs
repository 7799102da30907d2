//! The link graph: notes and files as nodes, typed links as edges, in petgraph.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use petgraph::Direction;
use petgraph::stable_graph::{EdgeIndex, NodeIndex, StableDiGraph};
use petgraph::visit::{EdgeRef as _, IntoEdgeReferences};
use serde::{Deserialize, Serialize};

use crate::path::NotePath;

/// Where an edge points.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EdgeTarget {
    /// An existing file.
    File(NotePath),
    /// A target that resolves to nothing: lower-cased, without `.md`.
    Unresolved(String),
}

/// The identity of an edge of one source: `(target, predicate)`. The anchor is no part of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EdgeKey {
    /// Where it points.
    pub target: EdgeTarget,
    /// The predicate, lower-case; `None` is the normal case.
    pub predicate: Option<String>,
}

impl fmt::Display for EdgeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(predicate) = &self.predicate {
            write!(f, "{predicate}:: ")?;
        }
        match &self.target {
            EdgeTarget::File(path) => write!(f, "[[{}]]", path.link_target()),
            EdgeTarget::Unresolved(target) => write!(f, "[[{target}]]"),
        }
    }
}

/// An edge of the graph, seen from one of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeRef<'a> {
    /// The note that holds the link.
    pub source: &'a NotePath,
    /// The file that it points to.
    pub target: &'a NotePath,
    /// The predicate, lower-case.
    pub predicate: Option<&'a str>,
}

impl EdgeRef<'_> {
    fn order(&self) -> (&NotePath, &NotePath, Option<&str>) {
        (self.source, self.target, self.predicate)
    }
}

/// The resolved links between files. Only notes have out-edges; links in `audit/` and `meta/` are
/// no edges. One edge a `(source, target, predicate)`; a note that links to itself has an edge to
/// itself. Links of a sync tool's conflict copy are edges too, but count for nobody's
/// [`LinkGraph::inbound`]: a copy would double every vote of its original.
#[derive(Debug, Clone, Default)]
pub struct LinkGraph {
    graph: StableDiGraph<Node, Option<Arc<str>>>,
    index: HashMap<NotePath, NodeIndex>,
}

/// A note, or another file that a note links to.
#[derive(Debug, Clone)]
struct Node {
    path: NotePath,
    note: Option<Standing>,
}

/// Whether a note's links count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// An ordinary note.
    Original,
    /// A sync tool's conflict copy.
    Copy,
}

impl LinkGraph {
    /// The out-edges of a note, in order of target and predicate. Empty for an unknown path.
    /// O(d log d) in their number.
    #[must_use]
    pub fn out_edges<'a>(&'a self, source: &NotePath) -> Vec<EdgeRef<'a>> {
        self.edges_at(source, Direction::Outgoing)
    }

    /// The in-edges of a file, in order of source and predicate; those of conflict copies too.
    /// O(d log d) in their number.
    #[must_use]
    pub fn in_edges<'a>(&'a self, target: &NotePath) -> Vec<EdgeRef<'a>> {
        self.edges_at(target, Direction::Incoming)
    }

    /// How many distinct notes link to `target`; itself and conflict copies are not counted.
    #[must_use]
    pub fn inbound(&self, target: &NotePath) -> usize {
        let Some(&at) = self.index.get(target) else {
            return 0;
        };
        let sources: BTreeSet<NodeIndex> = self.graph.neighbors_directed(at, Direction::Incoming).collect();
        let counts = |source: &&NodeIndex| {
            **source != at && self.graph.node_weight(**source).is_some_and(|node| node.note == Some(Standing::Original))
        };
        sources.iter().filter(counts).count()
    }

    /// All edges, ordered by source, target, predicate. O(e log e).
    #[must_use]
    pub fn edges(&self) -> Vec<EdgeRef<'_>> {
        let mut out: Vec<_> = self.graph.edge_references().filter_map(|edge| self.seen(edge.id())).collect();
        out.sort_unstable_by(|a, b| a.order().cmp(&b.order()));
        out
    }

    /// Number of edges.
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.graph.edge_count()
    }

    fn edges_at(&self, path: &NotePath, direction: Direction) -> Vec<EdgeRef<'_>> {
        let Some(&at) = self.index.get(path) else {
            return Vec::new();
        };
        let mut out: Vec<_> =
            self.graph.edges_directed(at, direction).filter_map(|edge| self.seen(edge.id())).collect();
        out.sort_unstable_by(|a, b| a.order().cmp(&b.order()));
        out
    }

    fn seen(&self, edge: EdgeIndex) -> Option<EdgeRef<'_>> {
        let (source, target) = self.graph.edge_endpoints(edge)?;
        Some(EdgeRef {
            source: &self.graph.node_weight(source)?.path,
            target: &self.graph.node_weight(target)?.path,
            predicate: self.graph.edge_weight(edge)?.as_deref(),
        })
    }

    /// How the links of a note count; `None` for what is no note.
    pub(crate) fn standing(&self, path: &NotePath) -> Option<Standing> {
        self.graph.node_weight(*self.index.get(path)?)?.note
    }

    /// Makes `path` a note of this standing; its links stay as they are.
    pub(crate) fn put_note(&mut self, path: &NotePath, standing: Standing) {
        let at = self.node(path);
        if let Some(node) = self.graph.node_weight_mut(at) {
            node.path = path.clone();
            node.note = Some(standing);
        }
    }

    /// Takes a note with its out-edges away.
    pub(crate) fn drop_note(&mut self, path: &NotePath) {
        self.set_links(path, &[]);
        if let Some(&at) = self.index.get(path) {
            if let Some(node) = self.graph.node_weight_mut(at) {
                node.note = None;
            }
            self.sweep(at);
        }
    }

    /// Gives a note exactly these out-edges; unresolved ones are no edges of the graph.
    pub(crate) fn set_links(&mut self, source: &NotePath, links: &[EdgeKey]) {
        let Some(&from) = self.index.get(source) else {
            return;
        };
        let old: Vec<(EdgeIndex, NodeIndex)> = self.graph.edges(from).map(|edge| (edge.id(), edge.target())).collect();
        for (edge, _) in &old {
            self.graph.remove_edge(*edge);
        }
        for key in links {
            if let EdgeTarget::File(target) = &key.target {
                let to = self.node(target);
                self.graph.add_edge(from, to, key.predicate.as_deref().map(Arc::from));
            }
        }
        for (_, target) in old {
            self.sweep(target);
        }
    }

    fn node(&mut self, path: &NotePath) -> NodeIndex {
        if let Some(&at) = self.index.get(path) {
            return at;
        }
        let at = self.graph.add_node(Node { path: path.clone(), note: None });
        self.index.insert(path.clone(), at);
        at
    }

    /// Forgets a file that is no note and that nothing links to any more.
    fn sweep(&mut self, at: NodeIndex) {
        let idle = self.graph.node_weight(at).is_some_and(|node| node.note.is_none())
            && self.graph.neighbors_undirected(at).next().is_none();
        if idle && let Some(node) = self.graph.remove_node(at) {
            self.index.remove(&node.path);
        }
    }
}
