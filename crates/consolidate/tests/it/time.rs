//! Ageing, sleeping, waking.

use dormouse_consolidate::Task;
use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::meta::{AccessKind, AccessLog, Archived, Recency};
use dormouse_vault::{AccessHit, Vault};
use expect_test::{Expect, expect};

use crate::{NOON, consolidate, meta, notes};

fn hit(vault: &TempVault, path: &str, at: &str, kind: AccessKind) {
    let open = Vault::open(vault.path()).unwrap();
    open.spool().append(&[AccessHit { path: path.parse().unwrap(), at: at.parse().unwrap(), kind }]).unwrap();
}

fn ages(vault: &TempVault) -> String {
    let recency = meta::<Recency>(vault);
    let asleep = meta::<Archived>(vault);
    let lines = recency.notes.iter().map(|(path, score)| {
        let state = asleep.notes.get(path).map_or(String::new(), |a| format!(" asleep since {}", a.since));
        format!("{} {} {} {}{state}\n", path.stem(), score.score, score.last_active, score.hits_30)
    });
    lines.collect()
}

fn check(text: &str, expected: Expect) {
    let vault = temp_vault(text);
    let before = notes(&vault);
    consolidate(&vault, NOON, &[Task::Time]);
    expected.assert_eq(&ages(&vault));
    assert_eq!(notes(&vault), before);
}

