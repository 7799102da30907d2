//! A run after a run: unchanged vaults, failures that rest, and crashes between any two commits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use dormouse_dream::{
    Abstractor, DreamConfig, DreamContext, DreamEvent, DreamRequest, DreamScope, ExtractiveAbstractor,
    LexicalNeighbours, MaterialState, ModelAbstractor, Price, dream,
};
use dormouse_fixtures::{TempVault, labelled_events, temp_vault};
use dormouse_model::{ModelError, Reply, ScriptedModel, Usage};
use dormouse_vault::meta::{DreamLedger, DreamOutcome};
use dormouse_vault::{FixedClock, Vault};

use crate::bench::{audit, by_model, by_rules, clock, digests, path, run, run_at};

const TEA: &str = "=== daily/2026-11-02/tea.md\n---\nname: Tea\n---\n\nThe user prefers tea over coffee. ^b1\n";
const UNIT: &str = r#"{"units":[{"name":"Tea","bucket":"personal","summary":"","facts":[{"text":"The user prefers tea over coffee.","evidence":["The user prefers tea over coffee."],"step":false}]}]}"#;

fn minutes_later(minutes: i64) -> FixedClock {
    FixedClock::new(dormouse_vault::Clock::now(&clock()) + chrono::TimeDelta::minutes(minutes))
}

#[test]
fn a_second_run_over_an_unchanged_vault_asks_nothing_and_writes_no_byte() {
    let vault = temp_vault(TEA);
    by_rules(&vault);
    let before = vault.files();
    assert_eq!(by_rules(&vault).totals.unchanged, 1);
    assert_eq!(vault.files(), before);

    let vault = temp_vault(TEA);
    let (report, script) = by_model(&vault, &[UNIT]);
    assert_eq!((report.totals.created, script.requests().len()), (1, 1), "{report:?}");
    let before = vault.files();
    let (report, script) = by_model(&vault, &[]);
    assert_eq!((report.totals.unchanged, script.requests().len(), report.usage.calls), (1, 0, 0));
    assert_eq!(vault.files(), before);
}

/// A vault with a material that failed twice.
fn failed() -> TempVault {
    let vault = temp_vault(TEA);
    for _ in 0..2 {
        let (report, _) = by_model(&vault, &["I'd rather not.", "No."]);
        assert_eq!((report.totals.failed, report.usage.calls), (1, 2));
    }
    vault
}

#[test]
fn what_failed_twice_rests_and_the_runs_meanwhile_ask_nothing_and_write_no_byte() {
    let vault = failed();
    let before = vault.files();
    let (report, script) = by_model(&vault, &[]);
    assert_eq!((report.totals.waiting, report.totals.failed, script.requests().len()), (1, 0, 0));
    assert!(matches!(&report.materials[0].state, MaterialState::Waiting { reason, .. } if reason.contains("no JSON")));
    assert_eq!(vault.files(), before);
}

#[test]
fn what_rests_is_tried_when_its_time_has_come_when_it_is_named_when_it_changed_and_when_asked() {
    let check = |change: &dyn Fn(&TempVault), request: DreamRequest, minutes: i64| {
        let vault = failed();
        change(&vault);
        let model = ModelAbstractor::new(std::sync::Arc::new(ScriptedModel::new(vec![Reply::text(UNIT)])));
        run_at(&Vault::open(vault.path()).unwrap(), &model, request, &minutes_later(minutes)).unwrap().totals.done
    };
    let pending = DreamRequest::default;
    assert_eq!(check(&|_| (), pending(), 4), 0);
    assert_eq!(check(&|_| (), pending(), 5), 1);
    assert_eq!(check(&|_| (), DreamRequest { retry: true, ..pending() }, 0), 1);
    let named = DreamScope::Notes(vec![path("daily/2026-11-02/tea.md")]);
    assert_eq!(check(&|_| (), DreamRequest { scope: named, ..pending() }, 0), 1);
    let longer = format!("{}And rice. ^b2\n", TEA.split_once('\n').unwrap().1);
    assert_eq!(check(&|vault| vault.write("daily/2026-11-02/tea.md", &longer), pending(), 0), 1);
}

