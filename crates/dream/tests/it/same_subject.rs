//! One abstraction, one note, also where a verdict forgets it; and a note that is full hands over.

use std::sync::Arc;

use dormouse_dream::{
    DreamConfig, DreamContext, DreamEvent, DreamReport, DreamRequest, LexicalNeighbours, ModelAbstractor, dream,
};
use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_model::{Reply, ScriptedModel};
use dormouse_vault::Vault;
use dormouse_vault::text::estimate_tokens;
use serde_json::json;

use crate::bench::{by_model, by_rules, clock, digest_count, digests};

fn event(day: u32, fact: &str) -> String {
    format!("=== daily/2026-03-{day:02}/event.md\n---\nname: Event\n---\n\n{fact} ^b1\n")
}

fn unit(name: &str, bucket: &str, fact: &str) -> String {
    let fact = json!({ "text": fact, "evidence": [fact], "step": false });
    json!({ "units": [{ "name": name, "bucket": bucket, "summary": "", "facts": [fact] }] }).to_string()
}

const NOTHING: &str = r#"{"verdicts":[]}"#;

fn verdict(candidate: usize, change: &str) -> String {
    json!({ "verdicts": [{ "candidate": candidate, "relation": "same", "change": change, "sentence": "" }] })
        .to_string()
}