#[test]
fn a_note_is_as_old_as_its_newest_date() {
    check(
        "=== digest/wiki/created.md\n---\ncreated: 2026-10-01\n---\nx\n\
         === digest/wiki/updated.md\n---\ncreated: 2020-01-01\nupdated: 2026-11-29T10:00:00+08:00\n---\nx\n\
         === digest/wiki/cites.md\nderived_from:: [[daily/2026-11-20/e]]\nderived_from:: [[daily/2026-11-10/f]]\n\
         === daily/2026-11-20/e.md\nx\n=== daily/2026-11-10/f.md\nx\n\
         === digest/wiki/future.md\n---\ncreated: 2031-01-01\n---\nx\n",
        expect![[r#"
            cites 0.846482 2026-11-20 0
            created 0.367879 2026-10-01 0
            future 1 2026-11-30 0
            updated 0.983471 2026-11-29 0
        "#]],
    );
}

#[test]
fn item_36_a_mass_touch_makes_nothing_recent() {
    let vault = temp_vault("=== digest/wiki/old.md\n---\ncreated: 2024-01-01\n---\nx\n");
    consolidate(&vault, NOON, &[Task::Time]);
    let before = ages(&vault);
    vault.write("digest/wiki/old.md", "---\ncreated: 2024-01-01\n---\nx\n");
    consolidate(&vault, NOON, &[Task::Time]);
    assert_eq!(ages(&vault), before);
}

#[test]
fn a_hit_thaws_and_the_day_of_falling_asleep_is_kept() {
    let vault = temp_vault("=== digest/wiki/old.md\n---\ncreated: 2026-01-01\n---\nx\n");
    let report = consolidate(&vault, "2026-11-01T12:00:00+08:00", &[Task::Time]);
    assert_eq!(report.archived.len(), 1);
    let report = consolidate(&vault, NOON, &[Task::Time]);
    assert!(report.archived.is_empty() && report.thawed.is_empty());
    expect![[r#"
        old 0.003887 2026-01-01 0 asleep since 2026-11-01
    "#]]
    .assert_eq(&ages(&vault));
    hit(&vault, "digest/wiki/old.md", "2026-11-30T11:00:00+08:00", AccessKind::Read);
    let report = consolidate(&vault, NOON, &[Task::Time]);
    assert_eq!(report.thawed.len(), 1);
    expect![[r#"
        old 1 2026-11-30 1
    "#]]
    .assert_eq(&ages(&vault));
}

#[test]
fn an_edit_thaws() {
    let vault = temp_vault("=== digest/wiki/old.md\n---\ncreated: 2026-01-01\n---\nx\n");
    consolidate(&vault, "2026-11-01T12:00:00+08:00", &[Task::Time]);
    vault.write("digest/wiki/old.md", "---\ncreated: 2026-01-01\n---\nx and more\n");
    let report = consolidate(&vault, NOON, &[Task::Time]);
    assert_eq!(report.thawed.len(), 1);
    expect![[r#"
        old 1 2026-11-30 0
    "#]]
    .assert_eq(&ages(&vault));
}

#[test]
fn pinned_notes_rules_and_what_living_notes_lean_on_never_sleep() {
    let old = "---\ncreated: 2020-01-01\n";
    check(
        &format!(
            "=== digest/wiki/pinned.md\n{old}pinned: true\n---\nx\n\
             === digest/personal/rule.md\n{old}---\nNever push on a Friday.\n\
             === digest/personal/规矩.md\n{old}---\n提交之前必须跑测试。\n\
             === digest/personal/taste.md\n{old}---\nLikes tea.\n\
             === digest/wiki/must.md\n{old}---\nA wiki note that one must read.\n\
             === digest/wiki/base.md\n{old}---\ncore\n\
             === digest/wiki/fresh.md\n---\ncreated: 2026-11-29\n---\n[[base]]\n\
             === digest/wiki/stale.md\n{old}---\n[[taste]]\n"
        ),
        expect![[r#"
            rule 0 2020-01-01 0
            taste 0 2020-01-01 0 asleep since 2026-11-30
            规矩 0 2020-01-01 0
            base 0 2020-01-01 0
            fresh 0.983471 2026-11-29 0
            must 0 2020-01-01 0 asleep since 2026-11-30
            pinned 0 2020-01-01 0
            stale 0 2020-01-01 0 asleep since 2026-11-30
        "#]],
    );
}

#[test]
fn hits_are_folded_once_a_note_and_day_with_the_strongest_use() {
    let vault = temp_vault("=== digest/wiki/a.md\n---\ncreated: 2026-11-01\n---\nx\n");
    for (at, kind) in [
        ("2026-11-28T10:00:00+08:00", AccessKind::Returned),
        ("2026-11-28T11:00:00+08:00", AccessKind::Read),
        ("2026-11-28T12:00:00+08:00", AccessKind::Returned),
        ("2026-11-29T23:59:00+08:00", AccessKind::Returned),
        ("2031-01-01T00:00:00+08:00", AccessKind::Returned),
    ] {
        hit(&vault, "digest/wiki/a.md", at, kind);
    }
    consolidate(&vault, NOON, &[Task::Time]);
    let log = serde_json::to_string(&meta::<AccessLog>(&vault).notes).unwrap();
    expect![[r#"{"digest/wiki/a.md":{"2026-11-28":"read","2026-11-29":"returned","2031-01-01":"returned"}}"#]]
        .assert_eq(&log);
    consolidate(&vault, NOON, &[Task::Time]);
    assert_eq!(serde_json::to_string(&meta::<AccessLog>(&vault).notes).unwrap(), log);
    expect![[r#"
        a 1 2026-11-29 2
    "#]]
    .assert_eq(&ages(&vault));
}

#[test]
fn item_35_an_archived_note_keeps_path_and_bytes_and_its_links_resolve() {
    let vault = temp_vault(
        "=== digest/wiki/old.md\n---\ncreated: 2020-01-01\n---\n[[older]]\n=== digest/wiki/older.md\n---\ncreated: 2019-01-01\n---\nx\n",
    );
    let before = notes(&vault);
    let report = consolidate(&vault, NOON, &[Task::Time]);
    assert_eq!(report.archived.len(), 2);
    assert_eq!(notes(&vault), before);
    let open = Vault::open(vault.path()).unwrap();
    assert!(open.snapshot().resolve(&"digest/wiki/old.md".parse().unwrap(), "older").path().is_some());
}
