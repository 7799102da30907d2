//! Checks Leiden, modularity and PageRank against a folder of reference graphs:
//! `cargo run -p dormouse-consolidate --example graphs -- DIR`.
//!
//! `DIR` holds `reference.json`, `<name>.txt` (`# nodes edges directed|undirected
//! weighted|unweighted`, then `u v [w]`) and, where communities were planted, `<name>.truth`. The
//! gate: the worst of five seeds within 0.005 of the reference's worst, the best within 0.002 of
//! its median, never above a proven optimum, every community connected. Ends with `N passed, M
//! failed` and exits 1 when one failed.
#![allow(clippy::print_stdout, clippy::indexing_slicing, reason = "a command for a terminal")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use dormouse_consolidate::communities::{Leiden, Partition, modularity};
use dormouse_vault::{Csr, GraphError, PageRank};
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let dir = std::env::args().nth(1).ok_or("usage: graphs DIR")?;
    let (passed, failed) = check_folder(Path::new(&dir), &mut |line| println!("{line}"))?;
    println!("{passed} passed, {failed} failed");
    if failed > 0 {
        std::process::exit(1);
    }
    Ok(())
}

/// Checks every graph of `reference.json`; `say` gets a line for each.
fn check_folder(dir: &Path, say: &mut dyn FnMut(String)) -> Result<(usize, usize), Box<dyn Error>> {
    let reference: Value = serde_json::from_str(&fs::read_to_string(dir.join("reference.json"))?)?;
    let graphs = reference["graphs"].as_object().ok_or("reference.json has no graphs")?;
    let (mut passed, mut failed) = (0, 0);
    for (name, expected) in graphs {
        let began = Instant::now();
        let mut checks = Checks::default();
        check_graph(dir, name, expected, &mut checks)?;
        let state = if checks.failures.is_empty() { "ok    " } else { "FAILED" };
        say(format!("{state} {name:26} {:5} ms  {}", began.elapsed().as_millis(), checks.notes.join(", ")));
        for failure in &checks.failures {
            say(format!("       {failure}"));
        }
        passed += checks.passed;
        failed += checks.failures.len();
    }
    Ok((passed, failed))
}

#[derive(Default)]
struct Checks {
    passed: usize,
    failures: Vec<String>,
    notes: Vec<String>,
}

impl Checks {
    fn that(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if holds {
            self.passed += 1;
        } else {
            self.failures.push(what());
        }
    }
}

struct Input {
    nodes: usize,
    directed: bool,
    edges: Vec<(u32, u32, f64)>,
}

fn read(file: &Path) -> Result<Input, Box<dyn Error>> {
    let text = fs::read_to_string(file)?;
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().ok_or("an empty file")?.split_whitespace().collect();
    let mut edges = Vec::new();
    for line in lines.filter(|l| !l.trim().is_empty()) {
        let mut parts = line.split_whitespace();
        let mut next = || parts.next();
        let (u, v) = (next().ok_or("no source")?.parse()?, next().ok_or("no target")?.parse()?);
        edges.push((u, v, next().map_or(Ok(1.0), str::parse)?));
    }
    Ok(Input { nodes: head[1].parse()?, directed: head[3] == "directed", edges })
}

fn check_graph(dir: &Path, name: &str, expected: &Value, checks: &mut Checks) -> Result<(), Box<dyn Error>> {
    let input = read(&dir.join(format!("{name}.txt")))?;
    let graph = match Csr::undirected(input.nodes, &input.edges) {
        Ok(graph) => graph,
        Err(error) => {
            checks.notes.push(error.to_string());
            let typed = matches!(error, GraphError::InvalidWeight { .. }) && expected.get("expect").is_some();
            checks.that(typed, || format!("not to be refused: {error}"));
            return Ok(());
        }
    };
    checks.that(expected.get("expect").is_none(), || "an invalid graph was accepted".to_owned());
    let found: Vec<Partition> =
        (0..5).map(|seed| Leiden { seed, ..Leiden::default() }.run(&graph)).collect::<Result<_, _>>()?;
    let again = Leiden::default().run(&graph)?;
    checks.that(again == found[0], || "the same seed gave another partition".to_owned());
    for (seed, partition) in found.iter().enumerate() {
        checks.that(connected(&graph, &partition.membership), || format!("seed {seed}: a community is not connected"));
        let anew = modularity(&graph, &partition.membership, 1.0);
        checks.that((anew - partition.modularity).abs() < 1e-9, || format!("seed {seed}: its modularity is {anew}"));
    }
    check_quality(expected, &found, checks);
    check_given(dir, name, expected, &graph, checks);
    if let Some(truth) = truth(dir, name) {
        check_truth(expected, &truth, &found, checks);
    }
    check_rank(expected, &input, checks)
}

