//! Each signal can decide a query, can be switched off, and is explained.

use dormouse_fixtures::temp_vault;
use std::sync::Arc;

use dormouse_recall::{Centrality, Recall, RecallConfig, SearchRequest, SignalSwitches, Spreading};
use dormouse_vault::Vault;
use expect_test::expect;

use super::{paths, recall, search};

/// Searches with every signal and without one; the first must put `wins` first, the second not.
fn check(vault: &str, query: &str, signal: &str, wins: &str) {
    check_among(SignalSwitches::ALL, vault, query, signal, wins);
}

/// The same among some of the signals.
fn check_among(signals: SignalSwitches, vault: &str, query: &str, signal: &str, wins: &str) {
    let vault = temp_vault(vault);
    let recall = recall(&vault);
    let ask = |signals| {
        recall
            .search(&SearchRequest { signals, quiet: true, include_archived: false, ..SearchRequest::new(query) })
            .unwrap()
    };
    let with = ask(signals);
    let without = ask(signals.without(signal));
    assert_eq!(paths(&with).first(), Some(&wins), "with {signal}: {:?}", paths(&with));
    assert_ne!(paths(&without).first(), Some(&wins), "without {signal}: {:?}", paths(&without));
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
    check_among(
        SignalSwitches::ALL.without("support"),
        "=== a.md\nThe walrus came.\n=== b.md\nThe walrus came.\n\nx\n\ny\n\nz\n\nA walrus again.\n",
        "walrus",
        "note",
        "b.md",
    );
}

#[test]
fn further_blocks_decide() {
    check_among(
        SignalSwitches::ALL.without("note"),
        "=== a.md\nThe walrus came.\n=== b.md\nThe walrus came.\n\nx\n\ny\n\nz\n\nA walrus again.\n",
        "walrus",
        "support",
        "b.md",
    );
}

#[test]
fn a_date_in_the_query_decides() {
    let notes = "=== a.md\nThe ferry was late.\n=== daily/2026-05-03/b.md\nThe ferry was late.\n=== daily/2026-09-03/c.md\nThe ferry was late, late, late.\n";
    for query in ["late ferry on 2 May 2026", "late ferry in May", "ferry late 2026年5月2日"] {
        let base = SignalSwitches::ALL.without("layer").without("recency");
        check_among(base, notes, query, "dates", "daily/2026-05-03/b.md");
    }
    // A query without a date has no such part.
    let vault = temp_vault(notes);
    let reply =
        recall(&vault).search(&SearchRequest { explain: true, ..SearchRequest::new("may the ferry be late") }).unwrap();
    assert!(reply.hits.iter().all(|hit| hit.explain.as_ref().unwrap().parts.iter().all(|part| part.name != "date")));
}

#[test]
fn an_article_without_a_title_is_found_by_what_it_begins_with() {
    let filler = "It is told of in many books, and nobody has ever seen one near the coast in summer. ".repeat(5);
    let about = format!("The walrus is a big animal. {filler}");
    let mentions = format!("The seal is a big animal. Like the walrus, it swims. {filler}");
    let vault = temp_vault(&format!("=== a.md\n{mentions}\n=== b.md\n{about}\n"));
    assert_eq!(paths(&search(&recall(&vault), "walrus")), ["b.md", "a.md"]);
    // With a title, the title says it.
    let vault = temp_vault(&format!("=== a.md\n# Walrus\n\n{mentions}\n=== b.md\n# Seal\n\n{about}\n"));
    assert_eq!(paths(&search(&recall(&vault), "walrus")), ["a.md", "b.md"]);
}

#[test]
fn a_question_for_a_kind_prefers_its_members() {
    let vault = temp_vault("=== a.md\nAnn has a garden.\n=== b.md\nAnn has a dog.\n=== c.md\nIt rained.\n");
    assert_eq!(paths(&search(&recall(&vault), "what pets does Ann have?")), ["b.md", "a.md"]);
    // A kind alone makes no note a result.
    assert!(paths(&search(&recall(&vault), "what creatures?")).is_empty());
}

