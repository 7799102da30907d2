//! Leiden on graphs with known answers.

use proptest::prelude::*;

use super::*;

/// Zachary's karate club (1977): 34 members, 78 friendships.
#[rustfmt::skip]
const KARATE: [(u32, u32); 78] = [
    (0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (0, 7), (0, 8), (0, 10), (0, 11), (0, 12), (0, 13), (0, 17),
    (0, 19), (0, 21), (0, 31), (1, 2), (1, 3), (1, 7), (1, 13), (1, 17), (1, 19), (1, 21), (1, 30), (2, 3), (2, 7),
    (2, 8), (2, 9), (2, 13), (2, 27), (2, 28), (2, 32), (3, 7), (3, 12), (3, 13), (4, 6), (4, 10), (5, 6), (5, 10),
    (5, 16), (6, 16), (8, 30), (8, 32), (8, 33), (9, 33), (13, 33), (14, 32), (14, 33), (15, 32), (15, 33), (18, 32),
    (18, 33), (19, 33), (20, 32), (20, 33), (22, 32), (22, 33), (23, 25), (23, 27), (23, 29), (23, 32), (23, 33),
    (24, 25), (24, 27), (24, 31), (25, 31), (26, 29), (26, 33), (27, 33), (28, 31), (28, 33), (29, 32), (29, 33),
    (30, 32), (30, 33), (31, 32), (31, 33), (32, 33),
];

fn graph(nodes: usize, edges: &[(u32, u32)]) -> Csr {
    let edges: Vec<_> = edges.iter().map(|&(u, v)| (u, v, 1.0)).collect();
    Csr::undirected(nodes, &edges).unwrap()
}

fn run(graph: &Csr, seed: u64) -> Partition {
    Leiden { seed, ..Leiden::default() }.run(graph).unwrap()
}

fn check(nodes: usize, edges: &[(u32, u32)], expected: &[u32]) {
    for seed in 0..5 {
        assert_eq!(run(&graph(nodes, edges), seed).membership, expected, "seed {seed}");
    }
}

#[test]
fn item_20_a_triangle_is_one_community_and_two_are_two() {
    check(3, &[(0, 1), (1, 2), (2, 0)], &[0, 0, 0]);
    check(6, &[(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)], &[0, 0, 0, 1, 1, 1]);
}

#[test]
fn con_01_nodes_without_edges_and_self_loops_are_alone() {
    check(6, &[(0, 1), (1, 2), (5, 5)], &[0, 0, 0, 1, 2, 3]);
    check(0, &[], &[]);
    check(1, &[(0, 0)], &[0]);
    check(3, &[], &[0, 1, 2]);
}

#[test]
fn the_karate_club_reaches_its_proven_optimum() {
    let club = graph(34, &KARATE);
    for seed in 0..10 {
        let found = run(&club, seed);
        assert!((found.modularity - 0.419_789_612).abs() < 1e-6, "seed {seed}: {}", found.modularity);
    }
}

#[test]
fn item_21_direction_and_repetition_of_edges_make_no_difference() {
    let expected = run(&graph(34, &KARATE), 1).membership;
    let reversed: Vec<_> = KARATE.iter().rev().map(|&(u, v)| (v, u)).collect();
    assert_eq!(run(&graph(34, &reversed), 1).membership, expected);
    let doubled: Vec<_> = KARATE.iter().chain(&reversed).copied().collect();
    assert_eq!(run(&graph(34, &doubled), 1).membership, expected);
}

#[test]
fn weights_of_any_size_give_the_same_partition() {
    let expected = run(&graph(34, &KARATE), 3).membership;
    for scale in [1e-12, 1e12, 1e-200, 1e200] {
        let edges: Vec<_> = KARATE.iter().map(|&(u, v)| (u, v, scale)).collect();
        assert_eq!(run(&Csr::undirected(34, &edges).unwrap(), 3).membership, expected, "{scale}");
    }
}

#[test]
fn item_23_a_fixed_seed_gives_a_fixed_partition() {
    let found = run(&graph(34, &KARATE), 7);
    expect_test::expect![
        "[0, 0, 0, 0, 1, 1, 1, 0, 2, 2, 1, 0, 0, 0, 2, 2, 1, 0, 2, 0, 2, 0, 2, 3, 3, 3, 2, 3, 3, 2, 2, 3, 2, 2]"
    ]
    .assert_eq(&format!("{:?}", found.membership));
}

#[test]
fn a_resolution_that_means_nothing_is_a_typed_error() {
    for resolution in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let leiden = Leiden { resolution, ..Leiden::default() };
        assert!(matches!(leiden.run(&graph(2, &[(0, 1)])), Err(GraphError::InvalidResolution(_))));
    }
}

