//! The link graph: notes and files as nodes, typed links as edges, in petgraph.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::mem;
use std::sync::Arc;

use foldhash::fast::FixedState;
use petgraph::Direction;
use petgraph::stable_graph::{EdgeIndex, NodeIndex, StableDiGraph};
use petgraph::visit::{EdgeRef as _, IntoEdgeReferences, NodeIndexable as _};
use serde::{Deserialize, Serialize};

use crate::path::NotePath;
use crate::sparse::{Csr, GraphError};

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
    /// The note or canvas that holds the link.
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

/// The resolved links between files. Only notes and canvases have out-edges; links in `audit/` and `meta/` are
/// no edges. One edge a `(source, target, predicate)`; a note that links to itself has an edge to
/// itself. Links of a sync tool's conflict copy are edges too, but count for nobody's
/// [`LinkGraph::inbound`]: a copy would double every vote of its original.
#[derive(Debug, Clone, Default)]
pub struct LinkGraph {
    graph: StableDiGraph<Node, Option<Arc<str>>>,
    index: HashMap<NotePath, NodeIndex, FixedState>,
}

/// A [`LinkGraph`] in rows. One edge of weight 1 from a file to each other file that it links to,
/// whatever the predicate; links of a file to itself and links of conflict copies are left out.
#[derive(Debug, Clone)]
pub struct LinkRows<'a> {
    /// The file of each row, in order of path.
    pub files: Vec<&'a NotePath>,
    /// The links; row `i` is that of `files[i]`.
    pub rows: Csr,
}

/// The out-links of a list of files, see [`LinkGraph::links_of`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinksOf {
    /// Where each file's row begins in `targets` and, last, where the last one ends.
    pub offsets: Vec<usize>,
    /// The files that are linked to, row after row.
    pub targets: Vec<u32>,
    /// `(source, target)` of the links with the predicate that was asked for.
    pub marked: Vec<(u32, u32)>,
}

/// A file with links, or another file that one links to.
#[derive(Debug, Clone)]
struct Node {
    path: NotePath,
    note: Option<Standing>,
}

