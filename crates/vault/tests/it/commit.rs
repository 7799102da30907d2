//! The door: who may write what, from which version, and what a dry run shows.

use std::fs;
use std::sync::Arc;
use std::thread;

use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::{
    Change, ChangeSet, CommitError, Conservation, NotePath, OpenOptions, Stage, Vault, Version, Writer,
};
use expect_test::{Expect, expect};

fn path(text: &str) -> NotePath {
    NotePath::new(text).unwrap()
}

fn open(folder: &TempVault) -> Vault {
    Vault::open(folder.path()).unwrap()
}

fn create(file: &str, content: &str) -> Change {
    Change::Create { path: path(file), content: content.into() }
}

fn append(file: &str, content: &str) -> Change {
    Change::Append { path: path(file), header: "# head\n\n".into(), content: content.into() }
}

fn put(file: &str, content: &str) -> Change {
    Change::Put { path: path(file), content: content.into() }
}

fn replace(folder: &TempVault, file: &str, content: &str) -> Change {
    let expected = Version::of(&fs::read(folder.path().join(file)).unwrap());
    Change::Replace { path: path(file), expected, content: content.into() }
}

fn rename(folder: &TempVault, from: &str, to: &str) -> Change {
    let expected = Version::of(&fs::read(folder.path().join(from)).unwrap());
    Change::Rename { from: path(from), to: path(to), expected }
}

/// What the door says to one change by each writer, under the rule that the writer may state.
fn check(vault: &str, change: impl Fn(&TempVault) -> Change, expect: Expect) {
    let mut said = String::new();
    let writers =
        [Writer::Dream, Writer::Split, Writer::AutoMemory, Writer::Ingest, Writer::Meta, Writer::Audit, Writer::Person];
    for writer in writers {
        let folder = temp_vault(vault);
        let change = change(&folder);
        let rule = match (writer, &change) {
            (Writer::Dream, change) => Conservation::Superset { subject: change.path().clone() },
            (Writer::Split, change) => Conservation::SplitUnion { parent: change.path().clone(), children: vec![] },
            (Writer::Person, Change::Rename { from, to, .. }) => {
                Conservation::Retarget { from: from.clone(), to: to.clone() }
            }
            (Writer::Person, _) => Conservation::Free,
            _ => Conservation::Additive,
        };
        let before = folder.files();
        let result = open(&folder).commit(&ChangeSet::new(writer, rule).with(change));
        let word = match result {
            Ok(_) => "may",
            Err(CommitError::Denied { .. }) => {
                assert_eq!(folder.files(), before);
                continue;
            }
            Err(_) => {
                assert_eq!(folder.files(), before);
                "may, under its rule"
            }
        };
        said.push_str(&format!("{writer} {word}\n"));
    }
    expect.assert_eq(&said);
}

const VAULT: &str = "=== daily/2026-11-30.md\n- x\n=== daily/2026-11-30/e.md\nevent\n=== digest/wiki/d.md\nd\n\
    === resource/2026-11-30/r.md\nr\n=== mine.md\nmine\n=== meta/recency.json\n{}\n=== audit/2026-11-30/dream.md\n# a\n";

