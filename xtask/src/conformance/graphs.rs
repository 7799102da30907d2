//! Reference graphs: what others computed on the same graph, and whether ours agrees.
//!
//! A folder holds `reference.json` and `<name>.txt` a graph, with `<name>.truth` where communities
//! were planted. Every key that is known is checked and none has to be there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use dormouse_consolidate::communities::{Leiden, Partition, modularity};
use dormouse_vault::{Csr, PageRank};
use serde_json::Value;

use super::partitions::{adjusted_rand, connected, mutual_information};

/// What two computations of one number may differ by.
const EQUAL: f64 = 1e-9;

/// Checks every graph of the folder; `say` gets a line for each and one for each failing check.
/// Returns how many checks passed and failed.
///
/// # Errors
/// When `reference.json` is missing or no JSON object.
pub(super) fn check_folder(dir: &Path, say: &mut dyn FnMut(String)) -> Result<(usize, usize)> {
    let file = dir.join("reference.json");
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let all: Value = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
    let graphs = all.get("graphs").unwrap_or(&all);
    let graphs = graphs.as_object().with_context(|| format!("{} holds no graphs", file.display()))?;
    let mut names: BTreeSet<String> = graphs.keys().cloned().collect();
    for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())?.flatten() {
        if let Some(name) = entry.file_name().to_str().and_then(|name| name.strip_suffix(".txt")) {
            names.insert(name.to_owned());
        }
    }
    let (mut passed, mut failed) = (0, 0);
    for name in names {
        let expected = graphs.get(&name).unwrap_or(&Value::Null);
        if !(expected.is_object() || expected.is_null()) {
            continue;
        }
        let began = Instant::now();
        let checks = check_graph(dir, &name, expected);
        let state = if checks.failures.is_empty() { "ok    " } else { "FAILED" };
        say(format!("{state} {name:26} {:5} ms  {}", began.elapsed().as_millis(), checks.notes.join(", ")));
        for failure in &checks.failures {
            say(format!("       {name}: {failure}"));
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

    fn equal(&mut self, what: &str, ours: f64, expected: &Value) {
        if let Some(value) = expected.as_f64() {
            let scale = value.abs().max(1.0);
            self.that((ours - value).abs() <= EQUAL * scale, || format!("{what}: {ours} is not {value}"));
        }
    }

    fn count(&mut self, what: &str, ours: usize, expected: &Value) {
        if let Some(value) = expected.as_u64() {
            self.that(ours as u64 == value, || format!("{what}: {ours} is not {value}"));
        }
    }
}

/// A graph as its file has it.
#[derive(Debug, Default)]
struct Listed {
    nodes: usize,
    directed: Option<bool>,
    edges: Vec<(u32, u32, f64)>,
    weighted: bool,
}

impl Listed {
    /// `# nodes edges directed weighted`, then an edge a line. Other comments and blank lines are
    /// passed over, columns may be parted by blanks, tabs or commas, and a file without a header has
    /// the nodes that its edges name.
    fn parse(text: &str) -> Result<Self> {
        let mut out = Self::default();
        let mut named = None;
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if let Some(comment) = line.strip_prefix(['#', '%']) {
                let words: Vec<&str> = comment.split_whitespace().collect();
                if named.is_none()
                    && let Some(Ok(nodes)) = words.first().map(|word| word.parse())
                {
                    named = Some(nodes);
                    out.weighted = words.contains(&"weighted");
                    out.directed = words.iter().find_map(|word| match *word {
                        "directed" => Some(true),
                        "undirected" => Some(false),
                        _ => None,
                    });
                }
            } else if !line.is_empty() {
                let edge = edge(line).with_context(|| format!("line {}", at + 1))?;
                out.nodes = out.nodes.max(edge.0.max(edge.1) as usize + 1);
                out.edges.push(edge);
            }
        }
        out.nodes = named.unwrap_or(out.nodes);
        Ok(out)
    }
}

fn edge(line: &str) -> Result<(u32, u32, f64)> {
    let mut parts = line.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';')).filter(|part| !part.is_empty());
    let from = parts.next().context("no source")?.parse()?;
    let to = parts.next().context("no target")?.parse()?;
    Ok((from, to, parts.next().map_or(Ok(1.0), str::parse)?))
}

