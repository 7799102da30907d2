//! What a vault can hold beside plain notes: links of both kinds, pipes, modes and attributes, long
//! names, names that differ by case alone; and files that are written after they were replaced.
#![cfg(unix)]

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::{
    AccessHit, Change, ChangeSet, CommitError, Conservation, NotePath, Stage, Vault, Version, Writer, meta::AccessKind,
};

use crate::broken_disk::{BrokenDisk, CaseBlind};
use crate::faults::leftovers;

fn path(text: &str) -> NotePath {
    NotePath::new(text).unwrap()
}

fn replace(vault: &TempVault, file: &str, content: &str) -> ChangeSet {
    let expected = Version::of(vault.read(file).as_bytes());
    let change = Change::Replace { path: path(file), expected, content: content.into() };
    ChangeSet::new(Writer::Person, Conservation::Free).with(change)
}

fn create(file: &str) -> ChangeSet {
    let change = Change::Create { path: path(file), content: "new\n".into() };
    ChangeSet::new(Writer::Person, Conservation::Free).with(change)
}

fn displaced(vault: &TempVault) -> Vec<String> {
    let entries = fs::read_dir(vault.path().join(".dormouse/displaced")).into_iter().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_link_that_takes_a_note_s_place_in_the_middle_is_not_written_through() {
    let outside = temp_vault("=== secret.md\nold\n");
    let folder = temp_vault("=== a.md\nold\n");
    let vault = Vault::open(folder.path()).unwrap();
    let mut once = true;
    let secret = outside.path().join("secret.md");
    let disk = BrokenDisk::whole().with_editor(move |target| {
        if std::mem::take(&mut once) {
            fs::remove_file(target).unwrap();
            symlink(&secret, target).unwrap();
        }
    });
    let error = vault.commit_on(&disk, &replace(&folder, "a.md", "new\n")).unwrap_err();
    assert!(matches!(error, CommitError::Symlink { .. }), "{error:?}");
    assert_eq!(outside.dump(), "=== secret.md\nold\n");
    assert!(folder.path().join("a.md").is_symlink());
    drop(Vault::open(folder.path()).unwrap());
    assert_eq!(leftovers(&folder), Vec::<String>::new());
}

#[test]
fn a_link_that_takes_a_folder_s_place_in_the_middle_leads_nowhere() {
    let outside = temp_vault("=== b.md\nold\n");
    let folder = temp_vault("=== in/b.md\nold\n=== away/x.md\nx\n");
    let vault = Vault::open(folder.path()).unwrap();
    let (inside, away, to) = (folder.path().join("in"), folder.path().join("away/in"), outside.path().to_path_buf());
    let mut once = true;
    let disk = BrokenDisk::whole().with_editor(move |_| {
        if std::mem::take(&mut once) {
            fs::rename(&inside, &away).unwrap();
            symlink(&to, &inside).unwrap();
        }
    });
    let error = vault.commit_on(&disk, &replace(&folder, "in/b.md", "new\n")).unwrap_err();
    assert!(matches!(error, CommitError::Symlink { .. }), "{error:?}");
    assert_eq!(outside.dump(), "=== b.md\nold\n");
    assert_eq!(folder.read("away/in/b.md"), "old\n");
    // The half-done commit names a place outside by now: it is told, and touches nothing.
    assert_eq!(Vault::open(folder.path()).unwrap().problems().len(), 1);
    assert_eq!(outside.dump(), "=== b.md\nold\n");
}

#[test]
fn a_cache_or_a_spool_that_leads_out_of_the_vault_is_not_written() {
    let outside = temp_vault("");
    let folder = temp_vault("=== a.md\nold\n");
    symlink(outside.path(), folder.path().join(".dormouse")).unwrap();
    let vault = Vault::open(folder.path()).unwrap();
    assert!(vault.problems()[0].message.contains("symbolic link"), "{:?}", vault.problems());
    let hit = AccessHit {
        path: path("a.md"),
        at: chrono::DateTime::parse_from_rfc3339("2026-11-30T14:00:00+01:00").unwrap(),
        kind: AccessKind::Returned,
    };
    for error in [
        vault.commit(&replace(&folder, "a.md", "new\n")).unwrap_err(),
        vault.lock_stage(Stage::Dream).map(drop).unwrap_err(),
        vault.write_cache("x/y", b"z").unwrap_err(),
    ] {
        assert!(matches!(error, CommitError::Symlink { .. }), "{error:?}");
    }
    assert!(vault.spool().append(std::slice::from_ref(&hit)).is_err());
    fs::remove_file(folder.path().join(".dormouse")).unwrap();
    symlink(outside.path(), folder.path().join("meta")).unwrap();
    assert!(vault.spool().append(&[hit]).is_err());
    assert!(matches!(vault.commit(&create("meta/x.md")), Err(CommitError::Denied { .. })));
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_vault_that_is_reached_through_a_link_works() {
    let folder = temp_vault("=== a.md\nold\n");
    let elsewhere = temp_vault("");
    let link = elsewhere.path().join("vault");
    symlink(folder.path(), &link).unwrap();
    let vault = Vault::open(&link).unwrap();
    vault.commit(&replace(&folder, "a.md", "new\n")).unwrap();
    vault.write_cache("x", b"y").unwrap();
    drop(vault.lock_stage(Stage::Dream).unwrap());
    assert_eq!(folder.dump(), "=== a.md\nnew\n");
}

#[test]
fn a_pipe_or_a_folder_in_a_note_s_place_is_an_error_and_no_hang() {
    let folder = temp_vault("=== b.md\nold\n");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.path().join("a.md"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o644),
        0,
    )
    .unwrap();
    fs::create_dir(folder.path().join("c.md")).unwrap();
    let vault = Vault::open(folder.path()).unwrap();
    for name in ["a.md", "c.md"] {
        let change = Change::Replace { path: path(name), expected: Version::of(b""), content: "x".into() };
        let set = ChangeSet::new(Writer::Person, Conservation::Free).with(change);
        assert!(matches!(vault.commit(&set), Err(CommitError::Io { .. })), "{name}");
        assert!(vault.commit(&create(name)).is_err());
    }
    fs::remove_file(folder.path().join("a.md")).unwrap();
    assert_eq!(leftovers(&folder), Vec::<String>::new());
}

#[test]
fn another_name_of_the_same_file_keeps_the_old_text() {
    let folder = temp_vault("=== a.md\nold\n");
    fs::hard_link(folder.path().join("a.md"), folder.path().join("twin.md")).unwrap();
    Vault::open(folder.path()).unwrap().commit(&replace(&folder, "a.md", "new\n")).unwrap();
    assert_eq!(folder.dump(), "=== a.md\nnew\n=== twin.md\nold\n");
}

#[test]
fn mode_and_attributes_survive_a_replace() {
    let folder = temp_vault("=== a.md\nold\n");
    let file = folder.path().join("a.md");
    for mode in [0o600, 0o640, 0o664, 0o755] {
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let set = rustix::fs::setxattr(&file, "user.dormouse", b"nuts", rustix::fs::XattrFlags::empty());
        let vault = Vault::open(folder.path()).unwrap();
        vault.commit(&replace(&folder, "a.md", &format!("new {mode}\n"))).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, mode);
        if set.is_ok() {
            let mut value = [0; 4];
            assert_eq!(rustix::fs::getxattr(&file, "user.dormouse", &mut value), Ok(4));
            assert_eq!(&value, b"nuts");
        }
    }
}

