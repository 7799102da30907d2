//! Why there is no vector.

use std::path::PathBuf;
use std::time::Duration;

/// What can go wrong with an embedder. A search is never one of these: it answers without vectors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// There is no model folder of this name. A model's hub id is not a folder.
    #[error(
        "no embedding model in {}; it must be a folder with config.json, tokenizer.json and model.safetensors. \
         A hub model is fetched once with `hf download ID --local-dir FOLDER`",
        path.display()
    )]
    NoModel {
        /// What was named.
        path: PathBuf,
    },
    /// The model's files can't be read.
    #[error("the embedding model in {} can't be used: {source}", path.display())]
    BadModel {
        /// The folder.
        path: PathBuf,
        /// What its reader said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The model could not read this text.
    #[error("the embedding model failed on a text")]
    Failed,
    /// A vector has another length than those before.
    #[error("the embedder answered with vectors of length {got}, where {expected} is right")]
    Dimension {
        /// What came.
        got: usize,
        /// What the model's vectors have.
        expected: usize,
    },
    /// Not one vector a text came back.
    #[error("the embedder answered {got} vectors for {expected} texts")]
    Count {
        /// What came.
        got: usize,
        /// How many texts there were.
        expected: usize,
    },
    /// The endpoint's address can't be used.
    #[error("the embedding endpoint's address can't be used; it starts with http:// or https://")]
    Address,
    /// The key has signs that can't be sent.
    #[error("the key of the embedding endpoint has signs that can't be sent, or none")]
    Key,
    /// The endpoint can't be reached, or was too slow.
    #[error("the embedding endpoint can't be reached: {source}")]
    Unreachable {
        /// What the connection said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The endpoint wants fewer calls.
    #[error("the embedding endpoint is busy (HTTP 429)")]
    Busy {
        /// How long it asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// The endpoint refused.
    #[error("the embedding endpoint answered HTTP {status}")]
    Refused {
        /// The status.
        status: u16,
    },
    /// The endpoint's answer is no list of vectors.
    #[error("the embedding endpoint's answer can't be read: {source}")]
    Unreadable {
        /// What is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl EmbedError {
    /// Whether another text may well have a vector: the model or endpoint did answer.
    pub(crate) fn is_of_the_text(&self) -> bool {
        matches!(self, Self::Failed | Self::Refused { status: 400 | 413 | 415 | 422 })
    }

    /// How long the embedder asks to be left alone.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after } => *retry_after,
            _ => None,
        }
    }
}
