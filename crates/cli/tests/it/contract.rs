//! Exit codes, `--json` and pipes: what a script relies on.

use std::path::Path;
use std::process::Stdio;

use dormouse_fixtures::temp_vault;

use crate::program::{program, run};

/// A failing call exits with `code` and prints one JSON object with the stable `error`.
fn check_fails(vault: &Path, args: &[&str], code: i32, error: &str) {
    let ran = run(vault, args);
    assert_eq!((ran.code, ran.json()["error"]["code"].as_str()), (code, Some(error)), "{args:?}: {}", ran.stdout);
    assert!(ran.json()["error"]["message"].as_str().is_some_and(|m| !m.is_empty()));
    assert!(!ran.stdout.contains('\u{1b}'), "no colour codes in JSON");
}

#[test]
fn every_failure_exits_non_zero_with_one_json_object() {
    // CLI-02
    let vault = temp_vault("=== a.md\n# A\n");
    check_fails(vault.path(), &["--vault", "/no/such/folder", "read", "n.md", "--json"], 3, "no-vault");
    check_fails(vault.path(), &["read", "missing.md", "--json"], 3, "not-found");
    check_fails(vault.path(), &["read", "../b.md", "--json"], 2, "bad-path");
    check_fails(vault.path(), &["search", "x", "--limit", "five", "--json"], 2, "usage");
    check_fails(vault.path(), &["no-such-command", "--json"], 2, "usage");
    check_fails(vault.path(), &["remember", "", "--json"], 2, "usage");
    check_fails(vault.path(), &["dream", "--model", "nobody", "--json"], 1, "no-model");
}

#[test]
fn a_person_gets_the_error_and_what_to_do_next_on_stderr() {
    let vault = temp_vault("=== a.md\n# A\n");
    let ran = run(vault.path(), &["read", "missing"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""));
    assert_eq!(
        ran.stderr,
        "error: missing: no such note\n  `dormouse list` shows what there is, `dormouse search WORDS` finds it\n"
    );
}

#[test]
fn a_closed_pipe_ends_quietly() {
    // CLI-01
    let notes: String = (0..3_000).map(|n| format!("=== n{n:04}.md\nheron {}\n", "long line ".repeat(20))).collect();
    let vault = temp_vault(&notes);
    for args in [vec!["list", "--limit", "5000"], vec!["traverse", "n0001"]] {
        let mut child =
            program(vault.path()).args(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 141)), "{args:?}: {:?}", output.status);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_at_the_other_end_is_a_failure() {
    let vault = temp_vault("=== a.md\n# A\n");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = program(vault.path()).arg("list").stdout(full).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: "));
}

#[test]
fn help_and_completions_are_no_failure() {
    let vault = temp_vault("");
    for command in [
        "init",
        "status",
        "search",
        "list",
        "traverse",
        "read",
        "remember",
        "rename",
        "merge",
        "edit",
        "dream",
        "consolidate",
        "context",
    ] {
        let ran = run(vault.path(), &[command, "--help"]);
        assert_eq!(ran.code, 0);
        assert!(ran.stdout.contains("Example: dormouse "), "{command} has an example");
    }
    assert!(run(vault.path(), &["completions", "bash"]).stdout.contains("_dormouse"));
}

#[test]
fn the_vault_is_found_from_a_folder_inside_it() {
    let vault = temp_vault("=== .obsidian/app.json\n{}\n=== deep/er/a.md\n# A\n");
    let mut command = program(vault.path());
    let output = command
        .env_remove("DORMOUSE_VAULT")
        .current_dir(vault.path().join("deep/er"))
        .args(["list", "--json"])
        .output()
        .unwrap();
    let reply: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(reply["notes"][0]["path"], "deep/er/a.md");
}

