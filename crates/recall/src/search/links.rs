//! Links as evidence: bounded spreading activation from the best notes along the link graph.

use std::collections::BTreeMap;

use dormouse_vault::{Layer, NotePath, Snapshot};

use crate::config::RecallConfig;

/// Links of one note that are followed; a hub's further ones are left alone.
const MAX_LINKS: usize = 64;
/// What a link between two notes of other kinds carries, against 1 between a digest and its source.
const PLAIN_LINK: f64 = 0.4;
/// What a link to the note before or after in a series carries: it says when, not what.
const SERIES_LINK: f64 = 0.1;
/// How much of the activation is left for the second step.
const SECOND_STEP: f64 = 0.5;

/// Spreads the scores of `seeds`, best first, along links, two steps at most. A note gets the
/// strongest of what reaches it, 0..=1 of the best seed's score, damped by the square root of the
/// number of links at the giving end, so that a hub lights up nobody. A doubtful digest passes nothing on.
pub(crate) fn spread(
    seeds: &[(NotePath, f64)],
    snapshot: &Snapshot,
    doubtful: &dyn Fn(&NotePath) -> bool,
    config: &RecallConfig,
) -> BTreeMap<NotePath, f64> {
    let mut out: BTreeMap<NotePath, f64> = BTreeMap::new();
    let best = seeds.first().map_or(0.0, |(_, score)| *score);
    if best <= 0.0 {
        return out;
    }
    for (seed, score) in seeds.iter().filter(|(seed, _)| !doubtful(seed)).take(config.link_seeds) {
        for (next, weight) in neighbours(seed, snapshot) {
            let reached = weight * (score / best).min(1.0);
            raise(&mut out, &next, reached);
            // A second step only over a digest: from one source of it to the others.
            if is_digest(&next, snapshot) && !is_digest(seed, snapshot) && !doubtful(&next) {
                for (far, weight) in neighbours(&next, snapshot).iter().filter(|(far, _)| far != seed) {
                    raise(&mut out, far, reached * SECOND_STEP * weight);
                }
            }
        }
    }
    out
}

fn raise(out: &mut BTreeMap<NotePath, f64>, path: &NotePath, value: f64) {
    let have = out.entry(path.clone()).or_insert(0.0);
    *have = have.max(value);
}

fn is_digest(path: &NotePath, snapshot: &Snapshot) -> bool {
    snapshot.layout().layer(path) == Layer::Digest
}

/// The notes at the other ends of a note's links, with what each link carries: the most that one of
/// several between the two does.
fn neighbours(path: &NotePath, snapshot: &Snapshot) -> Vec<(NotePath, f64)> {
    let graph = snapshot.graph();
    let here = is_digest(path, snapshot);
    let mut ends: BTreeMap<&NotePath, f64> = BTreeMap::new();
    let out_edges = graph.out_edges(path).into_iter().map(|edge| (edge.target, edge.predicate));
    for (end, predicate) in out_edges.chain(graph.in_edges(path).into_iter().map(|edge| (edge.source, edge.predicate)))
    {
        let weight = if here != is_digest(end, snapshot) {
            1.0
        } else if predicate.is_some_and(is_series) {
            SERIES_LINK
        } else {
            PLAIN_LINK
        };
        let have = ends.entry(end).or_insert(0.0);
        *have = have.max(weight);
    }
    ends.remove(path);
    let damping = (ends.len().max(1) as f64).sqrt();
    let mut ends: Vec<(&NotePath, f64)> = ends.into_iter().collect();
    ends.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    ends.into_iter().take(MAX_LINKS).map(|(end, weight)| (end.clone(), weight / damping)).collect()
}

/// Predicates that put notes in a row.
fn is_series(predicate: &str) -> bool {
    matches!(
        predicate,
        "previous" | "prev" | "next" | "before" | "after" | "yesterday" | "tomorrow" | "上一篇" | "下一篇"
    )
}