#[test]
fn a_note_that_nobody_may_write_is_left_alone() {
    let folder = temp_vault("=== a.md\nold\n=== b.md\nold\n");
    fs::set_permissions(folder.path().join("a.md"), Permissions::from_mode(0o444)).unwrap();
    let vault = Vault::open(folder.path()).unwrap();
    let mut set = replace(&folder, "b.md", "new\n");
    set.changes.extend(replace(&folder, "a.md", "new\n").changes);
    let error = vault.commit(&set).unwrap_err().to_string();
    assert!(error.ends_with("a.md: the file is read-only"), "{error}");
    assert_eq!(folder.dump(), "=== a.md\nold\n=== b.md\nold\n");
}

#[test]
fn names_as_long_as_they_may_be_are_written_and_kept() {
    let long = format!("{}.md", "漢".repeat(84));
    assert_eq!(long.len(), 255);
    let folder = temp_vault("");
    let vault = Vault::open(folder.path()).unwrap();
    vault.commit(&create(&long)).unwrap();
    vault.commit(&create(&format!("{}/{long}", vec!["d".repeat(100); 20].join("/")))).unwrap();
    let mut edits = 0;
    let disk = BrokenDisk::whole().with_editor(move |target| {
        edits += 1;
        if edits < 3 {
            fs::write(target, format!("edit {edits}\n")).unwrap();
        }
    });
    assert!(vault.commit_on(&disk, &replace(&folder, &long, "newer\n")).is_err());
    assert_eq!(folder.read(&long), "edit 2\n");
    let kept = displaced(&folder).into_iter().find(|name| name.ends_with("漢.md")).unwrap();
    assert_eq!(folder.read(&format!(".dormouse/displaced/{kept}")), "edit 1\n");
    // A path that is longer than the system takes is refused, and leaves no folder behind.
    let deep = format!("{}/x.md", vec!["e".repeat(200); 30].join("/"));
    assert!(matches!(vault.commit(&create(&deep)), Err(CommitError::Io { .. } | CommitError::Denied { .. })));
    assert!(!folder.path().join("e".repeat(200)).exists());
}

