//! Links as evidence: bounded spreading activation from the best notes along the link graph.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_vault::{Layer, NotePath, Snapshot};

use crate::config::RecallConfig;

/// Links of one note that are followed; a hub's further ones are left alone.
const MAX_LINKS: usize = 64;
/// What a link between two notes of other kinds carries, against 1 between a digest and its source.
const PLAIN_LINK: f64 = 0.4;
/// How much of the activation is left for the second step.
const SECOND_STEP: f64 = 0.5;

/// Spreads the scores of `seeds` along links, two steps at most. A note gets the strongest of what
/// reaches it, damped by the square root of the number of links at the giving end, so that a hub
/// lights up nobody.
pub(crate) fn spread(seeds: &[(NotePath, f64)], snapshot: &Snapshot, config: &RecallConfig) -> BTreeMap<NotePath, f64> {
    let mut out: BTreeMap<NotePath, f64> = BTreeMap::new();
    for (seed, score) in seeds.iter().take(config.link_seeds) {
        let near = neighbours(seed, snapshot);
        for (next, weight) in &near {
            let reached = config.link_share * weight * score;
            raise(&mut out, next, reached);
            // A second step only over a digest: from one source of it to the others.
            if is_digest(next, snapshot) && !is_digest(seed, snapshot) {
                for (far, weight) in neighbours(next, snapshot).iter().filter(|(far, _)| far != seed) {
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

fn neighbours(path: &NotePath, snapshot: &Snapshot) -> Vec<(NotePath, f64)> {
    let graph = snapshot.graph();
    let mut ends: BTreeSet<&NotePath> = graph.out_edges(path).iter().map(|e| e.target).collect();
    ends.extend(graph.in_edges(path).iter().map(|e| e.source));
    ends.remove(path);
    let damping = (ends.len().max(1) as f64).sqrt();
    let here = is_digest(path, snapshot);
    let weight = |end: &NotePath| {
        if here != is_digest(end, snapshot) { 1.0 } else { PLAIN_LINK }
    };
    ends.into_iter().take(MAX_LINKS).map(|end| (end.clone(), weight(end) / damping)).collect()
}
