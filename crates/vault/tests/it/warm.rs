//! Opening from the cached snapshot.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::{NotePath, OpenOptions, Problem, ProblemKind, Vault};

const VAULT: &str = "=== a.md\n---\nname: Ä\ndescription: what it is\naliases: [one, two]\ntags: [x]\n---\nsupports:: [[b]] and [[nowhere]]\n=== b.md\n# B\n=== b 2.md\n[[a]]\n=== board.canvas\n{\"nodes\":[{\"type\":\"file\",\"file\":\"a.md\"}]}\n=== bad.md\n---\na: [\n---\n=== pic.png\n";

/// A vault whose files are old enough for their times to prove something.
fn settled() -> TempVault {
    let folder = temp_vault(VAULT);
    age(folder.path());
    folder
}

fn age(root: &Path) {
    for entry in fs::read_dir(root).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        let file = fs::File::options().write(true).open(entry.path()).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    }
}

fn cached(folder: &TempVault) -> PathBuf {
    folder.path().join(".dormouse/snapshot")
}

/// All that a snapshot says.
fn says(vault: &Vault) -> String {
    let s = vault.snapshot();
    let notes = s.notes().chain(s.canvases()).map(|note| {
        let doc = note.document();
        format!("{note:?} {doc:?} inbound {}\n", s.graph().inbound(&note.path))
    });
    let files: Vec<_> = s.files().collect();
    format!(
        "{}{files:?}\n{:?}\n{:?}\n{:?}\n{:?}\n",
        notes.collect::<String>(),
        s.graph().edges(),
        s.unresolved(),
        s.problems(),
        s.fingerprint()
    )
}

fn afresh(folder: &TempVault) -> String {
    says(&Vault::open_with(folder.path(), OpenOptions { no_cache: true, ..OpenOptions::default() }).unwrap())
}

fn cache_problem(vault: &Vault) -> Option<&Problem> {
    vault.problems().iter().find(|problem| problem.kind == ProblemKind::Cache)
}

#[test]
fn an_unchanged_vault_is_opened_without_reading_a_note() {
    let folder = settled();
    assert_eq!(Vault::open(folder.path()).unwrap().read_at_open(), 6);
    let length = fs::metadata(cached(&folder)).unwrap().len();
    let vault = Vault::open(folder.path()).unwrap();
    assert_eq!(vault.read_at_open(), 0);
    assert_eq!(says(&vault), afresh(&folder));
    drop(vault);
    assert_eq!(fs::metadata(cached(&folder)).unwrap().len(), length, "nothing new is written");
}

#[test]
fn only_what_changed_is_read_and_only_that_is_added_to_the_cache() {
    let folder = settled();
    for i in 0..400 {
        folder.write(&format!("more/{i}.md"), format!("[[{}]] and some words to make it longer\n", i + 1));
    }
    age(folder.path());
    age(&folder.path().join("more"));
    drop(Vault::open(folder.path()).unwrap());
    let whole = fs::metadata(cached(&folder)).unwrap().len();
    folder.write("a.md", "now with [[pic.png]] and [[b]]\n");
    folder.remove("b 2.md");
    folder.write("nowhere.md", "it is somewhere now, see [[bad]]\n");
    age(folder.path());
    let vault = Vault::open(folder.path()).unwrap();
    assert_eq!(vault.read_at_open(), 6, "its folder's files have another time of change");
    assert_eq!(says(&vault), afresh(&folder));
    drop(vault);
    let grown = fs::metadata(cached(&folder)).unwrap().len();
    assert!(grown > whole && grown < whole + whole / 8, "{whole} {grown}");
    let vault = Vault::open(folder.path()).unwrap();
    assert_eq!((vault.read_at_open(), says(&vault)), (0, afresh(&folder)));
}

#[test]
fn what_a_commit_wrote_is_known_to_the_next_open() {
    let folder = settled();
    let vault = Vault::open(folder.path()).unwrap();
    fs::write(folder.path().join("c.md"), "[[a]]\n").unwrap();
    vault.refresh_files([NotePath::new("c.md").unwrap()]);
    age(folder.path());
    vault.refresh().unwrap();
    drop(vault);
    assert_eq!(Vault::open(folder.path()).unwrap().read_at_open(), 0);
}

#[test]
fn a_damaged_cache_costs_time_and_nothing_else() {
    let folder = settled();
    drop(Vault::open(folder.path()).unwrap());
    let whole = fs::read(cached(&folder)).unwrap();
    let expected = afresh(&folder);
    let step = (whole.len() / 97).max(1);
    for at in (0..whole.len()).step_by(step) {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x20;
        for bytes in [&flipped[..], &whole[..at]] {
            fs::write(cached(&folder), bytes).unwrap();
            let options = OpenOptions { read_only: true, ..OpenOptions::default() };
            let vault = Vault::open_with(folder.path(), options).unwrap();
            assert_eq!(says(&vault), expected);
        }
    }
    fs::write(cached(&folder), b"rubbish").unwrap();
    let vault = Vault::open(folder.path()).unwrap();
    assert!(cache_problem(&vault).is_some());
    drop(vault);
    let vault = Vault::open(folder.path()).unwrap();
    assert_eq!((vault.read_at_open(), cache_problem(&vault)), (0, None));
}

#[test]
fn a_cache_of_another_layout_is_not_used_and_no_problem() {
    let folder = settled();
    drop(Vault::open(folder.path()).unwrap());
    folder.write("dormouse.toml", "[layout]\ndaily = \"journal\"\n");
    age(folder.path());
    let vault = Vault::open(folder.path()).unwrap();
    assert!(vault.read_at_open() > 0);
    assert_eq!(cache_problem(&vault), None);
}

#[test]
fn neither_a_read_only_vault_nor_one_without_a_cache_writes_one() {
    let folder = settled();
    drop(Vault::open_with(folder.path(), OpenOptions { read_only: true, ..OpenOptions::default() }).unwrap());
    drop(Vault::open_with(folder.path(), OpenOptions { no_cache: true, ..OpenOptions::default() }).unwrap());
    assert!(!folder.path().join(".dormouse").exists());
}

#[test]
fn processes_that_cache_at_once_leave_a_cache_that_can_be_used() {
    let folder = settled();
    drop(Vault::open(folder.path()).unwrap());
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let folder = &folder;
            scope.spawn(move || {
                for round in 0..12 {
                    folder.write(&format!("w{writer}.md"), format!("round {round} [[a]]\n"));
                    drop(Vault::open(folder.path()).unwrap());
                }
            });
        }
    });
    age(folder.path());
    drop(Vault::open(folder.path()).unwrap());
    let vault = Vault::open(folder.path()).unwrap();
    assert_eq!((vault.read_at_open(), says(&vault)), (0, afresh(&folder)));
    assert_eq!(cache_problem(&vault), None);
}
