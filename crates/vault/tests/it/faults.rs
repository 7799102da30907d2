//! A disk that fails at the n-th operation, an editor that writes in the middle, a process that
//! dies: afterwards everything is old or everything is new.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::{Change, ChangeSet, CommitError, Conservation, Disk, NotePath, OsDisk, Vault, Version, Writer};

/// What the n-th operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// It fails, and the next ones work.
    Once,
    /// It fails, and so does everything after it: the process is dead.
    Death,
}

/// Another program that writes to the file that is about to be moved into place.
type Editor<'a> = Box<dyn FnMut(&Path) + Send + 'a>;

/// A disk that breaks, may lack the exchange, and lets an editor in before one.
struct BrokenDisk<'a> {
    done: AtomicUsize,
    at: usize,
    fault: Fault,
    exchanges: bool,
    editor: Mutex<Option<Editor<'a>>>,
}

impl<'a> BrokenDisk<'a> {
    fn new(at: usize, fault: Fault, exchanges: bool) -> Self {
        Self { done: AtomicUsize::new(0), at, fault, exchanges, editor: Mutex::new(None) }
    }

    fn whole() -> Self {
        Self::new(usize::MAX, Fault::Once, true)
    }

    fn with_editor(self, editor: impl FnMut(&Path) + Send + 'a) -> Self {
        *self.editor.lock().unwrap() = Some(Box::new(editor));
        self
    }

    fn count(&self) -> io::Result<()> {
        let n = self.done.fetch_add(1, Ordering::SeqCst);
        let broken = match self.fault {
            Fault::Once => n == self.at,
            Fault::Death => n >= self.at,
        };
        if broken { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(()) }
    }

    fn editor_writes(&self, path: &Path) {
        if let Some(editor) = self.editor.lock().unwrap().as_mut() {
            editor(path);
        }
    }
}

impl Disk for BrokenDisk<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.count().and_then(|()| OsDisk.read(path))
    }
    fn write_new(&self, path: &Path, bytes: &[u8], _durable: bool) -> io::Result<()> {
        // A process dies here, not the power: the tests need not wait for the platters.
        self.count().inspect_err(|_| {
            // The first half arrives, as when the disk fills up.
            if self.done.load(Ordering::SeqCst) == self.at + 1 {
                let _ = OsDisk.write_new(path, &bytes[..bytes.len() / 2], false);
            }
        })?;
        OsDisk.write_new(path, bytes, false)
    }
    fn copy_mode(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.count().and_then(|()| OsDisk.copy_mode(from, to))
    }
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        self.count()?;
        if !self.exchanges {
            return Err(io::Error::from(io::ErrorKind::Unsupported));
        }
        self.editor_writes(b);
        OsDisk.exchange(a, b)
    }
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.count()?;
        self.editor_writes(to);
        OsDisk.rename_new(from, to)
    }
    fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.count().and_then(|()| OsDisk.rename_over(from, to))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.count().and_then(|()| OsDisk.remove(path))
    }
    fn make_folders(&self, path: &Path) -> io::Result<()> {
        self.count().and_then(|()| OsDisk.make_folders(path))
    }
    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        self.count()
    }
}

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

fn leftovers(vault: &TempVault) -> Vec<String> {
    let journal = fs::read_dir(vault.path().join(".dormouse/journal")).into_iter().flatten();
    let journal = journal.map(|entry| entry.unwrap().path().display().to_string());
    vault.files().into_keys().filter(|f| f.contains(".dormouse-tmp")).chain(journal).collect()
}

fn displaced(vault: &TempVault) -> Vec<String> {
    let folder = fs::read_dir(vault.path().join(".dormouse/displaced")).into_iter().flatten();
    folder.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
}

