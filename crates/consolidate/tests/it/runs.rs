//! The run as a whole: order, cancelling, locks, the same bytes twice.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use dormouse_consolidate::{
    ConsolidateConfig, ConsolidateError, LastRuns, Progress, RunContext, Scheduler, Silent, Task, TaskState, run,
};
use dormouse_fixtures::{copy_tree, example_vault, temp_vault};
use dormouse_vault::{CommitError, OpenOptions, Stage, Vault};
use expect_test::expect;

use crate::{NOON, clock, consolidate, digest, notes};

#[test]
fn an_empty_folder_can_be_consolidated() {
    let vault = temp_vault("");
    let report = consolidate(&vault, NOON, &Task::ALL);
    assert!(report.tasks.iter().all(|t| t.state == TaskState::Done), "{report:?}");
}

#[test]
fn items_26_and_34_repeated_runs_change_nothing_but_the_time() {
    let vault = temp_vault("");
    copy_tree(&example_vault(), vault.path());
    for i in 0..40 {
        let body = format!("Block {} of theme {}. [[note-{}]]", i, i % 4, (i + 4) % 40);
        let text = digest(&format!("note-{i}"), &body);
        let (_, content) = text.split_once('\n').unwrap();
        vault.write(&format!("digest/wiki/note-{i}.md"), content);
    }
    let before = notes(&vault);
    consolidate(&vault, NOON, &Task::ALL);
    let first = vault.files();
    for _ in 0..3 {
        consolidate(&vault, NOON, &Task::ALL);
        let again = vault.files();
        let changed: Vec<_> =
            again.iter().filter(|(path, bytes)| first.get(*path) != Some(bytes)).map(|(p, _)| p).collect();
        // Health sees that the signals are there now, once.
        assert!(changed.iter().all(|p| p.as_str() == "audit/2026-11-30/health.md"), "{changed:?}");
    }
    assert_eq!(notes(&vault), before);
}

#[test]
fn con_01_files_written_in_another_order_give_the_same_bytes() {
    let parts: Vec<String> =
        (0..12).map(|i| digest(&format!("n{i}"), &format!("[[n{}]] [[n{}]]", (i + 1) % 12, (i * 5) % 12))).collect();
    let forward = temp_vault(&parts.concat());
    let backward = temp_vault(&parts.iter().rev().cloned().collect::<String>());
    for vault in [&forward, &backward] {
        consolidate(vault, NOON, &[Task::Communities, Task::Duplicates]);
    }
    assert_eq!(forward.dump_if(|p| p.starts_with("meta/")), backward.dump_if(|p| p.starts_with("meta/")));
}

#[test]
fn a_run_that_is_cancelled_writes_nothing_more() {
    let vault = temp_vault(&digest("a", "[[b]]"));
    let open = Vault::open(vault.path()).unwrap();
    let config = ConsolidateConfig::default();
    let now = clock(NOON);
    let context =
        RunContext { vault: &open, clock: &now, config: &config, seed: 0, progress: &Silent, cancel: &|| true };
    let report = run(context, &Task::ALL).unwrap();
    assert!(report.tasks.iter().all(|t| t.state == TaskState::Skipped));
    assert!(vault.files().keys().all(|p| p.starts_with("digest/")), "{:?}", vault.files().keys());

    let asked = AtomicUsize::new(0);
    let late = || asked.fetch_add(1, Ordering::Relaxed) > 2;
    let context = RunContext { vault: &open, clock: &now, config: &config, seed: 0, progress: &Silent, cancel: &late };
    let report = run(context, &[Task::Communities, Task::Time]).unwrap();
    assert_eq!(report.tasks[0].state, TaskState::Cancelled);
    assert_eq!(report.tasks[1].state, TaskState::Skipped);
    assert!(!vault.exists("meta/communities.json"));
}

#[test]
fn item_37_a_second_run_at_once_is_told_so() {
    let vault = temp_vault("");
    let open = Vault::open(vault.path()).unwrap();
    let held = open.lock_stage(Stage::Consolidate).unwrap();
    let config = ConsolidateConfig::default();
    let now = clock(NOON);
    let context =
        || RunContext { vault: &open, clock: &now, config: &config, seed: 0, progress: &Silent, cancel: &|| false };
    assert!(matches!(run(context(), &[Task::Time]), Err(ConsolidateError::Commit(CommitError::Locked { .. }))));
    drop(held);
    assert!(run(context(), &[Task::Time]).is_ok());
}

