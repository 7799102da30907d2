//! What goes wrong beside the material: files that can't be written, names that can't be linked to.

use dormouse_dream::MaterialState;
use dormouse_fixtures::temp_vault;

use crate::bench::{audit, by_rules, digest_count, digests};

const WIKI: &str = "=== daily/2026-11-02/fusion.md\n---\nname: Fusion\n---\n\n## Decision\n\n- Both scores are normalised and added. ^b1\n";
const PERSONAL: &str = "=== daily/2026-11-03/tea.md\n---\nname: Tea\n---\n\nThe user prefers tea over coffee. ^b1\n";

#[test]
fn a_subject_that_the_disk_refuses_leaves_its_material_pending_and_the_others_go_on() {
    let vault = temp_vault(&format!("{WIKI}{PERSONAL}=== digest/wiki\nA file where a folder should be.\n"));
    let report = by_rules(&vault);
    let states: Vec<_> = report.materials.iter().map(|m| matches!(m.state, MaterialState::Pending { .. })).collect();
    assert_eq!(states, [true, false], "{report:?}");
    assert_eq!((report.totals.failed, report.totals.created, report.stopped), (1, 1, false));
    assert!(audit(&vault).contains("stays pending"));
    vault.remove("digest/wiki");
    let again = by_rules(&vault);
    assert_eq!((again.totals.created, again.totals.unchanged), (1, 1), "{again:?}");
}

#[test]
fn an_audit_page_that_can_not_be_written_is_a_problem_and_stops_nothing() {
    let vault = temp_vault(WIKI);
    by_rules(&vault);
    let page = vault.files().into_keys().find(|p| p.starts_with("audit/")).unwrap();
    let vault = temp_vault(&format!("{WIKI}{PERSONAL}"));
    vault.write(&page, [0x23, 0xff, 0xfe]);
    let report = by_rules(&vault);
    assert_eq!((report.totals.done, report.totals.created), (2, 2));
    assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
    assert!(report.problems[0].starts_with("the audit can't be written: "), "{:?}", report.problems);
    assert_eq!(by_rules(&vault).totals.unchanged, 2);
}

#[test]
fn a_ledger_that_can_not_be_read_is_a_problem_of_the_report() {
    let vault = temp_vault(WIKI);
    by_rules(&vault);
    vault.write("meta/dreamed.json", "{ cut");
    let report = by_rules(&vault);
    assert_eq!((report.totals.done, report.problems.len()), (1, 1));
    assert!(by_rules(&vault).problems.is_empty());
}

#[test]
fn a_material_whose_name_no_link_can_carry_is_skipped_with_the_reason() {
    let vault = temp_vault(&WIKI.replace("fusion.md", "fusion #2.md"));
    let report = by_rules(&vault);
    let expected = MaterialState::Skipped { reason: "its name can't be linked to: rename it".into() };
    assert_eq!(report.materials[0].state, expected);
    assert_eq!(digest_count(&vault), 0);
}

#[test]
fn what_is_left_out_of_a_long_material_is_counted_and_named_in_a_line() {
    let mut text = "=== daily/2026-11-02/long.md\n---\nname: A long day\n---\n\n## Decisions\n\n".to_owned();
    for n in 0..900 {
        text.push_str(&format!("- Decision {n}: the setting number {n} stays as it was. ^b{n}\n"));
    }
    let vault = temp_vault(&text);
    let report = by_rules(&vault);
    assert!(report.totals.facts_dropped >= 800, "{:?}", report.totals);
    assert!(report.materials[0].dropped.len() <= 3, "{:?}", report.materials[0].dropped);
    assert!(audit(&vault).len() < 8_000, "{}", audit(&vault).len());
}

#[test]
fn a_related_note_is_a_link_and_nothing_of_its_text() {
    let vault = temp_vault(&format!(
        "{WIKI}=== digest/wiki/fusion.md\n---\nname: Fusion\ndescription: ZEBRA crossing.\nlocked: true\n---\n\n# Fusion\n\n- Both scores are added. (derived_from:: [[daily/2026-11-02/fusion]])\n"
    ));
    by_rules(&vault);
    let made = vault.dump_if(|p| p.starts_with("digest/") && p != "digest/wiki/fusion.md");
    assert!(made.contains("\n- See [[digest/wiki/fusion|Fusion]].\n"), "{made}");
    assert!(!made.contains("ZEBRA"));
    let before = digests(&vault);
    vault.remove("meta/dreamed.json");
    by_rules(&vault);
    assert_eq!(digests(&vault), before);
}
