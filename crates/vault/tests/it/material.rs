//! Material: what a dream would look at, and what still waits for one.

use chrono::{DateTime, Utc};
use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::material::{day, is_material, is_pending, materials, not_material, pending};
use dormouse_vault::meta::{Artefact, DreamLedger, DreamOutcome, Dreamed};
use dormouse_vault::{NotePath, Vault, Version};
use expect_test::{Expect, expect};

fn path(text: &str) -> NotePath {
    NotePath::new(text).unwrap()
}

/// Every file of the vault, and why it is no material.
fn check(vault: &TempVault, expect: Expect) {
    let open = Vault::open(vault.path()).unwrap();
    let snapshot = open.snapshot();
    let mut said = String::new();
    for file in vault.files().keys() {
        let file = path(file);
        let why = not_material(&snapshot, &file);
        assert_eq!(is_material(&snapshot, &file), why.is_none());
        assert_eq!(materials(&snapshot).contains(&file), why.is_none());
        let why = why.map_or_else(|| "yes".to_owned(), |why| format!("no: {why}"));
        said.push_str(&format!("{file} {why}\n"));
    }
    expect.assert_eq(&said);
}

#[test]
fn events_and_text_resources_are_material_and_nothing_else_is() {
    let vault = temp_vault(
        "=== daily/2026-11-30/event.md\nx\n=== daily/2026-11-30/empty.md\n\n=== daily/2026-11-30/secret.md\n---\nprivate: true\n---\nx\n\
         === daily/2026-11-30/quoted.md\n---\nprivate: \"True\"\n---\nx\n=== daily/2026-11-30/open.md\n---\nprivate: false\n---\nx\n\
         === daily/2026-11-30/event (Conflicted copy laptop 202611301045).md\nx\n=== daily/2026-11-30/p.png\nx\n\
         === resource/2026-11-30/a.md\nx\n=== resource/2026-11-30/b.CSV\nx\n=== resource/2026-11-30/c.pdf\nx\n\
         === resource/2026-11-30/b.sync-conflict-20261130-101010-AB12CD3.CSV\nx\n=== resource/2026-11-30/会议.txt\nx\n\
         === digest/wiki/d.md\nx\n=== audit/2026-11-30/dream.md\nx\n=== meta/recency.json\n{}\n=== mine.md\nx\n",
    );
    vault.write("daily/2026-11-30/latin.md", b"caf\xe9\n");
    check(
        &vault,
        expect![[r#"
        audit/2026-11-30/dream.md no: written by the cycle itself
        daily/2026-11-30/empty.md yes
        daily/2026-11-30/event (Conflicted copy laptop 202611301045).md no: a sync tool's conflict copy
        daily/2026-11-30/event.md yes
        daily/2026-11-30/latin.md no: not UTF-8
        daily/2026-11-30/open.md yes
        daily/2026-11-30/p.png no: no Markdown note
        daily/2026-11-30/quoted.md no: private
        daily/2026-11-30/secret.md no: private
        digest/wiki/d.md no: a digest: what was dreamed is never dreamed again
        meta/recency.json no: written by the cycle itself
        mine.md no: the user's own note
        resource/2026-11-30/a.md yes
        resource/2026-11-30/b.CSV yes
        resource/2026-11-30/b.sync-conflict-20261130-101010-AB12CD3.CSV no: a sync tool's conflict copy
        resource/2026-11-30/c.pdf no: no text
        resource/2026-11-30/会议.txt yes
    "#]],
    );
    let open = Vault::open(vault.path()).unwrap();
    assert!(!is_material(&open.snapshot(), &path("daily/2026-11-30/never.md")));
    assert!(!is_material(&open.snapshot(), &path("resource/2026-11-30/never.csv")));
}

#[test]
fn a_day_note_is_material_unless_every_block_links_to_an_event_of_that_day() {
    check(
        &temp_vault(
            "=== daily/2026-11-01.md\n# Sunday\n\n- [[daily/2026-11-01/a|A]]: what\n- see [b](2026-11-01/b.md)\n=== daily/2026-11-01/a.md\nx\n=== daily/2026-11-01/b.md\nx\n\
             === daily/2026-11-02.md\n- [[daily/2026-11-02/a]]\n- rain all day\n=== daily/2026-11-02/a.md\nx\n\
             === daily/2026-11-03.md\nA day in one note, see [[daily/2026-11-02/a]].\n\
             === daily/2026-11-04.md\n\n\
             === daily/2026-11-05.md\n- [[daily/2026-11-05/gone]]\n\
             === daily/2026-11-06 trip.md\n\n\
             === daily/ideas.md\n\n\
             === daily/2026-11-07.md\n---\nup: \"[[daily/2026-11-07/a]]\"\n---\nwords\n=== daily/2026-11-07/a.md\nx\n",
        ),
        expect![[r#"
            daily/2026-11-01.md no: the index of a day, not an event
            daily/2026-11-01/a.md yes
            daily/2026-11-01/b.md yes
            daily/2026-11-02.md yes
            daily/2026-11-02/a.md yes
            daily/2026-11-03.md yes
            daily/2026-11-04.md no: the index of a day, not an event
            daily/2026-11-05.md yes
            daily/2026-11-06 trip.md yes
            daily/2026-11-07.md yes
            daily/2026-11-07/a.md yes
            daily/ideas.md yes
        "#]],
    );
}

#[test]
fn what_was_dreamed_at_its_present_content_does_not_wait() {
    let vault = temp_vault(
        "=== daily/2026-11-02/done.md\nx\n=== daily/2026-11-03/changed.md\nx\n=== daily/2026-11-04/failed.md\nx\n\
         === daily/2026-11-05/new.md\nx\n=== resource/2026-11-01/done.csv\nx\n=== resource/2026-11-01/new.csv\nx\n\
         === resource/undated.md\nx\n=== resource/old.md\n---\ndate: 2020-05-01\n---\nx\n",
    );
    let at: DateTime<Utc> = "2026-11-30T12:00:00Z".parse().unwrap();
    let entry =
        |content: &[u8], outcome| Dreamed { content: Version::of(content), at, by: "extractive".into(), outcome };
    let done = || DreamOutcome::Done { subjects: vec![], dropped: 0 };
    let failed = DreamOutcome::Pending { reason: "no answer".into(), tries: 2, not_before: None };
    let ledger = DreamLedger {
        version: DreamLedger::VERSION,
        computed_at: at,
        materials: [
            (path("daily/2026-11-02/done.md"), entry(b"x\n", done())),
            (path("daily/2026-11-03/changed.md"), entry(b"older\n", done())),
            (path("daily/2026-11-04/failed.md"), entry(b"x\n", failed)),
            (path("resource/2026-11-01/done.csv"), entry(b"whatever", done())),
            (path("daily/2026-11-01/gone.md"), entry(b"x\n", done())),
        ]
        .into(),
    };
    let open = Vault::open(vault.path()).unwrap();
    let snapshot = open.snapshot();
    let waiting = pending(&snapshot, Some(&ledger));
    for file in vault.files().keys().map(|file| path(file)) {
        assert_eq!(is_pending(&snapshot, Some(&ledger), &file), waiting.contains(&file), "{file}");
        assert!(is_pending(&snapshot, None, &file), "{file}");
    }
    let list: Vec<String> =
        waiting.iter().map(|p| format!("{} {p}", day(&snapshot, p).map_or("-".into(), |d| d.to_string()))).collect();
    expect![[r#"
        - resource/undated.md
        2020-05-01 resource/old.md
        2026-11-01 resource/2026-11-01/new.csv
        2026-11-03 daily/2026-11-03/changed.md
        2026-11-04 daily/2026-11-04/failed.md
        2026-11-05 daily/2026-11-05/new.md"#]]
    .assert_eq(&list.join("\n"));
    assert_eq!(pending(&snapshot, None), materials(&snapshot));
}
