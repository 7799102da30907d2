//! What time and health cost at a hundred thousand notes. Not run by default: it takes a minute.
//! `TMPDIR=/dev/shm cargo test --release -p dormouse-consolidate --test it -- --ignored --nocapture cost`
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a measurement prints what it measured")]

use std::sync::Mutex;

use dormouse_consolidate::{ConsolidateConfig, Progress, RunContext, Task, TaskState, run};
use dormouse_fixtures::temp_vault;
use dormouse_vault::Vault;

use crate::{NOON, clock};

/// CPU seconds of this process so far, its own and the kernel's for it.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

/// Says when each task begins, its notes read, and when it ends.
#[derive(Default)]
struct Stamps(Mutex<Vec<(Task, &'static str, f64)>>);

impl Progress for Stamps {
    fn begin(&self, task: Task, _: u64) {
        self.0.lock().unwrap().push((task, "ready", cpu()));
    }
    fn end(&self, task: Task, _: &TaskState) {
        self.0.lock().unwrap().push((task, "end", cpu()));
    }
}

#[test]
#[ignore = "a measurement"]
fn the_cost_of_time_and_health() {
    let count = 100_000;
    let vault = temp_vault("");
    for day in 1..=28 {
        vault.write(&format!("daily/2026-10-{day:02}/e.md"), "Something happened. ^b1\n");
    }
    for n in 0..count {
        let bucket = ["wiki", "procedure", "personal"][n % 3];
        let text = format!(
            "---\nname: Note {n}\ndescription: What note {n} says\ncreated: 2026-{:02}-{:02}\n---\n# Note {n}\n\n\
             The word{} of theme{} meets word{n} beside the river. (derived_from:: [[daily/2026-10-{:02}/e#^b1]])\n\n\
             ## Related\n\n- See [[n{}]].\n- See [[n{}]].\n- See [[n{}]].\n",
            1 + n % 11,
            1 + n % 28,
            n % 977,
            n % 400,
            1 + n % 28,
            (n + 400) % count,
            (n * 7 + 13) % count,
            (n * 31 + 5) % count
        );
        vault.write(&format!("digest/{bucket}/n{n}.md"), text);
    }
    let open = Vault::open(vault.path()).unwrap();
    let config = ConsolidateConfig::default();
    let go = |what: &str, now: &str| {
        let stamps = Stamps::default();
        let now = clock(now);
        let context =
            RunContext { vault: &open, clock: &now, config: &config, seed: 0, progress: &stamps, cancel: &|| false };
        let (cpu_before, wall) = (cpu(), std::time::Instant::now());
        let report = run(context, &[Task::Time, Task::Health]).unwrap();
        let (all, wall) = (cpu() - cpu_before, wall.elapsed());
        assert!(report.tasks.iter().all(|t| t.state == TaskState::Done), "{report:?}");
        let mut last = cpu_before;
        let parts: Vec<String> = stamps
            .0
            .into_inner()
            .unwrap()
            .into_iter()
            .map(|(task, what, at)| {
                let took = at - last;
                last = at;
                format!("{task} {what} {took:.2}")
            })
            .collect();
        eprintln!("{what}: {all:.2} s CPU, {wall:.2?}: {}", parts.join(", "));
    };
    go("first", NOON);
    go("unchanged", NOON);
    let edited = "digest/wiki/n300.md";
    vault.write(edited, vault.read(edited) + "\nOne more sentence.\n");
    go("after one edit", NOON);
    go("a day later", "2026-12-01T12:00:00+08:00");

    // How soon all tasks stop, at moments spread over a run.
    let now = clock("2026-12-02T12:00:00+08:00");
    let mut slowest = std::time::Duration::ZERO;
    for wait in [10, 300, 700, 1200, 1800, 2500, 3500, 5000, 7000, 10_000, 14_000] {
        let flag = std::sync::atomic::AtomicBool::new(false);
        let woke = Mutex::new(None);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(wait));
                *woke.lock().unwrap() = Some(std::time::Instant::now());
                flag.store(true, std::sync::atomic::Ordering::SeqCst);
            });
            let cancel = || flag.load(std::sync::atomic::Ordering::SeqCst);
            let context = RunContext {
                vault: &open,
                clock: &now,
                config: &config,
                seed: 0,
                progress: &dormouse_consolidate::Silent,
                cancel: &cancel,
            };
            let report = run(context, &Task::ALL).unwrap();
            let took = woke.lock().unwrap().map(|at| at.elapsed()).unwrap_or_default();
            let under_way = report.tasks.iter().find(|t| t.state != TaskState::Done).map(|t| t.task.as_str());
            eprintln!("stopped after {wait} ms in {under_way:?}: {took:.2?} later");
            slowest = slowest.max(took);
        });
    }
    eprintln!("the slowest stop took {slowest:.2?}");
}