/// VLT-14: a new case is a rename, where case matters and where it doesn't, and no note is lost.
#[test]
fn vlt_14_a_rename_that_changes_case_alone_keeps_the_note() {
    let check = |is_blind: bool| {
        let folder = temp_vault("=== hello.md\nkeep me\n=== src.md\n[[note]] [[hello]]\n");
        let vault = Vault::open(folder.path()).unwrap();
        let (from, to) = (path("hello.md"), path("Hello.md"));
        let mut set = ChangeSet::new(Writer::Person, Conservation::Retarget { from: from.clone(), to: to.clone() })
            .with(Change::Rename { from, to, expected: Version::of(b"keep me\n") });
        set.changes.extend(replace(&folder, "src.md", "[[note]] [[Hello]]\n").changes);
        let done = if is_blind { vault.commit_on(&CaseBlind, &set) } else { vault.commit(&set) };
        done.unwrap();
        assert_eq!(folder.dump(), "=== Hello.md\nkeep me\n=== src.md\n[[note]] [[Hello]]\n");
        assert_eq!(leftovers(&folder), Vec::<String>::new());
        // Back again, and then a name that is taken.
        let (from, to) = (path("Hello.md"), path("hello.md"));
        let mut set = ChangeSet::new(Writer::Person, Conservation::Retarget { from: from.clone(), to: to.clone() })
            .with(Change::Rename { from, to, expected: Version::of(b"keep me\n") });
        set.changes.extend(replace(&folder, "src.md", "[[note]] [[hello]]\n").changes);
        let done = if is_blind { vault.commit_on(&CaseBlind, &set) } else { vault.commit(&set) };
        done.unwrap();
        let taken = create("HELLO.md");
        let done = if is_blind { vault.commit_on(&CaseBlind, &taken) } else { vault.commit(&taken) };
        assert!(matches!(done, Err(CommitError::Conflict(_))));
        assert_eq!(folder.dump(), "=== hello.md\nkeep me\n=== src.md\n[[note]] [[hello]]\n");
    };
    check(false);
    check(true);
}

