//! A model that answers from a file of recorded replies, keyed by what was asked.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ModelError;
use crate::model::LanguageModel;
use crate::reply::Reply;
use crate::request::Request;

/// The version of the file that this build writes and reads.
const VERSION: u32 = 1;

/// The file: a JSON object, keys in order, so that a recording is reviewed like code.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Recording {
    version: u32,
    model: String,
    context_tokens: usize,
    native_tools: bool,
    replies: BTreeMap<String, Recorded>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Recorded {
    /// The last message's first words, for the person who reads the file.
    asked: String,
    reply: Reply,
}

/// Replays recorded replies; in record mode it asks another model and writes down what it said.
/// The key is a hash of the whole request, so a changed prompt is a missing recording:
/// [`ModelError::NoScript`].
pub struct RecordedModel {
    path: PathBuf,
    recording: Mutex<Recording>,
    name: String,
    context_tokens: usize,
    native_tools: bool,
    inner: Option<Arc<dyn LanguageModel>>,
}

impl RecordedModel {
    /// Replays the recording at `path`.
    ///
    /// # Errors
    /// [`ModelError::Recording`] when it can't be read, [`ModelError::Malformed`] when it is no
    /// recording of this version.
    pub fn replay(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let recording = read(path.as_ref())?;
        Ok(Self::over(path.as_ref(), recording, None))
    }

    /// Records: a request that is not in the file goes to `inner`, and its reply into the file. The
    /// file is made when it does not exist. Errors are returned and not recorded.
    ///
    /// # Errors
    /// As [`RecordedModel::replay`], but for a file that does not exist.
    pub fn record(path: impl AsRef<Path>, inner: Arc<dyn LanguageModel>) -> Result<Self, ModelError> {
        let recording = match read(path.as_ref()) {
            Ok(recording) => recording,
            Err(ModelError::Recording { kind: io::ErrorKind::NotFound, .. }) => Recording {
                version: VERSION,
                model: inner.name().to_owned(),
                context_tokens: inner.context_tokens(),
                native_tools: inner.native_tools(),
                replies: BTreeMap::new(),
            },
            Err(error) => return Err(error),
        };
        Ok(Self::over(path.as_ref(), recording, Some(inner)))
    }

    /// How many replies are recorded.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().replies.len()
    }

    /// Whether nothing is recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn over(path: &Path, recording: Recording, inner: Option<Arc<dyn LanguageModel>>) -> Self {
        Self {
            path: path.to_owned(),
            name: recording.model.clone(),
            context_tokens: recording.context_tokens,
            native_tools: recording.native_tools,
            recording: Mutex::new(recording),
            inner,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Recording> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for RecordedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedModel").field("path", &self.path).field("name", &self.name).finish_non_exhaustive()
    }
}

#[async_trait]
impl LanguageModel for RecordedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn context_tokens(&self) -> usize {
        self.context_tokens
    }

    fn native_tools(&self) -> bool {
        self.native_tools
    }

    async fn complete(&self, request: Request) -> Result<Reply, ModelError> {
        let key = key(&request)?;
        if let Some(recorded) = self.lock().replies.get(&key) {
            return Ok(recorded.reply.clone());
        }
        let Some(inner) = &self.inner else {
            return Err(ModelError::NoScript);
        };
        let asked = request.messages.last().map(|m| m.content.chars().take(80).collect()).unwrap_or_default();
        let reply = inner.complete(request).await?;
        let mut recording = self.lock();
        recording.replies.insert(key, Recorded { asked, reply: reply.clone() });
        write(&self.path, &recording)?;
        Ok(reply)
    }
}

/// The hash of a request: blake3 over its JSON with sorted keys, first 128 bits in hex.
fn key(request: &Request) -> Result<String, ModelError> {
    let value = serde_json::to_value(request).map_err(|_| ModelError::Malformed)?;
    let mut hasher = blake3::Hasher::new();
    hash(&value, &mut hasher);
    Ok(hasher.finalize().to_hex().chars().take(32).collect())
}

fn hash(value: &Value, hasher: &mut blake3::Hasher) {
    match value {
        Value::Object(map) => {
            hasher.update(b"{");
            let sorted: BTreeMap<_, _> = map.iter().collect();
            for (key, value) in sorted {
                hasher.update(&(key.len() as u64).to_le_bytes()).update(key.as_bytes());
                hash(value, hasher);
            }
            hasher.update(b"}");
        }
        Value::Array(items) => {
            hasher.update(b"[");
            items.iter().for_each(|item| hash(item, hasher));
            hasher.update(b"]");
        }
        scalar => {
            let text = scalar.to_string();
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
    }
}

fn read(path: &Path) -> Result<Recording, ModelError> {
    let text = std::fs::read_to_string(path).map_err(|e| io_error(path, &e))?;
    let recording: Recording = serde_json::from_str(&text).map_err(|_| ModelError::Malformed)?;
    if recording.version == VERSION { Ok(recording) } else { Err(ModelError::Malformed) }
}

#[expect(clippy::disallowed_methods, reason = "a recording is no file of a vault")]
fn write(path: &Path, recording: &Recording) -> Result<(), ModelError> {
    let mut text = serde_json::to_string_pretty(recording).map_err(|_| ModelError::Malformed)?;
    text.push('\n');
    let temporary = path.with_extension("tmp");
    std::fs::write(&temporary, text).and_then(|()| std::fs::rename(&temporary, path)).map_err(|e| io_error(path, &e))
}

fn io_error(path: &Path, error: &io::Error) -> ModelError {
    ModelError::Recording { path: path.to_owned(), kind: error.kind() }
}