#[test]
fn a_larger_resolution_gives_more_communities() {
    let count = |resolution| {
        let found = Leiden { resolution, ..Leiden::default() }.run(&graph(34, &KARATE)).unwrap();
        found.membership.into_iter().max().unwrap() + 1
    };
    assert!(count(0.1) < count(1.0) && count(1.0) < count(4.0));
}

#[test]
fn a_run_that_is_stopped_at_once_still_gives_a_partition() {
    let club = graph(34, &KARATE);
    let found = Leiden::default().run_from(&club, &[], &|| true).unwrap();
    assert_eq!(found.membership.len(), 34);
}

fn arbitrary_graph() -> impl Strategy<Value = (usize, Vec<(u32, u32, f64)>)> {
    (1_usize..40).prop_flat_map(|n| {
        let edge = (0..n as u32, 0..n as u32, prop_oneof![Just(1.0), Just(0.0), 0.001_f64..100.0]);
        (Just(n), prop::collection::vec(edge, 0..120))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn communities_are_connected_and_quality_is_at_least_that_of_the_components((n, edges) in arbitrary_graph(), seed: u64) {
        let graph = Csr::undirected(n, &edges).unwrap();
        let found = run(&graph, seed);
        prop_assert_eq!(found.membership.len(), n);
        prop_assert_eq!(&graph.components_within(&found.membership), &found.membership);
        let singletons: Vec<u32> = (0..n as u32).collect();
        prop_assert!(found.modularity >= modularity(&graph, &singletons, 1.0) - 1e-9);
        prop_assert!(found.modularity >= modularity(&graph, &graph.components(), 1.0) - 1e-9);
        prop_assert!(found.modularity <= 1.0);
    }

    #[test]
    fn item_22_the_order_of_edges_makes_no_difference((n, edges) in arbitrary_graph(), seed: u64) {
        let mut turned = edges.clone();
        turned.reverse();
        let (a, b) = (Csr::undirected(n, &edges).unwrap(), Csr::undirected(n, &turned).unwrap());
        prop_assert_eq!(run(&a, seed), run(&b, seed));
    }

    #[test]
    fn item_22_levels_nest((n, edges) in arbitrary_graph(), seed: u64) {
        let graph = Csr::undirected(n, &edges).unwrap();
        let level = Level::of(&graph);
        let whole = level.whole();
        prop_assume!(whole > 0.0);
        let search = Search { pull: 1.0 / whole, whole, least: 1e-12 * whole, theta: 1e-3, stop: &|| false };
        let (mut rng, mut scratch) = (SplitMix64::new(seed), Scratch::default());
        let mut coarse: Vec<u32> = (0..n as u32).collect();
        level.move_nodes(&mut coarse, order(n, &mut rng), &search, &mut scratch);
        let count = renumber_dense(&mut coarse, scratch.numbers(n));
        let mut fine = level.refine(&coarse, count, &search, &mut rng, &mut scratch);
        renumber_dense(&mut fine, scratch.numbers(n));
        for (part, whole) in fine.iter().zip(&coarse) {
            let first = fine.iter().position(|p| p == part).unwrap();
            prop_assert_eq!(coarse[first], *whole);
        }
        prop_assert_eq!(level.components_within(&fine), fine);
    }

    #[test]
    fn a_look_around_what_changed_never_lowers_the_quality((n, edges) in arbitrary_graph(), seed: u64, changed in prop::collection::vec(0_u32..40, 0..5)) {
        let graph = Csr::undirected(n, &edges).unwrap();
        let before = run(&graph, seed);
        let again = Leiden::default().run_around(&graph, &before.membership, &changed, &|| false).unwrap();
        prop_assert!(again.modularity >= before.modularity - 1e-9);
        prop_assert_eq!(&graph.components_within(&again.membership), &again.membership);
    }
}
