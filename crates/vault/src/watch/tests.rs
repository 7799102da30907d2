//! Tests of a watch with ears of their own, and of the plan of a look.
#![allow(clippy::disallowed_methods, reason = "a test plays other programs on the same files")]

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dormouse_fixtures::{TempVault, temp_vault};
use expect_test::{Expect, expect};

use super::ears::{Deaf, Ears, Heard, Listen, System};
use super::{WatchOptions, Watcher};
use crate::path::NotePath;
use crate::problem::ProblemKind;
use crate::vault::Vault;

const PATIENCE: Duration = Duration::from_secs(60);

fn options(quiet: u64, rescan: u64, poll: u64) -> WatchOptions {
    WatchOptions {
        quiet: Duration::from_millis(quiet),
        rescan: Duration::from_millis(rescan),
        poll: Duration::from_millis(poll),
    }
}

fn path(path: &str) -> NotePath {
    NotePath::new(path).unwrap()
}

#[track_caller]
fn until(what: &str, enough: impl Fn() -> bool) {
    let start = Instant::now();
    while !enough() {
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ears that hear nothing by themselves, with so many watches to give.
#[derive(Clone, Default)]
struct Double {
    watches: Arc<AtomicUsize>,
    covered: Arc<AtomicUsize>,
    refuses: Arc<AtomicBool>,
    hangs: Arc<AtomicBool>,
    heard: Arc<Mutex<Option<Heard>>>,
}

impl Double {
    fn with(watches: usize) -> Self {
        Self { watches: Arc::new(AtomicUsize::new(watches)), ..Self::default() }
    }
}

impl Listen for Double {
    fn open(&self, heard: Heard) -> Result<Box<dyn Ears>, Deaf> {
        if self.refuses.load(Ordering::SeqCst) {
            return Err(Deaf::Refused);
        }
        self.covered.store(0, Ordering::SeqCst);
        *self.heard.lock().unwrap() = Some(heard);
        Ok(Box::new(self.clone()))
    }
}

impl Ears for Double {
    fn cover(&mut self, _: &Path, _: &dyn Fn() -> bool) -> Result<(), Deaf> {
        let covered = self.covered.fetch_add(1, Ordering::SeqCst) + 1;
        while self.hangs.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        if covered > self.watches.load(Ordering::SeqCst) { Err(Deaf::Limit) } else { Ok(()) }
    }
}

fn watched(text: &str, options: WatchOptions, double: &Double) -> (TempVault, Arc<Vault>, Watcher) {
    let folder = temp_vault(text);
    let vault = Arc::new(Vault::open(folder.path()).unwrap());
    let watcher = vault.watch_with(options, Box::new(double.clone())).unwrap();
    until("the first look", || watcher.counts().rescans > 0);
    (folder, vault, watcher)
}

#[test]
fn a_limit_of_watches_degrades_to_polling_says_so_and_heals() {
    let double = Double::with(0);
    let (folder, vault, watcher) = watched("=== a.md\nold\n", options(10, 500, 20), &double);
    until("the problem", || !watcher.problems().is_empty());
    let problems = watcher.problems();
    assert_eq!((problems.len(), problems[0].kind), (1, ProblemKind::Watch));
    assert!(problems[0].message.contains("max_user_watches"), "{problems:?}");
    folder.write("sub/b.md", "[[new]]");
    until("polling", || vault.snapshot().exists(&path("sub/b.md")));
    double.watches.store(100, Ordering::SeqCst);
    until("healing", || watcher.problems().is_empty());
}

#[test]
fn a_system_without_events_is_polled() {
    let double = Double::with(9);
    double.refuses.store(true, Ordering::SeqCst);
    let (folder, vault, watcher) = watched("", options(10, 60_000, 20), &double);
    until("the problem", || watcher.problems().iter().any(|problem| problem.message.contains("no events")));
    folder.write("b.md", "new");
    until("polling", || vault.snapshot().exists(&path("b.md")));
    assert_eq!(watcher.next(PATIENCE).unwrap().added, [path("b.md")]);
}

#[test]
fn ears_that_went_deaf_are_noticed_by_the_sweep_and_replaced() {
    let double = Double::with(1000);
    let (folder, vault, watcher) = watched("=== a.md\nold\n", options(10, 2_000, 30), &double);
    assert!(watcher.problems().is_empty());
    let opened = Arc::as_ptr(&double.heard);
    folder.write("a.md", "[[changed]]");
    until("the sweep", || vault.snapshot().unresolved().contains_key("changed"));
    until("sweeps come closer, and ears are opened anew", || watcher.counts().rescans >= 4);
    assert_eq!(opened, Arc::as_ptr(&double.heard));
}

#[test]
fn an_error_of_the_system_leads_to_new_ears_and_one_look() {
    let double = Double::with(1000);
    let (folder, vault, watcher) = watched("=== a.md\nold\n", options(10, 600_000, 5_000), &double);
    folder.write("b.md", "[[x]]");
    for _ in 0..15 {
        let failure = notify::Error::generic("the backend broke");
        (double.heard.lock().unwrap().as_mut().unwrap())(Err(failure));
    }
    until("the look", || vault.snapshot().exists(&path("b.md")));
    assert!(watcher.counts().rescans <= 3, "{:?}", watcher.counts());
}

/// VLT-36: the system's own queue overflows while the watch's thread is held.
#[cfg(target_os = "linux")]
#[test]
fn a_queue_that_overflows_is_healed_by_a_look_at_everything() {
    let queue = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events");
    let queue: usize = queue.ok().and_then(|n| n.trim().parse().ok()).unwrap_or(16_384);
    if queue > 40_000 {
        return;
    }
    let folder = temp_vault("=== keep.md\nk\n");
    let vault = Arc::new(Vault::open(folder.path()).unwrap());
    let watcher = vault.watch_with(options(50, 600_000, 5_000), Box::new(System)).unwrap();
    until("the first look", || watcher.counts().rescans == 1);
    let held = watcher.shared.machine();
    for n in 0..queue / 3 {
        folder.write(&format!("s{}.txt", n % 500), n.to_string());
    }
    std::fs::create_dir_all(folder.path().join("n1/n2/n3")).unwrap();
    folder.write("n1/n2/n3/deep.md", "[[zebra]]");
    drop(held);
    until("the look", || vault.snapshot().unresolved().contains_key("zebra"));
    until("all files", || vault.snapshot().files().count() == 500);
    assert!(watcher.counts().rescans >= 2);
    folder.write("n1/n2/n3/deep.md", "[[okapi]]");
    until("hearing after the overflow", || vault.snapshot().unresolved().contains_key("okapi"));
    assert!(watcher.counts().looks >= 1, "an event told of it: {:?}", watcher.counts());
}

#[track_caller]
fn check_plan(vault: &str, prepare: impl Fn(&Path), paths: &[&str], expected: Expect) {
    let folder = temp_vault(vault);
    let vault = Vault::open(folder.path()).unwrap();
    prepare(folder.path());
    let paths = paths.iter().map(|at| path(at)).collect();
    let plan = super::look::plan(folder.path(), &vault.snapshot(), &paths);
    let folders = plan.folders.iter().map(|at| at.strip_prefix(folder.path()).unwrap().display().to_string());
    let files: Vec<_> = plan.files.iter().map(NotePath::as_str).collect();
    expected.assert_eq(&format!(
        "everything: {}, hear: {}, look: {}",
        plan.everything,
        folders.collect::<Vec<_>>().join(" "),
        files.join(" ")
    ));
}

#[test]
fn files_are_looked_at_alone_and_folders_mean_everything() {
    let vault = "=== a.md\n=== sub/b.md\n";
    let nothing = |_: &Path| {};
    check_plan(vault, nothing, &["a.md"], expect!["everything: false, hear: , look: a.md"]);
    check_plan(vault, nothing, &["gone.md", "gone.txt"], expect!["everything: false, hear: , look: "]);
    check_plan(vault, nothing, &["sub"], expect!["everything: true, hear: sub, look: sub"]);
    let remove = |root: &Path| std::fs::remove_dir_all(root.join("sub")).unwrap();
    check_plan(vault, remove, &["sub", "sub/b.md"], expect!["everything: true, hear: , look: sub/b.md"]);
    check_plan(vault, nothing, &["A.md", "a.md"], expect!["everything: true, hear: , look: a.md"]);
}

#[cfg(unix)]
#[test]
fn symlinks_before_and_after_mean_everything() {
    let link = |root: &Path| std::os::unix::fs::symlink("a.md", root.join("l.md")).unwrap();
    check_plan("=== a.md\n", link, &["l.md"], expect!["everything: true, hear: , look: l.md"]);
    let folder = temp_vault("=== a.md\n");
    link(folder.path());
    let vault = Vault::open(folder.path()).unwrap();
    std::fs::remove_file(folder.path().join("l.md")).unwrap();
    let plan = super::look::plan(folder.path(), &vault.snapshot(), &[path("l.md")].into());
    assert!(plan.everything, "the problem must go");

    let folder = temp_vault("=== sub/a.md\n");
    std::os::unix::fs::symlink("sub/new.md", folder.path().join("l.md")).unwrap();
    let vault = Vault::open(folder.path()).unwrap();
    folder.write("sub/new.md", "x");
    let plan = super::look::plan(folder.path(), &vault.snapshot(), &[path("sub/new.md")].into());
    assert!(plan.everything, "the link dangles no longer");
    let plan = super::look::plan(folder.path(), &vault.snapshot(), &[path("sub/a.md")].into());
    assert!(!plan.everything);
}

#[test]
fn another_unicode_form_of_a_name_means_everything() {
    let write = |root: &Path| std::fs::write(root.join("Cafe\u{301}.md"), "x").unwrap();
    check_plan("=== a.md\n", write, &["Cafe\u{301}.md"], expect!["everything: true, hear: , look: Café.md"]);
    check_plan("=== Cafe\u{301}.md\n", write, &["Caf\u{e9}.md"], expect!["everything: true, hear: , look: Café.md"]);
}

#[test]
fn a_watch_that_hangs_in_the_system_is_not_waited_for_and_ends_later() {
    let double = Double::with(1000);
    double.hangs.store(true, Ordering::SeqCst);
    let folder = temp_vault("=== a.md\nold\n");
    let vault = Arc::new(Vault::open(folder.path()).unwrap());
    let watcher = vault.watch_with(options(10, 60_000, 20), Box::new(double.clone())).unwrap();
    until("it hangs", || double.covered.load(Ordering::SeqCst) > 0);
    let start = Instant::now();
    drop(watcher);
    assert!(start.elapsed() < PATIENCE / 2, "{:?}", start.elapsed());
    assert_eq!(Arc::strong_count(&vault), 2, "it still hangs");
    double.hangs.store(false, Ordering::SeqCst);
    until("it ends", || Arc::strong_count(&vault) == 1);
}
