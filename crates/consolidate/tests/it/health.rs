//! What needs a person.

use dormouse_consolidate::Task;
use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::meta::{Artefact, DreamLedger, DreamOutcome, Dreamed};
use dormouse_vault::{ChangeSet, Conservation, NotePath, Vault, Writer};
use expect_test::{Expect, expect};

use crate::{NOON, consolidate, notes};

fn findings(vault: &TempVault, now: &str) -> String {
    let before = notes(vault);
    let report = consolidate(vault, now, &[Task::Health]);
    assert_eq!(notes(vault), before);
    let health = report.health.unwrap();
    let mut out = format!("severe {}, warnings {}, notices {}\n", health.severe, health.warnings, health.notices);
    for f in &health.findings {
        let place = f.path.as_ref().map_or("-", |p| p.file_name());
        let line = f.line.map(|l| format!(":{l}")).unwrap_or_default();
        out.push_str(&format!("{:?} {:?} {place}{line} {}\n", f.severity, f.kind, f.message));
    }
    out
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&findings(&temp_vault(text), NOON));
}

const DAY: &str = "=== daily/2026-11-30/e.md\nx\n";

#[test]
fn a_sound_vault_has_nothing_but_pending_material() {
    check(
        &format!(
            "{DAY}=== digest/wiki/a.md\n[[b]]\nderived_from:: [[daily/2026-11-30/e]]\n=== digest/wiki/b.md\nderived_from:: [[daily/2026-11-30/e]]\n"
        ),
        expect![[r#"
            severe 0, warnings 0, notices 1
            Notice PendingMaterial - material that waits for a dream: 1; run `dormouse dream`
        "#]],
    );
}

#[test]
fn an_empty_vault_is_healthy() {
    check(
        "",
        expect![[r#"
            severe 0, warnings 0, notices 0
        "#]],
    );
}

#[test]
fn broken_provenance_is_severe_and_broken_links_are_warnings() {
    check(
        &format!(
            "{DAY}=== digest/wiki/a.md\n# A\n[[nowhere]]\nderived_from:: [[daily/2026-11-30/gone]]\n\
             === digest/wiki/b.md\n---\nname: [broken\n---\n[[a]]\nderived_from:: [[daily/2026-11-30/e]]\n\
             === digest/lost.md\nderived_from:: [[daily/2026-11-30/e]]\n\
             === mine.md\n[[never written]]\n"
        ),
        expect![[r#"
            severe 2, warnings 2, notices 3
            Severe BrokenProvenance a.md names no source that exists: add `derived_from:: [[…]]`
            Severe BrokenProvenance a.md:3 its source [[daily/2026-11-30/gone]] does not exist: restore it, or correct the link
            Warning BrokenLink a.md:2 links to [[nowhere]], which does not exist
            Warning MalformedFrontmatter b.md:2 the properties can't be read as YAML; mend this line (the note's text is read all the same)
            Notice PendingMaterial - material that waits for a dream: 1; run `dormouse dream`
            Notice Orphan lost.md no other note is linked with it
            Notice NoBucket lost.md lies in none of the buckets: procedure, personal, wiki
        "#]],
    );
}

#[test]
fn a_note_that_was_put_in_the_trash_was_meant_to_go() {
    let from = "derived_from:: [[daily/2026-11-30/e]]";
    let vault = temp_vault(&format!("{DAY}=== digest/wiki/a.md\n[[b]]\n{from}\n=== digest/wiki/b.md\n[[a]]\n{from}\n"));
    findings(&vault, NOON);
    vault.write(".trash/b.md", format!("[[a]]\n{from}\n"));
    vault.remove("digest/wiki/b.md");
    let found = findings(&vault, "2026-12-01T12:00:00+08:00");
    assert!(!found.contains("NoteGone") && found.contains("BrokenLink"), "{found}");
}

#[test]
fn links_that_vanished_since_the_last_check_are_reported_once() {
    let from = "derived_from:: [[daily/2026-11-30/e]]";
    let vault = temp_vault(&format!(
        "{DAY}=== digest/wiki/a.md\n[[b]] sees:: [[c]]\n{from}\n=== digest/wiki/b.md\n[[a]]\n{from}\n=== digest/wiki/c.md\n[[a]]\n{from}\n"
    ));
    findings(&vault, NOON);
    vault.write("digest/wiki/a.md", format!("[[b]]\n{from}\n"));
    vault.remove("digest/wiki/c.md");
    expect![[r#"
        severe 0, warnings 2, notices 1
        Warning LinksLost a.md 1 link(s) lost since the last check: `[[digest/wiki/c]]`
        Warning NoteGone c.md was there at the last check and is gone; restore it if nobody meant that
        Notice PendingMaterial - material that waits for a dream: 1; run `dormouse dream`
    "#]]
    .assert_eq(&findings(&vault, "2026-12-01T12:00:00+08:00"));
    expect![[r#"
        severe 0, warnings 0, notices 1
        Notice PendingMaterial - material that waits for a dream: 1; run `dormouse dream`
    "#]]
    .assert_eq(&findings(&vault, "2026-12-01T13:00:00+08:00"));
}

#[test]
fn a_note_that_moved_is_followed() {
    let from = "derived_from:: [[daily/2026-11-30/e]]";
    let vault = temp_vault(&format!("{DAY}=== digest/wiki/a.md\n[[b]]\n{from}\n=== digest/wiki/b.md\nb\n{from}\n"));
    findings(&vault, NOON);
    let text = vault.read("digest/wiki/b.md");
    vault.remove("digest/wiki/b.md");
    vault.write("digest/procedure/bb.md", text);
    vault.write("digest/wiki/a.md", format!("[[bb]]\n{from}\n"));
    expect![[r#"
        severe 0, warnings 0, notices 1
        Notice PendingMaterial - material that waits for a dream: 1; run `dormouse dream`
    "#]]
    .assert_eq(&findings(&vault, "2026-12-01T12:00:00+08:00"));
}

#[test]
fn the_page_reads_well_and_is_written_once_for_the_same_findings() {
    let vault = temp_vault(
        "=== digest/wiki/a.md\n# A\n[[nowhere]]\nderived_from::[[gone]]\n=== digest/wiki/a.sync-conflict-20261130-120000-ABCDEFG.md\n# A\n",
    );
    findings(&vault, NOON);
    let page = vault.read("audit/2026-11-30/health.md");
    expect![[r#"
        # Health 2026-11-30

        ## 12:00:00 severe 2, warnings 2, notices 1

        ### Severe

        - [[digest/wiki/a]]: names no source that exists: add `derived_from:: [[…]]`
        - [[digest/wiki/a]], line 3: its source `[[gone]]` does not exist: restore it, or correct the link

        ### Warnings

        - [[digest/wiki/a]], line 2: links to `[[nowhere]]`, which does not exist
        - [[digest/wiki/a.sync-conflict-20261130-120000-ABCDEFG]]: a sync tool's copy of `[[digest/wiki/a]]`: take over what is missing there, then delete it

        ### Notices

        - [[digest/wiki/a]]: no other note is linked with it

    "#]].assert_eq(&page);
    findings(&vault, "2026-11-30T14:00:00+08:00");
    assert_eq!(vault.read("audit/2026-11-30/health.md"), page);
}

#[test]
fn signals_of_another_vault_are_stale() {
    let vault = temp_vault("=== digest/wiki/a.md\nx\n");
    consolidate(&vault, "2026-11-01T12:00:00+08:00", &[Task::Communities, Task::Time]);
    vault.remove("digest/wiki/a.md");
    vault.write("digest/wiki/b.md", "y\n");
    let found = findings(&vault, NOON);
    let stale: Vec<_> = found.lines().filter(|l| l.contains("StaleMeta")).collect();
    expect![[r#"
        Notice StaleMeta - archived.json was computed 29 days ago: run `dormouse consolidate`
        Notice StaleMeta - communities.json was computed 29 days ago, names 1 notes that are gone, lacks 1 notes: run `dormouse consolidate`
        Notice StaleMeta - recency.json was computed 29 days ago, names 1 notes that are gone, lacks 1 notes: run `dormouse consolidate`"#]].assert_eq(&stale.join("\n"));
}

#[test]
fn a_note_written_by_hand_needs_no_source_and_one_that_a_dream_wrote_does() {
    let vault =
        temp_vault(&format!("{DAY}=== digest/wiki/a.md\nBy hand, [[b]].\n=== digest/wiki/b.md\nDreamed, [[a]].\n"));
    dreamed(&vault, "daily/2026-11-30/e.md", "digest/wiki/b.md");
    expect![[r#"
        severe 1, warnings 0, notices 1
        Severe BrokenProvenance b.md names no source that exists: add `derived_from:: [[…]]`
        Notice NoSource a.md names no source; if it has one, add `derived_from:: [[…]]`
    "#]]
    .assert_eq(&findings(&vault, NOON));
}

/// Writes a ledger that says that the note came of the material.
fn dreamed(vault: &TempVault, material: &str, note: &str) {
    let open = Vault::open(vault.path()).unwrap();
    let at = NOON.parse::<chrono::DateTime<chrono::Utc>>().unwrap();
    let material: NotePath = material.parse().unwrap();
    let outcome = DreamOutcome::Done { subjects: vec![note.parse().unwrap()], dropped: 0 };
    let content = open.read(&material).unwrap().version;
    let done = Dreamed { content, at, by: "extractive".into(), outcome };
    let ledger = DreamLedger { version: DreamLedger::VERSION, computed_at: at, materials: [(material, done)].into() };
    let set = ChangeSet::new(Writer::Meta, Conservation::Additive).with(ledger.to_change(open.layout()));
    open.commit(&set).unwrap();
}

#[test]
fn links_to_a_note_that_was_merged_are_not_lost() {
    let from = "derived_from:: [[daily/2026-11-30/e]]";
    let vault = temp_vault(&format!(
        "{DAY}=== digest/wiki/a.md\nOne.\n{from}\n=== digest/wiki/b.md\nTwo.\n{from}\n=== digest/wiki/n.md\n[[a]] and [[b]]\n{from}\n"
    ));
    findings(&vault, NOON);
    let open = Vault::open(vault.path()).unwrap();
    let path = |text: &str| text.parse::<NotePath>().unwrap();
    let plan = dormouse_vault::merge::plan(&open, &path("digest/wiki/a.md"), &path("digest/wiki/b.md")).unwrap();
    open.commit(&plan.change_set).unwrap();
    let found = findings(&vault, "2026-12-01T12:00:00+08:00");
    assert!(found.starts_with("severe 0, warnings 0"), "{found}");
}

#[test]
fn dismissals_that_cannot_be_read_are_said() {
    let vault = temp_vault("=== meta/dismissed.json\n{\n");
    let found = findings(&vault, NOON);
    assert!(found.contains("Warning StaleMeta - dismissed.json: ends too early"), "{found}");
}
