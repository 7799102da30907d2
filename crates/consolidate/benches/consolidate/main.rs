//! A run of all tasks over a large vault of digest notes, and another after one edit.
//!
//! `cargo xtask bench consolidate --notes 100000`. Full run, a run after one edit in the same
//! process, and one in a process of its own, which has only what earlier runs left on disk.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    reason = "a measurement talks to a person, builds its own folder, and stops where that fails"
)]

#[path = "../machine/mod.rs"]
mod machine;
mod vault;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{env, fs};

use dormouse_consolidate::{ConsolidateConfig, DEFAULT_SEED, Progress, RunContext, Task, TaskState, run};
use dormouse_vault::{FixedClock, Vault};
use machine::{cpu_ms, peak_mb};

/// Until a file is three seconds old its time proves nothing.
const SETTLED: Duration = Duration::from_secs(4);

const TASKS: [Task; 5] = Task::ALL;

fn main() {
    let args: Vec<String> = env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let Some(stage) = args.first().and_then(|arg| arg.strip_prefix("stage=")) {
        return stages(stage, Path::new(&args[1]), args[2].parse().unwrap());
    }
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        return println!("cargo xtask bench consolidate [--notes N (default 100000)] [--at FOLDER] [--json]");
    }
    let option = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let notes: usize = option("--notes").map_or(100_000, |text| text.parse().unwrap());
    let given = option("--at").map(|at| env::var_os("BENCH_CWD").map_or_else(PathBuf::new, PathBuf::from).join(at));
    let root = given.clone().unwrap_or_else(|| env::temp_dir().join(format!("dormouse-bench-{}", std::process::id())));
    if !root.join("digest").exists() {
        vault::generate(&root, notes);
        std::thread::sleep(SETTLED);
    }
    // The vault's own cache is warm, as it is for a watcher; the stage's is not.
    drop(Vault::open(&root).unwrap());
    let mut figures = spawn("full", &root, notes);
    figures.extend(spawn("fresh", &root, notes));
    if given.is_none() {
        fs::remove_dir_all(&root).unwrap();
    }
    if args.iter().any(|arg| arg == "--json") {
        let rows: Vec<String> = figures.iter().map(|(name, value)| format!("\"{name}\": {value:.4}")).collect();
        return println!("{{\"notes\": {notes}, {}}}", rows.join(", "));
    }
    println!("{notes} digest notes; seconds of CPU by task, whole run: CPU, wall, peak of the process in MB");
    let columns = ["split", "communities", "time", "duplicates", "health", "rest", "cpu", "wall", "peak_mb"];
    println!("{:10}{}", "", columns.map(|c| format!("{c:>12}")).concat());
    for stage in ["full", "again", "edit", "fresh"] {
        let get = |column: &str| figures.get(&format!("{stage}_{column}")).copied().unwrap_or(f64::NAN);
        println!("{stage:10}{}", columns.map(|c| format!("{:12.3}", get(c))).concat());
    }
    println!(
        "after one edit, of a full run: {:.3} in the same process, {:.3} in its own (at most 0.05)",
        figures["edit_cpu"] / figures["full_cpu"],
        figures["fresh_cpu"] / figures["full_cpu"]
    );
}

fn spawn(stage: &str, root: &Path, notes: usize) -> BTreeMap<String, f64> {
    let mut command = Command::new(env::current_exe().unwrap());
    let output = command.arg(format!("stage={stage}")).arg(root).arg(notes.to_string()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let pairs = text.lines().map(|line| line.split_once(' ').unwrap());
    pairs.map(|(name, value)| (name.to_owned(), value.parse().unwrap())).collect()
}

fn stages(stage: &str, root: &Path, notes: usize) {
    let vault = Vault::open(root).unwrap();
    println!("{stage}_open_mb {}", peak_mb());
    if stage == "full" {
        measure("full", &vault);
        measure("again", &vault);
        edit(root, notes / 2);
        measure("edit", &vault);
    } else {
        edit(root, notes / 3);
        vault.refresh().unwrap();
        measure(stage, &vault);
    }
}

/// A sentence more, a link to another theme, from a note in the middle.
fn edit(root: &Path, note: usize) {
    let path = root.join(vault::name(note)).with_extension("md");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, format!("{text}\nA sentence that was not there before. See [[{}]].\n", vault::name(note / 2)))
        .unwrap();
}

/// When each task ended.
#[derive(Default)]
struct Ends(Mutex<Vec<(Task, f64)>>);

impl Progress for Ends {
    fn end(&self, task: Task, state: &TaskState) {
        assert_eq!(*state, TaskState::Done, "{task}");
        self.0.lock().unwrap().push((task, cpu_ms()));
    }
}

fn measure(name: &str, vault: &Vault) {
    let config = ConsolidateConfig::default();
    let ends = Ends::default();
    let clock = FixedClock::new("2026-11-30T22:00:00+00:00".parse().unwrap());
    let context =
        RunContext { vault, clock: &clock, config: &config, seed: DEFAULT_SEED, progress: &ends, cancel: &|| false };
    let (began, before) = (Instant::now(), cpu_ms());
    run(context, &TASKS).unwrap();
    let after = cpu_ms();
    let mut last = before;
    for (task, end) in ends.0.into_inner().unwrap() {
        println!("{name}_{task} {}", (end - last) / 1e3);
        last = end;
    }
    println!("{name}_rest {}", (after - last) / 1e3);
    println!("{name}_cpu {}", (after - before) / 1e3);
    println!("{name}_wall {}", began.elapsed().as_secs_f64());
    println!("{name}_peak_mb {}", peak_mb());
}
