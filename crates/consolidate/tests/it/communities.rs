//! Themes: from links, from common sources, stable between runs.

use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use dormouse_consolidate::{ConsolidateConfig, RunContext, Silent, Task, run};
use dormouse_fixtures::temp_vault;
use dormouse_vault::Vault;
use dormouse_vault::meta::Communities;
use expect_test::{Expect, expect};

use crate::{NOON, clock, consolidate, consolidate_with, digest, groups, meta};

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
fn ids_of_a_file_without_the_next_one_count_on_and_no_two_are_alike_when_none_is_left() {
    for (largest, expected) in [(7, [0, 8]), (u32::MAX, [0, 1])] {
        let vault = temp_vault(&two_triangles());
        consolidate(&vault, NOON, &[Task::Communities]);
        let old = vault.read("meta/communities.json").replace("\"next_id\": 2,", "").replace("\"next_id\":2,", "");
        assert!(!old.contains("next_id"), "{old}");
        // The second theme has the largest id that there is, and goes.
        let old = old
            .replace("\"id\": 1,", &format!("\"id\": {largest},"))
            .replace("\"id\":1,", &format!("\"id\":{largest},"));
        vault.write("meta/communities.json", old);
        ["b1", "b2", "b3"].iter().for_each(|name| vault.remove(&format!("digest/wiki/{name}.md")));
        ["c1", "c2", "c3"].iter().for_each(|name| {
            vault.write(&format!("digest/wiki/{name}.md"), "[[c1]] [[c2]] [[c3]]\n");
        });
        consolidate(&vault, NOON, &[Task::Communities]);
        let found: Vec<u32> = meta::<Communities>(&vault).communities.iter().map(|c| c.id).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn a_run_is_stopped_within_a_large_theme_too() {
    let asked = |notes: usize| {
        let vault = temp_vault("");
        for n in 0..notes {
            vault.write(&format!("digest/wiki/n{n}.md"), format!("word{n} [[n0]]\n"));
        }
        let open = Vault::open(vault.path()).unwrap();
        let times = AtomicUsize::new(0);
        let cancel = || {
            times.fetch_add(1, Ordering::Relaxed);
            false
        };
        let config = ConsolidateConfig::default();
        let clock = clock(NOON);
        let context =
            RunContext { vault: &open, clock: &clock, config: &config, seed: 0, progress: &Silent, cancel: &cancel };
        run(context, &[Task::Communities]).unwrap();
        assert!(meta::<Communities>(&vault).communities[0].members.len() >= notes);
        times.into_inner()
    };
    assert!(asked(2_000) >= asked(20) + 2_000 / 64);
}

#[test]
fn themes_that_another_machine_wrote_come_out_as_they_would_without_a_cache() {
    let vault = temp_vault(&two_triangles());
    consolidate(&vault, NOON, &[Task::Communities]);
    // The same ids, other members.
    let theirs =
        vault.read("meta/communities.json").replace("wiki/a1.md", "wiki/x").replace("wiki/b1.md", "wiki/a1.md");
    vault.write("meta/communities.json", theirs.replace("wiki/x", "wiki/b1.md"));
    let other = temp_vault(&vault.dump());
    std::fs::remove_dir_all(other.path().join(".dormouse")).unwrap_or_default();
    consolidate(&vault, NOON, &[Task::Communities]);
    consolidate(&other, NOON, &[Task::Communities]);
    assert_eq!(vault.read("meta/communities.json"), other.read("meta/communities.json"));
    expect![[r#"
        0 a1 a2 a3
        1 b1 b2 b3
    "#]]
    .assert_eq(&groups(&vault));
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

#[test]
fn labels_of_small_chinese_themes_are_whole_words() {
    let note = |name: &str, head: &str, body: &str| format!("=== digest/wiki/{name}.md\n---\n{head}---\n{body}\n");
    let text = [
        note("审计页", "", "团队要求审计页短小，只写结论。[[审计口径]]"),
        note("审计口径", "", "客户要求审计页清楚，口径要求统一。[[审计页]]"),
        note("备份策略", "aliases: [异地备份]\n", "备份需要验证，每周一次。恢复备份需要时间。[[恢复演练]]"),
        note("恢复演练", "", "演练需要真实数据，恢复备份的步骤要写下来。[[备份策略]]"),
        note("备份加密", "", "备份要加密，密钥不能保存在同一台机器。[[备份策略]] [[恢复演练]]"),
        note("首屏性能", "", "首屏性能取决于图片，性能预算是两百毫秒。[[性能预算]]"),
        note("性能预算", "", "超过性能预算就不能合并。[[性能回归]]"),
        note("性能回归", "", "性能回归会在夜间发现，图片最常见。[[首屏性能]]"),
        note("会议记录", "", "会议记录当天归档，会议记录对所有人公开。[[站会]]"),
        note("站会", "", "站会不写会议记录，只看阻塞。[[会议记录]]"),
        note("向量检索", "", "向量检索适合同义词，检索延迟会高一些。[[全文检索]]"),
        note("全文检索", "", "全文检索能处理人名，检索要快。[[混合检索]]"),
        note("混合检索", "", "混合检索把两种结果融合，排序更稳。[[向量检索]]"),
        note("排序", "", "排序之前先去重，检索结果的排序可以解释。[[混合检索]] [[全文检索]]"),
        note("倒排索引", "", "倒排索引让全文检索更快，索引保存在本地。[[全文检索]] [[混合检索]]"),
    ];
    let report = consolidate(&temp_vault(&text.concat()), NOON, &[Task::Communities]);
    let labels: Vec<String> = report.communities.iter().map(|t| format!("{} {}", t.size, t.label)).collect();
    expect![[r#"
        5 检索 · 排序
        3 备份 · 恢复演练 · 加密
        3 性能 · 图片
        2 会议记录
        2 审计页 · 团队 · 客户"#]]
    .assert_eq(&labels.join("\n"));
}
