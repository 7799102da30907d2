//! The Leiden algorithm (Traag, Waltman, van Eck: From Louvain to Leiden, 2019) for modularity with
//! resolution γ, from the paper: fast local moving, refinement, aggregation, until nothing moves.
#![expect(
    clippy::indexing_slicing,
    reason = "node and community ids are below the number of nodes of the level by construction"
)]

mod level;
mod moving;
mod refining;

use dormouse_vault::{Csr, GraphError};

use self::level::Level;
use self::moving::Scratch;
use super::modularity::{modularity, renumber};
use crate::rng::SplitMix64;

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

/// What the phases of a run have in common. Nothing is scaled: thresholds are shares of the whole
/// weight, so that weights of 1e-12 and 1e12 come out alike.
struct Search<'a> {
    /// γ over the whole weight, which is twice that of the edges.
    pull: f64,
    whole: f64,
    /// The least gain that counts.
    least: f64,
    theta: f64,
    stop: &'a dyn Fn() -> bool,
}

impl Leiden {
    /// Partitions `graph` from scratch. Every community is connected; nodes without edges are
    /// alone; a graph without weight gives singletons. O(passes · m) in practice, and beside the
    /// graph about 60 bytes a node and 12 an edge.
    ///
    /// # Errors
    /// [`GraphError::InvalidResolution`].
    pub fn run(&self, graph: &Csr) -> Result<Partition, GraphError> {
        self.run_from(graph, &[], &|| false)
    }

    /// Partitions `graph`, starting from `membership` (nodes that it does not name are alone), and
    /// returns the best found so far as soon as `stop` says true.
    ///
    /// # Errors
    /// As [`Leiden::run`].
    pub fn run_from(&self, graph: &Csr, membership: &[u32], stop: &dyn Fn() -> bool) -> Result<Partition, GraphError> {
        self.search(graph, membership, None, stop)
    }

    /// Partitions `graph` as it is after a few changes: starts from `membership` and looks only
    /// where it has a reason to, at the `changed` nodes (those whose links changed or that are new)
    /// and whatever moves because of them. Costs one sweep over the graph and the changes' surroundings.
    ///
    /// # Errors
    /// As [`Leiden::run`].
    pub fn run_around(
        &self,
        graph: &Csr,
        membership: &[u32],
        changed: &[u32],
        stop: &dyn Fn() -> bool,
    ) -> Result<Partition, GraphError> {
        self.search(graph, membership, Some(changed), stop)
    }

