//! Replies in pages, within a budget, and with what their links lead to.

use std::fmt::Write;

use dormouse_fixtures::temp_vault;
use dormouse_recall::{ListRequest, RecallError, SearchReply, SearchRequest, SortBy, TraverseRequest};
use expect_test::expect;
use proptest::prelude::*;

use super::{paths, recall};

/// Notes that all speak of the ferry, some of them in the same words.
fn ferries(notes: usize) -> String {
    let mut text = String::new();
    for i in 0..notes {
        writeln!(text, "=== n{i:02}.md\nThe ferry {} number {}.", "ferry ".repeat(i % 3), i / 2).unwrap();
    }
    text
}

fn request(query: &str, limit: usize) -> SearchRequest {
    SearchRequest { limit, quiet: true, ..SearchRequest::new(query) }
}

#[test]
fn pages_together_are_the_whole_answer() {
    let vault = temp_vault(&ferries(23));
    let recall = recall(&vault);
    let whole = recall.search(&request("ferry number", 100)).unwrap();
    assert!(whole.cursor.is_none() && whole.hits.len() > 20);
    for size in [1, 4, 7, 23, 50] {
        let mut found: Vec<String> = Vec::new();
        let mut next = request("ferry number", size);
        loop {
            let reply = recall.search(&next).unwrap();
            assert!(reply.hits.len() <= size && reply.warnings.is_empty(), "{:?}", reply.warnings);
            found.extend(paths(&reply).into_iter().map(str::to_owned));
            match reply.cursor {
                Some(cursor) => next.cursor = Some(cursor),
                None => break,
            }
        }
        assert_eq!(found, paths(&whole), "pages of {size}");
    }
}

#[test]
fn a_cursor_goes_on_in_a_vault_that_changed_and_says_so() {
    let vault = temp_vault(&ferries(9));
    let recall = recall(&vault);
    let first = recall.search(&request("ferry", 3)).unwrap();
    vault.remove(first.hits[0].path.as_str());
    recall.vault().refresh().unwrap();
    let whole = recall.search(&request("ferry", 100)).unwrap();
    let second = recall.search(&SearchRequest { cursor: first.cursor, ..request("ferry", 3) }).unwrap();
    assert_eq!(paths(&second), paths(&whole)[3..6]);
    assert_eq!(second.warnings.len(), 1, "{:?}", second.warnings);
    // The new cursor is of the new state.
    let third = recall.search(&SearchRequest { cursor: second.cursor, ..request("ferry", 3) }).unwrap();
    assert!(third.warnings.is_empty() && third.hits.len() == 2 && third.cursor.is_none(), "{third:?}");
}

#[test]
fn what_is_no_cursor_or_another_questions_is_a_clear_error() {
    let vault = temp_vault(&ferries(9));
    let recall = recall(&vault);
    let cursor = recall.search(&request("ferry", 3)).unwrap().cursor.unwrap();
    let ask = |cursor: &str, query| {
        recall.search(&SearchRequest { cursor: Some(cursor.to_owned()), ..request(query, 3) }).unwrap_err()
    };
    for bad in ["", "x", "d1", &cursor[1..], &cursor.replace("d1", "d9"), &format!("{cursor}0"), "记忆"] {
        assert!(matches!(ask(bad, "ferry"), RecallError::BadCursor), "{bad}");
    }
    assert!(matches!(ask(&cursor, "boat"), RecallError::OtherCursor));
    let listed = ListRequest { cursor: Some(cursor), ..ListRequest::default() };
    assert!(matches!(recall.list(&listed), Err(RecallError::OtherCursor)));
}

