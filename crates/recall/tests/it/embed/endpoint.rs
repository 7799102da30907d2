//! The endpoint, against a server on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dormouse_recall::{EmbedError, Embedder, EndpointEmbedder, EndpointSettings, ScriptedEmbedder, SignalState};
use serde_json::{Value, json};

use super::{PATIENCE, cinema, conforms, films, open, state};
use crate::{paths, search};

/// A server that answers each request with a status, further header lines and a body, made from what was asked; nothing for
/// silence. It keeps the requests' heads.
struct Server {
    url: String,
    heads: Arc<Mutex<Vec<String>>>,
}

type Reply = Option<(u16, &'static str, String)>;

fn serve(answer: impl Fn(&Value) -> Reply + Send + Sync + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let heads: Arc<Mutex<Vec<String>>> = Arc::default();
    let (kept, answer) = (Arc::clone(&heads), Arc::new(answer));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
            std::thread::spawn(move || while one(&stream, &kept, answer.as_ref()).is_some() {});
        }
    });
    Server { url, heads }
}

/// Answers one request of a connection; none when it ends.
fn one(stream: &TcpStream, heads: &Mutex<Vec<String>>, answer: &dyn Fn(&Value) -> Reply) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    heads.lock().unwrap().push(head);
    let Some((status, more, body)) = answer(&serde_json::from_slice(&body).ok()?) else {
        std::thread::sleep(Duration::from_secs(5));
        return None;
    };
    let mut stream = stream;
    write!(stream, "HTTP/1.1 {status} X\r\ncontent-length: {}\r\n{more}\r\n{body}", body.len()).ok()
}

/// The vectors of the double, as an endpoint gives them, last first.
fn vectors(double: &ScriptedEmbedder, asked: &Value) -> String {
    let texts: Vec<&str> = asked["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    assert!(texts.iter().all(|text| !text.trim().is_empty()), "many endpoints refuse blank texts");
    let vectors = double.embed(&texts).unwrap();
    let items = vectors.iter().enumerate().rev().map(|(index, v)| json!({"index": index, "embedding": v}));
    json!({"object": "list", "data": items.collect::<Vec<_>>()}).to_string()
}

fn endpoint(url: &str) -> EndpointEmbedder {
    let mut settings = EndpointSettings::new(url, "tiny");
    settings.timeout = Duration::from_millis(800);
    settings.batch = 3;
    EndpointEmbedder::new(settings).unwrap()
}

fn working() -> Server {
    let double = films();
    serve(move |asked| Some((200, "", vectors(&double, asked))))
}

#[test]
fn an_endpoint_conforms() {
    let server = working();
    conforms(&endpoint(&server.url));
    let only_blank = endpoint(&server.url).embed(&["", " "]).unwrap();
    assert_eq!(only_blank, vec![vec![0.0; 64]; 2]);
}

#[test]
fn the_key_is_sent_and_never_shown() {
    let server = working();
    let mut settings = EndpointSettings::new(format!("{}/", server.url), "tiny");
    settings.key = Some("sk-secret".to_owned());
    let shown = format!("{settings:?}");
    let embedder = EndpointEmbedder::new(settings).unwrap();
    embedder.embed(&["otter"]).unwrap();
    assert!(!format!("{shown}{embedder:?}{}", embedder.id()).contains("secret"));
    let head = server.heads.lock().unwrap()[0].to_lowercase();
    assert!(head.starts_with("post /v1/embeddings ") && head.contains("authorization: bearer sk-secret"), "{head}");
}

#[test]
fn addresses_and_keys_that_cannot_be_sent_are_refused_at_once() {
    for address in ["", "ftp://x/v1", "http://", "localhost:80/v1", "file:///etc", "http://a b/v1"] {
        let made = EndpointEmbedder::new(EndpointSettings::new(address, "m"));
        assert!(matches!(made, Err(EmbedError::Address)), "{address}");
    }
    let mut settings = EndpointSettings::new("http://127.0.0.1:1/v1", "m");
    settings.key = Some("two\nlines".to_owned());
    assert!(matches!(EndpointEmbedder::new(settings), Err(EmbedError::Key)));
}

#[test]
fn every_bad_answer_is_an_error_of_its_own() {
    type Check = fn(&EmbedError) -> bool;
    let vector = |n: usize| json!({"embedding": vec![1.0; n]});
    let answers: Vec<(Reply, Check)> = vec![
        (
            Some((429, "retry-after: 7\r\n", String::new())),
            |e| matches!(e, EmbedError::Busy { retry_after: Some(wait) } if wait.as_secs() == 7),
        ),
        (Some((429, "", String::new())), |e| matches!(e, EmbedError::Busy { retry_after: None })),
        (Some((500, "", String::new())), |e| matches!(e, EmbedError::Refused { status: 500 })),
        (Some((401, "", String::new())), |e| matches!(e, EmbedError::Refused { status: 401 })),
        (Some((307, "location: http://127.0.0.1:1/\r\n", String::new())), |e| {
            matches!(e, EmbedError::Refused { status: 307 })
        }),
        (Some((200, "", "<html>".to_owned())), |e| matches!(e, EmbedError::Unreadable { .. })),
        (Some((200, "", json!({"data": [{"embedding": ["x"]}]}).to_string())), |e| {
            matches!(e, EmbedError::Unreadable { .. })
        }),
        (Some((200, "", json!({"data": []}).to_string())), |e| matches!(e, EmbedError::Count { got: 0, expected: 2 })),
        (Some((200, "", json!({"data": [vector(4), vector(5)]}).to_string())), |e| {
            matches!(e, EmbedError::Dimension { got: 5, expected: 4 })
        }),
        (None, |e| matches!(e, EmbedError::Unreachable { .. })),
    ];
    for (answer, is_right) in answers {
        let shown = format!("{answer:?}");
        let server = serve(move |_| answer.clone());
        let started = Instant::now();
        let error = endpoint(&server.url).embed(&["a", "b"]).unwrap_err();
        assert!(is_right(&error), "{shown}: {error:?}");
        assert!(started.elapsed() < Duration::from_secs(4), "{shown}");
    }
    let closed = endpoint("http://127.0.0.1:1/v1").embed(&["a"]).unwrap_err();
    assert!(matches!(closed, EmbedError::Unreachable { .. }));
}

#[test]
fn a_vault_is_embedded_by_an_endpoint_and_searched_by_words_when_it_goes() {
    let double = films();
    let gone = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let is_gone = Arc::clone(&gone);
    let server = serve(move |asked| {
        let busy = is_gone.load(std::sync::atomic::Ordering::SeqCst);
        Some(if busy { (429, "retry-after: 60\r\n", String::new()) } else { (200, "", vectors(&double, asked)) })
    });
    let vault = cinema();
    let recall = open(&vault, Arc::new(endpoint(&server.url)));
    assert!(recall.wait_for_meaning(PATIENCE), "{:?}", recall.meaning_status());
    let reply = search(&recall, "film");
    assert_eq!((paths(&reply), state(&reply)), (vec!["a.md"], SignalState::Fresh));
    gone.store(true, std::sync::atomic::Ordering::SeqCst);
    let asked = || server.heads.lock().unwrap().len();
    let before = asked();
    for query in ["dog", "apples", "ferry"] {
        let reply = search(&recall, query);
        assert_eq!((reply.hits.len(), state(&reply), reply.warnings.len()), (1, SignalState::Missing, 1));
    }
    assert_eq!(asked(), before + 1, "one that asks to be left alone is left alone");
    // What was asked before is still known.
    assert_eq!(paths(&search(&recall, "film")), ["a.md"]);
}
