//! Which model `--model NAME` means, with the failure that a program reads when it means none.

use std::sync::Arc;

use anyhow::Result;
use dormouse_agent_loop::{ModelLookupError, named_model};
use dormouse_model::LanguageModel;

use crate::failure::refuse;

/// The model that `name` means.
pub(crate) fn named(name: &str) -> Result<Arc<dyn LanguageModel>> {
    named_model(name).map_err(|error| match error {
        ModelLookupError::Unknown { .. } | ModelLookupError::Spec { .. } => refuse(
            "no-model",
            error.to_string(),
            "add [models.NAME] to the user's configuration, or name ADAPTER:NAME@BASE_URL",
        ),
        error => error.into(),
    })
}
