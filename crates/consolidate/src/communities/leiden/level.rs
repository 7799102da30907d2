//! A level of the aggregation: a graph whose nodes are sets of nodes of the level below.
#![expect(
    clippy::indexing_slicing,
    reason = "node and community ids are below the number of nodes of the level by construction"
)]

use std::borrow::Cow;

use dormouse_vault::{Csr, RawWeights};

use super::Search;
use super::moving::Scratch;

/// Rows with the strength of each node. A link that a node has to itself stands in its row on the
/// lowest level, as the graph has it, and in `inner` above.
pub(super) struct Level<'a> {
    pub(super) offsets: Cow<'a, [u32]>,
    pub(super) targets: Cow<'a, [u32]>,
    pub(super) weights: Weights<'a>,
    pub(super) strengths: Vec<f64>,
    /// Weight inside each node, met from both ends; empty on the lowest level.
    inner: Vec<f64>,
}

pub(super) enum Weights<'a> {
    Equal(f64),
    Each(Cow<'a, [f64]>),
}

/// Reads weights; one kind a loop, so that the compiler makes a loop for each.
pub(super) trait Weigh: Copy {
    fn at(self, at: usize) -> f64;
}

#[derive(Clone, Copy)]
pub(super) struct Equal(pub(super) f64);

impl Weigh for Equal {
    #[inline]
    fn at(self, _: usize) -> f64 {
        self.0
    }
}

impl Weigh for &[f64] {
    #[inline]
    fn at(self, at: usize) -> f64 {
        self[at]
    }
}

impl<'a> Level<'a> {
    /// The lowest level.
    pub(super) fn of(graph: &'a Csr) -> Self {
        let raw = graph.raw();
        let weights = match raw.weights {
            RawWeights::Equal(weight) => Weights::Equal(weight),
            RawWeights::Each(each) => Weights::Each(Cow::Borrowed(each)),
        };
        Self {
            offsets: Cow::Borrowed(raw.offsets),
            targets: Cow::Borrowed(raw.targets),
            weights,
            strengths: graph.strengths(),
            inner: Vec::new(),
        }
    }

    pub(super) fn nodes(&self) -> usize {
        self.strengths.len()
    }

    /// Twice the weight of all edges.
    pub(super) fn whole(&self) -> f64 {
        self.strengths.iter().sum()
    }

    pub(super) fn row(&self, node: u32) -> std::ops::Range<usize> {
        self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize
    }

    fn weight(&self, at: usize) -> f64 {
        match &self.weights {
            Weights::Equal(weight) => *weight,
            Weights::Each(each) => each[at],
        }
    }

    /// Number of undirected edges, self-loops included.
    pub(super) fn edges(&self) -> f64 {
        let loops: usize =
            (0..self.nodes() as u32).map(|u| self.row(u).filter(|&at| self.targets[at] == u).count()).sum();
        (loops + (self.targets.len() - loops) / 2) as f64
    }

    /// Modularity; labels are below the number of nodes.
    pub(super) fn quality(&self, membership: &[u32], search: &Search<'_>) -> f64 {
        let mut strength = vec![0.0; self.nodes()];
        let mut inside = 0.0;
        for (node, &community) in membership.iter().enumerate() {
            strength[community as usize] += self.strengths[node] / search.whole;
            let mut within = self.inner.get(node).copied().unwrap_or(0.0);
            for at in self.row(node as u32) {
                let other = self.targets[at] as usize;
                if membership[other] == community {
                    within += if other == node { 2.0 * self.weight(at) } else { self.weight(at) };
                }
            }
            inside += within / search.whole;
        }
        inside - search.pull * search.whole * strength.iter().map(|k| k * k).sum::<f64>()
    }

    /// The connected parts of each community, numbered by first node.
    pub(super) fn components_within(&self, membership: &[u32]) -> Vec<u32> {
        let mut label = vec![u32::MAX; self.nodes()];
        let mut next = 0;
        let mut stack = Vec::new();
        for start in 0..self.nodes() as u32 {
            if label[start as usize] != u32::MAX {
                continue;
            }
            label[start as usize] = next;
            stack.push(start);
            while let Some(node) = stack.pop() {
                for &other in &self.targets[self.row(node)] {
                    if label[other as usize] == u32::MAX && membership[other as usize] == membership[node as usize] {
                        label[other as usize] = next;
                        stack.push(other);
                    }
                }
            }
            next += 1;
        }
        label
    }

    /// The graph whose nodes are the parts. Links inside a part become its inner weight.
    pub(super) fn aggregate(&self, parts: &[u32], count: usize, scratch: &mut Scratch) -> Level<'static> {
        match &self.weights {
            Weights::Equal(weight) => self.aggregate_with(Equal(*weight), parts, count, scratch),
            Weights::Each(each) => self.aggregate_with(&**each, parts, count, scratch),
        }
    }

    fn aggregate_with(
        &self,
        weights: impl Weigh,
        parts: &[u32],
        count: usize,
        scratch: &mut Scratch,
    ) -> Level<'static> {
        // Members by part, each in order.
        let mut begins = vec![0_u32; count + 1];
        for &part in parts {
            begins[part as usize + 1] += 1;
        }
        for i in 0..count {
            begins[i + 1] += begins[i];
        }
        let mut members = vec![0_u32; parts.len()];
        for (node, &part) in parts.iter().enumerate().rev() {
            let slot = &mut begins[part as usize + 1];
            *slot -= 1;
            members[*slot as usize] = node as u32;
        }
        let mut out = Level {
            offsets: Cow::Owned(Vec::new()),
            targets: Cow::Owned(Vec::new()),
            weights: Weights::Equal(0.0),
            strengths: Vec::with_capacity(count),
            inner: Vec::with_capacity(count),
        };
        let mut offsets = Vec::with_capacity(count + 1);
        let (mut targets, mut each) = (Vec::<u32>::new(), Vec::<f64>::new());
        offsets.push(0);
        scratch.clear(count);
        let mut at = 0;
        for part in 0..count as u32 {
            let (mut strength, mut inner) = (0.0, 0.0);
            while let Some(&node) = members.get(at).filter(|node| parts[**node as usize] == part) {
                at += 1;
                strength += self.strengths[node as usize];
                inner += self.inner.get(node as usize).copied().unwrap_or(0.0);
                let row = self.row(node);
                for (i, &other) in row.clone().zip(&self.targets[row]) {
                    let weight = weights.at(i);
                    let to = parts[other as usize];
                    if to != part {
                        scratch.add(to, weight);
                    } else {
                        // An edge inside is met from both ends, a self-loop once.
                        inner += if other == node { 2.0 * weight } else { weight };
                    }
                }
            }
            scratch.drain(|to, weight| {
                targets.push(to);
                each.push(weight);
            });
            offsets.push(targets.len() as u32);
            out.strengths.push(strength);
            out.inner.push(inner);
        }
        (out.offsets, out.targets, out.weights) =
            (Cow::Owned(offsets), Cow::Owned(targets), Weights::Each(Cow::Owned(each)));
        out
    }
}