fn check_quality(expected: &Value, found: &[Partition], checks: &mut Checks) {
    let values: Vec<f64> = found.iter().map(|p| p.modularity).collect();
    let (worst, best) =
        (values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(f64::MIN, f64::max));
    if let Some(count) = expected["communities_expected"].as_u64() {
        for partition in found {
            let communities = partition.membership.iter().max().map_or(0, |m| u64::from(*m) + 1);
            checks.that(communities == count && partition.modularity == 0.0, || format!("{communities} communities"));
        }
    }
    let reference = &expected["leidenalg_20_seeds_until_stable"];
    if let (Some(min), Some(median)) = (reference["min"].as_f64(), reference["median"].as_f64()) {
        checks.notes.push(format!("Q {worst:.4}..{best:.4} (reference {min:.4}, median {median:.4})"));
        checks.that(worst >= min - 0.005, || format!("the worst seed has {worst}, the reference {min}"));
        checks.that(best >= median - 0.002, || format!("the best seed has {best}, the reference's median is {median}"));
    }
    if let Some(optimum) = expected["proven_optimum"]["modularity"].as_f64() {
        checks.that(best <= optimum + 1e-9, || format!("{best} is above the proven optimum {optimum}"));
    }
}

/// The modularity of partitions that are given.
fn check_given(dir: &Path, name: &str, expected: &Value, graph: &Csr, checks: &mut Checks) {
    let mut given = |key: &str, membership: &[u32]| {
        if let Some(value) = expected[key].as_f64() {
            let ours = modularity(graph, membership, 1.0);
            checks.that((ours - value).abs() < 1e-9, || format!("{key}: {ours} is not {value}"));
        }
    };
    let n = graph.nodes();
    given("modularity_all_in_one", &vec![0; n]);
    given("modularity_singletons", &(0..n as u32).collect::<Vec<_>>());
    given("modularity_components", &graph.components());
    if let Some(truth) = truth(dir, name) {
        given("modularity_of_truth", &truth);
    }
}

fn truth(dir: &Path, name: &str) -> Option<Vec<u32>> {
    let text = fs::read_to_string(dir.join(format!("{name}.truth"))).ok()?;
    Some(text.split_whitespace().filter_map(|label| label.parse().ok()).collect())
}

fn check_truth(expected: &Value, truth: &[u32], found: &[Partition], checks: &mut Checks) {
    let best = found.iter().map(|p| mutual_information(truth, &p.membership)).fold(0.0, f64::max);
    checks.notes.push(format!("NMI {best:.3}"));
    if let Some(min) = expected["nmi_vs_truth"]["min"].as_f64() {
        checks.that(best >= min - 0.02, || format!("NMI {best} with the planted communities, the reference has {min}"));
    }
}

/// Normalised mutual information with the arithmetic mean of the entropies.
fn mutual_information(a: &[u32], b: &[u32]) -> f64 {
    let n = a.len() as f64;
    let (mut joint, mut left, mut right) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (&x, &y) in a.iter().zip(b) {
        *joint.entry((x, y)).or_insert(0.0) += 1.0 / n;
        *left.entry(x).or_insert(0.0) += 1.0 / n;
        *right.entry(y).or_insert(0.0) += 1.0 / n;
    }
    let entropy = |p: &BTreeMap<u32, f64>| -p.values().map(|p: &f64| p * p.ln()).sum::<f64>();
    let mutual: f64 = joint.iter().map(|((x, y), p): (_, &f64)| p * (p / (left[x] * right[y])).ln()).sum();
    let mean = (entropy(&left) + entropy(&right)) / 2.0;
    if mean > 0.0 { mutual / mean } else { 1.0 }
}

fn check_rank(expected: &Value, input: &Input, checks: &mut Checks) -> Result<(), Box<dyn Error>> {
    let build = if input.directed { Csr::directed } else { Csr::undirected };
    let graph = build(input.nodes, &input.edges)?;
    for key in ["pagerank", "personalized_pagerank"] {
        let reference = &expected[key];
        let Some(vector) = reference["vector"].as_array() else {
            continue;
        };
        let seeds: Vec<(u32, f64)> = reference["reset"]
            .as_object()
            .map(|reset| reset.iter().filter_map(|(n, w)| Some((n.parse().ok()?, w.as_f64()?))).collect())
            .unwrap_or_default();
        let ours = PageRank::default().rank_from(&graph, &seeds)?;
        let off: f64 = ours.iter().zip(vector).map(|(a, b)| (a - b.as_f64().unwrap_or(f64::NAN)).abs()).sum();
        let sum: f64 = ours.iter().sum();
        checks.that(ours.len() == vector.len() && off < 1e-9, || format!("{key} is off by {off}"));
        checks.that((sum - 1.0).abs() < 1e-9, || format!("{key} sums to {sum}"));
    }
    Ok(())
}

/// Whether every community hangs together over links of weight above 0.
fn connected(graph: &Csr, membership: &[u32]) -> bool {
    let mut seen = vec![false; graph.nodes()];
    let mut begun = std::collections::BTreeSet::new();
    for start in 0..graph.nodes() as u32 {
        if seen[start as usize] {
            continue;
        }
        if !begun.insert(membership[start as usize]) {
            return false;
        }
        let mut stack = vec![start];
        seen[start as usize] = true;
        while let Some(u) = stack.pop() {
            for (v, _) in graph.row(u) {
                if !seen[v as usize] && membership[v as usize] == membership[u as usize] {
                    seen[v as usize] = true;
                    stack.push(v);
                }
            }
        }
    }
    true
}
