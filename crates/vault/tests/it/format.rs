//! The format page is true: every example of `docs/vault-format.md` is executed, and a vault that
//! was written in version 1 of the format stays readable.

mod page;

use std::fmt::Write as _;
use std::path::Path;

use chrono::DateTime;
use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::audit::{AuditEntry, append};
use dormouse_vault::daily::{DailyEvent, plan_event};
use dormouse_vault::meta::{
    AccessLog, Archived, Artefact, Communities, Cooldowns, Dismissed, DreamLedger, Recency, schemas,
};
use dormouse_vault::{
    AccessHit, DateSource, Document, LinkKind, Note, NotePath, Resolution, Settings, Snapshot, Vault,
};
use page::{Example, Question, example, examples, page, unescape};

fn path(text: &str) -> NotePath {
    NotePath::new(text).unwrap()
}

/// A `vault` block on disk. With `escaped` each file's name and content are unescaped.
fn on_disk(block: &Example) -> TempVault {
    if block.about != "escaped" {
        return temp_vault(&block.text);
    }
    let named = block.text.split_inclusive('\n').fold(String::new(), |out, line| match line.strip_prefix("=== ") {
        Some(name) => out + "=== " + &String::from_utf8(unescape(name)).unwrap(),
        None => out + line,
    });
    let folder = temp_vault(&named);
    for (name, content) in folder.files() {
        folder.write(&name, unescape(std::str::from_utf8(&content).unwrap()));
    }
    folder
}

/// What the vault has to say to a question.
fn answer(folder: &TempVault, snapshot: &Snapshot, block: &Question) -> String {
    let note = || {
        let found = snapshot.note(&path(&block.about));
        found.unwrap_or_else(|| panic!("line {}: no note {:?}", block.line, block.about))
    };
    match block.kind.as_str() {
        "links" if block.about.ends_with(".canvas") => {
            let text = folder.read(&block.about);
            links(snapshot, &path(&block.about), &Document::parse_canvas(&text), &text)
        }
        "links" => links(snapshot, &note().path, note().doc(), &String::from_utf8_lossy(&folder.files()[&block.about])),
        "edges" => edges(snapshot),
        "notes" => snapshot.notes().fold(String::new(), |out, n| out + &row(n) + "\n"),
        "files" => snapshot.files().fold(String::new(), |out, f| format!("{out}{f}\n")),
        "problems" => problems(snapshot),
        "blocks" => blocks(note().doc(), &folder.read(&block.about)),
        "tags" => note().doc().tags.join(", ") + "\n",
        "fields" => note().doc().fields.iter().fold(String::new(), |out, f| format!("{out}{} = {}\n", f.key, f.value)),
        other => panic!("line {}: no such question: {other}", block.line),
    }
}

/// Each link as written, with its key or predicate in front, and where it leads.
fn links(snapshot: &Snapshot, source: &NotePath, doc: &Document, text: &str) -> String {
    let mut out = String::new();
    for link in &doc.links {
        match (link.kind, &link.key, &link.predicate) {
            (LinkKind::Frontmatter, Some(key), _) => write!(out, "{key}: ").unwrap(),
            (_, _, Some(predicate)) => write!(out, "{predicate}:: ").unwrap(),
            _ => {}
        }
        write!(out, "{} -> ", &text[link.span.clone()]).unwrap();
        match snapshot.resolve_link(source, link) {
            Resolution::File { path, ambiguous } => {
                write!(out, "{path}").unwrap();
                let anchored = !link.subpath.is_empty();
                match snapshot.anchor_line(&path, &link.subpath).filter(|_| anchored) {
                    Some(line) => write!(out, ":{line}").unwrap(),
                    None if anchored => out.push_str(", broken anchor"),
                    None => {}
                }
                out.push_str(if ambiguous { ", one of several" } else { "" });
            }
            Resolution::Unresolved(key) => write!(out, "nothing, counted as {key}").unwrap(),
            _ => out.push_str("outside"),
        }
        out.push('\n');
    }
    out
}

