//! `status`, `doctor` and `archive`: the panel, what has to be done, and who sleeps.

use dormouse_fixtures::temp_vault;
use serde_json::Value;

use crate::program::run;

const DAY: &str = "=== daily/2026-11-30/e.md\nx\n";
const FROM: &str = "derived_from:: [[daily/2026-11-30/e]]";
const DOCS: &str = include_str!("../../../../docs/consolidate.md");

#[test]
fn doctor_exits_1_when_a_person_must_act_and_says_what_to_do_next() {
    let vault = temp_vault(&format!("{DAY}=== digest/wiki/a.md\n[[b]]\n{FROM}\n=== digest/wiki/b.md\n{FROM}\n"));
    let ran = run(vault.path(), &["doctor"]);
    assert_eq!((ran.code, ran.stdout.lines().last()), (0, Some("Nothing needs you.")), "{}", ran.stdout);
    let before = vault.files();

    vault.write("digest/wiki/b.md", "[[nowhere]]\nderived_from:: [[daily/2026-11-30/gone]]\n");
    for n in 0..30 {
        vault.write(&format!("digest/wiki/n{n:02}.md"), format!("[[a]] [[missing {n}]]\n{FROM}\n"));
    }
    let ran = run(vault.path(), &["doctor", "--limit", "3"]);
    assert_eq!(ran.code, 1);
    let expected = "broken provenance: 2 severe\n  digest/wiki/b.md: names no source that exists: add `derived_from:: [[…]]`\n  digest/wiki/b.md:2: its source ";
    assert!(ran.stdout.starts_with(expected), "{}", ran.stdout);
    assert!(ran.stdout.contains("broken links: 31 warning\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\n  and 28 more\n  → write the note, or correct the link"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("33 things need you.\n"), "{}", ran.stdout);
    let json = run(vault.path(), &["doctor", "--json", "--limit", "3"]).json();
    assert_eq!((json["act"].as_u64(), json["healthy"].as_bool()), (Some(33), Some(false)));
    assert_eq!(json["kinds"][1]["findings"].as_array().map(Vec::len), Some(3));
    // It only looked.
    assert!(before.keys().all(|path| vault.exists(path)) && !vault.exists("audit") && !vault.exists("meta"));
}

#[test]
fn a_task_that_fails_is_something_to_act_on() {
    let vault = temp_vault(&format!("{DAY}=== digest/wiki/a.md\n[[b]]\n{FROM}\n=== digest/wiki/b.md\n{FROM}\n"));
    vault.write("meta/communities.json/in-the-way", "x");
    assert_eq!(run(vault.path(), &["consolidate", "--task", "communities"]).code, 1);
    let json = run(vault.path(), &["doctor", "--json"]).json();
    let what = json["troubles"][0]["what"].as_str().unwrap_or_default();
    assert!(what.starts_with("communities failed at its last run, "), "{json}");
}

#[test]
fn the_panel_has_the_stages_the_signals_and_the_findings() {
    let vault = temp_vault(&format!(
        "{DAY}=== digest/wiki/a.md\n[[b]]\n{FROM}\n=== digest/wiki/b.md\n{FROM}\n\
         === digest/wiki/a.sync-conflict-20261130-120000-ABCDEFG.md\n# A\n=== digest/wiki/bad.md\n---\nname: [x\n---\n{FROM}\n"
    ));
    vault.write("digest/wiki/latin.md", b"caf\xe9\n");
    assert_eq!(run(vault.path(), &["consolidate", "--task", "time", "--task", "communities"]).code, 0);
    run(vault.path(), &["search", "x"]);
    let ran = run(vault.path(), &["status"]);
    assert_eq!(ran.code, 0);
    for said in [
        "\nStages\n  dream              never\n",
        "  time               just now\n",
        "  health             never\n",
        "  recall             just now\n",
        "\n  recency.json       fresh              just now\n",
        "\n  dreamed.json       missing            `dormouse dream`\n",
        "\n  conflict copies                 1  `dormouse doctor`\n",
        "\n  malformed frontmatter           1  `dormouse doctor`\n",
        "\n  problems of files               1  `dormouse doctor`\n",
        "\n  broken provenance               0\n",
    ] {
        assert!(ran.stdout.contains(said), "{said:?} is not in\n{}", ran.stdout);
    }
    // What another vault's signals say is seen.
    let other = temp_vault(&format!("{DAY}=== digest/wiki/c.md\n{FROM}\n"));
    for file in ["communities.json", "recency.json"] {
        other.write(&format!("meta/{file}"), vault.read(&format!("meta/{file}")));
    }
    let json = run(other.path(), &["status", "--json"]).json();
    let stale: Vec<&Value> = json["signals"].as_array().unwrap().iter().filter(|s| s["state"] == "stale").collect();
    assert_eq!(stale.len(), 2, "{json}");
    assert!(stale.iter().all(|s| s["gone"].as_u64() >= Some(2) && s["lacks"] == 1), "{json}");
}

#[test]
fn every_field_of_the_json_is_named_in_the_docs() {
    let vault = temp_vault(&format!("{DAY}=== digest/wiki/a.md\n[[b]]\n"));
    for (command, heading) in [("status", "### `dormouse status --json`"), ("doctor", "### `dormouse doctor --json`")] {
        let section = DOCS.split_once(heading).unwrap().1;
        let section = section.split("\n### ").next().unwrap();
        let json = run(vault.path(), &[command, "--json"]).json();
        let mut fields: Vec<&String> = json.as_object().unwrap().keys().collect();
        for list in ["signals", "kinds", "problems", "troubles"] {
            let first = json.get(list).and_then(|l| l.get(0)).and_then(Value::as_object);
            fields.extend(first.into_iter().flat_map(|first| first.keys()));
        }
        for field in fields {
            let named = [format!("`{field}`"), format!("{{{field}"), format!(", {field}")];
            assert!(named.iter().any(|n| section.contains(n.as_str())), "{field} of {command} is not in the docs");
        }
    }
}

#[test]
fn a_sleeper_is_listed_with_its_reason_and_woken_by_a_person() {
    let mut text = format!("{DAY}=== digest/wiki/fresh.md\n---\ncreated: 2026-11-30\n---\n{FROM}\n");
    for n in 0..60 {
        text += &format!("=== digest/wiki/old{n:02}.md\n---\nname: Old {n:02}\ncreated: 2020-01-01\n---\nx\n");
    }
    let vault = temp_vault(&text);
    let notes = vault.dump_if(|p| p.starts_with("digest/"));
    assert_eq!(run(vault.path(), &["archive", "list"]).stdout, "No digest sleeps.\n");
    run(vault.path(), &["consolidate", "--task", "time"]);
    let ran = run(vault.path(), &["archive", "list", "--limit", "2"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 5));
    assert!(
        ran.stdout.contains("Old 00  digest/wiki/old00.md\n            not written or used for "),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.ends_with("and 58 more; `--limit N` shows more of them\n"), "{}", ran.stdout);
    let json = run(vault.path(), &["archive", "list", "--json"]).json();
    assert_eq!((json["asleep"].as_u64(), json["notes"].as_array().map(Vec::len)), (Some(60), Some(50)));

    let ran = run(vault.path(), &["archive", "thaw", "old07", "digest/wiki/old08.md", "fresh"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (
            0,
            "digest/wiki/old07.md is awake again\ndigest/wiki/old08.md is awake again\ndigest/wiki/fresh.md was awake\n"
        ),
        "{}",
        ran.stderr
    );
    // The next run respects it, and so does one without any cache.
    vault.remove(".dormouse/consolidate/looked");
    vault.remove(".dormouse/consolidate.json");
    run(vault.path(), &["consolidate", "--task", "time"]);
    let archived = vault.read("meta/archived.json");
    assert!(!archived.contains("old07") && !archived.contains("old08") && archived.contains("old09"));
    assert_eq!(vault.dump_if(|p| p.starts_with("digest/")), notes);

    for (args, code, error) in [
        (["archive", "thaw", "nobody", "--json"], 3, "not-found"),
        (["archive", "thaw", "daily/2026-11-30/e.md", "--json"], 7, "not-a-note"),
    ] {
        let ran = run(vault.path(), &args);
        assert_eq!((ran.code, ran.json()["error"]["code"].as_str()), (code, Some(error)), "{}", ran.stdout);
    }
}
