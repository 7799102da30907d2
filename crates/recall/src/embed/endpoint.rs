//! An OpenAI-compatible endpoint: `POST {base}/embeddings`.
//!
//! The text of blocks is sent there, so the address comes from a person and never from a file that lies in a
//! vault. One connection is kept open; redirects are not followed and no proxy is used. A reply that
//! is late, refused or no list of vectors is an error, and the caller goes on by words.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};
use ureq::{Agent, http};

use super::embedder::Embedder;
use super::error::EmbedError;

/// The longest answer that is read.
const MAX_ANSWER: u64 = 64 << 20;

/// Where an endpoint is and how it is asked.
#[derive(Clone)]
#[non_exhaustive]
pub struct EndpointSettings {
    /// The address up to its version: `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    /// The model's name there.
    pub model: String,
    /// What is sent as a bearer token; never shown. Default none.
    pub key: Option<String>,
    /// How long one call may take in all. Default 10 s.
    pub timeout: Duration,
    /// Texts a call, at least 1. Default 64.
    pub batch: usize,
}

impl EndpointSettings {
    /// An endpoint without a key, and every default.
    #[must_use]
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self { base_url: base_url.into(), model: model.into(), key: None, timeout: Duration::from_secs(10), batch: 64 }
    }
}

impl std::fmt::Debug for EndpointSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = self.key.as_ref().map(|_| "…");
        f.debug_struct("EndpointSettings")
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .field("key", &key)
            .finish_non_exhaustive()
    }
}

/// An endpoint that embeds.
#[derive(Debug)]
pub struct EndpointEmbedder {
    settings: EndpointSettings,
    url: String,
    agent: Agent,
    dimension: OnceLock<usize>,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'a str,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl EndpointEmbedder {
    /// An endpoint; nothing is sent yet.
    ///
    /// # Errors
    /// [`EmbedError::Address`] and [`EmbedError::Key`], when they can't be sent.
    pub fn new(settings: EndpointSettings) -> Result<Self, EmbedError> {
        let base = settings.base_url.trim_end_matches('/');
        let url = if base.ends_with("/embeddings") { base.to_owned() } else { format!("{base}/embeddings") };
        let legal = url.parse::<http::Uri>().is_ok_and(|uri| uri.host().is_some_and(|host| !host.is_empty()));
        if !(legal && (url.starts_with("http://") || url.starts_with("https://"))) {
            return Err(EmbedError::Address);
        }
        if settings.key.as_ref().is_some_and(|key| key.is_empty() || !key.bytes().all(|b| b.is_ascii_graphic())) {
            return Err(EmbedError::Key);
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(provider)
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .timeout_global(Some(settings.timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .build();
        Ok(Self { url, agent: config.into(), settings, dimension: OnceLock::new() })
    }

    /// One call. Blank texts are none to many endpoints, and are left out by the caller.
    fn call(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut request = self.agent.post(&self.url);
        if let Some(key) = &self.settings.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let body = Request { model: &self.settings.model, input: texts, encoding_format: "float" };
        let mut reply = request.send_json(&body).map_err(of_transport)?;
        match reply.status().as_u16() {
            200..=299 => {}
            429 => return Err(EmbedError::Busy { retry_after: retry_after(reply.headers()) }),
            status => return Err(EmbedError::Refused { status }),
        }
        let answer: Answer = reply.body_mut().with_config().limit(MAX_ANSWER).read_json().map_err(of_transport)?;
        self.in_order(answer, texts.len())
    }

    /// The vectors by index, which an answer may leave out or shuffle.
    fn in_order(&self, answer: Answer, texts: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
        let wrong = EmbedError::Count { got: answer.data.len(), expected: texts };
        let mut out: Vec<Vec<f32>> = vec![Vec::new(); texts];
        for (at, item) in answer.data.into_iter().enumerate() {
            match out.get_mut(item.index.unwrap_or(at)) {
                Some(slot) if slot.is_empty() => *slot = item.embedding,
                _ => return Err(wrong),
            }
        }
        if out.iter().any(Vec::is_empty) {
            return Err(wrong);
        }
        let expected = *self.dimension.get_or_init(|| out.first().map_or(0, Vec::len));
        match out.iter().find(|vector| vector.len() != expected) {
            Some(odd) => Err(EmbedError::Dimension { got: odd.len(), expected }),
            None => Ok(out),
        }
    }
}

impl Embedder for EndpointEmbedder {
    fn id(&self) -> String {
        format!("endpoint {} {}", self.url, self.settings.model)
    }

    fn dimension(&self) -> Option<usize> {
        self.dimension.get().copied()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let said: Vec<&str> = texts.iter().copied().filter(|text| !text.trim().is_empty()).collect();
        let mut vectors = Vec::with_capacity(said.len());
        for batch in said.chunks(self.settings.batch.max(1)) {
            vectors.extend(self.call(batch)?);
        }
        if said.is_empty() && !texts.is_empty() && self.dimension.get().is_none() {
            self.call(&["."])?;
        }
        // A blank text means nothing.
        let nothing = vec![0.0; self.dimension.get().copied().unwrap_or(0)];
        let mut vectors = vectors.into_iter();
        let each = |text: &&str| if text.trim().is_empty() { Some(nothing.clone()) } else { vectors.next() };
        Ok(texts.iter().filter_map(each).collect())
    }
}

fn of_transport(error: ureq::Error) -> EmbedError {
    match error {
        ureq::Error::Json(source) => EmbedError::Unreadable { source: Box::new(source) },
        ureq::Error::BodyExceedsLimit(_) => EmbedError::Unreadable { source: Box::new(error) },
        other => EmbedError::Unreachable { source: Box::new(other) },
    }
}

/// Seconds to wait; a date is not read.
fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    headers.get("retry-after")?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}