    fn search(
        &self,
        graph: &Csr,
        membership: &[u32],
        changed: Option<&[u32]>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Partition, GraphError> {
        if !(self.resolution.is_finite() && self.resolution > 0.0) {
            return Err(GraphError::InvalidResolution(self.resolution));
        }
        let nodes = graph.nodes();
        let alone = || (0..nodes as u32).collect::<Vec<u32>>();
        let base = Level::of(graph);
        let whole = base.whole();
        if whole <= 0.0 {
            return Ok(Partition { membership: alone(), modularity: 0.0 });
        }
        let mut current = if membership.is_empty() {
            alone()
        } else {
            let mut current: Vec<u32> = membership.iter().copied().take(nodes).collect();
            let first_free = current.iter().max().map_or(0, |&m| m.saturating_add(1));
            current.extend((0..(nodes - current.len()) as u32).map(|i| first_free.saturating_add(i)));
            graph.components_within(&current)
        };
        let theta = THETA * whole / (nodes as f64).max(base.edges());
        let search = Search { pull: self.resolution / whole, whole, least: EPSILON * whole, theta, stop };
        let mut rng = SplitMix64::new(self.seed ^ 0x6C65_6964_656E);
        let mut scratch = Scratch::default();
        let mut quality = base.quality(&current, &search);
        for _ in 0..if changed.is_some() { 1 } else { self.max_passes } {
            let (moved, better) = match changed {
                Some(changed) => around(&base, &current, changed, &search, &mut scratch),
                None => pass(&base, current.clone(), &search, &mut rng, &mut scratch),
            };
            if better <= quality + EPSILON {
                break;
            }
            (current, quality) = (moved, better);
            if stop() {
                break;
            }
        }
        drop(scratch);
        let membership = renumber(&current);
        let modularity = modularity(graph, &membership, self.resolution);
        Ok(Partition { membership, modularity })
    }
}

/// Local moving alone, begun at the nodes that changed.
fn around(
    base: &Level<'_>,
    start: &[u32],
    changed: &[u32],
    search: &Search<'_>,
    scratch: &mut Scratch,
) -> (Vec<u32>, f64) {
    let mut membership = start.to_vec();
    let changed: Vec<u32> = changed.iter().copied().filter(|&node| (node as usize) < base.nodes()).collect();
    base.move_nodes(&mut membership, changed, search, scratch);
    let membership = base.components_within(&membership);
    let quality = base.quality(&membership, search);
    (membership, quality)
}

/// One pass: from the nodes up through the aggregated levels. Returns connected communities and
/// their quality.
fn pass(
    base: &Level<'_>,
    start: Vec<u32>,
    search: &Search<'_>,
    rng: &mut SplitMix64,
    scratch: &mut Scratch,
) -> (Vec<u32>, f64) {
    let mut upper: Option<Level<'_>> = None;
    let mut membership = start;
    // Which node of the present level each node of the graph is in; empty on the lowest.
    let mut inside: Vec<u32> = Vec::new();
    loop {
        let level = upper.as_ref().unwrap_or(base);
        level.move_nodes(&mut membership, order(level.nodes(), rng), search, scratch);
        let count = renumber_dense(&mut membership, scratch.numbers(level.nodes()));
        if count == level.nodes() || (search.stop)() {
            break;
        }
        let mut parts = level.refine(&membership, count, search, rng, scratch);
        let mut parts_count = renumber_dense(&mut parts, scratch.numbers(level.nodes()));
        if parts_count == level.nodes() {
            // Nothing merged: go on with the communities themselves, so that each level is
            // smaller than the one before.
            parts = level.components_within(&membership);
            parts_count = renumber_dense(&mut parts, scratch.numbers(level.nodes()));
            if parts_count == level.nodes() {
                break;
            }
        }
        let mut above = vec![0_u32; parts_count];
        for (&part, &community) in parts.iter().zip(&membership) {
            above[part as usize] = community;
        }
        let next = level.aggregate(&parts, parts_count, scratch);
        if inside.is_empty() {
            inside = parts;
        } else {
            inside.iter_mut().for_each(|node| *node = parts[*node as usize]);
        }
        upper = Some(next);
        membership = above;
    }
    // A node of a level is connected in itself, so that it is enough to look at the last level.
    let level = upper.as_ref().unwrap_or(base);
    let membership = level.components_within(&membership);
    let quality = level.quality(&membership, search);
    if inside.is_empty() {
        return (membership, quality);
    }
    inside.iter_mut().for_each(|node| *node = membership[*node as usize]);
    (inside, quality)
}

/// Nodes up to this many are visited in an order that is random throughout. In larger graphs blocks
/// of neighbours in number are, so that rows are read as they lie in memory.
const SHUFFLED_WHOLE: usize = 1 << 14;
const BLOCK: usize = 256;

/// A random order of the nodes.
fn order(nodes: usize, rng: &mut SplitMix64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..nodes as u32).collect();
    if nodes <= SHUFFLED_WHOLE {
        rng.shuffle(&mut order);
        return order;
    }
    let mut blocks: Vec<u32> = (0..nodes.div_ceil(BLOCK) as u32).collect();
    rng.shuffle(&mut blocks);
    order.clear();
    for block in blocks {
        let first = block as usize * BLOCK;
        let begin = order.len();
        order.extend(first as u32..nodes.min(first + BLOCK) as u32);
        rng.shuffle(&mut order[begin..]);
    }
    order
}

/// Numbers labels below `numbers.len()` anew, in order of first appearance; returns how many.
fn renumber_dense(labels: &mut [u32], numbers: &mut [u32]) -> usize {
    let mut next = 0;
    for label in labels {
        let number = &mut numbers[*label as usize];
        if *number == u32::MAX {
            *number = next;
            next += 1;
        }
        *label = *number;
    }
    next as usize
}

#[cfg(test)]
mod tests;
