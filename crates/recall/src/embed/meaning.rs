//! Meaning over one vault: the thread that embeds, and what a query gets of it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use dormouse_vault::{Snapshot, Vault, Version};

use super::embedder::Embedder;
use super::error::EmbedError;
use super::rows::Row;
use super::status::MeaningStatus;
use super::worker::{Shared, Worker, checked};
use crate::index::NoteKey;
use crate::search::SignalState;

/// Queries whose vectors are remembered.
const REMEMBERED: usize = 32;
/// Queries that may wait for a slow embedder at once.
const MAX_ASKING: usize = 8;
/// How long the end waits for the thread. An embedder may be waiting for the network; it is left
/// alone then, and writes nothing more.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// Vectors of one vault's blocks, kept up by a thread of their own.
#[derive(Debug)]
pub(crate) struct Meaning {
    shared: Arc<Shared>,
    remembered: Mutex<VecDeque<(String, Row)>>,
    asking: Arc<AtomicUsize>,
    thread: Option<(JoinHandle<()>, Mutex<mpsc::Receiver<()>>)>,
}

/// A query's vector, or why there is none, over the vectors that there are.
#[derive(Debug)]
pub(crate) struct Asked {
    shared: Arc<Shared>,
    query: Option<Row>,
    /// The state of the signal.
    pub(crate) state: SignalState,
    /// Why it can't be used.
    pub(crate) warning: Option<String>,
}

impl Meaning {
    /// Starts the thread.
    pub(crate) fn start(vault: &Arc<Vault>, embedder: Arc<dyn Embedder>) -> Self {
        let shared = Arc::new(Shared::new(embedder));
        let worker = Worker::new(Arc::clone(&shared), Arc::clone(vault));
        let (done, ended) = mpsc::channel();
        let work = move || {
            worker.run();
            let _ = done.send(());
        };
        let thread = std::thread::Builder::new().name("dormouse-meaning".to_owned()).spawn(work);
        if let Err(error) = &thread {
            tracing::warn!(%error, "no thread for vectors");
        }
        let thread = thread.ok().map(|handle| (handle, Mutex::new(ended)));
        Self { shared, remembered: Mutex::default(), asking: Arc::default(), thread }
    }

    /// Embeds what this snapshot has and the vectors lack, in the background.
    pub(crate) fn follow(&self, snapshot: &Arc<Snapshot>) {
        self.shared.want(Arc::clone(snapshot));
    }

    /// Waits until nothing is left to be embedded; false when it takes longer than `patience` or fails.
    pub(crate) fn wait(&self, patience: Duration) -> bool {
        self.shared.wait_idle(patience) && self.shared.board().problem.is_none()
    }

    /// How far it is.
    pub(crate) fn status(&self) -> MeaningStatus {
        let (notes, vectors) = {
            let vectors = self.shared.vectors.read().unwrap_or_else(PoisonError::into_inner);
            (vectors.notes.len(), vectors.rows.len())
        };
        let board = self.shared.board();
        MeaningStatus {
            model: self.shared.embedder.id(),
            notes: notes.min(board.notes),
            of_notes: board.notes,
            vectors,
            refused: board.refused,
            problem: board.problem.clone(),
            idle: board.idle,
        }
    }

    /// Whether the vectors are all there.
    fn state(&self) -> SignalState {
        let status = self.status();
        let all = status.idle || (status.of_notes > 0 && status.notes >= status.of_notes);
        if all { SignalState::Fresh } else { SignalState::Partial }
    }

    /// The vector of a query, within `deadline`.
    pub(crate) fn ask(&self, text: &str, deadline: Duration) -> Asked {
        let (query, state, warning) = match self.vector(text, deadline) {
            Ok(row) => (Some(row), self.state(), None),
            Err(why) => (None, SignalState::Missing, Some(format!("meaning: {why}; searched by words alone"))),
        };
        Asked { shared: Arc::clone(&self.shared), query, state, warning }
    }

