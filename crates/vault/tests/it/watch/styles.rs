//! The ways in which editors, sync tools and version control write: one change of the note each.

use std::fs;
use std::path::Path;

use dormouse_vault::Delta;

use super::{QUICK, all_before_now, changed, converges, path, wait, watched};
use std::time::Duration;

/// Does something to a vault of `n.md` and `m.md`, and compares all deltas with `expected`, put
/// together.
#[track_caller]
fn check(what: &str, act: impl Fn(&Path), expected: &Delta) {
    // Long enough that a slow machine makes one change of the steps.
    let calm = dormouse_vault::WatchOptions { quiet: Duration::from_millis(300), ..QUICK };
    let (folder, vault, watcher) = watched("=== n.md\nold\n=== m.md\n[[n]]\n", calm);
    act(folder.path());
    let deltas = all_before_now(&folder, &vault, &watcher);
    assert_eq!(deltas, if expected.is_empty() { vec![] } else { vec![expected.clone()] }, "{what}");
    converges(folder.path(), &vault, what);
}

fn write(root: &Path, name: &str, text: &str) {
    fs::write(root.join(name), text).unwrap();
}

fn rename(root: &Path, from: &str, to: &str) {
    fs::rename(root.join(from), root.join(to)).unwrap();
}

fn remove(root: &Path, name: &str) {
    fs::remove_file(root.join(name)).unwrap();
}

/// A way to save, and its name.
type Way = (&'static str, fn(&Path));

/// Rule 31, vectors 39 and 40.
#[test]
fn every_way_to_save_is_one_change_of_the_note() {
    let saves: [Way; 9] = [
        ("truncate and write", |root| write(root, "n.md", "new")),
        ("vim with a backup", |root| {
            write(root, "4913", "");
            remove(root, "4913");
            rename(root, "n.md", "n.md~");
            write(root, "n.md", "new");
            remove(root, "n.md~");
        }),
        ("hidden temporary file and rename", |root| {
            write(root, ".n.md.tmp", "new");
            rename(root, ".n.md.tmp", "n.md");
        }),
        ("visible temporary file and rename", |root| {
            write(root, "n.md.tmp", "new");
            rename(root, "n.md.tmp", "n.md");
        }),
        ("temporary file that looks like a note", |root| {
            write(root, "n-temp.md", "new");
            rename(root, "n-temp.md", "n.md");
        }),
        ("delete and create", |root| {
            remove(root, "n.md");
            write(root, "n.md", "new");
        }),
        ("create elsewhere, delete, move", |root| {
            write(root, "~syncthing~n.md.tmp", "new");
            remove(root, "n.md");
            rename(root, "~syncthing~n.md.tmp", "n.md");
        }),
        ("away and back with other content", |root| {
            rename(root, "n.md", "n.sb-1a2b3c4d-xyz");
            write(root, "n.md", "new");
            remove(root, "n.sb-1a2b3c4d-xyz");
        }),
        ("an atomic exchange", |root| {
            write(root, ".swap", "new");
            #[cfg(target_os = "linux")]
            rustix::fs::renameat_with(
                rustix::fs::CWD,
                root.join(".swap"),
                rustix::fs::CWD,
                root.join("n.md"),
                rustix::fs::RenameFlags::EXCHANGE,
            )
            .unwrap();
            #[cfg(not(target_os = "linux"))]
            rename(root, ".swap", "n.md");
        }),
    ];
    std::thread::scope(|scope| {
        for (what, save) in saves {
            scope.spawn(move || check(what, save, &changed(&["n.md"])));
        }
    });
}

#[test]
fn saving_the_same_text_and_files_in_the_making_are_no_change() {
    check("the same text", |root| write(root, "n.md", "old\n"), &Delta::default());
    check(
        "temporary files",
        |root| {
            for name in [".syncthing.n.md.tmp", "~$Plan.docx", ".n.md.swp", "n.tmp", "4913", ".#lock", "#n.md#"] {
                write(root, name, "x");
                remove(root, name);
            }
            write(root, "~$Open.docx", "an owner file that stays as long as the document is open");
        },
        &Delta::default(),
    );
}

/// Vector 40.
#[test]
fn a_move_has_a_note_that_is_gone_and_one_that_is_new() {
    let moved = Delta { added: vec![path("o.md")], removed: vec![path("n.md")], ..Delta::default() };
    check("rename", |root| rename(root, "n.md", "o.md"), &moved);
    check(
        "create and delete",
        |root| {
            write(root, "o.md", "old\n");
            remove(root, "n.md");
        },
        &moved,
    );
    check(
        "delete and create",
        |root| {
            remove(root, "n.md");
            write(root, "o.md", "old\n");
        },
        &moved,
    );
    let case = Delta { added: vec![path("N.md")], removed: vec![path("n.md")], ..Delta::default() };
    check("case alone", |root| rename(root, "n.md", "N.md"), &case);
    check(
        "two at once, interleaved",
        |root| {
            rename(root, "n.md", "x.md");
            rename(root, "m.md", "n.md");
            rename(root, "x.md", "m.md");
        },
        &changed(&["m.md", "n.md"]),
    );
}

/// Vector 39.
#[test]
fn a_checkout_of_500_files_and_a_replaced_tree_end_as_a_fresh_scan_sees_them() {
    let mut vault = String::new();
    for n in 0..500 {
        vault += &format!("=== d{}/n{n}.md\n[[n{}]] old\n", n % 20, (n * 7) % 500);
    }
    let (folder, vault, watcher) = watched(&vault, QUICK);
    for n in 0..500 {
        // Version control removes a file and makes it anew.
        let file = format!("d{}/n{n}.md", n % 20);
        folder.remove(&file);
        if n % 10 == 0 {
            folder.write(&format!("d{}/new/n{n}.md", n % 20), format!("[[n{}]] moved\n", n + 1));
        } else {
            folder.write(&file, format!("[[n{}]] new\n", (n * 11) % 500));
        }
    }
    fs::remove_dir_all(folder.path().join("d7")).unwrap();
    wait("the last of them", || !vault.snapshot().exists(&path("d7/n7.md")));
    converges(folder.path(), &vault, "after the checkout");
    drop(watcher);
}

/// Vector 41: what is no text, no Unicode, or too large is listed and is no obstacle.
#[test]
fn odd_files_come_and_go_like_others() {
    let (folder, vault, watcher) = watched("=== a.md\nx\n", QUICK);
    folder.write("nul.md", b"a\0b");
    folder.write("latin.md", b"caf\xe9");
    folder.write("large.md", vec![b'x'; 17 << 20]);
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::OsStr::from_bytes(b"bad\xff.md");
        fs::write(folder.path().join(name), "x").unwrap();
    }
    wait("all are listed", || vault.snapshot().exists(&path("large.md")));
    converges(folder.path(), &vault, "with odd files");
    for name in ["nul.md", "latin.md", "large.md"] {
        folder.remove(name);
    }
    wait("they are gone", || !vault.snapshot().exists(&path("large.md")));
    converges(folder.path(), &vault, "without them");
    drop(watcher);
}
