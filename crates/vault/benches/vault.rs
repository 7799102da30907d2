//! A large vault, measured in one run against floors that do only what no vault can leave out.
//!
//! `cargo xtask bench vault --notes 100000`. Every measurement is a process of its own, so that its
//! processor time and its peak of memory are its own; floor and vault take turns.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    reason = "a measurement talks to a person, builds its own folder, and stops where that fails"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs};

use dormouse_vault::{NotePath, Vault};

/// How many notes link to the hub that is renamed.
const HUB_LINKS: usize = 1_000;

/// Until a file is three seconds old its time proves nothing.
const SETTLED: Duration = Duration::from_secs(4);

fn main() {
    let args: Vec<String> = env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let Some(stage) = args.first().and_then(|arg| arg.strip_prefix("stage=")) {
        return stages(stage, Path::new(&args[1]));
    }
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        return println!(
            "cargo xtask bench vault [--notes N (default 100000)] [--runs N (default 5)] [--words N (default 200)] [--at FOLDER]"
        );
    }
    let option = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let number = |name: &str, default: usize| option(name).map_or(default, |text| text.parse().unwrap());
    let (notes, runs, words) = (number("--notes", 100_000), number("--runs", 5), number("--words", 200));
    let given = option("--at").map(|at| env::var_os("BENCH_CWD").map_or_else(PathBuf::new, PathBuf::from).join(at));
    let folder =
        given.clone().unwrap_or_else(|| env::temp_dir().join(format!("dormouse-bench-{}", std::process::id())));
    let small = measure(&folder.join("small"), notes / 10, runs, words);
    let large = measure(&folder.join("large"), notes, runs, words);
    report(notes, words, &small, &large);
    if given.is_none() {
        fs::remove_dir_all(&folder).unwrap();
    }
}

/// The medians of one stage.
#[derive(Debug, Clone, Copy, Default)]
struct Figures {
    cpu: f64,
    wall: f64,
    peak_mb: f64,
    extra: f64,
}

type Stages = BTreeMap<&'static str, Figures>;

fn measure(root: &Path, notes: usize, runs: usize, words: usize) -> Stages {
    generate(root, notes, words);
    std::thread::sleep(SETTLED);
    let mut seen: BTreeMap<&'static str, Vec<Figures>> = BTreeMap::new();
    for _ in 0..runs {
        for stage in ["floor cold", "open cold", "floor warm", "open warm", "edit", "create"] {
            if stage == "open cold" {
                let _ = fs::remove_dir_all(root.join(".dormouse"));
            }
            seen.entry(stage).or_default().push(spawn(stage, root));
        }
        std::thread::sleep(SETTLED);
    }
    seen.insert("rename", vec![spawn("rename", root)]);
    let median = |list: &[Figures], of: fn(&Figures) -> f64| {
        let mut values: Vec<f64> = list.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    seen.into_iter()
        .map(|(stage, list)| {
            let figures = Figures {
                cpu: median(&list, |f| f.cpu),
                wall: median(&list, |f| f.wall),
                peak_mb: median(&list, |f| f.peak_mb),
                extra: median(&list, |f| f.extra),
            };
            (stage, figures)
        })
        .collect()
}

fn spawn(stage: &str, root: &Path) -> Figures {
    let output = Command::new(env::current_exe().unwrap()).arg(format!("stage={stage}")).arg(root).output().unwrap();
    assert!(output.status.success(), "{stage}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let numbers: Vec<f64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    Figures { cpu: numbers[0], wall: numbers[1], peak_mb: numbers[2], extra: numbers[3] }
}

fn stages(stage: &str, root: &Path) {
    let started = Instant::now();
    let cpu = cpu_ms();
    let extra = match stage {
        "floor cold" => as_f64(floor_cold(root)),
        "floor warm" => as_f64(floor_warm(root)),
        "open cold" | "open warm" => {
            let vault = Vault::open(root).unwrap();
            let figures = (cpu_ms() - cpu, started.elapsed().as_secs_f64() * 1e3, peak_mb());
            let notes = as_f64(vault.snapshot().notes().count());
            drop(vault);
            return println!("{} {} {} {notes}", figures.0, figures.1, figures.2);
        }
        "edit" => edits(root),
        "create" => creations(root),
        "rename" => rename(root),
        other => panic!("no stage {other}"),
    };
    println!("{} {} {} {extra}", cpu_ms() - cpu, started.elapsed().as_secs_f64() * 1e3, peak_mb());
}

/// Walks, reads and hashes every file.
fn floor_cold(root: &Path) -> usize {
    let mut count = 0;
    each_file(root, &mut |path, _| {
        let hash = blake3::hash(&fs::read(path).unwrap());
        count += usize::from(hash.as_bytes()[0] < 255);
    });
    count
}

/// Walks, and asks the size and time of every file.
fn floor_warm(root: &Path) -> usize {
    let mut bytes = 0;
    each_file(root, &mut |_, metadata| bytes += usize::try_from(metadata.len()).unwrap());
    bytes
}

fn each_file(root: &Path, seen: &mut dyn FnMut(&Path, &fs::Metadata)) {
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let metadata = entry.metadata().unwrap();
            if metadata.is_dir() {
                folders.push(entry.path());
            } else {
                seen(&entry.path(), &metadata);
            }
        }
    }
}

