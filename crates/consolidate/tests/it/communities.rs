//! Themes: from links, from common sources, stable between runs.

use std::fmt::Write;

use dormouse_consolidate::{ConsolidateConfig, Task};
use dormouse_fixtures::temp_vault;
use dormouse_vault::meta::Communities;
use expect_test::{Expect, expect};

use crate::{NOON, consolidate, consolidate_with, digest, groups, meta};

fn check(text: &str, expected: Expect) {
    let vault = temp_vault(text);
    consolidate(&vault, NOON, &[Task::Communities]);
    expected.assert_eq(&groups(&vault));
}

fn two_triangles() -> String {
    [
        digest("a1", "[[a2]] [[a3]]"),
        digest("a2", "[[a3]]"),
        digest("a3", "end"),
        digest("b1", "[[b2]] [[b3]]"),
        digest("b2", "[[b3]]"),
        digest("b3", "[[a1]]"),
    ]
    .concat()
}

#[test]
fn item_20_two_triangles_are_two_themes() {
    check(
        &two_triangles(),
        expect![[r#"
        0 a1 a2 a3
        1 b1 b2 b3
    "#]],
    );
}

#[test]
fn daily_notes_and_a_persons_own_notes_are_in_no_theme() {
    let own = "=== mine.md\n[[a1]] [[b1]]\n=== daily/2026-11-30/e.md\n[[a1]] [[b1]]\n";
    check(
        &format!("{}{own}", two_triangles()),
        expect![[r#"
        0 a1 a2 a3
        1 b1 b2 b3
    "#]],
    );
}

#[test]
fn notes_that_share_a_source_are_a_theme_without_any_link() {
    let from = |source: &str| format!("derived_from:: [[daily/2026-11-30/{source}]]");
    let vault = [
        digest("a1", &from("x")),
        digest("a2", &from("x")),
        digest("a3", &from("x")),
        digest("b1", &from("y")),
        digest("b2", &from("y")),
        digest("c", &from("z")),
    ];
    let days = "=== daily/2026-11-30/x.md\nx\n=== daily/2026-11-30/y.md\ny\n=== daily/2026-11-30/z.md\nz\n";
    check(
        &format!("{}{days}", vault.concat()),
        expect![[r#"
        0 a1 a2 a3
        1 b1 b2
        2 c
    "#]],
    );
}

#[test]
fn item_25_an_index_of_everything_does_not_swallow_the_themes() {
    let mut text = String::new();
    let mut all = String::new();
    for theme in ["a", "b", "c", "d"] {
        for i in 0..6 {
            let links: String = (0..6).filter(|j| *j != i).map(|j| format!("[[{theme}{j}]] ")).collect();
            text.push_str(&digest(&format!("{theme}{i}"), &links));
            let _ = write!(all, "[[{theme}{i}]] ");
        }
    }
    text.push_str(&digest("index", &all));
    check(
        &text,
        expect![[r#"
        0 a0 a1 a2 a3 a4 a5 index
        1 b0 b1 b2 b3 b4 b5
        2 c0 c1 c2 c3 c4 c5
        3 d0 d1 d2 d3 d4 d5
    "#]],
    );
}

#[test]
fn item_24_a_new_leaf_changes_no_other_theme_and_a_hub_that_goes_breaks_nothing() {
    let vault = temp_vault(&two_triangles());
    consolidate(&vault, NOON, &[Task::Communities]);
    let before = groups(&vault);
    vault.write("digest/wiki/aa-leaf.md", "[[b2]]\n");
    consolidate(&vault, NOON, &[Task::Communities]);
    assert_eq!(groups(&vault).replace("aa-leaf ", ""), before);
    vault.remove("digest/wiki/b1.md");
    consolidate(&vault, NOON, &[Task::Communities]);
    expect![[r#"
        0 a1 a2 a3
        1 aa-leaf b2 b3
    "#]]
    .assert_eq(&groups(&vault));
}

#[test]
fn a_theme_has_a_label_a_hub_and_its_stability() {
    let text = [
        digest("ranking", "BM25 ranking without length norm wins. [[fusion]] [[stemming]]"),
        digest("fusion", "Score fusion for ranking beats rank fusion. [[ranking]]"),
        digest("stemming", "Stemming helps the ranking of plain questions. [[ranking]]"),
        digest("备份", "备份流程每周一次。[[恢复]] [[演练]]"),
        digest("恢复", "备份之后要试恢复流程。[[备份]]"),
        digest("演练", "备份演练的流程。[[备份]]"),
    ];
    let vault = temp_vault(&text.concat());
    let report = consolidate(&vault, NOON, &[Task::Communities]);
    let lines: Vec<String> = report
        .communities
        .iter()
        .map(|t| format!("{} | {} | {} | {} | {}", t.id, t.label, t.size, t.hub, t.stability))
        .collect();
    expect![[r#"
        0 | ranking · fusion · stemming | 3 | digest/wiki/ranking.md | 1
        1 | 备份 · 恢复 · 演练 | 3 | digest/wiki/备份.md | 1"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn the_parent_of_a_split_is_the_hub_of_its_parts() {
    let text = [
        digest("whole", "[[part-1]] [[part-2]]"),
        digest("part-1", "part_of:: [[digest/wiki/whole]]\n\n[[part-2]] [[part-3]]"),
        digest("part-2", "part_of:: [[digest/wiki/whole]]\n\n[[part-3]] [[part-1]]"),
        digest("part-3", "[[part-2]]"),
    ];
    let vault = temp_vault(&text.concat());
    let report = consolidate(&vault, NOON, &[Task::Communities]);
    assert_eq!(report.communities[0].hub.as_str(), "digest/wiki/whole.md");
}

#[test]
fn conflict_copies_are_in_no_theme() {
    let copy = "=== digest/wiki/a1 (Conflicted copy laptop 202611121030).md\n[[b1]] [[b2]] [[b3]]\n";
    check(
        &format!("{}{copy}", two_triangles()),
        expect![[r#"
        0 a1 a2 a3
        1 b1 b2 b3
    "#]],
    );
}

#[test]
fn singletons_can_be_left_out() {
    let vault = temp_vault(&[two_triangles(), digest("alone", "nothing")].concat());
    let mut config = ConsolidateConfig::default();
    config.communities.list_singletons = false;
    let report = consolidate_with(&vault, NOON, &[Task::Communities], &config);
    assert_eq!(meta::<Communities>(&vault).communities.len(), 2);
    assert_eq!(report.tasks[0].numbers["alone"], 1);
}

#[test]
fn an_id_of_a_community_that_is_gone_is_never_given_again() {
    let vault = temp_vault(&two_triangles());
    consolidate(&vault, NOON, &[Task::Communities]);
    assert_eq!(meta::<Communities>(&vault).next_id, 2);
    ["b1", "b2", "b3"].iter().for_each(|name| vault.remove(&format!("digest/wiki/{name}.md")));
    consolidate(&vault, NOON, &[Task::Communities]);
    ["c1", "c2", "c3"].iter().for_each(|name| {
        vault.write(&format!("digest/wiki/{name}.md"), "[[c1]] [[c2]] [[c3]]\n");
    });
    consolidate(&vault, NOON, &[Task::Communities]);
    let found: Vec<u32> = meta::<Communities>(&vault).communities.iter().map(|c| c.id).collect();
    assert_eq!(found, [0, 2]);
}

#[test]
fn what_the_cache_holds_changes_nothing_in_a_vault_of_the_usual_size() {
    let vault = temp_vault(&two_triangles());
    consolidate(&vault, NOON, &[Task::Communities]);
    vault.write("digest/wiki/a1.md", "another theme altogether [[a2]] [[a3]]\n");
    let other = temp_vault(&vault.dump());
    consolidate(&vault, NOON, &[Task::Communities]);
    consolidate(&other, NOON, &[Task::Communities]);
    assert_eq!(vault.read("meta/communities.json"), other.read("meta/communities.json"));
}

#[test]
fn a_signal_of_a_clock_that_was_ahead_is_written_again() {
    let vault = temp_vault(&two_triangles());
    consolidate(&vault, "2026-11-30T20:00:00Z", &[Task::Communities]);
    consolidate(&vault, "2026-11-30T12:00:00Z", &[Task::Communities]);
    assert_eq!(meta::<Communities>(&vault).computed_at.to_rfc3339(), "2026-11-30T12:00:00+00:00");
}
