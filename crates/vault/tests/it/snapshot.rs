//! Opening, refreshing and reading a vault; every incremental step equals a fresh open.

use std::fmt::Write as _;

use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::{
    Conservation, Delta, NotePath, OpenOptions, ProblemKind, Resolution, Settings, Snapshot, Vault, VaultError, Writer,
};
use expect_test::{Expect, expect};

/// Everything that a snapshot says, as text.
fn show(snapshot: &Snapshot) -> String {
    let mut out = String::new();
    for note in snapshot.notes() {
        let copy = note.conflict_of.as_ref().map(|original| format!(" (copy of {original})")).unwrap_or_default();
        writeln!(out, "note {}{copy}", note.path).unwrap();
    }
    for file in snapshot.files() {
        writeln!(out, "file {file}").unwrap();
    }
    for edge in snapshot.graph().edges() {
        let predicate = edge.predicate.map(|p| format!(" {p}")).unwrap_or_default();
        writeln!(out, "edge {} -> {}{predicate}", edge.source, edge.target).unwrap();
    }
    for (target, sources) in snapshot.unresolved() {
        writeln!(out, "unresolved {target} <- {sources:?}").unwrap();
    }
    for (path, problem) in snapshot.problems() {
        writeln!(out, "problem {path}: {problem}").unwrap();
    }
    out
}

fn open(vault: &TempVault) -> Vault {
    Vault::open(vault.path()).unwrap()
}

fn path(path: &str) -> NotePath {
    NotePath::new(path).unwrap()
}

fn check(vault: &str, expected: Expect) {
    expected.assert_eq(&show(&open(&temp_vault(vault)).snapshot()));
}

#[test]
fn an_empty_folder_is_a_vault() {
    check("", expect![[""]]);
}