fn edges(snapshot: &Snapshot) -> String {
    let mut out = String::new();
    for edge in snapshot.graph().edges() {
        let predicate = edge.predicate.map_or(String::new(), |p| format!(" as {p}"));
        writeln!(out, "{} -> {}{predicate}", edge.source, edge.target).unwrap();
    }
    out
}

/// `path | layer | name | date | …`
fn row(note: &Note) -> String {
    let bucket = note.bucket.map_or(String::new(), |b| format!("/{b}"));
    let date = match note.date {
        Some(date) if date.source == DateSource::Mtime => "mtime".to_owned(),
        Some(date) => {
            let moment = date.moment.map_or(date.day.to_string(), |m| m.to_rfc3339());
            format!("{moment} from {}", if date.source == DateSource::Path { "path" } else { "property" })
        }
        None => "no date".to_owned(),
    };
    let mut out = format!("{} | {}{bucket} | {} | {date}", note.path, note.layer, note.name);
    if !note.aliases.is_empty() {
        write!(out, " | also {}", note.aliases.join("; ")).unwrap();
    }
    if let Some(original) = &note.conflict_of {
        write!(out, " | copy of {original}").unwrap();
    }
    out
}

fn problems(snapshot: &Snapshot) -> String {
    let mut out = String::new();
    for (file, problem) in snapshot.problems() {
        let line = problem.line.map_or(String::new(), |n| format!(":{n}"));
        let kind = serde_json::to_value(problem.kind).unwrap();
        writeln!(out, "{file}{line} {}", kind.as_str().unwrap()).unwrap();
    }
    out
}

/// `first-last kind ^id, under heading`
fn blocks(doc: &Document, text: &str) -> String {
    let mut out = String::new();
    for block in &doc.blocks {
        let (first, last) = block.lines;
        let id = block.id.as_ref().map_or(String::new(), |id| format!(" ^{id}"));
        let under = block.heading.map_or(String::new(), |h| format!(", under {}", doc.headings[h as usize].text));
        assert!(text.get(block.span.clone()).is_some());
        writeln!(out, "{first}-{last} {:?}{id}{under}", block.kind).unwrap();
    }
    out
}

/// What is wrong with the examples of `page`, as diffs; empty when all are true.
fn faults(page: &str) -> String {
    let mut out = String::new();
    for block in examples(page) {
        match block.kind.as_str() {
            "json" | "jsonl" | "toml" => {}
            "vault" => out.push_str(&faults_of(&block)),
            other => panic!("line {}: no such kind of block: {other}", block.line),
        }
    }
    out
}

fn faults_of(block: &Example) -> String {
    let escaped = block.about == "escaped";
    let folder = on_disk(block);
    let vault = Vault::open(folder.path()).unwrap();
    let mut out = String::new();
    for question in &block.questions {
        let actual = answer(&folder, &vault.snapshot(), question);
        let expected = match escaped {
            true => String::from_utf8(unescape(&question.expected)).unwrap(),
            false => question.expected.clone(),
        };
        if actual != expected {
            let diff = similar::TextDiff::from_lines(&expected, &actual);
            let header = format!("line {}: {} {}", question.line, question.kind, question.about);
            write!(out, "{}", diff.unified_diff().header(&header, "what is read")).unwrap();
        }
    }
    out
}

#[test]
fn every_example_of_the_format_page_is_true() {
    let faults = faults(&page());
    assert!(faults.is_empty(), "docs/vault-format.md is not true:\n{faults}");
}

#[test]
fn an_example_that_is_not_true_is_reported_with_its_line() {
    let page = "x\n```vault\n=== a.md\n[[b]]\n=== b.md\n>>> edges\na.md -> c.md\n```\n";
    let faults = faults(page);
    assert!(faults.contains("line 6: edges"), "{faults}");
    assert!(faults.contains("-a.md -> c.md") && faults.contains("+a.md -> b.md"), "{faults}");
}

