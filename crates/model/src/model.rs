//! The port: one object-safe async trait.

use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt};

use crate::error::ModelError;
use crate::reply::Reply;
use crate::request::Request;

/// A piece of a streamed reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// More text.
    Text(String),
    /// The whole reply, always last.
    Done(Reply),
}

/// A streamed reply.
pub type DeltaStream = BoxStream<'static, Result<Delta, ModelError>>;

/// A language model.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// The model's name, for audit lines and accounting.
    fn name(&self) -> &str;

    /// The window in tokens, input and output together; 8,192 when unknown.
    fn context_tokens(&self) -> usize {
        8_192
    }

    /// Whether it takes tools natively; else the loop falls back to text calls.
    fn native_tools(&self) -> bool {
        true
    }

    /// Asks once. Retries are the caller's.
    ///
    /// # Errors
    /// [`ModelError`]; a reply cut by its token limit is no error but [`crate::FinishReason::Length`].
    async fn complete(&self, request: Request) -> Result<Reply, ModelError>;

    /// Asks once and streams the reply. The default sends the whole reply as one piece.
    ///
    /// # Errors
    /// As [`LanguageModel::complete`], also between pieces.
    async fn stream(&self, request: Request) -> Result<DeltaStream, ModelError> {
        let reply = self.complete(request).await?;
        let text = (!reply.text.is_empty()).then(|| Ok(Delta::Text(reply.text.clone())));
        Ok(stream::iter(text.into_iter().chain([Ok(Delta::Done(reply))])).boxed())
    }
}
