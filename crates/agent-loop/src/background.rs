//! Work that nobody waits for: coalesced by key, drained at exit.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The longest that an exit waits.
pub const DRAIN_LIMIT: Duration = Duration::from_secs(60);

/// How long a job that was cancelled is waited for: it ends where it next waits itself, and one that
/// never does is left behind.
const CANCEL_LIMIT: Duration = Duration::from_secs(1);

/// What became of a submitted job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submitted {
    /// It runs.
    Started,
    /// Another of its key runs; it waits, in place of one that waited before.
    Coalesced,
    /// The jobs are being drained; it will not run.
    Refused,
}

/// Background jobs: of each key at most one runs and one waits, and the one that waits is always
/// the newest. Cheap to clone; clones share the jobs.
#[derive(Clone, Default)]
pub struct BackgroundJobs {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    tracker: TaskTracker,
    cancel: CancellationToken,
}

#[derive(Default)]
struct State {
    /// Keys that run, with the job that waits behind.
    running: BTreeMap<String, Option<Job>>,
    closed: bool,
}

impl BackgroundJobs {
    /// No jobs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Submits a job. Must be called within a tokio runtime.
    pub fn submit(&self, key: impl Into<String>, job: impl Future<Output = ()> + Send + 'static) -> Submitted {
        let key = key.into();
        let job: Job = Box::pin(job);
        let mut state = self.inner.lock();
        if state.closed {
            return Submitted::Refused;
        }
        if let Some(waiting) = state.running.get_mut(&key) {
            *waiting = Some(job);
            return Submitted::Coalesced;
        }
        state.running.insert(key.clone(), None);
        drop(state);
        let inner = Arc::clone(&self.inner);
        self.inner.tracker.spawn(async move { inner.work(key, job).await });
        Submitted::Started
    }

    /// Keys that run or wait.
    #[must_use]
    pub fn pending(&self) -> Vec<String> {
        self.inner.lock().running.keys().cloned().collect()
    }

    /// Refuses new jobs and waits for those that run and wait, up to `limit`; then cancels what is
    /// left and returns its keys, at most a second later.
    pub async fn drain(&self, limit: Duration) -> Vec<String> {
        self.inner.lock().closed = true;
        self.inner.tracker.close();
        if tokio::time::timeout(limit, self.inner.tracker.wait()).await.is_ok() {
            return Vec::new();
        }
        let lost = self.pending();
        tracing::warn!(jobs = lost.len(), "background work was cut off at exit");
        self.inner.cancel.cancel();
        if tokio::time::timeout(CANCEL_LIMIT, self.inner.tracker.wait()).await.is_err() {
            tracing::warn!("background work that does not yield was left behind");
        }
        lost
    }
}

impl std::fmt::Debug for BackgroundJobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BackgroundJobs").field("pending", &self.pending()).finish()
    }
}

impl Inner {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn work(self: Arc<Self>, key: String, first: Job) {
        let mut next = Some(first);
        while let Some(job) = next {
            let guarded = AssertUnwindSafe(job).catch_unwind();
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return,
                ended = guarded => {
                    if ended.is_err() {
                        tracing::warn!("a background job panicked");
                    }
                }
            }
            let mut state = self.lock();
            next = state.running.get_mut(&key).and_then(Option::take);
            if next.is_none() {
                state.running.remove(&key);
            }
        }
    }
}
