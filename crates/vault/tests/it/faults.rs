//! A disk that fails at the n-th operation, an editor that writes in the middle, a process that
//! dies: afterwards everything is old or everything is new.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::{Change, ChangeSet, CommitError, Conservation, NotePath, Vault, Version, Writer};

use crate::broken_disk::{BrokenDisk, Can, EVERY_KIND, FULL, Fault, Op};

const OLD: &str = "=== a.md\nold a\n=== b.md\nold b\n=== deep/c.md\nsee [[a]] and [[deep/x]]\n=== deep/x.md\nx\n";

fn path(text: &str) -> NotePath {
    NotePath::new(text).unwrap()
}

fn replace(vault: &TempVault, file: &str, content: &str) -> Change {
    Change::Replace { path: path(file), expected: Version::of(vault.read(file).as_bytes()), content: content.into() }
}

/// Two replaces and a create in a folder that is new.
fn several(vault: &TempVault) -> ChangeSet {
    ChangeSet::new(Writer::Person, Conservation::Free)
        .with(replace(vault, "a.md", "new a\n"))
        .with(Change::Create { path: path("fresh/d.md"), content: "new d\n".into() })
        .with(replace(vault, "b.md", "new b\n"))
}

/// A rename with the link to it.
fn rename(vault: &TempVault) -> ChangeSet {
    let (from, to) = (path("deep/x.md"), path("other/y.md"));
    let expected = Version::of(vault.read("deep/x.md").as_bytes());
    ChangeSet::new(Writer::Person, Conservation::Retarget { from: from.clone(), to: to.clone() })
        .with(Change::Rename { from, to, expected })
        .with(replace(vault, "deep/c.md", "see [[a]] and [[other/y]]\n"))
}

fn single(vault: &TempVault) -> ChangeSet {
    ChangeSet::new(Writer::Person, Conservation::Free).with(replace(vault, "a.md", "new a\n"))
}

/// A new file, three folders deep.
fn create(_: &TempVault) -> ChangeSet {
    let change = Change::Create { path: path("one/two/three/d.md"), content: "new d\n".into() };
    ChangeSet::new(Writer::Person, Conservation::Free).with(change)
}

/// A rename of which the case alone is new, with new content for the note and the link to it.
fn respell(vault: &TempVault) -> ChangeSet {
    let (from, to) = (path("deep/x.md"), path("deep/X.md"));
    let expected = Version::of(vault.read("deep/x.md").as_bytes());
    ChangeSet::new(Writer::Person, Conservation::Retarget { from: from.clone(), to: to.clone() })
        .with(Change::Rename { from, to, expected })
        .with(replace(vault, "deep/c.md", "see [[a]] and [[deep/X]]\n"))
}

fn append(_: &TempVault) -> ChangeSet {
    let change =
        Change::Append { path: path("audit/2026-11-30/dream.md"), header: "# h\n".into(), content: "- x\n".into() };
    ChangeSet::new(Writer::Audit, Conservation::Additive).with(change)
}

const PLANS: [fn(&TempVault) -> ChangeSet; 6] = [several, rename, respell, single, create, append];

pub(crate) fn leftovers(vault: &TempVault) -> Vec<String> {
    let journal = fs::read_dir(vault.path().join(".dormouse/journal")).into_iter().flatten();
    let journal = journal.map(|entry| entry.unwrap().path().display().to_string());
    vault.files().into_keys().filter(|f| f.contains(".dormouse-tmp")).chain(journal).collect()
}

/// The texts under `.dormouse/displaced/` that wait for a person.
fn displaced(vault: &TempVault) -> Vec<String> {
    kept(vault, |name| !name.starts_with("recent-") && !name.starts_with("old-"))
}

fn kept(vault: &TempVault, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
    let folder = fs::read_dir(vault.path().join(".dormouse/displaced")).into_iter().flatten();
    let files = folder.map(|entry| entry.unwrap().path());
    let named = files.filter(|file| is_meant(file.file_name().unwrap().to_str().unwrap()));
    named.filter(|file| file.extension().is_none_or(|e| e != "json")).map(|f| fs::read_to_string(f).unwrap()).collect()
}

fn folders(vault: &TempVault) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut at = vec![vault.path().to_path_buf()];
    while let Some(folder) = at.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let name = entry.path().strip_prefix(vault.path()).unwrap().display().to_string();
            if entry.file_type().unwrap().is_dir() && name != ".dormouse" {
                found.insert(name);
                at.push(entry.path());
            }
        }
    }
    found
}

