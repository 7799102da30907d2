//! Leiden and PageRank on a large planted graph, beside igraph's, which are written in C.
//!
//! `cargo xtask bench communities --nodes 1000000 --peer PYTHON`, PYTHON an interpreter that has the
//! package `igraph`. Each measurement is a process of its own, so that its processor time and its
//! peak of memory are its own; the two take turns. Both get the same edges from the same file and
//! are timed from the graph in memory to the result: two passes of Leiden, one PageRank.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    reason = "a measurement talks to a person, writes a file of its own, and stops where that fails"
)]

#[path = "../machine/mod.rs"]
mod machine;
mod planted;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use dormouse_consolidate::communities::Leiden;
use dormouse_vault::{Csr, PageRank};
use machine::{cpu_ms, peak_mb};

const PEER: &str = include_str!("peer.py");
const STAGES: [&str; 2] = ["leiden", "rank"];

fn main() {
    let args: Vec<String> = env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let Some(stage) = args.first().and_then(|arg| arg.strip_prefix("stage=")) {
        return run(stage, Path::new(&args[1]), args[2].parse().unwrap());
    }
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        return println!(
            "cargo xtask bench communities [--nodes N (default 100000) | --graph FILE] [--runs N (default 5)] \
             [--peer PYTHON (an interpreter that has igraph)] [--json]"
        );
    }
    let option = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let from = env::var_os("BENCH_CWD").map_or_else(PathBuf::new, PathBuf::from);
    let (nodes, directed, list) = match option("--graph") {
        Some(file) => read_text(&from.join(file)),
        None => {
            let nodes = option("--nodes").map_or(100_000, |text| text.parse().unwrap());
            (nodes, false, planted::edges(nodes))
        }
    };
    let folder = env::temp_dir().join(format!("dormouse-graphs-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let edges = folder.join("edges.bin");
    write(&edges, nodes, directed, &list);
    let links = list.len();
    drop(list);
    // A name without a folder is looked up on PATH.
    let peer = option("--peer").map(|python| if python.contains('/') { from.join(python) } else { python.into() });
    let mut figures: [[Vec<Figures>; 2]; 2] = Default::default();
    for seed in 0..option("--runs").map_or(5_u64, |text| text.parse().unwrap()) {
        for (stage, [ours, theirs]) in STAGES.into_iter().zip(&mut figures) {
            let mut command = Command::new(env::current_exe().unwrap());
            ours.push(spawn(command.arg(format!("stage={stage}")).arg(&edges).arg(seed.to_string())));
            if let Some(python) = &peer {
                let mut command = Command::new(python);
                theirs.push(spawn(command.args(["-c", PEER]).arg(&edges).args([&seed.to_string(), stage])));
            }
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    report(nodes, links, &figures, args.iter().any(|arg| arg == "--json"));
}

/// Milliseconds of processor time, peak of memory in megabytes, quality.
type Figures = [f64; 3];

fn spawn(command: &mut Command) -> Figures {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let numbers: Vec<f64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    [numbers[0], numbers[1], numbers[2]]
}

/// One measurement, in a process of its own.
fn run(stage: &str, edges: &Path, seed: u64) {
    let graph = load(edges, stage == "rank");
    let before = cpu_ms();
    if stage == "rank" {
        let ranks = PageRank::default().rank(&graph).unwrap();
        return println!("{} {} {}", cpu_ms() - before, peak_mb(), ranks.iter().sum::<f64>());
    }
    let found = Leiden { seed, max_passes: 2, ..Leiden::default() }.run(&graph).unwrap();
    println!("{} {} {}", cpu_ms() - before, peak_mb(), found.modularity);
}

fn write(file: &Path, nodes: usize, directed: bool, edges: &[(u32, u32)]) {
    let mut out = std::io::BufWriter::new(fs::File::create(file).unwrap());
    for number in [nodes as u32, u32::from(directed)].into_iter().chain(edges.iter().flat_map(|&(u, v)| [u, v])) {
        out.write_all(&number.to_le_bytes()).unwrap();
    }
    out.flush().unwrap();
}

/// The graph, as directed as it was listed or not at all.
fn load(file: &Path, as_listed: bool) -> Csr {
    let bytes = fs::read(file).unwrap();
    let number = |at: usize| u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().unwrap());
    let edges: Vec<_> = (1..bytes.len() / 8).map(|i| (number(2 * i), number(2 * i + 1), 1.0)).collect();
    let (nodes, directed) = (number(0) as usize, number(1) == 1);
    drop(bytes);
    if directed && as_listed { Csr::directed(nodes, &edges) } else { Csr::undirected(nodes, &edges) }.unwrap()
}

/// `# nodes edges directed`, then `u v` a line.
fn read_text(file: &Path) -> (usize, bool, Vec<(u32, u32)>) {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let (head, rest) = text.split_once('\n').unwrap();
    let head: Vec<&str> = head.split_whitespace().collect();
    let edge = |line: &str| {
        let mut ends = line.split_whitespace().map(|end| end.parse().unwrap());
        Some((ends.next()?, ends.next()?))
    };
    (head[1].parse().unwrap(), head.get(3) == Some(&"directed"), rest.lines().filter_map(edge).collect())
}

fn median(list: &[Figures], at: usize) -> Option<f64> {
    let mut values: Vec<f64> = list.iter().map(|figures| figures[at]).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn report(nodes: usize, links: usize, figures: &[[Vec<Figures>; 2]; 2], json: bool) {
    let [[ours, theirs], [our_rank, their_rank]] = figures;
    let lines = [
        ("leiden_cpu_ms", median(ours, 0), median(theirs, 0)),
        ("leiden_peak_mb", median(ours, 1), median(theirs, 1)),
        ("leiden_modularity", median(ours, 2), median(theirs, 2)),
        ("pagerank_cpu_ms", median(our_rank, 0), median(their_rank, 0)),
        ("pagerank_peak_mb", median(our_rank, 1), median(their_rank, 1)),
    ];
    if json {
        let value = |x: Option<f64>| x.map_or_else(|| "null".to_owned(), |x| x.to_string());
        let row = |(what, ours, theirs): &(&str, Option<f64>, Option<f64>)| {
            format!("\"{what}\": {{\"ours\": {}, \"igraph\": {}}}", value(*ours), value(*theirs))
        };
        let rows: Vec<String> = lines.iter().map(row).collect();
        return println!("{{\"nodes\": {nodes}, \"links\": {links}, {}}}", rows.join(", "));
    }
    println!("{nodes} nodes, {links} links; two passes of Leiden; medians of {} runs", ours.len());
    println!("{:20} {:>11} {:>11} {:>7}", "", "ours", "igraph", "ratio");
    for (what, ours, theirs) in lines {
        let show = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.4}"));
        println!("{what:20} {:>11} {:>11} {:>7}", show(ours), show(theirs), show(ours.zip(theirs).map(|(a, b)| a / b)));
    }
}
