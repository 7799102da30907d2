//! The Leiden algorithm (Traag, Waltman, van Eck: From Louvain to Leiden, 2019) for modularity with
//! resolution γ, from the paper: fast local moving, refinement, aggregation, until nothing moves.
#![expect(
    clippy::indexing_slicing,
    reason = "node and community ids are below the number of nodes of the level by construction"
)]

use std::collections::VecDeque;

use super::modularity::{modularity, renumber};
use crate::rng::SplitMix64;
use dormouse_vault::{Csr, GraphError};

/// Settings of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leiden {
    /// Resolution γ, positive; larger gives more communities. Default 1.
    pub resolution: f64,
    /// The same seed gives the same partition on every machine. Default 0.
    pub seed: u64,
    /// Passes over the whole graph at most; a run ends before when a pass changes nothing.
    /// Default 32.
    pub max_passes: u32,
}

impl Default for Leiden {
    fn default() -> Self {
        Self { resolution: 1.0, seed: 0, max_passes: 32 }
    }
}

/// A partition with its quality.
#[derive(Debug, Clone, PartialEq)]
pub struct Partition {
    /// The community of each node: 0, 1, … in order of first node.
    pub membership: Vec<u32>,
    /// Its modularity, computed anew on the graph that was given.
    pub modularity: f64,
}

/// θ of the refinement: how much chance it admits, in units of the mean edge weight.
const THETA: f64 = 0.01;
/// A gain below this share of the whole weight is none: it keeps rounding from moving nodes in
/// circles.
const EPSILON: f64 = 1e-12;

impl Leiden {
    /// Partitions `graph` from scratch. Every community is connected; nodes without edges are
    /// alone; a graph without weight gives singletons. O(passes · m) in practice.
    ///
    /// # Errors
    /// [`GraphError::InvalidResolution`].
    pub fn run(&self, graph: &Csr) -> Result<Partition, GraphError> {
        let singletons: Vec<u32> = (0..graph.nodes() as u32).collect();
        self.run_from(graph, &singletons, &|| false)
    }

    /// Partitions `graph`, starting from `membership` (nodes that it does not name are alone), and
    /// returns the best found so far as soon as `stop` says true.
    ///
    /// # Errors
    /// As [`Leiden::run`].
    pub fn run_from(&self, graph: &Csr, membership: &[u32], stop: &dyn Fn() -> bool) -> Result<Partition, GraphError> {
        if !(self.resolution.is_finite() && self.resolution > 0.0) {
            return Err(GraphError::InvalidResolution(self.resolution));
        }
        let mut current: Vec<u32> = membership.iter().copied().take(graph.nodes()).collect();
        let first_free = current.iter().max().map_or(0, |&m| m.saturating_add(1));
        current.extend((0..(graph.nodes() - current.len()) as u32).map(|i| first_free.saturating_add(i)));
        let mut current = graph.components_within(&current);
        let total: f64 = graph.strengths().iter().sum();
        if total <= 0.0 {
            return Ok(Partition { membership: (0..graph.nodes() as u32).collect(), modularity: 0.0 });
        }
        let scaled = graph.clone().scaled(total);
        let mean_weight = 1.0 / (scaled.nodes() as f64).max(scaled_edges(&scaled));
        let mut rng = SplitMix64::new(self.seed ^ 0x6C65_6964_656E);
        let mut quality = modularity(&scaled, &current, self.resolution);
        for _ in 0..self.max_passes {
            let moved = self.pass(&scaled, &current, THETA * mean_weight, &mut rng, stop);
            let moved = scaled.components_within(&moved);
            let better = modularity(&scaled, &moved, self.resolution);
            if better <= quality + EPSILON {
                break;
            }
            (current, quality) = (moved, better);
            if stop() {
                break;
            }
        }
        let membership = renumber(&current);
        let modularity = modularity(graph, &membership, self.resolution);
        Ok(Partition { membership, modularity })
    }

    /// One pass: from the nodes up through the aggregated levels.
    fn pass(&self, graph: &Csr, start: &[u32], theta: f64, rng: &mut SplitMix64, stop: &dyn Fn() -> bool) -> Vec<u32> {
        let mut level = Level::new(graph.clone());
        let mut membership = renumber(start);
        // Which node of the present level each node of the graph is in.
        let mut inside: Vec<u32> = (0..graph.nodes() as u32).collect();
        loop {
            membership = level.move_nodes(membership, self.resolution, rng, stop);
            let count = membership.iter().max().map_or(0, |&m| m as usize + 1);
            if count == level.graph.nodes() || stop() {
                break;
            }
            let mut refined = level.refine(&membership, self.resolution, theta, rng);
            let mut refined_count = refined.iter().max().map_or(0, |&m| m as usize + 1);
            if refined_count == level.graph.nodes() {
                // Nothing merged: go on with the communities themselves, so that each level is
                // smaller than the one before.
                refined = membership.clone();
                refined_count = count;
            }
            let mut upper = vec![0_u32; refined_count];
            for (node, &part) in refined.iter().enumerate() {
                upper[part as usize] = membership[node];
            }
            for node in &mut inside {
                *node = refined[*node as usize];
            }
            level = level.aggregate(&refined, refined_count);
            membership = renumber(&upper);
        }
        inside.iter().map(|&node| membership[node as usize]).collect()
    }
}