#[test]
fn a_service_that_can_not_be_asked_costs_the_material_no_try_and_no_time() {
    let vault = temp_vault(TEA);
    let down = std::sync::Arc::new(ScriptedModel::from_rule(|_| Err(ModelError::Unauthorized { status: 401 })));
    let report = run(&vault, &ModelAbstractor::new(down), DreamRequest::default()).unwrap();
    assert_eq!(report.totals.failed, 1);
    let ledger = Vault::open(vault.path()).unwrap().meta::<DreamLedger>().value.unwrap();
    let outcome = &ledger.materials.values().next().unwrap().outcome;
    assert!(matches!(outcome, DreamOutcome::Pending { tries: 0, not_before: None, .. }), "{outcome:?}");
    assert_eq!(by_model(&vault, &[UNIT]).0.totals.created, 1);
}

#[test]
fn tokens_and_money_are_accounted_and_without_a_price_there_is_no_money() {
    let check = |price: Option<Price>| {
        let vault = temp_vault(TEA);
        let usage = Usage { input_tokens: 500_000, output_tokens: 20_000, calls: 1 };
        let script = std::sync::Arc::new(ScriptedModel::new(vec![Reply { usage, ..Reply::text(UNIT) }]));
        let open = Vault::open(vault.path()).unwrap();
        let context = DreamContext {
            vault: &open,
            abstractor: &ModelAbstractor::new(script),
            neighbours: &LexicalNeighbours::new(&open),
            clock: &clock(),
            config: &DreamConfig { price, ..DreamConfig::default() },
            observer: &(),
            cancel: &|| false,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let report = runtime.block_on(dream(context, DreamRequest::default())).unwrap();
        (report.usage.cost.map(|cost| (cost.amount, cost.currency)), audit(&vault))
    };
    let (cost, page) = check(Some(Price { input: 2.0, output: 10.0, currency: "EUR".into() }));
    assert_eq!(cost, Some((1.2, "EUR".to_owned())));
    assert!(page.contains("1 requests, 500000 tokens read, 20000 written, 1.2000 EUR"), "{page}");
    let (cost, page) = check(None);
    assert_eq!(cost, None);
    assert!(page.contains("20000 written.\n"), "{page}");
}

#[test]
fn a_crash_behind_any_commit_loses_nothing_and_repeats_nothing() {
    let events = || {
        let vault = temp_vault("");
        for event in labelled_events().iter().filter(|event| !event.kept.is_empty()).step_by(9) {
            vault.write(&event.path(), event.note());
        }
        vault
    };
    let undisturbed = events();
    let writes = AtomicUsize::new(0);
    watched(&undisturbed, &ExtractiveAbstractor, &|_| {
        writes.fetch_add(1, Ordering::Relaxed);
    });
    let (writes, wanted) = (writes.into_inner(), digests(&undisturbed));
    assert!(writes > 8, "{writes}");
    for at in 1..=writes {
        let vault = events();
        let seen = AtomicUsize::new(0);
        let crashed = catch_unwind(AssertUnwindSafe(|| {
            watched(&vault, &ExtractiveAbstractor, &|_| {
                assert!(seen.fetch_add(1, Ordering::Relaxed) + 1 < at, "the process ends here");
            });
        }));
        assert!(crashed.is_err());
        by_rules(&vault);
        assert_eq!(digests(&vault), wanted, "after a crash behind commit {at} of {writes}");
    }
}

/// A run that tells of each subject that was written.
fn watched(vault: &TempVault, abstractor: &dyn Abstractor, wrote: &(dyn Fn(&DreamEvent<'_>) + Send + Sync)) {
    let open = Vault::open(vault.path()).unwrap();
    let observer = |event: &DreamEvent<'_>| {
        if matches!(event, DreamEvent::Wrote { .. }) {
            wrote(event);
        }
    };
    let context = DreamContext {
        vault: &open,
        abstractor,
        neighbours: &LexicalNeighbours::new(&open),
        clock: &clock(),
        config: &DreamConfig::default(),
        observer: &observer,
        cancel: &|| false,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(dream(context, DreamRequest::default())).unwrap();
}
