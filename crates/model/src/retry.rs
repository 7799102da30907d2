//! The one retry layer.

use std::time::Duration;

use async_trait::async_trait;

use crate::error::ModelError;
use crate::model::{DeltaStream, LanguageModel};
use crate::reply::Reply;
use crate::request::Request;

/// What waits between two tries; given from outside, so that tests take no time.
#[async_trait]
pub trait Pause: Send + Sync {
    /// Waits.
    async fn pause(&self, time: Duration);
}

/// Waits on tokio's clock.
#[cfg(feature = "genai")]
#[derive(Debug, Clone, Copy, Default)]
pub struct TokioPause;

#[cfg(feature = "genai")]
#[async_trait]
impl Pause for TokioPause {
    async fn pause(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

/// How often and how patiently to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Requests in all, the first included; default 3, at least 1.
    pub tries: u32,
    /// The wait after the first failure; doubles each time. Default 1 s.
    pub first_pause: Duration,
    /// The longest wait. A server that asks for more gets its error passed on at once. Default 30 s.
    pub max_pause: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { tries: 3, first_pause: Duration::from_secs(1), max_pause: Duration::from_secs(30) }
    }
}

impl RetryPolicy {
    /// The wait after failure number `failed` (from 1), or `None` to give up.
    #[must_use]
    pub fn pause_after(&self, failed: u32, error: &ModelError) -> Option<Duration> {
        if failed >= self.tries.max(1) || !error.is_transient() {
            return None;
        }
        match error {
            ModelError::RateLimited { retry_after: Some(asked) } => (*asked <= self.max_pause).then_some(*asked),
            _ => {
                let doubled = self.first_pause.saturating_mul(2_u32.saturating_pow(failed.saturating_sub(1)));
                Some(doubled.min(self.max_pause))
            }
        }
    }
}

/// A model that tries again after transient errors (unreachable, timeout, 429, 5xx). `Retry-After`
/// is honoured. A stream is retried until it has begun, never within.
#[derive(Debug)]
pub struct Retrying<M, P> {
    inner: M,
    pause: P,
    policy: RetryPolicy,
}

impl<M: LanguageModel, P: Pause> Retrying<M, P> {
    /// Wraps `inner`.
    #[must_use]
    pub fn new(inner: M, policy: RetryPolicy, pause: P) -> Self {
        Self { inner, pause, policy }
    }

    /// The model inside.
    #[must_use]
    pub fn inner(&self) -> &M {
        &self.inner
    }
}

#[async_trait]
impl<M: LanguageModel, P: Pause> LanguageModel for Retrying<M, P> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn context_tokens(&self) -> usize {
        self.inner.context_tokens()
    }

    fn native_tools(&self) -> bool {
        self.inner.native_tools()
    }

    async fn complete(&self, request: Request) -> Result<Reply, ModelError> {
        let mut failed = 0;
        loop {
            match self.inner.complete(request.clone()).await {
                Ok(mut reply) => {
                    reply.usage.calls += u64::from(failed);
                    return Ok(reply);
                }
                Err(error) => {
                    failed += 1;
                    let Some(time) = self.policy.pause_after(failed, &error) else {
                        return Err(error);
                    };
                    tracing::debug!(failed, pause_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX), %error, "model call failed; trying again");
                    self.pause.pause(time).await;
                }
            }
        }
    }

    async fn stream(&self, request: Request) -> Result<DeltaStream, ModelError> {
        use futures::stream::{self, StreamExt};
        let mut failed = 0;
        loop {
            let error = match self.inner.stream(request.clone()).await {
                Ok(mut deltas) => match deltas.next().await {
                    Some(Err(error)) => error,
                    first => return Ok(stream::iter(first).chain(deltas).boxed()),
                },
                Err(error) => error,
            };
            failed += 1;
            let Some(time) = self.policy.pause_after(failed, &error) else {
                return Err(error);
            };
            self.pause.pause(time).await;
        }
    }
}
