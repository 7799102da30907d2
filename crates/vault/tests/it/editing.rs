//! Edits that touch nothing outside their span.

use dormouse_fixtures::temp_vault;
use dormouse_vault::edit::{self, EditError, TextEdit};
use dormouse_vault::{CommitError, Document, Heading, NotePath, Vault, Version};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

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
        "refused: a property stands more than once in the frontmatter, on lines 3, 4; keep one before any is changed"
    "#]],
    );
    check(
        "---\nid: 1\ns: a\ns: b\n---\n",
        "id",
        "2",
        expect![[r#"
        "refused: a property stands more than once in the frontmatter, on lines 3, 4; keep one before any is changed"
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

/// What a section edit gives, or why it is refused.
#[track_caller]
fn in_section(
    text: &str,
    subpath: &str,
    edit: impl Fn(&str, &edit::Section) -> Result<TextEdit, EditError>,
) -> Result<String, EditError> {
    let section = edit::section(text, &Document::parse(text), subpath, None)?;
    edit::apply(text, &[edit(text, &section)?])
}

const LOG: &str = "\u{feff}---\r\nk: 1\r\n---\r\n# 日志\r\n\r\nIntro.\r\n\r\n## One\r\n- a\r\n  - b\r\n\r\n```sh\r\n# no heading\r\n```\r\n\r\n## Two ##\r\n\r\n### Deep\r\ndeep\r\n\r\nEnd\r\n===\r\nlast";

#[test]
fn a_section_is_replaced_from_its_first_line_to_its_last() {
    let replaced = |subpath: &str, with: &str| {
        in_section(LOG, subpath, |text, section| Ok(edit::replace_section(text, section, with))).unwrap()
    };
    assert_eq!(replaced("One", "x\ny\n"), LOG.replace("- a\r\n  - b\r\n\r\n```sh\r\n# no heading\r\n```", "x\r\ny"));
    assert_eq!(replaced("two", "z"), LOG.replace("### Deep\r\ndeep", "z"));
    assert_eq!(replaced("#日志#two#deep", "z"), LOG.replace("\r\ndeep\r\n", "\r\nz\r\n"));
    assert_eq!(replaced("End", "z"), LOG.replace("last", "z"));
    let empty =
        |text: &str| in_section(text, "H", |text, section| Ok(edit::replace_section(text, section, "new"))).unwrap();
    assert_eq!(empty("# H"), "# H\n\nnew");
    assert_eq!(empty("# H\n"), "# H\n\nnew\n");
    assert_eq!(empty("# H\n# I\n"), "# H\n\nnew\n\n# I\n");
    assert_eq!(empty("# H  \n\n\n\n# I\n"), "# H  \n\nnew\n\n\n\n# I\n");
}

#[test]
fn text_is_appended_to_a_section_and_put_around_it() {
    let append = |text: &str, subpath: &str, with: &str| {
        in_section(text, subpath, |text, section| edit::append_to_section(text, section, with))
    };
    assert_eq!(append(LOG, "One", "more").unwrap(), LOG.replace("```\r\n\r\n## Two", "```\r\n\r\nmore\r\n\r\n## Two"));
    assert_eq!(append(LOG, "日志", "more").unwrap(), LOG.replace("deep\r\n\r\nEnd", "deep\r\n\r\nmore\r\n\r\nEnd"));
    assert_eq!(append(LOG, "End", "more").unwrap(), format!("{LOG}\r\n\r\nmore"));
    assert_eq!(append("# H\n- a\n  - b\n# I\n", "H", "- c").unwrap(), "# H\n- a\n  - b\n- c\n# I\n");
    assert_eq!(append("# H\n- a\n\n\n# I\n", "H", "c").unwrap(), "# H\n- a\n\nc\n\n\n# I\n");
    assert_eq!(append("# H\ntext\n# I\n", "H", "- c").unwrap(), "# H\ntext\n\n- c\n\n# I\n");
    for (open, line) in [("# H\n```\nx\n", 2), ("# H\n<!-- x\n", 2)] {
        assert_eq!(append(open, "H", "y"), Err(EditError::NeverClosed { line }), "{open:?}");
    }
    let before = |text: &str, subpath: &str| {
        in_section(text, subpath, |text, section| Ok(edit::insert_before_section(text, section, "new"))).unwrap()
    };
    assert_eq!(before(LOG, "Two"), LOG.replace("## Two", "new\r\n\r\n## Two"));
    assert_eq!(before("a\n# H\n", "H"), "a\n\nnew\n\n# H\n");
    assert_eq!(before("\u{feff}# H\n", "H"), "\u{feff}new\n\n# H\n");
    let after = |text: &str, subpath: &str| {
        in_section(text, subpath, |text, section| edit::insert_after_section(text, section, "## New")).unwrap()
    };
    assert_eq!(after(LOG, "One"), LOG.replace("```\r\n\r\n## Two", "```\r\n\r\n## New\r\n\r\n## Two"));
    assert_eq!(after("# H", "H"), "# H\n\n## New");
}

#[test]
fn a_heading_that_stands_twice_is_an_error_that_names_the_lines() {
    let text = "# A\n## Same\none\n# B\n## Same\ntwo\n### C\n## Same\nthree\n";
    let find = |subpath: &str, occurrence: Option<usize>| {
        edit::section(text, &Document::parse(text), subpath, occurrence).map(|section| section.line)
    };
    assert_eq!(find("Same", None), Err(EditError::AmbiguousHeading { lines: vec![2, 5, 8] }));
    assert_eq!(find("Same", Some(2)), Ok(5));
    assert_eq!(find("Same", Some(4)), Err(EditError::NoSuchOccurrence { lines: vec![2, 5, 8] }));
    assert_eq!(find("A#Same", None), Ok(2));
    assert_eq!(find("B#Same", None), Err(EditError::AmbiguousHeading { lines: vec![5, 8] }));
    assert_eq!(find("b#c", None), Ok(7));
    assert_eq!(find("A#C", None), Ok(7), "where nothing lies below, Obsidian's own rule decides");
    let sharp = "# C# and F#\n# C\n";
    let section = edit::section(sharp, &Document::parse(sharp), "c# and f#", None).unwrap();
    assert_eq!(section.line, 1, "a heading may be named as it is written");
    assert_eq!(find("None", None), Err(EditError::NoSuchHeading));
    assert_eq!(find("", None), Err(EditError::NoSuchHeading));
    assert_eq!(find("#^id", None), Err(EditError::NoSuchHeading));
}

#[test]
fn a_block_is_replaced_and_keeps_its_id() {
    let replaced = |text: &str, id: &str, with: &str| {
        let block = edit::block(text, &Document::parse(text), id, None)?;
        edit::apply(text, &[edit::replace_block(text, &block, with)])
    };
    let check = |text: &str, id: &str, with: &str, expected: &str| {
        assert_eq!(replaced(text, id, with).as_deref(), Ok(expected));
    };
    check("a\r\nb ^x\r\n\r\nc\r\n", "^X", "one\ntwo", "one\r\ntwo ^x\r\n\r\nc\r\n");
    check("a ^x", "x", "b ^y", "b ^y");
    check("| a |\n|---|\n| b |\n\n^t\n\nc\n", "t", "| z |\n|---|", "| z |\n|---|\n\n^t\n\nc\n");
    check("```\n# x ^no\n```\n^c\n", "#^c", "text", "text\n^c\n");
    check("- a\n  - [ ] b ^x\n    more\n  - c\n", "x", "new\nline", "- a\n  - [ ] new\n        line ^x\n  - c\n");
    check("- a ^x\n- c\n", "x", "* b\n  * d", "* b\n  * d ^x\n- c\n");
    check("1. a ^x\n", "x", "b", "1. b ^x\n");
    check("- a\n- b\n\n^list\n\nend\n", "list", "none", "none\n\n^list\n\nend\n");
    check("> q\n> r ^q\n", "q", "> s", "> s ^q\n");
    assert_eq!(replaced("a ^x\n\nb ^X\n", "x", "c"), Err(EditError::AmbiguousBlock { lines: vec![1, 3] }));
    assert_eq!(replaced("`a ^x` b\n", "x", "c"), Err(EditError::NoSuchBlock));

    let after = |text: &str, id: &str, with: &str| {
        let block = edit::block(text, &Document::parse(text), id, None)?;
        edit::apply(text, &[edit::append_after_block(text, &block, with)?])
    };
    assert_eq!(after("a ^x\nb\n", "x", "c").err(), Some(EditError::NoSuchBlock), "the id ends no block");
    assert_eq!(after("a ^x\n\nb\n", "x", "c").unwrap(), "a ^x\n\nc\n\nb\n");
    assert_eq!(after("- a\n  - b ^x\n- c\n", "x", "- d\n  e").unwrap(), "- a\n  - b ^x\n  - d\n    e\n- c\n");
    assert_eq!(after("- a ^x\n- c", "x", "text").unwrap(), "- a ^x\n\ntext\n\n- c");
    assert_eq!(after("- a\n- b\n\n^l\n", "l", "c").unwrap(), "- a\n- b\n\n^l\n\nc\n");
}

#[test]
fn a_property_is_taken_away_with_its_lines_alone() {
    let without = |text: &str, key: &str| edit::remove_property(text, key).and_then(|edits| edit::apply(text, &edits));
    let text = "---\r\n# keep me\r\na: 1 # its own\r\nlist:\r\n  - x\r\n  # inside\r\n  - y\r\n# after\r\nb: |\r\n  one\r\n\r\n  two\r\nc:\r\n---\r\nbody\r\n";
    assert_eq!(without(text, "a").unwrap(), text.replace("a: 1 # its own\r\n", ""));
    assert_eq!(without(text, "list").unwrap(), text.replace("list:\r\n  - x\r\n  # inside\r\n  - y\r\n", ""));
    assert_eq!(without(text, "b").unwrap(), text.replace("b: |\r\n  one\r\n\r\n  two\r\n", ""));
    assert_eq!(without(text, "c").unwrap(), text.replace("c:\r\n", ""));
    assert_eq!(without("---\na: 1\n---\n", "a").unwrap(), "---\n---\n");
    assert_eq!(without(text, "d"), Err(EditError::NoSuchProperty));
    assert_eq!(without("body\n", "d"), Err(EditError::NoSuchProperty));
    assert_eq!(without("---\n{a: 1, b: 2}\n---\n", "a"), Err(EditError::NotInPlace { line: 2 }));
    assert_eq!(without("---\na: &x 1\nb: *x\n---\n", "a"), Err(EditError::NotInPlace { line: 2 }));
    assert_eq!(without("---\na: b: c\n---\n", "a"), Err(EditError::MalformedFrontmatter { line: 2 }));
}

/// VLT-22: which of two counts is not ours to say, and the block is never rewritten.
#[test]
fn vlt_22_no_property_is_changed_beside_a_key_that_stands_twice() {
    let text = "---\nid: 1\nstatus: open\n\"status\": closed\ntags: [a]\n---\nBody\n";
    let doc = Document::parse(text);
    for key in ["status", "id", "tags", "new"] {
        let refused = Some(EditError::DuplicateKey { lines: vec![3, 4] });
        assert_eq!(edit::set_property(text, &doc, key, "x").err(), refused, "set {key}");
        assert_eq!(edit::remove_property(text, key).err(), refused, "unset {key}");
        assert_eq!(edit::add_to_list(text, &doc, key, "x").err(), refused, "add {key}");
        assert_eq!(edit::remove_from_list(text, key, "a").err(), refused, "remove {key}");
    }
    let nested = "---\na:\n  k: 1\nb:\n  k: 2\n---\n";
    assert_eq!(set(nested, "c", "3").unwrap(), nested.replace("k: 2\n", "k: 2\nc: 3\n"));
}

#[test]
fn a_key_that_obsidian_reads_in_any_case_is_edited_where_it_stands() {
    for (key, written) in [("aliases", "Aliases"), ("TAGS", "tags"), ("tags", "Tags"), ("cssclasses", "CSSclasses")] {
        let text = format!("---\nx: 1\n{written}: [A]\n---\n");
        let doc = Document::parse(&text);
        let edited = |edits: Result<Vec<TextEdit>, EditError>| edit::apply(&text, &edits.unwrap()).unwrap();
        assert_eq!(edited(edit::add_to_list(&text, &doc, key, "B")), text.replace("[A]", "[A, B]"));
        assert_eq!(edited(edit::add_to_list(&text, &doc, key, "A")), text);
        assert_eq!(edited(edit::remove_from_list(&text, key, "A")), text.replace("[A]", "[]"));
        assert_eq!(edited(edit::set_property(&text, &doc, key, "[C]")), text.replace("[A]", "[C]"));
        assert_eq!(edited(edit::remove_property(&text, key)), "---\nx: 1\n---\n");
    }
    let both = "---\naliases: [A]\nAliases: [B]\n---\n";
    assert_eq!(set(both, "aliases", "[C]"), Err(EditError::DuplicateKey { lines: vec![2, 3] }));
}

#[test]
fn another_key_is_compared_exactly_and_makes_no_twin_in_another_case() {
    let text = "---\nStatus: a\nÉtat: b\n---\n";
    let doc = Document::parse(text);
    for (key, line) in [("status", 2), ("STATUS", 2), ("état", 3)] {
        let refused = Some(EditError::OtherCase { line });
        assert_eq!(set(text, key, "x").err(), refused);
        assert_eq!(edit::add_to_list(text, &doc, key, "x").err(), refused);
        assert_eq!(edit::remove_from_list(text, key, "a").err(), refused);
        assert_eq!(edit::remove_property(text, key).err(), refused);
    }
    let both = "---\nStatus: a\nstatus: b\n---\n";
    assert_eq!(set(both, "status", "c").unwrap(), both.replace("b\n", "c\n"));
    assert_eq!(set(both, "STATUS", "c"), Err(EditError::OtherCase { line: 2 }));
}

#[test]
fn an_occurrence_that_is_not_there_says_how_many_are() {
    let text = "# H\n# H\n\na ^x\n\n# I\n";
    let doc = Document::parse(text);
    let heading = |name: &str, n: usize| edit::section(text, &doc, name, Some(n)).unwrap_err().to_string();
    assert_eq!(heading("H", 3), "there are only 2, on lines 1, 2");
    assert_eq!(heading("I", 2), "there is only 1, on line 6");
    assert_eq!(edit::block(text, &doc, "x", Some(2)).unwrap_err().to_string(), "there is only 1, on line 4");
}

/// VLT-07: a property that is a list in a list, because its brackets are not quoted, stays as it is.
#[test]
fn vlt_07_a_property_beside_an_unquoted_link_is_set() {
    let text = "---\nrelated: [[Alpha, Beta]]\n---\nderived_from:: [[daily/2026-01-05]], [[Smith, Ana]]\n";
    assert_eq!(set(text, "status", "open").unwrap(), text.replace("]]\n---", "]]\nstatus: open\n---"));
}

/// VLT-20: only the first block is frontmatter, and only when it is a mapping.
#[test]
fn vlt_20_a_rule_in_the_body_is_never_taken_for_properties() {
    let two = "---\nk: v\n---\n\ntext\n\n---\ncode block: sample\n---\nend\n";
    assert_eq!(set(two, "k", "w").unwrap(), two.replace("k: v", "k: w"));
    for letter in ["---\n**RIVER LEGAL**\nC. Osei\n---\n\nDear reader, see [[Case 9]].\n", "---\n- a\n- b\n---\nX\n"] {
        assert_eq!(set(letter, "type", "memo").unwrap(), format!("---\ntype: memo\n---\n{letter}"));
    }
}

#[test]
fn a_list_gains_and_loses_values_in_its_own_style() {
    let add = |text: &str, value: &str| {
        edit::add_to_list(text, &Document::parse(text), "tags", value).and_then(|edits| edit::apply(text, &edits))
    };
    let remove = |text: &str, value: &str| {
        edit::remove_from_list(text, "tags", value).and_then(|edits| edit::apply(text, &edits))
    };
    let fm = |inner: &str| format!("---\nx: 1\n{inner}y: 2 # end\n---\nbody\n");
    let adds = |before: &str, value: &str, after: &str| assert_eq!(add(&fm(before), value), Ok(fm(after)));
    adds("tags: [a,  \"b, c\"] # c\n", "d", "tags: [a,  \"b, c\", d] # c\n");
    adds("tags: []\n", "d: e", "tags: [\"d: e\"]\n");
    adds("tags: [a, ]\n", "d", "tags: [a, d]\n");
    adds("tags:\n  - a\n  - b # last\n", "d", "tags:\n  - a\n  - b # last\n  - d\n");
    adds("tags:\n- a\n", "[[N]]", "tags:\n- a\n- \"[[N]]\"\n");
    adds("tags: a\n", "d", "tags: [a, d]\n");
    adds("tags:\n", "d", "tags:\n  - d\n");
    adds("tags: [a]\n", "a", "tags: [a]\n");
    adds("tags: [[\"p\"], 'it''s']\n", "q", "tags: [[\"p\"], 'it''s', q]\n");
    assert_eq!(add("---\nx: 1\n---\n", "d").unwrap(), "---\nx: 1\ntags:\n  - d\n---\n");
    assert_eq!(add("\u{feff}b\r\n", "d").unwrap(), "\u{feff}---\r\ntags:\r\n  - d\r\n---\r\nb\r\n");
    assert_eq!(add("---\ntags: [a]\ntags: [b]\n---\n", "d"), Err(EditError::DuplicateKey { lines: vec![2, 3] }));

    let removes = |before: &str, value: &str, after: &str| assert_eq!(remove(&fm(before), value), Ok(fm(after)));
    removes("tags: [a, \"b, c\",  d] # c\n", "b, c", "tags: [a,  d] # c\n");
    removes("tags: [a, b]\n", "a", "tags: [b]\n");
    removes("tags: [a, b, a]\n", "a", "tags: [b]\n");
    removes("tags: [a]\n", "a", "tags: []\n");
    removes("tags:\n  - a # x\n  # y\n  - b\n", "b", "tags:\n  - a # x\n  # y\n");
    removes("tags:\n  - a\n  - b\n  - a\n", "a", "tags:\n  - b\n");
    removes("tags:\n- a\n", "a", "tags: []\n");
    removes("tags: a\n", "a", "tags: []\n");
    removes("tags: [a]\n", "z", "tags: [a]\n");
    assert_eq!(remove("---\nx: 1\n---\n", "a"), Err(EditError::NoSuchProperty));
}

#[test]
fn a_range_takes_the_line_ends_of_the_note() {
    let edit = edit::replace_range("a\r\nb\r\n", 3..4, "x\ny").unwrap();
    assert_eq!(edit::apply("a\r\nb\r\n", &[edit]).unwrap(), "a\r\nx\r\ny\r\n");
    assert_eq!(edit::replace_range("é", 0..1, "x"), Err(EditError::OutOfBounds { span: 0..1 }));
}

/// VLT-29: an edit that was planned from a stale read is a conflict that carries what is there now.
#[test]
fn vlt_29_a_planned_edit_names_the_version_that_was_read() {
    let folder = temp_vault("=== n.md\n# Log\n\n- v1\n");
    let vault = Vault::open(folder.path()).unwrap();
    let read = vault.read(&NotePath::new("n.md").unwrap()).unwrap();
    let section = edit::section(&read.text, &Document::parse(&read.text), "Log", None).unwrap();
    let edits = [edit::append_to_section(&read.text, &section, "- v2").unwrap()];
    let set = edit::plan(&read, &edits).unwrap();
    assert_eq!(
        vault.preview(&set).unwrap()[0].diff,
        "--- a/n.md\n+++ b/n.md\n@@ -1,3 +1,4 @@\n # Log\n \n - v1\n+- v2\n"
    );
    folder.write("n.md", "# Log\n\n- mine\n");
    match vault.commit(&set).unwrap_err() {
        CommitError::Conflict(conflict) => {
            assert_eq!(conflict.expected, Some(read.version));
            assert_eq!(conflict.current.unwrap().version, Version::of(b"# Log\n\n- mine\n"));
            assert!(conflict.diff.contains("-- mine\n+- v1\n+- v2\n"), "{}", conflict.diff);
        }
        error => panic!("{error}"),
    }
    assert_eq!(folder.read("n.md"), "# Log\n\n- mine\n");
    let read = vault.read(&NotePath::new("n.md").unwrap()).unwrap();
    vault.commit(&edit::plan(&read, &edits_of(&read.text, "- v2")).unwrap()).unwrap();
    assert_eq!(folder.read("n.md"), "# Log\n\n- mine\n- v2\n");
}

#[test]
fn what_is_no_note_is_never_planned_for() {
    let names =
        ["b.canvas", "c.base", "d.svg", "e.pdf", "f.csv", "g.txt", "dormouse.toml", "plain", "h.markdown", "i.md.bak"];
    let folder = temp_vault("=== a.MD\nx\n");
    for name in names {
        folder.write(name, "{}\n");
    }
    let vault = Vault::open(folder.path()).unwrap();
    let plan = |name: &str| {
        let read = vault.read(&NotePath::new(name).unwrap()).unwrap();
        edit::plan(&read, &[TextEdit { span: 0..0, with: "k".into() }])
    };
    for name in names {
        assert_eq!(plan(name).err(), Some(EditError::NotANote { path: NotePath::new(name).unwrap() }));
    }
    assert!(plan("a.MD").is_ok());
}

fn edits_of(text: &str, item: &str) -> Vec<TextEdit> {
    let section = edit::section(text, &Document::parse(text), "Log", None).unwrap();
    vec![edit::append_to_section(text, &section, item).unwrap()]
}

/// Pieces of a note in which headings, lists, fences and ids are frequent; the line ends are set later.
fn notes() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "# A\n",
        "## Same\n",
        "## Same\n\n",
        "### 标题 ###\n",
        "Setext\n===\n",
        "text ^id\n",
        "text\n",
        "\n",
        "\n\n",
        "- item\n",
        "  - nested ^id\n",
        "1. one\n",
        "```\n# no heading\n```\n",
        "~~~~\n## Same\n~~~\n~~~~\n",
        "> # quoted\n",
        "| a |\n|---|\n\n^tab\n",
        "$$\n# x\n$$\n",
        "%% c\n# x\n%%\n",
        "<!-- # x -->\n",
        "[[链接|x]] 中文。\n",
        "last",
    ]);
    (prop::collection::vec(piece, 0..14), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(pieces, crlf, mark, fm)| {
            let mut text = pieces.concat();
            if fm {
                text.insert_str(0, "---\nk: v # kept\nlist:\n  - a\n---\n");
            }
            if mark {
                text.insert(0, '\u{feff}');
            }
            if crlf { text.replace('\n', "\r\n") } else { text }
        },
    )
}

