//! Which model `--model NAME` means: an entry of the user's own configuration, or a spec.
//!
//! The configuration lies outside every vault (`DORMOUSE_CONFIG`, else `dormouse/config.toml` in the
//! user's configuration folder), so that nothing inside a vault can send text anywhere.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use dormouse_model::{GenaiModel, LanguageModel, ModelSettings};
use serde::Deserialize;

use crate::failure::refuse;

#[derive(Debug, Default, Deserialize)]
struct Config {
    #[serde(default)]
    models: BTreeMap<String, ModelSettings>,
}

/// The model that `name` means.
pub(crate) fn named(name: &str) -> Result<Arc<dyn LanguageModel>> {
    let settings = settings(name)?;
    let model = GenaiModel::new(settings).with_context(|| format!("the model {name} can't be set up"))?;
    Ok(Arc::new(model))
}

fn settings(name: &str) -> Result<ModelSettings> {
    let file = config_file();
    let config = match file.as_ref().map(std::fs::read_to_string) {
        Some(Ok(text)) => toml::from_str(&text)
            .with_context(|| format!("{}: not a valid configuration", file.unwrap_or_default().display()))?,
        _ => Config::default(),
    };
    if let Some(settings) = config.models.get(name) {
        return Ok(settings.clone());
    }
    name.parse::<ModelSettings>().map_err(|error| {
        let known: Vec<&str> = config.models.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        refuse(
            "no-model",
            format!("no model {name:?} is configured (known: {known}), and it is no spec: {error}"),
            "add [models.NAME] to the user's configuration, or name ADAPTER:NAME@BASE_URL",
        )
    })
}

/// Where the user's configuration lies.
fn config_file() -> Option<PathBuf> {
    if let Some(file) = std::env::var_os("DORMOUSE_CONFIG") {
        return Some(file.into());
    }
    let folder = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))?;
    Some(folder.join("dormouse/config.toml"))
}
