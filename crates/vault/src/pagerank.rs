//! PageRank on sparse rows (Brin and Page 1998), plain and personalised, by Gauss–Seidel sweeps.
//!
//! Rank that nodes without out-edges hold goes where jumps go. The ranks are then the solution of
//! `z = reset + damping · Pᵀ z` with the rows of those nodes empty, divided by its sum (Del Corso,
//! Gulli, Romani 2005), so that no round has to collect and spread that rank.
#![expect(clippy::indexing_slicing, reason = "all vectors have one entry per node, and rows name nodes of the graph")]

use std::borrow::Cow;

use crate::sparse::{Csr, GraphError, RawWeights};

/// Settings of PageRank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageRank {
    /// Share of rank that follows links, 0..1; above 0.9999 it is 0.9999. Default 0.85.
    pub damping: f64,
    /// What all ranks together may be off by. Default 1e-10.
    pub tolerance: f64,
    /// Rounds at most. Default 500.
    pub max_rounds: u32,
}

impl Default for PageRank {
    fn default() -> Self {
        Self { damping: 0.85, tolerance: 1e-10, max_rounds: 500 }
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
        let damping = if self.damping.is_finite() { self.damping.clamp(0.0, 0.9999) } else { 0.85 };
        let incoming = if graph.is_directed() { Cow::Owned(graph.turned()) } else { Cow::Borrowed(graph) };
        let mut flow = Flow::new(graph, &incoming, reset_vector(n, seeds), damping);
        for _ in 0..self.max_rounds {
            let (change, whole) = match incoming.raw().weights {
                RawWeights::Equal(weight) => flow.sweep(&|_| weight),
                RawWeights::Each(weights) => flow.sweep(&|at| weights[at]),
            };
            // A sweep shrinks what is left by at least the damping.
            if change * damping / (1.0 - damping) <= self.tolerance * whole {
                break;
            }
        }
        let mut rank = match incoming.raw().weights {
            RawWeights::Equal(weight) => flow.ranks(&|_| weight),
            RawWeights::Each(weights) => flow.ranks(&|at| weights[at]),
        };
        let sum: f64 = rank.iter().sum();
        rank.iter_mut().for_each(|r| *r /= sum);
        Ok(rank)
    }
}

/// Ranks on their way to rest.
struct Flow<'a> {
    offsets: &'a [u32],
    sources: &'a [u32],
    reset: Vec<f64>,
    damping: f64,
    /// Nodes that pass rank on; the others are computed once, at the end.
    passing: Vec<u32>,
    /// The weight that leaves each node.
    out: Vec<f64>,
    /// `z / out` of each node that passes rank on, 0 of the others.
    share: Vec<f64>,
    /// How often the self-loop of a row counts.
    loops: f64,
}

impl<'a> Flow<'a> {
    fn new(graph: &Csr, incoming: &'a Csr, reset: Vec<f64>, damping: f64) -> Self {
        let out = graph.strengths();
        let share = reset.iter().zip(&out).map(|(z, out)| if *out > 0.0 { z / out } else { 0.0 }).collect();
        let passing = (0..).zip(&out).filter(|(_, out)| **out > 0.0).map(|(node, _)| node).collect();
        let raw = incoming.raw();
        let loops = if graph.is_directed() { 1.0 } else { 2.0 };
        Self { offsets: raw.offsets, sources: raw.targets, reset, damping, passing, out, share, loops }
    }

    /// What reaches a node, and what its own loop brings for each unit of its share.
    #[inline]
    fn inflow(&self, node: usize, weight: &impl Fn(usize) -> f64) -> (f64, f64) {
        let (mut sum, mut own) = (0.0, 0.0);
        let (begin, end) = (self.offsets[node] as usize, self.offsets[node + 1] as usize);
        for (at, &source) in (begin..end).zip(&self.sources[begin..end]) {
            if source as usize == node {
                own += self.loops * weight(at);
            } else {
                sum += self.share[source as usize] * weight(at);
            }
        }
        (sum, own)
    }

    /// One sweep; what changed, and the sum of all ranks that were computed.
    fn sweep(&mut self, weight: &impl Fn(usize) -> f64) -> (f64, f64) {
        let (mut change, mut whole) = (0.0, 0.0);
        for i in 0..self.passing.len() {
            let node = self.passing[i] as usize;
            let (sum, own) = self.inflow(node, weight);
            let out = self.out[node];
            let share = (self.reset[node] + self.damping * sum) / (out - self.damping * own);
            change += (share - self.share[node]).abs() * out;
            whole += share * out;
            self.share[node] = share;
        }
        (change, whole)
    }

    fn ranks(&self, weight: &impl Fn(usize) -> f64) -> Vec<f64> {
        let rank = |node: usize| match self.out[node] {
            out if out > 0.0 => self.share[node] * out,
            _ => self.reset[node] + self.damping * self.inflow(node, weight).0,
        };
        (0..self.out.len()).map(rank).collect()
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
