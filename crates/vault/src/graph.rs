//! The link graph: notes and files as nodes, typed links as edges, in petgraph.

use std::fmt;

use petgraph::stable_graph::StableDiGraph;
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

/// The resolved links between files. Only notes have out-edges; links in `audit/` and `meta/` are
/// no edges. One edge a `(source, target, predicate)`.
#[derive(Debug, Clone, Default)]
pub struct LinkGraph {
    pub(crate) graph: StableDiGraph<NotePath, Option<std::sync::Arc<str>>>,
    pub(crate) index: std::collections::HashMap<NotePath, petgraph::stable_graph::NodeIndex>,
}

impl LinkGraph {
    /// The out-edges of a note, in order of target and predicate. Empty for an unknown path.
    pub fn out_edges<'a>(&'a self, source: &NotePath) -> Vec<EdgeRef<'a>> {
        let _ = source;
        todo!()
    }

    /// The in-edges of a file, in order of source and predicate.
    pub fn in_edges<'a>(&'a self, target: &NotePath) -> Vec<EdgeRef<'a>> {
        let _ = target;
        todo!()
    }

    /// How many distinct notes link to `target`, itself not counted.
    #[must_use]
    pub fn inbound(&self, target: &NotePath) -> usize {
        let _ = target;
        todo!()
    }

    /// All edges, ordered by source, target, predicate.
    pub fn edges(&self) -> Vec<EdgeRef<'_>> {
        todo!()
    }

    /// Number of edges.
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.graph.edge_count()
    }
}
