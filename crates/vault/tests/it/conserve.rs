//! Conservation at the door: E-1, E-2, renames, provenance, and the user's frontmatter.

use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::{Change, ChangeSet, CommitError, Conservation, NotePath, Vault, Version, Writer};
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn path(text: &str) -> NotePath {
    NotePath::new(text).unwrap()
}

fn replace(folder: &TempVault, file: &str, content: &str) -> Change {
    Change::Replace { path: path(file), expected: Version::of(folder.read(file).as_bytes()), content: content.into() }
}

fn create(file: &str, content: &str) -> Change {
    Change::Create { path: path(file), content: content.into() }
}

/// What the door says; nothing is written when it refuses, and the dry run says the same.
fn verdict(folder: &TempVault, set: &ChangeSet) -> String {
    let before = folder.files();
    let vault = Vault::open(folder.path()).unwrap();
    let dry = vault.preview(set).err().map(|error| violations(&error));
    let said = vault.commit(set).err().map(|error| violations(&error));
    assert_eq!(dry, said);
    assert_eq!(folder.files() == before, said.is_some());
    said.unwrap_or_else(|| "written\n".to_owned())
}

fn violations(error: &CommitError) -> String {
    let CommitError::Conservation(found) = error else { panic!("{error}") };
    found.iter().map(|violation| format!("{violation}\n")).collect()
}

const BASE: &str = "=== daily/2026-11-30/e.md\n# Event\n\nIt happened. ^b1\n=== resource/2026-11-30/r.md\nr\n\
    === digest/wiki/a.md\na\n=== digest/wiki/b.md\nb\n=== mine.md\nmine\n";

/// Dream replaces `digest/wiki/s.md`, which is `old`, by `new`.
fn dreams(old: &str, new: &str, expect: Expect) {
    let folder = temp_vault(&format!("{BASE}=== digest/wiki/s.md\n{old}"));
    let set = ChangeSet::new(Writer::Dream, Conservation::Superset { subject: path("digest/wiki/s.md") })
        .with(replace(&folder, "digest/wiki/s.md", new));
    expect.assert_eq(&verdict(&folder, &set));
}

const FROM: &str = "derived_from:: [[daily/2026-11-30/e]]\n";

