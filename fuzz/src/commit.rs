//! Laws of the door, on a disk that breaks.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use dormouse_vault::{Change, ChangeSet, Conservation, Disk, NotePath, OsDisk, Vault, Version, Writer};

const NAMES: [&str; 6] = ["a.md", "b.md", "in/c.md", "in/deep/d.md", "Über/漢字.md", "e.txt"];
/// Files that no plan names.
const BYSTANDERS: [&str; 3] = ["in/other.md", ".dormouse-tmp-mine.md", ".obsidian/app.json"];

/// The bytes are a vault, a plan of changes, and which operations of the disk fail, for the commit
/// and for two others that come after it. What the commit said is true once the vault is opened
/// again: all of the plan or nothing, every other file as it was, nothing of ours left over.
///
/// # Panics
/// When a law is broken.
pub fn commit(data: &[u8]) {
    let mut bytes = Bytes(data);
    let folder = dormouse_fixtures::temp_vault("");
    for name in BYSTANDERS {
        folder.write(name, "stays\n");
    }
    for name in NAMES {
        let size = bytes.next();
        if size % 3 != 0 {
            folder.write(name, text(size));
        }
    }
    let old = folder.files();
    let (set, new) = plan(&mut bytes, &old);
    let vault = Vault::open(folder.path()).expect("a folder is a vault");
    let result = vault.commit_on(&FaultyDisk::new(&mut bytes), &set);
    // Who comes next settles what is half done, and may fail in it as well.
    for _ in 0..2 {
        let change = Change::Replace {
            path: path("in/other.md"),
            expected: Version::of(b"never its text"),
            content: String::new(),
        };
        let nothing = ChangeSet::new(Writer::Person, Conservation::Free).with(change);
        assert!(vault.commit_on(&FaultyDisk::new(&mut bytes), &nothing).is_err());
    }
    let again = Vault::open(folder.path()).expect("what is left can be settled");
    assert!(again.problems().is_empty(), "{:?}", again.problems());
    let expected = if result.is_ok() { &new } else { &old };
    assert_eq!(&folder.files(), expected, "{set:?} said {result:?}");
    let journal = std::fs::read_dir(folder.path().join(".dormouse/journal")).into_iter().flatten().count();
    assert_eq!(journal, 0, "the journal is not empty");
}

fn path(text: &str) -> NotePath {
    NotePath::new(text).expect("our own paths are paths")
}

fn text(size: u8) -> String {
    format!("{size} words of text\n").repeat(usize::from(size % 7))
}

type Files = BTreeMap<String, Vec<u8>>;

/// A plan, and the files when it is carried out.
fn plan(bytes: &mut Bytes<'_>, old: &Files) -> (ChangeSet, Files) {
    let mut new = old.clone();
    let kind = bytes.next();
    if kind.is_multiple_of(4) {
        let (from, to) = (NAMES[usize::from(bytes.next()) % NAMES.len()], "in/renamed.md");
        let content = old.get(from).cloned().unwrap_or_default();
        if let Some(moved) = new.remove(from) {
            new.insert(to.to_owned(), moved);
        }
        let rule = Conservation::Retarget { from: path(from), to: path(to) };
        let change = Change::Rename { from: path(from), to: path(to), expected: Version::of(&content) };
        return (ChangeSet::new(Writer::Person, rule).with(change), new);
    }
    let mut set = ChangeSet::new(Writer::Person, Conservation::Free);
    for name in NAMES {
        let (what, size) = (bytes.next(), bytes.next());
        let content = text(size);
        let expected = old.get(name).map(|before| Version::of(before));
        let change = match (what % 8, expected) {
            (0..=3, _) => continue,
            // A version that the file never had, and a name that is taken.
            (4, Some(_)) if what == 4 => {
                Change::Replace { path: path(name), expected: Version::of(b"another"), content: content.clone() }
            }
            (5, Some(_)) if what == 5 => Change::Create { path: path(name), content: content.clone() },
            (_, Some(expected)) => Change::Replace { path: path(name), expected, content: content.clone() },
            (_, None) => Change::Create { path: path(name), content: content.clone() },
        };
        new.insert(name.to_owned(), content.into_bytes());
        set = set.with(change);
    }
    (set, new)
}

/// The input, byte by byte; zeros when it is at its end.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().map_or((0, self.0), |(first, rest)| (*first, rest));
        self.0 = rest;
        first
    }
}

/// Fails where the n-th bit says so, and from one operation on for good; may lack what some file
/// systems lack.
struct FaultyDisk {
    count: AtomicU64,
    failing: u64,
    dead_from: u64,
    can_exchange: bool,
    can_link: bool,
}

impl FaultyDisk {
    fn new(bytes: &mut Bytes<'_>) -> Self {
        let kind = bytes.next();
        let failing = (0..8).fold(0, |bits, _| bits << 8 | u64::from(bytes.next()));
        // Few faults find more than many.
        let failing = if kind & 4 == 0 { failing & failing.rotate_left(7) & failing.rotate_left(23) } else { 0 };
        let dead_from = if kind & 8 == 0 { u64::MAX } else { u64::from(bytes.next()) % 64 };
        Self { count: AtomicU64::new(0), failing, dead_from, can_exchange: kind & 1 == 0, can_link: kind & 2 == 0 }
    }

    fn run<T>(&self, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let n = self.count.fetch_add(1, Ordering::Relaxed);
        let fails = n >= self.dead_from || (n < 64 && self.failing >> n & 1 == 1);
        if fails { Err(io::ErrorKind::StorageFull.into()) } else { act() }
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.run(|| OsDisk.write_new(path, bytes, false)).inspect_err(|_| {
            // A part arrives before the disk is full, unless the process is dead.
            if self.count.load(Ordering::Relaxed) <= self.dead_from {
                let _ = OsDisk.write_new(path, &bytes[..bytes.len() / 2], false);
            }
        })
    }
}

impl Disk for FaultyDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.run(|| OsDisk.read(path))
    }
    fn write_new(&self, path: &Path, bytes: &[u8], _durable: bool) -> io::Result<()> {
        self.write(path, bytes)
    }
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        if self.can_exchange { self.run(|| OsDisk.exchange(a, b)) } else { Err(io::ErrorKind::Unsupported.into()) }
    }
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        if self.can_link { self.run(|| OsDisk.link(from, to)) } else { Err(io::ErrorKind::Unsupported.into()) }
    }
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.run(|| OsDisk.rename_new(from, to))
    }
    fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.run(|| OsDisk.rename_over(from, to))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.run(|| OsDisk.remove(path))
    }
    fn make_folders(&self, path: &Path) -> io::Result<()> {
        self.run(|| OsDisk.make_folders(path))
    }
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.run(|| OsDisk.remove_folder(path))
    }
    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        self.run(|| Ok(()))
    }
}
