//! The graph whose themes are sought: digest notes, joined by their links and by common sources.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_vault::NotePath;

use crate::config::CommunitiesConfig;
use crate::inputs::Inputs;
use dormouse_vault::{Csr, GraphError};

/// A source with more digests than this says nothing about their theme.
const MAX_SHARING: usize = 64;

/// Joins two digests by 1 when either links to the other, however often, and by
/// `source_coupling / n` for each source that they share with n digests in all. The links of a note
/// with more than `hub_cap` neighbours weigh `hub_cap / neighbours`.
pub(super) fn build(inputs: &Inputs, config: &CommunitiesConfig) -> Result<Csr, GraphError> {
    let mut weights: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    let mut by_source: BTreeMap<&NotePath, BTreeSet<u32>> = BTreeMap::new();
    let graph = inputs.snapshot.graph();
    for (at, digest) in inputs.digests.iter().enumerate() {
        let from = at as u32;
        for edge in graph.out_edges(digest.path()) {
            match inputs.position(edge.target) {
                Some(to) if to != at => {
                    weights.insert((from.min(to as u32), from.max(to as u32)), 1.0);
                }
                Some(_) => {}
                None => {
                    by_source.entry(edge.target).or_default().insert(from);
                }
            }
        }
    }
    damp_hubs(&mut weights, inputs.digests.len(), config.hub_cap);
    let coupling = if config.source_coupling.is_finite() { config.source_coupling.max(0.0) } else { 0.0 };
    for sharing in by_source.values().filter(|s| s.len() > 1 && s.len() <= MAX_SHARING && coupling > 0.0) {
        let weight = coupling / sharing.len() as f64;
        for (i, &u) in sharing.iter().enumerate() {
            for &v in sharing.iter().skip(i + 1) {
                *weights.entry((u, v)).or_insert(0.0) += weight;
            }
        }
    }
    let edges: Vec<_> = weights.into_iter().map(|((u, v), w)| (u, v, w)).collect();
    Csr::undirected(inputs.digests.len(), &edges)
}

fn damp_hubs(weights: &mut BTreeMap<(u32, u32), f64>, nodes: usize, cap: usize) {
    let mut degree = vec![0_usize; nodes];
    for (u, v) in weights.keys() {
        for node in [u, v] {
            if let Some(d) = degree.get_mut(*node as usize) {
                *d += 1;
            }
        }
    }
    let share = |node: u32| {
        let degree = degree.get(node as usize).copied().unwrap_or(0);
        if degree > cap { cap.max(1) as f64 / degree as f64 } else { 1.0 }
    };
    for (&(u, v), weight) in weights.iter_mut() {
        *weight *= share(u) * share(v);
    }
}

/// The member that holds the group together: the parent of a split when its children are here, else
/// the one with the most weight inside, else the first by path. `None` for no members.
pub(super) fn hub(inputs: &Inputs, graph: &Csr, group: &[usize]) -> Option<NotePath> {
    let inside: BTreeSet<u32> = group.iter().map(|&n| n as u32).collect();
    let links = inputs.snapshot.graph();
    let score = |node: u32| -> (usize, f64) {
        let children = inputs.digests.get(node as usize).map_or(0, |digest| {
            let parts =
                links.in_edges(digest.path()).into_iter().filter(|e| e.predicate == Some(crate::split::PART_OF));
            parts.filter_map(|e| inputs.position(e.source)).filter(|&s| inside.contains(&(s as u32))).count()
        });
        let weight = graph.row(node).filter(|(v, _)| inside.contains(v)).map(|(_, w)| w).sum();
        (if children >= 2 { children } else { 0 }, weight)
    };
    let mut best: Option<(u32, (usize, f64))> = None;
    for &node in &inside {
        let mine = score(node);
        if best.is_none_or(|(_, b)| mine.0 > b.0 || (mine.0 == b.0 && mine.1 > b.1 + 1e-12)) {
            best = Some((node, mine));
        }
    }
    best.and_then(|(node, _)| inputs.digests.get(node as usize)).map(|d| d.path().clone())
}
