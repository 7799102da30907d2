//! A static model (Model2Vec) from a local folder: a table of word vectors and a tokenizer.
//!
//! Loading takes up to seconds and happens at the first call; from then on a text takes some tens of
//! microseconds. Nothing is ever fetched.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use model2vec_rs::model::StaticModel;

use super::embedder::Embedder;
use super::error::EmbedError;

/// A static embedding model.
#[derive(Debug)]
pub struct StaticEmbedder {
    folder: PathBuf,
    loaded: OnceLock<Loaded>,
    /// Held while it loads, so that it loads once.
    loading: Mutex<()>,
    id: String,
}

#[derive(Debug)]
struct Loaded {
    model: StaticModel,
    dimension: usize,
}

impl StaticEmbedder {
    /// The model in `folder`, which holds `config.json`, `tokenizer.json` and `model.safetensors`
    /// (as Model2Vec or sentence-transformers write it). Looks that they are there and loads nothing:
    /// the first [`Embedder::embed`] does.
    ///
    /// # Errors
    /// [`EmbedError::NoModel`], which says how to fetch a model that was named by its hub id.
    pub fn new(folder: impl AsRef<Path>) -> Result<Self, EmbedError> {
        let folder = folder.as_ref().to_path_buf();
        let id = identity(&folder).ok_or_else(|| EmbedError::NoModel { path: folder.clone() })?;
        Ok(Self { folder, loaded: OnceLock::new(), loading: Mutex::new(()), id })
    }

    fn loaded(&self) -> Result<&Loaded, EmbedError> {
        if let Some(loaded) = self.loaded.get() {
            return Ok(loaded);
        }
        let _one = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = self.loaded.get() {
            return Ok(loaded);
        }
        let bad = |source| EmbedError::BadModel { path: self.folder.clone(), source };
        let model = catch_unwind(|| StaticModel::from_pretrained(&self.folder, None, None, None))
            .map_err(|_| bad(Box::from("its reader gave up")))?
            .map_err(|error| bad(error.into()))?;
        let dimension = model.dim();
        if dimension == 0 {
            return Err(bad(Box::from("it has no vectors")));
        }
        tracing::debug!(dimension, "embedding model loaded");
        Ok(self.loaded.get_or_init(|| Loaded { model, dimension }))
    }
}

impl Embedder for StaticEmbedder {
    fn id(&self) -> String {
        self.id.clone()
    }

    fn dimension(&self) -> Option<usize> {
        self.loaded.get().map(|loaded| loaded.dimension)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        encode(&self.loaded()?.model, texts)
    }

    fn is_quick(&self) -> bool {
        self.loaded.get().is_some()
    }
}

/// One vector a text. The model panics on a table that its tokenizer has no row for; that is an
/// error as any other.
fn encode(model: &StaticModel, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
    // One by one, on this thread: a batch would start a pool of threads. Reads 512 tokens a text.
    let all = || texts.iter().map(|text| model.encode_single(text)).collect();
    catch_unwind(AssertUnwindSafe(all)).map_err(|_| EmbedError::Failed)
}

/// What tells two models apart: the sizes of its files and its settings. Reading all of a large model
/// would take as long as loading it.
fn identity(folder: &Path) -> Option<String> {
    let inner = folder.join("0_StaticEmbedding");
    let base = if folder.join("model.safetensors").is_file() { folder } else { inner.as_path() };
    let sizes = ["tokenizer.json", "model.safetensors"].map(|name| std::fs::metadata(base.join(name)).ok());
    let [Some(tokenizer), Some(model)] = sizes else {
        return None;
    };
    let configs = ["config.json", "config_sentence_transformers.json"];
    let config = configs.iter().find_map(|name| std::fs::read(folder.join(name)).ok())?;
    let name = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let name = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let hash = blake3::hash(&config).to_hex();
    Some(format!("static {name} {} {} {hash}", tokenizer.len(), model.len()))
}