/// Whether a file's links count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// An ordinary note or canvas.
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

    /// What a note links to, with the predicate, in no particular order: for a sweep over all notes.
    /// O(1) each.
    pub fn targets<'a>(&'a self, source: &NotePath) -> impl Iterator<Item = (&'a NotePath, Option<&'a str>)> + use<'a> {
        let at = self.index.get(source).copied();
        let edges = at.into_iter().flat_map(|at| self.graph.edges_directed(at, Direction::Outgoing));
        edges.filter_map(|edge| Some((&self.graph.node_weight(edge.target())?.path, edge.weight().as_deref())))
    }

    /// How many distinct notes and canvases link to `target`; itself and conflict copies are not counted.
    #[must_use]
    pub fn inbound(&self, target: &NotePath) -> usize {
        let Some(&at) = self.index.get(target) else {
            return 0;
        };
        let counts = |source: &NodeIndex| {
            *source != at && self.graph.node_weight(*source).is_some_and(|node| node.note == Some(Standing::Original))
        };
        let mut sources: Vec<NodeIndex> =
            self.graph.neighbors_directed(at, Direction::Incoming).filter(counts).collect();
        sources.sort_unstable();
        sources.dedup();
        sources.len()
    }

    /// All edges, ordered by source, target, predicate. O(e log e).
    #[must_use]
    pub fn edges(&self) -> Vec<EdgeRef<'_>> {
        let mut out: Vec<_> = self.graph.edge_references().filter_map(|edge| self.seen(edge.id())).collect();
        out.sort_unstable_by(|a, b| a.order().cmp(&b.order()));
        out
    }

    /// The graph in rows, as graph algorithms want it. O((n + e) log n).
    ///
    /// # Errors
    /// [`GraphError::TooManyNodes`] beyond 2³² files.
    pub fn rows(&self) -> Result<LinkRows<'_>, GraphError> {
        let mut nodes: Vec<(&NotePath, NodeIndex)> = self.index.iter().map(|(path, at)| (path, *at)).collect();
        nodes.sort_unstable();
        let mut place = vec![None; self.graph.node_bound()];
        for (row, (_, at)) in nodes.iter().enumerate() {
            if let (Some(slot), Ok(row)) = (place.get_mut(at.index()), u32::try_from(row)) {
                *slot = Some(row);
            }
        }
        let row = |at: NodeIndex| place.get(at.index()).copied().flatten();
        let mut links: Vec<(u32, u32)> = Vec::with_capacity(self.graph.edge_count());
        for (_, at) in &nodes {
            let counts = self.graph.node_weight(*at).is_some_and(|node| node.note == Some(Standing::Original));
            let targets = self.graph.neighbors_directed(*at, Direction::Outgoing).filter(|to| counts && to != at);
            links.extend(targets.filter_map(|to| Some((row(*at)?, row(to)?))));
        }
        links.sort_unstable();
        links.dedup();
        let edges: Vec<_> = links.into_iter().map(|(from, to)| (from, to, 1.0)).collect();
        Ok(LinkRows {
            rows: Csr::directed(nodes.len(), &edges)?,
            files: nodes.into_iter().map(|(path, _)| path).collect(),
        })
    }

    /// The out-links of `files`, as numbers: a file of the list by its place in it, any other file
    /// that one of them links to by a number from `files.len()` on, in order of first appearance.
    /// Each row is ascending and names a target once; links of a file to itself are left out, and
    /// those with `predicate` are also listed by themselves. Much cheaper than [`LinkGraph::out_edges`] for each:
    /// O(n + e log d).
    #[must_use]
    pub fn links_of(&self, files: &[&NotePath], predicate: &str) -> LinksOf {
        const NONE: u32 = u32::MAX;
        let mut number = vec![NONE; self.graph.node_bound()];
        let at: Vec<Option<NodeIndex>> = files.iter().map(|path| self.index.get(*path).copied()).collect();
        for (file, node) in at.iter().enumerate() {
            if let Some(slot) = node.and_then(|node| number.get_mut(node.index())) {
                *slot = file as u32;
            }
        }
        let mut next = files.len() as u32;
        let mut out =
            LinksOf { offsets: vec![0], targets: Vec::with_capacity(self.graph.edge_count()), marked: Vec::new() };
        let mut row: Vec<u32> = Vec::new();
        for (file, node) in at.iter().enumerate() {
            row.clear();
            for edge in node.iter().flat_map(|node| self.graph.edges_directed(*node, Direction::Outgoing)) {
                let Some(slot) = number.get_mut(edge.target().index()).filter(|_| Some(edge.target()) != *node) else {
                    continue;
                };
                if *slot == NONE {
                    *slot = next;
                    next += 1;
                }
                row.push(*slot);
                if edge.weight().as_deref() == Some(predicate) {
                    out.marked.push((file as u32, *slot));
                }
            }
            row.sort_unstable();
            row.dedup();
            out.targets.extend_from_slice(&row);
            out.offsets.push(out.targets.len());
        }
        out.marked.sort_unstable();
        out
    }

    /// Whether nothing is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.index.is_empty()
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

    /// The files with a link to `target`; one with several is named as often. O(1) each.
    pub(crate) fn sources<'a>(&'a self, target: &NotePath) -> impl Iterator<Item = &'a NotePath> + use<'a> {
        let at = self.index.get(target).copied();
        at.into_iter().flat_map(|at| {
            let sources = self.graph.neighbors_directed(at, Direction::Incoming);
            sources.filter_map(|source| Some(&self.graph.node_weight(source)?.path))
        })
    }

    /// The node of a file that is in the graph.
    pub(crate) fn node_of(&self, path: &NotePath) -> Option<NodeIndex> {
        self.index.get(path).copied()
    }

    /// More than every node's number.
    pub(crate) fn bound(&self) -> usize {
        self.graph.node_bound()
    }

    /// The links of a note, in no order. O(1) each.
    pub(crate) fn out_links(&self, source: NodeIndex) -> impl Iterator<Item = (NodeIndex, Option<&str>)> {
        let edges = self.graph.edges_directed(source, Direction::Outgoing);
        edges.map(|edge| (edge.target(), edge.weight().as_deref()))
    }

    /// All predicates, each once.
    pub(crate) fn predicates(&self) -> BTreeSet<&str> {
        self.graph.edge_weights().filter_map(Option::as_deref).collect()
    }

    /// Makes room for this many.
    pub(crate) fn reserve(&mut self, nodes: usize, edges: usize) {
        self.graph.reserve_nodes(nodes);
        self.graph.reserve_edges(edges);
        self.index.reserve(nodes);
    }

    /// Makes `path` a note of this standing; its links stay as they are.
    pub(crate) fn put_note(&mut self, path: &NotePath, standing: Standing) -> NodeIndex {
        let at = self.node(path);
        if let Some(node) = self.graph.node_weight_mut(at) {
            node.path = path.clone();
            node.note = Some(standing);
        }
        at
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

    /// Adds an edge between two nodes that [`LinkGraph::put_note`] or [`LinkGraph::node`] gave.
    pub(crate) fn add_link(&mut self, source: NodeIndex, target: NodeIndex, predicate: Option<Arc<str>>) {
        self.graph.add_edge(source, target, predicate);
    }

    /// The node of a file; a new one is no note.
    pub(crate) fn node(&mut self, path: &NotePath) -> NodeIndex {
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

/// A change of the graph.
#[derive(Debug, Clone)]
pub(crate) enum GraphChange {
    /// A note, with its standing; its links stay as they are.
    Put(NotePath, Standing),
    /// A note that is gone, with its out-edges.
    Drop(NotePath),
    /// A note's out-edges.
    Links(NotePath, Vec<EdgeKey>),
}

impl LinkGraph {
    /// Makes one change. Costs the number of links in it and of those that it replaces.
    pub(crate) fn apply(&mut self, change: &GraphChange) {
        match change {
            GraphChange::Put(path, standing) => {
                self.put_note(path, *standing);
            }
            GraphChange::Drop(path) => self.drop_note(path),
            GraphChange::Links(path, links) => self.set_links(path, links),
        }
    }
}

/// How many changes are remembered for the spare. Beyond it, a copy is cheaper.
const MEMORY: usize = 10_000;

/// The graph before last, which nobody reads any more, with what it has missed: so that the next
/// graph is made by replaying a few changes and not by copying all of the last one.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    graph: Option<Arc<LinkGraph>>,
    missed: Vec<GraphChange>,
}

impl Spare {
    /// A graph that was made anew takes the place of all that was remembered.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// `current` with `changes`. Costs the changes when the spare is free, and a copy of the graph
    /// when a reader still holds it or there is none.
    pub(crate) fn next(&mut self, current: &Arc<LinkGraph>, changes: Vec<GraphChange>) -> Arc<LinkGraph> {
        if changes.is_empty() {
            return Arc::clone(current);
        }
        let missed = mem::take(&mut self.missed);
        let mut graph = match self.graph.take().map(Arc::try_unwrap) {
            Some(Ok(mut graph)) => {
                missed.iter().for_each(|change| graph.apply(change));
                graph
            }
            _ => LinkGraph::clone(current),
        };
        changes.iter().for_each(|change| graph.apply(change));
        if changes.len() < MEMORY {
            self.graph = Some(Arc::clone(current));
            self.missed = changes;
        }
        Arc::new(graph)
    }
}
