//! Splits: verbatim, conserved, and only when sure.

use dormouse_consolidate::split::{KeepReason, SplitDecision, SplitPlan, apply, plan};
use dormouse_consolidate::{
    ConsolidateConfig, ConsolidateError, RunContext, Silent, SplitConfig, Task, TaskState, run,
};
use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::meta::Cooldowns;
use dormouse_vault::{Change, Clock, CommitError, NotePath, Vault};
use expect_test::expect;
use proptest::prelude::*;

use crate::{NOON, clock, consolidate, meta};

/// A threshold that lets a test's note be short.
fn small() -> SplitConfig {
    SplitConfig { threshold_tokens: 60, min_child_tokens: 10, ..SplitConfig::default() }
}

fn decide(vault: &TempVault, path: &str, config: &SplitConfig) -> SplitDecision {
    let open = Vault::open(vault.path()).unwrap();
    let text = open.read(&path.parse().unwrap()).unwrap();
    plan(&open.snapshot(), &text, open.meta::<Cooldowns>().value.as_ref(), config, clock(NOON).now())
}

fn planned(vault: &TempVault, path: &str, config: &SplitConfig) -> SplitPlan {
    match decide(vault, path, config) {
        SplitDecision::Split(plan) => *plan,
        SplitDecision::Keep(reason) => panic!("kept: {reason}"),
    }
}

fn kept(text: &str) -> KeepReason {
    match decide(&temp_vault(text), "digest/wiki/big.md", &small()) {
        SplitDecision::Keep(reason) => reason,
        SplitDecision::Split(plan) => panic!("split: {}", plan.reason),
    }
}

const EVENT: &str = "=== daily/2026-11-30/e.md\nevent ^b1\n=== daily/2026-11-29/f.md\nevent\n";

const BIG: &str = "---\nname: Ranking\n# a comment\ntags: [search]\nodd:   'no'\n---\n\
# Ranking\n\nThe lead, with [[other]].\n\n\
## Text score\n\nBM25 without a length norm wins on short blocks of prose.\n\n- The stop list holds question words.\n- Stems stand beside exact forms.\n\nderived_from:: [[daily/2026-11-30/e#^b1]]\n\n\
## Deployment\n\nContainers restart nightly at three; the cluster drains one machine after another.\n\n```python\n# not a heading\nx = 1\n## nor this\n```\n\n\
## Sources\n\nderived_from:: [[daily/2026-11-29/f]]\n";

fn ranking() -> TempVault {
    temp_vault(&format!("{EVENT}=== digest/wiki/other.md\nx\n=== digest/wiki/big.md\n{BIG}"))
}

