//! Meaning: what every embedder keeps to, and what recall makes of one that works, fails or is slow.

#[cfg(feature = "embed-http")]
mod endpoint;
#[cfg(feature = "embed")]
mod static_model;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_recall::{
    EmbedError, Embedder, Recall, RecallConfig, ScriptedEmbedder, SearchReply, SearchRequest, SignalState,
};
use dormouse_vault::{OpenOptions, Vault};

use super::{paths, search};

const PATIENCE: Duration = Duration::from_secs(20);

/// What every implementation of [`Embedder`] keeps to.
fn conforms(embedder: &dyn Embedder) {
    let texts = ["the otter sleeps", "the otter sleeps", "", " \n\t", "水獭在睡觉", "🦦 e\u{301} \u{0} \u{202e}x", "a"];
    let batch = embedder.embed(&texts).unwrap();
    assert_eq!(batch.len(), texts.len());
    let dimension = embedder.dimension().unwrap();
    assert!(dimension > 0);
    for (text, vector) in texts.iter().zip(&batch) {
        assert_eq!(vector.len(), dimension, "{text:?}");
        assert!(vector.iter().all(|x| x.is_finite()), "{text:?}");
        assert_eq!(embedder.embed(&[text]).unwrap(), std::slice::from_ref(vector), "alone or in a batch: {text:?}");
    }
    assert_eq!(batch[0], batch[1]);
    assert_eq!(embedder.embed(&[&"otter ".repeat(20_000)]).unwrap()[0].len(), dimension);
    assert!(embedder.embed(&[]).unwrap().is_empty());
    assert_eq!((embedder.dimension(), embedder.id()), (Some(dimension), embedder.id()));
}

fn films() -> ScriptedEmbedder {
    ScriptedEmbedder::new(64, "movie film cinema")
}

fn cinema() -> TempVault {
    temp_vault(
        "=== a.md\nShe loved the movie.\n\nThe ferry leaves at nine.\n=== b.md\nApples are ripe.\n=== c.md\nThe dog barks.\n",
    )
}

fn open(vault: &TempVault, embedder: Arc<dyn Embedder>) -> Recall {
    let vault = Arc::new(Vault::open(vault.path()).unwrap());
    let recall = Recall::open(vault, RecallConfig::default()).unwrap().with_embedder(embedder);
    recall.sync().unwrap();
    recall
}

fn ready(vault: &TempVault, embedder: &Arc<ScriptedEmbedder>) -> Recall {
    let recall = open(vault, Arc::clone(embedder) as Arc<dyn Embedder>);
    assert!(recall.wait_for_meaning(PATIENCE), "{:?}", recall.meaning_status());
    recall
}

fn state(reply: &SearchReply) -> SignalState {
    reply.freshness.iter().find(|f| f.signal == "meaning").unwrap().state
}

/// The file of vectors; the lock, the places and the folder beside it are none.
fn vector_file(vault: &TempVault) -> PathBuf {
    let files = fs::read_dir(vault.path().join(".dormouse/vectors")).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_none() && !file.ends_with("lock")).last().unwrap()
}

#[test]
fn the_double_conforms_and_fails_on_order() {
    let double = films();
    conforms(&double);
    double.set_broken(true);
    assert!(matches!(double.embed(&["x"]), Err(EmbedError::Failed)));
}

#[test]
fn a_block_that_shares_no_word_is_found_by_meaning() {
    let vault = cinema();
    let recall = ready(&vault, &Arc::new(films()));
    let request = SearchRequest { explain: true, quiet: true, ..SearchRequest::new("film") };
    let reply = recall.search(&request).unwrap();
    assert_eq!((paths(&reply), state(&reply)), (vec!["a.md"], SignalState::Fresh), "{reply:?}");
    assert_eq!(reply.hits[0].passages[0].text, "She loved the movie.");
    assert!(reply.hits[0].explain.as_ref().unwrap().parts.iter().any(|part| part.name == "meaning"));

    let off = SearchRequest { signals: request.signals.without("meaning"), ..request };
    let reply = recall.search(&off).unwrap();
    assert_eq!((paths(&reply), state(&reply)), (vec![], SignalState::Off));
}

#[test]
fn without_an_embedder_no_word_is_said_of_it() {
    let vault = cinema();
    let reply = search(&super::recall(&vault), "film");
    assert!(reply.warnings.is_empty() && reply.freshness.iter().all(|f| f.signal != "meaning"));
}