/// All but the edits' spans is as it was.
fn outside_is_kept(text: &str, edited: &str, edit: &TextEdit) -> bool {
    let tail = &text[edit.span.end..];
    edited.starts_with(&text[..edit.span.start])
        && edited.ends_with(tail)
        && edited.len() == text.len() - edit.span.len() + edit.with.len()
}

/// A heading as a link names it: punctuation counts as blanks.
fn key(heading: &str) -> String {
    let blank = |c: char| if c.is_ascii_punctuation() && !"-_'".contains(c) || c == '\n' { ' ' } else { c };
    let spaced: String = heading.chars().map(blank).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn headings(doc: &Document) -> Vec<(u8, String)> {
    doc.headings.iter().map(|heading| (heading.level, heading.text.clone())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, rng_seed: RngSeed::Fixed(11), ..ProptestConfig::default() })]

    #[test]
    fn a_section_edit_changes_its_section_alone(text in notes(), at in any::<prop::sample::Index>(), with in prop::sample::select(vec!["new", "new\n\nmore", "- item"])) {
        let doc = Document::parse(&text);
        prop_assume!(!doc.headings.is_empty());
        let heading = &doc.headings[at.index(doc.headings.len())];
        let same = |h: &&Heading| key(&h.text) == key(&heading.text) && h.line <= heading.line;
        let same = doc.headings.iter().filter(same).count();
        let section = edit::section(&text, &doc, &heading.text, Some(same)).unwrap();
        prop_assert_eq!(section.line, heading.line);
        let at = doc.headings.iter().position(|h| h.line == heading.line).unwrap();
        let below = doc.headings[at + 1..].iter().take_while(|h| h.level > heading.level).count();

        let replace = edit::replace_section(&text, &section, with);
        let edited = edit::apply(&text, std::slice::from_ref(&replace)).unwrap();
        prop_assert!(outside_is_kept(&text, &edited, &replace));
        prop_assert!(replace.span.start >= section.heading.end);
        prop_assert_eq!(edited.contains("\r\n"), text.contains("\r\n") || (replace.with.contains("\r\n")));
        let after = Document::parse(&edited);
        let mut kept = headings(&doc);
        kept.drain(at + 1..at + 1 + below);
        if edit::append_to_section(&text, &section, with).is_ok() {
            prop_assert_eq!(headings(&after), kept, "{:?} → {:?}", text, edited);
        }

        if let Ok(append) = edit::append_to_section(&text, &section, with) {
            let edited = edit::apply(&text, std::slice::from_ref(&append)).unwrap();
            prop_assert!(append.span.is_empty() && outside_is_kept(&text, &edited, &append));
            let after = Document::parse(&edited);
            prop_assert_eq!(headings(&after), headings(&doc), "{:?} → {:?}", text, edited);
            // The new text ends the section.
            let section = edit::section(&edited, &after, &heading.text, Some(same)).unwrap();
            let last = with.lines().last().unwrap();
            prop_assert!(edited[section.content].ends_with(last), "{:?} → {:?}", text, edited);
        }
    }

    #[test]
    fn a_block_edit_changes_its_block_alone(text in notes(), with in prop::sample::select(vec!["new", "new\nmore", "- item\n  - deep"])) {
        let doc = Document::parse(&text);
        for id in ["id", "tab"] {
            let count = doc.blocks.iter().filter(|b| b.id.as_deref() == Some(id)).count();
            for n in 1..=count {
                let block = edit::block(&text, &doc, id, (count > 1).then_some(n)).unwrap();
                let replace = edit::replace_block(&text, &block, with);
                let edited = edit::apply(&text, std::slice::from_ref(&replace)).unwrap();
                prop_assert!(outside_is_kept(&text, &edited, &replace));
                prop_assert!(block.span.start <= replace.span.start && replace.span.end <= block.span.end);
                let after = Document::parse(&edited);
                prop_assert_eq!(headings(&after), headings(&doc), "{:?} → {:?}", text, edited);
                let ids = after.blocks.iter().filter(|b| b.id.as_deref() == Some(id)).count();
                prop_assert_eq!(ids, count, "{:?} → {:?}", text, edited);
                if let Ok(append) = edit::append_after_block(&text, &block, with) {
                    let edited = edit::apply(&text, std::slice::from_ref(&append)).unwrap();
                    prop_assert!(append.span.is_empty() && outside_is_kept(&text, &edited, &append));
                    prop_assert_eq!(headings(&Document::parse(&edited)), headings(&doc), "{:?} → {:?}", text, edited);
                }
            }
        }
    }

    #[test]
    fn a_property_edit_is_taken_back_by_its_opposite(text in notes(), value in "\\PC{1,8}") {
        let doc = Document::parse(&text);
        let apply = |text: &str, edits: Result<Vec<TextEdit>, EditError>| edit::apply(text, &edits.unwrap()).unwrap();
        let set = apply(&text, edit::set_property(&text, &doc, "new", &edit::yaml_quote(&value)));
        let read = Document::parse(&set);
        prop_assert_eq!(read.frontmatter.properties["new"].as_str(), Some(value.as_str()));
        let back = apply(&set, edit::remove_property(&set, "new"));
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        prop_assert_eq!(back.replacen(&format!("---{end}---{end}"), "", usize::from(doc.frontmatter.span.is_none())), text.as_str());
        if doc.frontmatter.span.is_some() && value != "a" {
            let added = apply(&text, edit::add_to_list(&text, &doc, "list", &value));
            let items = Document::parse(&added).frontmatter.properties["list"].clone();
            prop_assert_eq!(items, serde_json::json!(["a", value]));
            prop_assert_eq!(apply(&added, edit::remove_from_list(&added, "list", &value)), text);
        }
    }
}

#[test]
fn a_tag_without_a_value_is_no_value_and_never_becomes_part_of_one() {
    for alone in ["!t", "&a", "!t # c"] {
        assert_eq!(set("---\nk: 1\n---\n", "k", alone), Err(EditError::BadYaml), "{alone}");
    }
    for text in ["---\nk: !t\n---\n", "---\nk:\n  !t\n---\n"] {
        assert!(matches!(set(text, "k", "done"), Err(EditError::NotInPlace { .. })), "{text:?}");
    }
}
