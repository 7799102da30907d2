//! A caller's own rewriting of the query and order of the best notes.

use std::sync::{Arc, Mutex};

use dormouse_fixtures::temp_vault;
use dormouse_recall::{AssistError, QueryRewrite, RERANKED, Reranker, SearchReply, SearchRequest, SignalState};

use super::{paths, recall, search};

const HARBOUR: &str = "=== ferry.md\nThe ferry leaves the harbour at nine.\n=== crane.md\nThe harbour crane was \
                       painted.\n=== fog.md\nFog closed the harbour on Monday.\n=== tram.md\nThe tram stops here.\n";

struct Says(Result<&'static str, &'static str>);

impl QueryRewrite for Says {
    fn rewrite(&self, _query: &str) -> Result<String, AssistError> {
        self.0.map(str::to_owned).map_err(Into::into)
    }
}

/// Likes the passages that have a word.
struct Likes {
    word: &'static str,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Reranker for Likes {
    fn scores(&self, _query: &str, passages: &[String]) -> Result<Vec<f64>, AssistError> {
        self.seen.lock().unwrap().extend_from_slice(passages);
        match self.word {
            "" => Err("the model is away".into()),
            "few" => Ok(vec![1.0]),
            "nan" => Ok(vec![f64::NAN; passages.len()]),
            word => Ok(passages.iter().map(|text| f64::from(u8::from(text.contains(word)))).collect()),
        }
    }
}

fn state(reply: &SearchReply, signal: &str) -> Option<SignalState> {
    reply.freshness.iter().find(|f| f.signal == signal).map(|f| f.state)
}

#[test]
fn a_rewritten_query_is_searched_for_and_told() {
    let folder = temp_vault(HARBOUR);
    let reply = search(&recall(&folder).with_query_rewrite(Arc::new(Says(Ok("crane -fog")))), "and it?");
    assert_eq!(paths(&reply), ["crane.md"]);
    assert_eq!(reply.notices, ["searched for \"crane -fog\""]);
    assert_eq!(state(&reply, "rewrite"), Some(SignalState::Fresh));
}

#[test]
fn a_rewriting_that_fails_or_says_nothing_leaves_the_query() {
    let folder = temp_vault(HARBOUR);
    let failed = search(&recall(&folder).with_query_rewrite(Arc::new(Says(Err("no key")))), "crane");
    assert_eq!(paths(&failed), ["crane.md"]);
    assert_eq!(failed.warnings, ["the query could not be rewritten: no key; searched for as it is"]);
    let empty = search(&recall(&folder).with_query_rewrite(Arc::new(Says(Ok(" ")))), "crane");
    assert_eq!((paths(&empty), empty.warnings.len(), empty.notices.len()), (vec!["crane.md"], 0, 0));
}

#[test]
fn a_reranker_orders_the_best_notes_and_is_explained() {
    let folder = temp_vault(HARBOUR);
    let seen = Arc::default();
    let recall = recall(&folder).with_reranker(Arc::new(Likes { word: "Fog", seen: Arc::clone(&seen) }));
    let request = SearchRequest { explain: true, limit: 1, quiet: true, ..SearchRequest::new("harbour") };
    let reply = recall.search(&request).unwrap();
    assert_eq!((paths(&reply), reply.total), (vec!["fog.md"], 3));
    let explain = reply.hits[0].explain.clone().unwrap();
    assert_eq!(explain.factors.last().map(|f| (f.name.as_str(), f.value)), Some(("rerank", 2.0)));
    let product: f64 = explain.factors.iter().map(|f| f.value).product();
    assert!((product - reply.hits[0].score).abs() < 1e-9);
    assert_eq!(seen.lock().unwrap().len(), 3, "each note once");
    assert!(seen.lock().unwrap().iter().any(|text| text == "fog\nFog closed the harbour on Monday."));
    let mut pages = vec![reply.hits[0].path.to_string()];
    let mut cursor = reply.cursor;
    while let Some(at) = cursor {
        let next = recall.search(&SearchRequest { cursor: Some(at), ..request.clone() }).unwrap();
        assert!(next.warnings.is_empty(), "{:?}", next.warnings);
        pages.extend(next.hits.iter().map(|hit| hit.path.to_string()));
        cursor = next.cursor;
    }
    pages.sort();
    assert_eq!(pages, ["crane.md", "ferry.md", "fog.md"]);
}

#[test]
fn a_reranker_that_fails_leaves_the_order() {
    let folder = temp_vault(HARBOUR);
    let plain = search(&recall(&folder), "harbour");
    for (word, why) in [("", "the model is away"), ("few", "1 scores for 3 passages")] {
        let reply = search(&recall(&folder).with_reranker(Arc::new(Likes { word, seen: Arc::default() })), "harbour");
        assert_eq!(paths(&reply), paths(&plain));
        assert_eq!(
            reply.warnings,
            [format!("the best notes could not be reranked: {why}; they are in their own order")]
        );
        assert_eq!(state(&reply, "rerank"), Some(SignalState::Unreadable));
    }
    let nan = search(&recall(&folder).with_reranker(Arc::new(Likes { word: "nan", seen: Arc::default() })), "harbour");
    assert_eq!(nan.hits, plain.hits);
}

#[test]
fn notes_behind_the_judged_ones_stay_behind() {
    let notes: String = (0..50).map(|i| format!("=== n{i:02}.md\nHarbour note number {i:02} of many.\n")).collect();
    let folder = temp_vault(&notes);
    let seen = Arc::default();
    let recall = recall(&folder).with_reranker(Arc::new(Likes { word: "number 29", seen: Arc::clone(&seen) }));
    let request = SearchRequest { limit: 50, quiet: true, ..SearchRequest::new("harbour") };
    let reply = recall.search(&request).unwrap();
    assert_eq!((reply.hits.len(), seen.lock().unwrap().len()), (50, RERANKED));
    assert_eq!(paths(&reply)[0], "n29.md");
    assert_eq!(paths(&reply)[RERANKED..], (30..50).map(|i| format!("n{i:02}.md")).collect::<Vec<_>>());
}
