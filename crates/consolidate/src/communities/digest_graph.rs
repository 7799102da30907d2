//! The graph whose themes are sought: digest notes, joined by their links and by common sources.

use dormouse_vault::{Csr, GraphError, NotePath};

use crate::config::CommunitiesConfig;
use crate::inputs::Inputs;

/// A source with more digests than this says nothing about their theme.
const MAX_SHARING: usize = 64;

/// The digests in order, joined.
pub(super) struct DigestGraph {
    pub(super) rows: Csr,
    /// `(part, whole)` of what splits left.
    wholes: Vec<(u32, u32)>,
}

impl DigestGraph {
    /// Joins two digests by 1 when either links to the other, however often, and by
    /// `source_coupling / n` for each source that they share with n digests in all. The links of a
    /// note with more than `hub_cap` neighbours weigh `hub_cap / neighbours`. O(n + m log m).
    pub(super) fn build(inputs: &Inputs<'_>, config: &CommunitiesConfig) -> Result<Self, GraphError> {
        let files: Vec<&NotePath> = inputs.digests.iter().map(|digest| digest.path()).collect();
        let links = inputs.snapshot.graph().links_of(&files, crate::split::PART_OF);
        let nodes = files.len();
        let (mut joined, mut cited) = (Vec::new(), Vec::new());
        for (from, bounds) in (0_u32..).zip(links.offsets.windows(2)) {
            let row = bounds.first().zip(bounds.last()).and_then(|(&begin, &end)| links.targets.get(begin..end));
            for &to in row.unwrap_or_default() {
                if (to as usize) < nodes {
                    joined.push(pack(from.min(to), from.max(to)));
                } else {
                    cited.push(pack(to, from));
                }
            }
        }
        joined.sort_unstable();
        joined.dedup();
        let mut edges = damped(&joined, nodes, config.hub_cap);
        drop(joined);
        let coupling = if config.source_coupling.is_finite() { config.source_coupling.max(0.0) } else { 0.0 };
        if coupling > 0.0 {
            cited.sort_unstable();
            for sharing in cited.chunk_by(|a, b| a >> 32 == b >> 32) {
                if (2..=MAX_SHARING).contains(&sharing.len()) {
                    let weight = coupling / sharing.len() as f64;
                    for (i, &u) in sharing.iter().enumerate() {
                        edges.extend(sharing.iter().skip(i + 1).map(|&v| (u as u32, v as u32, weight)));
                    }
                }
            }
        }
        let wholes = links.marked.iter().copied().filter(|&(_, whole)| (whole as usize) < nodes).collect();
        Ok(Self { rows: Csr::undirected(nodes, &edges)?, wholes })
    }

    /// The member that holds each group together: the parent of a split when two of its children
    /// are in the group, else the one with the most weight inside, else the first. `groups` are
    /// ascending; `membership` has the community of each node. O(m).
    pub(super) fn hubs(&self, groups: &[Vec<u32>], membership: &[u32]) -> Vec<Option<u32>> {
        let of = |node: u32| membership.get(node as usize);
        let mut children = vec![0_u32; self.rows.nodes()];
        for &(part, whole) in &self.wholes {
            if let Some(count) = children.get_mut(whole as usize).filter(|_| of(part) == of(whole)) {
                *count += 1;
            }
        }
        let hub = |group: &Vec<u32>| {
            let mut best: Option<(u32, u32, f64)> = None;
            for &node in group {
                let children = children.get(node as usize).copied().filter(|&count| count >= 2).unwrap_or(0);
                let inside = self.rows.row(node).filter(|&(v, _)| v != node && of(v) == of(node));
                let weight: f64 = inside.map(|(_, w)| w).sum();
                if best.is_none_or(|(_, most, heaviest)| {
                    children > most || (children == most && weight > heaviest + 1e-12)
                }) {
                    best = Some((node, children, weight));
                }
            }
            best.map(|(node, ..)| node)
        };
        groups.iter().map(hub).collect()
    }
}

const fn pack(high: u32, low: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// The links with their weights.
fn damped(joined: &[u64], nodes: usize, cap: usize) -> Vec<(u32, u32, f64)> {
    let mut degree = vec![0_usize; nodes];
    let ends = |pair: u64| ((pair >> 32) as u32, pair as u32);
    for &pair in joined {
        let (u, v) = ends(pair);
        for node in [u, v] {
            if let Some(degree) = degree.get_mut(node as usize) {
                *degree += 1;
            }
        }
    }
    let share = |node: u32| {
        let degree = degree.get(node as usize).copied().unwrap_or(0);
        if degree > cap { cap.max(1) as f64 / degree as f64 } else { 1.0 }
    };
    joined.iter().map(|&pair| ends(pair)).map(|(u, v)| (u, v, share(u) * share(v))).collect()
}