/// Number of undirected edges, self-loops included.
fn scaled_edges(graph: &Csr) -> f64 {
    let (mut loops, mut ends) = (0_usize, 0_usize);
    for u in 0..graph.nodes() as u32 {
        for (v, _) in graph.row(u) {
            if v == u { loops += 1 } else { ends += 1 }
        }
    }
    (loops + ends / 2) as f64
}

/// A level of the aggregation: its nodes are sets of nodes of the level below. All weights are
/// shares of 2m, so that gains need no division.
struct Level {
    graph: Csr,
    strengths: Vec<f64>,
}

/// Weights from one node to the communities around it, kept between nodes to avoid clearing.
struct Around {
    weight: Vec<f64>,
    listed: Vec<u32>,
}

impl Around {
    fn new(communities: usize) -> Self {
        Self { weight: vec![0.0; communities], listed: Vec::new() }
    }

    fn add(&mut self, community: u32, weight: f64) {
        let slot = &mut self.weight[community as usize];
        if *slot == 0.0 {
            self.listed.push(community);
        }
        *slot += weight;
    }

    fn clear(&mut self) {
        for community in self.listed.drain(..) {
            self.weight[community as usize] = 0.0;
        }
    }
}

impl Level {
    fn new(graph: Csr) -> Self {
        let strengths = graph.strengths();
        Self { graph, strengths }
    }

    /// Fast local moving: a queue of nodes in random order; each goes where the gain is largest
    /// (or to a community of its own), and its neighbours outside are queued again.
    fn move_nodes(
        &self,
        mut membership: Vec<u32>,
        gamma: f64,
        rng: &mut SplitMix64,
        stop: &dyn Fn() -> bool,
    ) -> Vec<u32> {
        let n = self.graph.nodes();
        let (mut strength, mut size) = (vec![0.0; n], vec![0_u32; n]);
        for (node, &c) in membership.iter().enumerate() {
            strength[c as usize] += self.strengths[node];
            size[c as usize] += 1;
        }
        let mut empty: Vec<u32> = (0..n as u32).rev().filter(|&c| size[c as usize] == 0).collect();
        let mut order: Vec<u32> = (0..n as u32).collect();
        rng.shuffle(&mut order);
        let mut queue: VecDeque<u32> = order.into();
        let mut queued = vec![true; n];
        let mut around = Around::new(n);
        let mut turns = 0_u64;
        // The paper's queue ends by itself; the bound only guards against rounding.
        let limit = 64 * (n as u64) + 1024;
        while let Some(node) = queue.pop_front() {
            queued[node as usize] = false;
            turns += 1;
            if turns > limit || (turns & 0x3FF == 0 && stop()) {
                break;
            }
            let own = membership[node as usize];
            let k = self.strengths[node as usize];
            strength[own as usize] -= k;
            size[own as usize] -= 1;
            for (other, weight) in self.graph.row(node).filter(|&(v, _)| v != node) {
                around.add(membership[other as usize], weight);
            }
            let stay = around.weight[own as usize] - gamma * k * strength[own as usize];
            let (mut best, mut best_gain) = (own, stay);
            for &c in &around.listed {
                let gain = around.weight[c as usize] - gamma * k * strength[c as usize];
                if gain > best_gain + EPSILON {
                    (best, best_gain) = (c, gain);
                }
            }
            if size[own as usize] > 0
                && best_gain < -EPSILON
                && let Some(free) = empty.pop()
            {
                best = free;
            }
            if size[own as usize] == 0 && best != own {
                strength[own as usize] = 0.0;
                empty.push(own);
            }
            strength[best as usize] += k;
            size[best as usize] += 1;
            if best != own {
                membership[node as usize] = best;
                for (other, _) in self.graph.row(node) {
                    if membership[other as usize] != best && !queued[other as usize] {
                        queued[other as usize] = true;
                        queue.push_back(other);
                    }
                }
            }
            around.clear();
        }
        renumber(&membership)
    }

