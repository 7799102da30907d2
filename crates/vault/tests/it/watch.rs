//! Watching: what other programs do to the files arrives as deltas, and the snapshot always comes
//! to be what a fresh scan sees.

mod soak;
mod styles;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::{
    Change, ChangeSet, Conservation, Delta, NotePath, Snapshot, Vault, Version, WatchOptions, Watcher, Writer,
};

/// Sweeps never come in a test: what is found is found by events.
pub(crate) const QUICK: WatchOptions = WatchOptions {
    quiet: Duration::from_millis(40),
    rescan: Duration::from_secs(36_000),
    poll: Duration::from_secs(5),
};
/// How long a slow machine may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn watched(text: &str, options: WatchOptions) -> (TempVault, Arc<Vault>, Watcher) {
    let folder = temp_vault(text);
    let (vault, watcher) = watch(folder.path(), options);
    (folder, vault, watcher)
}

/// Watches `folder`, and returns when the first look is over.
pub(crate) fn watch(folder: &Path, options: WatchOptions) -> (Arc<Vault>, Watcher) {
    let vault = Arc::new(Vault::open(folder).unwrap());
    let watcher = vault.watch(options).unwrap();
    wait("the first look", || watcher.counts().rescans > 0);
    (vault, watcher)
}

pub(crate) fn path(path: &str) -> NotePath {
    NotePath::new(path).unwrap()
}

