//! The process dies at any moment; the vault does not mind.

use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use dormouse_fixtures::{TempVault, copy_tree, example_vault, temp_vault};

use crate::program::{program, run};

/// Every note is whole: frontmatter closed, last line ended, and the sources as they were.
fn check_whole(vault: &TempVault, sources: &TempVault) {
    let files = vault.files();
    for (path, bytes) in &sources.files() {
        assert_eq!(files.get(path), Some(bytes), "{path} is as it was");
    }
    for (path, bytes) in files.iter().filter(|(path, _)| path.starts_with("digest/") && path.ends_with(".md")) {
        let text = String::from_utf8_lossy(bytes);
        let whole = text.starts_with("---\n") && text.matches("\n---\n").count() >= 1 && text.ends_with('\n');
        assert!(whole && text.contains("derived_from:: [["), "{path} is whole:\n{text}");
    }
    for (path, bytes) in files.iter().filter(|(path, _)| path.starts_with("meta/") && path.ends_with(".json")) {
        assert!(serde_json::from_slice::<serde_json::Value>(bytes).is_ok(), "{path} is whole");
    }
}

#[test]
fn a_dream_that_is_killed_at_any_moment_leaves_whole_notes_and_the_next_one_finishes() {
    let sources = temp_vault("");
    for day in ["2026-10-28", "2026-10-29", "2026-11-02", "2026-11-10"] {
        copy_tree(&example_vault().join("daily").join(day), &sources.path().join("daily").join(day));
    }
    let vault = temp_vault("");
    copy_tree(sources.path(), vault.path());
    for round in 0..24_u64 {
        let mut child =
            program(vault.path()).arg("dream").stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        // Spread over the run: start-up, the first commits, the last ones.
        sleep(Duration::from_millis(4 + round * 9));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        check_whole(&vault, &sources);
    }
    let last = run(vault.path(), &["dream", "--json"]);
    assert_eq!(last.code, 0, "{}", last.stdout);
    check_whole(&vault, &sources);
    let before = vault.files();
    assert!(before.keys().any(|path| path.starts_with("digest/")), "something was dreamed");
    assert!(!before.keys().any(|path| path.contains(".dormouse-tmp")), "no temporary file is left");
    assert_eq!(run(vault.path(), &["dream"]).code, 0);
    assert_eq!(vault.files(), before, "a further dream changes nothing");
}

/// The process dies while it consolidates: every derived file is an old one or a new one, no note
/// differs, and the next run ends as one that was never killed.
#[test]
fn a_consolidation_that_is_killed_at_any_moment_leaves_old_files_or_new_ones() {
    let vault = temp_vault("=== daily/2026-11-29/e.md\nx\n");
    for n in 0..300 {
        let text = format!(
            "---\nname: Note {n}\ncreated: 2026-0{}-01\n---\nThe word{} of theme{}. [[n{}]]\n\nderived_from:: [[daily/2026-11-29/e]]\n",
            1 + n % 9,
            n % 50,
            n % 20,
            (n + 20) % 300
        );
        vault.write(&format!("digest/wiki/n{n}.md"), text);
    }
    let notes = vault.dump_if(|path| path.starts_with("digest/") || path.starts_with("daily/"));
    for round in 0..24_u64 {
        vault.write("meta/access_spool.jsonl", spooled(round));
        let mut child = program(vault.path())
            .arg("consolidate")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        sleep(Duration::from_millis(3 + round * 11));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        assert_eq!(vault.dump_if(|path| path.starts_with("digest/") || path.starts_with("daily/")), notes);
        for (path, bytes) in
            vault.files().iter().filter(|(path, _)| path.starts_with("meta/") && path.ends_with(".json"))
        {
            assert!(serde_json::from_slice::<serde_json::Value>(bytes).is_ok(), "{path} is whole");
        }
    }
    let last = run(vault.path(), &["consolidate", "--json"]);
    assert!(matches!(last.code, 0 | 8), "{}", last.stdout);
    assert!(!vault.files().keys().any(|path| path.contains(".dormouse-tmp")), "no temporary file is left");
    // Of each round one hit a note and day was counted, however often it was folded.
    let log: serde_json::Value = serde_json::from_str(&vault.read("meta/access_log.json")).expect("JSON");
    let days = log["notes"]["digest/wiki/n1.md"].as_object().map(serde_json::Map::len);
    assert_eq!(days, Some(24), "{log}");
    assert!(!vault.exists("meta/access_spool.jsonl"));
}

/// A spool with one more day each round: what was folded and not cut off yet is there again.
fn spooled(round: u64) -> String {
    let hit = |day| {
        format!(
            "{{\"path\":\"digest/wiki/n1.md\",\"at\":\"2026-11-{:02}T10:00:00+00:00\",\"kind\":\"read\"}}\n",
            day + 1
        )
    };
    (0..=round).map(hit).collect()
}
