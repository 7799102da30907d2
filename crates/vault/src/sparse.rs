//! Graphs as compressed sparse rows: the form in which the algorithms run.
#![expect(
    clippy::indexing_slicing,
    reason = "offsets are built here to have n + 1 entries, and node ids are checked to be < n"
)]

/// Why a graph or a setting can't be used.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// An edge names a node that is not there.
    #[error("an edge names node {node}, but there are {nodes}")]
    NodeOutOfRange {
        /// The node.
        node: u32,
        /// How many there are.
        nodes: usize,
    },
    /// A weight is negative, infinite or not a number.
    #[error("the edge {source_node}–{target_node} has the weight {weight}; weights are finite and not negative")]
    InvalidWeight {
        /// One end.
        source_node: u32,
        /// The other end.
        target_node: u32,
        /// The weight.
        weight: f64,
    },
    /// The weights add up to more than a float holds.
    #[error("the weights add up to more than can be computed with")]
    WeightOverflow,
    /// The resolution is not a positive finite number.
    #[error("the resolution is {0}; it must be a positive number")]
    InvalidResolution(f64),
    /// More nodes than 32 bits can name.
    #[error("{0} nodes are too many")]
    TooManyNodes(usize),
}

/// A weighted graph in compressed sparse rows. Undirected graphs hold each edge in both rows, a
/// self-loop once in its own row.
///
/// Parallel edges add up; edges of weight 0 are dropped. Rows are sorted, so that the order in
/// which edges come in makes no difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Csr {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<f64>,
    directed: bool,
}

impl Csr {
    /// An undirected graph of `nodes` nodes. O(n + m log d).
    ///
    /// # Errors
    /// [`GraphError`] for weights that are negative, infinite or NaN, sums that overflow, and nodes
    /// out of range.
    pub fn undirected(nodes: usize, edges: &[(u32, u32, f64)]) -> Result<Self, GraphError> {
        Self::build(nodes, edges, false)
    }

    /// A directed graph: row `u` holds the out-edges of `u`. O(n + m log d).
    ///
    /// # Errors
    /// As [`Csr::undirected`].
    pub fn directed(nodes: usize, edges: &[(u32, u32, f64)]) -> Result<Self, GraphError> {
        Self::build(nodes, edges, true)
    }

    fn build(nodes: usize, edges: &[(u32, u32, f64)], directed: bool) -> Result<Self, GraphError> {
        if u32::try_from(nodes).is_err() {
            return Err(GraphError::TooManyNodes(nodes));
        }
        let mut counts = vec![0_usize; nodes + 1];
        for &(source_node, target_node, weight) in edges {
            for node in [source_node, target_node] {
                if node as usize >= nodes {
                    return Err(GraphError::NodeOutOfRange { node, nodes });
                }
            }
            if !weight.is_finite() || weight < 0.0 {
                return Err(GraphError::InvalidWeight { source_node, target_node, weight });
            }
            if weight > 0.0 {
                counts[source_node as usize + 1] += 1;
                if !directed && source_node != target_node {
                    counts[target_node as usize + 1] += 1;
                }
            }
        }
        for i in 0..nodes {
            counts[i + 1] += counts[i];
        }
        let mut slots = vec![(0_u32, 0.0_f64); counts[nodes]];
        let mut next = counts.clone();
        let mut put = |from: u32, to: u32, weight: f64| {
            let slot = &mut next[from as usize];
            slots[*slot] = (to, weight);
            *slot += 1;
        };
        for &(u, v, weight) in edges.iter().filter(|e| e.2 > 0.0) {
            put(u, v, weight);
            if !directed && u != v {
                put(v, u, weight);
            }
        }
        Self::merge_rows(nodes, &counts, slots, directed)
    }

