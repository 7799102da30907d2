//! Each signal can decide a query, can be switched off, and is explained.

use dormouse_fixtures::temp_vault;
use dormouse_recall::{SearchRequest, SignalSwitches};
use expect_test::expect;

use super::{paths, recall, search};

/// Searches with every signal and without one; the first must put `wins` first, the second not.
fn check(vault: &str, query: &str, signal: &str, wins: &str) {
    let vault = temp_vault(vault);
    let recall = recall(&vault);
    let ask = |signals| {
        recall
            .search(&SearchRequest {
                signals,
                quiet: true,
                include_archived: false,
                ..SearchRequest::new(query)
            })
            .unwrap()
    };
    let with = ask(SignalSwitches::ALL);
    let without = ask(SignalSwitches::ALL.without(signal));
    assert_eq!(
        paths(&with).first(),
        Some(&wins),
        "with {signal}: {:?}",
        paths(&with)
    );
    assert_ne!(
        paths(&without).first(),
        Some(&wins),
        "without {signal}: {:?}",
        paths(&without)
    );
}

#[test]
fn neighbours_decide() {
    check(
        "=== a.md\nThe walrus came.\n\nx\n\ny\n\nz\n\nA walrus again.\n=== b.md\nThe walrus came.\n\nA walrus again.\n\nx\n\ny\n\nz\n",
        "walrus",
        "neighbours",
        "b.md",
    );
}

#[test]
fn the_note_decides() {
    check(
        "=== a.md\nThe walrus came.\n=== b.md\nThe walrus came.\n\nx\n\ny\n\nz\n\nA walrus again.\n",
        "walrus",
        "note",
        "b.md",
    );
}

#[test]
fn the_form_decides() {
    check(
        "=== a.md\nDid the ferry leave?\n=== b.md\nthe ferry did leave\n",
        "ferry leave",
        "form",
        "b.md",
    );
}

#[test]
fn the_layer_decides() {
    check(
        "=== a.md\nferry timetable\n=== digest/wiki/b.md\nferry timetable\n",
        "ferry timetable",
        "layer",
        "digest/wiki/b.md",
    );
}

#[test]
fn inbound_links_decide() {
    check(
        "=== a.md\nferry timetable\n=== b.md\nferry timetable\n=== x.md\n[[b]]\n=== y.md\n[[b]]\n",
        "ferry timetable",
        "centrality",
        "b.md",
    );
}

#[test]
fn the_community_decides() {
    let meta = r#"{"version":1,"computed_at":"2026-11-29T00:00:00Z","seed":1,"resolution":1.0,"modularity":0.5,"communities":[{"id":1,"label":"ferries","terms":[],"hub":"digest/wiki/c.md","stability":1.0,"members":["digest/wiki/b.md","digest/wiki/c.md"]}]}"#;
    check(
        &format!(
            "=== digest/wiki/a.md\nferry timetable\n=== digest/wiki/b.md\nferry timetable\n=== digest/wiki/c.md\nferry\n=== meta/communities.json\n{meta}\n"
        ),
        "ferry timetable",
        "community",
        "digest/wiki/b.md",
    );
}

#[test]
fn freshness_decides() {
    let meta = r#"{"version":1,"computed_at":"2026-11-29T00:00:00Z","notes":{"digest/wiki/a.md":{"score":0.2,"last_active":"2026-09-01","hits_30":0},"digest/wiki/b.md":{"score":0.9,"last_active":"2026-11-29","hits_30":3}}}"#;
    check(
        &format!(
            "=== digest/wiki/a.md\nferry timetable\n=== digest/wiki/b.md\nferry timetable\n=== meta/recency.json\n{meta}\n"
        ),
        "ferry timetable",
        "recency",
        "digest/wiki/b.md",
    );
}

