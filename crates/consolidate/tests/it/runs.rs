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