    fn vector(&self, text: &str, deadline: Duration) -> Result<Row, String> {
        let remembered = || self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, row)) = remembered().iter().find(|(have, _)| have == text) {
            return Ok(row.clone());
        }
        if let Some(problem) = self.shared.resting() {
            return Err(problem);
        }
        let answer = if self.shared.embedder.is_quick() {
            self.shared.embedder.embed(&[text])
        } else {
            self.within(text, deadline)?
        };
        let expected = self.shared.embedder.dimension();
        let vector = answer.and_then(|answer| {
            checked(&answer, 1, expected)?;
            answer.into_iter().next().ok_or(EmbedError::Count { got: 0, expected: 1 })
        });
        let row = Row::of(&vector.map_err(|error| {
            // A query that it can't read says nothing of the next one.
            if !error.is_of_the_text() {
                self.shared.failed(&error);
            }
            error.to_string()
        })?);
        let mut remembered = remembered();
        remembered.truncate(REMEMBERED - 1);
        remembered.push_front((text.to_owned(), row.clone()));
        Ok(row)
    }

    /// Asks on a thread of its own, which goes on alone when the time is over.
    fn within(&self, text: &str, deadline: Duration) -> Result<Result<Vec<Vec<f32>>, EmbedError>, String> {
        if self.asking.fetch_add(1, Ordering::SeqCst) >= MAX_ASKING {
            self.asking.fetch_sub(1, Ordering::SeqCst);
            return Err("the embedder is behind".to_owned());
        }
        let (send, receive) = mpsc::channel();
        let (embedder, asking, text) = (Arc::clone(&self.shared.embedder), Arc::clone(&self.asking), text.to_owned());
        let ask = move || {
            let _ = send.send(embedder.embed(&[text.as_str()]));
            asking.fetch_sub(1, Ordering::SeqCst);
        };
        if std::thread::Builder::new().name("dormouse-query".to_owned()).spawn(ask).is_err() {
            self.asking.fetch_sub(1, Ordering::SeqCst);
            return Err("no thread for the query".to_owned());
        }
        receive.recv_timeout(deadline).map_err(|_| format!("the embedder took longer than {} ms", deadline.as_millis()))
    }
}

impl Drop for Meaning {
    fn drop(&mut self) {
        self.shared.stop();
        if let Some((thread, ended)) = self.thread.take() {
            let ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
            if ended.recv_timeout(LAST_WAIT) != Err(mpsc::RecvTimeoutError::Timeout) {
                let _ = thread.join();
            }
        }
    }
}

impl Asked {
    /// Whether there is a vector to compare with.
    pub(crate) fn is_ready(&self) -> bool {
        self.query.as_ref().is_some_and(|query| query.scale > 0.0)
    }

    /// The `limit` blocks most like the query, best first, of the notes that `allowed` lets through
    /// with the version whose vectors these are. Linear in the blocks, some nanoseconds each.
    pub(crate) fn nearest(
        &self,
        limit: usize,
        allowed: &dyn Fn(NoteKey, Version) -> bool,
    ) -> Vec<((NoteKey, u32), f32)> {
        let Some(query) = self.query.as_ref() else {
            return Vec::new();
        };
        self.shared.vectors.read().unwrap_or_else(PoisonError::into_inner).nearest(query, limit, allowed)
    }

    /// How alike the blocks of a note are to the query, in order of blocks; nothing when the vectors are those
    /// of another version.
    pub(crate) fn of_note(&self, note: NoteKey, version: Version) -> Vec<(u32, f32)> {
        let Some(query) = self.query.as_ref() else {
            return Vec::new();
        };
        let vectors = self.shared.vectors.read().unwrap_or_else(PoisonError::into_inner);
        let found = vectors.notes.get(&note).filter(|have| have.version == version);
        found.map_or_else(Vec::new, |note| vectors.of_note(note, query))
    }
}
