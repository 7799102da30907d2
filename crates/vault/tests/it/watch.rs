//! Watching: what other programs do to the files arrives as deltas.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::{Delta, NotePath, Vault, WatchOptions, Watcher};

const QUICK: WatchOptions =
    WatchOptions { quiet: Duration::from_millis(40), rescan: Duration::from_secs(600), poll: Duration::from_secs(5) };
const PATIENCE: Duration = Duration::from_secs(10);

fn watched(text: &str) -> (TempVault, Arc<Vault>, Watcher) {
    let folder = temp_vault(text);
    let vault = Arc::new(Vault::open(folder.path()).unwrap());
    let watcher = vault.watch(QUICK).unwrap();
    (folder, vault, watcher)
}

fn path(path: &str) -> NotePath {
    NotePath::new(path).unwrap()
}

/// Waits for the delta with which the vault satisfies `enough`.
fn until(vault: &Vault, watcher: &Watcher, enough: impl Fn(&Vault) -> bool) -> Vec<Delta> {
    let start = Instant::now();
    let mut deltas = Vec::new();
    while deltas.is_empty() || !enough(vault) {
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}; so far {deltas:?}");
        deltas.extend(watcher.next(Duration::from_millis(20)));
    }
    deltas
}

#[test]
fn an_edit_by_another_program_arrives_as_one_delta() {
    let (folder, vault, watcher) = watched("=== a.md\nold\n");
    folder.write("a.md", "[[b]]\n");
    folder.write("b.md", "new\n");
    let deltas = until(&vault, &watcher, |vault| vault.snapshot().graph().edge_count() == 1);
    let all: Vec<_> = deltas.into_iter().flat_map(|delta| [delta.added, delta.changed].concat()).collect();
    assert!(all.contains(&path("a.md")) && all.contains(&path("b.md")), "{all:?}");
}

#[test]
fn editors_that_save_by_renaming_make_a_change_and_no_removal() {
    let (folder, vault, watcher) = watched("=== a.md\nold\n");
    folder.write(".a.md.tmp", "[[b]]\n");
    std::fs::rename(folder.path().join(".a.md.tmp"), folder.path().join("a.md")).unwrap();
    let deltas = until(&vault, &watcher, |vault| vault.snapshot().unresolved().contains_key("b"));
    assert_eq!(deltas, [Delta { changed: vec![path("a.md")], ..Delta::default() }]);
}

#[test]
fn folders_come_and_go_with_all_their_notes() {
    let (folder, vault, watcher) = watched("=== sub/one.md\n[[two]]\n=== sub/deep/two.md\n");
    std::fs::rename(folder.path().join("sub"), folder.path().join("moved")).unwrap();
    let gone = |vault: &Vault| {
        !vault.snapshot().exists(&path("sub/one.md")) && vault.snapshot().exists(&path("moved/deep/two.md"))
    };
    until(&vault, &watcher, gone);
    folder.write("moved/new/three.md", "x");
    until(&vault, &watcher, |vault| vault.snapshot().exists(&path("moved/new/three.md")));
    folder.write("moved/new/three.md", "[[four]]");
    until(&vault, &watcher, |vault| vault.snapshot().unresolved().contains_key("four"));
}

#[test]
fn hidden_files_wake_nobody_and_the_watch_ends_when_dropped() {
    let (folder, vault, watcher) = watched("=== a.md\nold\n");
    folder.write(".obsidian/workspace.json", "{}");
    assert_eq!(watcher.next(Duration::from_millis(300)), None);
    drop(watcher);
    assert_eq!(Arc::strong_count(&vault), 1);
}

#[test]
fn what_changed_before_the_watch_began_is_taken_in() {
    let folder = temp_vault("=== a.md\nold\n");
    let vault = Arc::new(Vault::open(folder.path()).unwrap());
    folder.write("b.md", "between\n");
    let watcher = vault.watch(QUICK).unwrap();
    until(&vault, &watcher, |vault| vault.snapshot().exists(&path("b.md")));
}
