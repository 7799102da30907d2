//! Faults that other memories had, as tests: each names its case.

use std::time::{Duration, Instant};

use dormouse_fixtures::temp_vault;
use dormouse_recall::{Direction, Filters, ListRequest, SearchRequest, TraverseRequest};

use super::{paths, recall, search};

#[test]
fn rcl_01_ordinary_text_never_breaks_the_query_parser() {
    let vault = temp_vault(
        "=== a.md\nWarm boot means cache:warm state. See [[Plan]] and C++ notes. don't panic, state-of-the-art.\n=== Plan.md\nplan\n=== b.md\nTODO: buy bread (lisp too)\n",
    );
    let recall = recall(&vault);
    let long = "wort ".repeat(2_000);
    let any = [
        "cache:warm",
        "he said \"go",
        "foo AND",
        "NOT",
        "(lisp",
        "C++",
        "[[Plan]]",
        "a\\",
        "-verify",
        "*",
        ">>>",
        "title:",
        "\"",
        "\"\"",
        "~",
        "node:{x}",
        "what is \"TODO:\" ?",
        "don't panic",
        "state-of-the-art",
        "https://example.invalid/a?b=c",
        "a OR OR b",
        "^2",
        "\n",
        "🙂",
        "",
        "-\"",
        "in:",
        "date:..",
        "tag:#",
        "folder:/",
        "prop:=",
        "\u{0}\u{301}",
        &long,
    ];
    for query in any {
        search(&recall, query);
    }
    for (query, top) in [
        ("cache:warm", &["a.md"][..]),
        ("(lisp", &["b.md"]),
        ("[[Plan]]", &["Plan.md", "a.md"]),
        ("what is \"TODO:\" ?", &["b.md"]),
        ("don't panic", &["a.md"]),
        ("state-of-the-art", &["a.md"]),
        ("C++", &["a.md"]),
    ] {
        let reply = search(&recall, query);
        assert!(paths(&reply).first().is_some_and(|first| top.contains(first)), "{query}: {:?}", paths(&reply));
    }
}

#[test]
fn rcl_02_words_inside_a_run_of_chinese_japanese_and_korean_are_found() {
    let vault = temp_vault(
        "=== zh.md\n昨天把缓存策略改成写穿模式\n=== ja.md\n夜に自転車修理をした\n=== ko.md\n어제자전거를고쳤다\n=== en.md\nbicycle\n",
    );
    let recall = recall(&vault);
    for (query, expected) in [
        ("缓存策略", &["zh.md"][..]),
        ("写穿", &["zh.md"]),
        ("缓存策略改成写穿", &["zh.md"]),
        ("自転車", &["ja.md"]),
        ("修理", &["ja.md"]),
        ("자전거", &["ko.md"]),
        ("自动", &[]),
        ("穿", &["zh.md"]),
    ] {
        assert_eq!(paths(&search(&recall, query)), expected, "{query}");
    }
}

#[test]
fn rcl_03_identifiers_are_split_alike_in_notes_and_queries() {
    let vault = temp_vault(
        "=== w.md\ncall merge_sorted_runs then loadPageByKey and decodeHTTPHeader\n=== p.md\npage about sorting runs of text\n",
    );
    let recall = recall(&vault);
    for query in [
        "merge_sorted_runs",
        "merge sorted",
        "loadPageByKey",
        "loadpagebykey",
        "page by key",
        "HTTP header",
        "decodeHTTPHeader",
    ] {
        assert_eq!(paths(&search(&recall, query)).first(), Some(&"w.md"), "{query}");
    }
}

#[test]
fn rcl_04_a_note_that_is_gone_never_comes_back() {
    let vault = temp_vault("=== m.md\nwalrus fact\n=== k.md\nwalrus too\n");
    let recall = recall(&vault);
    recall.sync().unwrap();
    vault.remove("m.md");
    assert_eq!(paths(&search(&recall, "walrus")), ["k.md"]);
    vault.write("k2.md", "walrus too\n");
    vault.remove("k.md");
    assert_eq!(paths(&search(&recall, "walrus")), ["k2.md"]);
}

#[test]
fn rcl_05_a_long_note_that_mentions_everything_does_not_beat_the_short_answer() {
    let mut long: Vec<String> = (0..20_000).map(|i| format!("w{:04}", i % 2_000 + 1)).collect();
    for (i, word) in ["reset", "router", "hold", "button"].into_iter().enumerate() {
        long[4_000 * (i + 1)] = word.to_owned();
    }
    let vault = temp_vault(
        "=== short.md\n# Reset the router\nHold the reset button for ten seconds.\n=== audit/report.md\nreset router hold button reset router\n",
    );
    vault.write("long.md", long.join(" "));
    let reply = search(&recall(&vault), "how to reset the router hold button");
    assert_eq!(paths(&reply), ["short.md", "long.md"]);
}

