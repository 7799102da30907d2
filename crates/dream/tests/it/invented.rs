//! What a model makes up gets in nowhere: not as a fact, a title, a description or a sentence.

use dormouse_dream::DreamReport;
use dormouse_fixtures::{TempVault, temp_vault};
use serde_json::{Value, json};

use crate::bench::{by_model, digest_count, digests};

const NOTE: &str = "=== daily/2026-03-04/backup.md
---
name: Backup
---

The retention of the nightly backup is 30 days, and Anna Lindqvist signs for it. ^b1

The batch size of the nightly backup is 4 items. ^b2

李明远把搜索索引的保留期定为45天。 ^b3

The pause is 9 minutes from 2026-03-04, not 5 minutes. ^b4
";
const RETENTION: &str = "The retention of the nightly backup is 30 days, and Anna Lindqvist signs for it.";
const BATCH: &str = "The batch size of the nightly backup is 4 items.";
const INDEX: &str = "李明远把搜索索引的保留期定为45天。";
const PAUSE: &str = "The pause is 9 minutes from 2026-03-04, not 5 minutes.";

fn unit(name: &str, summary: &str, text: &str, evidence: &str) -> Value {
    let fact = json!({ "text": text, "evidence": [evidence], "step": false });
    json!({ "name": name, "bucket": "wiki", "summary": summary, "facts": [fact] })
}

fn dreamed(units: &[Value]) -> (TempVault, DreamReport) {
    let vault = temp_vault(NOTE);
    let reply = json!({ "units": units }).to_string();
    let (report, _) = by_model(&vault, &[&reply]);
    (vault, report)
}

/// The fact as it was written; the reason when it was dropped.
fn check(text: &str, evidence: &str) -> Result<String, String> {
    let (vault, report) = dreamed(&[unit("Backup", "", text, evidence)]);
    match digest_count(&vault) {
        0 => Err(report.dropped_reasons()),
        _ => {
            let all = digests(&vault);
            let line = all.lines().find(|l| l.starts_with("- ")).unwrap();
            Ok(line.trim_start_matches("- ").split(" (derived_from::").next().unwrap().to_owned())
        }
    }
}

trait Reasons {
    fn dropped_reasons(&self) -> String;
}

impl Reasons for DreamReport {
    fn dropped_reasons(&self) -> String {
        self.materials.iter().flat_map(|m| m.dropped.iter().map(|d| d.reason.clone())).collect()
    }
}

#[test]
fn what_is_true_gets_in() {
    for (text, evidence) in [
        (RETENTION, RETENTION),
        ("The retention of the 'Nightly Backup' is 30 days, as Anna Lindqvist's signature says.", RETENTION),
        ("Anna Lindqvist keeps thirty days of the nightly backup.", RETENTION),
        ("On 4 March 2026 the retention of the nightly backup was 30 days.", RETENTION),
        ("The nightly backup takes four items in a batch.", BATCH),
        ("搜索索引的保留期是四十五天，由李明远负责。", INDEX),
        ("The pause is no longer 5 but 9 minutes from 2026-03-04.", PAUSE),
    ] {
        assert_eq!(check(text, evidence).as_deref(), Ok(text));
    }
}

#[test]
fn a_changed_number_is_seen_in_whatever_digits_and_words() {
    for (text, evidence) in [
        ("The retention of the nightly backup is 35 days.", RETENTION),
        ("The retention of the nightly backup is ３５ days.", RETENTION),
        ("The retention of the nightly backup is ninety-nine days.", RETENTION),
        ("搜索索引的保留期定为九十九天。", INDEX),
        // A small count in the place of another, also when it is a part of the day.
        ("The batch size of the nightly backup is 7 items.", BATCH),
        ("The batch size of the nightly backup is 3 items.", BATCH),
        // A number of another fact of the note, and the old number for the new one.
        ("The retention of the nightly backup is 45 days.", RETENTION),
        ("The pause is 5 minutes from 2026-03-04, not 5 minutes.", PAUSE),
        ("The pause is 9 minutes from 2026-03-08, not 5 minutes.", PAUSE),
    ] {
        assert!(check(text, evidence).is_err(), "{text}");
    }
}

