//! Which links a note has and which files they mean, rule by rule.

use std::fmt::Write as _;

use dormouse_fixtures::temp_vault;
use dormouse_vault::{LinkKind, NotePath, Resolution, Vault};
use expect_test::{Expect, expect};

/// The links of `source` in a vault: form, target, subpath, shown text, key, predicate, and the
/// file (with the line of its anchor) that each means.
#[track_caller]
fn check(vault: &str, source: &str, expected: Expect) {
    let folder = temp_vault(vault);
    check_in(&folder, source, expected);
}

#[track_caller]
fn check_in(folder: &dormouse_fixtures::TempVault, source: &str, expected: Expect) {
    let vault = Vault::open(folder.path()).unwrap();
    let snapshot = vault.snapshot();
    let note = snapshot.note(&NotePath::new(source).unwrap()).unwrap();
    let text = folder.read(source);
    let mut shown = String::new();
    for (link, resolution) in snapshot.links_of(note) {
        assert!(text.get(link.span.clone()).is_some_and(|s| s.contains(&text[link.target_span.clone()])));
        let form = match link.kind {
            LinkKind::Wiki => "link",
            LinkKind::Embed => "embed",
            LinkKind::Markdown => "markdown",
            LinkKind::MarkdownEmbed => "image",
            LinkKind::Frontmatter => "property",
            LinkKind::Canvas => "canvas",
        };
        write!(shown, "{form} {:?}", link.target).unwrap();
        if !link.subpath.is_empty() {
            write!(shown, " {}", link.subpath).unwrap();
        }
        if let Some(display) = &link.display {
            write!(shown, " |{display}|").unwrap();
        }
        if let Some(key) = &link.key {
            write!(shown, " key {key}").unwrap();
        }
        if let Some(predicate) = &link.predicate {
            write!(shown, " as {predicate}").unwrap();
        }
        match resolution {
            Resolution::File { path, ambiguous } => {
                write!(shown, " -> {path}").unwrap();
                if ambiguous {
                    shown.push_str(" (one of several)");
                }
                if !link.subpath.is_empty() {
                    match snapshot.anchor_line(&path, &link.subpath) {
                        Some(line) => write!(shown, ":{line}").unwrap(),
                        None => shown.push_str(" (broken anchor)"),
                    }
                }
            }
            Resolution::Unresolved(key) => write!(shown, " -> nothing, {key:?}").unwrap(),
            _ => shown.push_str(" -> outside"),
        }
        shown.push('\n');
    }
    expected.assert_eq(&shown);
}

