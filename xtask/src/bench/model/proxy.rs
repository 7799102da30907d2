//! A server of chat completions that hands each request on, and spoils some of the replies.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::fault::{Asked, Fault};

/// Of five requests the first, third and fourth are spoilt: a fault that a second try mends, and two in
/// a row, which leave a note pending.
const SPOILT: [bool; 5] = [true, false, true, true, false];

/// A request may be as long as this.
const LONGEST: usize = 16 << 20;

/// What the proxy did so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// Requests that arrived.
    pub(crate) requests: usize,
    /// How often each fault was injected.
    pub(crate) injected: BTreeMap<Fault, usize>,
}

/// The proxy, on a port of the loopback interface that was free.
#[derive(Clone)]
pub(crate) struct Proxy {
    upstream: String,
    client: reqwest::Client,
    faulty: bool,
    seen: Arc<Mutex<Seen>>,
}

impl Proxy {
    /// Serves until the runtime ends; also says where.
    pub(crate) async fn serve(upstream: &str, faulty: bool) -> Result<(Self, String)> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no port is free")?;
        let url = format!("http://{}/v1/", listener.local_addr()?);
        let proxy = Self {
            upstream: upstream.trim_end_matches('/').to_owned(),
            client: reqwest::Client::new(),
            faulty,
            seen: Arc::default(),
        };
        let serving = proxy.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let proxy = serving.clone();
                tokio::spawn(async move {
                    if let Err(error) = proxy.answer(stream).await {
                        anstream::eprintln!("proxy: {error:#}");
                    }
                });
            }
        });
        Ok((proxy, url))
    }

    /// What happened so far.
    pub(crate) fn seen(&self) -> Seen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// One request of one connection.
    async fn answer(&self, mut stream: TcpStream) -> Result<()> {
        let body = request(&mut stream).await?;
        let asked = serde_json::from_slice(&body).ok().as_ref().and_then(Asked::of);
        let wanted = self.wanted(asked);
        match wanted {
            Some(Fault::TooMany) => {
                self.count(Fault::TooMany);
                let head = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\n";
                return send(&mut stream, head, b"{\"error\":{\"message\":\"slow down\"}}").await;
            }
            Some(Fault::ServerError) => {
                self.count(Fault::ServerError);
                let head = "HTTP/1.1 500 Internal Server Error\r\n";
                return send(&mut stream, head, b"{\"error\":{\"message\":\"it fell over\"}}").await;
            }
            Some(Fault::Garbage) => {
                self.count(Fault::Garbage);
                return send(&mut stream, "HTTP/1.1 200 OK\r\n", b"<html>gateway</html>").await;
            }
            _ => {}
        }
        let url = format!("{}/chat/completions", self.upstream);
        let sent = self.client.post(url).header("Content-Type", "application/json").body(body).send();
        let reply = sent.await.context("the server behind the proxy does not answer")?;
        let head = format!("HTTP/1.1 {}\r\n", reply.status());
        let mut text = reply.bytes().await?.to_vec();
        if let (Some(fault), Some(asked)) = (wanted, asked) {
            if fault == Fault::CutConnection {
                self.count(fault);
                let half = text.get(..text.len() / 2).unwrap_or_default();
                let head = format!("{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n", text.len());
                stream.write_all(head.as_bytes()).await?;
                stream.write_all(half).await?;
                return Ok(stream.shutdown().await?);
            }
            if let Some(spoilt) = spoilt(fault, asked, &text) {
                self.count(fault);
                text = spoilt;
            }
        }
        send(&mut stream, &head, &text).await
    }

    /// Counts a request, and says which fault it meets: the rarest so far of those that fit.
    fn wanted(&self, asked: Option<Asked>) -> Option<Fault> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let spoils = SPOILT.get(seen.requests % SPOILT.len()).copied().unwrap_or(false);
        seen.requests += 1;
        let asked = asked.filter(|_| self.faulty && spoils)?;
        let often = |fault: &Fault| seen.injected.get(fault).copied().unwrap_or(0);
        Fault::ALL.into_iter().filter(|fault| fault.fits(asked)).min_by_key(often)
    }

    fn count(&self, fault: Fault) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner).injected.entry(fault).or_default() += 1;
    }
}

/// A reply with its text spoilt.
fn spoilt(fault: Fault, asked: Asked, reply: &[u8]) -> Option<Vec<u8>> {
    let mut value: Value = serde_json::from_slice(reply).ok()?;
    let text = value.pointer("/choices/0/message/content")?.as_str()?.to_owned();
    *value.pointer_mut("/choices/0/message/content")? = Value::String(fault.spoil(asked, &text)?);
    if fault == Fault::CutByLength {
        *value.pointer_mut("/choices/0/finish_reason")? = Value::String("length".to_owned());
    }
    Some(value.to_string().into_bytes())
}

/// The body of the request that a connection opens with.
async fn request(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let mut have = Vec::new();
    let mut part = vec![0_u8; 16 * 1024];
    loop {
        let end = have.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8_lossy(have.get(..end).unwrap_or_default()).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
            let length: usize = length.context("a request without a length")?;
            anyhow::ensure!(length <= LONGEST, "a request of {length} bytes");
            while have.len() < end + 4 + length {
                let read = stream.read(&mut part).await?;
                anyhow::ensure!(read > 0, "a request that ends early");
                have.extend_from_slice(part.get(..read).unwrap_or_default());
            }
            return Ok(have.get(end + 4..end + 4 + length).unwrap_or_default().to_vec());
        }
        let read = stream.read(&mut part).await?;
        anyhow::ensure!(read > 0 && have.len() < LONGEST, "a connection without a request");
        have.extend_from_slice(part.get(..read).unwrap_or_default());
    }
}

async fn send(stream: &mut TcpStream, head: &str, body: &[u8]) -> Result<()> {
    let head =
        format!("{head}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    Ok(stream.shutdown().await?)
}