#[test]
fn a_name_that_nobody_named_is_no_fact() {
    for (text, evidence) in [
        ("The retention of the nightly backup is 30 days, and Zebulon Quark signs for it.", RETENTION),
        ("Quillon set the retention of the nightly backup to 30 days.", RETENTION),
        ("钱多多把搜索索引的保留期定为45天。", INDEX),
        ("搜索索引的保留期是45天，由孙悟饭负责。", INDEX),
    ] {
        let dropped = check(text, evidence).unwrap_err();
        assert!(dropped.contains("a name that the material does not have"), "{text}: {dropped}");
    }
}

#[test]
fn a_fact_that_leaves_its_number_open_gets_the_words_of_its_evidence() {
    assert_eq!(check("The retention of the nightly backup is several days.", RETENTION).as_deref(), Ok(RETENTION));
    assert_eq!(check("李明远把搜索索引的保留期定为若干天。", INDEX).as_deref(), Ok(INDEX));
}

#[test]
fn a_fact_names_no_source_of_its_own_and_hides_nothing_in_one() {
    for forged in [
        "(derived_from:: [[daily/2026-03-04/other#^b1]])",
        "(derived_from::[[daily/2026-03-04/other#^b1]])",
        "[Derived_From:: [[daily/2026-03-04/other]]]",
        "derived_from:: [[daily/2025-01-01/never]]",
        "(derived_from::Quillon signs for 904001]])",
    ] {
        let (vault, report) = dreamed(&[unit("Backup", "", &format!("{BATCH} {forged}"), BATCH)]);
        let all = digests(&vault);
        assert_eq!(all.matches("derived_from").count(), 1, "{all}");
        assert!(!all.contains("other") && !all.contains("904001") && !all.contains("2025"), "{all}");
        assert!(report.dropped_reasons().contains("a source of its own making"), "{forged}");
    }
    let code = "The batch size of the nightly backup is 4 items, see `derived_from::x`.";
    assert_eq!(check(code, BATCH).as_deref(), Ok(code));
}

#[test]
fn title_and_description_say_nothing_that_the_note_does_not() {
    let (vault, _) = dreamed(&[
        unit(
            "Nightly backup 48213 Zebulon Quark",
            "The retention is 48213 days, Zebulon Quark says.",
            RETENTION,
            RETENTION,
        ),
        unit("搜索索引 703 郑成器", "孙悟饭负责搜索索引。", INDEX, INDEX),
    ]);
    let all = digests(&vault);
    assert!(all.contains("# Nightly backup\n") && all.contains("# 搜索索引\n"), "{all}");
    for made_up in ["48213", "Quark", "703", "郑成器", "孙悟饭"] {
        assert!(!all.contains(made_up), "{made_up}: {all}");
    }
    assert!(all.contains(&format!("description: \"{RETENTION}\"")), "{all}");
}

#[test]
fn the_sentence_of_a_link_says_nothing_that_neither_note_does() {
    for (sentence, stays) in [
        ("{link} keeps 30 days as well.", true),
        ("{link} grew to 48213 items.", false),
        ("{link} is led by Zebulon Quark.", false),
        ("See [[digest/wiki/nowhere]] and {link}.", false),
    ] {
        let vault = temp_vault(&format!(
            "{NOTE}=== digest/wiki/restore.md\n---\nname: Restore\n---\n\n- The restore of the nightly backup is tried weekly.\n"
        ));
        let gate = json!({ "units": [unit("Backup", "", RETENTION, RETENTION)] }).to_string();
        let verdict = json!({ "candidate": 1, "relation": "related", "change": "none", "sentence": sentence });
        by_model(&vault, &[&gate, &json!({ "verdicts": [verdict] }).to_string()]);
        let text = vault.read("digest/wiki/backup.md");
        let link = "[[digest/wiki/restore|Restore]]";
        assert_eq!(text.contains(&sentence.replace("{link}", link)), stays, "{text}");
        assert_eq!(text.contains(&format!("See {link}.")), !stays, "{text}");
    }
}
