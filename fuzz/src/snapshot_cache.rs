//! Laws of the cached snapshot.

use std::cell::RefCell;
use std::fs;
use std::time::{Duration, SystemTime};

use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::{OpenOptions, Vault};

const VAULT: &str = "=== a.md\n---\nname: N\naliases: [one]\n---\nsupports:: [[b]] and [[nowhere]] ^x\n=== b.md\n# B\n- [ ] t #tag\n=== b 2.md\n[[a]]\n=== c.canvas\n{\"nodes\":[{\"type\":\"file\",\"file\":\"a.md\"}]}\n=== bad.md\n---\na: [\n---\n=== pic.png\n";
/// What comes before the first chunk, and before the content of each: its length and checksum.
const BEGIN: usize = 32;
const HEAD: usize = 24;

struct Bed {
    folder: TempVault,
    /// What an open wrote.
    written: Vec<u8>,
    /// What an open without a cache says.
    fresh: String,
}

thread_local! {
    static BED: RefCell<Option<Bed>> = const { RefCell::new(None) };
}

/// The bytes are changes, three each: a place (two bytes) and what stands there. In a cache whose
/// checksums no longer fit, they change nothing that a snapshot says. In one whose checksums were
/// made to fit, a snapshot may say what is not so, but says it: no panic, no hang, no huge memory.
///
/// # Panics
/// When a law is broken.
pub fn snapshot_cache(data: &[u8]) {
    BED.with_borrow_mut(|bed| {
        let bed = bed.get_or_insert_with(Bed::new);
        let mut bytes = bed.written.clone();
        for change in data.chunks_exact(3) {
            let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len();
            bytes[at] = change[2];
        }
        bytes.extend(data.chunks_exact(3).remainder());
        let torn = bytes != bed.written;
        assert_eq!(bed.open(&bytes), bed.fresh, "torn: {torn}");
        mend(&mut bytes);
        let _ = bed.open(&bytes);
    });
}

impl Bed {
    fn new() -> Self {
        let folder = temp_vault(VAULT);
        for name in folder.files().into_keys() {
            let file = fs::File::options().write(true).open(folder.path().join(name)).expect("a file");
            file.set_modified(SystemTime::now() - Duration::from_secs(600)).expect("its time");
        }
        drop(Vault::open(folder.path()).expect("a vault"));
        let written = fs::read(folder.path().join(".dormouse/snapshot")).expect("a cache");
        let options = OpenOptions { no_cache: true, read_only: true, ..OpenOptions::default() };
        let fresh = says(&Vault::open_with(folder.path(), options).expect("a vault"));
        Self { folder, written, fresh }
    }

    fn open(&self, cache: &[u8]) -> String {
        fs::write(self.folder.path().join(".dormouse/snapshot"), cache).expect("a cache is written");
        let options = OpenOptions { read_only: true, ..OpenOptions::default() };
        says(&Vault::open_with(self.folder.path(), options).expect("a vault"))
    }
}

/// All that a snapshot says.
fn says(vault: &Vault) -> String {
    let snapshot = vault.snapshot();
    let notes = snapshot.notes().chain(snapshot.canvases());
    let notes: String = notes.map(|note| format!("{note:?} {:?}\n", note.document())).collect();
    let files: Vec<_> = snapshot.files().collect();
    let (edges, dead, problems) = (snapshot.graph().edges(), snapshot.unresolved(), snapshot.problems());
    format!("{notes}{files:?}{edges:?}{dead:?}{problems:?}{:?}", snapshot.tags())
}

/// Makes the checksum of each chunk fit its content.
fn mend(bytes: &mut [u8]) {
    let mut at = BEGIN;
    while let Some(length) = bytes.get(at..at + 8).and_then(|length| length.try_into().ok()) {
        let length = u64::from_le_bytes(length);
        let Some(end) = usize::try_from(length).ok().and_then(|length| length.checked_add(at + HEAD)) else {
            return;
        };
        let Some(content) = bytes.get(at + HEAD..end) else {
            return;
        };
        let sum = *blake3::hash(content).as_bytes();
        bytes[at + 8..at + HEAD].copy_from_slice(&sum[..16]);
        at = end;
    }
}
