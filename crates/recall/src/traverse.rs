//! `traverse`: the vault's topology, from a note along its links.

use std::collections::{BTreeSet, VecDeque};

use dormouse_vault::{EdgeRef, EdgeTarget, Layer, NotePath, Snapshot};
use serde::{Deserialize, Serialize};

use crate::error::RecallError;
use crate::naming::named;

/// A walk along links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct TraverseRequest {
    /// Where it starts: a path, a path without `.md`, a wikilink target, or a title or alias that one
    /// note alone has.
    pub from: String,
    /// Along which ends of the links. Default both.
    pub direction: Direction,
    /// How many links away at most. Default 1.
    pub depth: usize,
    /// Only links with this predicate, case ignored; an empty one means links without any.
    pub predicate: Option<String>,
    /// Only into notes and files of these layers; the walk does not pass through others. Default: all.
    pub layers: Vec<Layer>,
    /// Notes to return, the start included. Default 100.
    pub limit: usize,
    /// Links to look at, whatever the limit; where they are more the walk ends early and the reply
    /// says so. Default 100,000.
    pub budget: usize,
}

impl Default for TraverseRequest {
    fn default() -> Self {
        Self {
            from: String::new(),
            direction: Direction::Both,
            depth: 1,
            predicate: None,
            layers: Vec::new(),
            limit: 100,
            budget: 100_000,
        }
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
    /// Each note once, at its least depth, nearest first, the start at depth 0. Following `via` back
    /// to the start gives the path.
    pub notes: Vec<Reached>,
    /// How many are within the depth, the start included; a lower bound when `partial`.
    pub total: usize,
    /// Whether the limit or the budget cut some off.
    pub truncated: bool,
    /// Whether the budget ended the walk, so that there may be more than `total`.
    pub partial: bool,
    /// Links of the returned notes that the walk would have followed, but that lead nowhere; at most
    /// as many as `limit`.
    pub unresolved: Vec<Unresolved>,
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

/// A link that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Unresolved {
    /// The note that holds it.
    pub from: NotePath,
    /// What it asks for.
    pub target: String,
    /// Its predicate.
    pub predicate: Option<String>,
}

/// Walks breadth-first with one visited set: cycles, diamonds and self-links end by themselves.
/// Linear in the notes and links within the depth and the budget, whatever the limit and the size of
/// the vault. Conflict copies are passed by.
///
/// # Errors
/// [`RecallError::NoSuchNote`], [`RecallError::SeveralNotes`].
pub fn traverse(snapshot: &Snapshot, request: &TraverseRequest) -> Result<TraverseReply, RecallError> {
    let start = start(snapshot, &request.from)?;
    let enters = |path: &NotePath| request.layers.is_empty() || request.layers.contains(&snapshot.layout().layer(path));
    let way = Way {
        direction: request.direction,
        depth: request.depth,
        predicate: request.predicate.as_deref().map(str::to_lowercase),
        budget: request.budget,
        enters: &enters,
    };
    let mut reply = TraverseReply::default();
    reply.partial = walk(snapshot, &[start], &way, |path, depth, via| {
        reply.total += 1;
        if reply.notes.len() < request.limit {
            reply.notes.push(reached(snapshot, path.clone(), depth, via));
        }
    });
    reply.truncated = reply.partial || reply.total > reply.notes.len();
    if request.direction != Direction::In {
        let followed = reply.notes.iter().filter(|note| note.depth < request.depth);
        let nowhere = followed.flat_map(|note| unresolved(snapshot, &note.path, &way));
        reply.unresolved = nowhere.take(request.limit).collect();
    }
    Ok(reply)
}

fn start(snapshot: &Snapshot, name: &str) -> Result<NotePath, RecallError> {
    let mut files = named(snapshot, name);
    match files.len() {
        0 | 1 => files.pop().ok_or_else(|| RecallError::NoSuchNote { name: name.to_owned() }),
        _ => Err(RecallError::SeveralNotes { name: name.to_owned(), paths: files }),
    }
}

fn reached(snapshot: &Snapshot, path: NotePath, depth: usize, via: Option<Via>) -> Reached {
    let (name, layer) = match snapshot.note(&path) {
        Some(note) => (note.name.to_string(), note.layer),
        None => (path.file_name().to_owned(), snapshot.layout().layer(&path)),
    };
    Reached { path, name, layer, depth, via }
}

/// How a walk goes.
pub(crate) struct Way<'a> {
    pub(crate) direction: Direction,
    pub(crate) depth: usize,
    /// In lower case; empty for links without any.
    pub(crate) predicate: Option<String>,
    /// Links to look at.
    pub(crate) budget: usize,
    /// Which files it goes into.
    pub(crate) enters: &'a dyn Fn(&NotePath) -> bool,
}

impl Way<'_> {
    fn follows(&self, predicate: Option<&str>) -> bool {
        match self.predicate.as_deref() {
            None => true,
            Some("") => predicate.is_none(),
            wanted => predicate == wanted,
        }
    }
}

/// Walks from `starts`, which are at depth 0, and shows each file once. Says whether the budget ended
/// it.
pub(crate) fn walk(
    snapshot: &Snapshot,
    starts: &[NotePath],
    way: &Way<'_>,
    mut visit: impl FnMut(&NotePath, usize, Option<Via>),
) -> bool {
    let mut seen: BTreeSet<NotePath> = starts.iter().cloned().collect();
    let mut queue: VecDeque<(NotePath, usize)> = VecDeque::new();
    for start in starts {
        visit(start, 0, None);
        queue.push_back((start.clone(), 0));
    }
    let mut left = way.budget;
    while let Some((at, depth)) = queue.pop_front() {
        if depth >= way.depth {
            continue;
        }
        for (edge, direction) in edges(snapshot, &at, way.direction) {
            let Some(less) = left.checked_sub(1) else {
                return true;
            };
            left = less;
            let next = if direction == Direction::Out { edge.target } else { edge.source };
            let passed_by = || !(way.enters)(next) || snapshot.note(next).is_some_and(|note| !note.is_live());
            if !way.follows(edge.predicate) || seen.contains(next) || passed_by() {
                continue;
            }
            seen.insert(next.clone());
            let via = Via { from: at.clone(), direction, predicate: edge.predicate.map(str::to_owned) };
            visit(next, depth + 1, Some(via));
            queue.push_back((next.clone(), depth + 1));
        }
    }
    false
}

fn edges<'s>(snapshot: &'s Snapshot, at: &NotePath, direction: Direction) -> Vec<(EdgeRef<'s>, Direction)> {
    let mut out = Vec::new();
    if direction != Direction::In {
        out.extend(snapshot.graph().out_edges(at).into_iter().map(|edge| (edge, Direction::Out)));
    }
    if direction != Direction::Out {
        out.extend(snapshot.graph().in_edges(at).into_iter().map(|edge| (edge, Direction::In)));
    }
    out
}

fn unresolved(snapshot: &Snapshot, path: &NotePath, way: &Way<'_>) -> Vec<Unresolved> {
    let holder = snapshot.note(path).or_else(|| snapshot.canvas(path));
    let edges = holder.map(|note| snapshot.edges_of(path, note.doc())).unwrap_or_default();
    let nowhere = edges.into_iter().filter(|edge| way.follows(edge.predicate.as_deref())).filter_map(|edge| {
        let EdgeTarget::Unresolved(target) = edge.target else {
            return None;
        };
        Some(Unresolved { from: path.clone(), target, predicate: edge.predicate })
    });
    nowhere.collect()
}