#[track_caller]
pub(crate) fn wait(what: &str, enough: impl Fn() -> bool) {
    let start = Instant::now();
    while !enough() {
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// All that a reader can see of a vault, for comparing.
pub(crate) fn seen(snapshot: &Snapshot) -> String {
    let mut out = String::new();
    for note in snapshot.notes() {
        out += &format!("note {} {} {:?}\n", note.path.as_disk(), note.version, note.conflict_of);
    }
    for file in snapshot.files() {
        out += &format!("file {}\n", file.as_disk());
    }
    for edge in snapshot.graph().edges() {
        out += &format!("edge {edge:?}\n");
    }
    for (path, problem) in snapshot.problems() {
        out += &format!("problem {path}: {problem}\n");
    }
    out + &format!("unresolved {:?}\nfingerprint {:?}\n", snapshot.unresolved(), snapshot.fingerprint())
}

/// Waits until the vault is what a fresh scan sees.
#[track_caller]
pub(crate) fn converges(folder: &Path, vault: &Vault, context: &str) {
    let start = Instant::now();
    loop {
        let fresh = seen(&Vault::open(folder).unwrap().snapshot());
        let have = seen(&vault.snapshot());
        if fresh == have {
            return;
        }
        if start.elapsed() >= PATIENCE {
            let list = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
            let (fresh, have) = (list(&fresh), list(&have));
            let missing: Vec<_> = fresh.difference(&have).collect();
            let surplus: Vec<_> = have.difference(&fresh).collect();
            panic!("{context}\nmissing: {missing:#?}\ntoo much: {surplus:#?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The deltas until the one with which `enough` holds.
#[track_caller]
pub(crate) fn until(watcher: &Watcher, enough: impl Fn() -> bool) -> Vec<Delta> {
    let start = Instant::now();
    let mut deltas = Vec::new();
    while deltas.is_empty() || !enough() {
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}; so far {deltas:?}");
        deltas.extend(watcher.next(Duration::from_millis(20)));
    }
    deltas
}

/// What comes until a note that is written now has arrived: all that was before it is taken in then.
#[track_caller]
pub(crate) fn all_before_now(folder: &TempVault, vault: &Vault, watcher: &Watcher) -> Vec<Delta> {
    let mark = path("mark.md");
    folder.write("mark.md", "m");
    let mut deltas = until(watcher, || vault.snapshot().exists(&mark));
    for delta in &mut deltas {
        delta.added.retain(|path| *path != mark);
    }
    deltas.retain(|delta| !delta.is_empty());
    deltas
}

fn changed(paths: &[&str]) -> Delta {
    Delta { changed: paths.iter().map(|at| path(at)).collect(), ..Delta::default() }
}

#[test]
fn an_edit_by_another_program_arrives_as_a_delta() {
    let (folder, vault, watcher) = watched("=== a.md\nold\n", QUICK);
    folder.write("a.md", "[[b]]\n");
    folder.write("b.md", "new\n");
    let deltas = until(&watcher, || vault.snapshot().graph().edge_count() == 1);
    let all: Vec<_> = deltas.into_iter().flat_map(|delta| [delta.added, delta.changed].concat()).collect();
    assert!(all.contains(&path("a.md")) && all.contains(&path("b.md")), "{all:?}");
}

#[test]
fn folders_come_and_go_with_all_their_notes() {
    let (folder, vault, watcher) = watched("=== sub/one.md\n[[two]]\n=== sub/deep/two.md\n", QUICK);
    fs::rename(folder.path().join("sub"), folder.path().join("moved")).unwrap();
    wait("the move", || {
        !vault.snapshot().exists(&path("sub/one.md")) && vault.snapshot().exists(&path("moved/deep/two.md"))
    });
    folder.write("moved/new/three.md", "x");
    wait("a new folder", || vault.snapshot().exists(&path("moved/new/three.md")));
    folder.write("moved/new/three.md", "[[four]]");
    wait("an edit in it", || vault.snapshot().unresolved().contains_key("four"));
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir_all(outside.path().join("tree/a/b")).unwrap();
    fs::write(outside.path().join("tree/a/b/deep.md"), "[[zebra]]").unwrap();
    fs::rename(outside.path().join("tree"), folder.path().join("tree")).unwrap();
    wait("a tree that moved in", || vault.snapshot().unresolved().contains_key("zebra"));
    folder.write("tree/a/b/deep.md", "[[okapi]]");
    wait("an edit in it", || vault.snapshot().unresolved().contains_key("okapi"));
    fs::remove_dir_all(folder.path().join("tree")).unwrap();
    fs::rename(folder.path().join("moved"), outside.path().join("moved")).unwrap();
    wait("both are gone", || vault.snapshot().notes().count() == 0);
    converges(folder.path(), &vault, "at the end");
    drop(watcher);
}

#[test]
fn hidden_files_wake_nobody_and_the_watch_ends_when_dropped() {
    let (folder, vault, watcher) = watched("=== a.md\nold\n=== .obsidian/app.json\n{}\n", QUICK);
    let before = watcher.counts();
    folder.write(".obsidian/workspace.json", "{}");
    folder.write(".obsidian/new/plugin.js", "x");
    folder.write(".a.md.swp", "x");
    assert_eq!(watcher.next(Duration::from_millis(300)), None);
    assert_eq!(watcher.counts(), before);
    drop(watcher);
    assert_eq!(Arc::strong_count(&vault), 1);
}

#[test]
fn any_options_are_legal() {
    for time in [Duration::ZERO, Duration::MAX] {
        let (folder, vault, watcher) = watched("", WatchOptions { quiet: time, rescan: time, poll: time });
        folder.write("a.md", "a");
        wait("an edit", || !time.is_zero() || vault.snapshot().exists(&path("a.md")));
        drop(watcher);
    }
}

#[test]
fn what_changed_before_the_watch_began_is_taken_in() {
    let folder = temp_vault("=== a.md\nold\n");
    let vault = Arc::new(Vault::open(folder.path()).unwrap());
    folder.write("b.md", "between\n");
    let watcher = vault.watch(QUICK).unwrap();
    until(&watcher, || vault.snapshot().exists(&path("b.md")));
}

/// VLT-34: read events, an atomic save, remove and create; then a write of our own, and idling.
#[test]
fn vlt_34_saves_are_one_change_reading_is_none_and_own_writes_have_no_echo() {
    let slow = WatchOptions { quiet: Duration::from_millis(400), ..QUICK };
    let (folder, vault, watcher) = watched("=== n.md\nv1\n=== m.md\n[[n]]\n", slow);
    let at = |name: &str| folder.path().join(name);
    fs::write(at(".n.md.tmp"), "v2\n").unwrap();
    fs::rename(at(".n.md.tmp"), at("n.md")).unwrap();
    fs::read(at("n.md")).unwrap();
    fs::remove_file(at("m.md")).unwrap();
    fs::write(at("m.md"), "[[n]] again\n").unwrap();
    let deltas =
        until(&watcher, || vault.snapshot().note(&path("m.md")).is_some_and(|m| m.version == version("[[n]] again\n")));
    assert_eq!(deltas, [changed(&["m.md", "n.md"])]);
    let backlinks: Vec<_> = vault.snapshot().graph().in_edges(&path("n.md")).iter().map(|e| e.source.clone()).collect();
    assert_eq!(backlinks, [path("m.md")]);

    let replace = Change::Replace { path: path("n.md"), expected: version("v2\n"), content: "v3\n".into() };
    vault.commit(&ChangeSet::new(Writer::Person, Conservation::Free).with(replace)).unwrap();
    assert_eq!(vault.snapshot().note(&path("n.md")).unwrap().version, version("v3\n"), "published at once");
    assert_eq!(all_before_now(&folder, &vault, &watcher), [], "the watcher says nothing of it");

    let before = (watcher.counts(), folder.files());
    for _ in 0..50 {
        fs::read(at("n.md")).unwrap();
        fs::read_dir(folder.path()).unwrap().count();
    }
    assert_eq!(watcher.next(Duration::from_millis(1200)), None);
    assert_eq!((watcher.counts(), folder.files()), before, "nothing is looked at, and nothing written");
}

fn version(text: &str) -> Version {
    Version::of(text.as_bytes())
}

#[test]
fn many_commits_of_our_own_have_no_echo() {
    let (folder, vault, watcher) = watched("=== n0.md\n0\n=== n1.md\n0\n=== n2.md\n0\n", QUICK);
    for round in 1..40 {
        let mut set = ChangeSet::new(Writer::Person, Conservation::Free);
        for n in 0..3 {
            let expected = Version::of(&fs::read(folder.path().join(format!("n{n}.md"))).unwrap());
            let content = format!("{round} [[n{}]]\n", (n + round) % 3);
            set = set.with(Change::Replace { path: path(&format!("n{n}.md")), expected, content });
        }
        vault.commit(&set).unwrap();
        std::thread::sleep(Duration::from_millis(round % 7 * 10));
    }
    assert_eq!(all_before_now(&folder, &vault, &watcher), []);
    assert_eq!(watcher.counts().rescans, 1, "the exchange of names has both its halves");
}

/// VLT-36: 3,000 files in a new folder, and a note ten new folders deep.
#[test]
fn vlt_36_a_storm_in_new_folders_is_taken_in_whole_with_few_looks() {
    let slow = WatchOptions { quiet: Duration::from_secs(2), ..QUICK };
    let (folder, vault, watcher) = watched("=== keep.md\nk\n", slow);
    for n in 1..=3000 {
        folder.write(&format!("bulk/{n:04}.md"), format!("bulk {n:04}\n"));
    }
    folder.write("n1/n2/n3/n4/n5/n6/n7/n8/n9/n10/deep.md", "deep [[zebra]]\n");
    let deltas = until(&watcher, || vault.snapshot().notes().count() == 3002);
    assert!(vault.snapshot().unresolved().contains_key("zebra"));
    assert!(deltas.len() <= 10, "{} deltas", deltas.len());
    converges(folder.path(), &vault, "after the storm");
    assert!(watcher.counts().rescans <= 1 + 2, "{:?}", watcher.counts());
}

#[test]
fn ten_thousand_files_are_few_deltas_and_dropping_the_watch_in_a_storm_ends_it_promptly() {
    let slow = WatchOptions { quiet: Duration::from_millis(500), ..QUICK };
    let (folder, vault, watcher) = watched("=== keep.md\nk\n", slow);
    fs::create_dir(folder.path().join("storm")).unwrap();
    for n in 0..10_000 {
        fs::write(folder.path().join(format!("storm/{n}.txt")), "x").unwrap();
    }
    let deltas = until(&watcher, || vault.snapshot().files().count() == 10_000);
    let counts = watcher.counts();
    assert!(deltas.len() <= 64 && counts.looks + counts.rescans <= 64, "{} {counts:?}", deltas.len());
    let storm = folder.path().join("storm");
    let more = std::thread::spawn(move || {
        for n in 0..10_000 {
            fs::write(storm.join(format!("{n}.txt")), "xy").unwrap();
        }
    });
    wait("events of the second storm", || watcher.counts().events > counts.events + 1_000);
    let start = Instant::now();
    drop(watcher);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    more.join().unwrap();
    assert_eq!(Arc::strong_count(&vault), 1, "the thread is gone");
}

#[test]
fn the_vaults_folder_goes_away_and_comes_back_and_another_takes_its_place() {
    let parent = tempfile::tempdir().unwrap();
    let (root, away) = (parent.path().join("vault"), parent.path().join("away"));
    fs::create_dir(&root).unwrap();
    fs::write(root.join("a.md"), "[[one]]").unwrap();
    let (vault, watcher) = watch(&root, WatchOptions { poll: Duration::from_millis(50), ..QUICK });
    fs::rename(&root, &away).unwrap();
    wait("it is said that the folder is gone", || !watcher.problems().is_empty());
    assert!(vault.snapshot().unresolved().contains_key("one"), "the last snapshot stays");
    fs::write(away.join("a.md"), "[[two]]").unwrap();
    fs::rename(&away, &root).unwrap();
    wait("it is back", || vault.snapshot().unresolved().contains_key("two"));
    wait("all is well", || watcher.problems().is_empty());
    fs::write(root.join("a.md"), "[[three]]").unwrap();
    wait("it is heard again", || vault.snapshot().unresolved().contains_key("three"));
    fs::rename(&root, &away).unwrap();
    fs::create_dir(&root).unwrap();
    fs::write(root.join("b.md"), "[[four]]").unwrap();
    wait("another folder", || vault.snapshot().unresolved().contains_key("four"));
    fs::write(root.join("b.md"), "[[five]]").unwrap();
    wait("it is heard", || vault.snapshot().unresolved().contains_key("five"));
    converges(&root, &vault, "at the end");
}

#[cfg(unix)]
#[test]
fn a_root_that_is_a_symlink_is_watched_where_it_leads() {
    use std::os::unix::fs::PermissionsExt;
    let folder = temp_vault("=== one/a.md\n[[x]]\n=== two/b.md\n[[y]]\n");
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("one", &link).unwrap();
    // The sweep is what notices that the link is turned, so it must not be far.
    let quick = WatchOptions { rescan: Duration::from_secs(3), poll: Duration::from_millis(100), ..QUICK };
    let (vault, watcher) = watch(&link, quick);
    folder.write("one/a.md", "[[z]]");
    wait("an edit", || vault.snapshot().unresolved().contains_key("z"));
    fs::create_dir(folder.path().join("one/new")).unwrap();
    folder.write("one/new/c.md", "[[c1]]");
    wait("a new folder", || vault.snapshot().unresolved().contains_key("c1"));
    fs::set_permissions(folder.path().join("one/new"), fs::Permissions::from_mode(0o700)).unwrap();
    wait("the folder was looked at", || watcher.counts().rescans >= 3);
    folder.write("one/new/c.md", "[[c2]]");
    wait("an edit in it", || vault.snapshot().unresolved().contains_key("c2"));
    assert!(watcher.counts().looks > 0, "it was heard: {:?}", watcher.counts());
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("two", &link).unwrap();
    wait("it leads elsewhere", || vault.snapshot().exists(&path("b.md")));
    wait("what was behind it is gone", || !vault.snapshot().exists(&path("a.md")));
    drop(watcher);
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_a_problem_that_comes_and_goes() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, vault, watcher) = watched("=== a.md\nx\n=== sub/b.md\ny\n", QUICK);
    let mode = |name: &str, bits| {
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(bits)).unwrap();
    };
    mode("a.md", 0);
    mode("sub", 0);
    // The superuser may read everything.
    let barred = fs::read(folder.path().join("a.md")).is_err();
    wait("problems", || !barred || vault.snapshot().problems().len() == 2);
    mode("sub", 0o755);
    mode("a.md", 0o644);
    folder.write("sub/b.md", "[[z]]");
    wait("no problem", || vault.snapshot().problems().is_empty() && vault.snapshot().unresolved().contains_key("z"));
    converges(folder.path(), &vault, "at the end");
    drop(watcher);
}
