//! Pairs that say the same, and pairs that only look so.

use dormouse_consolidate::duplicates::{Vectors, dismiss, dismissals, undismiss};
use dormouse_consolidate::{ConsolidateConfig, DuplicateReason, RunContext, Silent, Task, run_with};
use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::{NotePath, Vault};
use expect_test::{Expect, expect};

use crate::{NOON, clock, consolidate, notes};

const LONG: &str = "The ranking of blocks uses BM25 without a length norm, since blocks are short already. \
A share of the neighbours' score is added to each block, and a share of the note's. Vectors are fused by a \
normalised sum of scores; plain rank fusion lost six points on the long conversations that we measured. \
The stop list holds question words and auxiliaries, and the exact form is kept beside the stem.";

fn pairs(vault: &TempVault) -> String {
    let before = notes(vault);
    let report = consolidate(vault, NOON, &[Task::Duplicates]);
    assert_eq!(notes(vault), before, "a report changes no note");
    let lines = report.duplicates.iter().map(|p| {
        let reason = serde_json::to_string(&p.reason).unwrap();
        format!("{} {} {reason}\n", p.keep.stem(), p.other.stem())
    });
    lines.collect()
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&pairs(&temp_vault(text)));
}

#[test]
fn item_13_equal_names_are_the_same_but_three_are_not_decided() {
    check(
        "=== digest/wiki/a.md\n---\nname: Release  Steps\n---\nBuild it.\n=== digest/procedure/b.md\n---\nname: release steps\n---\nTag it.\n\
         === digest/wiki/c.md\n---\nname: Backup\n---\nx1\n=== digest/procedure/d.md\n---\nname: backup\n---\ny\n=== digest/personal/e.md\n---\nname: BACKUP\n---\nz\n",
        expect![[r#"
            e d {"kind":"same-name","ambiguous":true}
            e c {"kind":"same-name","ambiguous":true}
            b a {"kind":"same-name","ambiguous":false}
            d c {"kind":"same-name","ambiguous":true}
        "#]],
    );
}

#[test]
fn items_14_and_15_short_names_and_chinese_names_are_not_mixed_up() {
    check(
        "=== digest/wiki/a.md\n---\nname: redis\n---\none\n=== digest/wiki/b.md\n---\nname: redix\n---\ntwo\n\
         === digest/wiki/c.md\n---\nname: 发布流程\n---\n三\n=== digest/wiki/d.md\n---\nname: 备份计划\n---\n四\n\
         === digest/wiki/e.md\n---\nname: how the release of a new version is prepared\n---\nfive\n\
         === digest/wiki/f.md\n---\nname: how the release of a new version is prepared!\n---\nsix\n\
         === digest/wiki/g.md\n---\nname: what was measured in version 1.2 of the ranking\n---\nseven\n\
         === digest/wiki/h.md\n---\nname: what was measured in version 1.3 of the ranking\n---\neight\n",
        expect![[r#"
            e f {"kind":"similar-name","likeness":0.976744}
        "#]],
    );
}

#[test]
fn item_16_short_notes_and_notes_of_different_length_are_not_similar() {
    check(
        &format!(
            "=== digest/wiki/a.md\nUse tea filters of paper always.\n=== digest/wiki/b.md\nUse tea filters of paper often.\n\
             === digest/wiki/c.md\n{LONG}\n=== digest/wiki/d.md\n{LONG}\n\n{}\n",
            "Something else entirely is told here at length, of gardens and of rain. ".repeat(12)
        ),
        expect![[r#""#]],
    );
}

#[test]
fn similar_text_is_found_in_both_directions() {
    check(
        &format!("=== digest/wiki/a.md\n{LONG}\n=== digest/wiki/b.md\n{LONG} One more remark stands here.\n"),
        expect![[r#"
            a b {"kind":"similar","of_keep":1.0,"of_other":0.865909}
        "#]],
    );
}

#[test]
fn similar_chinese_text_is_found() {
    let zh = "检索的单位是段落，笔记只是它的上下文。排序用不带长度归一的词频公式，因为段落本来就短。\
              每个段落再加上邻居的一部分分数。向量的分数归一之后相加，名次相加的办法在长对话上要差六分。";
    check(
        &format!("=== digest/wiki/a.md\n{zh}\n=== digest/wiki/b.md\n{zh}停用词里有疑问词。\n"),
        expect![[r#"
            a b {"kind":"similar","of_keep":1.0,"of_other":0.855696}
        "#]],
    );
}

#[test]
fn item_17_a_digest_and_its_own_source_are_never_a_pair() {
    check(
        &format!(
            "=== digest/wiki/a.md\n{LONG}\n\nderived_from:: [[b]]\n=== digest/wiki/b.md\n{LONG}\n=== daily/2026-11-30/e.md\n{LONG}\n"
        ),
        expect![[r#""#]],
    );
}

#[test]
fn item_18_a_conflict_copy_comes_first_with_a_diff() {
    let vault = temp_vault(&format!(
        "=== digest/wiki/a.md\nfirst\n{LONG}\n=== digest/wiki/a (Conflicted copy laptop 202611121030).md\nother\n{LONG}\n\
         === digest/wiki/0.md\nfirst\n{LONG}\n"
    ));
    expect![[r#"
        a a (Conflicted copy laptop 202611121030) {"kind":"conflict-copy"}
        0 a {"kind":"identical"}
    "#]]
    .assert_eq(&pairs(&vault));
    expect![[r#"
        # Duplicates 2026-11-30

        ## 12:00:00 2 pairs to look at

        ### [[digest/wiki/a|a]] and [[digest/wiki/a (Conflicted copy laptop 202611121030)|a (Conflicted copy laptop 202611121030)]] · conflict copy

        A sync tool kept both sides of a conflict.

        ```diff
        @@ -1,2 +1,2 @@
        -first
        +other
         The ranking of blocks uses BM25 without a length norm, since blocks are short already. A share of the neighbours' score is added to each block, and a share of the note's. Vectors are fused by a normalised sum of scores; plain rank fusion lost six points on the long conversations that we measured. The stop list holds question words and auxiliaries, and the exact form is kept beside the stem.
        ```

        If they are one, every block and link of the second goes into the first:

        ```sh
        dormouse merge digest/wiki/a 'digest/wiki/a (Conflicted copy laptop 202611121030)' --dry-run
        ```

        If they are two, and this is not to be asked again until one of them says something else:

        ```sh
        dormouse dismiss digest/wiki/a 'digest/wiki/a (Conflicted copy laptop 202611121030)'
        ```

        ### [[digest/wiki/0|0]] and [[digest/wiki/a|a]] · same text

        They say the same in the same words.

        In both:

        - first
        - The ranking of blocks uses BM25 without a length norm, since blocks are short already.
        - A share of the neighbours' score is added to each block, and a share of the note's.
        - Vectors are fused by a normalised sum of scores; plain rank fusion lost six points on the long conversations that we measured.
        - The stop list holds question words and auxiliaries, and the exact form is kept beside the stem.

        If they are one, every block and link of the second goes into the first:

        ```sh
        dormouse merge digest/wiki/0 digest/wiki/a --dry-run
        ```

        If they are two, and this is not to be asked again until one of them says something else:

        ```sh
        dormouse dismiss digest/wiki/0 digest/wiki/a
        ```

    "#]].assert_eq(&vault.read("audit/2026-11-30/duplicates.md"));
}

#[test]
fn item_19_and_30_the_same_pairs_twice_leave_the_page_alone() {
    let vault = temp_vault("=== digest/wiki/a.md\nThe same words.\n=== digest/wiki/b.md\nThe same words.\n");
    let first = pairs(&vault);
    let page = vault.read("audit/2026-11-30/duplicates.md");
    let written = std::fs::metadata(vault.path().join("audit/2026-11-30/duplicates.md")).unwrap().modified().unwrap();
    assert_eq!(pairs(&vault), first);
    assert_eq!(vault.read("audit/2026-11-30/duplicates.md"), page);
    let after = std::fs::metadata(vault.path().join("audit/2026-11-30/duplicates.md")).unwrap().modified().unwrap();
    assert_eq!(written, after);
    vault.write("digest/wiki/c.md", "The same words.\n");
    pairs(&vault);
    let longer = vault.read("audit/2026-11-30/duplicates.md");
    assert!(longer.starts_with(&page) && longer.matches("### ").count() == 3, "{longer}");
}

#[test]
fn thousands_of_notes_of_one_form_are_searched_in_no_time() {
    let mut text = String::new();
    for i in 0..2000 {
        text.push_str(&format!("=== digest/wiki/n{i}.md\nStandup of day {i}: deployed, tested, no blockers at all.\n"));
    }
    check(&text, expect![[r#""#]]);
}

fn path(text: &str) -> NotePath {
    text.parse().unwrap()
}

#[test]
fn a_dismissed_pair_comes_back_when_one_of_the_two_says_something_else() {
    let vault = temp_vault(&format!(
        "=== digest/wiki/a.md\n---\nname: A\n---\n{LONG}\n=== digest/wiki/b.md\n{LONG} One more remark stands here.\n"
    ));
    let (a, b, now) = (path("digest/wiki/a.md"), path("digest/wiki/b.md"), clock(NOON));
    let open = || Vault::open(vault.path()).unwrap();
    let found = || pairs(&vault).lines().count();
    assert_eq!(found(), 1);
    assert!(dismiss(&open(), &b, &a, &now).unwrap());
    assert!(!dismiss(&open(), &a, &b, &now).unwrap(), "it is dismissed already");
    assert_eq!(found(), 0);
    // Properties, headings and provenance say nothing new.
    vault.write(
        "digest/wiki/a.md",
        format!("---\nname: A\ntags: [x]\n---\n# Title\n\n{LONG}\n\nderived_from:: [[daily/2026-11-30/e]]\n"),
    );
    assert_eq!(found(), 0);
    vault.write("digest/wiki/a.md", format!("{LONG} Now it says something else as well.\n"));
    assert_eq!(found(), 1);
    let list = dismissals(&open()).unwrap();
    assert_eq!(list.iter().map(|d| (d.a.stem(), d.b.stem(), d.in_force)).collect::<Vec<_>>(), [("a", "b", false)]);
    assert!(dismiss(&open(), &a, &b, &now).unwrap(), "dismissed anew");
    assert_eq!(found(), 0);
    assert!(undismiss(&open(), &b, &a, &now).unwrap());
    assert!(!undismiss(&open(), &a, &b, &now).unwrap());
    assert_eq!(found(), 1);
}

#[test]
fn a_dismissed_conflict_copy_is_not_reported_again() {
    let vault = temp_vault(&format!(
        "=== digest/wiki/a.md\n{LONG}\n=== digest/wiki/a (Conflicted copy laptop 202611121030).md\n{LONG} More.\n"
    ));
    let (a, b) = (path("digest/wiki/a.md"), path("digest/wiki/a (Conflicted copy laptop 202611121030).md"));
    assert_eq!(pairs(&vault).lines().count(), 1);
    assert!(dismiss(&Vault::open(vault.path()).unwrap(), &a, &b, &clock(NOON)).unwrap());
    assert_eq!(pairs(&vault), "");
    vault.write(b.as_str(), "It says something else.\n");
    assert_eq!(pairs(&vault).lines().count(), 1);
}

#[test]
fn dismissals_at_the_same_time_are_all_kept() {
    let notes: String = (0..17).map(|n| format!("=== digest/wiki/n{n}.md\n{LONG}\n")).collect();
    let vault = temp_vault(&notes);
    let hub = path("digest/wiki/n0.md");
    std::thread::scope(|scope| {
        for n in 1..17 {
            let (vault, hub) = (&vault, &hub);
            scope.spawn(move || {
                let other = path(&format!("digest/wiki/n{n}.md"));
                dismiss(&Vault::open(vault.path()).unwrap(), hub, &other, &clock(NOON)).unwrap();
            });
        }
    });
    assert_eq!(dismissals(&Vault::open(vault.path()).unwrap()).unwrap().len(), 16);
}

#[test]
fn a_file_of_dismissals_that_cannot_be_read_is_left_as_it_is() {
    let vault = temp_vault(&format!("=== digest/wiki/a.md\n{LONG}\n=== digest/wiki/b.md\n{LONG}\n"));
    vault.write("meta/dismissed.json", "{\"version\": 1, \"pairs\": [");
    let (a, b) = (path("digest/wiki/a.md"), path("digest/wiki/b.md"));
    let error = dismiss(&Vault::open(vault.path()).unwrap(), &a, &b, &clock(NOON)).unwrap_err().to_string();
    assert!(error.contains("dismissed.json") && error.contains("mend it"), "{error}");
    assert!(!error.contains("anew"), "no run makes it anew: {error}");
    assert_eq!(vault.read("meta/dismissed.json"), "{\"version\": 1, \"pairs\": [");
    let list = dismissals(&Vault::open(vault.path()).unwrap());
    assert!(list.is_err(), "an empty list would say that nothing is dismissed");
}

#[test]
fn edited_shuffled_and_wrapped_sentences_are_shown_side_by_side() {
    let vault = temp_vault(
        "=== digest/wiki/a.md\nThe heron fishes in the shallow water at dawn. Otters sleep in the reeds all day long. A ferry crosses the large northern lake every day at noon on Sundays.\n\
         === digest/wiki/b.md\nA ferry crosses the large northern lake every day at noon\non Sundays. Otters rest in the reeds all day long. The mill was sold to a baker | smith.\n",
    );
    expect![[r#"
        a b {"kind":"similar","of_keep":0.675439,"of_other":0.694444}
    "#]]
    .assert_eq(&pairs(&vault));
    let page = vault.read("audit/2026-11-30/duplicates.md");
    let table: String =
        page.lines().filter(|l| l.starts_with('|') || l.starts_with("- ")).map(|l| format!("{l}\n")).collect();
    expect![[r#"
        - A ferry crosses the large northern lake every day at noon on Sundays.
        | digest/wiki/a | digest/wiki/b |
        |---|---|
        | Otters sleep in the reeds all day long. | Otters rest in the reeds all day long. |
        | The heron fishes in the shallow water at dawn. | The mill was sold to a baker \| smith. |
    "#]]
    .assert_eq(&table);
}

/// CON-03: a form that is filled in, and records of days, are no duplicates however much of them is
/// the same.
#[test]
fn con_03_forms_and_dated_records_are_no_duplicates() {
    let mut text = String::new();
    let names = ["Anna", "Boris", "Chen", "Dora", "Emil", "Fatma", "Goran", "Hana", "Ivan", "Jana", "Kofi", "Lena"];
    for (i, name) in names.iter().enumerate() {
        text.push_str(&format!(
            "=== digest/wiki/talk-{i}.md\nInterview with {name} in the small room on the second floor. The questions of the form were asked in their order. {name} liked the {}. The minutes were sent to everybody who had asked for them.\n\
             === digest/wiki/pump-{i}.md\nInspection of 2026-02-{:02}. The pump ran well and everything was in order. The next inspection is done by the northern company, which wants tools and drawings ready.\n",
            ["garden", "kitchen", "workshop", "library"][i % 4],
            i + 1
        ));
    }
    check(&text, expect![[r#""#]]);
}

struct Known(Vec<(NotePath, Vec<f32>)>);

impl Vectors for Known {
    fn vector(&self, note: &NotePath) -> Option<&[f32]> {
        self.0.iter().find(|(path, _)| path == note).map(|(_, vector)| vector.as_slice())
    }
}

#[test]
fn vectors_find_what_is_said_in_other_words() {
    let other = "Blocks are ranked by their words alone. Short paragraphs need no correction for how long they are. \
                 What stands beside a paragraph lends it some weight, and its page lends a little more of the same kind.";
    let vault = temp_vault(&format!(
        "=== digest/wiki/a.md\n{LONG}\n=== digest/wiki/b.md\n{other}\n=== digest/wiki/c.md\n{other} {other} no, 7.\n"
    ));
    let open = Vault::open(vault.path()).unwrap();
    let vectors = Known(vec![
        (path("digest/wiki/a.md"), vec![1.0, 0.2, 0.1]),
        (path("digest/wiki/b.md"), vec![2.0, 0.5, 0.2]),
        (path("digest/wiki/c.md"), vec![f32::NAN, 0.5, 0.2]),
    ]);
    let (config, now) = (ConsolidateConfig::default(), clock(NOON));
    let context =
        RunContext { vault: &open, clock: &now, config: &config, seed: 0, progress: &Silent, cancel: &|| false };
    let report = run_with(context, &[Task::Duplicates], Some(&vectors)).unwrap();
    let kinds: Vec<_> = report
        .duplicates
        .iter()
        .map(|p| (p.keep.stem(), p.other.stem(), matches!(p.reason, DuplicateReason::SameMeaning { .. })))
        .collect();
    assert_eq!(kinds, [("b", "c", false), ("a", "b", true)]);
}

#[test]
fn what_a_run_after_a_few_changes_finds_is_what_a_run_without_any_memory_finds() {
    let sentence = |i: usize, k: usize| format!("The {} heron number {} counts boats near pier {}.", i % 7, i, k);
    let body = |i: usize| (0..6).map(|k| sentence(i / 3, k + i % 3) + " ").collect::<String>();
    let vault = temp_vault("");
    for i in 0..1_000 {
        vault.write(&format!("digest/wiki/n{i:03}.md"), format!("---\nname: N{i}\n---\n{}\n", body(i)));
    }
    let found = |vault: &TempVault| consolidate(vault, NOON, &[Task::Duplicates]).duplicates;
    assert!(!found(&vault).is_empty());
    let kept = std::fs::read(vault.path().join(".dormouse/consolidate/met")).unwrap();
    vault.write("digest/wiki/n100.md", format!("---\nname: N100\n---\n{}\n", body(299)));
    vault.write("digest/wiki/n2005.md", format!("---\nname: New\n---\n{}\n", body(30)));
    vault.remove("digest/wiki/n300.md");
    let again = found(&vault);
    let still = std::fs::read(vault.path().join(".dormouse/consolidate/met")).unwrap();
    assert!(still == kept, "nothing is written after a few changes");
    std::fs::remove_dir_all(vault.path().join(".dormouse")).unwrap();
    assert!(again == found(&vault));
    for broken in [&b"dormouse"[..], &[]] {
        vault.write(".dormouse/consolidate/met", broken);
        vault.write(".dormouse/consolidate/signatures", broken);
        assert!(again == found(&vault));
    }
}

const COPY: &str = "digest/wiki/a (Conflicted copy laptop 202611121030).md";

#[cfg(unix)]
#[test]
fn a_conflict_copy_that_cannot_be_read_is_left_out_and_said() {
    let vault = temp_vault(&format!(
        "=== digest/wiki/a.md\n{LONG}\n=== {COPY}\nother\n{LONG}\n=== digest/wiki/b.md\n{LONG}\n=== digest/wiki/c.md\nx\n\
         === digest/wiki/c (Conflicted copy laptop 202611121030).md\ny\n"
    ));
    let now = clock(NOON);
    let thief = Thief { file: vault.path().join(COPY) };
    let (open, config) = (Vault::open(vault.path()).unwrap(), ConsolidateConfig::default());
    let cancel = || thief.swap();
    let context =
        RunContext { vault: &open, clock: &now, config: &config, seed: 0, progress: &Silent, cancel: &cancel };
    let report = run_with(context, &[Task::Duplicates], None).unwrap();
    assert_eq!(report.tasks[0].state, dormouse_consolidate::TaskState::Done);
    let found: Vec<_> = report.duplicates.iter().map(|p| (p.keep.stem(), p.other.stem())).collect();
    assert_eq!(found, [("c", "c (Conflicted copy laptop 202611121030)"), ("a", "b")]);
    let said: Vec<_> = report.problems.iter().map(|p| p.message.clone()).collect();
    assert!(said.len() == 1 && said[0].starts_with("a conflict copy was not compared: "), "{said:?}");
}

/// Puts a link that leads nowhere but to itself in the place of a file, once the run has seen it.
#[cfg(unix)]
struct Thief {
    file: std::path::PathBuf,
}

#[cfg(unix)]
impl Thief {
    fn swap(&self) -> bool {
        if self.file.is_file() {
            std::fs::remove_file(&self.file).unwrap();
            std::os::unix::fs::symlink(&self.file, &self.file).unwrap();
        }
        false
    }
}

#[test]
fn an_edit_counts_as_one_change() {
    let mut text = String::new();
    (0..400).for_each(|i| text.push_str(&format!("=== digest/wiki/n{i:03}.md\nOf the number {i} alone.\n")));
    let vault = temp_vault(&text);
    let file = vault.path().join(".dormouse/consolidate/signatures");
    pairs(&vault);
    let before = std::fs::read(&file).unwrap();
    vault.write("digest/wiki/n001.md", "Edited.\n");
    vault.write("digest/wiki/n002.md", "This as well.\n");
    pairs(&vault);
    assert!(std::fs::read(&file).unwrap() == before, "two of four hundred are few");
    vault.write("digest/wiki/n003.md", "And a third.\n");
    pairs(&vault);
    assert!(std::fs::read(&file).unwrap() != before);
}

#[test]
fn health_counts_no_pair_that_was_dismissed_or_merged() {
    let vault =
        temp_vault(&format!("=== digest/wiki/a.md\n{LONG}\n=== digest/wiki/b.md\n{LONG}\n=== {COPY}\nother\n{LONG}\n"));
    let open = || Vault::open(vault.path()).unwrap();
    let looked = || {
        let now = NOON.parse().unwrap();
        dormouse_consolidate::examine(&open(), &ConsolidateConfig::default(), now, &|| false).unwrap()
    };
    let said = || {
        let all = looked().findings;
        let of = all.into_iter().find(|f| f.kind == dormouse_consolidate::FindingKind::Duplicates);
        of.map(|f| f.message.split(';').next().unwrap_or_default().to_owned())
    };
    assert_eq!(pairs(&vault).lines().count(), 2);
    assert_eq!(said().as_deref(), Some("pairs of notes that say the same: 2"));
    let (a, b) = (path("digest/wiki/a.md"), path("digest/wiki/b.md"));
    dismiss(&open(), &a, &path(COPY), &clock(NOON)).unwrap();
    assert_eq!(said().as_deref(), Some("pairs of notes that say the same: 1"));
    let merging = open();
    merging.commit(&dormouse_vault::merge::plan(&merging, &a, &b).unwrap().change_set).unwrap();
    assert_eq!(said(), None);
}