fn check_graph(dir: &Path, name: &str, expected: &Value) -> Checks {
    let mut checks = Checks::default();
    let listed = fs::read_to_string(dir.join(format!("{name}.txt")))
        .map_err(anyhow::Error::from)
        .and_then(|text| Listed::parse(&text));
    let listed = match listed {
        Ok(listed) => listed,
        Err(error) => {
            checks.that(false, || format!("its file can't be read: {error:#}"));
            return checks;
        }
    };
    // A file that holds no graph has a name or a key that says so.
    let invalid = name.starts_with("invalid") || expected.get("expect").is_some();
    let graph = match Csr::undirected(listed.nodes, &listed.edges) {
        Ok(graph) => graph,
        Err(error) => {
            checks.notes.push(error.to_string());
            checks.that(invalid, || format!("not to be refused: {error}"));
            return checks;
        }
    };
    checks.that(!invalid, || "an invalid graph was accepted".to_owned());
    check_file(&listed, expected, &graph, &mut checks);
    let found = match search(&graph) {
        Ok(found) => found,
        Err(error) => {
            checks.that(false, || format!("no partition: {error}"));
            return checks;
        }
    };
    check_found(&graph, &found, &mut checks);
    check_quality(expected, &found, &mut checks);
    let truth = truth(dir, name, expected);
    check_given(expected, &graph, truth.as_deref(), &mut checks);
    if let Some(truth) = truth {
        check_truth(expected, &truth, &found, &mut checks);
    }
    check_rank(expected, &listed, &mut checks);
    checks
}

/// Five seeds.
fn search(graph: &Csr) -> Result<Vec<Partition>> {
    (0..5).map(|seed| Ok(Leiden { seed, ..Leiden::default() }.run(graph)?)).collect()
}

/// What the file itself says: sizes, weights, links into each node.
fn check_file(listed: &Listed, expected: &Value, graph: &Csr, checks: &mut Checks) {
    checks.count("n", graph.nodes(), &expected["n"]);
    checks.count("m", listed.edges.len(), &expected["m"]);
    checks.equal("total_weight", graph.strengths().iter().sum::<f64>() / 2.0, &expected["total_weight"]);
    for (key, ours) in [("directed", listed.directed), ("weighted", Some(listed.weighted))] {
        if let (Some(ours), Some(value)) = (ours, expected[key].as_bool()) {
            checks.that(ours == value, || format!("{key}: {ours} is not {value}"));
        }
    }
    let components = graph.components().iter().max().map_or(0, |&last| last as usize + 1);
    checks.count("components", components, &expected["components"]);
    let (mut parallel, mut sources) = (vec![0_u64; listed.nodes], vec![BTreeSet::new(); listed.nodes]);
    for &(u, v, _) in &listed.edges {
        if let (Some(count), Some(sources)) = (parallel.get_mut(v as usize), sources.get_mut(v as usize)) {
            *count += 1;
            if u != v {
                sources.insert(u);
            }
        }
    }
    let distinct: Vec<u64> = sources.iter().map(|s| s.len() as u64).collect();
    for (key, ours) in [("in_degree_parallel_counted", parallel), ("in_degree_distinct_sources_no_self", distinct)] {
        if let Some(value) = expected[key].as_array() {
            checks
                .that(value.iter().map(Value::as_u64).eq(ours.iter().copied().map(Some)), || format!("{key} differs"));
        }
    }
}

/// What must hold of any partition that we find.
fn check_found(graph: &Csr, found: &[Partition], checks: &mut Checks) {
    // Again, and on another thread.
    let again = std::thread::scope(|scope| scope.spawn(|| search(graph)).join());
    let same = again.is_ok_and(|again| again.is_ok_and(|again| again == found));
    checks.that(same, || "the same seeds gave other partitions".to_owned());
    for (seed, partition) in found.iter().enumerate() {
        checks.that(connected(graph, &partition.membership), || format!("seed {seed}: a community is in pieces"));
        let anew = modularity(graph, &partition.membership, 1.0);
        let (ours, nodes) = (partition.modularity, partition.membership.len());
        checks.that((anew - ours).abs() < EQUAL, || format!("seed {seed}: it is said to have {ours} and has {anew}"));
        checks.that(nodes == graph.nodes(), || format!("seed {seed}: {nodes} nodes of {}", graph.nodes()));
    }
}