#[test]
fn themes_leave_verbatim_and_the_parent_stays_as_the_overview() {
    let vault = ranking();
    let plan = planned(&vault, "digest/wiki/big.md", &small());
    let open = Vault::open(vault.path()).unwrap();
    let done = apply(&open, &plan, &small(), &clock(NOON)).unwrap();
    assert!(done.problems.is_empty(), "{:?}", done.problems);
    expect![[r#"
        === digest/wiki/big.md
        ---
        name: Ranking
        # a comment
        tags: [search]
        odd:   'no'
        ---
        # Ranking

        The lead, with [[other]].

        The parts of this note:

        - [[digest/wiki/ranking-text-score|Ranking: Text score]]
        - [[digest/wiki/ranking-deployment|Ranking: Deployment]]

        ## Sources

        derived_from:: [[daily/2026-11-29/f]]
        === digest/wiki/ranking-deployment.md
        ---
        name: "Ranking: Deployment"
        description: "Containers restart nightly at three; the cluster drains one machine after another."
        derived_from:
          - "[[daily/2026-11-30/e#^b1]]"
          - "[[daily/2026-11-29/f]]"
        ---

        part_of:: [[digest/wiki/big|Ranking]]

        ## Deployment

        Containers restart nightly at three; the cluster drains one machine after another.

        ```python
        # not a heading
        x = 1
        ## nor this
        ```

        === digest/wiki/ranking-text-score.md
        ---
        name: "Ranking: Text score"
        description: "BM25 without a length norm wins on short blocks of prose."
        ---

        part_of:: [[digest/wiki/big|Ranking]]

        ## Text score

        BM25 without a length norm wins on short blocks of prose.

        - The stop list holds question words.
        - Stems stand beside exact forms.

        derived_from:: [[daily/2026-11-30/e#^b1]]

    "#]]
    .assert_eq(&vault.dump_if(|p| p.starts_with("digest/wiki/") && !p.ends_with("other.md")));
    expect![[r#"
        # Split 2026-11-30

        ## 12:00:00 2 parts

        Split [[digest/wiki/big]]: 107 tokens, more than 60; 2 themes, alike by at most 0.00 (one theme from 0.25).

        - [[digest/wiki/ranking-text-score|Ranking: Text score]] took over: Text score
        - [[digest/wiki/ranking-deployment|Ranking: Deployment]] took over: Deployment

    "#]]
    .assert_eq(&vault.read("audit/2026-11-30/split.md"));
    let cooldowns = meta::<Cooldowns>(&vault);
    assert_eq!(cooldowns.notes.len(), 3);
    assert!(cooldowns.notes.values().all(|until| until.to_rfc3339() == "2026-12-14T04:00:00+00:00"));
    let again = decide(&vault, "digest/wiki/big.md", &SplitConfig { threshold_tokens: 1, ..small() });
    assert_eq!(again, SplitDecision::Keep(KeepReason::CoolingDown));
}

#[test]
fn con_05_headings_in_code_are_no_split_points() {
    let words = |w: &str| format!("{w}one {w}two {w}three {w}four {w}five. ").repeat(8);
    let big = format!(
        "# Big\n\nintro [[A]]\n\n## One\n\n{}\n\n```python\n# not a heading\nx = 1\n## nor this\n```\n\n## Two\n\n~~~\n# no\n~~~\n{} tail [[B]]\n",
        words("al"),
        words("be")
    );
    let vault = temp_vault(&format!("=== A.md\na\n=== B.md\nb\n=== digest/wiki/big.md\n{big}"));
    let plan = planned(&vault, "digest/wiki/big.md", &small());
    let headings: Vec<_> = plan.children.iter().flat_map(|c| c.headings.clone()).collect();
    assert_eq!(headings, ["One", "Two"]);
    assert_eq!(vault.read("digest/wiki/big.md"), big, "a plan changes nothing");
    for change in &plan.change_set.changes {
        let (Change::Create { content, .. } | Change::Replace { content, .. }) = change else { panic!("{change:?}") };
        let fences = content.lines().filter(|l| l.starts_with("```") || l.starts_with("~~~")).count();
        assert_eq!(fences % 2, 0, "{content}");
    }
    let open = Vault::open(vault.path()).unwrap();
    apply(&open, &plan, &small(), &clock(NOON)).unwrap();
}

#[test]
fn what_is_not_sure_is_left_alone() {
    let two = |extra: &str| {
        let a = "alpha beta gamma delta epsilon ".repeat(8);
        let b = "uno due tre quattro cinque ".repeat(8);
        format!("=== digest/wiki/big.md\nlead\n\n## A\n\n{a}\n\n## B\n\n{b}\n{extra}")
    };
    assert!(matches!(kept("=== digest/wiki/big.md\nshort\n"), KeepReason::ShortEnough { .. }));
    assert_eq!(kept(&two("\n[^1]: a footnote\n")), KeepReason::Entangled);
    assert_eq!(kept(&two("\n[label]: https://example.org\n")), KeepReason::Entangled);
    assert_eq!(kept(&two("\nsee [[#A]]\n")), KeepReason::Entangled);
    assert_eq!(kept(&two("=== digest/wiki/b.md\n[[big#A]]\n")), KeepReason::OneTheme);
    let same = "alpha beta gamma delta epsilon ".repeat(8);
    assert_eq!(kept(&format!("=== digest/wiki/big.md\n## A\n\n{same}\n\n## B\n\n{same}\n")), KeepReason::OneTheme);
    assert_eq!(kept(&format!("=== digest/wiki/big.md\n{same}{same}\n")), KeepReason::OneTheme);
    assert_eq!(kept(&two("").replacen("lead", "---\nname: [broken\n---\nlead", 1)), KeepReason::Malformed);
    let locked = two("").replacen("lead", "---\nlocked: \"true\"\n---\nlead", 1);
    assert_eq!(kept(&locked), KeepReason::Locked);
    assert!(matches!(decide(&temp_vault(&two("")), "digest/wiki/big.md", &small()), SplitDecision::Split(_)));
    let daily = two("").replace("digest/wiki/big.md", "daily/2026-11-30/big.md");
    let decision = decide(&temp_vault(&daily), "daily/2026-11-30/big.md", &small());
    assert_eq!(decision, SplitDecision::Keep(KeepReason::NotADigest));
}

#[test]
fn line_ends_and_byte_order_mark_are_kept() {
    let vault = ranking();
    vault.write("digest/wiki/big.md", format!("\u{feff}{}", BIG.replace('\n', "\r\n")));
    let plan = planned(&vault, "digest/wiki/big.md", &small());
    let open = Vault::open(vault.path()).unwrap();
    apply(&open, &plan, &small(), &clock(NOON)).unwrap();
    let parent = vault.read("digest/wiki/big.md");
    assert!(parent.starts_with("\u{feff}---\r\n"));
    for (path, bytes) in
        vault.files().into_iter().filter(|(p, _)| p.starts_with("digest/wiki/") && !p.ends_with("other.md"))
    {
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{path}");
    }
}

#[test]
fn a_chinese_note_is_split_in_chinese() {
    let a = "检索的单位是段落，排序用词频公式，停用词里有疑问词和助词，词干旁边保留原形。".repeat(3);
    let b = "容器每天凌晨三点重启，集群逐台排空机器，镜像从内部仓库拉取，失败就回滚。".repeat(3);
    let vault = temp_vault(&format!(
        "{EVENT}=== digest/wiki/big.md\n---\nname: 系统笔记\n---\n概要。\n\n## 检索\n\n{a}\n\n## 部署\n\n{b}\n\nderived_from:: [[daily/2026-11-30/e]]\n"
    ));
    let plan = planned(&vault, "digest/wiki/big.md", &small());
    let names: Vec<_> = plan.children.iter().map(|c| format!("{} {}", c.path, c.name)).collect();
    expect![[r#"
        digest/wiki/系统笔记-检索.md 系统笔记：检索
        digest/wiki/系统笔记-部署.md 系统笔记：部署"#]]
    .assert_eq(&names.join("\n"));
    let open = Vault::open(vault.path()).unwrap();
    apply(&open, &plan, &small(), &clock(NOON)).unwrap();
    expect![[r#"
        ---
        name: 系统笔记
        ---
        概要。

        这则笔记的各部分：

        - [[digest/wiki/系统笔记-检索|系统笔记：检索]]
        - [[digest/wiki/系统笔记-部署|系统笔记：部署]]

        来源：(derived_from:: [[daily/2026-11-30/e]])
    "#]]
    .assert_eq(&vault.read("digest/wiki/big.md"));
}

#[test]
fn an_edit_after_the_plan_wins() {
    let vault = ranking();
    let plan = planned(&vault, "digest/wiki/big.md", &small());
    let open = Vault::open(vault.path()).unwrap();
    vault.write("digest/wiki/big.md", format!("{BIG}\nan edit\n"));
    let before = vault.files();
    assert!(apply(&open, &plan, &small(), &clock(NOON)).is_err());
    assert_eq!(vault.files(), before);
}

#[test]
fn a_cooldown_that_can_not_be_recorded_is_a_problem_and_the_split_stands() {
    let vault = ranking();
    // A folder where the file must go.
    vault.write("meta/cooldowns.json/in-the-way", "x");
    let plan = planned(&vault, "digest/wiki/big.md", &small());
    let done = apply(&Vault::open(vault.path()).unwrap(), &plan, &small(), &clock(NOON)).unwrap();
    let said: Vec<_> = done.problems.iter().map(|p| p.message.split(':').take(2).collect::<String>()).collect();
    assert_eq!(said, ["digest/wiki/big.md split, but cooldowns.json could not be written"]);
    assert!(vault.exists("audit/2026-11-30/split.md"), "the page is written all the same");
    assert!(vault.exists(plan.children[0].path.as_str()));
}

#[test]
fn cooldowns_of_another_version_are_set_aside_before_they_are_written() {
    let vault = ranking();
    vault.write("meta/cooldowns.json", r#"{"version": 99, "notes": ["another shape"]}"#);
    let plan = planned(&vault, "digest/wiki/big.md", &small());
    let done = apply(&Vault::open(vault.path()).unwrap(), &plan, &small(), &clock(NOON)).unwrap();
    assert!(done.problems.is_empty());
    assert_eq!(meta::<Cooldowns>(&vault).notes.len(), 3);
    let kept = std::fs::read_to_string(vault.path().join(".dormouse/set-aside/cooldowns.json-1")).unwrap();
    assert_eq!(kept, r#"{"version": 99, "notes": ["another shape"]}"#);
}

#[test]
fn the_door_refuses_a_split_of_a_note_that_was_locked_since() {
    let vault = ranking();
    let plan = planned(&vault, "digest/wiki/big.md", &small());
    vault.write("digest/wiki/big.md", BIG.replacen("---\n", "---\nlocked: true\n", 1));
    let locked = vault.read("digest/wiki/big.md");
    let mut set = plan.change_set.clone();
    for change in &mut set.changes {
        if let Change::Replace { expected, .. } = change {
            *expected = dormouse_vault::Version::of(locked.as_bytes());
        }
    }
    let before = vault.files();
    let plan = SplitPlan { change_set: set, ..plan };
    let refused = apply(&Vault::open(vault.path()).unwrap(), &plan, &small(), &clock(NOON));
    assert!(matches!(refused, Err(ConsolidateError::Commit(CommitError::NoteLocked { .. }))));
    assert_eq!(vault.files(), before);
}

/// Two themes, each long enough.
fn oversize() -> TempVault {
    let text = |w: &str| format!("{w}alpha {w}beta {w}gamma {w}delta {w}epsilon. ").repeat(100);
    temp_vault(&format!(
        "{EVENT}=== digest/wiki/big.md\n# Big\n\n## A\n\n{}\n\n## B\n\n{}\n\nderived_from:: [[daily/2026-11-30/e]]\n",
        text("x"),
        text("y")
    ))
}

#[test]
fn a_sweep_whose_disk_fails_is_a_failed_task_and_no_refusal() {
    let vault = oversize();
    let open = Vault::open(vault.path()).unwrap();
    // A file where the journal's folder must be.
    vault.write(".dormouse/journal", "x");
    let (config, now) = (ConsolidateConfig::default(), clock(NOON));
    let context =
        RunContext { vault: &open, clock: &now, config: &config, seed: 0, progress: &Silent, cancel: &|| false };
    let report = run(context, &[Task::Split]).unwrap();
    assert!(matches!(report.state(Task::Split), Some(TaskState::Failed { .. })), "{report:?}");
    assert_eq!(report.tasks[0].numbers.get("refused"), Some(&0));
}

#[test]
fn a_sweep_reports_what_a_split_could_not_record() {
    let vault = oversize();
    vault.write("meta/cooldowns.json/in-the-way", "x");
    let report = consolidate(&vault, NOON, &[Task::Split]);
    assert_eq!(report.state(Task::Split), Some(&TaskState::Done));
    assert_eq!(report.splits.len(), 1);
    assert!(report.problems.iter().any(|p| p.message.contains("cooldowns.json could not be written")), "{report:?}");
}

#[test]
fn a_sweep_splits_what_is_oversize_and_reports_it() {
    let vault = oversize();
    let report = consolidate(&vault, NOON, &[Task::Split]);
    assert_eq!(report.splits.len(), 1);
    assert_eq!(report.splits[0].children.len(), 2);
    let report = consolidate(&vault, NOON, &[Task::Split, Task::Communities, Task::Health]);
    assert!(report.splits.is_empty());
    assert_eq!(report.health.unwrap().severe, 0);
    assert_eq!(report.communities[0].hub.as_str(), "digest/wiki/big.md");
}

/// A body of sections with blocks of many kinds.
fn arbitrary_body() -> impl Strategy<Value = String> {
    let block = prop_oneof![
        "[a-z]{3,8}( [a-z]{3,8}){4,20}\\.",
        "- [a-z]{3,8} [a-z]{3,8}\n- [a-z]{3,8}\n  - [a-z]{3,9}",
        Just("```\n# no heading\n```".to_owned()),
        Just("> quote\n> more".to_owned()),
        Just("| a | b |\n|---|---|\n| 1 | 2 |".to_owned()),
        Just("sees:: [[other]]".to_owned()),
        Just("[[missing]] and [[other|shown]] ^id".to_owned()),
        Just("%% comment %%".to_owned()),
        "derived_from:: \\[\\[daily/2026-11-(29/f|30/e)\\]\\]",
        "[一-十]{20,60}。",
    ];
    let section = ("#{2,4} [A-Za-z]{3,9}( [a-z]{3,9}){0,2}", prop::collection::vec(block.clone(), 1..6));
    (prop::collection::vec(block, 0..3), prop::collection::vec(section, 2..7)).prop_map(|(lead, sections)| {
        let mut out = String::new();
        for block in lead {
            out.push_str(&block);
            out.push_str("\n\n");
        }
        for (heading, blocks) in sections {
            out.push_str(&heading);
            out.push_str("\n\n");
            out.push_str(&blocks.join("\n\n"));
            out.push_str("\n\n");
        }
        out
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_split_conserves_blocks_and_edges(body in arbitrary_body()) {
        let vault = temp_vault(&format!("{EVENT}=== digest/wiki/other.md\nx\n=== digest/wiki/big.md\n{body}"));
        let config = SplitConfig { threshold_tokens: 20, min_child_tokens: 5, ..SplitConfig::default() };
        if let SplitDecision::Split(plan) = decide(&vault, "digest/wiki/big.md", &config) {
            let open = Vault::open(vault.path()).unwrap();
            apply(&open, &plan, &config, &clock(NOON)).unwrap();
            let all: String = plan.children.iter().map(|c| &c.path).chain([&plan.parent]).map(|p: &NotePath| vault.read(p.as_str())).collect();
            for line in body.lines().filter(|l| !l.trim().is_empty()) {
                prop_assert!(all.lines().any(|l| l == line), "lost: {}", line);
            }
        }
    }
}
