//! The thread that embeds what has no vector yet.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use dormouse_vault::{Note, Snapshot, Vault};

use super::embedder::Embedder;
use super::error::EmbedError;
use super::file::VectorFile;
use super::places::{self, Texts};
use super::rows::Row;
use super::texts::{TextKey, texts_of};
use super::vectors::Vectors;
use crate::index::NoteKey;

/// Texts and bytes of one call of the embedder.
const BATCH_TEXTS: usize = 64;
const BATCH_BYTES: usize = 48 * 1024;
/// Notes that are read before their texts are embedded and placed.
const BATCH_NOTES: usize = 64;
/// What every embedder can read.
const HARMLESS: &str = "note";
/// The first and the longest wait after a failure.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// The file is written anew when it holds more than this many vectors of texts that are gone, and
/// more of them than of others.
const DEAD: usize = 4_096;

/// What the thread and those who ask share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) embedder: Arc<dyn Embedder>,
    pub(crate) vectors: RwLock<Vectors>,
    board: Mutex<Board>,
    bell: std::sync::Condvar,
}

/// What is wanted, and how it stands.
#[derive(Debug, Default)]
pub(crate) struct Board {
    wanted: Option<Arc<Snapshot>>,
    stop: bool,
    pub(crate) idle: bool,
    /// Live notes of the last snapshot.
    pub(crate) notes: usize,
    pub(crate) problem: Option<String>,
    /// Texts that the embedder would not take.
    pub(crate) refused: usize,
    failures: u32,
    /// The embedder is left alone until then.
    retry_at: Option<Instant>,
}