/// One note's text changes: milliseconds until the snapshot has it, the 95th of 100.
fn edits(root: &Path) -> f64 {
    let vault = Vault::open(root).unwrap();
    let mut took = Vec::new();
    for i in 0..100 {
        let path = NotePath::new(&name(i * 7 + 3)).unwrap();
        let file = root.join(path.as_str());
        let before = fs::read(&file).unwrap();
        let mut after = before.clone();
        after.extend_from_slice(format!("\nOne more line, {i}, with a link to [[note-{:06}]].\n", i + 1).as_bytes());
        for text in [&after, &before] {
            fs::write(&file, text).unwrap();
            let started = Instant::now();
            vault.refresh_files([path.clone()]);
            took.push(started.elapsed().as_secs_f64() * 1e3);
        }
        assert_eq!(vault.snapshot().note(&path).unwrap().version, dormouse_vault::Version::of(&before));
    }
    p95(took)
}

/// A note comes, and goes again: milliseconds until the snapshot says so, the 95th of 100.
fn creations(root: &Path) -> f64 {
    let vault = Vault::open(root).unwrap();
    let mut took = Vec::new();
    for i in 0..100 {
        let path = NotePath::new(&format!("folder-{:04}/new {i}.md", i % 10)).unwrap();
        let file = root.join(path.as_str());
        fs::write(&file, format!("# New\n\n[[note-{i:06}]] and [[new {}]]\n", i + 1)).unwrap();
        let started = Instant::now();
        vault.refresh_files([path.clone()]);
        took.push(started.elapsed().as_secs_f64() * 1e3);
        assert!(vault.snapshot().exists(&path));
        fs::remove_file(&file).unwrap();
        let started = Instant::now();
        vault.refresh_files([path.clone()]);
        took.push(started.elapsed().as_secs_f64() * 1e3);
    }
    p95(took)
}

/// The hub gets another name, and its own again: milliseconds from the plan to the snapshot after the
/// commit, the mean of the two.
fn rename(root: &Path) -> f64 {
    let vault = Vault::open(root).unwrap();
    let (hub, other) = (NotePath::new("Hub.md").unwrap(), NotePath::new("Center.md").unwrap());
    let inbound = vault.snapshot().graph().inbound(&hub);
    let started = Instant::now();
    for (from, to) in [(&hub, &other), (&other, &hub)] {
        let renaming = dormouse_vault::rename::plan(&vault, from, to).unwrap();
        assert_eq!(renaming.report.files_rewritten(), inbound);
        vault.commit(&renaming.change_set).unwrap();
        assert_eq!(vault.snapshot().graph().inbound(to), inbound);
    }
    started.elapsed().as_secs_f64() * 1e3 / 2.0
}

fn p95(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() * 95 / 100]
}