const TALK: &str = "=== ann-bob.md\n**Ann**: The ferry was late.\n\n**Bob**: Was it?\n\n**Ann**: Yes.\n\n**Bob**: The ferry is slow.\n\n**Ann**: I know.\n\n**Bob**: Good.\n=== cat-dan.md\n**Cat**: The ferry was late.\n\n**Dan**: Was it?\n\n**Cat**: Yes.\n\n**Dan**: The ferry is slow.\n\n**Cat**: I know.\n\n**Dan**: Good.\n";

/// The factors and parts of the first hit that a query gives, by name.
fn explained(vault: &str, query: &str) -> (String, std::collections::BTreeMap<String, f64>) {
    let vault = temp_vault(vault);
    let reply = recall(&vault).search(&SearchRequest { explain: true, ..SearchRequest::new(query) }).unwrap();
    let hit = &reply.hits[0];
    let explain = hit.explain.as_ref().unwrap();
    let named = explain.factors.iter().chain(&explain.parts).map(|named| (named.name.clone(), named.value));
    (hit.passages[0].text.clone(), named.collect())
}

#[test]
fn who_speaks_counts_where_somebody_is_named_and_nowhere_else() {
    let (text, named) = explained(TALK, "Dan ferry");
    assert_eq!((text.as_str(), named["speaker"], named["cast"]), ("**Dan**: The ferry is slow.", 1.8, 1.5));
    // The query is about Cat, not about what is Dan's.
    let (text, named) = explained(TALK, "what did Cat say of Dan's ferry");
    assert_eq!((text.as_str(), named["speaker"], named["cast"]), ("**Cat**: The ferry was late.", 1.4, 1.5));
    let (_, named) = explained(TALK, "ferry");
    assert_eq!((named["speaker"], named["cast"]), (1.0, 1.0));
    let prose = "=== a.md\nDan took the ferry.\n\n**Note**: the ferry is slow.\n";
    let (_, named) = explained(prose, "Dan ferry note");
    assert_eq!((named["speaker"], named["cast"]), (1.0, 1.0));
}

#[test]
fn the_form_decides() {
    check("=== a.md\nDid the ferry leave?\n=== b.md\nthe ferry did leave\n", "ferry leave", "form", "b.md");
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
            .search(&SearchRequest { signals, quiet: true, ..SearchRequest::new("ferry timetable harbour") })
            .unwrap();
        let found = paths(&reply).into_iter().filter(|p| ["a.md", "b.md"].contains(p));
        found.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(order(SignalSwitches::ALL), ["b.md", "a.md"]);
    assert_eq!(order(SignalSwitches::ALL.without("links")), ["a.md", "b.md"]);
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
    let awake = recall.search(&SearchRequest { include_archived: true, ..SearchRequest::new("ferry") }).unwrap();
    assert!(awake.hits[0].archived);
}

#[test]
fn the_factors_multiply_to_the_score() {
    let vault = temp_vault("=== digest/wiki/a.md\nThe ferry leaves at nine.\n=== b.md\nferry [[a]]\n");
    let reply = recall(&vault).search(&SearchRequest { explain: true, ..SearchRequest::new("ferry nine") }).unwrap();
    for hit in &reply.hits {
        let explain = hit.explain.as_ref().unwrap();
        let product: f64 = explain.factors.iter().map(|f| f.value).product();
        let sum: f64 = explain.parts.iter().map(|p| p.value).sum();
        assert!((product - hit.score).abs() < 1e-9 && (sum - explain.factors[0].value).abs() < 1e-9, "{explain:?}");
        assert!(explain.factors.iter().skip(1).all(|f| (0.5..=2.0).contains(&f.value)));
    }
    let names: Vec<&str> = reply.hits[0].explain.as_ref().unwrap().factors.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["text", "speaker", "cast", "layer", "centrality", "community", "recency", "links", "support"]);
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
    let vault = temp_vault(&format!("=== a.md\n{text}\n=== copy/b.md\n{text}\n=== c.md\nferry island\n"));
    let reply = search(&recall(&vault), "ferry island morning");
    assert_eq!(paths(&reply), ["a.md", "c.md"]);
    assert_eq!(reply.hits[0].also_at.iter().map(|p| p.as_str()).collect::<Vec<_>>(), ["copy/b.md"]);
}

