//! Merging two notes: what stands where afterwards, refusals, and the laws.

use std::collections::BTreeSet;

use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::merge::{self, MergeError, Merging};
use dormouse_vault::{
    Change, ChangeSet, CommitError, Conservation, EdgeKey, EdgeTarget, NotePath, Vault, Version, Writer,
};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn path(text: &str) -> NotePath {
    NotePath::new(text).unwrap()
}

/// Plans, shows that the dry run changes nothing and that the real run does what it said.
#[track_caller]
fn merged(folder: &TempVault, keep: &str, drop: &str) -> Result<Merging, MergeError> {
    let vault = Vault::open(folder.path()).unwrap();
    let before = folder.files();
    let gone = vault.read(&path(drop)).map(|read| read.version).ok();
    let plan = merge::plan(&vault, &path(keep), &path(drop))?;
    let dry = vault.preview(&plan.change_set).unwrap();
    assert_eq!(folder.files(), before, "a dry run writes nothing");
    let committed = vault.commit(&plan.change_set).unwrap();
    assert_eq!(committed.written.len(), dry.len());
    let trash = std::fs::read(folder.path().join(plan.report.trash.as_disk())).unwrap();
    assert_eq!(Some(Version::of(&trash)), gone, "what went is whole");
    let fresh = Vault::open(folder.path()).unwrap();
    assert_eq!(fresh.snapshot().fingerprint(), vault.snapshot().fingerprint());
    assert!(!vault.snapshot().exists(&path(drop)));
    Ok(plan)
}

/// Every file but those in dot-folders after the merge of `a.md` and `b.md`, or why there is none.
#[track_caller]
fn check(vault: &str, expected: Expect) {
    let folder = temp_vault(vault);
    let shown = match merged(&folder, "a.md", "b.md") {
        Ok(plan) => {
            let warnings: String = plan.report.warnings.iter().map(|w| format!("! {w}\n")).collect();
            warnings + &folder.dump_if(|path| !path.starts_with('.'))
        }
        Err(error) => format!("refused: {error}\n"),
    };
    expected.assert_eq(&shown);
}

