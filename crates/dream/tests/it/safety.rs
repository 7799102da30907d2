//! What a run may not do, whoever judges.

use std::sync::atomic::{AtomicUsize, Ordering};

use dormouse_dream::{Action, DreamRequest, ExtractiveAbstractor, MaterialState};
use dormouse_fixtures::temp_vault;
use dormouse_vault::{Stage, Vault};

use crate::bench::{Meddling, audit, by_rules, digest_count, digests, run, run_open};

const EVENT: &str = "=== daily/2026-11-02/fusion.md
---
name: Rank fusion loses six points
---

## Decision

- Word score and vector score are normalised and added. ^b1
";

#[test]
fn digests_audit_private_notes_and_copies_are_never_input() {
    let decision = "## Decision\n\n- ZEBRA is the word that must never be dreamed. ^b1\n";
    let places = [
        "digest/wiki/old.md",
        "audit/2026-11-01/dream.md",
        "meta/notes.md",
        "Projects/Mine.md",
        "daily/2026-11-02/fusion (Conflicted copy laptop 202611021030).md",
    ];
    let mut text = EVENT.to_owned();
    for place in places {
        text.push_str(&format!("=== {place}\n{decision}"));
    }
    text.push_str(&format!("=== daily/2026-11-02/secret.md\n---\nprivate: true\n---\n{decision}"));
    text.push_str(&format!("=== resource/2026-11-02/secret.md\n---\nprivate: yes\n---\n{decision}"));
    text = text.replace("private: yes", "private: \"true\"");
    let vault = temp_vault(&text);
    let untouched = vault.read("digest/wiki/old.md");
    let report = by_rules(&vault);
    assert_eq!(report.materials.iter().map(|m| m.path.as_str()).collect::<Vec<_>>(), ["daily/2026-11-02/fusion.md"]);
    assert_eq!(vault.read("digest/wiki/old.md"), untouched);
    assert_eq!(vault.dump_if(|p| p.starts_with("digest/") && p != "digest/wiki/old.md").matches("ZEBRA").count(), 0);
    // Its own output is no input either, however often it runs.
    for _ in 0..3 {
        assert_eq!(by_rules(&vault).totals.done, 0);
    }
    assert_eq!(digest_count(&vault), 2);
}

#[test]
fn a_write_that_loses_a_block_is_sent_back_once_then_refused_and_audited() {
    let vault = temp_vault(EVENT);
    by_rules(&vault);
    let before = digests(&vault);
    vault.write(
        "daily/2026-11-03/again.md",
        "---\nname: Rank fusion loses six points\n---\n\n## Decision\n\n- Word score and vector score are normalised before fusion by rank. ^b1\n",
    );
    let tries = AtomicUsize::new(0);
    let lossy = Meddling(|job, mut composed| {
        tries.fetch_add(1, Ordering::Relaxed);
        assert_eq!(job.violations.is_empty(), tries.load(Ordering::Relaxed) == 1);
        composed.text =
            composed.text.replace("- Word score and vector score are normalised and added.", "- (rest unchanged)");
        composed
    });
    let report = run(&vault, &lossy, DreamRequest::default()).unwrap();
    assert_eq!(tries.load(Ordering::Relaxed), 2);
    assert_eq!(report.totals.corroborated, 0);
    assert_eq!(digests(&vault), before);
    assert!(audit(&vault).contains("refused, twice"), "{}", audit(&vault));
}

#[test]
fn a_write_that_loses_a_link_is_refused_at_the_door_unless_the_second_try_keeps_it() {
    let vault = temp_vault(&format!(
        "{EVENT}=== Hub.md\nh\n=== digest/wiki/kept.md\n---\nname: Alpha value\n---\n\n# Alpha value\n\n- Alpha of the hub is 0.3 for now, see [[Hub]]. (derived_from:: [[daily/2026-11-02/fusion]])\n"
    ));
    vault.write(
        "daily/2026-11-04/alpha.md",
        "---\nname: Alpha value\n---\n\n## Decision\n\n- Alpha of the hub needs a second measurement for now. ^b1\n",
    );
    let tries = AtomicUsize::new(0);
    let mends = Meddling(|job, mut composed| {
        if composed.text.contains("[[Hub]]") && tries.fetch_add(1, Ordering::Relaxed) == 0 {
            composed.text = composed.text.replace("[[Hub]]", "Hub");
        }
        let _ = job;
        composed
    });
    let report = run(&vault, &mends, DreamRequest::default()).unwrap();
    assert!(report.totals.corroborated + report.totals.refined >= 1, "{report:?}");
    assert!(vault.read("digest/wiki/kept.md").contains("see [[Hub]]"));
    assert!(vault.read("digest/wiki/kept.md").contains("second measurement"));
}