#[test]
fn notes_link_and_backlinks_follow() {
    check(
        "=== a.md\nto [[b]] and [[b|again]], [[Missing]], ![[pic.png]], [[#Here]]\nsupports:: [[b]]\n=== b.md\nback to [[a]]\n=== pic.png\nx\n=== other.pdf\nx\n",
        expect![[r#"
            note a.md
            note b.md
            file other.pdf
            file pic.png
            edge a.md -> a.md
            edge a.md -> b.md
            edge a.md -> b.md supports
            edge a.md -> pic.png
            edge b.md -> a.md
            unresolved missing <- ["a.md"]
        "#]],
    );
}

#[test]
fn only_the_users_and_the_cycles_notes_are_notes() {
    check(
        "=== audit/2026-11-30/dream.md\nsee [[n]] and [[nowhere]]\n=== meta/x.md\n[[n]]\n=== meta/recency.json\n{}\n=== .obsidian/app.md\n[[n]]\n=== .trash/n.md\nold\n=== n.md\nsee [[dream]]\n=== .gitignore\nn.md\n",
        expect![[r#"
            note n.md
            file audit/2026-11-30/dream.md
            file meta/recency.json
            file meta/x.md
            edge n.md -> audit/2026-11-30/dream.md
        "#]],
    );
}

#[test]
fn sync_copies_are_listed_but_count_for_nobody() {
    let folder = temp_vault("=== Plan.md\n[[Goal]]\n=== Plan 2.md\n[[Goal]]\n=== Goal.md\n");
    let vault = open(&folder);
    let goal = path("Goal.md");
    expect![[r#"
        note Goal.md
        note Plan 2.md (copy of Plan.md)
        note Plan.md
        edge Plan 2.md -> Goal.md
        edge Plan.md -> Goal.md
        problem Plan 2.md: a conflict copy of [[Plan]]; merge what is worth keeping and delete it
    "#]]
    .assert_eq(&show(&vault.snapshot()));
    assert_eq!((vault.snapshot().graph().inbound(&goal), vault.snapshot().graph().in_edges(&goal).len()), (1, 2));
    folder.remove("Plan.md");
    vault.refresh().unwrap();
    assert_eq!(vault.snapshot().graph().inbound(&goal), 1);
    assert!(vault.snapshot().note(&path("Plan 2.md")).unwrap().is_live());
}

#[test]
fn rows_hold_each_link_between_two_files_once() {
    let folder = temp_vault(
        "=== Plan.md\n[[Goal]] [[Goal#part]] (why:: [[Goal]]) [[Plan]] [[nowhere]]\n=== Plan 2.md\n[[Goal]]\n=== Goal.md\n[[Plan]]\n",
    );
    let vault = open(&folder);
    let snapshot = vault.snapshot();
    let rows = snapshot.graph().rows().unwrap();
    let files: Vec<&str> = rows.files.iter().map(|path| path.as_str()).collect();
    assert_eq!(files, ["Goal.md", "Plan 2.md", "Plan.md"]);
    let links: Vec<Vec<(u32, f64)>> = (0..3).map(|row| rows.rows.row(row).collect()).collect();
    assert_eq!(links, [vec![(2, 1.0)], vec![], vec![(0, 1.0)]]);
}

#[test]
fn what_can_t_be_read_is_a_problem_and_stops_nothing() {
    let folder = temp_vault(
        "=== fine.md\n[[latin]]\n=== Twin.md\n=== twin.md\n=== board.canvas\n{\n=== broken.md\n---\na: [\n---\n[[fine]]\n",
    );
    folder.write("latin.md", b"caf\xe9 [[fine]]");
    folder.write("huge.md", vec![b'x'; (16 << 20) + 1]);
    folder.write("Cafe\u{301}.md", "decomposed");
    folder.write("Caf\u{e9}.md", "composed");
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::ffi::OsStrExt as _;
        std::fs::copy(folder.path().join("fine.md"), folder.path().join(std::ffi::OsStr::from_bytes(b"bad\xff.md")))
            .unwrap();
        std::fs::copy(folder.path().join("fine.md"), folder.path().join("back\\slash.md")).unwrap();
    }
    let vault = open(&folder);
    let snapshot = vault.snapshot();
    expect![[r#"
        note Café.md
        note Twin.md
        note broken.md
        note fine.md
        note latin.md
        note twin.md
        file board.canvas
        file huge.md
        edge broken.md -> fine.md
        edge fine.md -> latin.md
        edge latin.md -> fine.md
        problem Café.md: another file has the same name in another Unicode form; only one of the two is read
        problem Twin.md: Twin.md and twin.md differ by case alone; rename one
        problem back\slash.md: the path has a backslash; separate folders with `/`; rename the file to have it read
        problem bad�.md: the name is not Unicode; rename the file to have it read
        problem board.canvas: line 1: the canvas is not JSON; open it in Obsidian and save it again
        problem broken.md: line 2: the properties can't be read as YAML; mend this line (the note's text is read all the same)
        problem huge.md: larger than 16 MiB; it is not read as a note
        problem latin.md: not UTF-8; it can be read and searched, but is never rewritten
        problem twin.md: twin.md and Twin.md differ by case alone; rename one
    "#]].assert_eq(&show(&snapshot));
    assert!(!snapshot.note(&path("latin.md")).unwrap().utf8);
    assert!(!vault.read(&path("latin.md")).unwrap().utf8);
    assert_eq!(vault.read(&path("Café.md")).unwrap().text, "composed");
}

#[cfg(unix)]
#[test]
fn symlinks_are_not_followed_and_nothing_outside_is_read() {
    use std::os::unix::fs::symlink;
    let outside = temp_vault("=== secret.md\nsecret\n");
    let folder = temp_vault("=== notes/a.md\n[[secret]]\n=== .hidden/b.md\nhidden\n");
    let root = folder.path();
    symlink(outside.path(), root.join("out")).unwrap();
    symlink(outside.path().join("secret.md"), root.join("secret.md")).unwrap();
    symlink(root, root.join("notes/loop")).unwrap();
    symlink(root.join("notes"), root.join("twice")).unwrap();
    symlink(root.join("nowhere"), root.join("dangling.md")).unwrap();
    symlink(root.join(".hidden/b.md"), root.join("b.md")).unwrap();
    let vault = open(&folder);
    expect![[r#"
        note notes/a.md
        unresolved secret <- ["notes/a.md"]
        problem b.md: a symlink that points to another place inside the vault; it is not followed
        problem dangling.md: a symlink that dangles or loops; it is not followed
        problem notes/loop: a symlink that loops back to a folder that it lies in; it is not followed
        problem out: a symlink that leaves the vault; it is not followed
        problem secret.md: a symlink that leaves the vault; it is not followed
        problem twice: a symlink that points to another place inside the vault; it is not followed
    "#]]
    .assert_eq(&show(&vault.snapshot()));
    for name in ["secret.md", "out/secret.md", "dangling.md", "b.md", ".hidden/b.md", "notes/a.md/x", "notes"] {
        assert!(matches!(vault.read(&path(name)), Err(VaultError::NotFound { .. })), "{name}");
    }
}

/// VLT-28: containment and loops are no matter of how a link is written; what is listed ends.
#[cfg(unix)]
#[test]
fn vlt_28_links_that_loop_dangle_or_leave_show_no_file_twice() {
    use std::os::unix::fs::symlink;
    let outside = temp_vault("=== n.md\nneedle outside\n");
    let folder = temp_vault("=== a/n.md\nneedle\n");
    let root = folder.path();
    for (target, name) in
        [("..", "a/loop"), (".", "a/self"), ("a", "b"), ("missing.md", "dead.md"), ("x2", "x1"), ("x1", "x2")]
    {
        symlink(target, root.join(name)).unwrap();
    }
    symlink(outside.path(), root.join("out")).unwrap();
    expect![[r#"
        note a/n.md
        problem a/loop: a symlink that loops back to a folder that it lies in; it is not followed
        problem a/self: a symlink that points to another place inside the vault; it is not followed
        problem b: a symlink that points to another place inside the vault; it is not followed
        problem dead.md: a symlink that dangles or loops; it is not followed
        problem out: a symlink that leaves the vault; it is not followed
        problem x1: a symlink that dangles or loops; it is not followed
        problem x2: a symlink that dangles or loops; it is not followed
    "#]]
    .assert_eq(&show(&open(&folder).snapshot()));
}

#[test]
fn a_decomposed_name_is_found_and_read_by_its_composed_one() {
    let folder = temp_vault("=== Cafe\u{301}.md\nhot\n=== a.md\n[[Caf\u{e9}]]\n");
    let vault = open(&folder);
    assert_eq!(vault.read(&path("Caf\u{e9}.md")).unwrap().text, "hot\n");
    assert_eq!(vault.snapshot().graph().edge_count(), 1);
}

#[test]
fn notes_are_found_by_the_names_a_person_gives() {
    let vault = open(&temp_vault("=== Areas/Deep work.md\n=== Zettel/记忆.md\n=== a.md\n=== pic.png\nx\n"));
    let snapshot = vault.snapshot();
    let find = |name: &str| snapshot.find(name).map_or_else(|| "-".to_owned(), |note| note.path.to_string());
    let names = [
        "Areas/Deep work.md",
        "Areas/Deep work",
        "deep WORK",
        "[[Deep work#Part|shown]]",
        "![[记忆]]",
        "记忆",
        "pic.png",
        "",
        "[[]]",
        "#x",
        "../a",
        "/a",
        "nothing",
    ];
    let found: String = names.iter().map(|name| format!("{name} -> {}\n", find(name))).collect();
    expect![[r#"
        Areas/Deep work.md -> Areas/Deep work.md
        Areas/Deep work -> Areas/Deep work.md
        deep WORK -> Areas/Deep work.md
        [[Deep work#Part|shown]] -> Areas/Deep work.md
        ![[记忆]] -> Zettel/记忆.md
        记忆 -> Zettel/记忆.md
        pic.png -> -
         -> -
        [[]] -> -
        #x -> -
        ../a -> -
        /a -> a.md
        nothing -> -
    "#]]
    .assert_eq(&found);
}

#[test]
fn layers_may_have_other_folders() {
    let folder = temp_vault(
        "=== dormouse.toml\n[layout]\ndaily = \"Journal\"\naudit = \"Journal/reports\"\ndigest = \"记忆/摘要\"\n=== Journal/2026-11-30/e.md\n=== Journal/reports/r.md\n=== 记忆/摘要/wiki/x.md\n=== daily/mine.md\n",
    );
    let vault = open(&folder);
    assert!(vault.problems().is_empty());
    let layers: String =
        vault.snapshot().notes().map(|note| format!("{} {} {:?}\n", note.path, note.layer, note.bucket)).collect();
    expect![[r#"
        Journal/2026-11-30/e.md daily None
        daily/mine.md other None
        记忆/摘要/wiki/x.md digest Some(Wiki)
    "#]]
    .assert_eq(&layers);
}

#[test]
fn bad_settings_are_a_problem_of_opening() {
    let vault = open(&temp_vault("=== dormouse.toml\n[layout\n=== daily/a.md\n"));
    assert_eq!(vault.problems().iter().map(|problem| problem.kind).collect::<Vec<_>>(), [ProblemKind::Settings]);
    assert_eq!(vault.snapshot().notes().count(), 1);
    let mut settings = Settings::default();
    settings.layout.meta = "..".into();
    let folder = temp_vault("");
    let vault = Vault::open_with(
        folder.path(),
        OpenOptions { read_only: true, settings: Some(settings), ..OpenOptions::default() },
    )
    .unwrap();
    assert_eq!((vault.layout().meta.as_str(), vault.problems().len()), ("meta", 1));
}

#[test]
fn what_is_no_folder_is_an_error() {
    let folder = temp_vault("=== a.md\n");
    for place in ["a.md", "missing"] {
        assert!(matches!(Vault::open(folder.path().join(place)), Err(VaultError::NotAFolder { .. })), "{place}");
    }
}

#[test]
fn a_read_only_vault_is_left_without_a_trace() {
    let folder = temp_vault("=== a.md\n[[b]]\n");
    let vault =
        Vault::open_with(folder.path(), OpenOptions { read_only: true, settings: None, ..OpenOptions::default() })
            .unwrap();
    assert!(vault.is_read_only());
    vault.refresh().unwrap();
    assert!(!folder.exists(".dormouse"));
    assert!(!open(&folder).is_read_only());
}

#[test]
fn a_refresh_tells_what_differs_and_leaves_old_snapshots_alone() {
    let folder = temp_vault("=== a.md\n[[b]]\n=== b.md\none\n=== c.txt\nx\n");
    let vault = open(&folder);
    let before = vault.snapshot();
    assert_eq!(vault.refresh().unwrap(), Delta::default());
    assert_eq!(vault.snapshot().revision(), before.revision());
    folder.remove("b.md");
    folder.write("a.md", "[[d]]\n");
    folder.write("d.md", "new\n");
    let delta = vault.refresh().unwrap();
    assert_eq!(delta, Delta { added: vec![path("d.md")], changed: vec![path("a.md")], removed: vec![path("b.md")] });
    let after = vault.snapshot();
    assert!(after.revision() > before.revision());
    assert_ne!(after.fingerprint(), before.fingerprint());
    assert_eq!(before.resolve(&path("a.md"), "b"), Resolution::File { path: path("b.md"), ambiguous: false });
    expect![[r#"
        note a.md
        note d.md
        file c.txt
        edge a.md -> d.md
    "#]]
    .assert_eq(&show(&after));
}

#[test]
fn an_edit_of_equal_length_in_the_same_instant_is_seen() {
    let folder = temp_vault("=== a.md\n[[b]]\n");
    let vault = open(&folder);
    let file = folder.path().join("a.md");
    let time = std::fs::metadata(&file).unwrap().modified().unwrap();
    folder.write("a.md", "[[c]]\n");
    std::fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    assert_eq!(vault.refresh().unwrap().changed, [path("a.md")]);
    assert!(vault.snapshot().unresolved().contains_key("c"));
}

#[test]
fn derived_files_do_not_change_the_fingerprint() {
    let folder = temp_vault("=== a.md\n[[b]]\n");
    let vault = open(&folder);
    let before = vault.snapshot().fingerprint();
    folder.write("meta/recency.json", "{}");
    folder.write("audit/2026-11-30/dream.md", "x");
    assert_eq!(vault.refresh().unwrap().added.len(), 2);
    assert_eq!(vault.snapshot().fingerprint(), before);
}

#[test]
fn tags_count_notes() {
    let vault = open(&temp_vault("=== a.md\n#Big #big\n=== b.md\n---\ntags: [big, 项目]\n---\n"));
    assert_eq!(format!("{:?}", vault.snapshot().tags()), r#"{"big": 2, "项目": 1}"#);
}

#[test]
fn folders_as_deep_as_the_disk_takes_are_walked() {
    let deep = "d/".repeat(500);
    let folder = temp_vault("");
    folder.write(&format!("{deep}deep.md"), "[[top]]");
    folder.write("top.md", "[[deep]]");
    assert_eq!(open(&folder).snapshot().graph().edge_count(), 2);
}

#[test]
fn the_snapshot_of_a_commit_is_that_of_a_fresh_open() {
    let folder = temp_vault("=== a.md\n[[b]] and [[c]]\n=== b.md\nsee:: [[a]]\n");
    let vault = open(&folder);
    let check = |committed: Snapshot| assert_eq!(show(&committed), show(&open(&folder).snapshot()));
    let person = || vault.begin(Writer::Person).rule(Conservation::Free);

    let created = person().create(path("sub/c.md"), "[[b]]\n").commit().unwrap();
    assert_eq!(created.snapshot.graph().inbound(&path("sub/c.md")), 1);
    check((*created.snapshot).clone());

    let version = vault.read(&path("b.md")).unwrap().version;
    let replaced = person().replace(path("b.md"), version, "[[gone]]\n").commit().unwrap();
    assert!(replaced.snapshot.unresolved().contains_key("gone"));
    check((*replaced.snapshot).clone());
    assert_eq!(vault.refresh().unwrap(), Delta::default());
}

#[test]
fn readers_refreshers_and_writers_at_once_end_in_the_same_place() {
    let folder = temp_vault("=== hub.md\n[[note-0-0]] [[note-3-9]]\n");
    let vault = open(&folder);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (vault, folder) = (&vault, &folder);
            scope.spawn(move || {
                for i in 0..10 {
                    // Whole at once: the other thread's refresh may look at any moment.
                    let name = format!("note-{thread}-{i}.md");
                    folder.write(&format!(".{name}"), "[[hub]]\n");
                    std::fs::rename(folder.path().join(format!(".{name}")), folder.path().join(name)).unwrap();
                    vault.refresh().unwrap();
                }
            });
            scope.spawn(move || {
                for i in 0..10 {
                    let note = path(&format!("note-{}-{i}.md", thread + 2));
                    let plan = vault.begin(Writer::Person).rule(Conservation::Free);
                    plan.create(note.clone(), "[[hub]]\n").commit().unwrap();
                    assert!(vault.snapshot().note(&note).is_some());
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..200 {
                let snapshot = vault.snapshot();
                let inbound = snapshot.graph().inbound(&path("hub.md"));
                assert_eq!(inbound, snapshot.notes().count() - 1);
            }
        });
    });
    assert_eq!(show(&vault.snapshot()), show(&open(&folder).snapshot()));
}

mod any_sequence_of_changes_equals_a_fresh_open {
    use std::sync::Arc;

    use super::{open, show};
    use dormouse_fixtures::temp_vault;
    use dormouse_vault::{Note, OpenOptions, Snapshot, Vault};
    use proptest::prelude::*;

    const FILES: [&str; 15] = [
        "board.canvas",
        "a.md",
        "A.md",
        "x/a.md",
        "x/b.md",
        "y/b.md",
        "b 2.md",
        "b.md",
        "b.md.md",
        "pic.png",
        "pic.png.md",
        "é.md",
        "e\u{301}.md",
        "audit/b.md",
        "x/a (conflicted copy 2026-01-01).md",
    ];
    const TEXTS: [&str; 9] = [
        r#"{"nodes":[{"type":"file","file":"x/a.md"},{"type":"text","text":"[[b]] [[nowhere]]"}]}"#,
        "",
        "[[a]] [[b]]",
        "[[x/a]] [[b.md]] [[pic.png]]",
        "see:: [[é]] and [[E\u{301}]]",
        "---\nup: \"[[b]]\"\n---\n#t [[../y/b]] ![](x/b.md)",
        "---\nbad: [\n---\n[[#here]]",
        "[[nowhere]] [[A]] [[b 2]]",
        "[[audit/b]] [[b.md.md]]",
    ];

    #[derive(Debug, Clone)]
    enum Step {
        Write(usize, usize),
        Remove(usize),
        Rename(usize, usize),
        Touch(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        let file = 0..FILES.len();
        prop_oneof![
            4 => (file.clone(), 0..TEXTS.len()).prop_map(|(file, text)| Step::Write(file, text)),
            2 => file.clone().prop_map(Step::Remove),
            2 => (file.clone(), file.clone()).prop_map(|(from, to)| Step::Rename(from, to)),
            1 => file.prop_map(Step::Touch),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn holds(rounds in prop::collection::vec(prop::collection::vec(step(), 1..5), 1..6)) {
            let folder = temp_vault("=== x/a.md\n[[b]]\n=== y/b.md\n[[a]]\n=== b.md\n=== b 2.md\n[[a]]\n");
            let vault = open(&folder);
            for round in rounds {
                for step in round {
                    let at = |file: usize| folder.path().join(FILES[file]);
                    match step {
                        Step::Write(file, text) => folder.write(FILES[file], TEXTS[text]),
                        Step::Remove(file) if at(file).exists() => folder.remove(FILES[file]),
                        Step::Rename(from, to) if at(from).exists() => {
                            let content = std::fs::read(at(from)).unwrap();
                            folder.remove(FILES[from]);
                            folder.write(FILES[to], content);
                        }
                        Step::Touch(file) if at(file).exists() => {
                            let file = std::fs::File::options().write(true).open(at(file)).unwrap();
                            file.set_modified(std::time::UNIX_EPOCH).unwrap();
                        }
                        _ => {}
                    }
                }
                vault.refresh().unwrap();
                let no_cache = || OpenOptions { no_cache: true, ..OpenOptions::default() };
                let fresh = Vault::open_with(folder.path(), no_cache()).unwrap().snapshot();
                // Opened from what an earlier open cached, of which some is not true any more.
                for now in [vault.snapshot(), open(&folder).snapshot()] {
                prop_assert_eq!(show(&now), show(&fresh));
                prop_assert_eq!(now.fingerprint(), fresh.fingerprint());
                let details = |s: &Snapshot| {
                    let of = |n: &Arc<Note>| {
                        (format!("{n:?} {:?}", n.document()), s.graph().inbound(&n.path), n.path.as_disk().to_owned())
                    };
                    s.notes().chain(s.canvases()).map(of).collect::<Vec<_>>()
                };
                prop_assert_eq!(details(&now), details(&fresh));
                }
            }
        }
    }
}
