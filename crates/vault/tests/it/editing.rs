//! Edits that touch nothing outside their span.

use dormouse_vault::Document;
use dormouse_vault::edit::{self, EditError, TextEdit};
use expect_test::{Expect, expect};

#[track_caller]
fn set(text: &str, key: &str, value: &str) -> Result<String, EditError> {
    let edits = edit::set_property(text, &Document::parse(text), key, value)?;
    edit::apply(text, &edits)
}

#[track_caller]
fn check(text: &str, key: &str, value: &str, expected: Expect) {
    let shown = set(text, key, value).unwrap_or_else(|error| format!("refused: {error}"));
    expected.assert_eq(&format!("{shown:?}\n"));
}

/// VLT-18.
#[test]
fn setting_a_property_changes_its_line_alone() {
    let text = "---\n# keep me\nid: \"0042\"\ncreated: 2024-01-05\nalias: [One, Two]\nflag: yes\nratio: 1.10\nempty:\nnote: 'it''s'   # tail\nstatus: draft\n---\nBody\n";
    assert_eq!(set(text, "status", "final").unwrap(), text.replace("draft", "final"));
    assert_eq!(set(text, "note", "x").unwrap(), text.replace("'it''s'", "x"));
    assert_eq!(set(text, "empty", "full").unwrap(), text.replace("empty:", "empty: full"));
    assert_eq!(set(text, "alias", "[Three]").unwrap(), text.replace("[One, Two]", "[Three]"));
    assert_eq!(set(text, "new", "\"[[A]]\"").unwrap(), text.replace("draft\n", "draft\nnew: \"[[A]]\"\n"));
}

#[test]
fn a_list_over_several_lines_is_replaced_as_a_whole() {
    check(
        "---\na:\n  - x\n  - y\nb: 1\n---\n",
        "a",
        "[z]",
        expect![[r#"
        "---\na: [z]\nb: 1\n---\n"
    "#]],
    );
    check(
        "---\na: |\n  x\n  y\nb: 1\n---\n",
        "a",
        "z",
        expect![[r#"
        "---\na: z\nb: 1\n---\n"
    "#]],
    );
}

/// VLT-20 and VLT-24.
#[test]
fn a_note_without_properties_gets_a_block_in_front() {
    check(
        "text\r\n",
        "k",
        "v",
        expect![[r#"
        "---\r\nk: v\r\n---\r\ntext\r\n"
    "#]],
    );
    check(
        "\u{feff}text",
        "k",
        "v",
        expect![[r#"
        "\u{feff}---\nk: v\n---\ntext"
    "#]],
    );
    check(
        "---\nRIVER LEGAL\n---\nText kept.\n",
        "type",
        "memo",
        expect![[r#"
        "---\ntype: memo\n---\n---\nRIVER LEGAL\n---\nText kept.\n"
    "#]],
    );
    check(
        "---\n---\nx\n",
        "k",
        "v",
        expect![[r#"
        "---\nk: v\n---\nx\n"
    "#]],
    );
    check(
        "\u{feff}---\r\ntitle: T\r\ntags: [a]\r\n---\r\n# H\r\n",
        "title",
        "U",
        expect![[r#"
        "\u{feff}---\r\ntitle: U\r\ntags: [a]\r\n---\r\n# H\r\n"
    "#]],
    );
}

/// VLT-22, and every form that can't be changed in place.
#[test]
fn what_cannot_be_changed_safely_is_refused_with_its_line() {
    check(
        "---\nok: 1\nbad: a: b\n---\n",
        "ok",
        "2",
        expect![[r#"
        "refused: line 3: the frontmatter is malformed; mend it before it is changed"
    "#]],
    );
    check(
        "---\nid: 1\ns: a\ns: b\n---\n",
        "s",
        "c",
        expect![[r#"
        "refused: line 4: the property stands twice; keep one before it is changed"
    "#]],
    );
    check(
        "---\nid: 1\ns: a\ns: b\n---\n",
        "id",
        "2",
        expect![[r#"
        "---\nid: 2\ns: a\ns: b\n---\n"
    "#]],
    );
    check(
        "---\n{a: 1}\n---\n",
        "a",
        "2",
        expect![[r#"
        "refused: line 2: this property is written in a form that is not changed in place; edit it by hand"
    "#]],
    );
    check(
        "---\na: &x 1\nb: *x\n---\n",
        "a",
        "2",
        expect![[r#"
        "refused: line 2: this property is written in a form that is not changed in place; edit it by hand"
    "#]],
    );
    check(
        "---\na: 1\n---\n",
        "a",
        "b: c",
        expect![[r#"
            "refused: the key or the value is not YAML for one property; quote it"
        "#]],
    );
    check(
        "---\na: 1\n---\n",
        "a",
        "\"open",
        expect![[r#"
            "refused: the key or the value is not YAML for one property; quote it"
        "#]],
    );
    check(
        "---\na: 1\n---\n",
        "b",
        "1\nc: 2",
        expect![[r#"
        "refused: the key or the value is not YAML for one property; quote it"
    "#]],
    );
}

#[test]
fn blocks_are_added_with_the_line_ends_of_the_note() {
    let add = |text: &str, block: &str| edit::apply(text, &[edit::append_block(text, block)]).unwrap();
    assert_eq!(add("", "a"), "a\n");
    assert_eq!(add("x", "a"), "x\n\na\n");
    assert_eq!(add("x\n", "a\nb\n"), "x\n\na\nb\n");
    assert_eq!(add("x\r\n", "a\nb"), "x\r\n\r\na\r\nb\r\n");
    assert_eq!(add("x\n\n", "a"), "x\n\na\n");

    let after = |text: &str, block: usize| {
        let doc = Document::parse(text);
        edit::apply(text, &[edit::insert_after(text, &doc.blocks[block], "new")]).unwrap()
    };
    assert_eq!(after("a\n\nb\n", 0), "a\n\nnew\n\nb\n");
    assert_eq!(after("a\n# H\n", 0), "a\n\nnew\n\n# H\n");
    assert_eq!(after("- a\n- b\n", 0), "- a\nnew\n- b\n");
    assert_eq!(after("a", 0), "a\n\nnew");
}

#[test]
fn edits_must_lie_in_the_text_and_apart() {
    let edit = |span: std::ops::Range<usize>| TextEdit { span, with: "x".into() };
    assert_eq!(edit::apply("abcd", &[edit(2..3), edit(0..1)]).unwrap(), "xbxd");
    assert_eq!(edit::apply("abcd", &[edit(0..2), edit(1..3)]), Err(EditError::Overlap { at: 1 }));
    assert_eq!(edit::apply("é", &[edit(1..2)]), Err(EditError::OutOfBounds { span: 1..2 }));
    assert_eq!(edit::apply("a", &[edit(0..9)]), Err(EditError::OutOfBounds { span: 0..9 }));
}