#[test]
fn a_read_only_vault_is_refused_and_untouched() {
    let vault = temp_vault(&digest("a", "x"));
    let open = Vault::open_with(vault.path(), OpenOptions { read_only: true, ..OpenOptions::default() }).unwrap();
    let config = ConsolidateConfig::default();
    let now = clock(NOON);
    let context =
        RunContext { vault: &open, clock: &now, config: &config, seed: 0, progress: &Silent, cancel: &|| false };
    assert!(matches!(run(context, &Task::ALL), Err(ConsolidateError::Commit(CommitError::ReadOnly { .. }))));
    assert!(!vault.path().join(".dormouse").exists());
}

#[test]
fn item_33_a_task_that_fails_is_reported_and_the_others_run() {
    let vault = temp_vault(&digest("a", "x"));
    // A folder where the file must go.
    vault.write("meta/communities.json/in-the-way", "x");
    let report = consolidate(&vault, NOON, &[Task::Communities, Task::Time, Task::Health]);
    assert!(matches!(report.state(Task::Communities), Some(TaskState::Failed { .. })), "{report:?}");
    assert_eq!(report.state(Task::Time), Some(&TaskState::Done));
    assert_eq!(report.state(Task::Health), Some(&TaskState::Done));
}

#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Progress for Told {
    fn begin(&self, task: Task, steps: u64) {
        self.0.lock().unwrap().push(format!("{task} begins {}", if steps > 0 { "with steps" } else { "empty" }));
    }
    fn end(&self, task: Task, state: &TaskState) {
        self.0.lock().unwrap().push(format!("{task} ends {state:?}"));
    }
}