#[test]
fn links_decide() {
    let vault = temp_vault(
        "=== a.md\nferry\n=== b.md\nferry\n=== digest/wiki/d.md\nThe ferry timetable of the harbour.\n\nderived_from:: [[b]]\n=== x.md\n[[a]]\n",
    );
    let recall = recall(&vault);
    let order = |signals| {
        let reply = recall
            .search(&SearchRequest {
                signals,
                quiet: true,
                ..SearchRequest::new("ferry timetable harbour")
            })
            .unwrap();
        let found = paths(&reply)
            .into_iter()
            .filter(|p| ["a.md", "b.md"].contains(p));
        found.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(order(SignalSwitches::ALL), ["b.md", "a.md"]);
    assert_eq!(
        order(SignalSwitches::ALL.without("links")),
        ["a.md", "b.md"]
    );
}

#[test]
fn digests_lend_their_words_to_the_block_that_they_cite() {
    check(
        "=== daily/2026-11-01/a.md\nWe saw the film. ^b1\n\nIt was long. ^b2\n=== daily/2026-11-02/b.md\nJo saw a film by the river. ^b1\n=== digest/wiki/jo.md\n- Jo loves the Harry Potter film. (derived_from:: [[daily/2026-11-01/a#^b1]])\n",
        "Jo Harry Potter film in:daily",
        "digests",
        "daily/2026-11-01/a.md",
    );
}

#[test]
fn archived_notes_sleep_unless_asked_for() {
    let vault = temp_vault(
        "=== digest/wiki/a.md\nferry\n=== meta/archived.json\n{\"version\":1,\"computed_at\":\"2026-01-01T00:00:00Z\",\"notes\":{\"digest/wiki/a.md\":{\"since\":\"2026-01-01\",\"score\":0.1}}}\n",
    );
    let recall = recall(&vault);
    assert!(search(&recall, "ferry").hits.is_empty());
    let awake = recall
        .search(&SearchRequest {
            include_archived: true,
            ..SearchRequest::new("ferry")
        })
        .unwrap();
    assert!(awake.hits[0].archived);
}

#[test]
fn the_factors_multiply_to_the_score() {
    let vault =
        temp_vault("=== digest/wiki/a.md\nThe ferry leaves at nine.\n=== b.md\nferry [[a]]\n");
    let reply = recall(&vault)
        .search(&SearchRequest {
            explain: true,
            ..SearchRequest::new("ferry nine")
        })
        .unwrap();
    for hit in &reply.hits {
        let explain = hit.explain.as_ref().unwrap();
        let product: f64 = explain.factors.iter().map(|f| f.value).product();
        let sum: f64 = explain.parts.iter().map(|p| p.value).sum();
        assert!(
            (product - hit.score).abs() < 1e-9 && (sum - explain.factors[0].value).abs() < 1e-9,
            "{explain:?}"
        );
        assert!(
            explain
                .factors
                .iter()
                .skip(1)
                .all(|f| (0.5..=2.0).contains(&f.value))
        );
    }
    let names: Vec<&str> = reply.hits[0]
        .explain
        .as_ref()
        .unwrap()
        .factors
        .iter()
        .map(|f| f.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "text",
            "speaker",
            "layer",
            "centrality",
            "community",
            "recency"
        ]
    );
}

#[test]
fn operators_and_phrases_narrow_the_answer() {
    let vault = temp_vault(
        "=== a.md\n---\ntags: [sea]\ndate: 2026-11-05\n---\nThe red ferry leaves.\n=== b.md\n---\ndate: 2026-10-05\n---\nThe ferry is red and leaves.\n=== digest/personal/c.md\nA ferry, not the tram.\n",
    );
    let recall = recall(&vault);
    for (query, expected) in [
        ("\"red ferry\"", &["a.md"][..]),
        ("ferry -red", &["digest/personal/c.md"]),
        ("ferry tag:sea", &["a.md"]),
        ("ferry date:2026-11..", &["a.md"]),
        ("ferry bucket:personal", &["digest/personal/c.md"]),
        ("in:digest ferry", &["digest/personal/c.md"]),
        ("date:2026", &["a.md", "b.md"]),
        ("ferry date:..2026-10", &["b.md"]),
    ] {
        assert_eq!(paths(&search(&recall, query)), expected, "{query}");
    }
}

#[test]
fn one_text_in_two_notes_is_one_answer() {
    let text = "The ferry to the island leaves at nine in the morning.";
    let vault = temp_vault(&format!(
        "=== a.md\n{text}\n=== copy/b.md\n{text}\n=== c.md\nferry island\n"
    ));
    let reply = search(&recall(&vault), "ferry island morning");
    assert_eq!(paths(&reply), ["a.md", "c.md"]);
    assert_eq!(
        reply.hits[0]
            .also_at
            .iter()
            .map(|p| p.as_str())
            .collect::<Vec<_>>(),
        ["copy/b.md"]
    );
}

#[test]
fn passages_say_where_they_stand_and_what_matched() {
    let vault = temp_vault(
        "=== a.md\n# Sea\n\n## Ferries\n\n- The **ferry** leaves at nine. ^b3\n\n- 渡轮九点出发\n",
    );
    let recall = recall(&vault);
    let show = |query: &str| {
        let reply = search(&recall, query);
        let passage = &reply.hits[0].passages[0];
        let marked: Vec<&str> = passage
            .highlights
            .iter()
            .map(|r| &passage.text[r.clone()])
            .collect();
        format!(
            "{:?} {:?} {:?} {:?} {marked:?}\n",
            passage.heading_path, passage.lines, passage.block_id, passage.text
        )
    };
    expect![[r#"
        ["Sea", "Ferries"] (5, 5) Some("b3") "- The **ferry** leaves at nine." ["ferry", "leaves"]
        ["Sea", "Ferries"] (7, 7) None "- 渡轮九点出发" ["渡轮"]
    "#]]
    .assert_eq(&(show("ferries leaving") + &show("渡轮")));
}

#[test]
fn a_word_with_one_slip_is_found_and_said() {
    let vault = temp_vault("=== a.md\nThe lighthouse keeper.\n");
    let reply = search(&recall(&vault), "lighthuse");
    assert_eq!(paths(&reply), ["a.md"]);
    assert_eq!(reply.notices.len(), 1);
}
