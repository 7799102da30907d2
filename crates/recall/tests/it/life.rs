//! The life of the index: what changes is found at once, whoever writes it down and whenever.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_recall::{Recall, RecallConfig, SearchRequest, SignalState};
use dormouse_vault::{OpenOptions, Stage, Vault};
use proptest::prelude::*;

use super::{paths, recall, search};

fn read_only(vault: &TempVault) -> Recall {
    let open = Vault::open_with(vault.path(), OpenOptions { read_only: true, ..OpenOptions::default() }).unwrap();
    Recall::open(Arc::new(open), RecallConfig::default()).unwrap()
}

fn index_state(recall: &Recall) -> SignalState {
    search(recall, "otter").freshness.into_iter().find(|f| f.signal == "index").unwrap().state
}

/// Every file below a folder with its bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut out = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(files(&path));
        } else {
            out.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
    out
}

/// RCL-08: an index that may only be read is used, and what changed since lies over it.
#[test]
fn rcl_08_a_complete_index_that_cannot_be_written_is_read_with_what_changed_since() {
    let vault = temp_vault("=== a.md\notter\n=== b.md\nbeaver\n=== c.md\notter\n");
    recall(&vault).sync().unwrap();
    vault.write("b.md", "otter too\n");
    vault.remove("c.md");
    let before = files(&vault.path().join(".dormouse/index"));
    let recall = read_only(&vault);
    assert_eq!(paths(&search(&recall, "otter")), ["a.md", "b.md"]);
    assert_eq!(paths(&search(&recall, "beaver")), [""; 0]);
    assert_eq!(index_state(&recall), SignalState::Fresh);
    assert_eq!(files(&vault.path().join(".dormouse/index")), before);
}

/// RCL-08: another process writes for long.
#[test]
fn rcl_08_while_another_process_writes_changes_are_found_all_the_same() {
    let vault = temp_vault("=== a.md\notter\n");
    recall(&vault).sync().unwrap();
    let other = Vault::open(vault.path()).unwrap();
    let held = other.lock_stage(Stage::Index).unwrap();
    let recall = recall(&vault);
    for number in 0..200 {
        vault.write(&format!("new/{number}.md"), "otter\n");
    }
    recall.vault().refresh().unwrap();
    let reply = recall.search(&SearchRequest { limit: 500, ..SearchRequest::new("otter") }).unwrap();
    assert_eq!((reply.hits.len(), index_state(&recall)), (201, SignalState::Fresh));
    drop(held);
    assert_eq!(recall.sync().unwrap().read, 200);
}

#[test]
fn a_lock_of_the_engine_that_somebody_holds_holds_nobody_up() {
    let vault = temp_vault("=== a.md\notter\n");
    recall(&vault).sync().unwrap();
    let lock = fs::File::options().append(true).open(vault.path().join(".dormouse/index/.tantivy-meta.lock")).unwrap();
    lock.lock().unwrap();
    vault.write("b.md", "otter\n");
    let started = std::time::Instant::now();
    assert_eq!(paths(&search(&recall(&vault), "otter")), ["a.md", "b.md"]);
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn a_note_that_never_rests_is_found_all_the_same() {
    let vault = temp_vault("=== a.md\notter 0\n=== b.md\nbeaver\n");
    let recall = recall(&vault);
    recall.sync().unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..40 {
                vault.write(".new", format!("otter {number}\n"));
                fs::rename(vault.path().join(".new"), vault.path().join("a.md")).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        });
        while !writer.is_finished() {
            let reply = search(&recall, "otter");
            let told = reply.warnings.iter().any(|warning| warning.contains("a.md"));
            assert!(told || paths(&reply) == ["a.md"], "{reply:?}");
        }
    });
}

#[test]
fn an_index_that_goes_away_or_breaks_under_a_running_process_is_made_anew() {
    let vault = temp_vault("=== a.md\notter\n");
    let recall = recall(&vault);
    recall.sync().unwrap();
    let index = vault.path().join(".dormouse/index");
    fs::remove_dir_all(&index).unwrap();
    vault.write("b.md", "otter\n");
    recall.vault().refresh().unwrap();
    assert_eq!(search(&recall, "otter").hits.len(), 2);
    assert!(recall.sync().unwrap().rebuilt);
    fs::write(index.join("meta.json"), "{ cut").unwrap();
    vault.write("c.md", "otter\n");
    recall.vault().refresh().unwrap();
    let report = recall.sync().unwrap();
    assert_eq!((report.rebuilt, report.in_memory, report.warnings), (true, false, vec![]));
    assert_eq!(search(&recall, "otter").hits.len(), 3);
}