/// The example, read as `T` and written again, is the same JSON.
#[track_caller]
fn round_trips<T: Artefact>() {
    let block = example("json", &format!("meta/{}", T::FILE));
    let stated: serde_json::Value = serde_json::from_str(&block.text).unwrap();
    let value: T = serde_json::from_str(&block.text).unwrap();
    assert_eq!(serde_json::to_value(&value).unwrap(), stated, "{}", T::FILE);
    assert_eq!(stated["version"], T::VERSION, "{}", T::FILE);
    let folder = temp_vault("");
    folder.write(&block.about, &block.text);
    let loaded = Vault::open(folder.path()).unwrap().meta::<T>();
    assert!(loaded.value.is_some() && loaded.problem.is_none(), "{}", T::FILE);
}

#[test]
fn every_artefact_has_an_example_that_comes_back_as_it_was() {
    round_trips::<Communities>();
    round_trips::<Recency>();
    round_trips::<Archived>();
    round_trips::<AccessLog>();
    round_trips::<DreamLedger>();
    round_trips::<Cooldowns>();
    round_trips::<Dismissed>();
    let shown = examples(&page());
    for file in schemas().keys() {
        let name = format!("meta/{file}");
        assert!(shown.iter().any(|e| e.kind == "json" && e.about == name), "{name} has no example");
    }
}

#[test]
fn the_spool_example_is_read_whole_and_written_so() {
    let block = example("jsonl", "meta/access_spool.jsonl");
    let folder = temp_vault("");
    folder.write(&block.about, &block.text);
    let spooled = Vault::open(folder.path()).unwrap().spool().read().unwrap();
    assert_eq!((spooled.hits.len(), spooled.skipped), (block.text.lines().count(), 0));
    let written = temp_vault("");
    Vault::open(written.path()).unwrap().spool().append(&spooled.hits).unwrap();
    assert_eq!(written.read(&block.about), block.text);
    assert!(spooled.hits.iter().all(|hit: &AccessHit| hit.path.is_markdown()));
}

#[test]
fn the_settings_example_is_understood_without_a_problem() {
    let (settings, problems) = Settings::parse(&example("toml", "dormouse.toml").text);
    assert!(problems.is_empty(), "{problems:?}");
    let layout = settings.layout;
    assert_eq!((layout.daily.as_str(), layout.digest.as_str()), ("Journal", "Memory/Digest"));
}

#[test]
fn the_event_example_is_what_the_daily_writer_writes() {
    let event = DailyEvent {
        at: DateTime::parse_from_rfc3339("2026-11-30T14:05:09+08:00").unwrap(),
        name: "Chose BM25".into(),
        description: "Vectors wait until a person asks for them.".into(),
        properties: vec![("session".into(), "s-17".into())],
        blocks: ["We decided to search by words first.", "- no model", "- no network", "```\nrg --stats\n```"]
            .map(str::to_owned)
            .into(),
    };
    let folder = temp_vault("");
    let vault = Vault::open(folder.path()).unwrap();
    let (_, set) = plan_event(&event, &vault.snapshot());
    vault.commit(&set).unwrap();
    assert_eq!(folder.dump(), example("vault", "event").text);
}

#[test]
fn the_audit_example_is_what_a_stage_appends() {
    let folder = temp_vault("");
    let vault = Vault::open(folder.path()).unwrap();
    let entry = AuditEntry {
        page: "dream",
        at: DateTime::parse_from_rfc3339("2026-11-30T14:06:00+08:00").unwrap(),
        title: "Chose BM25".into(),
        body: "- created [[digest/wiki/search|Search]]: 1 fact(s), 0 new link(s)".into(),
    };
    vault.commit(&append(&[entry], vault.layout())).unwrap();
    assert_eq!(folder.dump(), example("vault", "audit").text);
}

