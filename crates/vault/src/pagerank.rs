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
                RawWeights::Equal(weight) => flow.sweep(&Even(weight)),
                RawWeights::Each(weights) => flow.sweep(&Each(weights)),
            };
            // A sweep shrinks what is left by at least the damping.
            if change * damping / (1.0 - damping) <= self.tolerance * whole {
                break;
            }
        }
        let mut rank = match incoming.raw().weights {
            RawWeights::Equal(weight) => flow.ranks(&Even(weight)),
            RawWeights::Each(weights) => flow.ranks(&Each(weights)),
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
    has_loops: bool,
}

/// The weights of the rows.
trait Weight {
    /// The weight at a place in the rows.
    fn of(&self, at: usize) -> f64;

    /// The shares of a row's sources by their weights; the row begins at `begin`.
    fn sum(&self, begin: usize, sources: &[u32], share: &[f64]) -> f64;
}

/// All weigh the same.
struct Even(f64);

impl Weight for Even {
    fn of(&self, _: usize) -> f64 {
        self.0
    }

    /// Four sums side by side: one would wait for each addition before the next.
    #[inline]
    fn sum(&self, _: usize, sources: &[u32], share: &[f64]) -> f64 {
        let (fours, rest) = sources.as_chunks::<4>();
        let mut sums = [0.0; 4];
        for four in fours {
            for (sum, source) in sums.iter_mut().zip(four) {
                *sum += share[*source as usize];
            }
        }
        for (sum, source) in sums.iter_mut().zip(rest) {
            *sum += share[*source as usize];
        }
        self.0 * ((sums[0] + sums[1]) + (sums[2] + sums[3]))
    }
}

/// Each has a weight of its own.
struct Each<'a>(&'a [f64]);

impl Weight for Each<'_> {
    fn of(&self, at: usize) -> f64 {
        self.0[at]
    }

    #[inline]
    fn sum(&self, begin: usize, sources: &[u32], share: &[f64]) -> f64 {
        let weights = &self.0[begin..begin + sources.len()];
        sources.iter().zip(weights).map(|(source, weight)| share[*source as usize] * weight).sum()
    }
}

impl<'a> Flow<'a> {
    fn new(graph: &Csr, incoming: &'a Csr, reset: Vec<f64>, damping: f64) -> Self {
        let out = graph.strengths();
        // Where all jump alike, a node of an undirected graph has about its share of all links.
        let total: f64 = out.iter().sum();
        let even = !graph.is_directed() && total > 0.0 && reset.iter().all(|r| *r == reset[0]);
        let followed = damping / (1.0 - damping);
        let start = |reset: f64, out: f64| reset + followed * if even { out / total } else { reset };
        let share = |(&reset, &out): (&f64, &f64)| if out > 0.0 { start(reset, out) / out } else { 0.0 };
        let share = reset.iter().zip(&out).map(share).collect();
        let passing = (0..).zip(&out).filter(|(_, out)| **out > 0.0).map(|(node, _)| node).collect();
        let raw = incoming.raw();
        let loops = if graph.is_directed() { 1.0 } else { 2.0 };
        let has_loops = (0..graph.nodes() as u32).any(|node| graph.row(node).any(|(to, _)| to == node));
        Self { offsets: raw.offsets, sources: raw.targets, reset, damping, passing, out, share, loops, has_loops }
    }

    /// What reaches a node, and what its own loop brings for each unit of its share.
    #[inline]
    fn inflow(&self, node: usize, weight: &impl Weight) -> (f64, f64) {
        let (begin, end) = (self.offsets[node] as usize, self.offsets[node + 1] as usize);
        let sources = &self.sources[begin..end];
        if !self.has_loops {
            return (weight.sum(begin, sources, &self.share), 0.0);
        }
        let own = sources.binary_search(&(node as u32)).map_or(0.0, |at| weight.of(begin + at));
        (weight.sum(begin, sources, &self.share) - own * self.share[node], self.loops * own)
    }

    /// One sweep; what changed, and the sum of all ranks that were computed.
    fn sweep(&mut self, weight: &impl Weight) -> (f64, f64) {
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

    fn ranks(&self, weight: &impl Weight) -> Vec<f64> {
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