/// What a plan makes of the vault.
struct Ends {
    old: BTreeMap<String, Vec<u8>>,
    new: BTreeMap<String, Vec<u8>>,
    old_folders: BTreeSet<String>,
    new_folders: BTreeSet<String>,
    operations: Vec<Op>,
}

fn ends(plan: fn(&TempVault) -> ChangeSet, can: Can) -> Ends {
    let whole = temp_vault(OLD);
    let (old, old_folders) = (whole.files(), folders(&whole));
    let disk = BrokenDisk::new(Fault::Never, can);
    Vault::open(whole.path()).unwrap().commit_on(&disk, &plan(&whole)).unwrap();
    let (new, new_folders) = (whole.files(), folders(&whole));
    assert_ne!(old, new);
    assert_eq!(leftovers(&whole), Vec::<String>::new());
    Ends { old, new, old_folders, new_folders, operations: disk.done() }
}

/// Commits on a disk that breaks so, opens the vault again, and looks: everything is old or
/// everything is new, as the answer said; nothing is left over; the vault can be written.
fn check(plan: fn(&TempVault) -> ChangeSet, ends: &Ends, can: Can, fault: Fault) {
    let folder = temp_vault(OLD);
    let disk = BrokenDisk::new(fault, can);
    let result = Vault::open(folder.path()).unwrap().commit_on(&disk, &plan(&folder));
    let told = format!("{can:?} {fault:?}: {:?}, {:?}", result.as_ref().err(), disk.done());
    if !matches!(fault, Fault::Death(_)) {
        let now = folder.files();
        let settled = if result.is_ok() { now == ends.new } else { now == ends.old };
        assert!(settled || !leftovers(&folder).is_empty(), "{told}");
    }
    // A note is whole even before anybody settles; an empty file may hold its place where a new name
    // can't be taken in one step.
    for (name, bytes) in folder.files().iter().filter(|(name, _)| !name.contains(".dormouse-tmp")) {
        let holds_the_place = can == Can::PlainRenames && bytes.is_empty() && !ends.old.contains_key(name);
        let whole = ends.old.get(name) == Some(bytes) || ends.new.get(name) == Some(bytes) || holds_the_place;
        assert!(whole, "{name} is torn: {bytes:?}, {told}");
    }
    let again = Vault::open(folder.path()).unwrap();
    assert!(again.problems().is_empty(), "{:?}, {told}", again.problems());
    let (files, its_folders) =
        if result.is_ok() { (&ends.new, &ends.new_folders) } else { (&ends.old, &ends.old_folders) };
    assert_eq!(&folder.files(), files, "{told}");
    assert_eq!(leftovers(&folder), Vec::<String>::new(), "{told}");
    // A folder that can't be removed again is all that may stay of a commit that failed.
    let stays = result.is_err() && disk.done().iter().filter(|op| **op == Op::RemoveFolder).count() > 0;
    assert!(&folders(&folder) == its_folders || stays, "{:?}, {told}", folders(&folder));
    assert_eq!(displaced(&folder), Vec::<String>::new(), "{told}");
    again.commit(&single(&folder)).unwrap();
}

/// Breaks the disk at every operation in turn, as often as there are operations.
fn break_everywhere(fault: fn(usize) -> Fault) {
    let mut broken = BTreeSet::new();
    for can in EVERY_KIND {
        let plans = if can == Can::Everything { &PLANS[..] } else { &PLANS[..can as usize + 1] };
        for plan in plans.iter().copied() {
            let ends = ends(plan, can);
            for n in 0..ends.operations.len() {
                check(plan, &ends, can, fault(n));
                broken.insert(ends.operations[n]);
            }
        }
    }
    use Op::{Exchange, Link, MakeFolders, Read, Remove, RenameNew, RenameOver, SyncFolder, Write};
    let all = [Read, Write, Exchange, Link, RenameNew, RenameOver, Remove, MakeFolders, SyncFolder];
    assert_eq!(broken, BTreeSet::from(all), "each kind of operation has failed");
}

#[test]
fn an_operation_that_fails_leaves_everything_old_or_everything_new() {
    break_everywhere(Fault::Once);
}

#[test]
fn a_process_that_dies_leaves_everything_old_or_everything_new() {
    break_everywhere(Fault::Death);
}

#[test]
fn a_disk_that_stays_full_leaves_everything_old_or_everything_new() {
    break_everywhere(Fault::Full);
}