#[test]
fn conditions_hold_for_what_meaning_finds() {
    let vault = cinema();
    let recall = ready(&vault, &Arc::new(films()));
    assert_eq!(paths(&search(&recall, "film")), ["a.md"]);
    assert!(search(&recall, "film -movie").hits.is_empty());
    assert!(search(&recall, "film in:digest").hits.is_empty());
    assert!(search(&recall, "\"film\"").hits.is_empty());
}

#[test]
fn an_embedder_that_fails_costs_one_warning_and_the_signal() {
    let embedder = Arc::new(films());
    embedder.set_broken(true);
    let vault = cinema();
    let recall = open(&vault, Arc::clone(&embedder) as Arc<dyn Embedder>);
    assert!(!recall.wait_for_meaning(PATIENCE));
    for _ in 0..3 {
        let reply = search(&recall, "ferry");
        assert_eq!((paths(&reply), state(&reply)), (vec!["a.md"], SignalState::Missing));
        assert_eq!(reply.warnings.len(), 1, "{:?}", reply.warnings);
    }
    // It is asked again after a second.
    embedder.set_broken(false);
    let until = Instant::now() + PATIENCE;
    while !recall.meaning_status().unwrap().idle && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    let reply = search(&recall, "film");
    assert_eq!((paths(&reply), state(&reply), reply.warnings.len()), (vec!["a.md"], SignalState::Fresh, 0));
}