fn communities(partition: &Partition) -> usize {
    partition.membership.iter().max().map_or(0, |&last| last as usize + 1)
}

fn check_quality(expected: &Value, found: &[Partition], checks: &mut Checks) {
    let values = found.iter().map(|p| p.modularity);
    let (worst, best) = values.fold((f64::MAX, f64::MIN), |(low, high), q| (low.min(q), high.max(q)));
    if let Some(count) = expected["communities_expected"].as_u64() {
        for partition in found {
            let ours = communities(partition);
            checks.that(ours as u64 == count, || format!("{ours} communities, not {count}"));
        }
    }
    if expected["modularity"].as_str().is_some_and(|text| text.contains("undefined")) {
        checks.that(found.iter().all(|p| p.modularity == 0.0), || "without weight there is no modularity".to_owned());
    }
    let reference = &expected["leidenalg_20_seeds_until_stable"];
    if let (Some(min), Some(median)) = (reference["min"].as_f64(), reference["median"].as_f64()) {
        checks.notes.push(format!("Q {worst:.4}..{best:.4} (reference {min:.4}, median {median:.4})"));
        checks.that(worst >= min - 0.005, || format!("the worst seed has {worst}, the reference {min}"));
        checks.that(best >= median - 0.002, || format!("the best seed has {best}, the reference's median is {median}"));
    }
    let optimum = &expected["proven_optimum"];
    if let Some(optimum) = optimum["modularity"].as_f64().or_else(|| optimum.as_f64()) {
        checks.that(best <= optimum + EQUAL, || format!("{best} is above the proven optimum {optimum}"));
    }
}

/// The modularity of partitions that are given.
fn check_given(expected: &Value, graph: &Csr, truth: Option<&[u32]>, checks: &mut Checks) {
    let alone: Vec<u32> = (0..graph.nodes() as u32).collect();
    let mut given = |key: &str, value: &Value, membership: &[u32]| {
        checks.equal(key, modularity(graph, membership, 1.0), value);
    };
    given("modularity_all_in_one", &expected["modularity_all_in_one"], &vec![0; graph.nodes()]);
    given("modularity_singletons", &expected["modularity_singletons"], &alone);
    given("modularity_components", &expected["modularity_components"], &graph.components());
    if let Some(truth) = truth {
        given("modularity_of_truth", &expected["modularity_of_truth"], truth);
    }
    // The best that the reference found, which is not always the optimum.
    let optimum = expected.pointer("/proven_optimum/modularity").and_then(Value::as_f64);
    if let (Some(best), Some(optimum)) = (labels(&expected["best_membership"]), optimum) {
        let ours = modularity(graph, &best, 1.0);
        checks.that(ours <= optimum + EQUAL, || format!("best_membership has {ours}, above the optimum {optimum}"));
    }
}

fn labels(list: &Value) -> Option<Vec<u32>> {
    list.as_array()?.iter().map(|label| label.as_u64().and_then(|label| u32::try_from(label).ok())).collect()
}

/// The planted communities: any labels, in the file or in the reference.
fn truth(dir: &Path, name: &str, expected: &Value) -> Option<Vec<u32>> {
    let Ok(text) = fs::read_to_string(dir.join(format!("{name}.truth"))) else {
        return labels(&expected["truth"]);
    };
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let labels = lines.map(|line| line.split_whitespace().next_back().unwrap_or(line));
    let mut out = Vec::new();
    for label in labels {
        let next = numbers.len() as u32;
        out.push(*numbers.entry(label).or_insert(next));
    }
    Some(out)
}