/// Commits to a note that a program has open, which then writes; opens the vault.
fn late(write: impl FnOnce(&mut File)) -> (TempVault, Vault) {
    let folder = temp_vault("=== in/a.md\nold\n");
    let vault = Vault::open(folder.path()).unwrap();
    let mut held = OpenOptions::new().read(true).write(true).open(folder.path().join("in/a.md")).unwrap();
    vault.commit(&replace(&folder, "in/a.md", "new\n")).unwrap();
    write(&mut held);
    drop(held);
    let again = Vault::open(folder.path()).unwrap();
    (folder, again)
}

#[test]
fn what_is_written_into_a_note_after_it_was_replaced_is_kept_and_told() {
    for (write, text) in [
        ((|held| held.write_all(b"late edit\n").unwrap()) as fn(&mut File), "late edit\n"),
        (
            |held| {
                held.seek(SeekFrom::End(0)).unwrap();
                held.write_all(b"late line\n").unwrap();
            },
            "old\nlate line\n",
        ),
        (|held| held.set_len(0).unwrap(), ""),
    ] {
        let (folder, vault) = late(write);
        assert_eq!(folder.dump(), "=== in/a.md\nnew\n");
        let kept = displaced(&folder);
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert!(kept[0].ends_with("-a.md"));
        assert_eq!(folder.read(&format!(".dormouse/displaced/{}", kept[0])), text);
        let [problem] = vault.problems() else { panic!("{:?}", vault.problems()) };
        assert!(problem.message.contains(&kept[0]), "{}", problem.message);
        // It is told again until somebody takes the file away.
        assert_eq!(Vault::open(folder.path()).unwrap().problems().len(), 1);
        folder.remove(&format!(".dormouse/displaced/{}", kept[0]));
        assert!(Vault::open(folder.path()).unwrap().problems().is_empty());
    }
}

fn set_back(folder: &TempVault, by: Duration) {
    for name in displaced(folder).iter().filter(|name| name.ends_with(".json")) {
        let file = OpenOptions::new().write(true).open(folder.path().join(".dormouse/displaced").join(name)).unwrap();
        file.set_modified(SystemTime::now() - by).unwrap();
    }
}

#[test]
fn a_displaced_file_goes_when_nobody_can_write_to_it_any_more() {
    let (folder, _) = late(|_| {});
    assert_eq!(displaced(&folder).len(), 2);
    set_back(&folder, Duration::from_secs(590));
    drop(Vault::open(folder.path()).unwrap());
    assert_eq!(displaced(&folder).len(), 2);
    set_back(&folder, Duration::from_secs(610));
    let file = folder.path().join(".dormouse/displaced").join(displaced(&folder).remove(0));
    if cfg!(target_os = "linux") {
        // Somebody has it open for writing, for as long as it takes.
        let mut held = OpenOptions::new().append(true).open(&file).unwrap();
        drop(Vault::open(folder.path()).unwrap());
        assert_eq!(displaced(&folder).len(), 2);
        held.write_all(b"very late\n").unwrap();
        drop(held);
        assert_eq!(Vault::open(folder.path()).unwrap().problems().len(), 1);
        assert_eq!(displaced(&folder).len(), 1);
        assert_eq!(folder.read(&format!(".dormouse/displaced/{}", displaced(&folder)[0])), "old\nvery late\n");
    } else {
        drop(Vault::open(folder.path()).unwrap());
        assert_eq!(displaced(&folder), Vec::<String>::new());
    }
}

#[test]
fn a_displaced_file_that_nobody_has_open_goes_after_its_time() {
    let (folder, _) = late(|_| {});
    set_back(&folder, Duration::from_secs(610));
    assert!(Vault::open(folder.path()).unwrap().problems().is_empty());
    assert_eq!(displaced(&folder), Vec::<String>::new());
}

#[test]
fn more_than_a_thousand_displaced_files_wait_half_a_minute() {
    let (folder, _) = late(|_| {});
    for n in 0..1000 {
        folder.write(&format!(".dormouse/displaced/recent-1-2-3-{n}"), "unknown");
    }
    set_back(&folder, Duration::from_secs(40));
    drop(Vault::open(folder.path()).unwrap());
    // Those of a commit that nothing is known of are young, and wait on.
    assert_eq!(displaced(&folder).len(), 1000);
}