#[test]
fn a_slow_embedder_holds_up_neither_a_query_nor_the_end() {
    let started = Instant::now();
    let vault = cinema();
    let recall = open(&vault, Arc::new(films().slow(Duration::from_secs(30))));
    let reply = search(&recall, "ferry");
    assert_eq!((paths(&reply), state(&reply)), (vec!["a.md"], SignalState::Missing));
    assert_eq!(reply.warnings.len(), 1, "{:?}", reply.warnings);
    drop(recall);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn vectors_are_kept_and_only_new_text_is_embedded() {
    let vault = cinema();
    let first = Arc::new(films());
    drop(ready(&vault, &first));
    assert_eq!(first.texts(), 4);
    let second = Arc::new(films());
    let recall = ready(&vault, &second);
    assert_eq!(second.texts(), 0);
    vault.write("b.md", "Apples are ripe.\n\nA film about apples.\n");
    vault.write("copy.md", "The dog barks.\n");
    recall.vault().refresh().unwrap();
    recall.sync().unwrap();
    assert!(recall.wait_for_meaning(PATIENCE));
    assert_eq!(second.texts(), 1);
    assert_eq!(paths(&search(&recall, "cinema")).len(), 2);
}

#[test]
fn what_is_gone_from_the_vault_is_not_found() {
    let vault = cinema();
    let recall = ready(&vault, &Arc::new(films()));
    vault.write("a.md", "Something else.\n");
    recall.vault().refresh().unwrap();
    assert!(search(&recall, "film").hits.is_empty());
    vault.remove("a.md");
    recall.vault().refresh().unwrap();
    assert!(search(&recall, "film").hits.is_empty());
}

#[test]
fn a_cut_changed_or_foreign_file_costs_only_embedding_again() {
    type Break = fn(&mut Vec<u8>);
    let breaks: [(&str, Break, usize); 6] = [
        ("a torn end", |bytes| bytes.truncate(bytes.len() - 7), 1),
        ("one byte", |bytes| *bytes.last_mut().unwrap() ^= 1, 1),
        ("another header", |bytes| bytes[0] ^= 1, 4),
        ("no header", |bytes| bytes.clear(), 4),
        ("rubbish", |bytes| *bytes = vec![0xff; 9_999], 4),
        ("a huge length", |bytes| *bytes = b"dormouse-vectors 1 99999999999 x\n".to_vec(), 4),
    ];
    for (name, break_it, again) in breaks {
        let vault = cinema();
        drop(ready(&vault, &Arc::new(films())));
        let file = vector_file(&vault);
        let whole = fs::read(&file).unwrap();
        let mut bytes = whole.clone();
        break_it(&mut bytes);
        fs::write(&file, bytes).unwrap();
        for expected in [again, 0] {
            let embedder = Arc::new(films());
            let recall = ready(&vault, &embedder);
            assert_eq!(embedder.texts(), expected, "{name}");
            assert_eq!(paths(&search(&recall, "film")), ["a.md"], "{name}");
        }
    }
}

#[test]
fn places_that_cannot_be_read_are_found_again() {
    let vault = cinema();
    drop(ready(&vault, &Arc::new(films())));
    let places = vector_file(&vault).with_extension("notes");
    for content in [&b""[..], b"dormouse-places1", &[7; 500]] {
        fs::write(&places, content).unwrap();
        let embedder = Arc::new(films());
        let recall = ready(&vault, &embedder);
        assert_eq!((embedder.texts(), paths(&search(&recall, "film"))), (0, vec!["a.md"]));
    }
    fs::remove_dir_all(vault.path().join(".dormouse/vectors")).unwrap();
    assert_eq!(paths(&search(&ready(&vault, &Arc::new(films())), "film")), ["a.md"]);
}

#[test]
fn another_model_and_another_length_have_vectors_of_their_own() {
    let vault = cinema();
    drop(ready(&vault, &Arc::new(films())));
    for other in [ScriptedEmbedder::new(32, "movie film cinema"), ScriptedEmbedder::new(64, "dog film")] {
        let other = Arc::new(other);
        drop(ready(&vault, &other));
        assert_eq!(other.texts(), 4);
    }
    let first = Arc::new(films());
    drop(ready(&vault, &first));
    assert_eq!(first.texts(), 0);
}

#[test]
fn two_who_write_at_once_lose_nothing() {
    let mut text = String::new();
    for note in 0..40 {
        text.push_str(&format!("=== n{note}.md\n"));
        (0..8).for_each(|block| text.push_str(&format!("Line {block} of note {note}.\n\n")));
    }
    let vault = temp_vault(&text);
    let embedders: Vec<_> = (0..3).map(|_| Arc::new(films().slow(Duration::from_millis(2)))).collect();
    let open: Vec<Recall> = embedders.iter().map(|one| open(&vault, Arc::clone(one) as Arc<dyn Embedder>)).collect();
    assert!(open.iter().all(|recall| recall.wait_for_meaning(PATIENCE)));
    drop(open);
    let later = Arc::new(films());
    let recall = ready(&vault, &later);
    assert_eq!((later.texts(), recall.meaning_status().unwrap().notes), (0, 40));
}

#[test]
fn a_read_only_vault_has_its_vectors_in_memory() {
    let vault = cinema();
    let options = OpenOptions { read_only: true, ..OpenOptions::default() };
    let opened = Arc::new(Vault::open_with(vault.path(), options).unwrap());
    let recall = Recall::open(opened, RecallConfig::default()).unwrap().with_embedder(Arc::new(films()));
    recall.sync().unwrap();
    assert!(recall.wait_for_meaning(PATIENCE));
    assert_eq!(paths(&search(&recall, "film")), ["a.md"]);
    drop(recall);
    assert!(!vault.exists(".dormouse/vectors"));
}

/// An embedder that answers with one vector too few, or one of another length.
#[derive(Debug)]
struct Odd(usize);

impl Embedder for Odd {
    fn id(&self) -> String {
        "odd".to_owned()
    }

    fn dimension(&self) -> Option<usize> {
        None
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut out = vec![vec![1.0; 4]; texts.len()];
        match self.0 {
            0 => drop(out.pop()),
            1 => out.iter_mut().for_each(Vec::clear),
            _ => out.last_mut().into_iter().for_each(|last| last.push(1.0)),
        }
        Ok(out)
    }
}

#[test]
fn an_embedder_that_does_not_keep_to_the_rules_is_as_good_as_none() {
    for odd in 0..3 {
        let vault = cinema();
        let recall = open(&vault, Arc::new(Odd(odd)));
        assert!(!recall.wait_for_meaning(PATIENCE));
        assert_eq!(paths(&search(&recall, "ferry")), ["a.md"]);
        let status = recall.meaning_status().unwrap();
        assert!(status.problem.is_some() && status.notes == 0, "{status:?}");
    }
}

#[test]
fn a_text_that_the_embedder_refuses_stops_nobody_else() {
    let vault = cinema();
    let embedder = Arc::new(films().refusing("ferry"));
    let recall = ready(&vault, &embedder);
    let status = recall.meaning_status().unwrap();
    assert_eq!((status.notes, status.of_notes, status.refused, status.problem), (3, 3, 1, None));
    assert_eq!(paths(&search(&recall, "loved cinema"))[0], "a.md");
    let refused = search(&recall, "film ferry");
    assert_eq!(refused.warnings.len(), 1, "{:?}", refused.warnings);
    assert_eq!(state(&search(&recall, "loved film")), SignalState::Fresh, "a bad query is not the next one's trouble");
}
