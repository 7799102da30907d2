//! Everything degrades: whatever is missing, broken or held by another, the answer still comes.

use std::fs;
use std::sync::Arc;

use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_recall::{Recall, RecallConfig, SearchRequest, SignalState};
use dormouse_vault::{OpenOptions, Stage, Vault};

use super::{paths, recall, search};

fn state(recall: &Recall, signal: &str) -> SignalState {
    search(recall, "otter").freshness.into_iter().find(|f| f.signal == signal).unwrap().state
}

fn otter() -> TempVault {
    temp_vault("=== a.md\notter\n=== b.md\nbeaver\n")
}

#[test]
fn rcl_08_a_read_only_vault_is_searched_in_memory() {
    let vault = otter();
    let open = Vault::open_with(vault.path(), OpenOptions { read_only: true, ..OpenOptions::default() }).unwrap();
    let recall = Recall::open(Arc::new(open), RecallConfig::default()).unwrap();
    assert_eq!(paths(&search(&recall, "otter")), ["a.md"]);
    assert_eq!(state(&recall, "index"), SignalState::InMemory);
    assert!(!vault.path().join(".dormouse/index").exists());
}

#[test]
fn rcl_08_a_held_index_is_searched_in_memory_and_left_again() {
    let vault = otter();
    let other = Vault::open(vault.path()).unwrap();
    let held = other.lock_stage(Stage::Index).unwrap();
    let recall = recall(&vault);
    assert_eq!(paths(&search(&recall, "otter")), ["a.md"]);
    assert_eq!(state(&recall, "index"), SignalState::InMemory);
    drop(held);
    assert!(!recall.sync().unwrap().in_memory);
    assert_eq!(paths(&search(&recall, "otter")), ["a.md"]);
    assert_eq!(state(&recall, "index"), SignalState::Fresh);
}

#[test]
fn rcl_08_rubbish_in_the_index_folder_is_thrown_away() {
    for (file, content) in [("meta.json", "{ not json"), ("rubbish.bin", "\u{0}\u{1}"), (".tantivy-writer.lock", "")] {
        let vault = otter();
        vault.write(&format!(".dormouse/index/{file}"), content);
        let recall = recall(&vault);
        assert_eq!(paths(&search(&recall, "otter")), ["a.md"], "{file}");
        assert_eq!(state(&recall, "index"), SignalState::Fresh, "{file}");
    }
}

#[test]
fn a_truncated_index_is_made_anew() {
    let vault = otter();
    recall(&vault).sync().unwrap();
    for entry in fs::read_dir(vault.path().join(".dormouse/index")).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_some_and(|e| e != "json" && e != "lock") {
            fs::write(file, "cut").unwrap();
        }
    }
    assert_eq!(paths(&search(&recall(&vault), "otter")), ["a.md"]);
}

#[test]
fn a_second_opening_reads_only_what_changed() {
    let vault = otter();
    let first = recall(&vault).sync().unwrap();
    assert_eq!((first.notes, first.read, first.rebuilt), (2, 2, true));
    vault.write("b.md", "otter and beaver\n");
    let recall = recall(&vault);
    let second = recall.sync().unwrap();
    assert_eq!((second.notes, second.read, second.removed, second.rebuilt), (2, 1, 0, false));
    assert_eq!(search(&recall, "otter").hits.len(), 2);
}

#[test]
fn meta_files_that_cannot_be_read_are_warned_of() {
    for content in ["{ cut", "[]", "{\"version\": 99, \"computed_at\": \"2026-11-30T00:00:00Z\"}"] {
        let vault = otter();
        for file in ["communities", "recency", "archived", "dreamed"] {
            vault.write(&format!("meta/{file}.json"), content);
        }
        let reply = search(&recall(&vault), "otter");
        assert_eq!(paths(&reply), ["a.md"]);
        assert_eq!(reply.warnings.len(), 4, "{content}: {:?}", reply.warnings);
        assert_eq!(reply.freshness.iter().filter(|f| f.state == SignalState::Unreadable).count(), 4);
    }
}

