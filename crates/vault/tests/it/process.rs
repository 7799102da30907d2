//! Tests with several processes: this binary starts itself on one ignored test.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const TASK: &str = "DORMOUSE_TEST_TASK";

/// Starts `test` of this binary in a process of its own, on the vault at `folder`.
pub(crate) fn start(test: &str, folder: &Path, n: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--quiet"])
        .env(TASK, format!("{n}:{}", folder.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits for a process that must end well.
pub(crate) fn finish(mut child: Child) {
    assert!(child.wait().unwrap().success());
}

/// What this process was started for; nothing when a person runs the ignored tests.
pub(crate) fn task() -> Option<(PathBuf, usize)> {
    let task = std::env::var(TASK).ok()?;
    let (n, folder) = task.split_once(':')?;
    Some((PathBuf::from(folder), n.parse().ok()?))
}

#[path = "../../benches/races/kills.rs"]
mod kills;

/// `cargo xtask bench races --kills 1000` is the long form.
#[test]
fn thirty_processes_killed_in_the_middle_leave_everything_old_or_everything_new() {
    let mut n = 7_u64;
    let sum = kills::run(30, &["--exact", "process::commits_until_it_is_killed", "--ignored", "--quiet"], |below| {
        n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (n >> 33) % below
    });
    assert_eq!(sum.broken, Vec::<String>::new());
    assert!(sum.inside > 0 && sum.old + sum.new == sum.inside, "{} of 30 met a commit", sum.inside);
    eprintln!("{} inside a commit, {} recoveries killed as well", sum.inside, sum.recoveries);
}

#[test]
#[ignore = "started by another test"]
fn commits_until_it_is_killed() {
    if kills::is_child() {
        kills::child();
    }
}

/// Runs the ignored test `name` of this binary under `wrapper`; `false`, with a line that says so,
/// where the machine does not let it.
#[cfg(target_os = "linux")]
fn runs_under(wrapper: &[&str], name: &str, folder: &Path) -> bool {
    let this = std::env::current_exe().unwrap();
    let child = Command::new(wrapper[0])
        .args(&wrapper[1..])
        .arg(this)
        .args(["--exact", name, "--ignored", "--nocapture"])
        .env(TASK, format!("0:{}", folder.display()))
        .output();
    let Ok(output) = child else {
        eprintln!("skipped: there is no `{}`", wrapper[0]);
        return false;
    };
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if said.contains("SKIPPED") || !said.contains("running 1 test") {
        eprintln!("skipped: the machine does not allow it: {}", said.trim());
        return false;
    }
    assert!(output.status.success(), "{said}");
    true
}

/// VLT-31 on a real file system that is full: every commit that does not fit leaves the old state
/// and a clear error; when there is room again, the same commit works.
#[cfg(target_os = "linux")]
#[test]
fn vlt_31_a_real_full_file_system_leaves_the_old_state_and_works_again_with_room() {
    let folder = dormouse_fixtures::temp_vault("");
    runs_under(&["unshare", "--mount", "--propagation", "private"], "process::in_a_small_file_system", folder.path());
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "started by another test"]
fn in_a_small_file_system() {
    use dormouse_vault::{Change, ChangeSet, CommitError, Conservation, NotePath, OpenOptions, Vault, Version, Writer};
    use std::fs;

    let Some((folder, _)) = task() else { return };
    let mount = |options: &str| {
        let mut command = Command::new("mount");
        let is_new = !options.starts_with("remount");
        command.args(is_new.then_some(["-t", "tmpfs", "tmpfs"]).into_iter().flatten());
        command.args(["-o", options]).arg(&folder);
        command.status().is_ok_and(|status| status.success())
    };
    if !mount("size=512k,mode=0755") {
        println!("SKIPPED: nothing can be mounted");
        return;
    }
    let path = |text: &str| NotePath::new(text).unwrap();
    let files = || ["a.md", "b.md", "in/c.md", "new/d.md"].map(|name| fs::read(folder.join(name)).ok());
    let leftovers = || {
        let mut left = Vec::new();
        for at in ["", "in", "new", ".dormouse/journal"] {
            let entries = fs::read_dir(folder.join(at)).into_iter().flatten();
            left.extend(
                entries
                    .map(|e| e.unwrap().path().display().to_string())
                    .filter(|name| name.contains("tmp-") || at.starts_with('.')),
            );
        }
        left
    };
    fs::create_dir(folder.join("in")).unwrap();
    let old = "0123456789abcdef\n".repeat(1000);
    let new = "new line of text\n".repeat(2000);
    for name in ["a.md", "b.md", "in/c.md"] {
        fs::write(folder.join(name), &old).unwrap();
    }
    let vault = Vault::open(&folder).unwrap();
    let mut set = ChangeSet::new(Writer::Person, Conservation::Free);
    for name in ["a.md", "b.md", "in/c.md"] {
        set =
            set.with(Change::Replace { path: path(name), expected: Version::of(old.as_bytes()), content: new.clone() });
    }
    set = set.with(Change::Create { path: path("new/d.md"), content: new.clone() });
    let before = files();
    let (mut refused, mut pages) = (0, 0);
    // With one page of room, with two, and so on, until the commit fits.
    let committed = loop {
        let filler = folder.join("filler");
        let mut file = fs::File::create(&filler).unwrap();
        while std::io::Write::write(&mut file, &[0; 4096]).is_ok_and(|n| n > 0) {}
        let length = file.metadata().unwrap().len();
        file.set_len(length.saturating_sub(pages * 4096)).unwrap();
        drop(file);
        let result = vault.commit(&set);
        fs::remove_file(&filler).unwrap();
        match result {
            Ok(committed) => break committed,
            Err(CommitError::Io { source, .. }) if source.kind() == std::io::ErrorKind::StorageFull => refused += 1,
            Err(error) => panic!("with {pages} pages of room: {error}"),
        }
        assert!(files() == before, "with {pages} pages of room");
        assert_eq!(leftovers(), Vec::<String>::new(), "with {pages} pages of room");
        assert!(!folder.join("new").exists());
        assert!(Vault::open(&folder).unwrap().problems().is_empty());
        pages += 1;
    };
    assert!(refused >= 20, "{refused}");
    assert_eq!(committed.written.len(), 4);
    assert!(files().iter().all(|bytes| bytes.as_deref() == Some(new.as_bytes())));
    assert_eq!(leftovers(), Vec::<String>::new());
    println!("{refused} commits found the file system full");

    // The same file system, read-only.
    assert!(mount("remount,ro,size=512k"));
    let mut set = ChangeSet::new(Writer::Person, Conservation::Free);
    set = set.with(Change::Replace {
        path: path("a.md"),
        expected: Version::of(new.as_bytes()),
        content: "other\n".into(),
    });
    let error = vault.commit(&set).unwrap_err();
    assert!(matches!(error, CommitError::ReadOnly { .. }), "{error:?}");
    let reader = Vault::open(&folder).unwrap();
    assert!(reader.is_read_only() && reader.snapshot().notes().count() == 4);
    drop(Vault::open_with(&folder, OpenOptions { read_only: true, ..OpenOptions::default() }).unwrap());
    assert!(mount("remount,rw,size=512k"));
    vault.commit(&set).unwrap();
    assert_eq!(fs::read(folder.join("a.md")).unwrap(), b"other\n");

    // Room for bytes, none for another file.
    assert!(mount("remount,nr_inodes=120,size=512k"));
    let mut n = 0;
    while fs::write(folder.join(format!("filler-{n}")), "").is_ok() {
        n += 1;
    }
    let change = Change::Replace { path: path("a.md"), expected: Version::of(b"other\n"), content: "more\n".into() };
    let set = ChangeSet::new(Writer::Person, Conservation::Free).with(change);
    let error = vault.commit(&set).unwrap_err();
    assert!(matches!(&error, CommitError::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull));
    assert_eq!(fs::read(folder.join("a.md")).unwrap(), b"other\n");
    (0..n).for_each(|n| fs::remove_file(folder.join(format!("filler-{n}"))).unwrap());
    vault.commit(&set).unwrap();
}

/// A user whom permissions stop: root is asked nothing, so that this test lets its rights go.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_or_a_note_that_is_read_only_is_left_alone_with_a_clear_error() {
    let folder = dormouse_fixtures::temp_vault("");
    use std::os::unix::fs::MetadataExt;
    if folder.path().metadata().unwrap().uid() == 0 {
        let args = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
        rustix::fs::chmod(folder.path(), rustix::fs::Mode::from_raw_mode(0o777)).unwrap();
        runs_under(&args, "process::without_rights", folder.path());
    } else {
        runs_under(&["env"], "process::without_rights", folder.path());
    }
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "started by another test"]
fn without_rights() {
    use dormouse_vault::{Change, ChangeSet, CommitError, Conservation, NotePath, Vault, Version, Writer};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    let Some((folder, _)) = task() else { return };
    // A folder of its own.
    let folder = folder.join("vault");
    fs::create_dir(&folder).unwrap();
    let path = |text: &str| NotePath::new(text).unwrap();
    let mode = |name: &str, mode: u32| {
        fs::set_permissions(folder.join(name), Permissions::from_mode(mode)).unwrap();
    };
    fs::create_dir(folder.join("in")).unwrap();
    for name in ["a.md", "in/b.md"] {
        fs::write(folder.join(name), "old\n").unwrap();
    }
    let vault = Vault::open(&folder).unwrap();
    let replace =
        |name: &str| Change::Replace { path: path(name), expected: Version::of(b"old\n"), content: "new\n".into() };
    let both = ChangeSet::new(Writer::Person, Conservation::Free).with(replace("a.md")).with(replace("in/b.md"));
    let refused = |what: &str| {
        let error = vault.commit(&both).unwrap_err();
        let is_clear = matches!(&error, CommitError::Io { path, source }
            if source.kind() == std::io::ErrorKind::PermissionDenied && path.ends_with(what));
        assert!(is_clear, "{error:?}");
        for name in ["a.md", "in/b.md"] {
            assert_eq!(fs::read(folder.join(name)).unwrap(), b"old\n");
        }
        assert_eq!(fs::read_dir(folder.join(".dormouse/journal")).unwrap().count(), 0);
        assert_eq!(fs::read_dir(folder.join("in")).unwrap().count(), 1);
    };
    mode("in", 0o555);
    refused("in/b.md");
    mode("in", 0o755);
    mode("in/b.md", 0o444);
    refused("in/b.md");
    mode("in/b.md", 0o644);
    mode(".dormouse", 0o555);
    mode(".dormouse/journal", 0o555);
    assert!(vault.commit(&both).is_err());
    mode(".dormouse", 0o755);
    mode(".dormouse/journal", 0o755);
    mode(".", 0o555);
    assert!(Vault::open(&folder).unwrap().is_read_only());
    mode(".", 0o755);
    vault.commit(&both).unwrap();
    assert_eq!(fs::read(folder.join("in/b.md")).unwrap(), b"new\n");
}