#[test]
fn rcl_06_filters_apply_before_the_limit() {
    let vault = temp_vault(
        "=== keep/a.md\na note that has one grape in a longer line\n=== keep/b.md\n---\ntags: [fruit]\n---\nanother long line about a grape\n",
    );
    for i in 1..=60 {
        vault.write(&format!("noise/{i:03}.md"), "grape grape grape");
    }
    let recall = recall(&vault);
    let count = |folder: Option<&str>, tags: &[&str], limit| {
        let filters = Filters {
            folder: folder.map(str::to_owned),
            tags: tags.iter().map(|t| (*t).to_owned()).collect(),
            ..Filters::default()
        };
        recall.search(&SearchRequest { filters, limit, quiet: true, ..SearchRequest::new("grape") }).unwrap().hits.len()
    };
    assert_eq!([count(Some("keep"), &[], 1), count(Some("keep"), &[], 5), count(None, &["fruit"], 5)], [1, 2, 1]);
    let list = recall.list(&ListRequest {
        filters: Filters { folder: Some("noise".to_owned()), ..Filters::default() },
        limit: 100,
        ..ListRequest::default()
    });
    let list = list.unwrap();
    assert_eq!((list.notes.len(), list.total), (60, 60));
}

#[test]
fn rcl_07_recency_goes_by_stated_dates_and_is_a_nudge() {
    let vault = temp_vault(
        "=== daily/2025/01/2025-01-01.md\nferry timetable checked\n=== daily/2026-05-01.md\nferry timetable checked\n=== digest/ferry.md\nferry timetable checked, full guide to the ferry timetable\n",
    );
    // As after a clone: every file is of the same moment.
    let cloned = std::time::UNIX_EPOCH + Duration::from_secs(1_777_680_000);
    for path in vault.files().into_keys() {
        std::fs::File::options().write(true).open(vault.path().join(path)).unwrap().set_modified(cloned).unwrap();
    }
    let request = SearchRequest {
        now: Some("2026-05-02T00:00:00Z".parse().unwrap()),
        quiet: true,
        ..SearchRequest::new("ferry timetable")
    };
    let reply = recall(&vault).search(&request).unwrap();
    let found = paths(&reply);
    let dailies: Vec<&&str> = found.iter().filter(|p| p.starts_with("daily/")).collect();
    assert_eq!(dailies, [&"daily/2026-05-01.md", &"daily/2025/01/2025-01-01.md"]);
    assert!(["digest/ferry.md", "daily/2026-05-01.md"].contains(&found[0]), "{found:?}");
}

#[test]
fn rcl_09_walks_end_at_cycles_diamonds_and_hubs() {
    let mut text = String::from(
        "=== root.md\n[[L01a]] [[L01b]]\n=== cyc1.md\n[[cyc2]]\n=== cyc2.md\n[[cyc1]]\n=== self.md\n![[self]] [[self]]\n=== p.md\n![[q]]\n=== q.md\n![[p#^x]]\n",
    );
    for i in 1..=20 {
        for side in ["a", "b"] {
            let next = if i < 20 { format!("[[L{:02}a]] [[L{:02}b]]", i + 1, i + 1) } else { String::from("end") };
            text.push_str(&format!("=== L{i:02}{side}.md\n{next}\n"));
        }
    }
    text.push_str("=== hub.md\n");
    (1..=5_000).for_each(|i| text.push_str(&format!("[[h{i:04}]]\n")));
    let vault = temp_vault(&text);
    (1..=5_000).for_each(|i| vault.write(&format!("h/h{i:04}.md"), "x"));
    let recall = recall(&vault);
    let walk = |from: &str, depth, limit| {
        let started = Instant::now();
        let request = TraverseRequest {
            from: from.to_owned(),
            depth,
            limit,
            direction: Direction::Out,
            ..TraverseRequest::default()
        };
        let reply = recall.traverse(&request).unwrap();
        assert!(started.elapsed() < Duration::from_secs(1), "{from}");
        (reply.notes.len(), reply.total, reply.truncated)
    };
    assert_eq!(walk("root", 100, 1_000), (41, 41, false));
    assert_eq!(walk("cyc1", 10, 1_000), (2, 2, false));
    assert_eq!(walk("self", 10, 1_000), (1, 1, false));
    assert_eq!(walk("p", 10, 1_000), (2, 2, false));
    assert_eq!(walk("hub", 1, 100), (100, 5_001, true));
}
