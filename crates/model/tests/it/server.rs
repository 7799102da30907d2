//! A loopback HTTP server that answers from a list and keeps what it was sent.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// One answer: status line with further headers, content type, body.
pub(crate) struct Answer {
    pub(crate) status: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) body: String,
}

pub(crate) fn json(status: &'static str, body: &Value) -> Answer {
    Answer { status, kind: "application/json", body: body.to_string() }
}

/// What a request held.
#[derive(Clone)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: Value,
}

pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) seen: Arc<Mutex<Vec<Seen>>>,
}

/// Answers `answers` one by one, then closes.
pub(crate) async fn serve(answers: Vec<Answer>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let kept = seen.clone();
    tokio::spawn(async move {
        for answer in answers {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut data = Vec::new();
            let (head, body) = loop {
                let mut chunk = [0; 4096];
                let n = socket.read(&mut chunk).await.unwrap();
                data.extend_from_slice(&chunk[..n]);
                let text = String::from_utf8_lossy(&data).into_owned();
                let Some((head, body)) = text.split_once("\r\n\r\n") else {
                    continue;
                };
                let length = head
                    .lines()
                    .find_map(|l| {
                        l.to_lowercase().strip_prefix("content-length: ").map(|n| n.trim().parse::<usize>().unwrap())
                    })
                    .unwrap_or(0);
                if n == 0 || body.len() >= length {
                    break (head.to_owned(), body.to_owned());
                }
            };
            kept.lock().unwrap().push(Seen { head, body: serde_json::from_str(&body).unwrap_or(Value::Null) });
            let text = format!(
                "HTTP/1.1 {}\r\ncontent-type: {}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{}",
                answer.status,
                answer.kind,
                answer.body.len(),
                answer.body
            );
            let _ = socket.write_all(text.as_bytes()).await;
            let _ = socket.shutdown().await;
        }
    });
    Server { url, seen }
}