#[test]
fn an_operation_that_happens_and_says_no_leaves_everything_old_or_everything_new() {
    break_everywhere(Fault::Lie);
}

#[test]
fn two_operations_that_fail_leave_everything_old_or_everything_new() {
    for (plan, can) in [
        (several as fn(&TempVault) -> ChangeSet, Can::Everything),
        (rename, Can::Everything),
        (single, Can::NoExchange),
        (single, Can::PlainRenames),
    ] {
        let ends = ends(plan, can);
        for n in 0..ends.operations.len() {
            // The way back has operations of its own.
            for m in (n + 1..n + 30).step_by(5) {
                check(plan, &ends, can, Fault::Twice(n, m));
            }
        }
    }
}

/// The next commit settles what the dead one left, dies in it as well, and so on.
#[test]
fn who_dies_while_settling_leaves_it_to_the_next() {
    for (plan, can) in [
        (several as fn(&TempVault) -> ChangeSet, Can::Everything),
        (several, Can::LinksAlone),
        (several, Can::PlainRenames),
        (rename, Can::Everything),
        (respell, Can::LinksAlone),
    ] {
        let ends = ends(plan, can);
        for n in 0..ends.operations.len() {
            for m in (n % 6..24).step_by(6) {
                let folder = temp_vault(OLD);
                let vault = Vault::open(folder.path()).unwrap();
                let set = plan(&folder);
                let first = vault.commit_on(&BrokenDisk::new(Fault::Death(n), can), &set);
                // A commit of nothing but what is there: it settles and is done.
                let nothing = single(&folder);
                let mut idle = nothing.clone();
                idle.changes = vec![Change::Replace {
                    path: path("deep/c.md"),
                    expected: Version::of(b"no such version"),
                    content: String::new(),
                }];
                let _ = vault.commit_on(&BrokenDisk::new(Fault::Death(m), can), &idle);
                let _ = vault.commit_on(&BrokenDisk::new(Fault::Once(m / 2), can), &idle);
                let again = Vault::open(folder.path()).unwrap();
                let told = format!("{can:?} {n} {m} {:?}", first.as_ref().err());
                assert_eq!(folder.files(), if first.is_ok() { ends.new.clone() } else { ends.old.clone() }, "{told}");
                assert_eq!(leftovers(&folder), Vec::<String>::new(), "{told}");
                assert!(again.problems().is_empty(), "{told}: {:?}", again.problems());
            }
        }
    }
}

