//! Replay: the digests that a unit may belong to, as they are now.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_vault::text::slug;
use dormouse_vault::{Layer, NotePath, Snapshot};

use crate::decide::{Candidate, candidate, without_day};
use crate::drive::DreamContext;
use crate::error::DreamError;
use crate::gate::GroundedUnit;
use crate::markdown::DERIVED_FROM;
use crate::material::Material;

/// Digests that cite `source`, in path order.
pub(crate) fn citing(snapshot: &Snapshot, source: &NotePath) -> BTreeSet<NotePath> {
    snapshot
        .graph()
        .in_edges(source)
        .into_iter()
        .filter(|e| e.predicate.is_some_and(|p| p.eq_ignore_ascii_case(DERIVED_FROM)))
        .filter(|e| snapshot.layout().layer(e.source) == Layer::Digest)
        .map(|e| e.source.clone())
        .collect()
}

pub(crate) fn load(
    context: &DreamContext<'_>,
    snapshot: &Snapshot,
    paths: BTreeSet<NotePath>,
) -> Result<Vec<Candidate>, DreamError> {
    let mut out = Vec::new();
    for path in paths {
        out.extend(fresh(context, snapshot, &path, 0.0)?);
    }
    Ok(out)
}

/// A candidate as it is now: one that somebody changed since the snapshot is read anew.
fn fresh(
    context: &DreamContext<'_>,
    snapshot: &Snapshot,
    path: &NotePath,
    score: f64,
) -> Result<Option<Candidate>, DreamError> {
    if let Some(found) = candidate(context.vault, snapshot, path, score)? {
        return Ok(Some(found));
    }
    if snapshot.layout().layer(path) != Layer::Digest || !snapshot.exists(path) {
        return Ok(None);
    }
    context.vault.refresh_files([path.clone()]);
    Ok(candidate(context.vault, &context.vault.snapshot(), path, score)?)
}

/// Wide recall of digests: those near in words, those of the same material or of one that it links
/// to, and those of the same name.
pub(crate) fn replay(
    context: &DreamContext<'_>,
    snapshot: &Snapshot,
    material: &Material,
    unit: &GroundedUnit,
    query: &str,
) -> Vec<Candidate> {
    let mut scores: BTreeMap<NotePath, f64> = BTreeMap::new();
    let mut order: Vec<NotePath> = Vec::new();
    let limit = context.config.neighbours;
    for neighbour in context.neighbours.neighbours(query, limit) {
        if scores.insert(neighbour.path.clone(), neighbour.score).is_none() {
            order.push(neighbour.path);
        }
    }
    let named = context.vault.layout().bucket_folder(unit.bucket);
    let mut near = citing(snapshot, &material.path);
    for linked in material.links.iter().take(limit) {
        match snapshot.layout().layer(linked) {
            Layer::Digest => {
                near.insert(linked.clone());
            }
            _ => near.extend(citing(snapshot, linked)),
        }
    }
    // Also those that were opened when the first was full: `<slug>-<day>`; the first of a name, and
    // of the names of those that are near.
    let stems: BTreeSet<String> = order
        .iter()
        .filter_map(|path| snapshot.note(path))
        .filter(|note| note.bucket == Some(unit.bucket))
        .map(|note| without_day(&note.name).to_owned())
        .chain([unit.name.clone()])
        .map(|name| format!("{named}/{}", slug(&name)))
        .collect();
    let of_a_name = |path: &NotePath| {
        let stem = path.as_str().strip_suffix(".md").unwrap_or("");
        let bare = stem.trim_end_matches(|c: char| c == '-' || c.is_ascii_digit());
        stems.contains(stem) || stems.contains(bare)
    };
    near.extend(snapshot.notes().map(|note| &note.path).filter(|path| of_a_name(path)).cloned());
    order.extend(near.into_iter().filter(|p| !scores.contains_key(p)).take(limit));
    let mut out = Vec::new();
    for path in order {
        let score = scores.get(&path).copied().unwrap_or(0.0);
        match fresh(context, snapshot, &path, score) {
            Ok(found) => out.extend(found),
            Err(error) => tracing::warn!(%path, %error, "a digest near by can't be read, and is no candidate"),
        }
    }
    out
}
