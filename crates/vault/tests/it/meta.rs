//! Derived signals: what is written, and what a reader does with anything else.

use chrono::{DateTime, Duration, TimeZone, Utc};
use dormouse_fixtures::temp_vault;
use dormouse_vault::meta::{
    Archived, Artefact, Communities, Cooldowns, DreamLedger, DreamOutcome, Dreamed, Recency, RecencyScore, schemas,
};
use dormouse_vault::{ChangeSet, Conservation, NotePath, Vault, Version, Writer};
use expect_test::{Expect, expect};

fn at() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 30, 14, 5, 9).unwrap()
}

fn path(text: &str) -> NotePath {
    NotePath::new(text).unwrap()
}

fn recency() -> Recency {
    let score = RecencyScore { score: 0.5, last_active: at().date_naive(), hits_30: 2 };
    Recency { version: 1, computed_at: at(), notes: [(path("digest/wiki/a.md"), score)].into() }
}

#[test]
fn what_is_stored_reads_well_and_comes_back() {
    let folder = temp_vault("");
    let vault = Vault::open(folder.path()).unwrap();
    let set = ChangeSet::new(Writer::Meta, Conservation::Additive).with(recency().to_change(vault.layout()));
    vault.commit(&set).unwrap();
    expect![[r#"
        === meta/recency.json
        {
          "version": 1,
          "computed_at": "2026-11-30T14:05:09Z",
          "notes": {
            "digest/wiki/a.md": {
              "score": 0.5,
              "last_active": "2026-11-30",
              "hits_30": 2
            }
          }
        }
    "#]]
    .assert_eq(&folder.dump());
    let loaded = vault.meta::<Recency>();
    assert_eq!(loaded.value, Some(recency()));
    assert!(loaded.fresh(at() + Duration::days(1), Duration::days(2)).is_some());
    assert!(loaded.fresh(at() + Duration::days(3), Duration::days(2)).is_none());
    assert!(vault.commit(&set).unwrap().written.is_empty());
}

/// Reads `meta/archived.json` as these bytes.
fn check(bytes: impl AsRef<[u8]>, expect: Expect) {
    let folder = temp_vault("");
    folder.write("meta/archived.json", bytes);
    let loaded = Vault::open(folder.path()).unwrap().meta::<Archived>();
    assert!(loaded.value.is_none());
    expect.assert_eq(&loaded.problem.unwrap().to_string());
}

/// CON-06: whatever lies there, the reader goes on without it and says why; merely missing is no
/// problem; and the next write makes it whole.
#[test]
fn con_06_a_meta_file_that_is_broken_is_a_problem_and_not_a_failure() {
    check("", expect!["archived.json: is empty; it is ignored, and the next run that computes it makes it anew"]);
    check(
        [0; 70],
        expect![
            "archived.json: is filled with zeroes, as a crash leaves a file; it is ignored, and the next run that computes it makes it anew"
        ],
    );
    check(
        r#"{"version":1,"notes":{"a.m"#,
        expect!["archived.json: ends too early; it is ignored, and the next run that computes it makes it anew"],
    );
    check(
        "not json",
        expect!["archived.json: is not JSON; it is ignored, and the next run that computes it makes it anew"],
    );
    check(
        b"\xff\xfe{}",
        expect!["archived.json: is not JSON; it is ignored, and the next run that computes it makes it anew"],
    );
    check(
        "[]",
        expect!["archived.json: has no version; it is ignored, and the next run that computes it makes it anew"],
    );
    check(
        r#"{"version":0}"#,
        expect![
            "archived.json: is of the old version 0; it is ignored, and the next run that computes it makes it anew"
        ],
    );
    check(
        r#"{"version":2,"anything":1}"#,
        expect!["archived.json: is of version 2, newer than this build's 1; it is ignored, update Dormouse"],
    );
    check(
        r#"{"version":1,"computed_at":"2026-11-30T00:00:00Z","notes":[]}"#,
        expect![
            "archived.json: has another shape (invalid type: sequence, expected a map); it is ignored, and the next run that computes it makes it anew"
        ],
    );
    check(
        r#"{"version":1,"computed_at":"2026-11-30T00:00:00Z","notes":{"../x":{"since":"2026-11-30","score":1}}}"#,
        expect![
            "archived.json: has another shape (the path has a `.` or `..` segment); it is ignored, and the next run that computes it makes it anew"
        ],
    );
    let folder = temp_vault("=== a.md\nalpha\n");
    folder.write("meta/recency.json", [0; 70]);
    folder.write("meta/cooldowns.json/a-folder", "");
    let vault = Vault::open(folder.path()).unwrap();
    let missing = vault.meta::<Communities>();
    assert!(missing.value.is_none() && missing.problem.is_none());
    assert!(vault.meta::<Cooldowns>().problem.is_some());
    vault
        .commit(&ChangeSet::new(Writer::Meta, Conservation::Additive).with(recency().to_change(vault.layout())))
        .unwrap();
    assert_eq!(vault.meta::<Recency>().value, Some(recency()));
    assert_eq!(folder.read("a.md"), "alpha\n");
}

#[test]
fn a_ledger_comes_back_as_it_was() {
    let done = DreamOutcome::Done { subjects: vec![path("digest/wiki/漢字.md")], dropped: 1 };
    let entry = Dreamed { content: Version::of(b"x"), at: at(), by: "extractive".into(), outcome: done };
    let ledger =
        DreamLedger { version: 1, computed_at: at(), materials: [(path("daily/2026-11-30/e.md"), entry)].into() };
    let folder = temp_vault("");
    let vault = Vault::open(folder.path()).unwrap();
    vault.commit(&ChangeSet::new(Writer::Meta, Conservation::Additive).with(ledger.to_change(vault.layout()))).unwrap();
    assert_eq!(vault.meta::<DreamLedger>().value, Some(ledger));
}

#[test]
fn every_artefact_has_a_schema_with_its_version_and_date() {
    let schemas = schemas();
    assert_eq!(schemas.len(), 8);
    for (file, schema) in schemas {
        let required = schema["required"].as_array().unwrap();
        assert!(required.contains(&"version".into()) && required.contains(&"computed_at".into()), "{file}");
    }
}

#[test]
fn a_layout_that_leads_out_of_the_vault_is_not_followed() {
    let folder = temp_vault("=== dormouse.toml\n[layout]\nmeta = \"../away\"\n");
    let vault = Vault::open(folder.path()).unwrap();
    let change = recency().to_change(vault.layout());
    assert_eq!(change.path(), &path("meta/recency.json"));
}

fn put(vault: &Vault, artefact: &impl Artefact) {
    let set = ChangeSet::new(Writer::Meta, Conservation::Additive).with(artefact.to_change(vault.layout()));
    vault.commit(&set).unwrap();
}

/// Whatever a build can't read is kept before it writes its own, whoever the caller is.
#[test]
fn a_file_of_another_version_or_cut_short_is_set_aside_before_it_is_put() {
    let newer = r#"{"version": 99, "materials": {"daily/2026-11-30/e.md": "new shape"}}"#;
    let cut = r#"{"version": 1, "computed_at": "2026-11-30T12:0"#;
    let folder = temp_vault("");
    let vault = Vault::open(folder.path()).unwrap();
    folder.write("meta/dreamed.json", newer);
    folder.write("meta/cooldowns.json", cut);
    folder.write("meta/recency.json", b"\xff\x00 not text");
    folder.write("meta/archived.json", "\n");
    put(&vault, &DreamLedger { version: 1, computed_at: at(), materials: Default::default() });
    put(&vault, &Cooldowns { version: 1, computed_at: at(), notes: Default::default() });
    put(&vault, &recency());
    put(&vault, &Archived { version: 1, computed_at: at(), notes: Default::default() });
    let aside = |name: &str| std::fs::read(folder.path().join(".dormouse/set-aside").join(name)).unwrap();
    assert_eq!(aside("dreamed.json-1"), newer.as_bytes());
    assert_eq!(aside("cooldowns.json-1"), cut.as_bytes());
    assert_eq!(aside("recency.json-1"), b"\xff\x00 not text");
    assert!(vault.meta::<DreamLedger>().value.is_some());
    let kept = || std::fs::read_dir(folder.path().join(".dormouse/set-aside")).unwrap().count();
    assert_eq!(kept(), 3, "a blank file holds nothing to keep");

    // What this build reads is replaced and not kept; the same bytes again are kept once; others beside.
    put(&vault, &Cooldowns { version: 1, computed_at: at() + Duration::days(1), notes: Default::default() });
    assert_eq!(kept(), 3);
    folder.write("meta/dreamed.json", newer);
    put(&vault, &DreamLedger { version: 1, computed_at: at(), materials: Default::default() });
    assert_eq!(kept(), 3);
    folder.write("meta/dreamed.json", "[]");
    put(&vault, &DreamLedger { version: 1, computed_at: at(), materials: Default::default() });
    assert_eq!(aside("dreamed.json-2"), b"[]");
    assert_eq!(aside("dreamed.json-1"), newer.as_bytes());
}

#[test]
fn what_can_not_be_set_aside_is_not_replaced() {
    let folder = temp_vault("");
    let vault = Vault::open(folder.path()).unwrap();
    folder.write("meta/dreamed.json", "[]");
    folder.write(".dormouse/set-aside", "a file where the folder must be");
    let ledger = DreamLedger { version: 1, computed_at: at(), materials: Default::default() };
    let set = ChangeSet::new(Writer::Meta, Conservation::Additive).with(ledger.to_change(vault.layout()));
    assert!(vault.commit(&set).is_err());
    assert_eq!(folder.read("meta/dreamed.json"), "[]");
}

#[test]
fn a_cache_file_is_put_whole_and_nowhere_but_in_the_cache() {
    let folder = temp_vault("");
    let vault = Vault::open(folder.path()).unwrap();
    vault.write_cache("a/state.json", b"one").unwrap();
    vault.write_cache("a/state.json", b"two").unwrap();
    vault.write_cache("a/state.json", b"two").unwrap();
    assert_eq!(std::fs::read(vault.cache_dir().join("a/state.json")).unwrap(), b"two");
    assert_eq!(std::fs::read_dir(vault.cache_dir().join("a")).unwrap().count(), 1, "no temporary file is left");
    for name in ["../out.json", "/etc/x", "journal/1.apply", "lock", "locks/dream.lock", "set-aside/x", "", "a/../b"] {
        assert!(vault.write_cache(name, b"x").is_err(), "{name}");
    }
    assert!(folder.files().is_empty(), "{:?}", folder.files().keys());
    let options =
        dormouse_vault::OpenOptions { read_only: true, settings: None, ..dormouse_vault::OpenOptions::default() };
    let closed = Vault::open_with(folder.path(), options).unwrap();
    assert!(matches!(closed.write_cache("b", b"x"), Err(dormouse_vault::CommitError::ReadOnly { .. })));
    assert!(!closed.cache_dir().join("b").exists());
}
