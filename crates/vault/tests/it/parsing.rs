//! What one pass over a note's text yields: properties, headings, blocks, fields, tags, problems.

use std::fmt::Write as _;

use dormouse_vault::Document;
use expect_test::{Expect, expect};

/// Blocks and headings in order of lines, with what they stand for.
#[track_caller]
fn check_blocks(text: &str, expected: Expect) {
    let doc = Document::parse(text);
    let mut rows: Vec<(u32, String)> = Vec::new();
    for heading in &doc.headings {
        let source = &text[heading.span.clone()];
        rows.push((heading.line, format!("{} h{} {:?} = {source:?}", heading.line, heading.level, heading.text)));
    }
    for block in &doc.blocks {
        let id = block.id.as_ref().map_or(String::new(), |id| format!(" ^{id}"));
        let depth = if block.depth > 0 { format!(" depth {}", block.depth) } else { String::new() };
        let under = block.heading.map_or(String::new(), |h| format!(" under {:?}", doc.headings[h as usize].text));
        let (first, last) = block.lines;
        let source = &text[block.span.clone()];
        rows.push((first, format!("{first}-{last} {:?}{depth}{id}{under} {source:?}", block.kind)));
    }
    rows.sort();
    expected.assert_eq(&rows.iter().fold(String::new(), |out, (_, row)| out + row + "\n"));
}

#[track_caller]
fn check_tags(text: &str, expected: &[&str]) {
    assert_eq!(Document::parse(text).tags, expected);
}

#[track_caller]
fn check_fields(text: &str, expected: Expect) {
    let doc = Document::parse(text);
    let shown = doc.fields.iter().fold(String::new(), |mut out, f| {
        assert_eq!(text[f.value_span.clone()].trim(), f.value);
        writeln!(out, "{}: {:?} = {:?} in {:?}", f.line, f.key, f.value, &text[f.span.clone()]).unwrap();
        out
    });
    expected.assert_eq(&shown);
}

#[track_caller]
fn check_properties(text: &str, expected: Expect) {
    let doc = Document::parse(text);
    let mut shown = serde_json::to_string(&doc.frontmatter.properties).unwrap();
    if !doc.frontmatter.well_formed {
        shown.push_str(" malformed");
    }
    write!(shown, "\nbody {:?}\n", &text[doc.body.clone()]).unwrap();
    for problem in &doc.problems {
        writeln!(shown, "{:?} {problem}", problem.kind).unwrap();
    }
    expected.assert_eq(&shown);
}

