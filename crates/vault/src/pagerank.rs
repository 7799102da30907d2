//! PageRank on sparse rows (Brin and Page 1998), plain and personalised.
#![expect(clippy::indexing_slicing, reason = "all vectors have one entry per node, and rows name nodes of the graph")]

use crate::sparse::{Csr, GraphError};

/// Settings of PageRank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageRank {
    /// Share of rank that follows links, 0..1. Default 0.85.
    pub damping: f64,
    /// Stops when all ranks together change by less. Default 1e-12.
    pub tolerance: f64,
    /// Rounds at most. Default 500.
    pub max_rounds: u32,
}

impl Default for PageRank {
    fn default() -> Self {
        Self { damping: 0.85, tolerance: 1e-12, max_rounds: 500 }
    }
}

impl PageRank {
    /// The rank of every node; the sum is 1. `edges` are directed and parallel ones add; an
    /// undirected graph ranks by both directions of each edge (a self-loop twice). Rank of nodes
    /// without out-edges goes to all alike. Empty for no nodes. O(rounds · m).
    ///
    /// # Errors
    /// [`GraphError`] for weights that mean nothing.
    pub fn rank(&self, graph: &Csr) -> Result<Vec<f64>, GraphError> {
        self.rank_from(graph, &[])
    }

    /// Personalised: jumps, and the rank of nodes without out-edges, go to `seeds` in proportion to
    /// their weights. Seeds that are no nodes or have no positive finite weight are ignored; when
    /// none is left, all nodes are seeds alike.
    ///
    /// # Errors
    /// As [`PageRank::rank`].
    pub fn rank_from(&self, graph: &Csr, seeds: &[(u32, f64)]) -> Result<Vec<f64>, GraphError> {
        let n = graph.nodes();
        if n == 0 {
            return Ok(Vec::new());
        }
        let reset = reset_vector(n, seeds);
        let (incoming, out) = in_edges(graph)?;
        let damping = if self.damping.is_finite() { self.damping.clamp(0.0, 1.0) } else { 0.85 };
        let mut rank = reset.clone();
        for _ in 0..self.max_rounds {
            let dangling: f64 = (0..n).filter(|&u| out[u] <= 0.0).map(|u| rank[u]).sum();
            let mut next: Vec<f64> = (0..n as u32)
                .map(|v| {
                    let through: f64 = incoming.row(v).map(|(u, w)| rank[u as usize] * (w / out[u as usize])).sum();
                    let at = reset[v as usize];
                    damping * (through + dangling * at) + (1.0 - damping) * at
                })
                .collect();
            let sum: f64 = next.iter().sum();
            next.iter_mut().for_each(|r| *r /= sum);
            let change: f64 = next.iter().zip(&rank).map(|(a, b)| (a - b).abs()).sum();
            rank = next;
            if change < self.tolerance {
                break;
            }
        }
        Ok(rank)
    }
}

fn reset_vector(n: usize, seeds: &[(u32, f64)]) -> Vec<f64> {
    let mut reset = vec![0.0; n];
    for &(node, weight) in seeds {
        if weight.is_finite()
            && weight > 0.0
            && let Some(slot) = reset.get_mut(node as usize)
        {
            *slot += weight;
        }
    }
    let total: f64 = reset.iter().sum();
    if total > 0.0 && total.is_finite() {
        reset.iter_mut().for_each(|r| *r /= total);
        reset
    } else {
        vec![1.0 / n as f64; n]
    }
}

/// The graph turned round, and the weight that leaves each node.
fn in_edges(graph: &Csr) -> Result<(Csr, Vec<f64>), GraphError> {
    let n = graph.nodes();
    let mut turned = Vec::new();
    let mut out = vec![0.0; n];
    for u in 0..n as u32 {
        for (v, weight) in graph.row(u) {
            let weight = if u == v && !graph.is_directed() { 2.0 * weight } else { weight };
            out[u as usize] += weight;
            turned.push((v, u, weight));
        }
    }
    Ok((Csr::directed(n, &turned)?, out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(nodes: usize, edges: &[(u32, u32)], seeds: &[(u32, f64)]) -> Vec<f64> {
        let edges: Vec<_> = edges.iter().map(|&(u, v)| (u, v, 1.0)).collect();
        PageRank::default().rank_from(&Csr::directed(nodes, &edges).unwrap(), seeds).unwrap()
    }

    #[test]
    fn con_02_rank_of_notes_without_out_links_is_not_lost() {
        let rank = ranks(4, &[(0, 1), (0, 2), (1, 2)], &[]);
        for (got, expected) in rank.iter().zip([0.164_982, 0.2351, 0.434_935, 0.164_982]) {
            assert!((got - expected).abs() < 1e-4, "{rank:?}");
        }
        assert!((rank.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn con_02_one_note_has_all_the_rank_and_none_has_none() {
        assert_eq!(ranks(1, &[], &[]), [1.0]);
        assert_eq!(ranks(1, &[(0, 0)], &[]), [1.0]);
        assert!(ranks(0, &[], &[]).is_empty());
    }

    #[test]
    fn con_02_an_unknown_seed_gives_the_plain_ranking() {
        let edges = [(0, 1), (0, 2), (1, 2)];
        let plain = ranks(4, &edges, &[]);
        assert_eq!(ranks(4, &edges, &[(99, 1.0)]), plain);
        assert_eq!(ranks(4, &edges, &[(0, f64::NAN), (1, -1.0), (2, 0.0)]), plain);
    }

    #[test]
    fn personalised_rank_stays_near_its_seed() {
        let rank = ranks(4, &[(0, 1), (1, 0), (2, 3), (3, 2)], &[(0, 1.0)]);
        assert!(rank[0] > 0.5 && rank[2] == 0.0 && rank[3] == 0.0, "{rank:?}");
    }
}
