//! Running again: nothing changes, nothing erodes, nothing bloats.

use dormouse_dream::{DreamRequest, DreamScope, ExtractiveAbstractor, MaterialState};
use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::Vault;
use dormouse_vault::material::pending;
use dormouse_vault::meta::DreamLedger;

use crate::bench::{by_rules, digest_count, digests, path, provenance_is_whole, run};

const VAULT: &str = "=== daily/2026-11-02/fusion.md
---
name: Rank fusion loses six points
---

The cause is that ranks throw away how sure each list was. ^b1

## Decision

- Word score and vector score are normalised and added. ^b2
=== daily/2026-11-03.md
用户希望每张结果表旁边写清楚用的是哪一半数据。
=== resource/2026-11-03/rules.txt
Decision: exports are never written into the vault itself.
";

fn state(vault: &TempVault) -> std::collections::BTreeMap<String, Vec<u8>> {
    vault.files()
}

#[test]
fn the_second_run_writes_not_a_byte() {
    let vault = temp_vault(VAULT);
    let first = by_rules(&vault);
    assert_eq!((first.totals.done, first.totals.created), (3, 3));
    let before = state(&vault);
    let second = by_rules(&vault);
    assert_eq!((second.totals.done, second.totals.unchanged), (0, 3));
    assert_eq!(state(&vault), before);
}

#[test]
fn without_the_ledger_provenance_prevents_double_notes() {
    let vault = temp_vault(VAULT);
    by_rules(&vault);
    let before = digests(&vault);
    vault.remove("meta/dreamed.json");
    let again = by_rules(&vault);
    assert_eq!((again.totals.done, again.totals.units_known, again.totals.created), (3, 3, 0));
    assert_eq!(digests(&vault), before);
    vault.write("meta/dreamed.json", "{ cut");
    by_rules(&vault);
    assert_eq!(digests(&vault), before);
}

#[test]
fn material_that_changed_adds_what_is_new_to_its_note() {
    let vault = temp_vault(VAULT);
    by_rules(&vault);
    let text = vault.read("daily/2026-11-02/fusion.md");
    vault.write("daily/2026-11-02/fusion.md", format!("{text}- Fusion by rank is not offered as a setting. ^b3\n"));
    let report = by_rules(&vault);
    assert_eq!((report.totals.done, report.totals.created, report.totals.corroborated), (1, 0, 1));
    let note = vault.read("digest/wiki/rank-fusion-loses-six-points.md");
    assert_eq!(note.matches("Fusion by rank is not offered").count(), 1);
    assert_eq!(note.matches("normalised and added").count(), 1);
}

#[test]
fn pending_names_what_the_next_run_would_dream() {
    let vault = temp_vault(VAULT);
    let names = |vault: &TempVault| {
        let open = Vault::open(vault.path()).unwrap();
        let ledger = open.meta::<DreamLedger>().value;
        pending(&open.snapshot(), ledger.as_ref()).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(names(&vault), ["daily/2026-11-02/fusion.md", "daily/2026-11-03.md", "resource/2026-11-03/rules.txt"]);
    by_rules(&vault);
    assert!(names(&vault).is_empty());
    vault.write("daily/2026-11-03.md", "换了内容。\n");
    assert_eq!(names(&vault), ["daily/2026-11-03.md"]);
}

#[test]
fn a_dry_run_shows_the_diffs_and_writes_nothing() {
    let vault = temp_vault(VAULT);
    let before = state(&vault);
    let report = run(&vault, &ExtractiveAbstractor, DreamRequest { dry_run: true, ..DreamRequest::default() }).unwrap();
    assert_eq!(report.diffs.len(), 3);
    assert!(report.diffs[0].diff.contains("+# Rank fusion loses six points"));
    assert!(report.totals.edges_added >= 3);
    assert_eq!(state(&vault), before);
}

#[test]
fn scopes_choose_and_limits_bound() {
    let vault = temp_vault(VAULT);
    let only = |scope, limit| {
        run(&vault, &ExtractiveAbstractor, DreamRequest { scope, limit, dry_run: true, retry: false })
            .unwrap()
            .totals
            .done
    };
    assert_eq!(only(DreamScope::Since(chrono::NaiveDate::from_ymd_opt(2026, 11, 3).unwrap()), None), 2);
    assert_eq!(only(DreamScope::Pending, Some(1)), 1);
    assert_eq!(only(DreamScope::Notes(vec![path("daily/2026-11-03.md")]), None), 1);
    let gone = DreamScope::Notes(vec![path("daily/nowhere.md")]);
    assert!(run(&vault, &ExtractiveAbstractor, DreamRequest { scope: gone, ..DreamRequest::default() }).is_err());
    by_rules(&vault);
    let report = run(
        &vault,
        &ExtractiveAbstractor,
        DreamRequest {
            scope: DreamScope::Notes(vec![path("digest/wiki/rank-fusion-loses-six-points.md")]),
            ..DreamRequest::default()
        },
    )
    .unwrap();
    assert!(
        matches!(&report.materials[0].state, MaterialState::Skipped { reason } if reason.contains("never dreamed again"))
    );
}

/// Two hundred days in which the same things come up again, in new words, with new numbers, and
/// with people's edits in between.
#[test]
fn over_many_runs_nothing_erodes_and_no_note_bloats() {
    let vault = temp_vault(
        "=== daily/2026-01-01/start.md\n---\nname: Backup policy\n---\n\n## Decision\n\n- Backups are made before every upgrade of the index. ^b1\n",
    );
    by_rules(&vault);
    let first = chrono::NaiveDate::from_ymd_opt(2026, 1, 2).unwrap();
    for n in 0..60_u64 {
        let day = first + chrono::Days::new(n * 5);
        let fact = match n % 3 {
            0 => "Backups are made before every upgrade of the index.".to_owned(),
            1 => format!("The retention of backups is {} days, measured on the disk of the laptop.", 20 + n),
            _ => format!("Restores number {n} must be tried with the archive of that week."),
        };
        vault.write(
            &format!("daily/{day}/event.md"),
            format!("---\nname: Backup policy\n---\n\n## Decision\n\n- {fact} ^b1\n"),
        );
        by_rules(&vault);
    }
    let all = digests(&vault);
    assert!(all.contains("Backups are made before every upgrade of the index."));
    assert!(all.contains("is 21 days") && all.contains("Restores number 59 must"), "{all}");
    // What is said twenty times stands once, with a bounded number of sources.
    let line = all.lines().find(|l| l.starts_with("- ") && l.contains("made before every upgrade")).unwrap();
    assert_eq!(
        all.lines().filter(|l| l.starts_with("- ") && l.contains("made before every upgrade")).count(),
        1,
        "{all}"
    );
    assert!(line.matches("derived_from").count() <= 8, "{line}");
    assert!(digest_count(&vault) <= 6, "{}", digest_count(&vault));
    provenance_is_whole(&Vault::open(vault.path()).unwrap());
    // Without meta/ the whole year again: not a byte.
    vault.remove("meta/dreamed.json");
    by_rules(&vault);
    assert_eq!(digests(&vault), all);
}