#[test]
fn progress_is_told_in_the_order_of_the_tasks() {
    let vault = temp_vault(&digest("a", "x"));
    let open = Vault::open(vault.path()).unwrap();
    let told = Told::default();
    let config = ConsolidateConfig::default();
    let now = clock(NOON);
    let context =
        RunContext { vault: &open, clock: &now, config: &config, seed: 0, progress: &told, cancel: &|| false };
    run(context, &[Task::Health, Task::Communities]).unwrap();
    expect![[r#"
        communities begins with steps
        communities ends Done
        health begins with steps
        health ends Done"#]]
    .assert_eq(&told.0.lock().unwrap().join("\n"));
}

#[test]
fn what_ran_is_not_due_until_its_interval_is_over() {
    let vault = temp_vault("");
    let due = |now: &str| {
        let open = Vault::open(vault.path()).unwrap();
        let now: chrono::DateTime<chrono::FixedOffset> = now.parse().unwrap();
        let tasks = Scheduler::default().due(now, now - chrono::Duration::hours(2), &LastRuns::load(&open));
        tasks.iter().map(|t| t.as_str()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(due(NOON), "split communities time duplicates health");
    consolidate(&vault, NOON, &Task::ALL);
    assert_eq!(due("2026-11-30T13:00:00+08:00"), "");
    assert_eq!(due("2026-12-01T12:00:00+08:00"), "time health");
    std::fs::remove_dir_all(vault.path().join(".dormouse")).unwrap();
    assert_eq!(due("2026-11-30T13:00:00+08:00"), "split duplicates health");
}

#[test]
fn a_setting_that_does_not_exist_is_an_error() {
    let read = |json: &str| serde_json::from_str::<ConsolidateConfig>(json);
    assert_eq!(read("{}").unwrap(), ConsolidateConfig::default());
    assert_eq!(read(r#"{"split": {"threshold_tokens": 5}}"#).unwrap().split.threshold_tokens, 5);
    for section in ["split", "duplicates", "communities", "time", "health", "schedule"] {
        assert!(read(&format!(r#"{{"{section}": {{"treshold": 5}}}}"#)).is_err(), "{section}");
    }
    assert!(read(r#"{"splits": {}}"#).is_err());
}

#[test]
fn the_report_is_plain_json_with_a_schema() {
    let vault = temp_vault(&digest("a", "x"));
    let report = consolidate(&vault, NOON, &[Task::Time]);
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<dormouse_consolidate::ConsolidateReport>(&json).unwrap(), report);
    let schema = serde_json::to_string(&schemars::schema_for!(dormouse_consolidate::ConsolidateReport)).unwrap();
    assert!(schema.contains("\"communities\""));
}

/// Panics when a task begins.
struct Faulty(Task);

impl Progress for Faulty {
    fn begin(&self, task: Task, _: u64) {
        assert!(task != self.0, "tripped over a note");
    }
}

#[test]
fn a_panic_in_a_task_is_its_failure_and_the_others_run() {
    let vault = temp_vault(&digest("a", "[[b]]"));
    let open = Vault::open(vault.path()).unwrap();
    let config = ConsolidateConfig::default();
    let now = clock(NOON);
    let faulty = Faulty(Task::Time);
    let context =
        RunContext { vault: &open, clock: &now, config: &config, seed: 0, progress: &faulty, cancel: &|| false };
    let report = run(context, &Task::ALL).unwrap();
    let states: Vec<String> = report.tasks.iter().map(|t| format!("{} {:?}\n", t.task, t.state)).collect();
    expect![[r#"
        split Done
        communities Done
        time Failed { reason: "a fault in this program, please report it: tripped over a note" }
        duplicates Done
        health Done
    "#]]
    .assert_eq(&states.concat());
    assert!(!vault.exists("meta/recency.json"));
    // It is left alone for an hour, and the lock is free.
    let last = LastRuns::load(&open);
    assert!(last.failed(Task::Time).is_some() && last.get(Task::Time).is_none());
    assert_eq!(consolidate(&vault, NOON, &[Task::Time]).state(Task::Time), Some(&TaskState::Done));
}

/// Notes enough that a run takes its time.
fn many(count: usize) -> dormouse_fixtures::TempVault {
    let vault = temp_vault("=== daily/2026-11-29/e.md\nx\n");
    for n in 0..count {
        let theme = n % 40;
        let text = format!(
            "---\nname: Note {n}\ncreated: 2026-{:02}-01\n---\n# Note {n}\n\nThe word{theme} of theme{theme} meets word{n} \
             under the lamp{} beside the river{}. [[n{}]] [[n{}]]\n\nderived_from:: [[daily/2026-11-29/e]]\n",
            1 + n % 11,
            n % 97,
            n % 53,
            (n + 40) % count,
            (n * 7 + theme) % count
        );
        vault.write(&format!("digest/wiki/n{n}.md"), text);
    }
    vault
}

#[test]
fn a_run_ends_within_a_second_whenever_the_foreground_wakes_and_leaves_whole_files() {
    let vault = many(3_000);
    let open = Vault::open(vault.path()).unwrap();
    let before = notes(&vault);
    let config = ConsolidateConfig::default();
    let now = clock(NOON);
    let mut slowest = std::time::Duration::ZERO;
    let (mut cancelled, mut wait) = (0, 1);
    // Moments spread over the run, from its first millisecond to its end.
    loop {
        let woke = Mutex::new(None);
        let flag = std::sync::atomic::AtomicBool::new(false);
        let report = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(wait));
                *woke.lock().unwrap() = Some(std::time::Instant::now());
                flag.store(true, Ordering::SeqCst);
            });
            let context = RunContext {
                vault: &open,
                clock: &now,
                config: &config,
                seed: 0,
                progress: &Silent,
                cancel: &|| flag.load(Ordering::SeqCst),
            };
            let report = run(context, &Task::ALL).unwrap();
            slowest = slowest.max(woke.lock().unwrap().map(|at| at.elapsed()).unwrap_or_default());
            report
        });
        let stopped = report.tasks.iter().any(|t| t.state != TaskState::Done);
        cancelled += usize::from(stopped);
        for (path, bytes) in vault.files().iter().filter(|(path, _)| path.starts_with("meta/")) {
            assert!(serde_json::from_slice::<serde_json::Value>(bytes).is_ok(), "{path} is whole");
        }
        if !stopped {
            break;
        }
        wait += 1 + wait / 3;
    }
    assert!(cancelled >= 3, "{cancelled} runs were stopped");
    assert!(slowest < std::time::Duration::from_secs(1), "it took {slowest:?} to stop");
    assert_eq!(notes(&vault), before);
}

/// Takes a note away while a task is under way.
struct Thief<'a>(&'a dormouse_fixtures::TempVault);

impl Progress for Thief<'_> {
    fn begin(&self, task: Task, _: u64) {
        let stolen = format!("digest/wiki/n{}.md", task as usize);
        if self.0.exists(&stolen) {
            self.0.remove(&stolen);
        }
    }
}

#[test]
fn notes_that_go_in_the_middle_of_a_run_are_left_to_the_next() {
    let vault = many(12);
    let open = Vault::open(vault.path()).unwrap();
    let config = ConsolidateConfig::default();
    let now = clock(NOON);
    let thief = Thief(&vault);
    let context =
        RunContext { vault: &open, clock: &now, config: &config, seed: 0, progress: &thief, cancel: &|| false };
    let report = run(context, &Task::ALL).unwrap();
    assert!(report.tasks.iter().all(|t| t.state == TaskState::Done), "{report:?}");
    let again = consolidate(&vault, NOON, &Task::ALL);
    assert!(again.tasks.iter().all(|t| t.state == TaskState::Done), "{again:?}");
    let recency: dormouse_vault::meta::Recency = crate::meta(&vault);
    assert_eq!(recency.notes.len(), 7);
}

#[test]
fn without_its_cache_a_run_makes_the_same_bytes() {
    let vault = many(60);
    consolidate(&vault, NOON, &Task::ALL);
    let warm = vault.dump_if(|p| p.starts_with("meta/"));
    std::fs::remove_dir_all(vault.path().join(".dormouse")).unwrap();
    vault.remove("meta/recency.json");
    consolidate(&vault, NOON, &Task::ALL);
    assert_eq!(vault.dump_if(|p| p.starts_with("meta/")), warm);
}

#[test]
fn between_two_runs_over_an_unchanged_vault_every_theme_is_stable() {
    let vault = many(60);
    let stabilities = || -> Vec<f64> {
        consolidate(&vault, NOON, &[Task::Communities]);
        let found: dormouse_vault::meta::Communities = crate::meta(&vault);
        found.communities.iter().map(|c| c.stability).collect()
    };
    assert!(stabilities().iter().all(|s| *s == 1.0));
    // A theme that is new overlaps with nothing of the last run, and from then on with itself.
    vault.write("digest/wiki/new-a.md", "[[new-b]] [[new-c]]\n");
    vault.write("digest/wiki/new-b.md", "[[new-c]] [[new-a]]\n");
    vault.write("digest/wiki/new-c.md", "[[new-a]] [[new-b]]\n");
    assert!(stabilities().contains(&0.0));
    assert!(stabilities().iter().all(|s| *s == 1.0));
    let file = vault.read("meta/communities.json");
    assert!(stabilities().iter().all(|s| *s == 1.0));
    assert_eq!(vault.read("meta/communities.json"), file);
}

#[test]
fn a_run_at_the_ends_of_time_fails_nothing_and_the_next_right_one_is_due() {
    let vault = many(12);
    let hits = "{\"path\":\"digest/wiki/n1.md\",\"at\":\"9999-12-31T23:59:59-12:00\",\"kind\":\"read\"}\n\
                {\"path\":\"digest/wiki/n2.md\",\"at\":\"0001-01-01T00:00:00+14:00\",\"kind\":\"read\"}\n";
    for now in ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00", "1970-01-01T00:00:00Z", NOON] {
        vault.write("meta/access_spool.jsonl", hits);
        let report = consolidate(&vault, now, &Task::ALL);
        assert!(report.tasks.iter().all(|t| t.state == TaskState::Done), "{now}: {report:?}");
    }
    let open = Vault::open(vault.path()).unwrap();
    let now: chrono::DateTime<chrono::FixedOffset> = "2026-12-01T12:00:00+08:00".parse().unwrap();
    let due = Scheduler::default().due(now, now - chrono::Duration::hours(2), &LastRuns::load(&open));
    assert_eq!(due, [Task::Time, Task::Health]);
    let recency: dormouse_vault::meta::Recency = crate::meta(&vault);
    assert!(recency.notes.values().all(|n| n.last_active.to_string().as_str() <= "2026-11-30"), "{recency:?}");
}
