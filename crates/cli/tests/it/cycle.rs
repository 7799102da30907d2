//! The cycle by hand: init, remember, dream, consolidate, and every way of asking.

use dormouse_fixtures::temp_vault;
use expect_test::expect;

use crate::program::{run, run_with};

const EVENT: &str = "We decided to rank by a normalised score sum, because reciprocal rank fusion measured 6 points worse.\n\n\
    Never tune a weight on the held-out half of the questions.\n";

#[test]
fn what_was_remembered_is_dreamed_and_found_again() {
    let vault = temp_vault("=== my own/note.md\n# Mine\n\nUntouched.\n");
    let made = run(vault.path(), &["init", "--json"]).json();
    assert_eq!(made["created"].as_array().unwrap().len(), 6);
    assert_eq!(run(vault.path(), &["init", "--json"]).json()["created"].as_array().unwrap().len(), 0);

    let event = run_with(vault.path(), &["remember", "--title", "Why not rank fusion", "--json"], EVENT).json();
    let path = event["path"].as_str().unwrap().to_owned();
    assert!(path.starts_with("daily/") && path.ends_with("/why-not-rank-fusion.md"), "{path}");
    assert_eq!(run(vault.path(), &["list", "--pending", "--json"]).json()["total"], 1);

    let planned = run(vault.path(), &["dream", "--dry-run", "--json"]).json();
    assert!(!planned["diffs"].as_array().unwrap().is_empty());
    assert_eq!(vault.dump_if(|p| p.starts_with("digest/")), "", "a dry run writes nothing");
    let dreamed = run(vault.path(), &["dream", "--json"]).json();
    assert!(dreamed["totals"]["created"].as_u64().unwrap() >= 1, "{dreamed}");

    let before = vault.files();
    let again = run(vault.path(), &["dream", "--json"]).json();
    assert_eq!(again["totals"]["units_kept"], 0, "{again}");
    assert_eq!(vault.files(), before, "dreaming twice changes nothing");

    assert_eq!(run(vault.path(), &["consolidate", "--json"]).code, 0);
    let found = run(vault.path(), &["search", "why", "no", "rank", "fusion", "--explain", "--json"]).json();
    let paths: Vec<&str> = found["hits"].as_array().unwrap().iter().map(|h| h["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&path.as_str()), "{paths:?}");
    // The digest and the block that it cites say the same: one result with two places.
    let places = found["hits"].as_array().unwrap().iter().flat_map(|h| h["also_at"].as_array().into_iter().flatten());
    let digests = paths.iter().copied().chain(places.filter_map(|place| place.as_str()));
    assert!(digests.into_iter().any(|p| p.starts_with("digest/")), "{found}");
    let back = run(vault.path(), &["traverse", &path, "--direction", "in", "--json"]).json();
    assert!(back["notes"].as_array().unwrap().iter().any(|n| n["via"]["predicate"] == "derived_from"), "{back}");
    let context = run(vault.path(), &["context", "rank fusion", "--json"]).json();
    assert!(context["markdown"].as_str().unwrap().contains("6 points worse"));
    let status = run(vault.path(), &["status", "--json"]).json();
    assert_eq!((status["pending"].as_u64(), status["problems"].as_array().map(Vec::len)), (Some(0), Some(0)));
    assert_eq!(vault.read("my own/note.md"), "# Mine\n\nUntouched.\n");
}

#[test]
fn a_person_reads_a_note_with_its_token() {
    let vault = temp_vault("=== a.md\n# A\n\nsee [[b]]\n=== b.md\nback\n");
    let ran = run(vault.path(), &["read", "a"]);
    expect![[r#"
        # A

        see [[b]]
        ── a.md · version 020e220935b10e4151d0476180c40b91 · 1 link out, 0 notes link here
    "#]]
    .assert_eq(&ran.stdout);
}
