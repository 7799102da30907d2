//! Renaming with every link written anew: forms, captures, refusals, and the laws.

use std::collections::BTreeSet;

use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::rename::{self, RenameError, Renaming};
use dormouse_vault::{CommitError, Document, NotePath, Resolution, Vault, Version};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn path(text: &str) -> NotePath {
    NotePath::new(text).unwrap()
}

/// Plans, shows that the dry run changes nothing and that the real run does what it said, and gives
/// the plan.
#[track_caller]
fn renamed(folder: &TempVault, from: &str, to: &str) -> Result<Renaming, RenameError> {
    let vault = Vault::open(folder.path()).unwrap();
    let before = folder.files();
    let plan = rename::plan(&vault, &path(from), &path(to))?;
    let dry = vault.preview(&plan.change_set).unwrap();
    assert_eq!(folder.files(), before, "a dry run writes nothing");
    let committed = vault.commit(&plan.change_set).unwrap();
    assert_eq!(committed.written.len(), dry.len());
    let fresh = Vault::open(folder.path()).unwrap();
    assert_eq!(fresh.snapshot().fingerprint(), vault.snapshot().fingerprint());
    Ok(plan)
}

/// What a rename reports and which files are others afterwards.
#[track_caller]
fn check(vault: &str, from: &str, to: &str, expected: Expect) {
    let folder = temp_vault(vault);
    expected.assert_eq(&shown(&folder, from, to));
}

#[track_caller]
fn shown(folder: &TempVault, from: &str, to: &str) -> String {
    let before = folder.files();
    let report = match renamed(folder, from, to) {
        Ok(plan) => plan.report,
        Err(error) => {
            assert_eq!(folder.files(), before);
            return format!("refused: {error}\n");
        }
    };
    let mut out = String::new();
    for link in &report.rewritten {
        let why = link.longer.as_ref().map_or_else(String::new, |longer| format!(" ({longer})"));
        out.push_str(&format!("{}:{} {} → {}{why}\n", link.path, link.line, link.before, link.after));
    }
    for link in &report.resolved {
        out.push_str(&format!("{}:{} {} now means {}\n", link.path, link.line, link.link, link.to));
    }
    for warning in &report.warnings {
        out.push_str(&format!("{warning}\n"));
    }
    out
}

/// The file `source` holds `before`; after the rename it holds `after`.
#[track_caller]
fn becomes(vault: &str, from: &str, to: &str, source: &str, before: &str, after: &str) {
    let folder = temp_vault(vault);
    folder.write(source, before);
    renamed(&folder, from, to).unwrap();
    assert_eq!(folder.read(source), after);
}

#[test]
fn every_form_of_a_link_is_kept() {
    let vault = "=== a/Old.md\n# H\ntext ^b\n=== a/Older.md\n=== x/Else.md\n";
    let turns = |before: &str, after: &str| becomes(vault, "a/Old.md", "b/New.md", "c/n.md", before, after);
    turns("[[Old]] [[Older]] [[Nowhere]]\n", "[[New]] [[Older]] [[Nowhere]]\n");
    turns("[[a/Old]] [[a/Old.md]] [[Old.md]]\n", "[[b/New]] [[b/New.md]] [[New.md]]\n");
    turns("[[/a/Old]] [[../a/Old]] [[./../a/Old.md]]\n", "[[/b/New]] [[../b/New]] [[../b/New.md]]\n");
    turns("[[Old#H|x]] ![[Old|300]] ![[Old#^b|100x145]]\n", "[[New#H|x]] ![[New|300]] ![[New#^b|100x145]]\n");
    turns("[[ Old ]] [[Old | Old ]] [[old]]\n", "[[ New ]] [[New | Old ]] [[New]]\n");
    turns("[x](Old.md) [x](a/Old) ![x](a/Old.md#H \"t\")\n", "[x](New.md) [x](b/New) ![x](b/New.md#H \"t\")\n");
    turns("[x](../a/Old.md) [x](<a/Old.md#H>) [x](/a/Old.md)\n", "[x](../b/New.md) [x](<b/New.md#H>) [x](/b/New.md)\n");
    turns(
        "| a | b |\n|---|---|\n| [[Old\\|x]] | [[a/Old\\|y]] |\n",
        "| a | b |\n|---|---|\n| [[New\\|x]] | [[b/New\\|y]] |\n",
    );
    turns("supports:: [[Old]], (rel:: [[a/Old|o]])\n", "supports:: [[New]], (rel:: [[b/New|o]])\n");
    turns(
        "%% [[Old]] %% ~~[[Old]]~~ ==[[Old]]== [^1]\n\n[^1]: [[Old]]\n",
        "%% [[New]] %% ~~[[New]]~~ ==[[New]]== [^1]\n\n[^1]: [[New]]\n",
    );
    turns(
        "`[[Old]]` $[[Old]]$ \\[\\[Old\\]\\] <!-- [[Old]] -->\n\n```\n[[Old]]\n```\n",
        "`[[Old]]` $[[Old]]$ \\[\\[Old\\]\\] <!-- [[Old]] -->\n\n```\n[[Old]]\n```\n",
    );
    turns("[![[Old]]](Old.md)\n", "[![[New]]](New.md)\n");
    turns("\u{feff}[[Old]]\r\n\r\n- [[Old|Old]]", "\u{feff}[[New]]\r\n\r\n- [[New|Old]]");
}

#[test]
fn properties_keep_their_quotes_and_everything_around() {
    let vault = "=== a/Old.md\n=== a/It's.md\n";
    let turns = |before: &str, after: &str| becomes(vault, "a/Old.md", "b/It's \"new\".md", "n.md", before, after);
    turns(
        "---\n# [[Old]]\nup: \"[[Old|o]]\"   # [[Old]]\nlist:\n  - '[[a/Old]]'\n  - \"[x](Old.md)\"\nbare: [[Old]]\n---\n",
        "---\n# [[Old]]\nup: \"[[It's \\\"new\\\"|o]]\"   # [[Old]]\nlist:\n  - '[[b/It''s \"new\"]]'\n  - \"[x](It's%20\\\"new\\\".md)\"\nbare: [[Old]]\n---\n",
    );
    becomes(
        vault,
        "a/It's.md",
        "a/Its.md",
        "n.md",
        "---\na: \"caf\\u00e9 \\\"q\\\" [[It's]] \\t\"\nb: '[[It''s|it''s]]'\n---\r\n[[It's]]\n",
        "---\na: \"caf\\u00e9 \\\"q\\\" [[Its]] \\t\"\nb: '[[Its|it''s]]'\n---\r\n[[Its]]\n",
    );
}