    fn merge_rows(
        nodes: usize,
        counts: &[usize],
        mut slots: Vec<(u32, f64)>,
        directed: bool,
    ) -> Result<Self, GraphError> {
        let mut offsets = Vec::with_capacity(nodes + 1);
        let mut targets: Vec<u32> = Vec::with_capacity(slots.len());
        let mut weights: Vec<f64> = Vec::with_capacity(slots.len());
        offsets.push(0);
        for node in 0..nodes {
            let row = &mut slots[counts[node]..counts[node + 1]];
            // By weight too: a sum of floats depends on its order.
            row.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            let begin = targets.len();
            for &(target, weight) in row.iter() {
                if targets.len() > begin && targets.last() == Some(&target) {
                    if let Some(last) = weights.last_mut() {
                        *last += weight;
                    }
                } else {
                    targets.push(target);
                    weights.push(weight);
                }
            }
            offsets.push(targets.len());
        }
        let graph = Self { offsets, targets, weights, directed };
        // Twice, since strengths add each edge at both ends and quality multiplies no further.
        if (2.0 * graph.weights.iter().sum::<f64>()).is_finite() { Ok(graph) } else { Err(GraphError::WeightOverflow) }
    }

    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether rows hold out-edges only.
    #[must_use]
    pub fn is_directed(&self) -> bool {
        self.directed
    }

    /// The neighbours of `node` with the weights of the edges, in order. Empty for an unknown node.
    pub fn row(&self, node: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = match (self.offsets.get(node as usize), self.offsets.get(node as usize + 1)) {
            (Some(&begin), Some(&end)) => begin..end,
            _ => 0..0,
        };
        self.targets[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// The strength of every node: the weights of its edges, a self-loop counted twice (in an
    /// undirected graph).
    #[must_use]
    pub fn strengths(&self) -> Vec<f64> {
        (0..self.nodes() as u32)
            .map(|u| self.row(u).map(|(v, w)| if v == u && !self.directed { 2.0 * w } else { w }).sum())
            .collect()
    }

    /// The number of distinct neighbours of `node`.
    #[must_use]
    pub fn degree(&self, node: u32) -> usize {
        self.row(node).count()
    }

    /// All weights divided by `by`, which is positive.
    pub fn scaled(mut self, by: f64) -> Self {
        for weight in &mut self.weights {
            *weight /= by;
        }
        self
    }

    /// Each connected component as a label per node, numbered by first node.
    #[must_use]
    pub fn components(&self) -> Vec<u32> {
        self.components_within(&vec![0; self.nodes()])
    }

    /// Connected components of the parts of `membership`, numbered by first node: what stays
    /// together when links between different communities are cut. Undirected graphs.
    pub fn components_within(&self, membership: &[u32]) -> Vec<u32> {
        const NONE: u32 = u32::MAX;
        let mut label = vec![NONE; self.nodes()];
        let mut next = 0;
        let mut stack = Vec::new();
        for start in 0..self.nodes() as u32 {
            if label[start as usize] != NONE {
                continue;
            }
            label[start as usize] = next;
            stack.push(start);
            while let Some(u) = stack.pop() {
                for (v, _) in self.row(u) {
                    if label[v as usize] == NONE && membership.get(v as usize) == membership.get(u as usize) {
                        label[v as usize] = next;
                        stack.push(v);
                    }
                }
            }
            next += 1;
        }
        label
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_edges_add_and_zero_weights_vanish() {
        let graph = Csr::undirected(3, &[(0, 1, 1.0), (1, 0, 2.0), (1, 2, 0.0), (2, 2, 1.5)]).unwrap();
        assert_eq!(graph.row(0).collect::<Vec<_>>(), [(1, 3.0)]);
        assert_eq!(graph.row(1).collect::<Vec<_>>(), [(0, 3.0)]);
        assert_eq!(graph.strengths(), [3.0, 3.0, 3.0]);
        assert_eq!(graph.components(), [0, 0, 1]);
        assert_eq!(graph.row(9).count(), 0);
    }

    #[test]
    fn the_order_of_edges_makes_no_difference() {
        let mut edges = vec![(0, 1, 0.1), (0, 1, 0.2), (0, 1, 0.7), (2, 1, 0.3)];
        let graph = Csr::undirected(3, &edges).unwrap();
        edges.reverse();
        assert_eq!(Csr::undirected(3, &edges).unwrap(), graph);
    }

    #[test]
    fn weights_that_mean_nothing_are_typed_errors() {
        for weight in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(matches!(Csr::undirected(2, &[(0, 1, weight)]), Err(GraphError::InvalidWeight { .. })));
        }
        assert!(matches!(Csr::undirected(2, &[(0, 2, 1.0)]), Err(GraphError::NodeOutOfRange { node: 2, nodes: 2 })));
        assert_eq!(Csr::undirected(2, &[(0, 1, f64::MAX), (1, 1, f64::MAX)]), Err(GraphError::WeightOverflow));
    }
}
