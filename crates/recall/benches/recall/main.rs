//! Recall in a large vault: how fast, how large, against bare tantivy on the same machine in the same run.
//!
//! `cargo xtask bench recall [--notes N] [--language en|zh|mixed] [--queries N] [--edits N]
//! [--json FILE]`. Every stage is a process of its own, so that its processor time and its peak of
//! memory are its own.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    reason = "a measurement talks to a person, builds its own folder, and stops where that fails"
)]

mod bare;
mod machine;
mod stages;
mod vaults;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use std::{env, fs};

/// The figures of a stage by name.
type Figures = BTreeMap<String, f64>;

/// Processes that edit at the same time.
const EDITORS: usize = 4;

fn main() {
    let args: Vec<String> = env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let Some(stage) = args.first().and_then(|arg| arg.strip_prefix("stage=")) {
        return stages::run(stage, Path::new(&args[1]), &args[2], args[3].parse().unwrap());
    }
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        return println!(
            "cargo xtask bench recall [--notes N (default 100000)] [--language en|zh|mixed (default all)] [--queries N (default 300)] [--edits N (default 10000)] [--json FILE]"
        );
    }
    let option = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let number = |name: &str, default: usize| option(name).map_or(default, |text| text.parse().unwrap());
    let (notes, queries, edits) = (number("--notes", 100_000), number("--queries", 300), number("--edits", 10_000));
    let languages = option("--language").map_or(vec!["en", "zh", "mixed"], |one| vec![one.as_str()]);
    let folder = env::temp_dir().join(format!("dormouse-recall-{}", std::process::id()));
    let mut all = BTreeMap::new();
    for language in languages {
        let root = folder.join(language);
        vaults::generate(&root, notes, language);
        let figures = measure(&root, language, queries, edits);
        report(language, notes, &figures);
        all.insert(language.to_owned(), figures);
    }
    fs::remove_dir_all(&folder).unwrap();
    if let Some(file) = option("--json") {
        let file = env::var_os("BENCH_CWD").map_or_else(PathBuf::new, PathBuf::from).join(file);
        fs::write(file, serde_json::to_string_pretty(&all).unwrap() + "\n").unwrap();
    }
}

fn measure(root: &Path, language: &str, queries: usize, edits: usize) -> Figures {
    let mut out = Figures::new();
    let mut run = |stage: &str, count: usize| {
        for (name, value) in finish(start(stage, root, language, count)) {
            out.insert(format!("{stage} {name}"), value);
        }
    };
    run("open", 0);
    run("bare", 0);
    run("cold", 0);
    run("query", queries);
    run("walk", queries);
    let mut once: Vec<f64> = (0..11).map(|_| whole_process(root, language)).collect();
    out.insert("once p50".to_owned(), machine::percentile(&mut once, 0.5));
    let mut run = |stage: &str, count: usize| {
        for (name, value) in finish(start(stage, root, language, count)) {
            out.insert(format!("{stage} {name}"), value);
        }
    };
    run("edit", 100);
    run("beside", 2);
    let editors: Vec<Child> =
        (0..EDITORS).map(|at| start(&format!("editor{at}"), root, language, edits / EDITORS)).collect();
    editors.into_iter().for_each(|child| drop(finish(child)));
    run("size", 0);
    out
}

/// Milliseconds from the start of a process to the end of its one search.
fn whole_process(root: &Path, language: &str) -> f64 {
    let started = Instant::now();
    finish(start("once", root, language, 1));
    started.elapsed().as_secs_f64() * 1e3
}

fn start(stage: &str, root: &Path, language: &str, count: usize) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.arg(format!("stage={stage}")).arg(root).arg(language).arg(count.to_string());
    command.stdout(Stdio::piped()).spawn().unwrap()
}

fn finish(child: Child) -> Figures {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "a stage failed");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn report(language: &str, notes: usize, figures: &Figures) {
    let get = |name: &str| figures.get(name).copied().unwrap_or(f64::NAN);
    let line = |name: &str, value: f64, goal: &str| println!("{name:<52} {value:>10.2}   {goal}");
    println!("\n{language}, {notes} notes, {:.0} blocks", get("bare blocks"));
    line("cold index, seconds of CPU", get("cold cpu") / 1e3, "");
    line("… against bare tantivy", get("cold cpu") / get("bare cpu"), "≤ 1.5");
    line("query p50, ms", get("query p50"), "≤ 5");
    line("query p95, ms", get("query p95"), "");
    line("query p99, ms", get("query p99"), "≤ 25");
    line("… p50 against bare tantivy's first ten", get("query p50") / get("query bare p50"), "≤ 2");
    line("… p95 against bare tantivy's first ten", get("query p95") / get("query bare p95"), "≤ 2");
    line("… p99 against bare tantivy's first ten", get("query p99") / get("query bare p99"), "≤ 2");
    line("first query of a process, ms", get("query first"), "");
    line("a process for one search, ms", get("once p50"), "≤ 80");
    line("traverse depth 1 p95, ms", get("walk p95"), "≤ 1");
    line("edit to found p95, ms", get("edit p95"), "≤ 300");
    line("a search beside traversing, times as long", get("beside ratio"), "≤ 1.5");
    line("idle CPU, ms in two seconds", get("query idle"), "0");
    line("memory of an open vault, MB", get("open peak"), "");
    line("memory with queries, MB, the mapped index included", get("query peak"), "≤ 300");
    line("… without the mapped index", get("query own"), "");
    line("index on disk, times the vault's bytes", get("cold size"), "");
    line("… after the edits of four processes", get("size size"), "≤ 5");
}