    /// Refinement: within each community, nodes that are well connected to it start alone and join,
    /// at random in proportion to `exp(gain / θ)`, a well connected part that does not lower the
    /// quality. Parts are connected by construction.
    fn refine(&self, membership: &[u32], gamma: f64, theta: f64, rng: &mut SplitMix64) -> Vec<u32> {
        let n = self.graph.nodes();
        let mut whole = vec![0.0; n];
        for (node, &c) in membership.iter().enumerate() {
            whole[c as usize] += self.strengths[node];
        }
        let mut part: Vec<u32> = (0..n as u32).collect();
        let mut strength = self.strengths.clone();
        let mut size = vec![1_u32; n];
        // Weight from each part to the rest of its community.
        let mut outward: Vec<f64> = (0..n as u32).map(|u| self.weight_within(u, membership)).collect();
        let mut order: Vec<u32> = (0..n as u32).collect();
        rng.shuffle(&mut order);
        let mut around = Around::new(n);
        let mut choices: Vec<(u32, f64)> = Vec::new();
        for node in order {
            let at = node as usize;
            let (k, home) = (self.strengths[at], membership[at]);
            let community = whole[home as usize];
            if size[part[at] as usize] != 1 || part[at] != node || outward[at] + EPSILON < gamma * k * (community - k) {
                continue;
            }
            for (other, weight) in self.graph.row(node).filter(|&(v, _)| v != node && membership[v as usize] == home) {
                around.add(part[other as usize], weight);
            }
            choices.clear();
            for &c in &around.listed {
                let kc = strength[c as usize];
                let well = outward[c as usize] + EPSILON >= gamma * kc * (community - kc);
                let gain = around.weight[c as usize] - gamma * k * kc;
                if well && gain >= 0.0 {
                    choices.push((c, gain));
                }
            }
            if let Some(chosen) = choose(&choices, theta, rng) {
                let to_chosen = around.weight[chosen as usize];
                outward[chosen as usize] += outward[at] - 2.0 * to_chosen;
                strength[chosen as usize] += k;
                size[chosen as usize] += 1;
                size[at] = 0;
                strength[at] = 0.0;
                part[at] = chosen;
            }
            around.clear();
        }
        renumber(&part)
    }

    fn weight_within(&self, node: u32, membership: &[u32]) -> f64 {
        let home = membership[node as usize];
        self.graph.row(node).filter(|&(v, _)| v != node && membership[v as usize] == home).map(|(_, w)| w).sum()
    }

    /// The graph whose nodes are the parts; links inside a part become its self-loop.
    fn aggregate(&self, parts: &[u32], count: usize) -> Self {
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (node, &p) in parts.iter().enumerate() {
            members[p as usize].push(node as u32);
        }
        let mut around = Around::new(count);
        let mut edges = Vec::new();
        for (p, nodes) in members.iter().enumerate() {
            for &node in nodes {
                for (other, weight) in self.graph.row(node) {
                    let q = parts[other as usize];
                    if q as usize == p {
                        // An inner edge is met from both ends, a self-loop once.
                        around.add(q, if other == node { weight } else { weight / 2.0 });
                    } else if q as usize > p {
                        around.add(q, weight);
                    }
                }
            }
            edges.extend(around.listed.iter().map(|&q| (p as u32, q, around.weight[q as usize])));
            around.clear();
        }
        let graph = Csr::undirected(count, &edges).unwrap_or_else(|_| self.graph.clone());
        Self::new(graph)
    }
}

/// Draws one of `choices` in proportion to `exp(gain / θ)`; `None` when there is none.
fn choose(choices: &[(u32, f64)], theta: f64, rng: &mut SplitMix64) -> Option<u32> {
    let best = choices.iter().map(|c| c.1).fold(f64::NEG_INFINITY, f64::max);
    let weigh = |gain: f64| exp((gain - best) / theta);
    let total: f64 = choices.iter().map(|c| weigh(c.1)).sum();
    let mut left = rng.unit() * total;
    for &(community, gain) in choices {
        left -= weigh(gain);
        if left < 0.0 {
            return Some(community);
        }
    }
    choices.last().map(|c| c.0)
}

/// `e^x` for x ≤ 0 from basic arithmetic alone: the system's `exp` differs in its last bit between
/// machines, and a partition must not. Relative error below 1e-12; 0 below −700.
fn exp(x: f64) -> f64 {
    if x < -700.0 || x.is_nan() {
        return 0.0;
    }
    let halvings = 10;
    let small = x / f64::from(1 << halvings);
    let mut term = 1.0;
    let mut sum = 1.0;
    for i in 1..=16 {
        term *= small / f64::from(i);
        sum += term;
    }
    for _ in 0..halvings {
        sum *= sum;
    }
    sum
}

#[cfg(test)]
mod tests;
