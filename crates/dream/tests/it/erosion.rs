//! A short piece of the year that `cargo xtask bench erosion` lives through.

#[path = "../../benches/erosion/sim/mod.rs"]
mod sim;

use dormouse_dream::DreamConfig;
use dormouse_fixtures::temp_vault;
use dormouse_vault::{NotePath, Vault};
use sim::checks::Watch;
use sim::{Plan, Year, live};

fn lived(seed: u64, days: u64, offline: bool) -> Year {
    // A small budget, so that notes fill up within weeks.
    let config = DreamConfig { subject_tokens: 1_200, ..DreamConfig::default() };
    let year = live(&Plan { seed, days, offline, config });
    assert!(year.holds(), "{:#?}, {} pending", year.findings, year.pending);
    assert!(year.events > 60 && year.facts > 40, "{year:#?}");
    year
}

#[test]
fn weeks_with_a_model_that_errs_erode_nothing_and_let_nothing_invented_in() {
    let year = lived(11, 40, false);
    assert!(year.faults.values().sum::<usize>() > 60, "{:?}", year.faults);
    assert!(year.largest > 1_000, "{}", year.largest);
    let under_one_name: Vec<_> = year.duplicates.iter().filter(|d| d.knowable).map(|d| (d.subject, &d.notes)).collect();
    assert!(under_one_name.is_empty(), "{under_one_name:#?}");
    // What is true gets in all the same.
    assert!(year.kept * 10 >= year.stated * 9, "{} of {}", year.kept, year.stated);
}

#[test]
fn weeks_by_rules_erode_nothing() {
    lived(12, 30, true);
}

const VAULT: &str = "=== daily/2026-01-02/talk.md
User: Holger set the retention of the greenhouse to 30 days. ^b1
=== digest/wiki/greenhouse.md
---
name: Greenhouse
---

- Holger set the retention of the greenhouse to 30 days. (derived_from:: [[daily/2026-01-02/talk#^b1|2026-01-02]])
- See [[talk]].
";

/// What is found after the digest was changed.
fn check(change: fn(&str) -> String, budget: usize) -> [usize; 4] {
    let folder = temp_vault(VAULT);
    let vault = Vault::open(folder.path()).unwrap();
    let mut watch = Watch::default();
    watch.look(&vault, "before", 1_000);
    watch.wrote_by_hand(NotePath::new("digest/wiki/greenhouse.md").unwrap(), "See [[talk]].".to_owned());
    folder.write("digest/wiki/greenhouse.md", change(&folder.read("digest/wiki/greenhouse.md")));
    vault.refresh().unwrap();
    watch.look(&vault, "after", budget);
    watch.look_back(&vault);
    let found = watch.findings;
    [found.lost.len(), found.invented.len(), found.over.len(), found.erased.len()].map(|n| n.min(1))
}

#[test]
fn the_watch_sees_what_is_lost_invented_too_long_and_erased() {
    assert_eq!(check(|text| format!("{text}\n"), 1_000), [0, 0, 0, 0]);
    assert_eq!(check(|text| text.replace("Holger set", "Somebody set"), 1_000), [1, 0, 0, 0]);
    assert_eq!(check(|text| text.replace("#^b1|", "|"), 1_000), [1, 1, 0, 0]);
    assert_eq!(check(|text| text.replace("- See [[talk]].", ""), 1_000), [1, 0, 0, 1]);
    assert_eq!(check(|text| format!("{text}- Jonas says 31 days.\n"), 1_000), [0, 1, 0, 0]);
    assert_eq!(check(|text| format!("{text}- See [[nowhere]].\n"), 1_000), [0, 1, 0, 0]);
    assert_eq!(check(|text| format!("{text}\n"), 20), [0, 0, 1, 0]);
}