#[test]
fn a_dream_keeps_every_edge_with_its_predicate() {
    let old = format!("See [[digest/wiki/a|A]] and [[nowhere]].\nrefines:: [[digest/wiki/b]]\n{FROM}");
    dreams(
        &old,
        &format!("{old}\nMore about [[mine]].\n"),
        expect![[r#"
        written
    "#]],
    );
    dreams(
        &old,
        &old.replace("[[digest/wiki/a|A]]", "A"),
        expect![[r#"
        digest/wiki/s.md: 1 link(s) would be lost: [[digest/wiki/a]]
    "#]],
    );
    dreams(
        &old,
        &old.replace("refines:: ", ""),
        expect![[r#"
        digest/wiki/s.md: 1 link(s) would be lost: refines:: [[digest/wiki/b]]
    "#]],
    );
    dreams(
        &old,
        &old.replace("[[nowhere]]", "nowhere"),
        expect![[r#"
        digest/wiki/s.md: 1 link(s) would be lost: [[nowhere]]
    "#]],
    );
    // Another spelling of the same edge is the same edge; a link in code is none.
    dreams(
        &old,
        &old.replace("[[digest/wiki/a|A]]", "[it](a.md)"),
        expect![[r#"
        written
    "#]],
    );
    dreams(
        &old,
        &old.replace("[[digest/wiki/a|A]]", "`[[digest/wiki/a|A]]`"),
        expect![[r#"
        digest/wiki/s.md: 1 link(s) would be lost: [[digest/wiki/a]]
    "#]],
    );
}

#[test]
fn a_link_that_a_new_note_makes_whole_is_not_lost() {
    let folder = temp_vault(&format!("{BASE}=== digest/wiki/s.md\nSee [[digest/wiki/new]].\n{FROM}"));
    let set = ChangeSet::new(Writer::Dream, Conservation::Superset { subject: path("digest/wiki/s.md") })
        .with(create("digest/wiki/new.md", FROM))
        .with(replace(&folder, "digest/wiki/s.md", &format!("See [[digest/wiki/new]] and [[a]].\n{FROM}")));
    expect![[r#"
        written
    "#]]
    .assert_eq(&verdict(&folder, &set));
}

#[test]
fn a_dream_names_an_existing_source() {
    let old = "text\n";
    dreams(
        old,
        &format!("text\n{FROM}"),
        expect![[r#"
        written
    "#]],
    );
    dreams(
        old,
        "text\nderived_from:: [[daily/2026-11-30/e#^b1]]\n",
        expect![[r#"
        written
    "#]],
    );
    dreams(
        old,
        "text\n- derived_from:: [[resource/2026-11-30/r]]\n",
        expect![[r#"
        written
    "#]],
    );
    for without in ["text [[daily/2026-11-30/e]]\n", "text\nderived_from:: [[mine]]\n"] {
        dreams(
            old,
            without,
            expect![[r#"
            digest/wiki/s.md: no provenance; add `derived_from:: [[…]]`
        "#]],
        );
    }
    dreams(
        old,
        "text\nderived_from:: [[daily/2026-11-30/never]]\n",
        expect![[r#"
        digest/wiki/s.md: link to a note that does not exist: daily/2026-11-30/never
        digest/wiki/s.md: no provenance; add `derived_from:: [[…]]`
    "#]],
    );
}

#[test]
fn a_source_that_vanished_since_the_snapshot_is_no_source() {
    let folder = temp_vault(BASE);
    let vault = Vault::open(folder.path()).unwrap();
    folder.remove("daily/2026-11-30/e.md");
    let set = ChangeSet::new(Writer::Dream, Conservation::Additive).with(create("digest/wiki/n.md", FROM));
    assert!(matches!(vault.commit(&set), Err(CommitError::Conservation(found)) if found.len() == 2));
}

#[test]
fn a_dream_writes_no_new_link_to_nowhere() {
    dreams(
        &format!("[[ghost]]\n{FROM}"),
        &format!("[[ghost]] again [[Ghost]]\n{FROM}"),
        expect![[r#"
        written
    "#]],
    );
    dreams(
        FROM,
        &format!("[[ghost]] and ![[Spirit.png]] and [x](https://example.com)\n{FROM}"),
        expect![[r#"
        digest/wiki/s.md: link to a note that does not exist: ghost
        digest/wiki/s.md: link to a note that does not exist: Spirit.png
    "#]],
    );
}

#[test]
fn the_users_frontmatter_survives_a_dream_byte_for_byte() {
    let note = |fm: &str| format!("---\n{fm}---\ntext\n{FROM}");
    let old = note("name: Old\n# mine\ntags: [b,   a]\ndate: 2026-1-1\ndescription: old\n");
    dreams(
        &old,
        &note("name: \"New\"\n# mine\ntags: [b,   a]\ndate: 2026-1-1\ndescription: >\n  new\n  lines\n"),
        expect![[r#"
        written
    "#]],
    );
    dreams(
        &old,
        &note("name: Old\ntags: [a, b]\ndate: 2026-01-01\ndescription: old\n"),
        expect![[r#"
        digest/wiki/s.md: 3 line(s) of frontmatter would be lost: # mine / tags: [b,   a] / date: 2026-1-1
    "#]],
    );
    dreams(
        &old,
        &format!("text\n{FROM}"),
        expect![[r#"
        digest/wiki/s.md: 3 line(s) of frontmatter would be lost: # mine / tags: [b,   a] / date: 2026-1-1
    "#]],
    );
    dreams(
        &format!("text\n{FROM}"),
        &note("name: New\n"),
        expect![[r#"
        written
    "#]],
    );
}

#[test]
fn a_dream_writes_no_malformed_frontmatter() {
    let folder = temp_vault(BASE);
    let set = ChangeSet::new(Writer::Dream, Conservation::Additive)
        .with(create("digest/wiki/n.md", &format!("---\nname: a: b: c\n---\n{FROM}")));
    let error = Vault::open(folder.path()).unwrap().commit(&set).unwrap_err();
    assert!(matches!(error, CommitError::MalformedFrontmatter { line: 2, .. }), "{error:?}");
}

const PARENT: &str = "---\nname: S\nmine: yes\n---\n# S\n\nIntro with [[a]].\n\n## One\n\n- first, see [[b]]\n- second\n  - nested\n\n## Two\n\n```rust\nlet x = 1;\n\nlet y = 2;\n```\n\nrefines:: [[mine]]\n\n---\n\nend ^id\n\nderived_from:: [[daily/2026-11-30/e]]\n";
const KEPT: &str = "---\nname: S\nmine: yes\n---\n# S\n\nIntro with [[a]].\n\n- [[digest/wiki/s-one|One]]\n- [[digest/wiki/s-two|Two]]\n\nderived_from:: [[daily/2026-11-30/e]]\n";
const ONE: &str = "# One\n\nPart of [[digest/wiki/s]].\n\n- first, see [[b]]\n- second\n  - nested\n";
const TWO: &str =
    "# Two\n\nPart of [[digest/wiki/s]].\n\n```rust\nlet x = 1;\n\nlet y = 2;\n```\n\nrefines:: [[mine]]\n\nend ^id\n";

fn splits(kept: &str, one: &str, two: &str, expect: Expect) {
    let folder = temp_vault(&format!("{BASE}=== digest/wiki/s.md\n{PARENT}"));
    let children = vec![path("digest/wiki/s-one.md"), path("digest/wiki/s-two.md")];
    let set = ChangeSet::new(Writer::Split, Conservation::SplitUnion { parent: path("digest/wiki/s.md"), children })
        .with(replace(&folder, "digest/wiki/s.md", kept))
        .with(create("digest/wiki/s-one.md", one))
        .with(create("digest/wiki/s-two.md", two));
    expect.assert_eq(&verdict(&folder, &set));
}

#[test]
fn a_split_keeps_every_block_once_and_every_edge() {
    splits(
        KEPT,
        ONE,
        TWO,
        expect![[r#"
        written
    "#]],
    );
    splits(
        KEPT,
        &ONE.replace("- second\n", ""),
        TWO,
        expect![[r#"
        digest/wiki/s.md: 1 block(s) would be lost or stand twice
    "#]],
    );
    splits(
        KEPT,
        ONE,
        &TWO.replace("let y = 2", "let y = 3"),
        expect![[r#"
        digest/wiki/s.md: 1 block(s) would be lost or stand twice
    "#]],
    );
    splits(
        KEPT,
        ONE,
        &format!("{TWO}\nIntro with [[a]].\n"),
        expect![[r#"
        digest/wiki/s.md: 1 block(s) would be lost or stand twice
    "#]],
    );
    splits(
        KEPT,
        ONE,
        &TWO.replace("refines:: [[mine]]\n\n", ""),
        expect![[r#"
        digest/wiki/s.md: 1 link(s) would be lost: refines:: [[mine]]
        digest/wiki/s.md: 1 block(s) would be lost or stand twice
    "#]],
    );
    splits(
        KEPT,
        &ONE.replace("[[digest/wiki/s]]", "the whole"),
        TWO,
        expect![[r#"
        digest/wiki/s-one.md: no link to the parent digest/wiki/s.md
    "#]],
    );
    splits(
        KEPT,
        &ONE.replace("second", "second [[ghost]]"),
        TWO,
        expect![[r#"
        digest/wiki/s.md: 1 block(s) would be lost or stand twice
        digest/wiki/s-one.md: link to a note that does not exist: ghost
    "#]],
    );
    splits(
        &KEPT.replace("mine: yes\n", ""),
        ONE,
        TWO,
        expect![[r#"
        digest/wiki/s.md: 1 line(s) of frontmatter would be lost: mine: yes
    "#]],
    );
}

#[test]
fn a_split_changes_its_parent_and_its_children_and_nothing_else() {
    let folder = temp_vault(&format!("{BASE}=== digest/wiki/s.md\n{PARENT}"));
    let rule = |children: &[&str]| Conservation::SplitUnion {
        parent: path("digest/wiki/s.md"),
        children: children.iter().map(|c| path(c)).collect(),
    };
    let set = ChangeSet::new(Writer::Split, rule(&["digest/wiki/s-one.md", "digest/wiki/s-two.md"]))
        .with(replace(&folder, "digest/wiki/s.md", KEPT))
        .with(replace(&folder, "digest/wiki/a.md", "a, changed\n"));
    expect![[r#"
        digest/wiki/a.md: outside of what the stated rule covers
    "#]]
    .assert_eq(&verdict(&folder, &set));
    let set = ChangeSet::new(Writer::Split, rule(&["digest/wiki/s-one.md", "digest/wiki/s-two.md"]))
        .with(create("digest/wiki/s-one.md", ONE));
    expect![[r#"
        digest/wiki/s-two.md: outside of what the stated rule covers
        digest/wiki/s.md: outside of what the stated rule covers
    "#]]
    .assert_eq(&verdict(&folder, &set));
}

/// A person renames `old/x.md` to `new/y.md` and rewrites `c.md`.
fn renames(c: &str, rewritten: Option<&str>, expect: Expect) {
    let folder = temp_vault(&format!("=== c.md\n{c}=== old/x.md\nx, see [[z]]\n=== z.md\nz\n"));
    let (from, to) = (path("old/x.md"), path("new/y.md"));
    let expected = Version::of(folder.read("old/x.md").as_bytes());
    let mut set = ChangeSet::new(Writer::Person, Conservation::Retarget { from: from.clone(), to: to.clone() })
        .with(Change::Rename { from, to, expected });
    if let Some(text) = rewritten {
        set = set.with(replace(&folder, "c.md", text));
    }
    expect.assert_eq(&verdict(&folder, &set));
}

#[test]
fn a_rename_takes_every_link_along_and_changes_nothing_else() {
    renames(
        "[[x|it]] and [[z]]\n",
        Some("[[new/y|it]] and [[z]]\n"),
        expect![[r#"
        written
    "#]],
    );
    renames(
        "plain\n",
        None,
        expect![[r#"
        written
    "#]],
    );
    renames(
        "[[x|it]]\n",
        None,
        expect![[r#"
        c.md: 1 link(s) would be lost: [[new/y]]
    "#]],
    );
    renames(
        "[[x|it]] and [[x]]\n",
        Some("[[new/y|it]] and [[x]]\n"),
        expect![[r#"
        c.md: 1 link(s) would be lost: [[new/y]]
    "#]],
    );
    renames(
        "rel:: [[x]]\n",
        Some("[[new/y]]\n"),
        expect![[r#"
        c.md: 1 link(s) would be lost: rel:: [[new/y]]
    "#]],
    );
    renames(
        "[[x#Head|it]]\n",
        Some("[[new/y|it]]\n"),
        expect![[r#"
        c.md: 1 link(s) would be lost: [[new/y]]
    "#]],
    );
    renames(
        "[[x]]\n",
        Some("[[new/y]] and a word\n"),
        expect![[r#"
        c.md: outside of what the stated rule covers
    "#]],
    );
    renames(
        "[[x]] [[z]]\n",
        Some("[[new/y]]\n"),
        expect![[r#"
        c.md: 1 link(s) would be lost: [[z]]
    "#]],
    );
}

#[test]
fn a_rename_that_would_turn_other_links_is_refused() {
    renames(
        "[[deep/y]] is far, [[y]] is nowhere\n",
        None,
        expect![[r#"
        written
    "#]],
    );
    let folder = temp_vault("=== c.md\nsee [[y]]\n=== deep/deeper/y.md\ny\n=== x.md\nx\n");
    let set = ChangeSet::new(Writer::Person, Conservation::Retarget { from: path("x.md"), to: path("y.md") })
        .with(Change::Rename { from: path("x.md"), to: path("y.md"), expected: Version::of(b"x\n") });
    expect![[r#"
        c.md: 1 link(s) would be lost: [[deep/deeper/y]]
    "#]]
    .assert_eq(&verdict(&folder, &set));
}

#[test]
fn a_rename_may_retarget_links_in_material_but_not_rewrite_it() {
    let day = "=== daily/2026-11-30/e.md\nsaw [[x]] today\n=== x.md\nx\n";
    let set = |folder: &TempVault, text: &str| {
        ChangeSet::new(Writer::Person, Conservation::Retarget { from: path("x.md"), to: path("y.md") })
            .with(Change::Rename { from: path("x.md"), to: path("y.md"), expected: Version::of(b"x\n") })
            .with(replace(folder, "daily/2026-11-30/e.md", text))
    };
    let folder = temp_vault(day);
    expect![[r#"
        daily/2026-11-30/e.md: outside of what the stated rule covers
    "#]]
    .assert_eq(&verdict(&folder, &set(&folder, "saw [[y]] yesterday\n")));
    expect![[r#"
        written
    "#]]
    .assert_eq(&verdict(&folder, &set(&folder, "saw [[y]] today\n")));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// However the blocks of a parent are dealt out, the split is written; with any one of them
    /// left out or doubled, it is refused.
    #[test]
    fn a_split_conserves_blocks(deal in prop::collection::vec(0..3_usize, 2..8), victim in any::<prop::sample::Index>(), double: bool) {
        let block = |n: usize| format!("Block {n} says 第{n}句 and links [[{}]].", if n.is_multiple_of(2) { "a" } else { "b" });
        let old: Vec<String> = (0..deal.len()).map(block).collect();
        let folder = temp_vault(&format!("{BASE}=== digest/wiki/s.md\n{}\n", old.join("\n\n")));
        let build = |skip: Option<usize>| {
            let mut parts = [String::new(), "[[digest/wiki/s]]\n\n".to_owned(), "[[digest/wiki/s]]\n\n".to_owned()];
            for (n, part) in deal.iter().enumerate() {
                let copies = match skip { Some(v) if v == n => if double { 2 } else { 0 }, _ => 1 };
                parts[*part].push_str(&format!("{}\n\n", block(n)).repeat(copies));
            }
            let children = vec![path("digest/wiki/s1.md"), path("digest/wiki/s2.md")];
            ChangeSet::new(Writer::Split, Conservation::SplitUnion { parent: path("digest/wiki/s.md"), children })
                .with(replace(&folder, "digest/wiki/s.md", &parts[0]))
                .with(create("digest/wiki/s1.md", &parts[1]))
                .with(create("digest/wiki/s2.md", &parts[2]))
        };
        let vault = Vault::open(folder.path()).unwrap();
        let broken = vault.preview(&build(Some(victim.index(deal.len()))));
        prop_assert!(matches!(broken, Err(CommitError::Conservation(_))));
        prop_assert!(vault.preview(&build(None)).is_ok());
    }
}

/// DRM-07: a dream that dies half way and runs again meets its own notes instead of making them
/// twice, and the ledger goes in with the same journal as every other file.
#[test]
fn drm_07_a_second_create_of_the_same_lesson_is_a_conflict() {
    let folder = temp_vault("=== daily/2026-04-06.md\ntwo lessons\n");
    let lesson = |n: usize| {
        ChangeSet::new(Writer::Dream, Conservation::Additive)
            .with(create(&format!("digest/wiki/l-{n}.md"), &format!("{n}\n\nderived_from:: [[daily/2026-04-06]]\n")))
    };
    let vault = Vault::open(folder.path()).unwrap();
    vault.commit(&lesson(1)).unwrap();
    drop(vault);
    let vault = Vault::open(folder.path()).unwrap();
    for _ in 0..2 {
        for n in 1..=2 {
            match vault.commit(&lesson(n)) {
                Ok(_) => {}
                Err(CommitError::Conflict(conflict)) => {
                    assert!(conflict.diff.is_empty(), "it is the same lesson")
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    expect![[r#"
        === daily/2026-04-06.md
        two lessons
        === digest/wiki/l-1.md
        1

        derived_from:: [[daily/2026-04-06]]
        === digest/wiki/l-2.md
        2

        derived_from:: [[daily/2026-04-06]]
    "#]]
    .assert_eq(&folder.dump());
}