#[test]
fn an_empty_vault_and_notes_that_are_no_utf8_are_no_fault() {
    assert!(search(&recall(&temp_vault("")), "otter").hits.is_empty());
    let vault = otter();
    vault.write("latin.md", b"otter caf\xe9\n");
    assert_eq!(search(&recall(&vault), "otter").hits.len(), 2);
}

#[test]
fn meta_audit_and_conflict_copies_are_never_results() {
    let vault = otter();
    vault.write("meta/otter.md", "otter\n");
    vault.write("audit/2026-11-30/health.md", "otter\n");
    vault.write("a.sync-conflict-20261130-120000-ABCDEFG.md", "otter\n");
    assert_eq!(paths(&search(&recall(&vault), "otter")), ["a.md"]);
}

#[test]
fn an_unwritable_spool_is_one_warning() {
    let vault = otter();
    fs::create_dir_all(vault.path().join("meta/access_spool.jsonl")).unwrap();
    let reply = recall(&vault).search(&SearchRequest::new("otter")).unwrap();
    assert_eq!(paths(&reply), ["a.md"]);
    assert_eq!(reply.warnings.len(), 1, "{:?}", reply.warnings);
}

#[test]
fn returned_and_read_notes_are_spooled() {
    let vault = otter();
    let recall = recall(&vault);
    let reply = recall.search(&SearchRequest::new("otter")).unwrap();
    assert_eq!(recall.mark_read(&[reply.hits[0].path.clone()]), None);
    let spool = vault.read("meta/access_spool.jsonl");
    assert_eq!(spool.lines().count(), 2);
    assert!(spool.contains("returned") && spool.contains("read"), "{spool}");
}

#[test]
fn rcl_08_signals_that_come_and_go_while_it_runs_are_seen() {
    let vault = otter();
    let recall = recall(&vault);
    assert_eq!(paths(&search(&recall, "otter")), ["a.md"]);
    let archived = |note: &str| {
        format!(
            "{{\"version\":1,\"computed_at\":\"2026-11-29T00:00:00Z\",\"notes\":{{\"{note}\":{{\"since\":\"2026-11-29\",\"score\":0.1}}}}}}"
        )
    };
    vault.write("meta/archived.json", archived("a.md"));
    assert!(search(&recall, "otter").hits.is_empty());
    vault.write("meta/archived.json", "{ cut");
    let reply = search(&recall, "otter");
    assert_eq!((paths(&reply), reply.warnings.len()), (vec!["a.md"], 1));
    vault.write("meta/archived.json", archived("a.md"));
    assert!(search(&recall, "otter").hits.is_empty());
    vault.remove("meta/archived.json");
    let reply = search(&recall, "otter");
    assert_eq!((paths(&reply), reply.warnings.len()), (vec!["a.md"], 0));
}

#[test]
fn rcl_10_a_log_that_cannot_be_written_is_one_warning() {
    let vault = otter();
    vault.write("meta/access_spool.jsonl/in-the-way", "");
    let reply = recall(&vault).search(&SearchRequest::new("otter")).unwrap();
    assert_eq!((paths(&reply), reply.warnings.len()), (vec!["a.md"], 1), "{:?}", reply.warnings);
}

#[test]
fn notes_that_come_change_and_go_are_followed_step_by_step() {
    let vault = otter();
    let recall = recall(&vault);
    assert_eq!(search(&recall, "otter").hits.len(), 1);
    vault.write("c/new.md", "otter\n");
    recall.vault().refresh().unwrap();
    assert_eq!(paths(&search(&recall, "otter")), ["a.md", "c/new.md"]);
    vault.write("a.md", "now a badger\n");
    vault.remove("b.md");
    recall.vault().refresh().unwrap();
    assert_eq!(paths(&search(&recall, "otter")), ["c/new.md"]);
    assert!(search(&recall, "beaver").hits.is_empty());
    assert_eq!(paths(&search(&recall, "badger")), ["a.md"]);
}