/// RCL-04: a note goes away between the pass that reads it and the commit of what was read.
#[test]
fn rcl_04_a_note_that_is_deleted_while_it_is_indexed_does_not_come_back() {
    let vault = temp_vault("=== k.md\nwalrus too\n=== m.md\nwalrus fact\n");
    let recall = recall(&vault);
    let first = fs::canonicalize(vault.path()).unwrap().join("k.md");
    recall
        .sync_with(&|progress| {
            if progress.done == 1 && first.exists() {
                fs::remove_file(&first).unwrap();
            }
        })
        .unwrap();
    assert!(!first.exists());
    assert_eq!(paths(&search(&recall, "walrus")), ["m.md"]);
    fs::rename(vault.path().join("m.md"), vault.path().join("m2.md")).unwrap();
    assert_eq!(paths(&search(&recall, "walrus")), ["m2.md"]);
    assert_eq!(paths(&search(&super::recall(&vault), "walrus")), ["m2.md"]);
}

#[test]
fn a_few_changes_stay_in_memory_and_many_are_written_behind() {
    let vault = temp_vault("=== a.md\notter\n");
    let first = recall(&vault);
    first.sync().unwrap();
    let written = || files(&vault.path().join(".dormouse/index"));
    let before = written();
    for number in 0..40 {
        vault.write(&format!("{number}.md"), "otter\n");
        first.vault().refresh().unwrap();
        search(&first, "otter");
    }
    assert_eq!(written(), before, "a search of few changes writes nothing");
    for number in 40..120 {
        vault.write(&format!("{number}.md"), "otter\n");
        first.vault().refresh().unwrap();
        search(&first, "otter");
    }
    drop(first);
    assert_ne!(written(), before);
    let second = recall(&vault);
    assert_eq!(second.search(&SearchRequest { limit: 500, ..SearchRequest::new("otter") }).unwrap().hits.len(), 121);
    let read = recall(&vault).sync().unwrap().read;
    assert!(read < 64, "{read} notes were left");
}

#[test]
fn a_search_that_runs_while_the_vault_changes_is_of_one_moment() {
    let vault = temp_vault("=== a.md\notter\n");
    let recall = recall(&vault);
    recall.sync().unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..60 {
                vault.write("a.md", format!("{}otter {number}\n", "filler\n\n".repeat(number % 7)));
                recall.vault().refresh().unwrap();
                if number % 20 == 0 {
                    recall.sync().unwrap();
                }
            }
        });
        while !writer.is_finished() {
            for hit in search(&recall, "otter").hits {
                let first = &hit.passages[0];
                assert!(first.text.starts_with("otter"), "{hit:?}");
            }
        }
    });
    assert_eq!(search(&recall, "otter").hits.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    /// Two that share a vault, each with changes of its own in memory, find what a fresh one finds.
    #[test]
    fn whoever_searches_finds_what_is_there(steps in proptest::collection::vec((0_usize..4, 0_usize..5, "[ab]( [ab]){0,3}", any::<bool>()), 1..14)) {
        let vault = temp_vault("=== 0.md\na\n");
        let both = [recall(&vault), recall(&vault)];
        for (what, which, text, one) in steps {
            let recall = &both[usize::from(one)];
            let name = format!("{which}.md");
            match what {
                0 => { recall.sync().unwrap(); }
                1 if vault.path().join(&name).exists() => vault.remove(&name),
                _ => { vault.write(&name, format!("{text}\n")); }
            }
            recall.vault().refresh().unwrap();
            for query in ["a", "b"] {
                let fresh = Recall::open(Arc::new(Vault::open_with(vault.path(), OpenOptions { read_only: true, no_cache: true, ..OpenOptions::default() }).unwrap()), RecallConfig::default()).unwrap();
                prop_assert_eq!(sorted(recall, query), sorted(&fresh, query));
            }
        }
    }
}

fn sorted(recall: &Recall, query: &str) -> Vec<String> {
    let mut out: Vec<String> = search(recall, query).hits.iter().map(|hit| hit.path.to_string()).collect();
    out.sort();
    out
}