/// The vault in `tests/data/v1` was written in version 1 of the format. Later versions open it
/// with the same result; it is never changed, a new version gets a folder of its own.
#[test]
fn a_vault_of_format_version_1_opens_without_a_problem() {
    let folder = temp_vault("");
    dormouse_fixtures::copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/v1"), folder.path());
    let vault = Vault::open(folder.path()).unwrap();
    assert_eq!(vault.problems(), []);
    let snapshot = vault.snapshot();
    assert_eq!(problems(&snapshot), "");
    expect_test::expect![[r#"
        Projects/Dormouse.md | other | Dormouse | mtime | also The sleeper
        Projects/Reading list.md | other | Reading list | mtime
        daily/2026-11-02.md | daily | 2026-11-02 | 2026-11-02 from path
        daily/2026-11-02/chose-bm25.md | daily | Chose BM25 | 2026-11-02T14:05:09+08:00 from property
        daily/2026-11-02/每周回顾.md | daily | 每周回顾 | 2026-11-02T17:00:00+08:00 from property
        digest/personal/short-reports.md | digest/personal | Short reports | 2026-11-03 from property
        digest/procedure/每周回顾.md | digest/procedure | 每周回顾 | 2026-11-03 from property
        digest/wiki/search-index.md | digest/wiki | Search: the index | mtime
        digest/wiki/search.md | digest/wiki | Search | 2026-11-02 from property
        resource/2026-11-02/minutes.md | resource | Minutes | 2026-11-02 from path
    "#]]
    .assert_eq(&snapshot.notes().fold(String::new(), |out, n| out + &row(n) + "\n"));
    expect_test::expect![[r#"
        Projects/Dormouse.md -> Projects/Reading list.md
        Projects/Dormouse.md -> digest/wiki/search.md
        Projects/Reading list.md -> Projects/Dormouse.md
        Projects/Reading list.md -> resource/2026-11-02/measurements.csv
        daily/2026-11-02.md -> daily/2026-11-02/chose-bm25.md
        daily/2026-11-02.md -> daily/2026-11-02/每周回顾.md
        daily/2026-11-02/chose-bm25.md -> resource/2026-11-02/measurements.csv
        digest/personal/short-reports.md -> daily/2026-11-02/chose-bm25.md as derived_from
        digest/procedure/每周回顾.md -> daily/2026-11-02/每周回顾.md as derived_from
        digest/wiki/search-index.md -> digest/wiki/search.md as part_of
        digest/wiki/search-index.md -> resource/2026-11-02/minutes.md as derived_from
        digest/wiki/search.md -> daily/2026-11-02/chose-bm25.md as derived_from
        digest/wiki/search.md -> digest/wiki/search-index.md
        digest/wiki/search.md -> resource/2026-11-02/minutes.md as derived_from
    "#]]
    .assert_eq(&edges(&snapshot));
    expect_test::expect![[r#"
        audit/2026-11-02/dream.md
        audit/2026-11-02/health.md
        dormouse.toml
        meta/access_log.json
        meta/access_spool.jsonl
        meta/archived.json
        meta/communities.json
        meta/cooldowns.json
        meta/dreamed.json
        meta/recency.json
        resource/2026-11-02/measurements.csv
    "#]]
    .assert_eq(&snapshot.files().fold(String::new(), |out, f| format!("{out}{f}\n")));
    expect_test::expect![[r#"
        communities 1
        recency 2
        archived 1
        access log 2
        dreamed 2
        cooldowns 2
        spool 2
    "#]]
    .assert_eq(&counts(&vault));
    assert!(snapshot.unresolved().is_empty());
}

/// How many entries each derived signal has; a problem with one stops the test.
fn counts(vault: &Vault) -> String {
    fn load<T: Artefact>(vault: &Vault) -> T {
        let loaded = vault.meta::<T>();
        assert!(loaded.problem.is_none(), "{:?}", loaded.problem);
        loaded.value.unwrap_or_else(|| panic!("no {}", T::FILE))
    }
    let spooled = vault.spool().read().unwrap();
    assert_eq!(spooled.skipped, 0);
    format!(
        "communities {}\nrecency {}\narchived {}\naccess log {}\ndreamed {}\ncooldowns {}\nspool {}\n",
        load::<Communities>(vault).communities.len(),
        load::<Recency>(vault).notes.len(),
        load::<Archived>(vault).notes.len(),
        load::<AccessLog>(vault).notes.len(),
        load::<DreamLedger>(vault).materials.len(),
        load::<Cooldowns>(vault).notes.len(),
        spooled.hits.len(),
    )
}
