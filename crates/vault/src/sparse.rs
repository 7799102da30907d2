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
/// which edges come in makes no difference. Where all weights are equal one stands for all: 4 bytes
/// an entry instead of 12.
#[derive(Debug, Clone, PartialEq)]
pub struct Csr {
    offsets: Vec<u32>,
    targets: Vec<u32>,
    weights: Weights,
    directed: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Weights {
    /// Every entry has this weight.
    Equal(f64),
    /// One an entry.
    Each(Vec<f64>),
}

/// The rows of a [`Csr`] as they lie in memory, for algorithms that go over them many times.
#[derive(Debug, Clone, Copy)]
pub struct RawRows<'a> {
    /// Where each row begins and, last, where the last one ends.
    pub offsets: &'a [u32],
    /// The neighbours, row after row, ascending within a row.
    pub targets: &'a [u32],
    /// The weights beside `targets`.
    pub weights: RawWeights<'a>,
}

/// The weights of [`RawRows`].
#[derive(Debug, Clone, Copy)]
pub enum RawWeights<'a> {
    /// Every entry has this weight.
    Equal(f64),
    /// One an entry.
    Each(&'a [f64]),
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
        if u32::try_from(nodes).is_err() || u32::try_from(edges.len().saturating_mul(2)).is_err() {
            return Err(GraphError::TooManyNodes(nodes.max(edges.len())));
        }
        let mut offsets = vec![0_u32; nodes + 1];
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
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
                (least, most) = (least.min(weight), most.max(weight));
                offsets[source_node as usize + 1] += 1;
                if !directed && source_node != target_node {
                    offsets[target_node as usize + 1] += 1;
                }
            }
        }
        for i in 0..nodes {
            offsets[i + 1] += offsets[i];
        }
        let graph = if least >= most {
            let slots = scatter(&offsets, edges, directed, |target, _| target);
            Self::equal(offsets, slots, if most > 0.0 { most } else { 1.0 }, directed)
        } else {
            let slots = scatter(&offsets, edges, directed, |target, weight| (target, weight));
            Self::merged(offsets, slots, directed)
        };
        // Twice, since strengths add each edge at both ends and quality multiplies no further.
        if (2.0 * graph.weights().sum::<f64>()).is_finite() { Ok(graph) } else { Err(GraphError::WeightOverflow) }
    }

    /// Edges of one weight: parallel ones are the only reason for a list of weights.
    fn equal(offsets: Vec<u32>, mut slots: Vec<u32>, weight: f64, directed: bool) -> Self {
        let mut parallel = false;
        for bounds in offsets.windows(2) {
            let row = &mut slots[bounds[0] as usize..bounds[1] as usize];
            if !row.is_sorted() {
                row.sort_unstable();
            }
            parallel |= row.windows(2).any(|pair| pair[0] == pair[1]);
        }
        if parallel {
            return Self::merged(offsets, slots.into_iter().map(|target| (target, weight)).collect(), directed);
        }
        Self { offsets, targets: slots, weights: Weights::Equal(weight), directed }
    }

    fn merged(mut offsets: Vec<u32>, mut slots: Vec<(u32, f64)>, directed: bool) -> Self {
        let mut targets: Vec<u32> = Vec::with_capacity(slots.len());
        let mut weights: Vec<f64> = Vec::with_capacity(slots.len());
        let mut row_start = 0;
        for end in offsets.iter_mut().skip(1) {
            let row = &mut slots[row_start..*end as usize];
            row_start = *end as usize;
            // By weight too: a sum of floats depends on its order.
            row.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            let begin = targets.len();
            for &(target, weight) in row.iter() {
                match weights.last_mut() {
                    Some(last) if targets.len() > begin && targets.last() == Some(&target) => *last += weight,
                    _ => {
                        targets.push(target);
                        weights.push(weight);
                    }
                }
            }
            *end = targets.len() as u32;
        }
        Self { offsets, targets, weights: Weights::of(weights), directed }
    }

    /// The graph turned round: row `v` holds the edges into `v`. An undirected graph stays as it
    /// is. O(n + m), without sorting.
    #[must_use]
    pub fn turned(&self) -> Self {
        if !self.directed {
            return self.clone();
        }
        let mut offsets = vec![0_u32; self.offsets.len()];
        for &target in &self.targets {
            offsets[target as usize + 1] += 1;
        }
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        let mut next = offsets.clone();
        let mut targets = vec![0_u32; self.targets.len()];
        let mut weights = match &self.weights {
            Weights::Equal(_) => Vec::new(),
            Weights::Each(each) => vec![0.0; each.len()],
        };
        for (u, bounds) in self.offsets.windows(2).enumerate() {
            for at in bounds[0] as usize..bounds[1] as usize {
                let slot = &mut next[self.targets[at] as usize];
                targets[*slot as usize] = u as u32;
                if let Weights::Each(each) = &self.weights {
                    weights[*slot as usize] = each[at];
                }
                *slot += 1;
            }
        }
        let weights = match self.weights {
            Weights::Equal(weight) => Weights::Equal(weight),
            Weights::Each(_) => Weights::Each(weights),
        };
        Self { offsets, targets, weights, directed: true }
    }

    /// The rows as they lie in memory.
    #[must_use]
    pub fn raw(&self) -> RawRows<'_> {
        let weights = match &self.weights {
            Weights::Equal(weight) => RawWeights::Equal(*weight),
            Weights::Each(each) => RawWeights::Each(each),
        };
        RawRows { offsets: &self.offsets, targets: &self.targets, weights }
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

    fn weights(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.targets.len()).map(|at| self.weights.at(at))
    }

    fn range(&self, node: u32) -> std::ops::Range<usize> {
        match (self.offsets.get(node as usize), self.offsets.get(node as usize + 1)) {
            (Some(&begin), Some(&end)) => begin as usize..end as usize,
            _ => 0..0,
        }
    }

    /// The neighbours of `node` with the weights of the edges, in order. Empty for an unknown node.
    pub fn row(&self, node: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.range(node);
        self.targets[range.clone()].iter().copied().zip(range.map(|at| self.weights.at(at)))
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
        self.range(node).len()
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
                for &v in &self.targets[self.range(u)] {
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

impl Weights {
    /// One for all where they are equal.
    fn of(weights: Vec<f64>) -> Self {
        match weights.first() {
            None => Self::Equal(1.0),
            Some(first) if weights.iter().all(|weight| weight == first) => Self::Equal(*first),
            Some(_) => Self::Each(weights),
        }
    }

    fn at(&self, at: usize) -> f64 {
        match self {
            Self::Equal(weight) => *weight,
            Self::Each(each) => each[at],
        }
    }
}

/// What `make` says of each end of each edge of weight above 0, row after row as `offsets` has them.
fn scatter<T: Copy + Default>(
    offsets: &[u32],
    edges: &[(u32, u32, f64)],
    directed: bool,
    make: impl Fn(u32, f64) -> T,
) -> Vec<T> {
    let mut next = offsets.to_vec();
    let mut slots = vec![T::default(); offsets.last().map_or(0, |&end| end as usize)];
    let mut put = |from: u32, to: u32, weight: f64| {
        let slot = &mut next[from as usize];
        slots[*slot as usize] = make(to, weight);
        *slot += 1;
    };
    for &(u, v, weight) in edges.iter().filter(|e| e.2 > 0.0) {
        put(u, v, weight);
        if !directed && u != v {
            put(v, u, weight);
        }
    }
    slots
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
    fn a_graph_turned_round_twice_is_itself() {
        for weights in [[1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0]] {
            let edges: Vec<_> =
                [(0, 1), (0, 2), (2, 1), (1, 1)].into_iter().zip(weights).map(|((u, v), w)| (u, v, w)).collect();
            let graph = Csr::directed(3, &edges).unwrap();
            let turned = graph.turned();
            assert_eq!(turned.row(1).map(|(u, _)| u).collect::<Vec<_>>(), [0, 1, 2]);
            assert_eq!(turned.row(1).map(|(_, w)| w).sum::<f64>(), weights[0] + weights[2] + weights[3]);
            assert_eq!(turned.turned(), graph);
        }
    }

    #[test]
    fn equal_weights_are_held_once_however_they_come_about() {
        let listed = Csr::undirected(3, &[(0, 1, 2.0), (1, 2, 2.0)]).unwrap();
        let added = Csr::undirected(3, &[(0, 1, 1.5), (0, 1, 0.5), (1, 2, 2.0)]).unwrap();
        assert_eq!(listed, added);
        assert!(matches!(listed.raw().weights, RawWeights::Equal(2.0)));
        let parallel = Csr::undirected(3, &[(0, 1, 2.0), (1, 2, 2.0), (2, 1, 2.0)]).unwrap();
        assert!(matches!(parallel.raw().weights, RawWeights::Each(_)));
        assert_eq!(parallel.row(2).collect::<Vec<_>>(), [(1, 4.0)]);
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