#[test]
fn destinations_keep_their_encoding() {
    let vault = "=== a/Old One.md\n=== 图/计划.md\n";
    let turns = |to: &str, before: &str, after: &str| becomes(vault, "a/Old One.md", to, "n.md", before, after);
    turns("b/New.md", "[x](a/Old%20One.md#H)\n", "[x](b/New.md#H)\n");
    turns("b/A (b.md", "[x](Old%20One.md) [y](<Old One.md>)\n", "[x](A%20%28b.md) [y](<A (b.md>)\n");
    turns("b/A (b).md", "[x](Old%20One.md)\n", "[x](A%20(b).md)\n");
    turns("b/50%20.md", "[x](Old%20One.md)\n", "[x](50%2520.md)\n");
    turns("b/100% (a).md", "[x](Old%20One.md) [[Old One]]\n", "[x](100%25%20(a).md) [[100% (a)]]\n");
    let brackets = "=== a(b.md\n";
    becomes(
        brackets,
        "a(b.md",
        "x (y).md",
        "n.md",
        "[x](a%28b.md) [y](a\\(b.md)\n",
        "[x](x%20%28y%29.md) [y](x%20\\(y\\).md)\n",
    );
    turns("b/é 图.md", "[x](Old%20One.md) [y](%4fld%20One.md)\n", "[x](é%20图.md) [y](é%20图.md)\n");
    turns("b/a<b>.md", "[x](<Old One.md>)\n", "[x](<a%3Cb%3E.md>)\n");
    becomes(
        vault,
        "图/计划.md",
        "图/笔记 一.md",
        "n.md",
        "[x](%E5%9B%BE/%E8%AE%A1%E5%88%92.md) [y](图/计划.md)\n",
        "[x](%E5%9B%BE/%E7%AC%94%E8%AE%B0%20%E4%B8%80.md) [y](图/笔记%20一.md)\n",
    );
}

