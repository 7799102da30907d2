//! Refinement: each community is built anew from connected parts.
#![expect(
    clippy::indexing_slicing,
    reason = "node and community ids are below the number of nodes of the level by construction"
)]

use super::level::{Equal, Level, Weigh, Weights};
use super::moving::Scratch;
use super::{Search, order};
use crate::rng::SplitMix64;

impl Level<'_> {
    /// Within each of `count` communities, nodes that are well connected to it start alone and
    /// join, at random in proportion to `exp(gain / θ)`, a well connected part that does not lower
    /// the quality. Parts are connected by construction; a part is named by its first node.
    pub(super) fn refine(
        &self,
        membership: &[u32],
        count: usize,
        search: &Search<'_>,
        rng: &mut SplitMix64,
        scratch: &mut Scratch,
    ) -> Vec<u32> {
        match &self.weights {
            Weights::Equal(weight) => self.refine_with(Equal(*weight), membership, count, search, rng, scratch),
            Weights::Each(each) => self.refine_with(&**each, membership, count, search, rng, scratch),
        }
    }

    fn refine_with(
        &self,
        weights: impl Weigh,
        membership: &[u32],
        count: usize,
        search: &Search<'_>,
        rng: &mut SplitMix64,
        scratch: &mut Scratch,
    ) -> Vec<u32> {
        let n = self.nodes();
        let mut whole = vec![0.0; count];
        // Weight from each part to the rest of its community.
        let mut outward = Vec::with_capacity(n);
        for (node, &home) in membership.iter().enumerate() {
            whole[home as usize] += self.strengths[node];
            let row = self.row(node as u32);
            let mut within = 0.0;
            for (at, &other) in row.clone().zip(&self.targets[row]) {
                if membership[other as usize] == home && other as usize != node {
                    within += weights.at(at);
                }
            }
            outward.push(within);
        }
        let mut part: Vec<u32> = (0..n as u32).collect();
        scratch.clear(n);
        let Scratch { cells, listed, sizes, .. } = scratch;
        cells.iter_mut().zip(&self.strengths).for_each(|(cell, &strength)| cell.strength = strength);
        sizes.clear();
        sizes.resize(n, 1);
        let mut choices: Vec<(u32, f64, f64)> = Vec::new();
        for node in order(n, rng) {
            let at = node as usize;
            if sizes[at] != 1 || part[at] != node {
                continue;
            }
            let (k, home) = (self.strengths[at], membership[at]);
            let community = whole[home as usize];
            if outward[at] + search.least < search.pull * k * (community - k) {
                continue;
            }
            let row = self.row(node);
            for (i, &other) in row.clone().zip(&self.targets[row]) {
                if membership[other as usize] == home && other != node {
                    let to = part[other as usize];
                    let cell = &mut cells[to as usize];
                    if cell.to == 0.0 {
                        listed.push(to);
                    }
                    cell.to += weights.at(i);
                }
            }
            choices.clear();
            for c in listed.drain(..) {
                let cell = &mut cells[c as usize];
                let (to, kc) = (cell.to, cell.strength);
                cell.to = 0.0;
                let gain = to - search.pull * k * kc;
                if gain >= 0.0 && outward[c as usize] + search.least >= search.pull * kc * (community - kc) {
                    choices.push((c, gain, to));
                }
            }
            if let Some((chosen, to)) = choose(&choices, search.theta, rng) {
                let into = chosen as usize;
                outward[into] += outward[at] - 2.0 * to;
                cells[into].strength += k;
                cells[at].strength = 0.0;
                sizes[into] += 1;
                sizes[at] = 0;
                part[at] = chosen;
            }
        }
        part
    }
}

/// Draws one of `(part, gain, weight)` in proportion to `exp(gain / θ)`; `None` when there is none.
fn choose(choices: &[(u32, f64, f64)], theta: f64, rng: &mut SplitMix64) -> Option<(u32, f64)> {
    let (first, rest) = choices.split_first()?;
    if rest.is_empty() {
        return Some((first.0, first.2));
    }
    let best = choices.iter().map(|c| c.1).fold(f64::NEG_INFINITY, f64::max);
    let weigh = |gain: f64| exp((gain - best) / theta);
    let total: f64 = choices.iter().map(|c| weigh(c.1)).sum();
    let mut left = rng.unit() * total;
    for &(part, gain, weight) in choices {
        left -= weigh(gain);
        if left < 0.0 {
            return Some((part, weight));
        }
    }
    choices.last().map(|c| (c.0, c.2))
}

/// `e^x` for x ≤ 0 from basic arithmetic alone: the system's `exp` differs in its last bit between
/// machines, and a partition must not. Relative error below 1e-12; 0 below −40, which is nothing beside the 1 of the best.
fn exp(x: f64) -> f64 {
    if x < -40.0 || x.is_nan() {
        return 0.0;
    }
    if x == 0.0 {
        return 1.0;
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
mod tests {
    use super::*;

    #[test]
    fn our_exponential_is_the_exponential() {
        for x in [0.0, -1e-9, -0.3, -1.0, -7.5, -39.0] {
            assert!((exp(x) / f64::exp(x) - 1.0).abs() < 1e-11, "{x}");
        }
        assert_eq!(exp(-1e9), 0.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
    }
}