#[test]
fn options_may_stand_behind_the_query_and_an_exclusion_inside_it() {
    let vault = temp_vault("=== a.md\nThe otter swims.\n=== b.md\nThe otter dives.\n");
    let all = run(vault.path(), &["search", "otter", "-n", "1", "--json"]).json();
    assert_eq!(all["hits"].as_array().unwrap().len(), 1);
    let some = run(vault.path(), &["search", "otter -dives", "--json"]).json();
    assert_eq!(some["hits"][0]["path"], "a.md");
    assert_eq!(some["total"], 1);
    assert_eq!(run(vault.path(), &["search", "--json", "--", "-dives"]).code, 0);
}

#[test]
fn a_stage_that_another_process_runs_is_locked_for_us() {
    let vault = temp_vault("=== daily/2026-11-02/talk.md\nWe decided on one door. ^b1\n");
    let open = dormouse_vault::Vault::open(vault.path()).unwrap();
    let _held = open.lock_stage(dormouse_vault::Stage::Dream).unwrap();
    let _too = open.lock_stage(dormouse_vault::Stage::Consolidate).unwrap();
    check_fails(vault.path(), &["dream", "--json"], 5, "locked");
    check_fails(vault.path(), &["consolidate", "--json"], 5, "locked");
}

#[test]
fn a_reply_goes_on_at_its_cursor_within_budgets_and_along_links() {
    let vault = temp_vault(
        "=== a.md\n---\ntags: [sea]\n---\nThe otter swims. [[c]] [[Gone]]\n=== b.md\nThe otter dives, the otter.\n=== c.md\n---\nname: The shore\n---\nSand.\n",
    );
    let first = run(vault.path(), &["search", "otter", "-n", "1", "--json"]).json();
    let cursor = first["cursor"].as_str().unwrap();
    let second = run(vault.path(), &["search", "otter", "-n", "1", "--cursor", cursor, "--json"]).json();
    assert_ne!(second["hits"][0]["path"], first["hits"][0]["path"]);
    let mut page = second;
    let mut pages = 2;
    while let Some(cursor) = page["cursor"].as_str().map(str::to_owned) {
        page = run(vault.path(), &["search", "otter", "-n", "1", "--cursor", &cursor, "--json"]).json();
        pages += 1;
    }
    assert_eq!(pages, first["total"].as_u64().unwrap());
    check_fails(vault.path(), &["search", "shore", "--cursor", cursor, "--json"], 2, "usage");
    check_fails(vault.path(), &["list", "--cursor", "x", "--json"], 2, "usage");

    let cut = run(vault.path(), &["search", "otter", "--budget", "30", "--json"]).json();
    assert!(cut["left_out"]["bytes"].as_u64().unwrap() > 0);
    let linked = run(vault.path(), &["search", "tag:sea otter", "--expand", "1", "--json"]).json();
    assert_eq!(
        (&linked["expanded"][0]["path"], &linked["expanded"][0]["via"]["from"]),
        (&"c.md".into(), &"a.md".into())
    );

    let listed = run(vault.path(), &["list", "links:\"the shore\"", "--sort", "newest", "--json"]).json();
    assert_eq!((&listed["total"], &listed["notes"][0]["path"]), (&1.into(), &"a.md".into()));
    let told = run(vault.path(), &["list", "tag:land"]);
    assert!(told.code == 0 && told.stderr.contains("no note fulfils tag:land"), "{}", told.stderr);

    let walked = run(vault.path(), &["traverse", "the shore", "--direction", "both", "--json"]).json();
    assert_eq!((&walked["total"], &walked["unresolved"][0]["target"]), (&2.into(), &"gone".into()));
}

#[test]
fn words_for_a_time_are_read_unless_they_are_switched_off() {
    let vault = temp_vault("=== a.md\nThe otter swims.\n");
    let notices = |args: &[&str]| run(vault.path(), args).json()["notices"].as_array().unwrap().len();
    assert_eq!(notices(&["search", "otter last week", "--json"]), 1);
    assert_eq!(notices(&["search", "otter last week", "--no-soft-dates", "--json"]), 0);
}
