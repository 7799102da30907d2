//! The daily writer and the audit pages.

use chrono::{DateTime, FixedOffset};
use dormouse_fixtures::temp_vault;
use dormouse_vault::audit::{AuditEntry, append};
use dormouse_vault::daily::{DailyEvent, plan_event};
use dormouse_vault::{Document, NotePath, Vault};
use expect_test::{Expect, expect};

fn at() -> DateTime<FixedOffset> {
    DateTime::parse_from_rfc3339("2026-11-30T23:05:09+08:00").unwrap()
}

fn event(name: &str, blocks: &[&str]) -> DailyEvent {
    DailyEvent {
        at: at(),
        name: name.into(),
        description: "One sentence.".into(),
        properties: vec![("session".into(), "s-1".into())],
        blocks: blocks.iter().map(|b| (*b).to_owned()).collect(),
    }
}

/// Writes the events into an empty vault.
fn write(events: &[DailyEvent]) -> (dormouse_fixtures::TempVault, Vault) {
    let folder = temp_vault("");
    let vault = Vault::open(folder.path()).unwrap();
    for event in events {
        let (path, set) = plan_event(event, &vault.snapshot());
        let committed = vault.commit(&set).unwrap();
        assert!(committed.snapshot.note(&path).unwrap().doc().problems.is_empty());
    }
    (folder, vault)
}

fn check(event: &DailyEvent, expect: Expect) {
    expect.assert_eq(&write(std::slice::from_ref(event)).0.dump());
}

