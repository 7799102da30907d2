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

#[test]
fn days_that_no_clock_has_reached_and_zeroes_of_programs_say_nothing() {
    check(
        "=== digest/wiki/far.md\n---\ncreated: 2026-06-01\nupdated: 9999-12-31\n---\nx\n\
         === digest/wiki/zero.md\n---\ncreated: 0001-01-01\nupdated: 2026-11-29\n---\nx\n\
         === digest/wiki/war.md\n---\ncreated: 2026-11-28\ndate: 1815-06-18\n---\nx\n\
         === digest/wiki/tomorrow.md\n---\ncreated: 2026-12-01\n---\nwritten east of here\n\
         === digest/wiki/cites-future.md\n---\ncreated: 2026-06-01\n---\nderived_from:: [[daily/2031-01-01/e]]\n\
         === daily/2031-01-01/e.md\nx\n",
        expect![[r#"
            cites-future 0.048155 2026-06-01 0 asleep since 2026-11-30
            far 0.048155 2026-06-01 0 asleep since 2026-11-30
            tomorrow 1 2026-11-30 0
            war 0.967216 2026-11-28 0
            zero 0.983471 2026-11-29 0
        "#]],
    );
}

#[test]
fn the_days_of_a_note_are_those_of_its_writers_zone() {
    let vault = temp_vault("=== digest/wiki/a.md\n---\ncreated: 2026-01-01\n---\nx\n");
    // One evening in Honolulu and the next morning in Auckland are the same hour.
    hit(&vault, "digest/wiki/a.md", "2026-11-29T23:30:00-10:00", AccessKind::Returned);
    hit(&vault, "digest/wiki/a.md", "2026-11-30T22:30:00+13:00", AccessKind::Returned);
    // A reader whose day is one ahead of the machine that folds.
    hit(&vault, "digest/wiki/a.md", "2026-12-01T00:30:00+13:00", AccessKind::Read);
    consolidate(&vault, NOON, &[Task::Time]);
    let log = serde_json::to_string(&meta::<AccessLog>(&vault).notes).unwrap();
    expect![[r#"{"digest/wiki/a.md":{"2026-11-29":"returned","2026-11-30":"returned","2026-12-01":"read"}}"#]]
        .assert_eq(&log);
    expect![[r#"
        a 1 2026-11-30 3
    "#]]
    .assert_eq(&ages(&vault));
}

#[test]
fn hits_that_are_folded_again_after_a_crash_on_another_day_count_once() {
    let text = "=== digest/wiki/a.md\n---\ncreated: 2026-01-01\n---\nx\n";
    let vault = temp_vault(text);
    for at in ["2026-11-29T10:00:00+08:00", "2026-11-30T01:00:00-11:00", "2031-01-01T00:00:00+08:00"] {
        hit(&vault, "digest/wiki/a.md", at, AccessKind::Returned);
    }
    let spool = vault.read("meta/access_spool.jsonl");
    consolidate(&vault, NOON, &[Task::Time]);
    let (log, aged) = (serde_json::to_string(&meta::<AccessLog>(&vault).notes).unwrap(), ages(&vault));
    assert!(!vault.exists("meta/access_spool.jsonl"));
    // The crash came between the fold and the cut: the spool is still whole.
    for now in [NOON, "2026-11-30T01:00:00-11:00", "2026-12-02T12:00:00+02:00"] {
        vault.write("meta/access_spool.jsonl", &spool);
        consolidate(&vault, now, &[Task::Time]);
        assert_eq!(serde_json::to_string(&meta::<AccessLog>(&vault).notes).unwrap(), log);
    }
    consolidate(&vault, NOON, &[Task::Time]);
    assert_eq!(ages(&vault), aged);
}

#[test]
fn a_long_spool_with_torn_lines_is_folded_whole() {
    let vault = temp_vault("=== digest/wiki/a.md\n---\ncreated: 2026-11-01\n---\nx\n");
    let mut spool = String::new();
    for n in 0..50_000 {
        let (day, hour) = (1 + n % 28, n % 24);
        spool.push_str(&format!(
            "{{\"path\":\"digest/wiki/{}.md\",\"at\":\"2026-11-{day:02}T{hour:02}:00:00+08:00\",\"kind\":\"returned\"}}\n",
            if n % 2 == 0 { "a" } else { "gone" }
        ));
        if n % 1000 == 0 {
            spool.push_str("{\"path\":\"digest/wi\n\0\0\0\n\n{\"path\":\"../x.md\",\"at\":\"2026-11-01T00:00:00Z\",\"kind\":\"read\"}\n");
        }
    }
    spool.push_str("{\"path\":\"digest/wiki/a.md\",\"at\":\"2026-11-29T00:00:0");
    vault.write("meta/access_spool.jsonl", &spool);
    let report = consolidate(&vault, NOON, &[Task::Time]);
    let numbers = &report.tasks[0].numbers;
    assert_eq!((numbers["hits"], numbers["hits_unreadable"]), (50_000, 150));
    // Even hours fall on even days and odd ones: 14 of each note's days lie within November.
    assert_eq!(meta::<Recency>(&vault).notes["digest/wiki/a.md"].hits_30, 14);
    // The line that was being written stays for the next run.
    assert_eq!(vault.read("meta/access_spool.jsonl"), "{\"path\":\"digest/wiki/a.md\",\"at\":\"2026-11-29T00:00:0");
}

#[test]
fn a_lost_cache_ages_nothing() {
    let vault = temp_vault("=== digest/wiki/old.md\n---\ncreated: 2020-01-01\n---\nx\n");
    consolidate(&vault, "2026-11-20T12:00:00+08:00", &[Task::Time]);
    vault.write("digest/wiki/old.md", "---\ncreated: 2020-01-01\n---\nx and more\n");
    consolidate(&vault, "2026-11-21T12:00:00+08:00", &[Task::Time]);
    std::fs::remove_dir_all(vault.path().join(".dormouse")).unwrap();
    consolidate(&vault, NOON, &[Task::Time]);
    expect![[r#"
        old 0.860708 2026-11-21 0
    "#]]
    .assert_eq(&ages(&vault));
}

#[test]
fn a_move_is_no_edit_and_a_new_note_is_as_old_as_it_says() {
    let vault = temp_vault("=== digest/wiki/old.md\n---\ncreated: 2026-01-01\n---\nx\n");
    consolidate(&vault, "2026-11-20T12:00:00+08:00", &[Task::Time]);
    let text = vault.read("digest/wiki/old.md");
    vault.remove("digest/wiki/old.md");
    vault.write("digest/procedure/moved.md", text);
    vault.write("digest/wiki/pulled.md", "---\ncreated: 2026-01-02\n---\nfrom another machine\n");
    consolidate(&vault, NOON, &[Task::Time]);
    expect![[r#"
        moved 0.003887 2026-01-01 0 asleep since 2026-11-30
        pulled 0.003953 2026-01-02 0 asleep since 2026-11-30
    "#]]
    .assert_eq(&ages(&vault));
}

#[test]
fn sleepers_are_listed_with_since_and_why() {
    let vault = temp_vault(
        "=== digest/wiki/old.md\n---\nname: Old one\ncreated: 2026-01-01\n---\nx\n\
         === digest/wiki/older.md\n---\ncreated: 2019-01-01\n---\n[[old]]\n",
    );
    consolidate(&vault, "2026-06-01T12:00:00+08:00", &[Task::Time]);
    let open = Vault::open(vault.path()).unwrap();
    let asleep = dormouse_consolidate::sleepers(&open, &Default::default(), "2026-11-30".parse().unwrap());
    let lines: Vec<String> = asleep.iter().map(|s| format!("{} {} {}\n", s.since, s.name, s.why)).collect();
    expect![[r#"
        2026-06-01 Old one not written or used for 333 days, no hits within thirty days, one link to it: recency 0.086 is below 0.15
        2026-06-01 older not written or used for 2890 days, no hits within thirty days, no links to it: recency 0.000 is below 0.15
    "#]]
    .assert_eq(&lines.concat());
}

#[test]
fn a_second_run_on_a_day_writes_only_what_says_something_else() {
    let vault = temp_vault("=== digest/wiki/a.md\n---\ncreated: 2026-11-01\n---\nx\n");
    consolidate(&vault, NOON, &[Task::Time]);
    let first = vault.read("meta/recency.json");
    consolidate(&vault, "2026-11-30T23:00:00+08:00", &[Task::Time]);
    assert_eq!(vault.read("meta/recency.json"), first);
    consolidate(&vault, "2026-12-01T00:10:00+08:00", &[Task::Time]);
    assert_ne!(vault.read("meta/archived.json"), first);
    assert!(vault.read("meta/archived.json").contains("2026-11-30T16:10:00Z"));
}
