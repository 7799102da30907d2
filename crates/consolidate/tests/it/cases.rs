//! Faults that other tools had, as vaults: the identifiers are those of the collection.

use dormouse_consolidate::{Task, TaskState};
use dormouse_fixtures::temp_vault;
use expect_test::expect;

use crate::{NOON, consolidate, groups, notes};

const W: &str = "digest/wiki";

#[test]
fn con_01_every_note_is_in_exactly_one_community_whatever_its_links() {
    let vault = temp_vault(&format!(
        "=== {W}/a.md\n[[b]]\n=== {W}/b.md\n[[a]] [[c]]\n=== {W}/c.md\n[[b]]\n=== {W}/i1.md\nalone\n=== {W}/i2.md\nalone too\n=== {W}/s.md\n[[s]]\n"
    ));
    consolidate(&vault, NOON, &[Task::Communities]);
    let first = groups(&vault);
    expect![[r#"
        0 a b c
        1 i1
        2 i2
        3 s
    "#]]
    .assert_eq(&first);
    consolidate(&vault, NOON, &[Task::Communities]);
    assert_eq!(groups(&vault), first);
    assert!(!vault.read("meta/communities.json").contains("null"));

    let empty = temp_vault("");
    consolidate(&empty, NOON, &[Task::Communities]);
    assert_eq!(groups(&empty), "");
}

#[test]
fn con_03_records_of_one_form_are_no_duplicates() {
    let vault = temp_vault(&format!(
        "=== {W}/log/2026-02-01.md\n## Standup\n- Did: deploy billing\n- Next: tests\n- Blockers: none\n\
         === {W}/log/2026-02-02.md\n## Standup\n- Did: fix login\n- Next: docs\n- Blockers: none\n\
         === {W}/jan.md\nBoiler pressure 1.2 bar, serviced 2026-01-10 by firm North.\n\
         === {W}/feb.md\nBoiler pressure 1.7 bar, serviced 2026-02-11 by firm North.\n\
         === {W}/x.md\nRestart the router by holding its button for ten seconds.\n\
         === {W}/y.md\nRestart the router by holding its button for ten seconds. \n\
         === {W}/e1.md\n\n=== {W}/e2.md\n\n"
    ));
    let before = notes(&vault);
    let report = consolidate(&vault, NOON, &[Task::Duplicates]);
    let pairs: Vec<_> = report.duplicates.iter().map(|p| format!("{} {}", p.keep, p.other)).collect();
    assert_eq!(pairs, [format!("{W}/x.md {W}/y.md")]);
    assert_eq!(notes(&vault), before);
}

#[test]
fn con_04_what_is_used_or_leaned_on_is_not_archived() {
    let vault = temp_vault(&format!(
        "=== {W}/old-used.md\n---\ncreated: 2022-01-01\n---\ncore\n\
         === {W}/hub.md\n---\ncreated: 2026-04-30\n---\n[[old-used]]\n\
         === {W}/old-read.md\n---\ncreated: 2022-01-01\n---\nread lately\n\
         === {W}/paths.md\n---\ncreated: 2026-05-01\n---\nConfig at ~/.config/tool/x.toml and /opt/other/y\n\
         === {W}/old-idle.md\n---\ncreated: 2021-03-01\n---\nnobody\n\
         === daily/2021-03-01.md\nlog\n\
         === meta/access_log.json\n{}\n",
        r#"{"version": 1, "computed_at": "2026-04-29T12:00:00Z", "notes": {"digest/wiki/old-read.md": {"2026-04-29": "read"}}}"#
    ));
    let before = notes(&vault);
    let report = consolidate(&vault, "2026-05-02T12:00:00Z", &[Task::Time]);
    let archived: Vec<_> = report.archived.iter().map(|p| p.stem().to_owned()).collect();
    assert_eq!(archived, ["old-idle"]);
    assert_eq!(notes(&vault), before);
}

#[test]
fn con_06_cut_and_rubbish_signals_are_set_aside_and_made_anew() {
    let vault = temp_vault(&format!(
        "=== {W}/a.md\nalpha [[b]]\n=== {W}/b.md\nbeta\n=== meta/graph.json\n{{\"nodes\":[{{\"id\":\"a.m\n=== meta/duplicates.json\n[]\n"
    ));
    vault.write("meta/communities.json", [0_u8; 70]);
    vault.write("meta/access_log.json", "{\"version\": 1, \"computed_at\": \"2026-04-29T12:00");
    vault.write("meta/recency.json", "[]");
    vault.write("meta/archived.json", "{\"version\": 99}");
    let before = notes(&vault);
    let report = consolidate(&vault, NOON, &Task::ALL);
    assert!(report.tasks.iter().all(|t| t.state == TaskState::Done), "{report:?}");
    assert_eq!(report.problems.len(), 4, "{:?}", report.problems);
    for file in ["communities", "access_log", "recency", "archived"] {
        let text = vault.read(&format!("meta/{file}.json"));
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{file}: {text}");
        assert!(vault.path().join(format!(".dormouse/set-aside/{file}.json-1")).exists(), "{file}");
    }
    assert_eq!(notes(&vault), before);
    assert!(consolidate(&vault, NOON, &Task::ALL).problems.is_empty());
}