impl Shared {
    pub(crate) fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, vectors: RwLock::default(), board: Mutex::default(), bell: std::sync::Condvar::new() }
    }

    pub(crate) fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for vectors of this snapshot.
    pub(crate) fn want(&self, snapshot: Arc<Snapshot>) {
        let mut board = self.board();
        board.wanted = Some(snapshot);
        board.idle = false;
        self.bell.notify_all();
    }

    /// Asks the thread to end.
    pub(crate) fn stop(&self) {
        self.board().stop = true;
        self.bell.notify_all();
    }

    fn stopped(&self) -> bool {
        self.board().stop
    }

    /// Waits until nothing is left to be embedded or the embedder has failed; false when that takes longer than `patience`.
    pub(crate) fn wait_idle(&self, patience: Duration) -> bool {
        let now = Instant::now();
        let until = now.checked_add(patience).unwrap_or(now + LONGEST_WAIT);
        let mut board = self.board();
        while !(board.idle || board.problem.is_some()) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            board = self.bell.wait_timeout(board, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Notes that the embedder failed, and leaves it alone for a while: twice as long each time.
    pub(crate) fn failed(&self, error: &EmbedError) {
        let mut board = self.board();
        let wait = FIRST_WAIT.saturating_mul(1 << board.failures.min(16)).min(LONGEST_WAIT);
        let wait = error.retry_after().map_or(wait, |asked| asked.max(wait)).min(LONGEST_WAIT);
        board.failures += 1;
        board.problem = Some(error.to_string());
        board.retry_at = Some(Instant::now() + wait);
        self.bell.notify_all();
        tracing::warn!(failures = board.failures, "the embedder failed");
    }

    /// Notes that it works.
    pub(crate) fn worked(&self) {
        let mut board = self.board();
        (board.failures, board.problem, board.retry_at) = (0, None, None);
    }

    /// Why the embedder is left alone now, if it is.
    pub(crate) fn resting(&self) -> Option<String> {
        let board = self.board();
        let rests = board.retry_at.is_some_and(|at| at > Instant::now());
        rests.then(|| board.problem.clone()).flatten()
    }

    /// The next snapshot to embed; waits for one. `None` at the end.
    fn next(&self) -> Option<Arc<Snapshot>> {
        let mut board = self.board();
        loop {
            if board.stop {
                return None;
            }
            let rest = board.retry_at.map(|at| at.saturating_duration_since(Instant::now())).filter(|d| !d.is_zero());
            match (&board.wanted, rest) {
                (Some(_), None) => return board.wanted.take(),
                (Some(_), Some(rest)) => {
                    board = self.bell.wait_timeout(board, rest).unwrap_or_else(PoisonError::into_inner).0;
                }
                (None, _) => board = self.bell.wait(board).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Whether something else is to be done than what is being done.
    fn interrupted(&self) -> bool {
        let board = self.board();
        board.stop || board.wanted.is_some()
    }
}

/// The thread's work.
pub(crate) struct Worker {
    shared: Arc<Shared>,
    vault: Arc<Vault>,
    file: VectorFile,
    places: String,
    /// The length of the vectors; 0 as long as it isn't known.
    dimension: usize,
    /// Notes that were placed since the places were written down.
    unkept: usize,
    /// Texts that the embedder would not take, in this process.
    refused: HashSet<TextKey>,
}

/// A note whose texts wait for their vectors.
struct Waiting {
    key: NoteKey,
    note: Arc<Note>,
    texts: Texts,
}

impl Worker {
    pub(crate) fn new(shared: Arc<Shared>, vault: Arc<Vault>) -> Self {
        let id = shared.embedder.id();
        let file = VectorFile::of(&vault, &id);
        Self { shared, file, places: places::name_of(&id), vault, dimension: 0, unkept: 0, refused: HashSet::new() }
    }

    /// Works until it is told to stop.
    pub(crate) fn run(mut self) {
        self.load();
        while let Some(snapshot) = self.shared.next() {
            match self.pass(&snapshot) {
                Ok(true) => {
                    let mut board = self.shared.board();
                    board.idle = board.wanted.is_none();
                    self.shared.bell.notify_all();
                }
                Ok(false) => {}
                Err(error) => {
                    self.shared.failed(&error);
                    let mut board = self.shared.board();
                    board.wanted.get_or_insert(snapshot);
                }
            }
        }
        self.keep_places();
    }

    /// Takes in what is on disk.
    fn load(&mut self) {
        if let Some(dimension) = self.file.dimension() {
            self.dimension = dimension;
            let mut vectors = Vectors::new(dimension);
            self.file.read(dimension, |text, bytes, scale| vectors.put(text, bytes, scale));
            for (key, (version, texts)) in places::read(&self.vault, &self.places) {
                vectors.place(key, version, &texts);
            }
            *self.shared.vectors.write().unwrap_or_else(PoisonError::into_inner) = vectors;
        }
    }

    /// Embeds what a snapshot has and the vectors lack. False when something else came between.
    fn pass(&mut self, snapshot: &Snapshot) -> Result<bool, EmbedError> {
        let live: Vec<(NoteKey, Arc<Note>)> = snapshot
            .notes()
            .filter(|note| note.is_live())
            .map(|note| (NoteKey::of(&note.path), Arc::clone(note)))
            .collect();
        self.shared.board().notes = live.len();
        let due = self.due(&live);
        if !due.is_empty() && self.dimension > 0 {
            // What another process has embedded meanwhile; searches go on while the file is read.
            let mut others: Vec<(TextKey, Row)> = Vec::new();
            self.file.read(self.dimension, |text, bytes, scale| {
                others.push((text, Row { bytes: bytes.to_vec(), scale }));
            });
            let mut vectors = self.shared.vectors.write().unwrap_or_else(PoisonError::into_inner);
            others.iter().for_each(|(text, row)| vectors.put(*text, &row.bytes, row.scale));
        }
        for notes in due.chunks(BATCH_NOTES) {
            if self.shared.interrupted() {
                return Ok(false);
            }
            let waiting = notes.iter().filter_map(|(key, note)| {
                let read = self.vault.read(&note.path).ok().filter(|read| read.version == note.version)?;
                Some((Waiting { key: *key, note: Arc::clone(note), texts: Vec::new() }, texts_of(note, &read.text)))
            });
            let waiting: Vec<(Waiting, Vec<(u32, String)>)> = waiting.collect();
            if !self.embed(waiting)? {
                return Ok(false);
            }
        }
        self.compact();
        if self.unkept > live.len() / 20 {
            self.keep_places();
        }
        Ok(true)
    }

    /// Forgets the notes that are gone and says which have no vectors yet.
    fn due(&self, live: &[(NoteKey, Arc<Note>)]) -> Vec<(NoteKey, Arc<Note>)> {
        let mut vectors = self.shared.vectors.write().unwrap_or_else(PoisonError::into_inner);
        if vectors.notes.len() > live.len() {
            let keys: HashSet<NoteKey> = live.iter().map(|(key, _)| *key).collect();
            vectors.notes.retain(|key, _| keys.contains(key));
        }
        live.iter().filter(|(key, note)| !vectors.has(*key, note.version)).cloned().collect()
    }

    /// Embeds the texts that have no vector and places the notes. False when it was told to stop.
    fn embed(&mut self, waiting: Vec<(Waiting, Vec<(u32, String)>)>) -> Result<bool, EmbedError> {
        let mut unknown: Vec<(TextKey, String)> = Vec::new();
        let mut ready: Vec<Waiting> = Vec::new();
        {
            let vectors = self.shared.vectors.read().unwrap_or_else(PoisonError::into_inner);
            let mut seen = HashSet::new();
            for (mut note, texts) in waiting {
                for (block, text) in texts {
                    let key = TextKey::of(&text);
                    if self.refused.contains(&key) {
                        continue;
                    }
                    note.texts.push((block, key));
                    if vectors.row_of(key).is_none() && seen.insert(key) {
                        unknown.push((key, text));
                    }
                }
                ready.push(note);
            }
        }
        let mut rest = unknown.as_slice();
        while !rest.is_empty() {
            if self.shared.stopped() {
                return Ok(false);
            }
            let (batch, more) = rest.split_at(batch_of(rest));
            self.embed_batch(batch)?;
            rest = more;
        }
        for note in &mut ready {
            note.texts.retain(|(_, text)| !self.refused.contains(text));
        }
        let mut vectors = self.shared.vectors.write().unwrap_or_else(PoisonError::into_inner);
        if self.dimension > 0 || unknown.is_empty() {
            self.unkept += ready.iter().filter(|n| vectors.place(n.key, n.note.version, &n.texts)).count();
        }
        Ok(true)
    }

    /// Embeds some texts. Where the embedder won't take one of them but does take others, that one goes
    /// without a vector, and stops nobody else: O(r log n) calls more for r such texts.
    fn embed_batch(&mut self, batch: &[(TextKey, String)]) -> Result<(), EmbedError> {
        match self.embed_all(batch) {
            Err(error) if error.is_of_the_text() && self.shared.embedder.embed(&[HARMLESS]).is_ok() => {
                self.embed_parts(batch)
            }
            other => other,
        }
    }

    /// The halves of a batch that failed as a whole.
    fn embed_parts(&mut self, batch: &[(TextKey, String)]) -> Result<(), EmbedError> {
        if let [(text, _)] = batch {
            tracing::warn!("the embedder would not take a text; it is found by its words alone");
            self.refused.insert(*text);
            self.shared.board().refused = self.refused.len();
            return Ok(());
        }
        let (first, second) = batch.split_at(batch.len() / 2);
        for part in [first, second].into_iter().filter(|part| !part.is_empty()) {
            match self.embed_all(part) {
                Err(error) if error.is_of_the_text() => self.embed_parts(part)?,
                other => other?,
            }
        }
        Ok(())
    }

    fn embed_all(&mut self, batch: &[(TextKey, String)]) -> Result<(), EmbedError> {
        let texts: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
        let answer = self.shared.embedder.embed(&texts)?;
        let dimension = checked(&answer, texts.len(), (self.dimension > 0).then_some(self.dimension));
        let dimension = match dimension {
            Err(EmbedError::Dimension { got, .. }) if self.shared.embedder.dimension() == Some(got) => {
                // The file was another model's of this name: what is there is of no use.
                *self.shared.vectors.write().unwrap_or_else(PoisonError::into_inner) = Vectors::default();
                got
            }
            other => other?,
        };
        if self.shared.stopped() {
            return Ok(());
        }
        self.shared.worked();
        let rows: Vec<(TextKey, Row)> =
            batch.iter().zip(&answer).map(|((text, _), vector)| (*text, Row::of(vector))).collect();
        if self.dimension != dimension {
            self.dimension = dimension;
        }
        if let Err(error) = self.file.append(dimension, &rows) {
            tracing::warn!(%error, "vectors are not kept");
        }
        let mut vectors = self.shared.vectors.write().unwrap_or_else(PoisonError::into_inner);
        if vectors.rows.dimension() != dimension {
            *vectors = Vectors::new(dimension);
        }
        rows.iter().for_each(|(text, row)| vectors.put(*text, &row.bytes, row.scale));
        Ok(())
    }

    /// Writes the file anew without the vectors of texts that are gone, when those are most of it.
    fn compact(&mut self) {
        let compacted = {
            let vectors = self.shared.vectors.read().unwrap_or_else(PoisonError::into_inner);
            if vectors.rows.len() <= DEAD {
                return;
            }
            let live = vectors.live();
            if vectors.rows.len() - live.len() <= DEAD.max(live.len()) {
                return;
            }
            vectors.compacted(&live)
        };
        *self.shared.vectors.write().unwrap_or_else(PoisonError::into_inner) = compacted;
        let vectors = self.shared.vectors.read().unwrap_or_else(PoisonError::into_inner);
        let rows = vectors.live();
        let rows = rows.iter().filter_map(|(text, row)| vectors.rows.get(*row).map(|(b, s)| (*text, b, s)));
        if let Err(error) = self.file.replace(self.dimension, rows) {
            tracing::warn!(%error, "vectors are not compacted");
        }
    }

    fn keep_places(&mut self) {
        if self.unkept == 0 || self.vault.is_read_only() {
            return;
        }
        let vectors = self.shared.vectors.read().unwrap_or_else(PoisonError::into_inner);
        match places::keep(&self.vault, &self.places, &vectors) {
            Ok(()) => self.unkept = 0,
            Err(error) => tracing::warn!(%error, "the places of vectors are not kept"),
        }
    }
}

/// How many of the first texts make one call.
fn batch_of(texts: &[(TextKey, String)]) -> usize {
    let mut bytes = 0;
    let fits = texts.iter().take(BATCH_TEXTS).take_while(|(_, text)| {
        bytes += text.len();
        bytes <= BATCH_BYTES
    });
    fits.count().max(1)
}

/// The length of all vectors of an answer.
pub(crate) fn checked(answer: &[Vec<f32>], texts: usize, expected: Option<usize>) -> Result<usize, EmbedError> {
    if answer.len() != texts {
        return Err(EmbedError::Count { got: answer.len(), expected: texts });
    }
    let expected = expected.or_else(|| answer.first().map(Vec::len)).unwrap_or(0);
    match answer.iter().find(|vector| vector.len() != expected || vector.is_empty()) {
        Some(odd) => Err(EmbedError::Dimension { got: odd.len(), expected }),
        None => Ok(expected),
    }
}