#[test]
fn a_canvas_is_rewritten_inside_its_strings() {
    let vault = "=== a/Old.md\n# H\n=== a/pic.png\n";
    becomes(
        vault,
        "a/Old.md",
        "b/\"N\" é.md",
        "c.canvas",
        r##"{"nodes":[{"id":"1","type":"file","file":"a/Old.md","subpath":"#H"},{"type":"text","text":"\u00e9 [[Old|o]]\n\"[x](a\/Old.md)\""},{"type":"file","file":"a\/Old.md"}],"edges":[]}"##,
        r##"{"nodes":[{"id":"1","type":"file","file":"b/\"N\" é.md","subpath":"#H"},{"type":"text","text":"\u00e9 [[\"N\" é|o]]\n\"[x](b\/\"N\"%20é.md)\""},{"type":"file","file":"b\/\"N\" é.md"}],"edges":[]}"##
            .replace(r#"(b\/"N""#, r#"(b\/\"N\""#)
            .as_str(),
    );
    becomes(
        vault,
        "a/pic.png",
        "pics/p.png",
        "c.canvas",
        r#"{"nodes":[{"type":"file","file":"a/pic.png"}]}"#,
        r#"{"nodes":[{"type":"file","file":"pics/p.png"}]}"#,
    );
}

/// VLT-01 and VLT-15: rows of a table, and a note that links to itself.
#[test]
fn vlt_01_and_15_tables_and_self_links_are_counted_and_rewritten() {
    let folder = temp_vault(
        "=== people/Ana Reyes.md\n# Ana Reyes\n=== notes/rota.md\n| Day | Who |\n|---|---|\n| Mon | [[Ana Reyes\\|Ana]] |\n| Tue | [[people/Ana Reyes\\|AR]] |\n\nAsk [[Ana Reyes|Ana]] first.\n",
    );
    let report = renamed(&folder, "people/Ana Reyes.md", "people/Ana R.md").unwrap().report;
    assert_eq!((report.rewritten.len(), report.files_rewritten()), (3, 1));
    assert_eq!(
        folder.read("notes/rota.md"),
        "| Day | Who |\n|---|---|\n| Mon | [[Ana R\\|Ana]] |\n| Tue | [[people/Ana R\\|AR]] |\n\nAsk [[Ana R|Ana]] first.\n"
    );
    let folder = temp_vault(
        "=== logs/Storm log.md\nSee [[Storm log]] and [[Storm log#Times|t]] and [[logs/Storm log]] and [[#Times]].\n\n## Times\n=== z.md\n[[Storm log]]\n",
    );
    let report = renamed(&folder, "logs/Storm log.md", "logs/Storm log 2.md").unwrap().report;
    assert_eq!(report.rewritten.len(), 4);
    assert_eq!(
        folder.read("logs/Storm log 2.md"),
        "See [[Storm log 2]] and [[Storm log 2#Times|t]] and [[logs/Storm log 2]] and [[#Times]].\n\n## Times\n"
    );
    assert_eq!(folder.read("z.md"), "[[Storm log 2]]\n");
    assert!(Vault::open(folder.path()).unwrap().snapshot().unresolved().is_empty());
}

/// VLT-05.
#[test]
fn vlt_05_no_bracket_is_left_behind() {
    becomes("=== Café Notes.md\nc\n", "Café Notes.md", "Oak.md", "w3.md", "x [[Café Notes]] y\n", "x [[Oak]] y\n");
    becomes(
        "=== Tea<.md\n=== x&.md\n",
        "Tea<.md",
        "T>.md",
        "w.md",
        "[[Tea<|Pot]] [[x&|y]] [[p*|q]]\n",
        "[[T>|Pot]] [[x&|y]] [[p*|q]]\n",
    );
}

/// VLT-03 and VLT-08: what is no link for the graph is none for a rename, and the other way round.
#[test]
fn vlt_03_and_08_graph_and_rename_read_the_same_links() {
    check(
        "=== Old.md\n=== n.md\n`[[Old]]`\n\n    [[Old]]\n\n~~~toml\n[[Old]]\n~~~\n%% [[Old]] ![[Old#P]] %%\n<!-- [[Old]] -->\n",
        "Old.md",
        "New.md",
        expect![[r#"
            n.md:8 [[Old]] → [[New]]
            n.md:8 ![[Old#P]] → ![[New#P]]
        "#]],
    );
}

/// VLT-17.
#[test]
fn vlt_17_markdown_links_keep_brackets_fragment_and_title() {
    becomes(
        "=== 🗂 Box/Plan B.md\n# Plan B\n\n## Part 1\n",
        "🗂 Box/Plan B.md",
        "🗂 Box/Plan C.md",
        "s.md",
        "[b](<🗂 Box/Plan B.md#part-1>) [c](./%F0%9F%97%82%20Box/Plan%20B.md) [d](%F0%9F%97%82%20Box/Plan%20B.md#part-1 \"t\") [[Plan B#Part 1|x]]\n",
        "[b](<🗂 Box/Plan C.md#part-1>) [c](./%F0%9F%97%82%20Box/Plan%20C.md) [d](%F0%9F%97%82%20Box/Plan%20C.md#part-1 \"t\") [[Plan C#Part 1|x]]\n",
    );
}

/// VLT-14.
#[test]
fn vlt_14_a_change_of_case_alone_is_a_rename() {
    check(
        "=== Note.md\n=== note.md\n=== hello.md\nkeep me\n=== src.md\n[[note]] [[Note]] [[nOTE]] [[hello]]\n",
        "hello.md",
        "Hello.md",
        expect![[r#"
            src.md:1 [[hello]] → [[Hello]]
        "#]],
    );
    check(
        "=== Note.md\n=== note.md\n",
        "note.md",
        "NOTE.md",
        expect![[r#"
        refused: Note.md: a file of this name is there
    "#]],
    );
}

/// VLT-26.
#[test]
fn vlt_26_a_file_that_is_not_utf_8_is_named_and_left_alone() {
    let folder = temp_vault("=== ok.md\nfine [[Cible]]\n=== Cible.md\nc\n");
    folder.write("l1.md", b"Pr\xe9sentation, voir [[Cible]]\n");
    expect![[r#"
        ok.md:1 [[Cible]] → [[But]]
        l1.md: not UTF-8, so that 1 link(s) in it are not rewritten and break
    "#]]
    .assert_eq(&shown(&folder, "Cible.md", "But.md"));
    assert_eq!(folder.files().get("l1.md").unwrap(), b"Pr\xe9sentation, voir [[Cible]]\n");
    assert!(folder.files().values().all(|bytes| !bytes.windows(3).any(|w| w == b"\xef\xbf\xbd")));
    // It may be moved itself.
    expect![[r#""#]].assert_eq(&shown(&folder, "l1.md", "x/l2.md"));
}

/// VLT-09 and VLT-12: the nearest of one name, and another Unicode form of it.
#[test]
fn vlt_09_and_12_no_link_comes_to_mean_another_note() {
    // The new name lies nearer to notes that use it already.
    check(
        "=== a/README.md\n=== b/README.md\n=== notes/Old.md\n[[README]]\n=== notes/x.md\n[[README]] [[Old]]\n=== home.md\n[[README]] [[b/README]] [[notes/Old]]\n",
        "notes/Old.md",
        "notes/README.md",
        expect![[r#"
            home.md:1 [[notes/Old]] → [[notes/README]]
            notes/Old.md:1 [[README]] → [[a/README]] (longer, since the short form would mean notes/README.md)
            notes/x.md:1 [[README]] → [[a/README]] (longer, since the short form would mean notes/README.md)
            notes/x.md:1 [[Old]] → [[README]]
        "#]],
    );
    check(
        "=== Cafe\u{301}.md\n=== src.md\n[[Café]] [[Cafe\u{301}]]\n=== x/n.md\n[[Plan]]\n=== x/Plan.md\n",
        "Café.md",
        "Plan.md",
        expect![[r#"
            src.md:1 [[Café]] → [[Plan]]
            src.md:1 [[Café]] → [[Plan]]
            x/n.md:1 [[Plan]] → [[x/Plan]] (longer, since the short form would mean Plan.md)
        "#]],
    );
}

#[test]
fn a_longer_form_is_written_where_the_short_one_is_taken() {
    // Of two notes with the new name the other is shorter, nearer, or the exact path.
    check(
        "=== a/Old.md\n=== New.md\n=== s.md\n[[Old]] [x](Old.md) [[New]]\n",
        "a/Old.md",
        "a/New.md",
        expect![[r#"
        s.md:1 [[Old]] → [[a/New]] (longer, since the short form would mean New.md)
        s.md:1 [x](Old.md) → [x](a/New.md) (longer, since the short form would mean New.md)
    "#]],
    );
    // The name of a note that was there is captured by the new one.
    check(
        "=== deep/er/New.md\n=== Old.md\n=== s.md\n---\nup: \"[[New|n]]\"\n---\n[[New]] [[Old]] [[er/New]] ![x](New.md)\n=== c.canvas\n{\"nodes\":[{\"type\":\"text\",\"text\":\"[[New]]\"}]}\n",
        "Old.md",
        "New.md",
        expect![[r#"
            c.canvas:1 [[New]] → [[deep/er/New]] (longer, since the short form would mean New.md)
            s.md:2 [[New|n]] → [[deep/er/New|n]] (longer, since the short form would mean New.md)
            s.md:4 [[New]] → [[deep/er/New]] (longer, since the short form would mean New.md)
            s.md:4 [[Old]] → [[New]]
            s.md:4 ![x](New.md) → ![x](deep/er/New.md) (longer, since the short form would mean New.md)
        "#]],
    );
    // A link to nothing becomes whole.
    check(
        "=== Old.md\n=== s.md\n[[New]] [[new.md]] [[x/New]] [[Old]]\n",
        "Old.md",
        "New.md",
        expect![[r#"
        s.md:1 [[Old]] → [[New]]
        s.md:1 [[New]] now means New.md
        s.md:1 [[new.md]] now means New.md
    "#]],
    );
    // The dot in a name makes a wikilink look for a file of that extension first.
    check(
        "=== Old.md\n=== v1.png\n=== s.md\n[[Old]]\n",
        "Old.md",
        "v1.png.md",
        expect![[r#"
        s.md:1 [[Old]] → [[v1.png.md]] (longer, since the short form would mean v1.png)
    "#]],
    );
}

#[test]
fn a_link_that_named_one_file_names_one_file_afterwards() {
    // The moved file and another of its new name are equals.
    check(
        "=== d/Old.md\n=== f/New.md\n=== s.md\n[[Old]] [x](Old.md) ![[Old#H|o]]\n",
        "d/Old.md",
        "d/New.md",
        expect![[r#"
            s.md:1 [[Old]] → [[d/New]] (longer, since the short form would mean f/New.md as well)
            s.md:1 [x](Old.md) → [x](d/New.md) (longer, since the short form would mean f/New.md as well)
            s.md:1 ![[Old#H|o]] → ![[d/New#H|o]] (longer, since the short form would mean f/New.md as well)
        "#]],
    );
    // A link to the other one has its own name no longer to itself.
    check(
        "=== z/Old.md\n=== f/New.md\n=== s.md\n[[New]] [[z/Old]]\n=== f/t.md\n[[New]]\n=== c.canvas\n{\"nodes\":[{\"type\":\"text\",\"text\":\"[[New|n]]\"}]}\n",
        "z/Old.md",
        "z/New.md",
        expect![[r#"
            c.canvas:1 [[New|n]] → [[f/New|n]] (longer, since the short form would mean z/New.md as well)
            s.md:1 [[New]] → [[f/New]] (longer, since the short form would mean z/New.md as well)
            s.md:1 [[z/Old]] → [[z/New]]
        "#]],
    );
    // A folder whose name makes its files the equals of others.
    check(
        "=== zzz/N.md\n=== f/N.md\n=== s.md\n---\nup: \"[[N]]\"\n---\n[x](N.md)\n",
        "zzz",
        "z",
        expect![[r#"
        s.md:2 [[N]] → [[f/N]] (longer, since the short form would mean z/N.md as well)
        s.md:4 [x](N.md) → [x](f/N.md) (longer, since the short form would mean z/N.md as well)
    "#]],
    );
    // What only byte order decided stays as it is, unless it is written anew.
    check("=== a/N.md\n=== b/N.md\n=== c/Old.md\n=== s.md\n[[N]]\n", "c/Old.md", "c/N.md", expect![[r#""#]]);
    check(
        "=== c/N.md\n=== d/N.md\n=== s.md\n[[N]]\n",
        "c/N.md",
        "e/N.md",
        expect![[r#"
        s.md:1 [[N]] → [[e/N]] (longer, since the short form would mean d/N.md)
    "#]],
    );
}

#[test]
fn the_links_of_the_moved_note_go_on_meaning_what_they_meant() {
    check(
        "=== a/Old.md\n[[B]] [[./B]] [x](../c/C.md) [[a/B]] ![[./none]] [[../b/gone]] [[#H]] [[Old]] [[./Old|me]]\n=== a/B.md\n=== b/B.md\n=== c/C.md\n",
        "a/Old.md",
        "b/New.md",
        expect![[r#"
            a/Old.md:1 [[B]] → [[a/B]] (longer, since the short form would mean b/B.md)
            a/Old.md:1 [[./B]] → [[../a/B]]
            a/Old.md:1 [[Old]] → [[New]]
            a/Old.md:1 [[./Old|me]] → [[./New|me]]
        "#]],
    );
    // A relative link to nothing does not become whole by the move.
    check(
        "=== a/Old.md\n[[./x]] [[../y]]\n=== b/x.md\n",
        "a/Old.md",
        "b/Old.md",
        expect![[r#"
        a/Old.md:1 [[./x]] → [[../a/x]]
    "#]],
    );
}

#[test]
fn pictures_and_folders_are_renamed_too() {
    check(
        "=== img/a b.png\n=== n.md\n![[a b.png|100]] ![x](img/a%20b.png) [[A B.PNG]]\n",
        "img/a b.png",
        "pics/c d.jpg",
        expect![[r#"
            n.md:1 ![[a b.png|100]] → ![[c d.jpg|100]]
            n.md:1 ![x](img/a%20b.png) → ![x](pics/c%20d.jpg)
            n.md:1 [[A B.PNG]] → [[c d.jpg]]
        "#]],
    );
    let folder = temp_vault(
        "=== old/x.md\n[[y]] [[old/y]] [[../z]] [[./deep/w]]\n=== old/y.md\n=== old/deep/w.md\n[[../x]] ![[p.png]]\n=== old/deep/p.png\n=== z.md\n[[old/x]] [[y]] [x](old/deep/w.md) [[older/x]]\n=== older/x.md\n",
    );
    expect![[r#"
        old/x.md:1 [[old/y]] → [[new/place/y]]
        old/x.md:1 [[../z]] → [[../../z]]
        z.md:1 [[old/x]] → [[new/place/x]]
        z.md:1 [x](old/deep/w.md) → [x](new/place/deep/w.md)
    "#]]
    .assert_eq(&shown(&folder, "old", "new/place"));
    expect![[r#"
        === new/place/deep/p.png
        === new/place/deep/w.md
        [[../x]] ![[p.png]]
        === new/place/x.md
        [[y]] [[new/place/y]] [[../../z]] [[./deep/w]]
        === new/place/y.md
        === older/x.md
        === z.md
        [[new/place/x]] [[y]] [x](new/place/deep/w.md) [[older/x]]
    "#]]
    .assert_eq(&folder.dump());
}

#[test]
fn what_cannot_be_renamed_is_refused_and_says_why() {
    let vault = "=== a.md\n=== b.md\n=== pic.png\n=== daily/2026-11-30/e.md\n=== resource/r.pdf\n=== digest/wiki/d.md\n=== meta/m.json\n{}\n=== audit/2026-11-30/dream.md\n=== f/x.md\n=== C#/y.md\n[[a]]\n";
    let refused = |from: &str, to: &str, expected: Expect| check(vault, from, to, expected);
    refused(
        "none.md",
        "x.md",
        expect![[r#"
        refused: none.md: no such file
    "#]],
    );
    refused(
        "a.md",
        "a.md",
        expect![[r#"
        refused: a.md: this is its name already
    "#]],
    );
    refused(
        "a.md",
        "b.md",
        expect![[r#"
        refused: b.md: a file of this name is there
    "#]],
    );
    refused(
        "a.md",
        "B.md",
        expect![[r#"
        refused: b.md: a file of this name is there
    "#]],
    );
    refused(
        "a.md",
        "x#y.md",
        expect![[r#"
        refused: x#y.md: no link can name a file with `#` in its name
    "#]],
    );
    refused(
        "a.md",
        "new [1]/y.md",
        expect![[r#"
        refused: new [1]/y.md: no link can name a file with `[` in its name
    "#]],
    );
    refused(
        "a.md",
        "x %%y.md",
        expect![[r#"
        refused: x %%y.md: `%%` in a name opens a comment in every link to it
    "#]],
    );
    refused(
        "a.md",
        "con.md",
        expect![[r#"
        refused: con.md: Windows keeps this name for a device
    "#]],
    );
    refused(
        "a.md",
        "x .md",
        expect![[r#"
        refused: x .md: a name may not start with a blank, nor end with a blank or a dot
    "#]],
    );
    refused(
        "a.md",
        ".x.md",
        expect![[r#"
        refused: .x.md: a name that starts with a dot is never read
    "#]],
    );
    refused(
        "a.md",
        "a.txt",
        expect![[r#"
        refused: a.md to a.txt: a note keeps its extension `.md`, and another file does not get it
    "#]],
    );
    refused(
        "pic.png",
        "pic.md",
        expect![[r#"
        refused: pic.png to pic.md: a note keeps its extension `.md`, and another file does not get it
    "#]],
    );
    refused(
        "f",
        "f/g",
        expect![[r#"
        refused: f to f/g: a folder can't be moved into itself
    "#]],
    );
    refused(
        "daily/2026-11-30/e.md",
        "e.md",
        expect![[r#"
            refused: daily/2026-11-30/e.md to e.md: material stays in its layer
        "#]],
    );
    refused(
        "a.md",
        "resource/a.md",
        expect![[r#"
            refused: a.md to resource/a.md: nothing is moved into the layers of material
        "#]],
    );
    refused(
        "audit/2026-11-30/dream.md",
        "audit/x.md",
        expect![[r#"
            refused: audit/2026-11-30/dream.md to audit/x.md: what is computed or reported has its own names; nobody renames there
        "#]],
    );
    // What is allowed: material within its layer, digests and own notes among each other, folders
    // that are there already whatever they are called.
    refused("daily/2026-11-30/e.md", "daily/2026-11-30/f.md", expect![[r#""#]]);
    refused("a.md", "digest/wiki/a.md", expect![[r#""#]]);
    refused("a.md", "C#/a.md", expect![[r#""#]]);
    refused(
        "a.md",
        "Q: what?.md",
        expect![[r#"
        C#/y.md:1 [[a]] → [[Q: what?]]
        Q: what?.md: not every file system can hold `:` in a name
    "#]],
    );
}

#[test]
fn a_folder_that_no_link_can_write_is_left_out_of_it() {
    // A wikilink can't name the folder, a destination can.
    check(
        "=== C#/d/Old.md\n=== x/New.md\n=== x/s.md\n[[Old]] [x](C%23/d/Old.md) [y](Old.md)\n",
        "C#/d/Old.md",
        "C#/d/New.md",
        expect![[r#"
            x/s.md:1 [[Old]] → [[d/New]] (longer, since the short form would mean x/New.md)
            x/s.md:1 [x](C%23/d/Old.md) → [x](C%23/d/New.md)
            x/s.md:1 [y](Old.md) → [y](C%23/d/New.md) (longer, since the short form would mean x/New.md)
        "#]],
    );
    // Where nothing that a wikilink can say means the file, nothing is renamed.
    check(
        "=== C#/Old.md\n=== x/New.md\n=== x/s.md\n[[Old]]\n",
        "C#/Old.md",
        "C#/New.md",
        expect![[r#"
        refused: x/s.md: line 1: [[Old]] can't be written for the new name; change it by hand first
    "#]],
    );
}

#[test]
fn a_link_that_can_not_be_written_is_named_by_its_own_line() {
    // Of several strings in one frontmatter the code of one swallows its link, or the form of a plain
    // one does not hold the name.
    let culprit = "=== a/Old.md\n=== n.md\n---\none: \"[[Old]]\"\ntwo: \"[[Old]] `\"\nthree: see [x](<Old.md>) there\n---\n[[Old]]\n";
    check(
        culprit,
        "a/Old.md",
        "a/x`y.md",
        expect![[r#"
        refused: n.md: line 3: [[Old]] can't be written for the new name; change it by hand first
    "#]],
    );
    check(
        culprit,
        "a/Old.md",
        "a/x: y.md",
        expect![[r#"
        refused: n.md: line 4: [x](<Old.md>) can't be written for the new name; change it by hand first
    "#]],
    );
    let culprit = "=== a/Old.md\n=== n.md\n---\none: \"[[Old]]\"\ntwo: '[[Old]]'\nthree: \"[[Old]]\"\n---\n[[Old]] `[[Old]]\n\nx [[Old]] y\n";
    check(
        culprit,
        "a/Old.md",
        "a/x`y.md",
        expect![[r#"
        refused: n.md: line 6: [[Old]] can't be written for the new name; change it by hand first
    "#]],
    );
}

#[test]
fn files_whose_links_could_not_be_read_are_named() {
    let folder = temp_vault(
        "=== Old.md\n=== s.md\n[[Old]]\n=== broken.canvas\n{\"nodes\": [[[Old]]\n=== yaml.md\n---\nup: \"[[Old]]\n---\n[[Old]]\n=== plain.md\n---\na: b: c\n---\n=== audit/2026-11-30/b.canvas\n{\n",
    );
    let mut large = b"[[Old]]\n".to_vec();
    large.resize((16 << 20) + 1, b'x');
    folder.write("large.md", &large);
    expect![[r#"
        s.md:1 [[Old]] → [[New]]
        yaml.md:4 [[Old]] → [[New]]
        broken.canvas: could not be read: links in it are not followed (the canvas is not JSON; open it in Obsidian and save it again)
        large.md: could not be read: links in it are not followed (larger than 16 MiB; it is not read as a note)
        yaml.md: could not be read: links in it are not followed (the properties can't be read as YAML; mend this line (the note's text is read all the same))
    "#]].assert_eq(&shown(&folder, "Old.md", "New.md"));
    assert!(folder.files().get("large.md").unwrap().starts_with(b"[[Old]]\n"));
}

#[test]
#[cfg(unix)]
fn a_folder_that_could_not_be_listed_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = temp_vault("=== Old.md\n=== closed/n.md\n[[Old]]\n");
    let mode = |mode| std::fs::set_permissions(folder.path().join("closed"), PermissionsExt::from_mode(mode)).unwrap();
    mode(0o000);
    // Who may do everything can read it all the same.
    let closed = std::fs::read_dir(folder.path().join("closed")).is_err();
    let vault = Vault::open(folder.path()).unwrap();
    let report = rename::plan(&vault, &path("Old.md"), &path("New.md")).unwrap().report;
    mode(0o755);
    assert_eq!(report.warnings.len(), usize::from(closed), "{report:?}");
    assert!(report.warnings.iter().all(|warning| warning.to_string().starts_with("closed: could not be read")));
}

#[test]
fn a_folder_takes_its_files_along_as_they_are_spelled_on_disk() {
    let folder = temp_vault("=== s.md\n[[Café]] [[old/é/Café]]\n");
    folder.write("old/e\u{301}/Cafe\u{301}.md", "[[s]]\n");
    folder.write("old/e\u{301}/é.png", "p");
    renamed(&folder, "old", "new").unwrap();
    let names: Vec<String> = folder.files().into_keys().collect();
    assert_eq!(names, ["new/e\u{301}/Cafe\u{301}.md", "new/e\u{301}/é.png", "s.md"]);
    assert_eq!(folder.read("s.md"), "[[Café]] [[new/é/Café]]\n");
    // Of a folder that is renamed itself, the folder gets its new name.
    renamed(&folder, "new/é", "new/ö").unwrap();
    let names: Vec<String> = folder.files().into_keys().collect();
    assert_eq!(names, ["new/ö/Cafe\u{301}.md", "new/ö/é.png", "s.md"]);
}

/// The folders of a vault, in order.
fn folders(vault: &TempVault) -> String {
    let mut out = Vec::new();
    let mut next = vec![vault.path().to_path_buf()];
    while let Some(folder) = next.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let relative = entry.path().strip_prefix(vault.path()).unwrap().to_str().unwrap().to_owned();
            if entry.path().is_dir() && relative != ".dormouse" {
                out.push(relative);
                next.push(entry.path());
            }
        }
    }
    out.sort();
    out.join(" ")
}

#[test]
fn a_folder_that_is_renamed_is_no_longer_there() {
    let vault = "=== p/old/x.md\n[[y]]\n=== p/old/deep/er/y.md\n=== s.md\n[[p/old/x]]\n";
    let folder = temp_vault(vault);
    expect![[r#"
        s.md:1 [[p/old/x]] → [[p/new/x]]
    "#]]
    .assert_eq(&shown(&folder, "p/old", "p/new"));
    assert_eq!(folders(&folder), "p p/new p/new/deep p/new/deep/er");
    // The folder above, with nothing else in it, goes as well; one that was empty comes along.
    std::fs::create_dir_all(folder.path().join("p/new/none/at all")).unwrap();
    shown(&folder, "p/new", "q/new");
    assert_eq!(folders(&folder), "q q/new q/new/deep q/new/deep/er q/new/none q/new/none/at all");
    // Case alone.
    shown(&folder, "q/new/deep", "q/new/Deep");
    assert_eq!(folders(&folder), "q q/new q/new/Deep q/new/Deep/er q/new/none q/new/none/at all");
    // A folder below the old one.
    shown(&folder, "q/new", "new");
    assert_eq!(folders(&folder), "new new/Deep new/Deep/er new/none new/none/at all");
    // The folder of a single file is a person's own.
    shown(&folder, "new/Deep/er/y.md", "y.md");
    assert_eq!(folders(&folder), "new new/Deep new/Deep/er new/none new/none/at all");
}

#[test]
fn what_is_no_part_of_the_vault_keeps_a_folder_and_is_named() {
    let folder = temp_vault("=== old/x.md\n=== old/deep/y.md\n=== old/.git/config\n=== old/deep/.keep\n");
    expect![[r#"
        old: the folder stays: what is no part of the vault is not moved (old/.git and 1 more)
    "#]]
    .assert_eq(&shown(&folder, "old", "new"));
    assert_eq!(folders(&folder), "new new/deep old old/.git old/deep");
    assert!(folder.exists("old/.git/config") && folder.exists("old/deep/.keep"));
}

#[test]
fn a_rename_is_all_or_nothing_beside_an_editor() {
    let folder = temp_vault("=== Old.md\n=== a.md\n[[Old]]\n=== b.md\n[[Old]]\n");
    let vault = Vault::open(folder.path()).unwrap();
    let plan = rename::plan(&vault, &path("Old.md"), &path("New.md")).unwrap();
    folder.write("b.md", "[[Old]] edited\n");
    let before = folder.files();
    assert!(
        matches!(vault.commit(&plan.change_set), Err(CommitError::Conflict(conflict)) if conflict.path == path("b.md"))
    );
    assert_eq!(folder.files(), before);
    // A note that came in between and uses the name is seen at the door.
    let plan = rename::plan(&vault, &path("Old.md"), &path("New.md")).unwrap();
    folder.write("c.md", "[[Old]]\n");
    folder.write("c.canvas", "{\"nodes\":[{\"type\":\"file\",\"file\":\"Old.md\"}]}");
    vault.refresh().unwrap();
    let before = folder.files();
    assert!(matches!(vault.commit(&plan.change_set), Err(CommitError::Conservation(lost)) if lost.len() == 2));
    assert_eq!(folder.files(), before);
    // A file took the new name.
    let plan = rename::plan(&vault, &path("Old.md"), &path("New.md")).unwrap();
    folder.write("new.md", "mine\n");
    assert!(matches!(vault.commit(&plan.change_set), Err(CommitError::Conflict(_))));
}

#[test]
fn many_links_are_rewritten_in_one_go() {
    let notes: String = (0..200).map(|n| format!("=== n/{n:04}.md\nsee [[Old]] and [[Else]]\n")).collect();
    let folder = temp_vault(&format!("{notes}=== Old.md\n=== Else.md\n"));
    let report = renamed(&folder, "Old.md", "New.md").unwrap().report;
    assert_eq!(report.rewritten.len(), 200);
    assert_eq!(folder.read("n/0199.md"), "see [[New]] and [[Else]]\n");
}

/// How a link to a file is spelled, so that one rename and its opposite give the same text again.
#[derive(Debug, Clone, Copy)]
enum Style {
    Bare,
    BareMd,
    Whole,
    WholeMd,
    Rooted,
    Relative,
    Destination,
    Angle,
    RelativeDestination,
    Property,
    Field,
}

const STYLES: [Style; 11] = [
    Style::Bare,
    Style::BareMd,
    Style::Whole,
    Style::WholeMd,
    Style::Rooted,
    Style::Relative,
    Style::Destination,
    Style::Angle,
    Style::RelativeDestination,
    Style::Property,
    Style::Field,
];

fn relative(target: &str, source: &str) -> String {
    let folders: Vec<&str> = source.split('/').rev().skip(1).collect::<Vec<_>>().into_iter().rev().collect();
    let segments: Vec<&str> = target.split('/').collect();
    let shared = folders.iter().zip(&segments[..segments.len() - 1]).take_while(|(a, b)| a == b).count();
    let up = folders.len() - shared;
    format!("{}{}", if up == 0 { "./".to_owned() } else { "../".repeat(up) }, segments[shared..].join("/"))
}

fn spelled(style: Style, target: &NotePath, source: &str) -> String {
    let bare = target.link_target().rsplit('/').next().unwrap();
    let encoded = target.as_str().replace(' ', "%20");
    match style {
        Style::Bare => format!("[[{bare}]]"),
        Style::BareMd => format!("![[{}#H|shown]]", target.file_name()),
        Style::Whole => format!("[[{}|s]]", target.link_target()),
        Style::WholeMd => format!("[[{target}#^b]]"),
        Style::Rooted => format!("[[/{}]]", target.link_target()),
        Style::Relative => format!("[[{}]]", relative(target.link_target(), source)),
        Style::Destination => format!("[t]({encoded}#H \"title\")"),
        Style::Angle => format!("![t](<{target}>)"),
        Style::RelativeDestination => format!("[t]({})", relative(target.as_str(), source).replace(' ', "%20")),
        Style::Property => format!("[[{}]]", target.link_target()),
        Style::Field => format!("(rel:: [[{bare}]])"),
    }
}

/// A vault whose names collide across folders, in case, and in Unicode form.
fn vaults() -> impl Strategy<Value = Vec<(String, String)>> {
    let name = prop::sample::select(vec!["N", "n", "M b", "Cafe\u{301}", "Café 图", "It's \"q\"", "v1.2", "x&y"]);
    let folder = prop::sample::select(vec!["", "a/", "A/", "a/b/", "c d/"]);
    let extension = prop::sample::select(vec![".md", ".md", ".md", ".png", ".canvas"]);
    let file = (folder, name, extension).prop_map(|(f, n, e)| format!("{f}{n}{e}"));
    let link = (any::<prop::sample::Index>(), prop::sample::select(STYLES.to_vec()));
    prop::collection::vec((file, prop::collection::vec(link, 0..5)), 2..8).prop_map(|files| {
        let mut paths: Vec<NotePath> = files.iter().map(|(name, _)| path(name)).collect();
        paths.sort();
        paths.dedup();
        let content = |source: &NotePath, links: &[(prop::sample::Index, Style)]| {
            let written: Vec<(Style, String)> = links
                .iter()
                .map(|(at, style)| (*style, spelled(*style, &paths[at.index(paths.len())], source.as_str())))
                .collect();
            let body: Vec<&str> =
                written.iter().filter(|(s, _)| !matches!(s, Style::Property)).map(|(_, l)| l.as_str()).collect();
            let body = body.join(" and ");
            if source.extension() == "canvas" {
                let files = links
                    .iter()
                    .map(|(at, _)| serde_json::json!({"type": "file", "file": paths[at.index(paths.len())].as_str()}));
                let nodes: Vec<_> = files.chain([serde_json::json!({"type": "text", "text": body})]).collect();
                return serde_json::json!({ "nodes": nodes }).to_string();
            }
            if !source.is_markdown() {
                return "bytes".to_owned();
            }
            let quoted = |link: &str| format!("  - \"{}\"\n", link.replace('"', "\\\""));
            let properties: String =
                written.iter().filter(|(s, _)| matches!(s, Style::Property)).map(|(_, l)| quoted(l)).collect();
            let head = if properties.is_empty() { String::new() } else { format!("---\nup:\n{properties}---\n") };
            format!("{head}{body} [[nowhere]]\n")
        };
        let mut out: Vec<(String, String)> = Vec::new();
        for (name, links) in &files {
            let source = path(name);
            if out.iter().all(|(have, _)| path(have) != source) {
                out.push((name.clone(), content(&source, links)));
            }
        }
        out
    })
}

/// Whether a link means `file` by its name in another case or form: it is spelled as the file is once
/// the file is renamed.
fn links_in_another_spelling(vault: &Vault, file: &NotePath) -> bool {
    let snapshot = vault.snapshot();
    let differs = |source: &NotePath, doc: &Document| {
        doc.links.iter().any(|link| {
            let last = link.target.rsplit('/').next().unwrap();
            snapshot.resolve(source, &link.target).path() == Some(file)
                && !file.as_str().ends_with(link.target.trim_start_matches(['.', '/']))
                && !file.link_target().ends_with(last)
        })
    };
    snapshot.notes().chain(snapshot.canvases()).any(|note| differs(&note.path, note.doc()))
}

/// Every link of every note and canvas: where it stands, what it means, and whether that alone.
type Meanings = Vec<(NotePath, Vec<(String, Option<(NotePath, bool)>)>)>;

fn meanings(vault: &Vault) -> Meanings {
    let snapshot = vault.snapshot();
    let canvases = snapshot.files().filter(|file| file.extension() == "canvas").cloned();
    let sources: Vec<NotePath> = snapshot.notes().map(|note| note.path.clone()).chain(canvases).collect();
    let links = |source: &NotePath| {
        let text = vault.read(source).unwrap().text;
        let doc = if source.is_markdown() { Document::parse(&text) } else { Document::parse_canvas(&text) };
        let meaning = |link: &dormouse_vault::Link| {
            let means = match snapshot.resolve(source, &link.target) {
                Resolution::File { path, ambiguous } => Some((path, ambiguous)),
                _ => None,
            };
            (format!("{:?} {} {:?}", link.kind, link.subpath, link.display), means)
        };
        doc.links.iter().map(meaning).collect()
    };
    sources.iter().map(|source| (source.clone(), links(source))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, rng_seed: RngSeed::Fixed(11), ..ProptestConfig::default() })]

    #[test]
    fn every_link_means_what_it_meant_and_the_way_back_restores_the_bytes(
        files in vaults(),
        victim in any::<prop::sample::Index>(),
        folder in prop::sample::select(vec!["", "a/", "A/", "a/b/", "c d/", "new/"]),
        name in prop::sample::select(vec!["N", "n", "M b", "Café", "nowhere", "v1", "Fresh 名", "It's", "x (y"]),
    ) {
        let disk = temp_vault("");
        for (file, content) in &files {
            disk.write(file, content);
        }
        let vault = Vault::open(disk.path()).unwrap();
        let from = path(&files[victim.index(files.len())].0);
        let to = path(&format!("{folder}{name}.{}", from.extension()));
        let before = disk.files();
        let meant = meanings(&vault);
        let respelled = links_in_another_spelling(&vault, &from);
        let plan = match rename::plan(&vault, &from, &to) {
            Ok(plan) => plan,
            Err(RenameError::SameName { .. } | RenameError::Exists { .. } | RenameError::Unwritable { .. }) => {
                prop_assert_eq!(disk.files(), before);
                return Ok(());
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let dry = vault.preview(&plan.change_set);
        prop_assert_eq!(&disk.files(), &before);
        let dry = match dry {
            Ok(dry) => dry,
            // Where the disk has a folder or file whose name differs in case alone.
            Err(CommitError::Conflict(_)) => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(format!("{error} {:?}", plan.report))),
        };
        vault.commit(&plan.change_set).unwrap();

        // Every link means the same file, by its new name where it has one.
        let moved = |file: &NotePath| if *file == from { to.clone() } else { file.clone() };
        let mut wanted: Vec<_> = meant.into_iter().map(|(source, links)| (moved(&source), links)).collect();
        wanted.sort();
        let mut got = meanings(&Vault::open(disk.path()).unwrap());
        got.sort();
        prop_assert_eq!(wanted.len(), got.len());
        for ((source, links), (source_now, links_now)) in wanted.iter().zip(&got) {
            prop_assert_eq!(source, source_now);
            prop_assert_eq!(links.len(), links_now.len());
            for ((shown, means), (shown_now, means_now)) in links.iter().zip(links_now) {
                prop_assert_eq!(shown, shown_now);
                match means {
                    Some((file, tied)) => {
                        let now = means_now.as_ref();
                        prop_assert_eq!(Some(&moved(file)), now.map(|(file, _)| file), "{} {}: {:?}", source, shown, plan.report);
                        prop_assert!(*tied || now.is_some_and(|(_, tied)| !tied), "{} {}: {:?}", source, shown, plan.report);
                    }
                    None => prop_assert!(means_now.as_ref().is_none_or(|(now, _)| *now == to)),
                }
            }
        }
        // Nothing is touched that the report does not name, and the dry run showed it all.
        let after = disk.files();
        for (file, bytes) in &before {
            let named = plan.report.rewritten.iter().any(|link| link.path == path(file));
            if !named && path(file) != from {
                prop_assert_eq!(after.get(file), Some(bytes));
            }
        }
        for diff in &dry {
            let bytes = after.iter().find(|(file, _)| path(file) == diff.path).unwrap().1;
            prop_assert_eq!(Version::of(bytes), diff.after);
        }

        // There and back.
        let back = rename::plan(&vault, &to, &from);
        // Between folders that differ by case alone a relative path has two equal spellings.
        let folders: BTreeSet<&str> = files.iter().map(|(file, _)| file.as_str()).chain([to.as_str()]).filter_map(|file| file.rsplit_once('/').map(|(folder, _)| folder)).collect();
        let folded: BTreeSet<String> = folders.iter().map(|folder| folder.to_lowercase()).collect();
        let plain = plan.report.rewritten.iter().all(|link| link.longer.is_none())
            && plan.report.resolved.is_empty()
            && folders.len() == folded.len();
        let Ok(back) = back else {
            return Ok(());
        };
        let short = back.report.rewritten.iter().all(|link| link.longer.is_none());
        let same_depth = from.as_str().matches('/').count() == to.as_str().matches('/').count();
        if plain && short && same_depth && !respelled && vault.commit(&back.change_set).is_ok() {
            let restored = disk.files();
            for (file, bytes) in &before {
                let now = restored.iter().find(|(have, _)| path(have) == path(file)).map(|(_, bytes)| bytes);
                prop_assert_eq!(
                    now.map(|b| String::from_utf8_lossy(b)), Some(String::from_utf8_lossy(bytes)),
                    "{} → {}: {:?}", from, to, plan.report
                );
            }
        }
    }
}