#[test]
fn an_event_becomes_a_note_and_a_line_in_the_index() {
    check(
        &event(
            "Fixed the 缓存 bug",
            &[
                "## What",
                "It was stale.",
                "- one\n- two\n  - nested",
                "- three",
                "```rust\nlet x = 1;\n\nlet y = 2;\n```",
                "| a | b |\n|---|---|\n| 1 | 2 |",
                "> quoted",
                "结论。",
            ],
        ),
        expect![[r#"
        === daily/2026-11-30.md
        # 2026-11-30

        - [[daily/2026-11-30/fixed-the-缓存-bug|Fixed the 缓存 bug]]
        === daily/2026-11-30/fixed-the-缓存-bug.md
        ---
        name: "Fixed the 缓存 bug"
        description: "One sentence."
        date: 2026-11-30T23:05:09+08:00
        session: "s-1"
        ---

        # Fixed the 缓存 bug

        ## What

        It was stale. ^b1

        - one ^b2
        - two ^b3
          - nested ^b4
        - three ^b5

        ```rust
        let x = 1;

        let y = 2;
        ```

        ^b6

        | a | b |
        |---|---|
        | 1 | 2 |

        ^b7

        > quoted

        ^b8

        结论。 ^b9
    "#]],
    );
}

#[test]
fn each_block_can_be_cited_by_its_id() {
    let (folder, _) = write(&[event(
        "E",
        &[
            "one\ntwo",
            "three\n\nfour",
            "- item\n  more of it",
            "```\nopen fence",
            "$$\nx\n\n- y\n$$",
            "1. a",
            "2. b",
            "intro:\n- x",
            "- code:\n  ```\n  - no item\n  ```",
        ],
    )]);
    let text = folder.read("daily/2026-11-30/e.md");
    let doc = Document::parse(&text);
    let cited: Vec<String> =
        doc.blocks.iter().map(|b| format!("{} {:?}", b.id.as_deref().unwrap_or("-"), &text[b.span.clone()])).collect();
    expect![[r#"
        b1 "one\ntwo ^b1"
        b2 "three ^b2"
        b3 "four ^b3"
        b4 "- item\n  more of it ^b4"
        b5 "```\nopen fence\n```\n\n^b5"
        b6 "$$\nx\n\n- y\n$$\n\n^b6"
        b7 "1. a ^b7"
        b8 "2. b ^b8"
        b9 "intro: ^b9"
        b10 "- x ^b10"
        b11 "- code: ^b11\n  ```\n  - no item\n  ```"
    "#]]
    .assert_eq(&(cited.join("\n") + "\n"));
}

#[test]
fn names_that_are_taken_get_a_number() {
    let (folder, vault) = write(&[event("Stand-up", &["a"]), event("stand up!", &["b"]), event("Stand up", &["c"])]);
    assert_eq!(
        folder.read("daily/2026-11-30.md"),
        "# 2026-11-30\n\n- [[daily/2026-11-30/stand-up|Stand-up]]\n- [[daily/2026-11-30/stand-up-2|stand up!]]\n- [[daily/2026-11-30/stand-up-3|Stand up]]\n"
    );
    assert_eq!(vault.snapshot().unresolved().len(), 0);
    assert_eq!(vault.snapshot().graph().edge_count(), 3);
}

#[test]
fn any_text_is_safe_as_a_name_or_a_property() {
    for name in [
        "a: b: c",
        "\"quoted\" \\ back",
        "--- yes",
        "[[Other|shown]] and [[x",
        "]] | a#b^c",
        "line\nbreak\ttab",
        "# no",
        "\u{85}\u{2028}\u{feff}x",
        "- x",
        "'",
        "🎉",
        "",
        "   ",
        "%% x",
        "{{y}}",
        "true",
        "../../etc/passwd",
        "漢字：冒号",
        "\u{202e}x",
        "x\u{0}y",
        "a]",
    ] {
        let mut event = event(name, &["text"]);
        event.description = name.into();
        event.properties = vec![
            ("source".into(), name.into()),
            ("name".into(), "taken".into()),
            ("a b:".into(), "v".into()),
            (": ".into(), "no key".into()),
        ];
        let (folder, vault) = write(&[event]);
        let snapshot = vault.snapshot();
        let note = snapshot.notes().find(|n| n.path.is_in("daily/2026-11-30")).unwrap();
        let properties = &note.doc().frontmatter.properties;
        assert!(note.doc().frontmatter.well_formed, "{name:?}");
        assert_eq!(properties.keys().collect::<Vec<_>>(), ["name", "description", "date", "source", "a-b"], "{name:?}");
        assert!(properties.values().all(serde_json::Value::is_string), "{name:?}: {properties:?}");
        assert!(note.doc().links.is_empty(), "{name:?}: {:?}", note.doc().links);
        let index = snapshot.note(&NotePath::new("daily/2026-11-30.md").unwrap()).unwrap();
        let targets: Vec<_> = snapshot.links_of(index).into_iter().map(|(_, to)| to.path().cloned()).collect();
        assert_eq!(targets, [Some(note.path.clone())], "{name:?}: {}", folder.read("daily/2026-11-30.md"));
    }
}

#[test]
fn text_that_looks_like_frontmatter_stays_text() {
    let (folder, vault) = write(&[event("E", &["---\nname: no\n---", "---", "***", "a\n---"])]);
    let snapshot = vault.snapshot();
    let note = snapshot.notes().find(|n| n.path.is_in("daily/2026-11-30")).unwrap();
    assert_eq!(&*note.name, "E");
    assert!(folder.read("daily/2026-11-30/e.md").contains("\nname: no\n---"));
}

#[test]
fn an_index_that_a_person_wrote_is_appended_to() {
    let folder = temp_vault("=== daily/2026-11-30.md\nMy day\r\n- walked");
    let vault = Vault::open(folder.path()).unwrap();
    vault.commit(&plan_event(&event("E", &["x"]), &vault.snapshot()).1).unwrap();
    assert_eq!(folder.read("daily/2026-11-30.md"), "My day\r\n- walked\r\n- [[daily/2026-11-30/e|E]]\r\n");
}

#[test]
fn audit_entries_of_one_page_are_one_change_and_their_links_are_no_edges() {
    let folder = temp_vault("=== digest/wiki/a.md\na\n");
    let vault = Vault::open(folder.path()).unwrap();
    let entry = |page, title: &str, body: &str| AuditEntry { page, at: at(), title: title.into(), body: body.into() };
    let entries = [
        entry("dream", "created\n# not a heading", "[[digest/wiki/a|A]] from [[daily/x]]\n"),
        entry("split", "nothing", ""),
        entry("dream", "dropped", "- one unit"),
    ];
    vault.commit(&append(&entries, vault.layout())).unwrap();
    vault.commit(&append(&entries[2..], vault.layout())).unwrap();
    expect![[r#"
        === audit/2026-11-30/dream.md
        # Dream 2026-11-30

        ## 23:05:09 created # not a heading

        [[digest/wiki/a|A]] from [[daily/x]]

        ## 23:05:09 dropped

        - one unit

        ## 23:05:09 dropped

        - one unit

        === audit/2026-11-30/split.md
        # Split 2026-11-30

        ## 23:05:09 nothing

        === digest/wiki/a.md
        a
    "#]]
    .assert_eq(&folder.dump());
    assert_eq!((vault.snapshot().graph().edge_count(), vault.snapshot().unresolved().len()), (0, 0));
}