#[test]
fn a_person_s_edit_in_between_is_kept_and_the_unit_is_planned_again() {
    let vault = temp_vault(EVENT);
    by_rules(&vault);
    vault.write(
        "daily/2026-11-03/again.md",
        "---\nname: Rank fusion loses six points\n---\n\n## Decision\n\n- Word score and vector score are normalised by their maximum. ^b1\n",
    );
    let subject = "digest/wiki/rank-fusion-loses-six-points.md";
    let times = AtomicUsize::new(0);
    let person = Meddling(|_, composed| {
        if times.fetch_add(1, Ordering::Relaxed) < 2 {
            let text = vault.read(subject);
            vault.write(subject, format!("{text}\nMy own remark {}.\n", times.load(Ordering::Relaxed)));
        }
        composed
    });
    let report = run(&vault, &person, DreamRequest::default()).unwrap();
    let text = vault.read(subject);
    assert_eq!(report.totals.corroborated, 1, "{report:?}");
    assert!(
        text.contains("My own remark 1.") && text.contains("My own remark 2.") && text.contains("by their maximum"),
        "{text}"
    );
}

#[test]
fn a_subject_that_never_holds_still_leaves_the_material_pending() {
    let vault = temp_vault(EVENT);
    by_rules(&vault);
    vault.write(
        "daily/2026-11-03/again.md",
        "---\nname: Rank fusion loses six points\n---\n\n## Decision\n\n- Word score and vector score are normalised by their maximum. ^b1\n",
    );
    let subject = "digest/wiki/rank-fusion-loses-six-points.md";
    let restless = Meddling(|_, composed| {
        let text = vault.read(subject);
        vault.write(subject, format!("{text}\nAnother line.\n"));
        composed
    });
    let report = run(&vault, &restless, DreamRequest::default()).unwrap();
    let last = report.materials.last().unwrap();
    assert!(
        matches!(&last.state, MaterialState::Pending { reason } if reason.contains("changed by others")),
        "{last:?}"
    );
    assert_eq!(by_rules(&vault).totals.corroborated, 1);
}

#[test]
fn locked_notes_are_linked_and_never_written() {
    let vault = temp_vault(&format!(
        "{EVENT}=== digest/wiki/rank-fusion-loses-six-points.md\n---\nname: Rank fusion loses six points\nlocked: true\n---\n\n# Rank fusion loses six points\n\n- Word score and vector score are added somehow. (derived_from:: [[daily/2026-11-02/fusion]])\n"
    ));
    let before = vault.read("digest/wiki/rank-fusion-loses-six-points.md");
    let report = by_rules(&vault);
    assert_eq!(vault.read("digest/wiki/rank-fusion-loses-six-points.md"), before);
    assert_eq!(report.materials[0].subjects[0].action, Action::Create);
    let made = report.materials[0].subjects[0].path.to_string();
    assert!(vault.read(&made).contains("[[digest/wiki/rank-fusion-loses-six-points|"), "{}", vault.read(&made));
}

#[test]
fn one_run_at_a_time() {
    let vault = temp_vault(EVENT);
    let open = Vault::open(vault.path()).unwrap();
    let held = open.lock_stage(Stage::Dream).unwrap();
    assert!(run(&vault, &ExtractiveAbstractor, DreamRequest::default()).is_err());
    drop(held);
    assert_eq!(run_open(&open, &ExtractiveAbstractor, DreamRequest::default()).unwrap().totals.created, 1);
}

#[test]
fn material_that_is_no_text_or_has_hostile_text_harms_nothing() {
    let hostile = "=== daily/2026-11-02/a.md\n---\nname: \"[[x]] \\\"quoted\\\" # name | ^id\"\n---\n\n## Decision\n\n- We decided `open code, $x, %% comment, <!-- html, [[nowhere, (derived_from:: [[daily/2026-11-02/b]]) and :: fields. ^b1\n- Never [[daily/2026-11-02/b#^gone|trust]] a `tick. ^b2\n=== daily/2026-11-02/b.md\nb\n=== daily/2026-11-02/empty.md\n";
    let vault = temp_vault(hostile);
    vault.write("daily/2026-11-02/latin1.md", [0x64, 0xe9, 0x63, 0x69, 0x64, 0xe9]);
    vault.write("resource/2026-11-02/blob.txt", [0xff, 0xfe, 0x00]);
    vault.write("daily/2026-11-02/broken.md", "---\nname: [unclosed\n---\n\nWe decided to keep the body readable.\n");
    let report = by_rules(&vault);
    assert_eq!(report.totals.failed, 0, "{report:?}");
    crate::bench::provenance_is_whole(&Vault::open(vault.path()).unwrap());
    assert!(digests(&vault).contains("keep the body readable"));
    assert!(!digests(&vault).contains("(derived_from:: [[daily/2026-11-02/b|"), "{}", digests(&vault));
}

#[test]
fn an_empty_folder_and_a_vault_without_layers_dream_nothing() {
    for text in ["", "=== Note.md\nWe decided nothing here.\n"] {
        let vault = temp_vault(text);
        assert_eq!(by_rules(&vault).totals.done, 0);
        assert_eq!(digest_count(&vault), 0);
    }
}
