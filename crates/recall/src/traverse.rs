//! `traverse`: the vault's topology, from a note along its links.

use std::collections::{BTreeSet, VecDeque};

use dormouse_vault::{EdgeRef, Layer, NotePath, Snapshot};
use serde::{Deserialize, Serialize};

use crate::error::RecallError;

/// A walk along links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct TraverseRequest {
    /// Where it starts: a path, a path without `.md`, or a wikilink target.
    pub from: String,
    /// Along which ends of the links. Default both.
    pub direction: Direction,
    /// How many links away at most. Default 1.
    pub depth: usize,
    /// Only links with this predicate, case ignored; an empty one means links without any.
    pub predicate: Option<String>,
    /// Notes to return, the start included. Default 100.
    pub limit: usize,
}

impl Default for TraverseRequest {
    fn default() -> Self {
        Self { from: String::new(), direction: Direction::Both, depth: 1, predicate: None, limit: 100 }
    }
}

/// Along which ends of a link a walk goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From a note to what it links to.
    Out,
    /// From a note to what links to it.
    In,
    /// Both ways.
    #[default]
    Both,
}

/// The answer to a walk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TraverseReply {
    /// Each note once, at its least depth, nearest first, the start at depth 0.
    pub notes: Vec<Reached>,
    /// How many are within the depth, the start included.
    pub total: usize,
    /// Whether the limit cut some off.
    pub truncated: bool,
}

/// A note that a walk reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Reached {
    /// The note or file.
    pub path: NotePath,
    /// Its name; the file name for what is no note.
    pub name: String,
    /// Its layer.
    pub layer: Layer,
    /// Links away from the start.
    pub depth: usize,
    /// The link that it was reached by; `None` for the start.
    pub via: Option<Via>,
}

/// The link that a note was reached by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Via {
    /// The note on the nearer end.
    pub from: NotePath,
    /// [`Direction::Out`] when that note holds the link, [`Direction::In`] when it is the target.
    pub direction: Direction,
    /// The link's predicate.
    pub predicate: Option<String>,
}

/// Walks breadth-first with one visited set: cycles, diamonds and self-links end by themselves.
/// Linear in the notes and links within the depth, whatever the limit.
///
/// # Errors
/// [`RecallError::NoSuchNote`].
pub fn traverse(snapshot: &Snapshot, request: &TraverseRequest) -> Result<TraverseReply, RecallError> {
    let start = match snapshot.find(&request.from) {
        Some(note) => note.path.clone(),
        None => {
            return Err(RecallError::NoSuchNote { name: request.from.clone() });
        }
    };
    let mut seen = BTreeSet::from([start.clone()]);
    let mut queue = VecDeque::from([(start.clone(), 0)]);
    let mut reply = TraverseReply { total: 1, ..TraverseReply::default() };
    push(&mut reply, snapshot, request.limit, start, 0, None);
    while let Some((at, depth)) = queue.pop_front() {
        if depth >= request.depth {
            continue;
        }
        for (next, via) in steps(snapshot, &at, request) {
            if seen.insert(next.clone()) {
                reply.total += 1;
                push(&mut reply, snapshot, request.limit, next.clone(), depth + 1, Some(via));
                queue.push_back((next, depth + 1));
            }
        }
    }
    reply.truncated = reply.total > reply.notes.len();
    Ok(reply)
}

fn push(reply: &mut TraverseReply, snapshot: &Snapshot, limit: usize, path: NotePath, depth: usize, via: Option<Via>) {
    if reply.notes.len() >= limit {
        return;
    }
    let (name, layer) = match snapshot.note(&path) {
        Some(note) => (note.name.to_string(), note.layer),
        None => (path.file_name().to_owned(), snapshot.layout().layer(&path)),
    };
    reply.notes.push(Reached { path, name, layer, depth, via });
}

fn steps(snapshot: &Snapshot, at: &NotePath, request: &TraverseRequest) -> Vec<(NotePath, Via)> {
    let wanted = |edge: &EdgeRef<'_>| match request.predicate.as_deref() {
        None => true,
        Some("") => edge.predicate.is_none(),
        Some(predicate) => edge.predicate == Some(predicate.to_lowercase().as_str()),
    };
    let via = |edge: &EdgeRef<'_>, direction| Via {
        from: at.clone(),
        direction,
        predicate: edge.predicate.map(str::to_owned),
    };
    let mut out = Vec::new();
    if request.direction != Direction::In {
        let edges = snapshot.graph().out_edges(at);
        out.extend(edges.iter().filter(|e| wanted(e)).map(|e| (e.target.clone(), via(e, Direction::Out))));
    }
    if request.direction != Direction::Out {
        let edges = snapshot.graph().in_edges(at);
        out.extend(edges.iter().filter(|e| wanted(e)).map(|e| (e.source.clone(), via(e, Direction::In))));
    }
    out
}