/// The processor time of this process, in milliseconds.
fn cpu_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// The peak of resident memory of this process, in megabytes (10⁶ bytes).
fn peak_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<f64>().ok()).map_or(f64::NAN, |kb| kb * 1.024e-3)
}

fn as_f64(count: usize) -> f64 {
    count as f64
}

fn name(i: usize) -> String {
    format!("folder-{:04}/note-{i:06}.md", i / 100)
}

/// Writes the vault: notes of `words` words with properties, headings and four links each; the first
/// thousand also link to `Hub.md`.
fn generate(root: &Path, notes: usize, words: usize) {
    if root.join("Hub.md").exists() {
        return;
    }
    for i in 0..notes {
        let file = root.join(name(i));
        if i % 100 == 0 {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
        }
        fs::write(file, text(i, notes, words)).unwrap();
    }
    fs::write(root.join("Hub.md"), "# Hub\n\nWhere a thousand notes point.\n").unwrap();
}

fn text(i: usize, notes: usize, words: usize) -> String {
    const WORDS: [&str; 24] = [
        "winter", "store", "the", "of", "nuts", "sleeps", "and", "quiet", "meadow", "under", "a", "hazel", "branch",
        "with", "seeds", "that", "it", "gathered", "in", "autumn", "before", "snow", "came", "down",
    ];
    let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(i as u64 + 1);
    let mut next = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let mut text = format!(
        "---\nname: Note {i}\ndescription: What is known of {i}\ntags: [t{}, u{}]\ndate: 2026-{:02}-{:02}\n---\n# Note {i}\n\n",
        i % 40,
        i % 7,
        i % 12 + 1,
        i % 28 + 1
    );
    for word in 0..words {
        match word % 50 {
            0 if word > 0 => text.push_str(".\n\n"),
            25 => write!(text, "[[note-{:06}]] ", next(notes)).unwrap(),
            _ => {}
        }
        if word == 100 {
            write!(text, "## Part {}\n\n", next(100)).unwrap();
        }
        text.push_str(WORDS[next(WORDS.len())]);
        text.push(if word % 12 == 11 { ',' } else { ' ' });
        if word % 12 == 11 {
            text.push(' ');
        }
    }
    text.push_str(".\n");
    if i < HUB_LINKS {
        text.push_str("\nSee [[Hub|the hub]].\n");
    }
    text
}

fn report(notes: usize, words: usize, small: &Stages, large: &Stages) {
    println!("{notes} notes of {words} words (and {} for the growth)\n", notes / 10);
    println!("{:12} {:>10} {:>10} {:>9} {:>12}", "", "cpu ms", "wall ms", "peak MB", "ms");
    for (stage, f) in large {
        let p95 = matches!(*stage, "edit" | "create" | "rename").then(|| format!("{:.2}", f.extra)).unwrap_or_default();
        println!("{stage:12} {:>10.0} {:>10.0} {:>9.0} {p95:>12}", f.cpu, f.wall, f.peak_mb);
    }
    let ratio = |a: &str, b: &str, of: fn(&Figures) -> f64| of(&large[a]) / of(&large[b]);
    println!();
    println!("cold open / floor    {:.2} cpu (goal ≤ 3)", ratio("open cold", "floor cold", |f| f.cpu));
    println!(
        "warm open / floor    {:.2} wall (goal ≤ 2), {:.2} cpu",
        ratio("open warm", "floor warm", |f| f.wall),
        ratio("open warm", "floor warm", |f| f.cpu)
    );
    println!("edit → snapshot      {:.2} ms p95 (goal ≤ 5)", large["edit"].extra);
    println!("rename of a note with {HUB_LINKS} inbound links  {:.0} ms", large["rename"].extra);
    println!("peak of a cold open  {:.0} MB (goal ≤ 250)", large["open cold"].peak_mb);
    println!("peak of a warm open  {:.0} MB", large["open warm"].peak_mb);
    for stage in ["floor cold", "open cold", "floor warm", "open warm"] {
        println!("growth of {stage:10} {:.2} (10.00 is linear)", large[stage].cpu / small[stage].cpu);
    }
}