/// The clock stood a day ahead when the note was replaced: the wait ends all the same, and a late
/// write that looks older than the commit is found at its end.
#[test]
fn a_clock_that_was_put_back_loses_nothing_and_keeps_nothing_for_ever() {
    let folder = temp_vault("=== a.md\nold\n");
    let vault = Vault::open(folder.path()).unwrap();
    let mut held = OpenOptions::new().append(true).open(folder.path().join("a.md")).unwrap();
    vault.commit(&replace(&folder, "a.md", "new\n")).unwrap();
    let record = displaced(&folder).into_iter().find(|name| name.ends_with(".json")).unwrap();
    let record = OpenOptions::new().write(true).open(folder.path().join(".dormouse/displaced").join(record)).unwrap();
    record.set_modified(SystemTime::now() + Duration::from_secs(24 * 3600)).unwrap();
    held.write_all(b"late\n").unwrap();
    held.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    drop((held, record));
    drop(Vault::open(folder.path()).unwrap());
    assert_eq!(displaced(&folder).len(), 2);
    set_back(&folder, Duration::from_secs(610));
    assert_eq!(Vault::open(folder.path()).unwrap().problems().len(), 1);
    assert_eq!(folder.read(&format!(".dormouse/displaced/{}", displaced(&folder)[0])), "old\nlate\n");
}

#[test]
fn many_texts_that_wait_are_counted() {
    let folder = temp_vault("=== a.md\nx\n");
    for n in 0..25 {
        folder.write(&format!(".dormouse/displaced/1-2-{n}-a.md"), "x");
    }
    let vault = Vault::open(folder.path()).unwrap();
    assert_eq!(vault.problems().len(), 21);
    assert!(vault.problems()[20].message.ends_with("5 more such files"));
    assert_eq!(displaced(&folder).len(), 25);
}

#[test]
fn a_second_process_waits_five_seconds_and_then_says_who_is_in_the_way() {
    let folder = temp_vault("=== a.md\nold\n");
    let vault = Vault::open(folder.path()).unwrap();
    vault.commit(&replace(&folder, "a.md", "1\n")).unwrap();
    let held = File::open(folder.path().join(".dormouse/lock")).unwrap();
    held.lock().unwrap();
    let start = std::time::Instant::now();
    let error = vault.commit(&replace(&folder, "a.md", "2\n")).unwrap_err();
    assert!(matches!(error, CommitError::Locked { what: "commit" }) && start.elapsed() >= Duration::from_secs(5));
    // A reader waits for nobody.
    assert_eq!(Vault::open(folder.path()).unwrap().snapshot().notes().count(), 1);
    drop(held);
    vault.commit(&replace(&folder, "a.md", "2\n")).unwrap();
}

/// Whoever locked a file that is gone from its name has locked nothing.
#[test]
fn a_lock_file_that_is_removed_while_somebody_waits_lets_nobody_in_beside_another() {
    let folder = temp_vault("=== a.md\nold\n");
    let vault = Vault::open(folder.path()).unwrap();
    vault.commit(&replace(&folder, "a.md", "1\n")).unwrap();
    let lock = folder.path().join(".dormouse/lock");
    let (first, second) = (File::open(&lock).unwrap(), folder.path().join(".dormouse/lock"));
    first.lock().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| vault.commit(&replace(&folder, "a.md", "2\n")).map(drop));
        std::thread::sleep(Duration::from_millis(100));
        fs::remove_file(&lock).unwrap();
        let second = OpenOptions::new().write(true).create(true).truncate(false).open(second).unwrap();
        second.lock().unwrap();
        drop(first);
        std::thread::sleep(Duration::from_millis(200));
        assert!(!waiting.is_finished());
        drop(second);
        waiting.join().unwrap().unwrap();
    });
}