#[test]
fn lists_have_pages_in_every_order() {
    let vault = temp_vault(&ferries(11));
    let recall = recall(&vault);
    for sort in [SortBy::Path, SortBy::Name, SortBy::Newest, SortBy::Oldest, SortBy::Inbound] {
        let mut next = ListRequest { limit: 4, sort, ..ListRequest::default() };
        let mut found = Vec::new();
        loop {
            let reply = recall.list(&next).unwrap();
            assert_eq!((reply.total, reply.warnings.len()), (11, 0));
            found.extend(reply.notes.into_iter().map(|note| note.path));
            match reply.cursor {
                Some(cursor) => next.cursor = Some(cursor),
                None => break,
            }
        }
        let whole = recall.list(&ListRequest { sort, ..ListRequest::default() }).unwrap();
        assert_eq!(found, whole.notes.into_iter().map(|note| note.path).collect::<Vec<_>>());
    }
    let words = recall.list(&ListRequest { query: "ferry -boat".to_owned(), ..ListRequest::default() }).unwrap();
    assert_eq!((words.total, words.notices.len()), (11, 1));
}

fn bytes(reply: &SearchReply) -> usize {
    reply.hits.iter().flat_map(|hit| &hit.passages).map(|passage| passage.text.len()).sum()
}

#[test]
fn a_block_of_50_kilobytes_comes_as_the_part_that_matches() {
    let code = "let x = compute();\n".repeat(1_400);
    let vault = temp_vault("");
    vault.write("code.md", format!("# Code\n\n```rust\n{code}// 这里是写穿缓存 🙂 write_through\n{code}```\n"));
    let recall = recall(&vault);
    for query in ["write_through", "写穿"] {
        let reply = recall.search(&request(query, 5)).unwrap();
        let passage = &reply.hits[0].passages[0];
        assert!(passage.cut && passage.text.len() <= 2_000 && passage.text.contains("写穿缓存 🙂 write_through"));
        assert!(
            (1..=1404).contains(&passage.lines.0) && passage.lines.0 <= 1404 && passage.lines.1 >= 1404,
            "{:?}",
            passage.lines
        );
        let marked: Vec<&str> = passage.highlights.iter().map(|h| &passage.text[h.clone()]).collect();
        assert_eq!(marked, [query]);
    }
}

#[test]
fn a_budget_takes_the_best_and_says_what_it_left_out() {
    let vault = temp_vault(&ferries(12));
    let recall = recall(&vault);
    let whole = recall.search(&request("ferry number", 12)).unwrap();
    let all = bytes(&whole);
    for budget in [0, 1, 40, 100, 300, all, all + 1] {
        let reply = recall.search(&SearchRequest { byte_budget: Some(budget), ..request("ferry number", 12) }).unwrap();
        assert_eq!(paths(&reply), paths(&whole));
        assert!(bytes(&reply) <= budget);
        assert_eq!(bytes(&reply) + reply.left_out.bytes, all);
        assert_eq!(reply.left_out.passages == 0, budget >= all);
        if budget >= 100 {
            assert_eq!(reply.hits[0].passages, whole.hits[0].passages);
        }
    }
}

