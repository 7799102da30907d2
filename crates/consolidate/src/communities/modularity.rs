//! Modularity of a given partition (Newman 2004; Reichardt and Bornholdt 2006 for γ).
#![expect(
    clippy::indexing_slicing,
    reason = "labels are renumbered to be below their count, and rows name nodes of the graph"
)]

use dormouse_vault::Csr;

/// `Σ_c [L_c/m − γ (K_c/2m)²]` on an undirected graph: `L_c` the weight inside community c (a
/// self-loop counts its weight once), `K_c` the sum of its nodes' strengths, `m` the whole weight.
/// 0 for a graph without weight. Nodes that `membership` does not name are alone. O(n + m).
#[must_use]
pub fn modularity(graph: &Csr, membership: &[u32], resolution: f64) -> f64 {
    let labels = renumber(&fill(membership, graph.nodes()));
    let strengths = graph.strengths();
    let total: f64 = strengths.iter().sum();
    if total <= 0.0 {
        return 0.0;
    }
    let count = labels.iter().max().map_or(0, |&m| m as usize + 1);
    let (mut inside, mut strength) = (vec![0.0; count], vec![0.0; count]);
    for u in 0..graph.nodes() as u32 {
        let c = labels[u as usize];
        strength[c as usize] += strengths[u as usize] / total;
        // Each edge is met from both ends, a self-loop once: `inside` is 2 L_c / 2m.
        let within: f64 =
            graph.row(u).filter(|&(v, _)| labels[v as usize] == c).map(|(v, w)| if v == u { 2.0 * w } else { w }).sum();
        inside[c as usize] += within / total;
    }
    inside.iter().zip(&strength).map(|(i, k)| i - resolution * k * k).sum()
}

fn fill(membership: &[u32], nodes: usize) -> Vec<u32> {
    let mut next = membership.iter().max().map_or(0, |&m| m.saturating_add(1));
    let mut labels: Vec<u32> = membership.iter().copied().take(nodes).collect();
    while labels.len() < nodes {
        labels.push(next);
        next = next.saturating_add(1);
    }
    labels
}

/// The same partition with labels 0, 1, 2, … in order of first appearance.
pub(crate) fn renumber(membership: &[u32]) -> Vec<u32> {
    let mut seen = std::collections::HashMap::new();
    membership
        .iter()
        .map(|&label| {
            let next = seen.len() as u32;
            *seen.entry(label).or_insert(next)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_triangles_on_a_bridge_have_the_textbook_value() {
        let edges = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)].map(|(u, v)| (u, v, 1.0));
        let graph = Csr::undirected(6, &edges).unwrap();
        let q = modularity(&graph, &[0, 0, 0, 1, 1, 1], 1.0);
        assert!((q - (6.0 / 7.0 - 0.5)).abs() < 1e-12, "{q}");
        assert!(modularity(&graph, &[0; 6], 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_self_loop_counts_once_inside_and_twice_in_strength() {
        let graph = Csr::undirected(2, &[(0, 0, 1.0), (0, 1, 1.0)]).unwrap();
        // L = 1 and 0, K = 3 and 1, m = 2.
        let q = modularity(&graph, &[0, 1], 1.0);
        assert!((q - (0.5 - 9.0 / 16.0 - 1.0 / 16.0)).abs() < 1e-12, "{q}");
    }

    #[test]
    fn a_graph_without_weight_has_no_modularity() {
        assert_eq!(modularity(&Csr::undirected(3, &[(0, 1, 0.0)]).unwrap(), &[0, 0, 1], 1.0), 0.0);
        assert_eq!(modularity(&Csr::undirected(0, &[]).unwrap(), &[], 1.0), 0.0);
    }
}
