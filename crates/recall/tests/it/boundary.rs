//! What recall may write, whatever it is asked: its spool, and a cache.

use dormouse_fixtures::temp_vault;
use dormouse_recall::{ListRequest, SearchRequest, TraverseRequest};

use super::{paths, recall, search};

const VAULT: &str = "=== digest/wiki/ferry.md\n---\nname: Ferry\n---\nThe ferry leaves at nine, see [[Boat]]. (derived_from:: [[daily/2026-11-29/walk#^b1]])\n\
    === daily/2026-11-29/walk.md\nAt the pier: the ferry leaves at nine. ^b1\n=== Boat.md\nIt is blue.\n=== meta/recency.json\n{ cut\n=== audit/2026-11-29/dream.md\nferry\n";

#[test]
fn every_question_together_writes_the_spool_and_nothing_else() {
    let vault = temp_vault(VAULT);
    let recall = recall(&vault);
    let before = vault.dump();
    let reply =
        recall.search(&SearchRequest { explain: true, ..SearchRequest::new("when does the ferry leave") }).unwrap();
    assert!(!reply.hits.is_empty());
    assert_eq!(recall.list(&ListRequest::default()).unwrap().total, 3);
    let request = TraverseRequest { from: "ferry".to_owned(), depth: 3, ..TraverseRequest::default() };
    assert_eq!(recall.traverse(&request).unwrap().total, 3);
    assert!(recall.context("ferry", 200).unwrap().markdown.contains("nine"));
    assert_eq!(recall.mark_read(&[reply.hits[0].path.clone()]), None);
    assert!(vault.exists("meta/access_spool.jsonl"));
    assert_eq!(vault.dump_if(|path| path != "meta/access_spool.jsonl"), before);
}

#[test]
fn the_same_question_has_the_same_answer_without_the_cache() {
    let vault = temp_vault(VAULT);
    let with = search(&recall(&vault), "ferry");
    std::fs::remove_dir_all(vault.path().join(".dormouse")).unwrap();
    let without = search(&recall(&vault), "ferry");
    assert_eq!(paths(&with), paths(&without));
    let scores = |reply: &dormouse_recall::SearchReply| reply.hits.iter().map(|h| h.score).collect::<Vec<_>>();
    assert_eq!(scores(&with), scores(&without));
}
