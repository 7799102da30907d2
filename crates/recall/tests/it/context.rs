//! Context: a cited block within a budget.

use dormouse_fixtures::temp_vault;
use expect_test::expect;

use super::recall;

const VAULT: &str = "=== daily/2026-11-01/trip.md\n# Trip\n\nWe took the ferry to the island. ^b1\n\nThe sea was rough. ^b2\n=== digest/wiki/ferry.md\n---\nname: Ferry\n---\n- The ferry to the island is rough in November. (derived_from:: [[daily/2026-11-01/trip#^b2]])\n";

#[test]
fn facts_come_first_and_the_blocks_that_they_cite_follow() {
    let vault = temp_vault(VAULT);
    let block = recall(&vault).context("ferry island", 400).unwrap();
    expect![[r#"
        ## What is known

        - [1] The ferry to the island is rough in November. (derived_from:: [[daily/2026-11-01/trip#^b2]]) — [[digest/wiki/ferry|Ferry]]

        ## Where it comes from

        - [2] The sea was rough. — [[daily/2026-11-01/trip#^b2|Trip]], 2026-11-01
        - [3] We took the ferry to the island. — [[daily/2026-11-01/trip#^b1|Trip]], 2026-11-01
    "#]]
    .assert_eq(&block.markdown);
    assert_eq!(block.citations.len(), 3);
}

#[test]
fn no_budget_is_ever_passed_and_nothing_stands_twice() {
    let vault = temp_vault(VAULT);
    let recall = recall(&vault);
    for budget in 0..200 {
        let block = recall.context("ferry island sea", budget).unwrap();
        assert!(block.tokens <= budget, "{budget}: {}", block.tokens);
        let mut places: Vec<_> = block.citations.iter().map(|c| (&c.path, c.lines)).collect();
        places.sort();
        places.dedup();
        assert_eq!(places.len(), block.citations.len());
    }
}
