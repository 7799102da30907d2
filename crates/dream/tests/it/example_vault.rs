//! The example vault, end to end.

use std::collections::BTreeMap;

use dormouse_fixtures::{copy_tree, example_vault, temp_vault};
use dormouse_vault::Vault;

use crate::bench::{by_rules, digests, provenance_is_whole};

#[test]
fn six_weeks_become_digests_whose_sources_all_resolve_and_nothing_else_changes() {
    let vault = temp_vault("");
    copy_tree(&example_vault(), vault.path());
    let source: BTreeMap<String, Vec<u8>> = vault.files();
    let report = by_rules(&vault);
    let totals = report.totals;
    assert!(totals.created >= 50 && totals.corrected >= 2 && totals.units_dropped == 0, "{totals:?}");
    assert_eq!(totals.failed, 0);
    provenance_is_whole(&Vault::open(vault.path()).unwrap());
    let after = vault.files();
    for (path, bytes) in &source {
        assert_eq!(after.get(path), Some(bytes), "{path}");
    }
    assert!(
        after
            .keys()
            .filter(|p| !source.contains_key(*p))
            .all(|p| p.starts_with("digest/") || p.starts_with("meta/") || p.starts_with("audit/"))
    );
    // The quiet days left nothing behind.
    let all = digests(&vault);
    for quiet in ["waiting-for-builds", "午后杂记", "搬桌子", "a-friday", "a-quiet-sunday"] {
        assert!(!all.contains(&format!("/{quiet}#")), "{quiet}");
    }
    // A value that was superseded says so in place.
    assert!(all.lines().any(|l| l.contains("Alpha starts at 0.3")
        && l.contains("Superseded 2026-11-09")
        && l.matches("derived_from").count() == 2));
    let second = by_rules(&vault);
    assert_eq!((second.totals.done, second.totals.unchanged), (0, totals.done));
    assert_eq!(vault.files(), after);
}
