//! The query language: its page is run, and what it says about several and unknown values holds.

use dormouse_fixtures::temp_vault;
use dormouse_recall::{Condition, Filters, ListRequest, Recall, SearchRequest};
use expect_test::{Expect, expect};

use super::{paths, recall, search};

const PAGE: &str = include_str!("../../../../docs/query.md");

/// The rows of the page's tables that have an example in the second column and paths in the third.
fn examples() -> Vec<(String, Vec<String>)> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix('|'));
    let cells = rows.map(|row| row.split(" | ").map(str::trim).collect::<Vec<_>>());
    let examples = cells.filter(|cells| cells.len() == 3 && cells[1].starts_with('`') && cells[1].len() > 2);
    let paths = |cell: &str| cell.split(", ").filter(|p| !p.is_empty()).map(str::to_owned).collect();
    examples
        .map(|cells| (cells[1].trim_matches('`').to_owned(), paths(cells[2].trim_end_matches('|').trim())))
        .collect()
}

#[test]
fn every_example_of_the_page_finds_what_it_says() {
    let vault = PAGE.split("```vault\n").nth(1).unwrap().split("```").next().unwrap();
    let vault = temp_vault(vault);
    let recall = recall(&vault);
    let examples = examples();
    assert!(examples.len() >= 30, "{}", examples.len());
    let mut wrong = Vec::new();
    for (query, mut expected) in examples {
        let reply = search(&recall, &query);
        let mut found: Vec<String> = paths(&reply).into_iter().map(str::to_owned).collect();
        expected.sort();
        found.sort();
        if found != expected {
            wrong.push(format!("{query}: {found:?} and not {expected:?}; {:?}", reply.notices));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_operator_is_on_the_page() {
    for operator in [
        "in:",
        "layer:",
        "bucket:",
        "tag:",
        "folder:",
        "path:",
        "prop:",
        "date:",
        "links:",
        "links-to:",
        "linked-from:",
        "is:",
    ] {
        assert!(PAGE.contains(&format!("`{operator}")), "{operator}");
    }
}

const NOTES: &str = "=== a.md\n---\nname: Ferry\ntags: [sea]\n---\nThe boat. [[b]] [[Nowhere]]\n=== b.md\n---\naliases: [Ferry]\n---\nThe boat too.\n=== x/c.md\nA boat, see [[Nowhere]].\n";

fn check(recall: &Recall, query: &str, expected: Expect) {
    let reply = search(recall, query);
    expected.assert_eq(&format!("{:?} {:?}", paths(&reply), reply.notices));
}

#[test]
fn a_condition_that_names_nothing_is_told() {
    let vault = temp_vault(NOTES);
    let recall = recall(&vault);
    check(&recall, "boat tag:land", expect![[r#"[] ["no note fulfils tag:land"]"#]]);
    check(
        &recall,
        "boat -folder:\"y z\"",
        expect![[r#"["b.md", "a.md", "x/c.md"] ["no note fulfils folder:\"y z\""]"#]],
    );
    check(&recall, "boat prop:mood", expect![[r#"[] ["no note fulfils prop:mood"]"#]]);
    check(&recall, "boat links:Island", expect![[r#"[] ["links:Island: there is no such note"]"#]]);
    check(
        &recall,
        "boat links-to:nowhere",
        expect![[r#"["a.md", "x/c.md"] ["links-to:nowhere: there is no such note, only links to it"]"#]],
    );
    check(&recall, "boat links:Ferry", expect![[r#"["b.md", "a.md"] ["links:Ferry means each of a.md, b.md"]"#]]);
}

#[test]
fn conditions_of_a_request_and_of_its_query_hold_together() {
    let vault = temp_vault(NOTES);
    let recall = recall(&vault);
    let filters = Filters {
        any_of: vec![vec![Condition::Tag("SEA".to_owned()), Condition::Folder("X".to_owned())]],
        none_of: vec![Condition::LinkedFrom("a".to_owned())],
        ..Filters::default()
    };
    let request = SearchRequest { filters: filters.clone(), quiet: true, ..SearchRequest::new("boat") };
    let mut found = paths(&recall.search(&request).unwrap()).join(" ");
    assert!(["a.md x/c.md", "x/c.md a.md"].contains(&found.as_str()), "{found}");
    let request = SearchRequest { query: "boat -tag:sea".to_owned(), ..request };
    found = paths(&recall.search(&request).unwrap()).join(" ");
    assert_eq!(found, "x/c.md");
    let listed = recall.list(&ListRequest { query: "-tag:sea".to_owned(), filters, ..ListRequest::default() }).unwrap();
    assert_eq!(listed.notes.iter().map(|n| n.path.as_str()).collect::<Vec<_>>(), ["x/c.md"]);
}

#[test]
fn a_time_that_is_seen_from_today_is_preferred_on_request() {
    let vault = temp_vault(
        "=== daily/2026-11-25/a.md\nThe ferry was late.\n=== daily/2026-11-10/b.md\nThe ferry was late, the ferry.\n",
    );
    let recall = recall(&vault);
    let ask = |query: &str, soft_dates| {
        recall.search(&SearchRequest { soft_dates, quiet: true, ..SearchRequest::new(query) }).unwrap()
    };
    for query in ["was the ferry late last week", "上周 ferry late"] {
        let reply = ask(query, true);
        assert_eq!(paths(&reply)[0], "daily/2026-11-25/a.md", "{query}");
        assert!(reply.notices.iter().any(|n| n.contains("read as 2026-11-23..2026-11-29")), "{:?}", reply.notices);
        assert!(ask(query, false).notices.iter().all(|n| !n.contains("read as")));
    }
    assert_eq!(paths(&ask("was the ferry late three weeks ago", true))[0], "daily/2026-11-10/b.md");
    let clockless = Recall::open(recall.vault().clone(), recall.config().clone()).unwrap();
    let request = SearchRequest { soft_dates: true, ..SearchRequest::new("ferry last week") };
    assert!(clockless.search(&request).unwrap().notices.is_empty());
}

#[test]
fn a_tag_that_came_is_seen_although_what_notes_state_is_kept() {
    let vault = temp_vault(NOTES);
    let recall = recall(&vault);
    assert!(search(&recall, "tag:new").hits.is_empty());
    vault.write("b.md", "---\ntags: [new]\n---\nThe boat.\n");
    recall.vault().refresh().unwrap();
    assert_eq!(paths(&search(&recall, "tag:new")), ["b.md"]);
}

#[test]
fn a_question_for_a_time_alone_lists_the_notes_of_that_time() {
    let vault = temp_vault(
        "=== daily/2026-11-29/garden.md\nWeeded the beds.\n=== daily/2026-11-24/list.md\nA list, long overdue.\n=== other.md\nyesterdays\n",
    );
    let ask = |query: &str| {
        let request = SearchRequest { soft_dates: true, quiet: true, ..SearchRequest::new(query) };
        recall(&vault).search(&request).unwrap()
    };
    for query in ["what did I do yesterday", "昨天", "yesterday"] {
        assert_eq!(
            ask(query).hits.first().map(|hit| hit.path.to_string()),
            Some("daily/2026-11-29/garden.md".to_owned()),
            "{query}"
        );
    }
    let reply = ask("what happened last week");
    assert!(!reply.notices.iter().any(|notice| notice.contains("stands nowhere")), "{:?}", reply.notices);
    assert!(!reply.hits.is_empty(), "no word is found, and the time is meant");
    assert!(ask("date:2026-13").notices.iter().all(|notice| !notice.contains("instead")));
}

#[test]
fn a_whole_chinese_date_is_a_day() {
    let vault = temp_vault(
        "=== daily/2022-11-05/a.md\n野餐\n=== daily/2022-11-09/b.md\n野餐\n=== daily/2022-11-25/c.md\n野餐\n",
    );
    let request = SearchRequest { soft_dates: true, quiet: true, ..SearchRequest::new("野餐 2022年11月9日") };
    let reply = recall(&vault).search(&request).unwrap();
    assert_eq!(reply.hits[0].path.as_str(), "daily/2022-11-09/b.md", "{:?}", reply.notices);
    assert!(reply.hits[0].score > reply.hits[1].score);
}