fn check_truth(expected: &Value, truth: &[u32], found: &[Partition], checks: &mut Checks) {
    let nodes = found.first().map_or(0, |p| p.membership.len());
    checks.that(truth.len() == nodes, || format!("the truth names {} nodes of {nodes}", truth.len()));
    checks.count("truth_communities", truth.iter().collect::<BTreeSet<_>>().len(), &expected["truth_communities"]);
    // Best modularity is not best likeness, so that some room is left.
    let best = |measure: &dyn Fn(&[u32], &[u32]) -> f64| {
        found.iter().map(|p| measure(truth, &p.membership)).fold(f64::MIN, f64::max)
    };
    let likeness = [
        ("NMI", "/nmi_vs_truth/min", 0.02, best(&mutual_information)),
        ("ARI", "/ari_vs_truth/min", 0.05, best(&adjusted_rand)),
    ];
    for (name, key, room, best) in likeness {
        if let Some(min) = expected.pointer(key).and_then(Value::as_f64) {
            checks.notes.push(format!("{name} {best:.3} ({min:.3})"));
            checks.that(best >= min - room, || format!("{name} {best} with what was planted, the reference has {min}"));
        }
    }
}

fn check_rank(expected: &Value, listed: &Listed, checks: &mut Checks) {
    let directed = listed.directed.or_else(|| expected["directed"].as_bool()).unwrap_or(false);
    let build = if directed { Csr::directed } else { Csr::undirected };
    let Ok(graph) = build(listed.nodes, &listed.edges) else {
        return checks.that(false, || "no directed graph".to_owned());
    };
    for key in ["pagerank", "personalized_pagerank", "personalised_pagerank"] {
        let reference = &expected[key];
        let Some(vector) = reference["vector"].as_array().or_else(|| reference.as_array()) else {
            continue;
        };
        let weight = |(node, weight): (&String, &Value)| Some((node.parse().ok()?, weight.as_f64()?));
        let seeds: Vec<(u32, f64)> = match &reference["reset"] {
            Value::Object(reset) => reset.iter().filter_map(weight).collect(),
            Value::Array(reset) => (0..).zip(reset.iter().filter_map(Value::as_f64)).collect(),
            _ => Vec::new(),
        };
        let damping = reference["damping"].as_f64().unwrap_or(0.85);
        let ours = PageRank { damping, ..PageRank::default() }.rank_from(&graph, &seeds).unwrap_or_default();
        let off: f64 = ours.iter().zip(vector).map(|(a, b)| (a - b.as_f64().unwrap_or(f64::NAN)).abs()).sum();
        let sum: f64 = ours.iter().sum();
        checks.that(ours.len() == vector.len() && off < EQUAL, || format!("{key} is off by {off}"));
        checks.that(ours.is_empty() || (sum - 1.0).abs() < EQUAL, || format!("{key} sums to {sum}"));
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own folder")]
mod tests {
    use super::*;

    #[test]
    fn our_own_graphs_pass_every_check() {
        let mut lines = Vec::new();
        let found = check_folder(&crate::root().join("fixtures/graphs"), &mut |line| lines.push(line)).unwrap();
        assert!(found.0 > 100 && found.1 == 0, "{found:?}\n{}", lines.join("\n"));
    }

    #[test]
    fn a_wrong_value_a_missing_file_and_an_accepted_error_fail() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        put("a.txt", "# 3 2 directed weighted\n# a comment\n\n0\t1\t2.0\n1,2\n");
        put("invalid_none.txt", "0 1 1\n");
        let reference = r#"{"graphs": {"gone": {}, "invalid_none": {}, "a": {
            "n": 3, "m": 2, "total_weight": 3.5, "directed": true, "modularity_all_in_one": 0.25,
            "leidenalg_20_seeds_until_stable": {"min": 0.9, "median": 0.9}, "pagerank": {"vector": [0.2, 0.4, 0.4]}}}}"#;
        put("reference.json", reference);
        let mut lines = Vec::new();
        let found = check_folder(dir.path(), &mut |line| lines.push(line)).unwrap();
        let failures: Vec<&str> = lines.iter().filter_map(|l| l.strip_prefix("       ")).map(|l| &l[..20]).collect();
        assert_eq!(found.1, 7, "{failures:?}");
    }

    #[test]
    fn a_header_is_read_liberally() {
        let listed = Listed::parse("0 4\n1 2 0.5\n").unwrap();
        assert_eq!((listed.nodes, listed.directed, listed.edges.len()), (5, None, 2));
        let listed = Listed::parse("#9 1 undirected unweighted\r\n0 1\r\n").unwrap();
        assert_eq!((listed.nodes, listed.directed, listed.weighted), (9, Some(false), false));
        assert!(Listed::parse("0 x\n").is_err() && Listed::parse("0\n").is_err());
    }
}
