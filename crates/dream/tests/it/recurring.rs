//! What was said before and comes up again: instances, refinements, corrections, and where they go.

use dormouse_dream::{DreamConfig, DreamContext, DreamReport, DreamRequest, ExtractiveAbstractor, dream};
use dormouse_dream::{Neighbour, Neighbours};
use dormouse_fixtures::{TempVault, copy_tree, example_vault, temp_vault};
use dormouse_vault::Vault;

use crate::bench::{by_rules, clock, digest_count, digests, provenance_is_whole};

/// Finds nothing: what stays the same without it is held by provenance.
struct Blind;

impl Neighbours for Blind {
    fn neighbours(&self, _: &str, _: usize) -> Vec<Neighbour> {
        Vec::new()
    }
}

fn blindly(vault: &TempVault) -> DreamReport {
    let open = Vault::open(vault.path()).unwrap();
    let context = DreamContext {
        vault: &open,
        abstractor: &ExtractiveAbstractor,
        neighbours: &Blind,
        clock: &clock(),
        config: &DreamConfig::default(),
        observer: &(),
        cancel: &|| false,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(dream(context, DreamRequest::default())).unwrap()
}

/// Dreams `events`, each a path below `daily/`, a name and a body, and expects lines in the digests, each
/// `<digest> | <text of the line>`; provenance is left out. Then all again without the ledger: not a byte.
fn check(events: &[(&str, &str, &str)], expected: &[&str]) {
    let text: String = events
        .iter()
        .map(|(path, name, body)| format!("=== daily/{path}.md\n---\nname: \"{name}\"\n---\n\n{body}\n"))
        .collect();
    let vault = temp_vault(&text);
    by_rules(&vault);
    let all = digests(&vault);
    let mut lines = Vec::new();
    let mut note = "";
    for line in all.lines() {
        if let Some(path) = line.strip_prefix("=== digest/") {
            note = path.trim_end_matches(".md");
        } else if line.starts_with("- ") && line.contains("derived_from") {
            let mut bare = String::new();
            let mut sources = 0;
            for (i, part) in line.split("(derived_from:: ").enumerate() {
                sources = i;
                bare.push_str(if i == 0 { part } else { part.split_once("]])").map_or("", |(_, rest)| rest) });
            }
            lines.push(format!("{note} | {} ×{sources}", bare.trim_start_matches("- ").trim()));
        }
    }
    assert_eq!(lines, expected, "{all}");
    provenance_is_whole(&Vault::open(vault.path()).unwrap());
    vault.remove("meta/dreamed.json");
    assert_eq!(blindly(&vault).totals.units_known, by_rules_kept(&vault), "{all}");
    assert_eq!(digests(&vault), all);
}

/// How many units a run without a ledger finds, all of them known.
fn by_rules_kept(vault: &TempVault) -> usize {
    vault.remove("meta/dreamed.json");
    by_rules(vault).totals.units_kept
}

#[test]
fn one_fact_of_an_event_that_is_known_goes_to_its_digest_and_the_rest_makes_a_note() {
    check(
        &[
            (
                "2026-11-02/backup",
                "Backups",
                "## Decision\n\n- Backups are made before every upgrade of the index. ^b1",
            ),
            (
                "2026-11-05/disk",
                "A new disk",
                "## Decision\n\n- From now on, backups are made before every upgrade of the index. ^b1\n- The new disk is formatted with a journal of its own. ^b2",
            ),
        ],
        &[
            "wiki/a-new-disk | The new disk is formatted with a journal of its own. ×1",
            "wiki/backups | Backups are made before every upgrade of the index. ×2",
        ],
    );
}

#[test]
fn a_review_brings_its_lessons_to_the_digests_that_they_speak_of() {
    check(
        &[
            (
                "2026-11-02/fusion",
                "Rank fusion loses",
                "## Decision\n\n- Fusion by rank is not offered as a setting. ^b1",
            ),
            (
                "2026-11-07/review",
                "Review of the third week",
                "## What we learned\n\n- What everybody does is measured first too: [[daily/2026-11-02/fusion|rank fusion]] shows it. ^b1\n- So a figure stands beside every recipe. ^b2\n- Tests never read the wall clock. ^b3\n\nThe talk ran over by ten minutes since there was cake. ^b4",
            ),
        ],
        &[
            "wiki/rank-fusion-loses | Fusion by rank is not offered as a setting. ×1",
            "wiki/rank-fusion-loses | What everybody does is measured first too: [[daily/2026-11-02/fusion|rank fusion]] shows it. ×1",
            "wiki/rank-fusion-loses | So a figure stands beside every recipe. ×1",
            "wiki/tests-never-read-the-wall-clock | Tests never read the wall clock. ×1",
        ],
    );
}

#[test]
fn a_fact_in_another_language_is_an_instance_when_the_event_says_that_it_agrees() {
    check(
        &[
            (
                "2026-10-31/points",
                "Points",
                "## Decision\n\n- A difference under one point means nothing. ^b1\n- Tables stay small. ^b2",
            ),
            (
                "2026-11-19/范围",
                "评估的范围",
                "## 教训\n\n- 差别不到一分不算差别。 ^b1\n\n与[[daily/2026-10-31/points|上次]]的说法一致。 ^b2\n\n## 决定\n\n- 主要指标不包含对抗类问题。 ^b3",
            ),
        ],
        &[
            "wiki/points | A difference under one point means nothing. ×1",
            "wiki/points | Tables stay small. ×1",
            "wiki/points | 差别不到一分不算差别。 ×1",
            "wiki/评估的范围 | 主要指标不包含对抗类问题。 ×1",
        ],
    );
}

#[test]
fn a_narrower_statement_about_the_same_option_stands_behind_the_older_one() {
    check(
        &[
            (
                "2026-10-21/y",
                "A label became a boolean",
                "The cause was how YAML takes short words. ^b1\n\nThe fix is one option, `strict_booleans: true`. ^b2",
            ),
            (
                "2026-11-23/again",
                "Short words once more",
                "The fix moved the option of [[daily/2026-10-21/y|the first fault]] into one place. ^b1\n\n## What we learned\n\n- `strict_booleans` is set wherever YAML is read, not only for notes. ^b2",
            ),
        ],
        &[
            "wiki/a-label-became-a-boolean | The cause was how YAML takes short words. ×1",
            "wiki/a-label-became-a-boolean | The fix is one option, `strict_booleans: true`.  **More precisely, 2026-11-23:** `strict_booleans` is set wherever YAML is read, not only for notes. ×2",
            "wiki/a-label-became-a-boolean | [Short words once more] The fix moved the option of [[daily/2026-10-21/y|the first fault]] into one place. ×1",
        ],
    );
}

#[test]
fn wishes_about_reports_gather_in_one_note_a_language_and_others_stay_apart() {
    check(
        &[
            ("2026-10-31/a", "Second talk", "The user prefers tables with one decimal place. ^b1"),
            ("2026-11-03/b", "Third talk", "The user prefers tea in the morning. ^b1"),
            (
                "2026-11-14/c",
                "Fourth talk",
                "The user prefers a plot over a table when more than six numbers are compared. ^b1",
            ),
            ("2026-11-15/d", "第五次谈话", "用户希望报告的第一段先写失败的部分。 ^b1"),
            ("2026-11-16/e", "第六次谈话", "用户希望周报不超过一页。 ^b1"),
            ("2026-11-17/f", "第七次谈话", "评审者要求报告在手机上也能读。 ^b1"),
        ],
        &[
            "personal/how-the-user-wants-answers-and-reports | The user prefers tables with one decimal place. ×1",
            "personal/how-the-user-wants-answers-and-reports | The user prefers a plot over a table when more than six numbers are compared. ×1",
            "personal/user-prefers-tea-in-the-morning | The user prefers tea in the morning. ×1",
            "personal/用户希望的汇报方式 | 用户希望报告的第一段先写失败的部分。 ×1",
            "personal/用户希望的汇报方式 | 用户希望周报不超过一页。 ×1",
            "personal/评审者要求报告在手机上也能读 | 评审者要求报告在手机上也能读。 ×1",
        ],
    );
}

#[test]
fn what_stays_as_it_was_is_no_correction_of_it() {
    check(
        &[
            ("2026-10-20/a", "用户的工作偏好", "用户希望代码和提交信息一律用英文。 ^b1\n\n以后都先给出结论。 ^b2"),
            (
                "2026-11-23/b",
                "用户的偏好补充",
                "这比[[daily/2026-10-20/a|十月的约定]]更进一步：结论优先不变，坏消息排在前面。 ^b1\n\n## 决定\n\n- 提交信息仍然用英文；周报改用中英两种语言。 ^b2",
            ),
        ],
        &[
            "personal/用户的工作偏好 | 用户希望代码和提交信息一律用英文。  **2026-11-23 补充:** 提交信息仍然用英文；周报改用中英两种语言。 ×2",
            "personal/用户的工作偏好 | 以后都先给出结论。  **2026-11-23 补充:** [用户的偏好补充] 这比[[daily/2026-10-20/a|十月的约定]]更进一步：结论优先不变，坏消息排在前面。 ×2",
        ],
    );
}

#[test]
fn what_is_of_a_kind_meets_in_other_words_and_what_only_looks_like_it_stays_apart() {
    check(
        &[
            ("2026-11-02/pump", "The pump stopped", "The cause was grit in the impeller of the pond pump. ^b1"),
            (
                "2026-11-05/pump",
                "No water again",
                "Again grit in the impeller: the pond pump needs a filter of foam in front of it. ^b1",
            ),
            ("2026-11-07/bike", "The bicycle pump", "The cause was a worn gasket in the bicycle pump. ^b1"),
        ],
        &[
            "wiki/the-bicycle-pump | The cause was a worn gasket in the bicycle pump. ×1",
            "wiki/the-pump-stopped | The cause was grit in the impeller of the pond pump. ×1",
            "wiki/the-pump-stopped | Again grit in the impeller: the pond pump needs a filter of foam in front of it. ×1",
        ],
    );
}

#[test]
fn a_talk_is_named_after_its_subject_and_its_opening_is_no_fact() {
    check(
        &[(
            "2026-11-11/backup",
            "I want a backup routine for the vault before dreams write into…",
            "User: I want a backup routine for the vault before dreams write into it every night. ^b1\n\nAgent: We could copy it. ^b2\n\nUser: Decision: the copy must be checked before the disk is ejected. ^b3\n\nThe user asked for the example above to be kept. ^b4",
        )],
        &["wiki/backup-routine-for-the-vault | Decision: the copy must be checked before the disk is ejected. ×1"],
    );
}

#[test]
fn six_weeks_meet_again_in_the_example_vault() {
    let vault = temp_vault("");
    copy_tree(&example_vault(), vault.path());
    let totals = by_rules(&vault).totals;
    assert!(totals.corroborated >= 10 && totals.refined >= 4 && totals.corrected >= 2, "{totals:?}");
    assert!(digest_count(&vault) <= 75, "{}", digest_count(&vault));
    let all = digests(&vault);
    vault.remove("meta/dreamed.json");
    let again = blindly(&vault).totals;
    assert_eq!((again.units_known, again.created), (again.units_kept, 0));
    assert_eq!(digests(&vault), all);
}