#[test]
fn a_name_is_found_in_any_folder_whatever_its_case() {
    check(
        "=== a/b/Winter Note.md\n=== s.md\n[[winter note]] [[Winter Note.MD]] [[Winter]]\n",
        "s.md",
        expect![[r#"
        link "winter note" -> a/b/Winter Note.md
        link "Winter Note.MD" -> a/b/Winter Note.md
        link "Winter" -> nothing, "winter"
    "#]],
    );
}

#[test]
fn an_exact_path_wins_then_the_own_folder_then_the_shortest_path() {
    check(
        "=== N.md\n=== own/N.md\n=== x/M.md\n=== own/deep/er/M.md\n=== aa/K.md\n=== b/K.md\n=== up/L.md\n=== up/down/s.md\n\
         === v/L.md\n=== own/s.md\n[[N]] [[M]] [[K]] [[own/N]]\n",
        "own/s.md",
        expect![[r#"
            link "N" -> N.md
            link "M" -> own/deep/er/M.md
            link "K" -> b/K.md
            link "own/N" -> own/N.md
        "#]],
    );
    // A folder above the source earns nothing: `v/L` is shorter than `up/L`.
    check(
        "=== up/L.md\n=== v/L.md\n=== up/down/s.md\n[[L]]\n",
        "up/down/s.md",
        expect![[r#"
        link "L" -> v/L.md
    "#]],
    );
}

#[test]
fn a_path_must_be_the_end_of_a_path_in_whole_folders() {
    check(
        "=== a/b/N.md\n=== ab/M.md\n=== s.md\n[[b/N]] [[a/N]] [[b/M]] [[x/N]] [[/N]] [[/a/b/N]]\n",
        "s.md",
        expect![[r#"
            link "b/N" -> a/b/N.md
            link "a/N" -> nothing, "a/n"
            link "b/M" -> nothing, "b/m"
            link "x/N" -> nothing, "x/n"
            link "/N" -> nothing, "/n"
            link "/a/b/N" -> a/b/N.md
        "#]],
    );
}

#[test]
fn dots_and_a_slash_in_front_mean_one_place() {
    check(
        "=== N.md\n=== a/N.md\n=== a/b/s.md\n[[./N]] [[../N]] [[../../N]] [[../../../N]] [[/N]] [[/b/N]]\n",
        "a/b/s.md",
        expect![[r#"
            link "./N" -> nothing, "./n"
            link "../N" -> a/N.md
            link "../../N" -> N.md
            link "../../../N" -> nothing, "../../../n"
            link "/N" -> N.md
            link "/b/N" -> nothing, "/b/n"
        "#]],
    );
}

#[test]
fn other_files_need_their_extension_and_a_dotted_name_is_first_taken_as_written() {
    check(
        "=== p.png\nx\n=== board.canvas\n{}\n=== v1.2.md\n=== data.csv\na\n=== data.csv.md\n=== d.2/Log.md\n=== s.md\n\
         [[p]] ![[p.png]] [[board]] [[board.canvas]] [[v1.2]] [[data.csv]] [[d.2/Log]] [[d.2]]\n",
        "s.md",
        expect![[r#"
            link "p" -> nothing, "p"
            embed "p.png" -> p.png
            link "board" -> nothing, "board"
            link "board.canvas" -> board.canvas
            link "v1.2" -> v1.2.md
            link "data.csv" -> data.csv
            link "d.2/Log" -> d.2/Log.md
            link "d.2" -> nothing, "d.2"
        "#]],
    );
}

#[test]
fn titles_and_aliases_never_resolve() {
    check(
        "=== n1.md\n---\naliases: [Other]\n---\n# Human\n=== s.md\n[[Other]] [[Human]]\n",
        "s.md",
        expect![[r#"
        link "Other" -> nothing, "other"
        link "Human" -> nothing, "human"
    "#]],
    );
}

/// VLT-12.
#[test]
fn names_are_compared_in_nfc_and_not_in_compatibility_form() {
    check(
        "=== Cafe\u{301} plan.md\n=== Step ①.md\n=== s.md\n[[Café plan]] [[Step 1]]\n",
        "s.md",
        expect![[r#"
        link "Café plan" -> Café plan.md
        link "Step 1" -> nothing, "step 1"
    "#]],
    );
    check(
        "=== Café.md\n=== s.md\n[[Cafe\u{301}]]\n",
        "s.md",
        expect![[r#"
        link "Cafe\u{301}" -> Café.md
    "#]],
    );
}

#[test]
fn the_greek_final_sigma_does_not_hide_a_note() {
    check(
        "=== ΟΔΟΣ.md\n=== λόγος.md\n=== s.md\n[[οδος]] [[ΟΔΟΣ]] [[ΛΌΓΟΣ]]\n",
        "s.md",
        expect![[r#"
        link "οδος" -> ΟΔΟΣ.md
        link "ΟΔΟΣ" -> ΟΔΟΣ.md
        link "ΛΌΓΟΣ" -> λόγος.md
    "#]],
    );
}

/// VLT-09.
#[test]
fn a_name_in_several_folders_is_decided_by_rule_and_reported() {
    let files = "=== a/README.md\n=== b/README.md\n=== notes/README.md\n";
    check(
        &format!("{files}=== notes/x.md\n[[README]]\n"),
        "notes/x.md",
        expect![[r#"
        link "README" -> notes/README.md
    "#]],
    );
    check(
        &format!("{files}=== home.md\n[[README]] [[b/README]]\n"),
        "home.md",
        expect![[r#"
        link "README" -> a/README.md (one of several)
        link "b/README" -> b/README.md
    "#]],
    );
}

/// VLT-14.
#[cfg(target_os = "linux")]
#[test]
fn of_names_that_differ_in_case_the_one_spelled_like_the_link_wins() {
    check(
        "=== NOTE.md\n=== Note.md\n=== note.md\n=== s.md\n[[note]] [[Note]] [[nOTE]]\n",
        "s.md",
        expect![[r#"
        link "note" -> note.md
        link "Note" -> Note.md
        link "nOTE" -> NOTE.md (one of several)
    "#]],
    );
}

#[test]
fn an_empty_path_is_the_note_itself() {
    check(
        "=== s.md\n# A\n[[#A]] [[#^x]] [b](#A) [[]] [[|x]] [[ ]]\n\npara ^x\n",
        "s.md",
        expect![[r#"
        link "" #A -> s.md:1
        link "" #^x -> s.md:4
        markdown "" #A |b| -> s.md:1
    "#]],
    );
}

/// VLT-01.
#[test]
fn the_first_bar_splits_and_in_a_table_its_backslash_belongs_to_neither_side() {
    check(
        "=== Ana Reyes.md\n=== s.md\n[[Ana Reyes|a|b]] [[Ana Reyes|]] [[ Ana Reyes | a ]]\n\n\
         | Who |\n|---|\n| [[Ana Reyes\\|Ana]] ![[Ana Reyes\\|100]] |\n",
        "s.md",
        expect![[r#"
            link "Ana Reyes" |a|b| -> Ana Reyes.md
            link "Ana Reyes" || -> Ana Reyes.md
            link "Ana Reyes" |a| -> Ana Reyes.md
            link "Ana Reyes" |Ana| -> Ana Reyes.md
            embed "Ana Reyes" |100| -> Ana Reyes.md
        "#]],
    );
}

/// VLT-05.
#[test]
fn marks_inside_a_wikilink_are_part_of_the_name() {
    check(
        "=== s.md\n[[Tea<|Pot]] [[a>|b]] [[x&|y]] [[p*|q]] [[a$1]] and [[b$2]] [[C [x] y]] [[a\\N]] [[N^id]]\n",
        "s.md",
        expect![[r#"
        link "Tea<" |Pot| -> nothing, "tea<"
        link "a>" |b| -> nothing, "a>"
        link "x&" |y| -> nothing, "x&"
        link "p*" |q| -> nothing, "p*"
        link "a$1" -> nothing, "a$1"
        link "b$2" -> nothing, "b$2"
        link "C [x] y" -> nothing, "c [x] y"
        link "a\\N" -> nothing, "a\\n"
        link "N^id" -> nothing, "n^id"
    "#]],
    );
}

#[test]
fn the_innermost_opening_counts_and_a_line_end_kills_a_link() {
    check(
        "=== s.md\n[[[A]]] [[B [[C]] D]] [[Two\nLines]] ^[note [[E]]] see [[open and more\n\n[[F]][[G]]\n",
        "s.md",
        expect![[r#"
            link "A" -> nothing, "a"
            link "C" -> nothing, "c"
            link "E" -> nothing, "e"
            link "F" -> nothing, "f"
            link "G" -> nothing, "g"
        "#]],
    );
}

#[test]
fn wikilinks_are_not_percent_decoded_and_urls_in_them_are_notes() {
    check(
        "=== My Note.md\n=== s.md\n[[My%20Note]] [[https://example.com]]\n",
        "s.md",
        expect![[r#"
        link "My%20Note" -> nothing, "my%20note"
        link "https://example.com" -> nothing, "https://example.com"
    "#]],
    );
}

/// VLT-03.
#[test]
fn code_of_every_kind_holds_no_links() {
    check(
        "=== s.md\n`[[a]]` ``x ` [[b]]`` [[real]] `open [[real2]]\n\n```bash\nif [[ -f x ]]; then\n```\n\n~~~\n[[c]]\n~~~\n\n\
         para\n\n    [[d]]\n\n- item\n\n    [[real3]]\n\n  ```\n  [[e]]\n  ```\n\n````\n```\n[[f]]\n````\n> ```\n> [[g]]\n\n```rust\n[[h]]\n",
        "s.md",
        expect![[r#"
            link "real" -> nothing, "real"
            link "real2" -> nothing, "real2"
            link "real3" -> nothing, "real3"
        "#]],
    );
}

/// VLT-08: comments of Obsidian hold links, HTML comments don't.
#[test]
fn comments_hold_links_but_math_and_html_comments_do_not() {
    check(
        "=== s.md\n%% a [[A]] %%\n\n%%\n[[B]]\n\n[[C]]\n%%\n\n<!-- [[d]] --> x\n\nin <!-- [[e]] --> line <b>[[F]]</b>\n\n<div>\n[[g]]\n</div>\n\n\
         $[[1,2],[3,4]]$ costs $5 [[H]] and $6\n\n$$\n[[1,0]]\n\n[[2]]\n$$\n\n$$ [[i]] $$ \\[\\[j\\]\\]\n",
        "s.md",
        expect![[r#"
            link "A" -> nothing, "a"
            link "B" -> nothing, "b"
            link "C" -> nothing, "c"
            link "F" -> nothing, "f"
            link "H" -> nothing, "h"
        "#]],
    );
}

#[test]
fn links_count_in_every_other_place() {
    check(
        "=== s.md\n# [[A]]\n> [!note] [[B]]\n> [[C]]\n\n- [ ] [[D]]\n  1. [[E]]\n\n| [[F]] |\n|---|\n| [[G]] |\n\n**[[H]]** ==[[I]]== ~~[[J]]~~ _[[K]]_\n\n\
         [^1]: see [[L]]\n\nSetext [[M]]\n===\n",
        "s.md",
        expect![[r#"
            link "A" -> nothing, "a"
            link "B" -> nothing, "b"
            link "C" -> nothing, "c"
            link "D" -> nothing, "d"
            link "E" -> nothing, "e"
            link "F" -> nothing, "f"
            link "G" -> nothing, "g"
            link "H" -> nothing, "h"
            link "I" -> nothing, "i"
            link "J" -> nothing, "j"
            link "K" -> nothing, "k"
            link "L" -> nothing, "l"
            link "M" -> nothing, "m"
        "#]],
    );
}

/// VLT-17.
#[test]
fn markdown_links_are_decoded_and_looked_up_in_the_whole_vault() {
    check(
        "=== 🗂 Box/Plan B.md\n# Plan B\n\n## Part 1\n=== 笔记.md\n=== Foo (bar).md\n=== C# n.md\n=== i.png\nx\n=== sub/s.md\n\
         [b](<🗂 Box/Plan B.md#Part 1>) [c](../%F0%9F%97%82%20Box/Plan%20B.md) [d](Plan%20B.md#Part%201 \"t\") [e](Plan%20B)\n\
         [n](%E7%AC%94%E8%AE%B0.md) [f](Foo%20(bar).md) (end) [g](C%23%20n.md) ![alt](i.png) [![in](i.png)](笔记.md)\n\
         [no](Plan B.md) [web](https://e.com/#x) [mail](mailto:a@b.c) [o](obsidian://x) ![w](//e.com/a.png) [out [in](Plan%20B.md) er](Foo.md) []() \\[x](Foo.md)\n",
        "sub/s.md",
        expect![[r#"
            markdown "🗂 Box/Plan B.md" #Part 1 |b| -> 🗂 Box/Plan B.md:3
            markdown "../🗂 Box/Plan B.md" |c| -> 🗂 Box/Plan B.md
            markdown "Plan B.md" #Part 1 |d| -> 🗂 Box/Plan B.md:3
            markdown "Plan B" |e| -> 🗂 Box/Plan B.md
            markdown "笔记.md" |n| -> 笔记.md
            markdown "Foo (bar).md" |f| -> Foo (bar).md
            markdown "C# n.md" |g| -> C# n.md
            image "i.png" |alt| -> i.png
            markdown "笔记.md" |![in](i.png)| -> 笔记.md
            image "i.png" |in| -> i.png
            markdown "Plan B.md" |in| -> 🗂 Box/Plan B.md
        "#]],
    );
}

#[test]
fn a_heading_is_found_by_its_words_and_parts_go_downwards() {
    let n = "=== N.md\n# Top\n## A\n### C\n## B: v1.2 (x)?\n### C\n```\n# Code\n```\nSetext\n---\n# See [[O]]\n# It's a-b_c\n";
    check(
        &format!(
            "{n}=== s.md\n[[N#C]] [[N#B v1.2 (x)#C]] [[N#top#c]] [[N#A#B v1.2 (x)]] [[N#Code]] [[N#Setext]] [[N#See O]] [[N#It's a-b_c]] [[N#Its a b c]] [[N#b V1 2 x]]\n"
        ),
        "s.md",
        expect![[r#"
            link "N" #C -> N.md:3
            link "N" #B v1.2 (x)#C -> N.md:5
            link "N" #top#c -> N.md:3
            link "N" #A#B v1.2 (x) -> N.md (broken anchor)
            link "N" #Code -> N.md (broken anchor)
            link "N" #Setext -> N.md:9
            link "N" #See O -> N.md:11
            link "N" #It's a-b_c -> N.md:12
            link "N" #Its a b c -> N.md (broken anchor)
            link "N" #b V1 2 x -> N.md:4
        "#]],
    );
}

#[test]
fn a_block_id_names_its_block_and_a_missing_one_keeps_the_edge() {
    check(
        "=== N.md\ntext\nmore ^id-1\n\n- li ^Li2\n- two\n\n^list\n\n| t |\n|---|\n\n^tab\n\n> q\n> w\n\n^q1\n\n```\nx\n```\n^code\n=== s.md\n\
         [[N#^id-1]] [[N#^LI2]] [[N#^list]] [[N#^tab]] [[N#^q1]] [[N#^code]] [[N#^none]]\n",
        "s.md",
        expect![[r#"
            link "N" #^id-1 -> N.md:1
            link "N" #^LI2 -> N.md:4
            link "N" #^list -> N.md:5
            link "N" #^tab -> N.md:9
            link "N" #^q1 -> N.md:14
            link "N" #^code -> N.md:19
            link "N" #^none -> N.md (broken anchor)
        "#]],
    );
}

#[test]
fn quoted_links_in_properties_have_the_property_as_key_and_predicate() {
    check(
        "=== A.md\n=== s.md\n---\nup: \"[[A|a]]\"\nlinks:\n  - '[[B]]'\n  - \"[t](A.md#x)\"\nnested: [[A]]\n# \"[[A]]\"\nnote: \"see [[C]] and [[A]]\"\n\
         escaped: \"a \\\"q\\\" [[D]]\"\n---\n[[E]]\n",
        "s.md",
        expect![[r#"
            property "A" |a| key up as up -> A.md
            property "B" key links.0 as links -> nothing, "b"
            property "A.md" #x |t| key links.1 as links -> A.md (broken anchor)
            property "C" key note as note -> nothing, "c"
            property "A" key note as note -> A.md
            property "D" key escaped as escaped -> nothing, "d"
            link "E" -> nothing, "e"
        "#]],
    );
}

/// VLT-07 for fields; an unquoted `[[…]]` in a property is a list to Obsidian, and to us.
#[test]
fn links_in_inline_fields_have_the_key_as_predicate() {
    check(
        "=== s.md\n---\nrelated: [[Alpha, Beta]]\n---\nderived_from:: [[daily/2026-01-05]], [[Smith, Ana]]\n\n- Supports:: [[B]] ^id\n- see [part of:: [[C]]] and (with:: [[D]]) [[E]]\n\n\
         **依据**:: [[来源]]\nkey: [[F]] [x: [[G]]] std::fs::write [[H]] `a:: [[i]]`\n",
        "s.md",
        expect![[r#"
            link "daily/2026-01-05" as derived_from -> nothing, "daily/2026-01-05"
            link "Smith, Ana" as derived_from -> nothing, "smith, ana"
            link "B" as supports -> nothing, "b"
            link "C" as part of -> nothing, "c"
            link "D" as with -> nothing, "d"
            link "E" -> nothing, "e"
            link "来源" as 依据 -> nothing, "来源"
            link "F" -> nothing, "f"
            link "G" -> nothing, "g"
            link "H" -> nothing, "h"
        "#]],
    );
}

#[test]
fn broken_properties_leave_the_links_of_the_text() {
    check(
        "=== s.md\n---\ntitle: a: b: \"[[A]]\n---\n[[B]]\n",
        "s.md",
        expect![[r#"
        link "B" -> nothing, "b"
    "#]],
    );
    check(
        "=== s.md\n---\nrel: \"[[A]]\"\nrel: \"[[B]]\"\n---\n[[C]]\n",
        "s.md",
        expect![[r#"
        link "C" -> nothing, "c"
    "#]],
    );
    check(
        "=== s.md\n---\nk: v\n\n[[A]]\n",
        "s.md",
        expect![[r#"
        link "A" -> nothing, "a"
    "#]],
    );
}