#[test]
fn each_writer_creates_in_its_own_layer_alone() {
    check(
        VAULT,
        |_| create("digest/wiki/n.md", "n\n"),
        expect![[r#"
        dream may, under its rule
        split may, under its rule
        person may
    "#]],
    );
    check(
        VAULT,
        |_| create("digest/n.md", "n\n"),
        expect![[r#"
        person may
    "#]],
    );
    check(
        VAULT,
        |_| create("daily/2026-11-30/n.md", "n\n"),
        expect![[r#"
        auto-memory may
    "#]],
    );
    check(VAULT, |_| create("daily/2026-11-30/deeper/n.md", "n\n"), expect![[""]]);
    check(VAULT, |_| create("daily/n.md", "n\n"), expect![[""]]);
    check(
        VAULT,
        |_| create("resource/2026-11-30/n.pdf", "n\n"),
        expect![[r#"
        ingest may
    "#]],
    );
    check(
        VAULT,
        |_| create("n.md", "n\n"),
        expect![[r#"
        person may
    "#]],
    );
    check(VAULT, |_| create("audit/2026-11-30/n.md", "n\n"), expect![[""]]);
    check(VAULT, |_| create("meta/n.json", "{}\n"), expect![[""]]);
}

#[test]
fn nobody_writes_into_a_dot_folder() {
    for hidden in [".obsidian/app.json", ".dormouse/lock2", "a/.git/config", ".x.md", "digest/wiki/.x.md"] {
        check(VAULT, |_| create(hidden, "x"), expect![[""]]);
    }
}

#[test]
fn material_is_rewritten_by_nobody() {
    for file in [
        "daily/2026-11-30/e.md",
        "daily/2026-11-30.md",
        "resource/2026-11-30/r.md",
        "audit/2026-11-30/dream.md",
        "meta/recency.json",
    ] {
        check(VAULT, |folder| replace(folder, file, "other\n"), expect![[""]]);
    }
    check(
        VAULT,
        |folder| replace(folder, "mine.md", "other\n"),
        expect![[r#"
        person may
    "#]],
    );
    check(
        VAULT,
        |folder| replace(folder, "digest/wiki/d.md", "other\n"),
        expect![[r#"
        dream may, under its rule
        split may, under its rule
        person may
    "#]],
    );
}

#[test]
fn appends_and_puts_have_one_place_each() {
    check(
        VAULT,
        |_| append("daily/2026-11-30.md", "x\n"),
        expect![[r#"
        auto-memory may
    "#]],
    );
    check(VAULT, |_| append("daily/2026-11-30/e.md", "x\n"), expect![[""]]);
    check(
        VAULT,
        |_| append("audit/2026-11-30/split.md", "x\n"),
        expect![[r#"
        audit may
    "#]],
    );
    check(VAULT, |_| append("mine.md", "x\n"), expect![[""]]);
    check(
        VAULT,
        |_| put("meta/recency.json", "{}\n"),
        expect![[r#"
        meta may
    "#]],
    );
    check(VAULT, |_| put("mine.md", "{}\n"), expect![[""]]);
}

#[test]
fn a_person_alone_renames_and_material_stays_in_its_layer() {
    for (from, to) in [
        ("mine.md", "deep/ours.md"),
        ("digest/wiki/d.md", "digest/personal/d.md"),
        ("daily/2026-11-30/e.md", "daily/2026-11-30/f.md"),
    ] {
        check(
            VAULT,
            |folder| rename(folder, from, to),
            expect![[r#"
            person may
        "#]],
        );
    }
    for (from, to) in [
        ("daily/2026-11-30/e.md", "e.md"),
        ("mine.md", "daily/2026-11-30/m.md"),
        ("meta/recency.json", "r.json"),
        ("mine.md", ".trash/m.md"),
    ] {
        check(VAULT, |folder| rename(folder, from, to), expect![[""]]);
    }
}

#[test]
fn a_rule_that_the_writer_may_not_state_is_refused() {
    let folder = temp_vault(VAULT);
    let vault = open(&folder);
    let free =
        |writer| ChangeSet::new(writer, Conservation::Free).with(replace(&folder, "digest/wiki/d.md", "d [[mine]]\n"));
    for set in [
        free(Writer::Dream),
        free(Writer::Split),
        ChangeSet { rule: Conservation::Additive, ..free(Writer::Dream) },
        ChangeSet { rule: Conservation::Additive, ..free(Writer::Person) },
        ChangeSet { rule: Conservation::Superset { subject: path("digest/wiki/other.md") }, ..free(Writer::Dream) },
    ] {
        let error = vault.commit(&set).unwrap_err();
        assert!(matches!(error, CommitError::Conservation(_)), "{error:?}");
    }
    assert_eq!(folder.dump(), temp_vault(VAULT).dump());
}

#[test]
fn the_checks_come_in_the_documented_order() {
    let folder = temp_vault("=== a.md\na\n");
    let wrong =
        Change::Replace { path: path("daily/2026-11-30.md"), expected: Version::of(b""), content: String::new() };
    let twice = ChangeSet::new(Writer::Dream, Conservation::Free).with(wrong.clone()).with(wrong.clone());
    let read_only = Vault::open_with(folder.path(), OpenOptions { read_only: true, ..OpenOptions::default() }).unwrap();
    assert!(matches!(read_only.commit(&twice), Err(CommitError::ReadOnly { .. })));
    assert!(matches!(read_only.lock_stage(Stage::Dream), Err(CommitError::ReadOnly { .. })));
    assert!(!folder.path().join(".dormouse").exists());
    let vault = open(&folder);
    assert!(matches!(vault.commit(&twice), Err(CommitError::NamedTwice { .. })));
    let once = ChangeSet::new(Writer::Dream, Conservation::Free).with(wrong);
    assert!(matches!(vault.commit(&once), Err(CommitError::Denied { .. })));
}

/// VLT-29: a write from a stale read is a conflict that carries what is there now.
#[test]
fn vlt_29_a_write_from_a_stale_read_never_overwrites_an_edit() {
    let folder = temp_vault("=== n.md\nv1\n");
    let vault = open(&folder);
    let read = vault.read(&path("n.md")).unwrap();
    folder.write("n.md", "v2 by editor\n");
    let plan =
        |version, text: &str| vault.begin(Writer::Person).rule(Conservation::Free).replace(path("n.md"), version, text);
    let error = plan(read.version, "v3\n").commit().unwrap_err();
    let CommitError::Conflict(conflict) = error else { panic!("{error}") };
    let current = conflict.current.unwrap();
    expect![[r#"
        --- a/n.md
        +++ b/n.md
        @@ -1 +1 @@
        -v2 by editor
        +v3
    "#]]
    .assert_eq(&conflict.diff);
    assert_eq!((conflict.expected, current.version), (Some(read.version), Version::of(b"v2 by editor\n")));
    assert_eq!(folder.dump(), "=== n.md\nv2 by editor\n");
    plan(current.version, "v2 by editor\nplus v3\n").commit().unwrap();
    assert_eq!(folder.dump(), "=== n.md\nv2 by editor\nplus v3\n");
}

#[test]
fn a_replace_of_a_note_that_is_gone_is_a_conflict_without_a_current_text() {
    let folder = temp_vault("=== n.md\nv1\n");
    let vault = open(&folder);
    let set = ChangeSet::new(Writer::Person, Conservation::Free).with(replace(&folder, "n.md", "v2\n"));
    folder.remove("n.md");
    assert!(matches!(vault.commit(&set), Err(CommitError::Conflict(c)) if c.current.is_none()));
    assert!(!folder.exists("n.md"));
}

/// VLT-12: a name that is there decomposed gets no composed twin. VLT-14: nor one in another case.
#[test]
fn a_create_meets_names_that_differ_by_case_or_unicode_form() {
    for (there, wanted) in
        [("Größe.md", "größe.md"), ("Gro\u{308}ße.md", "Größe.md"), ("A.md", "a.md"), ("漢字.md", "漢字.md")]
    {
        let folder = temp_vault(&format!("=== x/{there}\nold\n"));
        let set = ChangeSet::new(Writer::Person, Conservation::Free).with(create(&format!("x/{wanted}"), "new\n"));
        let error = open(&folder).commit(&set).unwrap_err();
        assert!(matches!(&error, CommitError::Conflict(c) if c.current.as_ref().unwrap().text == "old\n"), "{error:?}");
        assert_eq!(folder.files().len(), 1);
    }
}

#[test]
fn two_creates_whose_names_differ_only_by_case_are_one_name() {
    let folder = temp_vault("");
    let set =
        ChangeSet::new(Writer::Person, Conservation::Free).with(create("a.md", "1\n")).with(create("A.md", "2\n"));
    assert!(matches!(open(&folder).commit(&set), Err(CommitError::NamedTwice { .. })));
}

#[test]
fn a_note_spelled_decomposed_on_disk_is_replaced_where_it_lies() {
    let folder = temp_vault("=== Gro\u{308}ße/Ü.md\nold\n");
    let text = open(&folder).read(&path("Größe/Ü.md")).unwrap();
    let set = ChangeSet::new(Writer::Person, Conservation::Free).with(Change::Replace {
        path: path("Größe/Ü.md"),
        expected: text.version,
        content: "new\n".into(),
    });
    open(&folder).commit(&set).unwrap();
    assert_eq!(folder.dump(), "=== Gro\u{308}ße/Ü.md\nnew\n");
}

/// VLT-26: no U+FFFD ever reaches a file of the user's.
#[test]
fn a_file_that_is_not_utf_8_is_never_rewritten() {
    let folder = temp_vault("");
    folder.write("n.md", b"caf\xe9\n");
    let set = ChangeSet::new(Writer::Person, Conservation::Free).with(replace(&folder, "n.md", "café\n"));
    assert!(matches!(open(&folder).commit(&set), Err(CommitError::NotUtf8 { .. })));
    assert_eq!(folder.files()["n.md"], b"caf\xe9\n");
}

#[test]
fn malformed_frontmatter_is_named_by_line_and_left_alone() {
    let note = "---\ntitle: ok\na: b: c\n---\nbody\n";
    let folder = temp_vault(&format!("=== n.md\n{note}"));
    let change = |to: &str| ChangeSet::new(Writer::Person, Conservation::Free).with(replace(&folder, "n.md", to));
    let error = open(&folder).commit(&change("---\ntitle: ok\na: c\n---\nbody\n")).unwrap_err();
    assert!(matches!(error, CommitError::MalformedFrontmatter { line: 3, .. }), "{error:?}");
    open(&folder).commit(&change(&note.replace("body", "other body"))).unwrap();
    assert!(folder.read("n.md").contains("other body"));
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_vault_or_into_another_layer_is_denied() {
    use std::os::unix::fs::symlink;
    let outside = temp_vault("=== secret.md\nsecret\n");
    let folder = temp_vault(
        "=== daily/2026-11-30/e.md\nevent\n=== digest/wiki/d.md\nd\n=== real/n.md\nn\n=== .obsidian/app.json\n{}\n",
    );
    symlink(outside.path(), folder.path().join("digest/wiki/away")).unwrap();
    symlink(outside.path().join("secret.md"), folder.path().join("out.md")).unwrap();
    symlink(folder.path().join("nowhere"), folder.path().join("dangling.md")).unwrap();
    symlink(folder.path().join("daily/2026-11-30"), folder.path().join("alias")).unwrap();
    symlink(folder.path().join(".obsidian"), folder.path().join("settings")).unwrap();
    symlink(folder.path().join("real"), folder.path().join("fine")).unwrap();
    let vault = open(&folder);
    let person = |change| vault.commit(&ChangeSet::new(Writer::Person, Conservation::Free).with(change));
    for denied in [
        create("digest/wiki/away/new.md", "x"),
        replace(&folder, "out.md", "x"),
        create("dangling.md", "x"),
        replace(&folder, "alias/e.md", "x"),
        replace(&folder, "settings/app.json", "x"),
    ] {
        assert!(matches!(person(denied), Err(CommitError::Denied { .. })));
    }
    assert_eq!(outside.dump(), "=== secret.md\nsecret\n");
    person(replace(&folder, "fine/n.md", "new\n")).unwrap();
    assert_eq!(folder.read("real/n.md"), "new\n");
}

#[cfg(unix)]
#[test]
fn permissions_survive_a_replace() {
    use std::os::unix::fs::PermissionsExt;
    let folder = temp_vault("=== n.md\nold\n");
    let file = folder.path().join("n.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    open(&folder)
        .commit(&ChangeSet::new(Writer::Person, Conservation::Free).with(replace(&folder, "n.md", "new\n")))
        .unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_dry_run_shows_the_diff_and_writes_nothing() {
    let folder = temp_vault("=== c.md\nsee [[x|an alias]]\nmore\n=== x.md\nx\n");
    let vault = open(&folder);
    let set = ChangeSet::new(Writer::Person, Conservation::Retarget { from: path("x.md"), to: path("deep/y.md") })
        .with(rename(&folder, "x.md", "deep/y.md"))
        .with(replace(&folder, "c.md", "see [[deep/y|an alias]]\nmore\n"));
    let before = folder.files();
    let diffs = vault.preview(&set).unwrap();
    assert_eq!(folder.files(), before);
    assert!(!folder.path().join(".dormouse/journal").exists());
    let shown: String = diffs
        .iter()
        .map(|d| format!("{} from {:?} {}\n{}", d.path, d.renamed_from, d.before == Some(d.after), d.diff))
        .collect();
    expect![[r#"
        deep/y.md from Some("x.md") true
        c.md from None false
        --- a/c.md
        +++ b/c.md
        @@ -1,2 +1,2 @@
        -see [[x|an alias]]
        +see [[deep/y|an alias]]
         more
    "#]]
    .assert_eq(&shown);
    let committed = vault.commit(&set).unwrap();
    assert_eq!(
        committed.written.iter().map(|(p, v)| (p.clone(), *v)).collect::<Vec<_>>(),
        diffs.iter().map(|d| (d.path.clone(), d.after)).collect::<Vec<_>>()
    );
    assert_eq!(folder.dump(), "=== c.md\nsee [[deep/y|an alias]]\nmore\n=== deep/y.md\nx\n");
    assert!(committed.snapshot.note(&path("deep/y.md")).is_some() && committed.snapshot.note(&path("x.md")).is_none());
}

#[test]
fn a_renamed_note_may_get_new_content_in_the_same_commit() {
    let folder = temp_vault("=== a/x.md\nsee [n](n.md)\n=== a/n.md\nn\n=== z/n.md\nz\n");
    let set = ChangeSet::new(Writer::Person, Conservation::Retarget { from: path("a/x.md"), to: path("z/x.md") })
        .with(rename(&folder, "a/x.md", "z/x.md"))
        .with(Change::Replace {
            path: path("z/x.md"),
            expected: Version::of(b"see [n](n.md)\n"),
            content: "see [n](../a/n.md)\n".into(),
        });
    open(&folder).commit(&set).unwrap();
    assert_eq!(folder.dump(), "=== a/n.md\nn\n=== z/n.md\nz\n=== z/x.md\nsee [n](../a/n.md)\n");
}

#[test]
fn a_change_that_changes_nothing_does_not_touch_the_file() {
    let folder = temp_vault("=== n.md\nsame\n");
    let vault = open(&folder);
    let modified = || fs::metadata(folder.path().join("n.md")).unwrap().modified().unwrap();
    let before = modified();
    let committed = vault
        .commit(&ChangeSet::new(Writer::Person, Conservation::Free).with(replace(&folder, "n.md", "same\n")))
        .unwrap();
    assert!(committed.written.is_empty() && modified() == before);
}

#[test]
fn an_append_keeps_the_line_ends_of_the_file() {
    let check = |old: &str, new: &str| {
        let folder = temp_vault("");
        if !old.is_empty() {
            folder.write("audit/a.md", old);
        }
        open(&folder)
            .commit(&ChangeSet::new(Writer::Audit, Conservation::Additive).with(append("audit/a.md", "x\ny\n")))
            .unwrap();
        assert_eq!(folder.read("audit/a.md"), new);
    };
    check("", "# head\n\nx\ny\n");
    check("old\n", "old\nx\ny\n");
    check("old", "old\nx\ny\n");
    check("old\r\n", "old\r\nx\r\ny\r\n");
}

#[test]
fn threads_that_write_the_same_notes_lose_nothing() {
    let folder = temp_vault("=== n.md\n0\n");
    let vault = Arc::new(open(&folder));
    let other = Arc::new(open(&folder));
    let mut conflicts = 0;
    thread::scope(|scope| {
        let work = |vault: Arc<Vault>, name: usize| {
            move || {
                let mut conflicts = 0;
                for n in 0..10 {
                    let line = format!("- {name} {n}\n");
                    vault
                        .commit(
                            &ChangeSet::new(Writer::AutoMemory, Conservation::Additive)
                                .with(append("daily/2026-11-30.md", &line)),
                        )
                        .unwrap();
                    loop {
                        let read = vault.read(&path("n.md")).unwrap();
                        let next = read.text.trim().parse::<u32>().unwrap() + 1;
                        match vault
                            .begin(Writer::Person)
                            .rule(Conservation::Free)
                            .replace(path("n.md"), read.version, format!("{next}\n"))
                            .commit()
                        {
                            Ok(_) => break,
                            Err(CommitError::Conflict(_)) => conflicts += 1,
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
                conflicts
            }
        };
        let threads: Vec<_> =
            (0..4).map(|n| scope.spawn(work(Arc::clone(if n % 2 == 0 { &vault } else { &other }), n))).collect();
        conflicts = threads.into_iter().map(|t| t.join().unwrap()).sum();
    });
    assert_eq!(folder.read("n.md"), "40\n", "with {conflicts} conflicts");
    assert_eq!(folder.read("daily/2026-11-30.md").lines().count(), 42);
}

#[test]
fn processes_that_write_at_once_lose_nothing() {
    let folder = temp_vault("");
    let children: Vec<_> = (0..3).map(|n| crate::process::start("commit::worker", folder.path(), n)).collect();
    for child in children {
        crate::process::finish(child);
    }
    assert_eq!(folder.read("daily/2026-11-30.md").lines().count(), 2 + 3 * 20);
    assert_eq!(folder.files().len(), 1);
}

/// The body of one process of the test above.
#[test]
#[ignore = "started by another test"]
fn worker() {
    let Some((folder, n)) = crate::process::task() else {
        return;
    };
    let vault = Vault::open(folder).unwrap();
    for i in 0..20 {
        let set = ChangeSet::new(Writer::AutoMemory, Conservation::Additive)
            .with(append("daily/2026-11-30.md", &format!("- {n} {i}\n")));
        vault.commit(&set).unwrap();
    }
}

#[test]
fn a_stage_lock_is_held_once_and_freed_when_dropped() {
    let folder = temp_vault("");
    let (one, two) = (open(&folder), open(&folder));
    let held = one.lock_stage(Stage::Dream).unwrap();
    assert!(matches!(two.lock_stage(Stage::Dream), Err(CommitError::Locked { what: "dream" })));
    let other = two.lock_stage(Stage::Consolidate).unwrap();
    two.commit(&ChangeSet::new(Writer::Person, Conservation::Free).with(create("a.md", "a\n"))).unwrap();
    drop(held);
    two.lock_stage(Stage::Dream).unwrap();
    drop(other);
}

/// What the door says to a digest's writers when the note reads so.
fn lock_check(frontmatter: &str, expect: Expect) {
    let text = format!("---\nname: D\n{frontmatter}---\nd\n\nderived_from:: [[daily/2026-11-30/e]]\n");
    let mut said = String::new();
    for writer in [Writer::Dream, Writer::Split, Writer::Person] {
        let folder = temp_vault(&format!("=== daily/2026-11-30/e.md\nevent\n=== digest/wiki/d.md\n{text}"));
        let subject = path("digest/wiki/d.md");
        let rule = match writer {
            Writer::Dream => Conservation::Superset { subject },
            Writer::Split => Conservation::SplitUnion { parent: subject, children: vec![] },
            _ => Conservation::Free,
        };
        let set = ChangeSet::new(writer, rule).with(replace(&folder, "digest/wiki/d.md", &format!("{text}\nmore\n")));
        let before = folder.files();
        let vault = open(&folder);
        let shown = vault.preview(&set).map(|_| ()).map_err(|e| e.to_string());
        let done = vault.commit(&set).map(|_| ()).map_err(|e| e.to_string());
        assert_eq!(shown, done);
        assert_eq!(done.is_err(), folder.files() == before);
        said.push_str(&format!("{writer}: {}\n", done.err().as_deref().unwrap_or("may")));
    }
    expect.assert_eq(&said);
}

#[test]
fn a_locked_note_is_written_by_a_person_alone() {
    lock_check(
        "locked: true\n",
        expect![[r#"
        dream: digest/wiki/d.md: the note is locked, and dream may not write it; a person may, or takes `locked: true` away
        split: digest/wiki/d.md: the note is locked, and split may not write it; a person may, or takes `locked: true` away
        person: may
    "#]],
    );
    lock_check(
        "locked: \"True\"\n",
        expect![[r#"
        dream: digest/wiki/d.md: the note is locked, and dream may not write it; a person may, or takes `locked: true` away
        split: digest/wiki/d.md: the note is locked, and split may not write it; a person may, or takes `locked: true` away
        person: may
    "#]],
    );
    lock_check(
        "locked: false\n",
        expect![[r#"
        dream: may
        split: may
        person: may
    "#]],
    );
    lock_check(
        "",
        expect![[r#"
        dream: may
        split: may
        person: may
    "#]],
    );
}

#[test]
fn a_lock_that_came_after_the_plan_holds_too() {
    let folder =
        temp_vault("=== daily/2026-11-30/e.md\nx\n=== digest/wiki/d.md\nderived_from:: [[daily/2026-11-30/e]]\n");
    let vault = open(&folder);
    folder.write("digest/wiki/d.md", "---\nlocked: true\n---\nderived_from:: [[daily/2026-11-30/e]]\n");
    let change = replace(&folder, "digest/wiki/d.md", "derived_from:: [[daily/2026-11-30/e]]\nmore\n");
    let set = ChangeSet::new(Writer::Dream, Conservation::Superset { subject: path("digest/wiki/d.md") }).with(change);
    assert!(matches!(vault.commit(&set), Err(CommitError::NoteLocked { writer: Writer::Dream, .. })));
}
