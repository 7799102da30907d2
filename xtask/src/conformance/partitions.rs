//! How like two partitions are, and whether the parts of one hang together.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_vault::Csr;

/// Normalised mutual information with the arithmetic mean of the entropies, 0..=1.
pub(super) fn mutual_information(a: &[u32], b: &[u32]) -> f64 {
    let n = a.len() as f64;
    let (joint, left, right) = counts(a, b);
    let entropy = |p: &BTreeMap<u32, f64>| -p.values().map(|c| c / n * (c / n).ln()).sum::<f64>();
    let mutual: f64 = joint
        .iter()
        .map(|((x, y), c)| {
            let expected = left.get(x).unwrap_or(&0.0) * right.get(y).unwrap_or(&0.0) / n;
            c / n * (c / expected).ln()
        })
        .sum();
    let mean = (entropy(&left) + entropy(&right)) / 2.0;
    if mean > 0.0 { mutual / mean } else { 1.0 }
}

/// The Rand index corrected for chance (Hubert and Arabie 1985), at most 1.
pub(super) fn adjusted_rand(a: &[u32], b: &[u32]) -> f64 {
    let pairs = |c: &f64| c * (c - 1.0) / 2.0;
    let (joint, left, right) = counts(a, b);
    let both: f64 = joint.values().map(pairs).sum();
    let (ours, theirs): (f64, f64) = (left.values().map(pairs).sum(), right.values().map(pairs).sum());
    let all = pairs(&(a.len() as f64));
    let chance = if all > 0.0 { ours * theirs / all } else { 0.0 };
    let most = f64::midpoint(ours, theirs);
    if (most - chance).abs() > 0.0 { (both - chance) / (most - chance) } else { 1.0 }
}

type Counts = (BTreeMap<(u32, u32), f64>, BTreeMap<u32, f64>, BTreeMap<u32, f64>);

fn counts(a: &[u32], b: &[u32]) -> Counts {
    let mut counts = Counts::default();
    for (&x, &y) in a.iter().zip(b) {
        *counts.0.entry((x, y)).or_insert(0.0) += 1.0;
        *counts.1.entry(x).or_insert(0.0) += 1.0;
        *counts.2.entry(y).or_insert(0.0) += 1.0;
    }
    counts
}

/// Whether every community hangs together over links of weight above 0.
pub(super) fn connected(graph: &Csr, membership: &[u32]) -> bool {
    let of = |node: u32| membership.get(node as usize);
    let (mut seen, mut begun) = (BTreeSet::new(), BTreeSet::new());
    for start in 0..graph.nodes() as u32 {
        if !seen.insert(start) {
            continue;
        }
        if !begun.insert(of(start)) {
            return false;
        }
        let mut stack = vec![start];
        while let Some(u) = stack.pop() {
            stack.extend(graph.row(u).map(|(v, _)| v).filter(|&v| of(v) == of(u) && seen.insert(v)));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_of_partitions_is_one_for_equal_ones_and_low_for_unrelated_ones() {
        let (a, b, c) = ([0, 0, 1, 1], [5, 5, 2, 2], [0, 1, 0, 1]);
        assert!((mutual_information(&a, &b) - 1.0).abs() < 1e-12 && (adjusted_rand(&a, &b) - 1.0).abs() < 1e-12);
        assert!(mutual_information(&a, &c).abs() < 1e-12 && adjusted_rand(&a, &c) < 0.0);
        assert_eq!((mutual_information(&[], &[]), adjusted_rand(&[], &[])), (1.0, 1.0));
    }

    #[test]
    fn a_community_in_two_pieces_is_seen() {
        let graph = Csr::undirected(3, &[(0, 1, 1.0), (1, 2, 0.0)]).unwrap();
        assert!(connected(&graph, &[0, 0, 1]) && !connected(&graph, &[0, 0, 0]));
    }
}