#[test]
fn blocks_of_both_stand_once_and_links_lead_to_the_one_that_stays() {
    check(
        "=== a.md\n---\nname: Heron\n# mine\ntags: [bird]\nodd:   'no'\n---\n# Heron\n\nHerons fish at dawn.\n\n## Log\n\n- seen [[c]] ^b1\n- quiet\n\
         === b.md\n---\nname: Grey heron\naliases: [Ardea]\ntags: [bird, water]\nderived_from: \"[[c#^x]]\"\nstatus: draft\n---\n# Grey heron\n\nHerons fish at dawn.\n\nThey nest in trees, see [[a]] and [[#Log]]. ^b1\n\n## Log\n\n- quiet\n- loud\n\
         === c.md\n[[b]] [[b|it]] ![[b#Log]] [t](b.md#Log) up:: [[b#^b1]] ^x\n=== d.canvas\n{\"nodes\":[{\"type\":\"file\",\"file\":\"b.md\"}]}\n",
        expect![[r#"
            === a.md
            ---
            name: Heron
            # mine
            tags: [bird, water]
            odd:   'no'
            aliases:
              - Grey heron
              - Ardea
            ---
            # Heron

            Herons fish at dawn.

            ## Log

            - seen [[c]] ^b1
            - quiet

            # Grey heron

            They nest in trees, see [[a]] and [[#Grey heron#Log]]. ^b1-2

            ## Log

            - loud

            derived_from:: [[c#^x]]
            === c.md
            [[a]] [[a|it]] ![[a#Grey heron#Log]] [t](a.md#Grey%20heron#Log) up:: [[a#^b1-2]] ^x
            === d.canvas
            {"nodes":[{"type":"file","file":"a.md"}]}
        "#]],
    );
}

#[test]
fn folders_relative_links_and_line_ends_are_those_of_the_note_that_stays() {
    let folder = temp_vault(
        "=== x/a.md\none\r\n=== y/b.md\ntwo [[./c]] [u](c.md)\n\nthree\n=== y/c.md\n=== n.md\n[[y/b]] [[b]]\n",
    );
    merged(&folder, "x/a.md", "y/b.md").unwrap();
    expect![[r#"
        ---\r
        aliases:\r
          - b\r
        ---\r
        one\r
        \r
        two [[../y/c]] [u](c.md)\r
        \r
        three\r
    "#]]
    .assert_eq(&folder.read("x/a.md").replace('\r', "\\r"));
    expect![[r#"
        [[x/a]] [[a]]
    "#]]
    .assert_eq(&folder.read("n.md"));
}

#[test]
fn what_can_not_be_joined_is_refused_and_nothing_changes() {
    check(
        "=== a.md\n```\nopen\n=== b.md\nmore\n",
        expect![[r#"
        refused: a.md: text behind it would be read as a part of its last block; close that first
    "#]],
    );
    check(
        "=== a.md\nx [^1]\n\n[^1]: one\n=== b.md\ny [^1]\n\n[^1]: two\n",
        expect![[r#"
        refused: b.md: `[^1]` is defined otherwise in the note that stays; rename one of the two by hand first
    "#]],
    );
    check(
        "=== a.md\nx [^1]\n\n[^1]: one\n    more\n=== b.md\ny [^1]\n\n[^1]: one\n    other\n",
        expect![[r#"
        refused: b.md: `[^1]` is defined otherwise in the note that stays; rename one of the two by hand first
    "#]],
    );
    check(
        "=== a.md\n```\nopen\n=== b.md\n---\nup: \"[[c]]\"\n---\n=== c.md\n",
        expect![[r#"
        refused: a.md: text behind it would be read as a part of its last block; close that first
    "#]],
    );
    check(
        "=== a.md\nx\n=== b.md\n---\n\"odd: key\": \"[[c]]\"\n---\n=== c.md\n",
        expect![[r#"
        refused: b.md: line 1: odd: key:: [[c]] can't be written for the note that stays; change it by hand first
    "#]],
    );
    check(
        "=== a.md\n---\nbad: [\n---\nx\n=== b.md\ny\n",
        expect![[r#"
        refused: a.md: line 2: the frontmatter is malformed; mend it before it is changed
    "#]],
    );
    check(
        "=== a.md\nx\n",
        expect![[r#"
        refused: b.md: no such note
    "#]],
    );
    let folder = temp_vault("=== a.md\n=== daily/2026-11-30/e.md\nx\n=== b.md\n");
    let vault = Vault::open(folder.path()).unwrap();
    let refused = |keep: &str, drop: &str| merge::plan(&vault, &path(keep), &path(drop)).unwrap_err().to_string();
    expect!["daily/2026-11-30/e.md: only digests and your own notes are merged"]
        .assert_eq(&refused("a.md", "daily/2026-11-30/e.md"));
    expect!["a.md: this is one note"].assert_eq(&refused("a.md", "a.md"));
}

#[test]
fn a_note_of_properties_alone_takes_in_another() {
    let folder = temp_vault("=== b.md\nHerons fish.\n");
    folder.write("a.md", "---\nname: A\n---");
    merged(&folder, "a.md", "b.md").unwrap();
    expect![[r#"
        ---
        name: A
        aliases:
          - b
        ---
        Herons fish.
    "#]]
    .assert_eq(&folder.read("a.md"));
}

#[test]
fn a_name_in_the_trash_is_never_taken_twice() {
    let folder = temp_vault("=== a.md\nx\n=== b.md\ny\n=== c/b.md\nz\n");
    merged(&folder, "a.md", "b.md").unwrap();
    merged(&folder, "a.md", "c/b.md").unwrap();
    assert_eq!(std::fs::read_to_string(folder.path().join(".trash/b.md")).unwrap(), "y\n");
    assert_eq!(std::fs::read_to_string(folder.path().join(".trash/b 2.md")).unwrap(), "z\n");
    assert_eq!(folder.read("a.md").matches('y').count(), 1);
}

#[test]
fn the_door_refuses_a_merge_that_loses_something() {
    let folder = temp_vault("=== a.md\nx [[c]]\n=== b.md\ny [[d]]\n=== c.md\n=== d.md\n=== n.md\n[[b]] text\n");
    let vault = Vault::open(folder.path()).unwrap();
    let plan = merge::plan(&vault, &path("a.md"), &path("b.md")).unwrap();
    let with = |act: &dyn Fn(&mut Change)| {
        let mut set = plan.change_set.clone();
        set.changes.iter_mut().for_each(act);
        vault.preview(&set)
    };
    let replaced = |file: &str, old: &str, new: &str| {
        with(&|change| {
            if let Change::Replace { path, content, .. } = change
                && path.as_str() == file
            {
                assert!(content.contains(old), "{content}");
                *content = content.replace(old, new);
            }
        })
    };
    assert!(with(&|_| ()).is_ok());
    for (file, old, new) in [
        ("a.md", "x [[c]]", "[[c]]"),
        ("a.md", "[[d]]", "[[c]]"),
        ("a.md", "y ", "z "),
        ("n.md", "text", "other"),
        ("n.md", "[[a]]", "[[c]]"),
    ] {
        let refused = replaced(file, old, new);
        assert!(matches!(refused, Err(CommitError::Conservation(_))), "{file}: {old} to {new}: {refused:?}");
    }
    let mut left = plan.change_set.clone();
    left.changes.retain(|change| change.path().as_str() != "n.md");
    assert!(matches!(vault.preview(&left), Err(CommitError::Conservation(_))), "a link would break");
    for to in ["b2.md", ".obsidian/b.md", ".trash/.hidden/b.md", ".trash"] {
        let moved = with(&|change| {
            if let Change::Rename { to: target, .. } = change {
                *target = path(to);
            }
        });
        assert!(moved.is_err(), "{to}: {moved:?}");
    }
    let rename = Change::Rename {
        from: path("b.md"),
        to: path(".trash/b.md"),
        expected: vault.read(&path("b.md")).unwrap().version,
    };
    let rule = Conservation::Retarget { from: path("b.md"), to: path(".trash/b.md") };
    let set = ChangeSet::new(Writer::Person, rule).with(rename);
    assert!(matches!(vault.preview(&set), Err(CommitError::Denied { .. })), "nothing but a merge puts notes there");
}

/// Edges out of every note, those to `drop` as those to `keep`.
fn edges(vault: &Vault, keep: &NotePath, drop: &NotePath) -> BTreeSet<(NotePath, EdgeKey)> {
    let now = vault.snapshot();
    let as_one = |path: &NotePath| if path == drop { keep.clone() } else { path.clone() };
    let mut out = BTreeSet::new();
    for note in now.notes() {
        for edge in now.edges_of(&note.path, note.doc()) {
            let target = match edge.target {
                EdgeTarget::File(file) => EdgeTarget::File(as_one(&file)),
                other => other,
            };
            out.insert((as_one(&note.path), EdgeKey { target, ..edge }));
        }
    }
    out
}

fn piece() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "# Title\n\n",
        "## Log\n\n",
        "## 记录\n\n",
        "### Deep\n\n",
        "Plain words here.\n\n",
        "同样的一句话。\n\n",
        "See [[c]] and [[a]]. ^b1\n\n",
        "Also [[b#Log|log]] and [[b#^b1]].\n\n",
        "- one ^i1\n- two\n  - nested [[c]]\n\n",
        "- two\n- three [[x/d]]\n\n",
        "1. first\n2. second\n\n",
        "```sh\n# no heading\n[[no]]\n```\n\n",
        "> quoted [[c|C]]\n> more\n\n",
        "| a | b |\n|---|---|\n| [[c\\|x]] | 1 |\n\n",
        "up:: [[c]]\n\n",
        "(derived_from:: [[c#^x]])\n\n",
        "---\n\n",
        "%% hidden [[c]] %%\n\n",
        "Foot[^1].\n\n",
        "[^1]: note\n\n",
        "[ref]: https://example.org\n\n",
        "Text ^b2\n\n",
        "![[c]]\n\n",
        "[m](x/d.md#H) [[./c]]\n\n",
        "$$\nx\n$$\n\n",
        "#tag words\n\n",
        "wrapped\nline\n\n",
    ])
    .prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = String> {
    let front = prop::sample::select(vec![
        "",
        "",
        "---\nname: N\n---\n",
        "---\ntags: [t, u]\naliases: Q\n---\n",
        "---\n# c\nup: \"[[c]]\"\ntags:\n  - v\n---\n",
        "\u{feff}",
    ]);
    (front, prop::collection::vec(piece(), 0..8), any::<bool>()).prop_map(|(front, pieces, crlf)| {
        let text = format!("{front}{}", pieces.concat());
        if crlf { text.replace('\n', "\r\n") } else { text }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: RngSeed::Fixed(5), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_two_notes_are_merged_with_every_block_and_edge_or_left_alone(
        a in text(), b in text(), n in text(),
        (keep, drop) in prop::sample::select(vec![("a.md", "b.md"), ("a.md", "x/b.md"), ("x/a.md", "b.md")]),
    ) {
        let folder = temp_vault("=== c.md\nC ^x\n=== x/d.md\n# H\n");
        for (file, text) in [(keep, &a), (drop, &b), ("n.md", &n)] {
            folder.write(file, text);
        }
        let vault = Vault::open(folder.path()).unwrap();
        let (keep, drop) = (path(keep), path(drop));
        let before = edges(&vault, &keep, &drop);
        let had = vault.snapshot().note(&keep).unwrap().doc().problems.len();
        let blocks = |path: &NotePath| -> Vec<String> {
            let read = vault.read(path).unwrap();
            let doc = dormouse_vault::Document::parse(&read.text);
            let texts = doc.blocks.iter().filter(|b| !read.text[b.span.clone()].contains("[[") && b.id.is_none());
            texts.map(|b| read.text[b.span.clone()].trim_start_matches('\u{feff}').trim().replace('\r', "")).collect()
        };
        let old: Vec<String> = blocks(&keep).into_iter().chain(blocks(&drop)).collect();
        let front = vault.read(&keep).unwrap().text;
        let front: Vec<String> = front.lines().take_while(|l| !l.starts_with('#') || l.starts_with("# c")).filter(|l| l.starts_with("name") || l.starts_with("# c") || l.starts_with("up:")).map(str::to_owned).collect();
        match merge::plan(&vault, &keep, &drop) {
            Ok(plan) => {
                vault.commit(&plan.change_set).unwrap();
                let fresh = Vault::open(folder.path()).unwrap();
                let after = edges(&fresh, &keep, &drop);
                let lost: Vec<_> = before.difference(&after).filter(|(_, e)| !matches!(&e.target, EdgeTarget::Unresolved(k) if k.starts_with('.'))).collect();
                prop_assert!(lost.is_empty(), "{lost:?}");
                let text = fresh.read(&keep).unwrap().text;
                let plain = text.replace('\r', "");
                for block in old {
                    prop_assert!(plain.contains(&block), "{block:?} is not in {plain:?}");
                }
                for line in front {
                    prop_assert!(text.lines().any(|l| l == line));
                }
                let problems = fresh.snapshot().note(&keep).unwrap().doc().problems.len();
                prop_assert!(problems <= had, "{problems} problems, {had} before");
            }
            Err(MergeError::SameLabel { .. } | MergeError::Open { .. } | MergeError::Properties { .. }) => {}
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
