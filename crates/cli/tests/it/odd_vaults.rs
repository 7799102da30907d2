//! Vaults as they are found: empty, foreign, broken, in use.

use std::path::Path;

use dormouse_fixtures::temp_vault;

use crate::program::{program, run};

/// All reading commands answer with exit code 0.
fn check_reads(vault: &Path) {
    for args in [&["status"][..], &["list"], &["search", "anything"], &["context", "anything"]] {
        let ran = run(vault, args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn an_empty_folder_is_a_vault_with_nothing_in_it() {
    let vault = temp_vault("");
    check_reads(vault.path());
    for command in ["dream", "consolidate"] {
        assert_eq!(run(vault.path(), &[command]).code, 0, "{command}");
    }
}

#[test]
fn a_vault_that_never_met_dormouse_is_searched_and_left_alone() {
    let vault = temp_vault(
        "=== Projects/heron.md\n# Heron\n\nThe heron stands. [[Birds]]\n=== Birds.md\nAll.\n=== picture.png\n\n",
    );
    let before = vault.files();
    check_reads(vault.path());
    let found = run(vault.path(), &["search", "heron", "--json"]).json();
    assert_eq!(found["hits"][0]["path"], "Projects/heron.md");
    assert_eq!(run(vault.path(), &["dream"]).code, 0);
    let mut after = vault.files();
    after.retain(|path, _| !path.starts_with("meta/") && !path.starts_with("audit/"));
    assert_eq!(after, before);
}

#[test]
fn files_that_are_broken_are_reported_and_stop_nothing() {
    let vault = temp_vault("=== good.md\nThe otter swims.\n=== bad yaml.md\n---\na: b: c\n---\nThe otter dives.\n");
    vault.write("latin.md", b"caf\xe9 otter\n");
    let bytes = vault.files();
    check_reads(vault.path());
    let found = run(vault.path(), &["search", "otter", "--json"]).json();
    assert_eq!(found["hits"].as_array().unwrap().len(), 3, "{found}");
    let kinds: Vec<String> = run(vault.path(), &["status", "--json"]).json()["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["kind"].as_str().unwrap().to_owned())
        .collect();
    assert!(kinds.contains(&"malformed-frontmatter".into()) && kinds.contains(&"not-utf8".into()), "{kinds:?}");
    let after = vault.files();
    assert!(bytes.iter().all(|(path, content)| after.get(path) == Some(content)));
}

#[test]
fn derived_files_that_are_cut_newer_or_rubbish_are_warnings() {
    let vault = temp_vault(
        "=== a.md\nThe otter swims.\n=== meta/communities.json\n{\"version\": 1, \"comp\n=== meta/recency.json\nnot json\n\
         === meta/archived.json\n{\"version\": 99, \"computed_at\": \"2026-01-01T00:00:00Z\", \"notes\": {}}\n\
         === .dormouse/index/meta.json\nrubbish\n",
    );
    check_reads(vault.path());
    let found = run(vault.path(), &["search", "otter", "--json"]).json();
    assert_eq!(found["hits"][0]["path"], "a.md");
    assert_eq!(found["warnings"].as_array().unwrap().len(), 3, "{found}");
    assert_eq!(run(vault.path(), &["consolidate", "--task", "communities", "--task", "time"]).code, 0);
    assert_eq!(run(vault.path(), &["search", "otter", "--json"]).json()["warnings"].as_array().unwrap().len(), 0);
}

#[test]
fn a_file_in_the_place_of_the_cache_is_named() {
    let vault = temp_vault("=== a.md\n# A\n=== .dormouse\nmine\n");
    for args in [&["read", "a"][..], &["edit", "a", "--set", "k=v"]] {
        let ran = run(vault.path(), args);
        let says =
            ".dormouse is a file, and has to be a folder: caches and locks are kept there\n  move that file away";
        assert!(ran.code == 1 && ran.stderr.contains(says), "{}", ran.stderr);
    }
    assert_eq!(vault.read(".dormouse"), "mine\n");
}

#[test]
fn two_processes_on_one_vault_both_answer_and_lose_nothing() {
    let vault = temp_vault("=== a.md\nThe otter swims.\n");
    let children: Vec<_> = (0..6)
        .map(|n| {
            program(vault.path())
                .args([
                    "remember",
                    &format!("The {n}th heron stands in the reeds."),
                    "--title",
                    &format!("Heron {}", n % 2),
                ])
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(
        run(vault.path(), &["list", "--in", "daily", "--json"]).json()["total"],
        7,
        "six events and the day's index"
    );
    let readers: Vec<_> = (0..3)
        .map(|_| {
            program(vault.path())
                .args(["search", "heron", "--json"])
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for reader in readers {
        let output = reader.wait_with_output().unwrap();
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(found["hits"].as_array().unwrap().len() >= 6, "{found}");
    }
}