/// Each error that a disk gives is told with the note that it is about, and a file system that
/// turned read-only is told as such.
#[test]
fn every_error_of_the_disk_names_the_note_and_changes_nothing() {
    let mut said = String::new();
    for (name, number) in [
        ("ENOSPC", FULL),
        ("EDQUOT", 122),
        ("EROFS", 30),
        ("EACCES", 13),
        ("EPERM", 1),
        ("EIO", 5),
        ("EXDEV", 18),
        ("ELOOP", 40),
        ("EMFILE", 24),
        ("EINTR", 4),
    ] {
        let ends = ends(several, Can::Everything);
        let write = ends.operations.iter().rposition(|op| *op == Op::Write).unwrap();
        for n in 0..ends.operations.len() {
            let folder = temp_vault(OLD);
            let disk = BrokenDisk::new(Fault::Once(n), Can::Everything).saying(number);
            let result = Vault::open(folder.path()).unwrap().commit_on(&disk, &several(&folder));
            assert_eq!(folder.files() == ends.new, result.is_ok(), "{name} {n}");
            if n == write {
                let error = result
                    .unwrap_err()
                    .to_string()
                    .replace(folder.path().canonicalize().unwrap().to_str().unwrap(), "VAULT");
                said.push_str(&format!("{name}: {error}\n"));
            }
            drop(Vault::open(folder.path()).unwrap());
            assert_eq!(leftovers(&folder), Vec::<String>::new(), "{name} {n}");
        }
    }
    expect_test::expect![[r#"
        ENOSPC: VAULT/b.md: No space left on device (os error 28)
        EDQUOT: VAULT/b.md: Disk quota exceeded (os error 122)
        EROFS: VAULT: the vault is read-only
        EACCES: VAULT/b.md: Permission denied (os error 13)
        EPERM: VAULT/b.md: Operation not permitted (os error 1)
        EIO: VAULT/b.md: Input/output error (os error 5)
        EXDEV: VAULT/b.md: Invalid cross-device link (os error 18)
        ELOOP: VAULT/b.md: there is a symbolic link on the way, and nothing is written through one; put the file or folder itself there
        EMFILE: VAULT/b.md: Too many open files (os error 24)
        EINTR: VAULT/b.md: Interrupted system call (os error 4)
    "#]]
    .assert_eq(&said);
}

#[test]
fn an_edit_between_the_look_and_the_exchange_is_never_overwritten() {
    let by_rename = |target: &Path, text: &str| {
        let temp = target.with_extension("editor");
        fs::write(&temp, text).unwrap();
        fs::rename(&temp, target).unwrap();
    };
    let in_place = |target: &Path, text: &str| fs::write(target, text).unwrap();
    for write in [by_rename as fn(&Path, &str), in_place] {
        for victim in ["a.md", "b.md"] {
            let folder = temp_vault(OLD);
            let vault = Vault::open(folder.path()).unwrap();
            let mut once = true;
            let disk = BrokenDisk::whole().with_editor(move |target| {
                if once && target.ends_with(victim) {
                    once = false;
                    write(target, "by hand\n");
                }
            });
            let set = several(&folder);
            let error = vault.commit_on(&disk, &set).unwrap_err();
            let CommitError::Conflict(conflict) = error else { panic!("{error}") };
            assert_eq!(conflict.path, path(victim));
            let current = conflict.current.unwrap();
            assert_eq!((current.text.as_str(), current.version), ("by hand\n", Version::of(b"by hand\n")));
            assert!(conflict.diff.contains("-by hand\n+new"), "{}", conflict.diff);
            let mut expected = temp_vault(OLD).files();
            expected.insert(victim.into(), b"by hand\n".to_vec());
            assert_eq!(folder.files(), expected);
            assert_eq!(leftovers(&folder), Vec::<String>::new());
        }
    }
}

#[test]
fn an_edit_in_every_instant_of_the_exchange_survives_somewhere() {
    let folder = temp_vault("=== a.md\nold\n");
    let vault = Vault::open(folder.path()).unwrap();
    let mut n = 0;
    let disk = BrokenDisk::whole().with_editor(move |target| {
        if n < 2 && target.ends_with("a.md") {
            n += 1;
            fs::write(target, format!("edit {n}\n")).unwrap();
        }
    });
    let set = ChangeSet::new(Writer::Person, Conservation::Free).with(replace(&folder, "a.md", "new\n"));
    assert!(matches!(vault.commit_on(&disk, &set), Err(CommitError::Conflict(_))));
    assert_eq!((folder.read("a.md").as_str(), displaced(&folder)), ("edit 2\n", vec!["edit 1\n".to_owned()]));
    assert_eq!(leftovers(&folder), Vec::<String>::new());
}

#[test]
fn a_file_that_an_editor_makes_first_is_not_replaced_by_a_create() {
    let folder = temp_vault(OLD);
    let vault = Vault::open(folder.path()).unwrap();
    let disk = BrokenDisk::whole().with_editor(|target| {
        if target.ends_with("d.md") {
            fs::write(target, "by hand\n").unwrap();
        }
    });
    let error = vault.commit_on(&disk, &several(&folder)).unwrap_err();
    assert!(
        matches!(&error, CommitError::Conflict(c) if c.expected.is_none() && c.path == path("fresh/d.md")),
        "{error:?}"
    );
    assert_eq!((folder.read("fresh/d.md").as_str(), folder.read("a.md").as_str()), ("by hand\n", "old a\n"));
}

#[test]
fn an_append_that_meets_an_edit_is_made_to_the_edit() {
    let folder = temp_vault("=== audit/2026-11-30/dream.md\n# Dream\n");
    let vault = Vault::open(folder.path()).unwrap();
    let mut once = true;
    let disk = BrokenDisk::whole().with_editor(move |target| {
        if std::mem::take(&mut once) {
            fs::write(target, "# Dream\nby hand\n").unwrap();
        }
    });
    let set = ChangeSet::new(Writer::Audit, Conservation::Additive).with(Change::Append {
        path: path("audit/2026-11-30/dream.md"),
        header: "# no\n".into(),
        content: "ours\n".into(),
    });
    vault.commit_on(&disk, &set).unwrap();
    assert_eq!(folder.read("audit/2026-11-30/dream.md"), "# Dream\nby hand\nours\n");
}

#[test]
fn without_an_exchange_the_displaced_bytes_are_kept() {
    let folder = temp_vault(OLD);
    let vault = Vault::open(folder.path()).unwrap();
    let disk = BrokenDisk::new(Fault::Never, Can::NoExchange);
    let committed = vault.commit_on(&disk, &several(&folder)).unwrap();
    assert_eq!(committed.displaced.len(), 2);
    let mut kept = kept(&folder, |name| name.starts_with("old-"));
    kept.sort();
    assert_eq!(kept, ["old a\n", "old b\n"]);
    assert_eq!(leftovers(&folder), Vec::<String>::new());
}

#[test]
fn an_edit_after_a_crash_stands_when_the_vault_is_opened_again() {
    let folder = temp_vault(OLD);
    let set = several(&folder);
    // Dies after the last exchange, before the commit is marked as done.
    let mut n = 0;
    let folder = loop {
        let folder = temp_vault(OLD);
        let _ = Vault::open(folder.path()).unwrap().commit_on(&BrokenDisk::new(Fault::Death(n), Can::Everything), &set);
        if folder.read("b.md") == "new b\n" {
            break folder;
        }
        n += 1;
    };
    folder.write("a.md", "new a, and by hand\n");
    let vault = Vault::open(folder.path()).unwrap();
    assert_eq!(folder.read("a.md"), "new a, and by hand\n");
    assert_eq!(displaced(&folder), ["old a\n"]);
    assert_eq!(vault.problems().len(), 1);
    assert_eq!(leftovers(&folder), Vec::<String>::new());
}

#[test]
fn a_journal_full_of_rubbish_is_set_aside_and_touches_nothing() {
    for rubbish in [
        "",
        "{",
        "\0\0\0\0",
        r#"{"version":9,"steps":[]}"#,
        r#"{"version":1,"steps":[{"rename":{"from":"../../x","target":"a.md","expected":"00000000000000000000000000000000"}}]}"#,
        r#"{"version":1,"steps":[{"rename":{"from":".git/x","target":"a.md","expected":"00000000000000000000000000000000"}}]}"#,
        r#"{"version":1,"steps":[{"create":{"target":"z.md","temp":"a.md","new":"00000000000000000000000000000000"}}]}"#,
    ] {
        let folder = temp_vault(OLD);
        folder.write(".dormouse/journal/1-000000.apply", rubbish);
        let vault = Vault::open(folder.path()).unwrap();
        assert_eq!(vault.problems().len(), 1, "{rubbish:?}");
        assert_eq!(folder.dump(), OLD);
        vault.commit(&several(&folder)).unwrap();
        assert!(Vault::open(folder.path()).unwrap().problems().is_empty());
    }
}

/// VLT-31: for every fault of a full or failing disk the note stays as it was, byte for byte.
#[test]
fn vlt_31_a_full_disk_never_replaces_a_note_by_a_part_of_one() {
    let old = "0123456789abcdef\n".repeat(1000);
    let new = "new line of text\n".repeat(2000);
    for fault in [Fault::Once, Fault::Death, Fault::Full] {
        for n in 0..20 {
            let folder = temp_vault("");
            folder.write("n.md", &old);
            let vault = Vault::open(folder.path()).unwrap();
            let set = ChangeSet::new(Writer::Person, Conservation::Free).with(replace(&folder, "n.md", &new));
            let result = vault.commit_on(&BrokenDisk::new(fault(n), Can::Everything), &set);
            let files = folder.files();
            assert!(files["n.md"] == old.as_bytes() || files["n.md"] == new.as_bytes(), "torn at {n}");
            if result.is_err() && !matches!(fault(n), Fault::Death(_)) {
                assert_eq!(files.len(), 1, "a temporary file is left after operation {n}: {files:?}");
                assert_eq!(files["n.md"], old.as_bytes());
            }
            let again = Vault::open(folder.path()).unwrap();
            assert_eq!(again.snapshot().notes().count(), 1);
            assert_eq!(folder.files()["n.md"] == old.as_bytes(), result.is_err());
            assert_eq!(leftovers(&folder), Vec::<String>::new());
        }
    }
}

/// A journal that can't be looked for is not the same as none.
#[test]
fn a_journal_folder_that_can_not_be_listed_is_an_error() {
    let folder = temp_vault("=== a.md\nx\n");
    folder.write(".dormouse/journal", "a file where the folder must be");
    assert!(matches!(Vault::open(folder.path()), Err(dormouse_vault::VaultError::Io { .. })));
    let options =
        dormouse_vault::OpenOptions { read_only: true, settings: None, ..dormouse_vault::OpenOptions::default() };
    assert!(Vault::open_with(folder.path(), options).is_ok(), "a reader settles nothing");
}
