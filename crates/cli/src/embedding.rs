//! Which embedder the settings, the command line and the environment ask for.
//!
//! A static model may be named by the vault's own `dormouse.toml`: its folder is read and nothing
//! leaves the machine. An endpoint gets the text of notes, so that a file in the vault can't name one:
//! only `--embed-endpoint` or `DORMOUSE_EMBED_ENDPOINT` can.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use dormouse_recall::{Embedder, EndpointEmbedder, EndpointSettings, RecallConfig, StaticEmbedder};

use crate::args::EmbedArgs;
use crate::commands::warn_lines;
use crate::failure::refuse;

/// How long a command that ends after its answer waits for the model and for vectors.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// The embedder, or none when nothing asks for one. Loads and sends nothing.
pub(crate) fn embedder(args: &EmbedArgs, root: &Path, config: &RecallConfig) -> Result<Option<Arc<dyn Embedder>>> {
    if let Some(endpoint) = &args.embed_endpoint {
        let mut settings = EndpointSettings::new(endpoint.as_str(), args.embed_model.as_str());
        settings.key = args.embed_key_env.as_ref().and_then(|name| std::env::var(name).ok());
        let made = EndpointEmbedder::new(settings);
        let hint = "name it as http://HOST:PORT/v1, and the key by --embed-key-env NAME";
        return made
            .map(|e| Some(Arc::new(e) as Arc<dyn Embedder>))
            .map_err(|e| refuse("embedder", e.to_string(), hint));
    }
    let Some(folder) = &config.embed.model else {
        return Ok(None);
    };
    match StaticEmbedder::new(root.join(folder)) {
        Ok(embedder) => Ok(Some(Arc::new(embedder))),
        // Settings that are of no use cost the signal and not the answer.
        Err(error) => {
            warn_lines(&[format!("[recall.embed]: {error}; searched by words alone")]);
            Ok(None)
        }
    }
}