#[test]
fn links_of_the_hits_bring_notes_with_the_link_that_led_there() {
    let vault = temp_vault(
        "=== a.md\nThe ferry. [[b]]\n=== b.md\nPier. next:: [[c]]\n=== c.md\nCrew. [[d]] [[ferry-old]]\n=== d.md\nOffice. [[e]]\n=== e.md\nFar.\n=== up.md\n[[a]]\n=== asleep.md\n[[a]]\n=== a (Conflicted copy 2026).md\n[[b]]\n=== meta/archived.json\n{\"version\":1,\"computed_at\":\"2026-11-29T00:00:00Z\",\"notes\":{\"asleep.md\":{\"since\":\"2026-11-01\",\"score\":0.1}}}\n",
    );
    let recall = recall(&vault);
    let ask = |expand, expand_limit| {
        let reply = recall.search(&SearchRequest { expand, expand_limit, ..request("\"ferry\"", 1) }).unwrap();
        let mut out = format!("{:?} {:?}\n", paths(&reply), reply.notices);
        for found in reply.expanded {
            let via = found.via;
            let predicate = via.predicate.as_deref().unwrap_or("-");
            writeln!(out, "{} {} {} {:?} {predicate}", found.depth, found.path, via.from, via.direction).unwrap();
        }
        out
    };
    expect![[r#"
        ["a.md"] []
        1 b.md a.md Out -
        1 up.md a.md In -
        2 c.md b.md Out -
        3 d.md c.md Out -
    "#]]
    .assert_eq(&ask(9, 20));
    expect![[r#"
        ["a.md"] ["links lead to 2 further notes; 1 are shown"]
        1 b.md a.md Out -
    "#]]
    .assert_eq(&ask(1, 1));
    assert_eq!(ask(0, 20).lines().count(), 1);
}

#[test]
fn a_walk_names_links_that_lead_nowhere_and_ends_at_its_budget() {
    let vault = temp_vault(
        "=== a.md\nsee:: [[Gone]] and [[b]] [[Also gone]]\n=== b.md\n[[c]] [[Far gone]]\n=== c.md\nend\n=== digest/wiki/d.md\n---\nname: The D\n---\n[[a]]\n",
    );
    let recall = recall(&vault);
    let walk = |request: TraverseRequest| {
        let reply = recall.traverse(&request).unwrap();
        let mut out =
            format!("{} of {}{}\n", reply.notes.len(), reply.total, if reply.partial { " at least" } else { "" });
        for link in reply.unresolved {
            writeln!(out, "{} -> {} {:?}", link.from, link.target, link.predicate).unwrap();
        }
        out
    };
    let from = |name: &str| TraverseRequest { from: name.to_owned(), ..TraverseRequest::default() };
    expect![[r#"
        3 of 3
        a.md -> also gone Some("see")
        a.md -> gone Some("see")
    "#]]
    .assert_eq(&walk(from("a")));
    expect![[r#"
        2 of 2
        a.md -> also gone Some("see")
        a.md -> gone Some("see")
    "#]]
    .assert_eq(&walk(TraverseRequest { predicate: Some("See".to_owned()), ..from("a") }));
    // From a title, into one layer only, within a budget of links.
    assert_eq!(walk(TraverseRequest { depth: 9, ..from("the d") }).lines().next(), Some("4 of 4"));
    let digests = TraverseRequest { depth: 9, layers: vec![dormouse_vault::Layer::Digest], ..from("a") };
    assert_eq!(walk(digests).lines().next(), Some("2 of 2"));
    assert_eq!(walk(TraverseRequest { depth: 9, budget: 2, ..from("a") }).lines().next(), Some("3 of 3 at least"));
    assert!(matches!(recall.traverse(&from("nobody")), Err(RecallError::NoSuchNote { .. })));
}

#[test]
fn a_title_of_several_notes_starts_no_walk() {
    let vault = temp_vault("=== x/a.md\n---\nname: Twin\n---\n=== y/b.md\n---\nname: twin\n---\n");
    let walk = recall(&vault).traverse(&TraverseRequest { from: "Twin".to_owned(), ..TraverseRequest::default() });
    let error = walk.unwrap_err();
    assert_eq!(error.to_string(), "several notes are called \"Twin\"; name one by its path: x/a.md, y/b.md");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    /// Every walk ends with each note once, whatever the links.
    #[test]
    fn a_walk_ends_and_has_each_note_once(links in proptest::collection::vec((0usize..8, 0usize..8), 0..30), depth in 0usize..12, limit in 0usize..10) {
        let mut notes = vec![String::new(); 8];
        for (from, to) in links {
            write!(notes[from], "[[n{to}]] ").unwrap();
        }
        let vault = temp_vault(&notes.iter().enumerate().map(|(i, text)| format!("=== n{i}.md\n{text}\n")).collect::<String>());
        let recall = recall(&vault);
        let reply = recall.traverse(&TraverseRequest { from: "n0".to_owned(), depth, limit, ..TraverseRequest::default() }).unwrap();
        let mut found: Vec<_> = reply.notes.iter().map(|n| &n.path).collect();
        prop_assert!(reply.notes.windows(2).all(|pair| pair[0].depth <= pair[1].depth));
        prop_assert_eq!(reply.notes.len(), reply.total.min(limit));
        prop_assert_eq!(reply.truncated, reply.total > limit);
        for note in reply.notes.iter().skip(1) {
            let via = note.via.as_ref().unwrap();
            prop_assert!(reply.notes.iter().any(|n| n.path == via.from && n.depth + 1 == note.depth));
        }
        found.sort();
        found.dedup();
        prop_assert_eq!(found.len(), reply.notes.len());
    }
}