#[test]
fn a_body_is_cut_into_blocks_that_stand_under_their_headings() {
    check_blocks(
        "intro\nmore ^a1\n\n# One #\n- item\n  more\n  - inner\n\n  back\n- next ^n\n1. num\n\n> quote\nlazy\n> - in\n\n```x\n# no\n\n```\n\n\
         | t |\n|---|\n| r |\n\n^tab\n\nTwo\nlines\n---\n***\n<div>\nx\n</div>\n\n%%\nhidden\n\n# no\n%%\n$$\nx\n\ny\n$$\n[^1]: foot\n    note\n\n[ref]: target\n",
        expect![[r##"
            1-2 Paragraph ^a1 "intro\nmore ^a1"
            4 h1 "One" = "# One #"
            5-6 ListItem under "One" "- item\n  more"
            7-7 ListItem depth 1 under "One" "  - inner"
            9-9 ListItem under "One" "  back"
            10-10 ListItem ^n under "One" "- next ^n"
            11-11 ListItem under "One" "1. num"
            13-15 Quote under "One" "> quote\nlazy\n> - in"
            17-20 Code under "One" "```x\n# no\n\n```"
            22-26 Table ^tab under "One" "| t |\n|---|\n| r |\n\n^tab"
            28 h2 "Two\nlines" = "Two\nlines\n---"
            31-31 Rule under "Two\nlines" "***"
            32-34 Html under "Two\nlines" "<div>\nx\n</div>"
            36-40 Comment under "Two\nlines" "%%\nhidden\n\n# no\n%%"
            41-45 Math under "Two\nlines" "$$\nx\n\ny\n$$"
            46-47 Footnote under "Two\nlines" "[^1]: foot\n    note"
            49-49 Paragraph under "Two\nlines" "[ref]: target"
        "##]],
    );
}

#[test]
fn an_id_on_a_line_of_its_own_belongs_to_what_stands_before() {
    check_blocks(
        "- a\n- b\n\n^list\n\n> q\n\n^q\n\n# H\n^alone\n\npara\n\n^p ^no\n\n^first\n\n^second\n",
        expect![[r##"
        1-1 ListItem ^list "- a"
        2-4 ListItem "- b\n\n^list"
        6-8 Quote ^q "> q\n\n^q"
        10 h1 "H" = "# H"
        11-11 Paragraph ^alone under "H" "^alone"
        13-13 Paragraph under "H" "para"
        15-15 Paragraph ^no under "H" "^p ^no"
        17-17 Paragraph ^first under "H" "^first"
        19-19 Paragraph ^second under "H" "^second"
    "##]],
    );
}

#[test]
fn carriage_returns_and_the_mark_are_understood() {
    check_blocks(
        "\u{feff}---\r\na: b\r\n---\r\n# H\r\none\r\ntwo ^x\r\n\r\n- l\r\n",
        expect![[r##"
        4 h1 "H" = "# H"
        5-6 Paragraph ^x under "H" "one\r\ntwo ^x"
        8-8 ListItem under "H" "- l"
    "##]],
    );
}

#[test]
fn an_unclosed_comment_or_formula_swallows_nothing() {
    check_blocks(
        "%% open\n\n# H\n\n$$ open\n\npara\n",
        expect![[r##"
        1-1 Paragraph "%% open"
        3 h1 "H" = "# H"
        5-5 Paragraph under "H" "$$ open"
        7-7 Paragraph under "H" "para"
    "##]],
    );
}

#[test]
fn tags_are_words_after_a_blank_and_each_counts_once() {
    check_tags(
        "#a/b #A/B #x-1_y #2026 #2026a (#c) \"#4285F4\" x/#y a#no \\#no `#no`\n#end.",
        &["a/b", "x-1_y", "2026a", "c", "end"],
    );
    check_tags("#标签，后 #タグ/子。 （#括号） #🚀go", &["标签", "タグ/子", "括号", "🚀go"]);
    check_tags("[x](https://e.com/#frag) [[a #no]] [#no](b.md)\n```\n#no\n```\n# heading #yes\n", &["yes"]);
    check_tags("---\ntags: [One, \"#two\", 3, \"a b\"]\n---\n#one #three", &["One", "two", "three"]);
    check_tags("---\ntags: 'a, b'\ntag: c\n---\n", &[]);
}

#[test]
fn fields_are_read_on_lines_and_in_brackets() {
    check_fields(
        "Key:: value\n**Bold Key**:: [[a]], [[b]]\n- item:: x ^id\n- [ ] task:: y\n> quoted:: z\n\ntext [in:: (a) [b]] and (round:: v) [🦀:: c] here\n\
         one: colon\nstd::fs x\nhttp://a::b\n`code:: no`\nEmpty::\na, b:: no\n",
        expect![[r#"
            1: "Key" = "value" in "Key:: value"
            2: "Bold Key" = "[[a]], [[b]]" in "**Bold Key**:: [[a]], [[b]]"
            3: "item" = "x" in "item:: x"
            4: "task" = "y" in "task:: y"
            5: "quoted" = "z" in "quoted:: z"
            7: "in" = "(a) [b]" in "[in:: (a) [b]]"
            7: "round" = "v" in "(round:: v)"
            7: "🦀" = "c" in "[🦀:: c]"
            12: "Empty" = "" in "Empty::"
        "#]],
    );
}

/// VLT-18, VLT-24.
#[test]
fn properties_keep_their_kinds_and_dates_are_as_written() {
    check_properties(
        "\u{feff}---\nid: \"0042\"\ncreated: 2024-01-05\nflag: yes\ny: no\nempty:\nlist: [a, 'it''s']\nt: 2026-11-30T10:00:00+08:00 # c\n---\nBody\n",
        expect![[r#"
            {"id":"0042","created":"2024-01-05","flag":"yes","y":"no","empty":null,"list":["a","it's"],"t":"2026-11-30T10:00:00+08:00"}
            body "Body\n"
        "#]],
    );
}

#[test]
fn no_kind_of_key_or_number_makes_properties_unreadable() {
    check_properties(
        "---\n1: a\ntrue: b\nnull: c\n2024-01-05: d\ninf: .inf\nnan: .nan\nid: 0042\nn: 1_000\n---\n",
        expect![[r#"
            {"1":"a","true":"b","null":"c","2024-01-05":"d","inf":".inf","nan":".nan","id":"0042","n":"1_000"}
            body ""
        "#]],
    );
}

/// VLT-20.
#[test]
fn a_block_that_is_no_mapping_is_text() {
    check_properties(
        "---\n**RIVER LEGAL**\nC. Osei\n---\n\nDear [[Case 9]].\n",
        expect![[r#"
        {}
        body "---\n**RIVER LEGAL**\nC. Osei\n---\n\nDear [[Case 9]].\n"
    "#]],
    );
    check_properties(
        "---\nRIVER LEGAL\n---\nText kept.\n",
        expect![[r#"
        {}
        body "---\nRIVER LEGAL\n---\nText kept.\n"
    "#]],
    );
    check_properties(
        "---\n- a\n- b\n---\nX\n",
        expect![[r#"
        {}
        body "---\n- a\n- b\n---\nX\n"
        MalformedFrontmatter line 1: the block at the top is a list, not properties; it is read as text, and its links don't count
    "#]],
    );
    check_properties(
        "---\nk: v\n---\n\ntext\n\n---\ncode block: sample\n---\nend\n",
        expect![[r#"
        {"k":"v"}
        body "\ntext\n\n---\ncode block: sample\n---\nend\n"
    "#]],
    );
}

#[test]
fn the_block_must_begin_on_line_one_and_end() {
    for text in ["\n---\na: b\n---\n", " ---\na: b\n---\n", "----\na: b\n---\n", "---\na: b\n", "---", "", "\u{feff}"] {
        let doc = Document::parse(text);
        assert_eq!((doc.frontmatter.span, doc.frontmatter.well_formed), (None, true), "{text:?}");
    }
    check_properties(
        "---\n---\nx",
        expect![[r#"
        {}
        body "x"
    "#]],
    );
    check_properties(
        "---\n# only a comment\n---\n",
        expect![[r#"
        {}
        body ""
    "#]],
    );
    check_properties(
        "---\n{\"a\": 1}\n---\n",
        expect![[r#"
        {"a":1}
        body ""
    "#]],
    );
}

/// VLT-22 and what else is wrong with properties: a problem with its line, never a lost note.
#[test]
fn what_is_wrong_is_said_with_its_line() {
    check_properties(
        "---\nid: 1\nstatus: open\nstatus: closed\ntags: [a]\n---\nBody\n",
        expect![[r#"
        {"id":1,"status":"closed","tags":["a"]}
        body "Body\n"
        DuplicateKey line 4: `status` stands on line 3 too; the last one counts. Keep one
    "#]],
    );
    check_properties(
        "---\nok: 1\nbad: a: b\n---\nBody\n",
        expect![[r#"
        {} malformed
        body "Body\n"
        MalformedFrontmatter line 3: the properties can't be read as YAML; mend this line (the note's text is read all the same)
    "#]],
    );
    check_properties(
        "---\na:\n\t- x\n---\nBody\n",
        expect![[r#"
        {} malformed
        body "Body\n"
        MalformedFrontmatter line 3: the properties can't be read as YAML; mend this line (the note's text is read all the same)
    "#]],
    );
    check_properties(
        "---\na: \"open\n---\nBody\n",
        expect![[r#"
        {} malformed
        body "Body\n"
        MalformedFrontmatter line 2: the properties can't be read as YAML; mend this line (the note's text is read all the same)
    "#]],
    );
    check_properties(
        "one ^a\n\ntwo ^A\n",
        expect![[r#"
        {}
        body "one ^a\n\ntwo ^A\n"
        DuplicateBlockId line 3: the block id ^A is on line 1 too; a link to it means the first
    "#]],
    );
}

#[test]
fn aliases_are_strings_of_the_plural_key_in_any_case() {
    let aliases = |yaml: &str| Document::parse(&format!("---\n{yaml}\n---\n")).frontmatter.aliases();
    assert_eq!(aliases("Aliases:\n  - One\n  - \" Two \""), ["One", "Two"]);
    assert_eq!(aliases("aliases: A, B"), ["A, B"]);
    assert_eq!(aliases("aliases: [1, x, null, \"\"]"), ["x"]);
    assert_eq!(aliases("alias: Old"), [""; 0]);
}

#[test]
fn a_canvas_links_its_files_and_the_links_of_its_texts() {
    let canvas = r##"{"nodes":[{"type":"file","file":"a/N.md","subpath":"#H"},{"type":"text","text":"see [[O|o]]\n\"q\" #t"}]}"##;
    let doc = Document::parse_canvas(canvas);
    let shown: Vec<_> =
        doc.links.iter().map(|l| (&canvas[l.span.clone()], &canvas[l.target_span.clone()], &*l.subpath)).collect();
    assert_eq!(shown, [("a/N.md", "a/N.md", "#H"), ("[[O|o]]", "O", "")]);
    assert_eq!(doc.tags, ["t"]);
    assert_eq!(Document::parse_canvas("{\"nodes\":").problems.len(), 1);
    assert_eq!(Document::parse_canvas("").problems, []);
}

/// VLT-06.
#[test]
fn runs_of_marks_take_linear_time() {
    let started = std::time::Instant::now();
    for unit in [
        "[",
        "[[",
        "![",
        "`",
        "> ",
        "*",
        "$",
        "%%\n",
        "- ",
        "[[p|q [[r|s]] t]] ",
        "{\"k\":[[1,2],[3,4]]},",
        "[a](<b",
        "(a:: ",
        "<!--",
    ] {
        let doc = Document::parse(&unit.repeat(200_000 / unit.len()));
        assert!(doc.links.len() <= 20_000);
    }
    let nested: String = (0..600).map(|depth| format!("{}- a\n", "  ".repeat(depth))).collect();
    assert!(!Document::parse(&nested).blocks.is_empty());
    // A quadratic scanner takes minutes here; the bound only has to tell the two apart.
    assert!(started.elapsed().as_secs() < 20);
}

/// A link in a string with escapes is found where it is written, and a new target can be put there.
#[test]
fn links_in_escaped_strings_can_be_rewritten_in_place() {
    let check = |text: &str, read: fn(&str) -> Document, expected: &str| {
        let mut edited = text.to_owned();
        for link in read(text).links.iter().rev() {
            let with = link.quoting.escape("a \"b\" it's").unwrap();
            edited.replace_range(link.target_span.clone(), &with);
        }
        assert_eq!(edited, expected);
        let targets: Vec<_> = read(&edited).links.into_iter().map(|link| link.target).collect();
        assert!(targets.iter().all(|target| target == "a \"b\" it's"), "{targets:?}");
    };
    check(
        "---\na: \"q \\\"x\\\" [[\\u0041|s]] [[B]]\"\nb: 'it''s [[It''s#h]]'\nc: |\n  one\n  [[D]]\nd: \"x\n  [[E]]\"\n---\n",
        Document::parse,
        "---\na: \"q \\\"x\\\" [[a \\\"b\\\" it's|s]] [[a \\\"b\\\" it's]]\"\nb: 'it''s [[a \"b\" it''s#h]]'\nc: |\n  one\n  [[a \"b\" it's]]\nd: \"x\n  [[a \\\"b\\\" it's]]\"\n---\n",
    );
    check(
        "{\"nodes\":[{\"text\":\"\\n[[\\u00e9]]\"},{\"file\":\"x\\/y.md\"}]}",
        Document::parse_canvas,
        "{\"nodes\":[{\"text\":\"\\n[[a \\\"b\\\" it's]]\"},{\"file\":\"a \\\"b\\\" it's\"}]}",
    );
}

#[test]
fn a_canvas_of_any_shape_and_depth_is_read() {
    for junk in [
        "[]",
        "{\"nodes\":3}",
        "{\"nodes\":[[[{\"file\":\"a.md\"}]]]}",
        "null",
        "\"nodes\"",
        "{\"nodes\":[{\"file\":{}}]}",
    ] {
        assert_eq!(Document::parse_canvas(junk).links, [], "{junk}");
    }
    let deep = format!("{{\"nodes\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(Document::parse_canvas(&deep).links, []);
    assert_eq!(Document::parse_canvas(&"{\"nodes\":[".repeat(100_000)).problems.len(), 1);
}

/// Few bytes may not stand for many: such a block can't be read, and the text is.
#[test]
fn a_bomb_of_aliases_is_a_problem_and_costs_nothing() {
    let bomb =
        (1..40).fold("a0: &a0 [x, x]\n".to_owned(), |out, i| format!("{out}a{i}: &a{i} [*a{0}, *a{0}]\n", i - 1));
    let doc = Document::parse(&format!("---\n{bomb}---\n[[A]]\n"));
    assert!(!doc.frontmatter.well_formed);
    assert_eq!((doc.links.len(), doc.problems.len()), (1, 1));
}