#[test]
fn passages_say_where_they_stand_and_what_matched() {
    let vault = temp_vault("=== a.md\n# Sea\n\n## Ferries\n\n- The **ferry** leaves at nine. ^b3\n\n- 渡轮九点出发\n");
    let recall = recall(&vault);
    let show = |query: &str| {
        let reply = search(&recall, query);
        let passage = &reply.hits[0].passages[0];
        let marked: Vec<&str> = passage.highlights.iter().map(|r| &passage.text[r.clone()]).collect();
        format!("{:?} {:?} {:?} {:?} {marked:?}\n", passage.heading_path, passage.lines, passage.block_id, passage.text)
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

/// What a search answers: each hit with the notes that it stands for as well.
fn check_places(vault: &str, query: &str, expected: expect_test::Expect) {
    let vault = temp_vault(vault);
    let reply = search(&recall(&vault), query);
    let lines = reply.hits.iter().map(|hit| {
        let also: Vec<&str> = hit.also_at.iter().map(|p| p.as_str()).collect();
        let cites: Vec<String> = hit
            .passages
            .iter()
            .flat_map(|p| &p.cites)
            .map(|c| format!("{}#^{}", c.note, c.block.as_deref().unwrap_or("")))
            .collect();
        format!("{} also {also:?} cites {cites:?}\n", hit.path)
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn a_digest_and_the_source_that_it_restates_are_one_result() {
    let others = "=== a.md\nThe island has a bakery.\n";
    check_places(
        &format!(
            "{others}=== daily/2026-11-01/trip.md\nThe ferry to the island leaves at nine. ^b1\n=== digest/wiki/ferry.md\n# Ferry\n\n- The ferry to the island leaves at nine. (derived_from:: [[daily/2026-11-01/trip#^b1]])\n"
        ),
        "when does the ferry leave for the island",
        expect![[r#"
            digest/wiki/ferry.md also ["daily/2026-11-01/trip.md"] cites ["daily/2026-11-01/trip.md#^b1"]
            a.md also [] cites []
        "#]],
    );
    // The source has more to say: it stands for both.
    check_places(
        &format!(
            "{others}=== daily/2026-11-01/trip.md\nThe ferry to the island leaves at nine. ^b1\n\nThe ferry to the island was late. ^b2\n=== digest/wiki/ferry.md\n# Ferry\n\n- The ferry to the island leaves at nine. (derived_from:: [[daily/2026-11-01/trip#^b1]])\n"
        ),
        "when does the ferry leave for the island",
        expect![[r#"
            daily/2026-11-01/trip.md also ["digest/wiki/ferry.md"] cites []
            a.md also [] cites []
        "#]],
    );
}

#[test]
fn a_digest_with_more_to_say_stays_beside_its_source() {
    check_places(
        "=== daily/2026-11-01/trip.md\nThe ferry to the island leaves at nine. ^b1\n\nx\n\ny\n\nThe ferry has an island bar. ^b2\n=== digest/wiki/ferry.md\n# Ferry\n\n- The ferry to the island leaves at nine. (derived_from:: [[daily/2026-11-01/trip#^b1]])\n- The ferry to the island leaves from the old harbour.\n",
        "ferry leaves island",
        expect![[r#"
            digest/wiki/ferry.md also [] cites ["daily/2026-11-01/trip.md#^b1"]
            daily/2026-11-01/trip.md also [] cites []
        "#]],
    );
}

#[test]
fn a_digest_that_gathers_several_sources_stands_for_all_of_them() {
    check_places(
        "=== daily/2026-11-01/a.md\nThe ferry to the island leaves at nine. ^b1\n=== daily/2026-11-02/b.md\nThe ferry to the island costs four crowns. ^b1\n=== daily/2026-11-03/c.md\nThe ferry to the island is blue.\n=== digest/wiki/ferry.md\n# Ferry\n\n- The ferry to the island leaves at nine. (derived_from:: [[daily/2026-11-01/a#^b1]])\n- The ferry to the island costs four crowns. (derived_from:: [[daily/2026-11-02/b#^b1]])\n",
        "ferry island",
        expect![[r#"
            digest/wiki/ferry.md also ["daily/2026-11-02/b.md", "daily/2026-11-01/a.md"] cites ["daily/2026-11-02/b.md#^b1", "daily/2026-11-01/a.md#^b1"]
            daily/2026-11-03/c.md also [] cites []
        "#]],
    );
}

#[test]
fn a_pair_shares_the_better_score_and_says_so() {
    let vault = temp_vault(
        "=== daily/2026-11-01/trip.md\nThe ferry to the island leaves at nine. ^b1\n\nThe ferry to the island was late. ^b2\n=== digest/wiki/ferry.md\n# Ferry\n\n- The ferry to the island leaves at nine. (derived_from:: [[daily/2026-11-01/trip#^b1]])\n",
    );
    let recall = recall(&vault);
    let score = |query: &str| {
        let request = SearchRequest { explain: true, quiet: true, ..SearchRequest::new(query) };
        let hit = recall.search(&request).unwrap().hits.remove(0);
        let explain = hit.explain.unwrap();
        let product: f64 = explain.factors.iter().map(|f| f.value).product();
        assert!((product - hit.score).abs() < 1e-9, "{explain:?}");
        let shared = explain.factors.iter().find(|f| f.name == "shared");
        (hit.path.to_string(), shared.map(|f| f.value > 1.0))
    };
    assert_eq!(score("ferry island nine"), ("daily/2026-11-01/trip.md".to_owned(), Some(true)));
}

#[test]
fn a_digest_that_repeats_its_source_lends_it_nothing() {
    let digest = "=== digest/wiki/jo.md\n- Jo saw a film. (derived_from:: [[daily/2026-11-01/a#^b1]])\n";
    let sources =
        "=== daily/2026-11-01/a.md\nJo saw a film. ^b1\n=== daily/2026-11-02/b.md\nJo saw a film by the river.\n";
    let ask = |vault: &str| {
        let vault = temp_vault(vault);
        let request = SearchRequest {
            explain: true,
            quiet: true,
            signals: SignalSwitches::ALL.without("links").without("centrality"),
            ..SearchRequest::new("Jo film in:daily")
        };
        let reply = recall(&vault).search(&request).unwrap();
        let scores: Vec<f64> = reply.hits.iter().map(|hit| hit.score).collect();
        assert_eq!(scores.len(), 2);
        scores[0] - scores[1]
    };
    assert!((ask(sources) - ask(&format!("{sources}{digest}"))).abs() < 1e-9);
}

#[test]
fn a_list_of_related_notes_states_nothing() {
    let vault = temp_vault(
        "=== digest/wiki/a.md\n# A\n\n- Bread needs salt.\n\n## Related\n\n- See [[b]]: the ferry leaves at nine.\n=== digest/wiki/b.md\n# B\n\n- The boat, a ferry, leaves.\n",
    );
    let reply = search(&recall(&vault), "ferry leaves nine");
    assert_eq!(paths(&reply), ["digest/wiki/b.md", "digest/wiki/a.md"]);
}

/// The order of the answers with these settings.
fn order(vault: &str, query: &str, config: RecallConfig) -> Vec<String> {
    let vault = temp_vault(vault);
    let vault = Arc::new(Vault::open(vault.path()).unwrap());
    let recall = Recall::open(vault, config).unwrap();
    paths(&search(&recall, query)).into_iter().map(str::to_owned).collect()
}

#[test]
fn page_rank_asks_who_links_and_inbound_how_many() {
    // Two nobodies link to a; one whom everybody links to links to b.
    let vault = "=== a.md\nThe walrus came.\n=== b.md\nThe walrus came.\n=== n1.md\n[[a]]\n=== n2.md\n[[a]]\n\
                 === hub.md\n[[b]]\n=== h1.md\n[[hub]]\n=== h2.md\n[[hub]]\n=== h3.md\n[[hub]]\n=== h4.md\n[[hub]]\n";
    let by = |centrality| order(vault, "walrus", RecallConfig { centrality, ..RecallConfig::default() });
    assert_eq!(by(Centrality::Inbound).first().map(String::as_str), Some("a.md"));
    assert_eq!(by(Centrality::PageRank).first().map(String::as_str), Some("b.md"));
}

#[test]
fn page_rank_follows_the_links_as_they_are_now() {
    let folder = temp_vault("=== a.md\nThe walrus came.\n=== b.md\nThe walrus came.\n=== n.md\n[[a]]\n");
    let vault = Arc::new(Vault::open(folder.path()).unwrap());
    let config = RecallConfig { centrality: Centrality::PageRank, ..RecallConfig::default() };
    let recall = Recall::open(Arc::clone(&vault), config).unwrap();
    assert_eq!(paths(&search(&recall, "walrus"))[0], "a.md");
    folder.write("n.md", "[[b]]\n");
    vault.refresh().unwrap();
    assert_eq!(paths(&search(&recall, "walrus"))[0], "b.md");
}

#[test]
fn personalised_page_rank_adds_up_what_several_hits_reach() {
    // x has none of the words; three hits link to it, and one hit to y.
    let vault = "=== a.md\nWalrus [[x]]\n=== b.md\nWalrus [[x]]\n=== c.md\nWalrus [[x]]\n=== d.md\nWalrus [[y]]\n\
                 === y.md\nNothing here.\n=== x.md\nNothing there.\n";
    let by = |spreading| order(vault, "walrus", RecallConfig { spreading, ..RecallConfig::default() });
    let place = |order: &[String], note: &str| order.iter().position(|path| path == note);
    let ranked = by(Spreading::PageRank);
    assert!(place(&ranked, "x.md").is_some(), "{ranked:?}");
    assert!(place(&ranked, "y.md").is_none_or(|y| place(&ranked, "x.md") < Some(y)), "{ranked:?}");
}

#[test]
fn who_asks_for_archived_notes_gets_them_by_links_and_without_the_signal_too() {
    let vault = temp_vault(
        "=== digest/wiki/a.md\nferry\n=== digest/wiki/b.md\npier [[a]]\n=== meta/archived.json\n{\"version\":1,\"computed_at\":\"2026-01-01T00:00:00Z\",\"notes\":{\"digest/wiki/a.md\":{\"since\":\"2026-01-01\",\"score\":0.1}}}\n",
    );
    let recall = recall(&vault);
    let ask = |query: &str, signals| {
        let request = SearchRequest { expand: 1, signals, quiet: true, ..SearchRequest::new(query) };
        let reply = recall.search(&request).unwrap();
        (paths(&reply).len(), reply.expanded.len())
    };
    let on = SignalSwitches::ALL.without("links");
    let off = on.without("archive");
    assert_eq!(ask("pier", on), (1, 0), "asleep for whom links bring, too");
    assert_eq!(ask("pier", off), (1, 1));
    assert_eq!((ask("ferry is:archived", on).0, ask("ferry is:archived", off).0), (1, 1));
}
