//! Fast local moving: a queue of nodes; each goes where the gain is largest, and its neighbours
//! outside are queued again.
#![expect(
    clippy::indexing_slicing,
    reason = "node and community ids are below the number of nodes of the level by construction"
)]

use super::Search;
use super::level::{Equal, Level, Weigh, Weights};

/// A community as its neighbours see it. The two stand together, since they are read together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cell {
    /// Weight from the node under way.
    pub(super) to: f64,
    /// The strengths of its nodes together.
    pub(super) strength: f64,
}

/// Arrays that every phase of every level needs, made once a run.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) cells: Vec<Cell>,
    /// Communities whose `to` is not 0.
    pub(super) listed: Vec<u32>,
    pub(super) sizes: Vec<u32>,
    queued: Vec<bool>,
    empty: Vec<u32>,
    numbers: Vec<u32>,
}

impl Scratch {
    /// Empty cells for `count` communities.
    pub(super) fn clear(&mut self, count: usize) {
        self.cells.clear();
        self.cells.resize(count, Cell::default());
        self.listed.clear();
    }

    #[inline]
    pub(super) fn add(&mut self, community: u32, weight: f64) {
        let cell = &mut self.cells[community as usize];
        if cell.to == 0.0 {
            self.listed.push(community);
        }
        cell.to += weight;
    }

    /// Gives what was added, in the order in which it came first, and forgets it.
    pub(super) fn drain(&mut self, mut give: impl FnMut(u32, f64)) {
        for community in self.listed.drain(..) {
            let cell = &mut self.cells[community as usize];
            give(community, cell.to);
            cell.to = 0.0;
        }
    }

    /// No number yet for `count` labels.
    pub(super) fn numbers(&mut self, count: usize) -> &mut [u32] {
        self.numbers.clear();
        self.numbers.resize(count, u32::MAX);
        &mut self.numbers
    }
}

/// A queue in a ring: no node is in it twice, so that it never holds more than all.
struct Ring {
    nodes: Vec<u32>,
    head: usize,
    len: usize,
}

impl Ring {
    fn new(mut first: Vec<u32>, capacity: usize) -> Self {
        let len = first.len();
        first.resize(capacity.max(len), 0);
        Self { nodes: first, head: 0, len }
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        let node = self.nodes[self.head];
        self.head = if self.head + 1 == self.nodes.len() { 0 } else { self.head + 1 };
        self.len -= 1;
        Some(node)
    }

    #[inline]
    fn push(&mut self, node: u32) {
        let mut at = self.head + self.len;
        if at >= self.nodes.len() {
            at -= self.nodes.len();
        }
        self.nodes[at] = node;
        self.len += 1;
    }
}

impl Level<'_> {
    /// Moves nodes, those of `first` first; labels are below the number of nodes, before and after.
    pub(super) fn move_nodes(
        &self,
        membership: &mut [u32],
        first: Vec<u32>,
        search: &Search<'_>,
        scratch: &mut Scratch,
    ) {
        match &self.weights {
            Weights::Equal(weight) => self.move_with(Equal(*weight), membership, first, search, scratch),
            Weights::Each(each) => self.move_with(&**each, membership, first, search, scratch),
        }
    }

    fn move_with(
        &self,
        weights: impl Weigh,
        membership: &mut [u32],
        first: Vec<u32>,
        search: &Search<'_>,
        scratch: &mut Scratch,
    ) {
        let n = self.nodes();
        scratch.clear(n);
        let Scratch { cells, listed, sizes, queued, empty, .. } = scratch;
        sizes.clear();
        sizes.resize(n, 0);
        for (node, &community) in membership.iter().enumerate() {
            cells[community as usize].strength += self.strengths[node];
            sizes[community as usize] += 1;
        }
        empty.clear();
        empty.extend((0..n as u32).rev().filter(|&c| sizes[c as usize] == 0));
        queued.clear();
        queued.resize(n, false);
        first.iter().for_each(|&node| queued[node as usize] = true);
        let mut queue = Ring::new(first, n);
        let mut turns = 0_u64;
        // Far above what any graph takes: a guard against rounding that never ends.
        let limit = 64 * (n as u64) + 1024;
        while let Some(node) = queue.pop() {
            queued[node as usize] = false;
            turns += 1;
            if turns > limit || (turns & 0x3FF == 0 && (search.stop)()) {
                break;
            }
            let own = membership[node as usize];
            let k = self.strengths[node as usize];
            let pull = search.pull * k;
            let row = self.row(node);
            let neighbours = &self.targets[row.clone()];
            for (at, &other) in row.zip(neighbours) {
                if other == node {
                    continue;
                }
                let community = membership[other as usize];
                let cell = &mut cells[community as usize];
                if cell.to == 0.0 {
                    listed.push(community);
                }
                cell.to += weights.at(at);
            }
            let home = &mut cells[own as usize];
            let rest = home.strength - k;
            let mut best = own;
            let mut best_gain = home.to - pull * rest;
            home.to = 0.0;
            let mut most = best_gain + search.least;
            for community in listed.drain(..) {
                let cell = &mut cells[community as usize];
                let gain = cell.to - pull * cell.strength;
                cell.to = 0.0;
                if gain > most && community != own {
                    (best, best_gain, most) = (community, gain, gain + search.least);
                }
            }
            let size = sizes[own as usize];
            if size > 1
                && best_gain < -search.least
                && let Some(free) = empty.pop()
            {
                best = free;
            }
            if best == own {
                continue;
            }
            cells[own as usize].strength = if size == 1 { 0.0 } else { rest };
            sizes[own as usize] = size - 1;
            if size == 1 {
                empty.push(own);
            }
            cells[best as usize].strength += k;
            sizes[best as usize] += 1;
            membership[node as usize] = best;
            for &other in neighbours {
                if membership[other as usize] != best && !queued[other as usize] {
                    queued[other as usize] = true;
                    queue.push(other);
                }
            }
        }
    }
}