/// A run with settings and an observer of its own.
fn run(
    vault: &TempVault,
    config: &DreamConfig,
    replies: &[String],
    observer: &(dyn Fn() + Send + Sync),
) -> DreamReport {
    let model = Arc::new(ScriptedModel::new(replies.iter().map(Reply::text).collect()));
    let open = Vault::open(vault.path()).unwrap();
    let gating = |event: &DreamEvent<'_>| {
        if matches!(event, DreamEvent::Gating { .. }) {
            observer();
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let context = DreamContext {
        vault: &open,
        abstractor: &ModelAbstractor::new(model),
        neighbours: &LexicalNeighbours::new(&open),
        clock: &clock(),
        config,
        observer: &gating,
        cancel: &|| false,
    };
    runtime.block_on(dream(context, DreamRequest::default())).unwrap()
}

#[test]
fn a_note_of_the_units_name_is_the_same_though_the_verdict_forgets_it() {
    for name in ["Nightly backup", "nightly  backup", "Backup, nightly"] {
        let (first, second) = ("The retention of the backup is 30 days.", "Each batch has 512 items in it.");
        let vault = temp_vault(&format!("{}{}", event(1, first), event(2, second)));
        by_model(&vault, &[&unit("Nightly backup", "wiki", first), &unit(name, "wiki", second), NOTHING]);
        assert_eq!(digest_count(&vault), 1, "{}", digests(&vault));
    }
}

#[test]
fn a_note_that_states_the_fact_is_the_same_though_the_verdict_forgets_it() {
    let fact = "The retention of the backup is 30 days.";
    let vault = temp_vault(&format!("{}{}", event(1, fact), event(2, fact)));
    by_model(&vault, &[&unit("Nightly backup", "wiki", fact), &unit("Copies after dark", "wiki", fact), NOTHING]);
    assert_eq!(digest_count(&vault), 1, "{}", digests(&vault));
    assert_eq!(digests(&vault).matches("derived_from::").count(), 2);
}

#[test]
fn what_is_called_the_same_goes_into_it_though_the_bucket_is_another() {
    let (first, second) = ("The retention of the backup is 30 days.", "The backup has batches of 512 items.");
    let vault = temp_vault(&format!("{}{}", event(1, first), event(2, second)));
    let second = unit("Copies after dark", "procedure", second);
    by_model(&vault, &[&unit("Nightly backup", "wiki", first), &second, &verdict(1, "corroborate")]);
    assert_eq!(digest_count(&vault), 1, "{}", digests(&vault));
}

#[test]
fn a_note_of_the_very_name_in_another_bucket_is_the_same_unless_a_verdict_tells_them_apart() {
    let (first, second) = ("The retention of the backup is 30 days.", "The backup has batches of 512 items.");
    let related = r#"{"verdicts":[{"candidate":1,"relation":"related","change":"none","sentence":""}]}"#;
    for (verdicts, notes) in [(NOTHING, 1), (related, 2)] {
        let vault = temp_vault(&format!("{}{}", event(1, first), event(2, second)));
        let second = unit("Nightly backup", "procedure", second);
        by_model(&vault, &[&unit("Nightly backup", "wiki", first), &second, verdicts]);
        assert_eq!(digest_count(&vault), notes, "{}", digests(&vault));
    }
}

#[test]
fn a_note_never_outgrows_its_budget_and_the_next_takes_what_comes() {
    let config = DreamConfig { subject_tokens: 260, ..DreamConfig::default() };
    let fact =
        |n: usize| format!("Machine number {} in the hall of the backup needs a new fan before winter.", 100 + n);
    let events: String = (1..=12).map(|n| event(u32::try_from(n).unwrap(), &fact(n))).collect();
    let vault = temp_vault(&events);
    // Every verdict names the first note, full or not.
    let rule = ScriptedModel::from_rule(|request| {
        let asked = request.schema.as_ref().map_or("", |s| s.name.as_str());
        let text = &request.messages[1].content;
        let line = text.lines().find(|l| l.starts_with("Machine number ")).unwrap_or_default();
        Ok(Reply::text(if asked == "dream_units" {
            unit("Backup hall", "wiki", line)
        } else {
            verdict(1, "corroborate")
        }))
    });
    let open = Vault::open(vault.path()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let context = DreamContext {
        vault: &open,
        abstractor: &ModelAbstractor::new(Arc::new(rule)),
        neighbours: &LexicalNeighbours::new(&open),
        clock: &clock(),
        config: &config,
        observer: &(),
        cancel: &|| false,
    };
    runtime.block_on(dream(context, DreamRequest::default())).unwrap();
    let notes: Vec<String> = vault
        .files()
        .into_iter()
        .filter(|(path, _)| path.starts_with("digest/"))
        .map(|(_, bytes)| String::from_utf8(bytes).unwrap())
        .collect();
    let all = notes.concat();
    assert!(notes.iter().all(|text| estimate_tokens(text) <= 260), "{all}");
    assert!((1..=12).all(|n| all.matches(&fact(n)).count() >= 1), "{all}");
    // Full notes, and one that still has room.
    assert!(notes.iter().filter(|text| estimate_tokens(text) < 180).count() <= 1, "{all}");
}

#[test]
fn what_a_full_note_states_already_makes_no_new_one() {
    let config = DreamConfig { subject_tokens: 60, ..DreamConfig::default() };
    let fact = "The retention of the backup is 30 days.";
    let vault = temp_vault(&format!(
        "{}=== digest/wiki/nightly-backup.md\n---\nname: Nightly backup\n---\n\n- {fact}\n- {}\n",
        event(2, fact),
        "A long line that leaves no room for anything else. ".repeat(6)
    ));
    let before = digests(&vault);
    let report = run(&vault, &config, &[unit("Nightly backup", "wiki", fact), verdict(1, "corroborate")], &|| ());
    assert_eq!((report.totals.created, report.totals.units_known), (0, 1));
    assert_eq!(digests(&vault), before);
}

#[test]
fn a_note_that_a_person_saves_while_a_dream_runs_is_still_found() {
    let (first, second) = ("The retention of the backup is 30 days.", "The backup has batches of 512 items.");
    let vault = temp_vault(&event(1, first));
    by_model(&vault, &[&unit("Nightly backup", "wiki", first)]);
    let file = "digest/wiki/nightly-backup.md";
    vault.write("daily/2026-03-02/event.md", format!("{second} ^b1\n"));
    let replies = [unit("Nightly backup", "wiki", second), verdict(1, "corroborate")];
    run(&vault, &DreamConfig::default(), &replies, &|| {
        vault.write(file, format!("{}\nI still doubt this.\n", vault.read(file)));
    });
    let all = digests(&vault);
    assert_eq!(digest_count(&vault), 1, "{all}");
    assert!(all.contains("I still doubt this.") && all.contains(first) && all.contains(second), "{all}");
}

#[test]
fn events_of_one_day_are_dreamed_in_the_order_in_which_they_happened() {
    let event = |hour: &str| format!("---\nname: Talk\ndate: 2026-03-01T{hour}:00:00+01:00\n---\n\nNothing. ^b1\n");
    let vault = temp_vault("");
    vault.write("daily/2026-03-01/b-talk.md", event("09"));
    vault.write("daily/2026-03-01/a-talk.md", event("11"));
    vault.write("daily/2026-03-01/a-talk-2.md", event("11"));
    let report = by_rules(&vault);
    let order: Vec<&str> = report.materials.iter().filter_map(|m| m.path.as_str().rsplit('/').next()).collect();
    assert_eq!(order, ["b-talk.md", "a-talk.md", "a-talk-2.md"]);
}