/// Breaks the disk at every operation in turn, as often as there are operations.
fn break_everywhere(plan: fn(&TempVault) -> ChangeSet, fault: Fault, exchanges: bool) {
    let whole = temp_vault(OLD);
    let old = whole.files();
    let ok = BrokenDisk::new(usize::MAX, fault, exchanges);
    Vault::open(whole.path()).unwrap().commit_on(&ok, &plan(&whole)).unwrap();
    let new = whole.files();
    assert_ne!(old, new);
    let operations = ok.done.load(Ordering::SeqCst);
    assert!(operations > 5);
    for n in 0..operations {
        let folder = temp_vault(OLD);
        let result =
            Vault::open(folder.path()).unwrap().commit_on(&BrokenDisk::new(n, fault, exchanges), &plan(&folder));
        if fault == Fault::Once {
            assert!(
                folder.files() == if result.is_ok() { new.clone() } else { old.clone() }
                    || !leftovers(&folder).is_empty()
            );
        }
        // A note is whole even before anybody settles.
        whole_notes(&folder, &old, &new);
        let again = Vault::open(folder.path()).unwrap();
        assert!(again.problems().is_empty(), "{n}: {:?}", again.problems());
        let expected = if result.is_ok() { &new } else { &old };
        assert_eq!(&folder.files(), expected, "operation {n}: {result:?}");
        assert_eq!(leftovers(&folder), Vec::<String>::new(), "operation {n}");
        assert!(again.commit(&ChangeSet::new(Writer::Person, Conservation::Free)).is_ok());
    }
}

fn whole_notes(folder: &TempVault, old: &BTreeMap<String, Vec<u8>>, new: &BTreeMap<String, Vec<u8>>) {
    for (name, bytes) in folder.files().iter().filter(|(name, _)| !name.contains(".dormouse-tmp")) {
        assert!(old.get(name) == Some(bytes) || new.get(name) == Some(bytes), "{name} is torn: {bytes:?}");
    }
}

#[test]
fn an_operation_that_fails_leaves_everything_old_or_everything_new() {
    for exchanges in [true, false] {
        break_everywhere(several, Fault::Once, exchanges);
        break_everywhere(rename, Fault::Once, exchanges);
        break_everywhere(single, Fault::Once, exchanges);
    }
}

#[test]
fn a_process_that_dies_leaves_everything_old_or_everything_new() {
    for exchanges in [true, false] {
        break_everywhere(several, Fault::Death, exchanges);
        break_everywhere(rename, Fault::Death, exchanges);
        break_everywhere(single, Fault::Death, exchanges);
    }
}

#[test]
fn who_dies_while_settling_leaves_it_to_the_next() {
    for n in (6..26).step_by(3) {
        for m in 0..14 {
            let folder = temp_vault(OLD);
            let vault = Vault::open(folder.path()).unwrap();
            let old = folder.files();
            let set = several(&folder);
            let dead = vault.commit_on(&BrokenDisk::new(n, Fault::Death, true), &set).is_err();
            let new = folder.files();
            let _ = vault.commit_on(&BrokenDisk::new(m, Fault::Death, true), &set);
            Vault::open(folder.path()).unwrap();
            let now = folder.files();
            assert!(
                now == old || (!dead && now == new) || now["a.md"] == b"new a\n" && now.len() == old.len() + 1,
                "{n} {m}"
            );
            assert_eq!(now["a.md"] == b"new a\n", now["b.md"] == b"new b\n", "{n} {m}");
            assert_eq!(leftovers(&folder), Vec::<String>::new(), "{n} {m}");
        }
    }
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
    let disk = BrokenDisk::new(usize::MAX, Fault::Once, false);
    let committed = vault.commit_on(&disk, &several(&folder)).unwrap();
    assert_eq!(committed.displaced.len(), 2);
    let mut kept = displaced(&folder);
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
        let _ = Vault::open(folder.path()).unwrap().commit_on(&BrokenDisk::new(n, Fault::Death, true), &set);
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
    for fault in [Fault::Once, Fault::Death] {
        for n in 0..20 {
            let folder = temp_vault("");
            folder.write("n.md", &old);
            let vault = Vault::open(folder.path()).unwrap();
            let set = ChangeSet::new(Writer::Person, Conservation::Free).with(replace(&folder, "n.md", &new));
            let result = vault.commit_on(&BrokenDisk::new(n, fault, true), &set);
            let files = folder.files();
            assert!(files["n.md"] == old.as_bytes() || files["n.md"] == new.as_bytes(), "torn at {n}");
            if result.is_err() && fault == Fault::Once {
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
