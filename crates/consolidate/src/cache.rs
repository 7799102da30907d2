//! Small files of our own under `.dormouse/`: what makes a run cheaper or its report better, and
//! costs nothing when it is deleted.

use std::fs;

use dormouse_vault::{CommitError, Vault};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads `.dormouse/<name>`; `None` when it is missing or unreadable in any way.
pub(crate) fn load<T: DeserializeOwned>(vault: &Vault, name: &str) -> Option<T> {
    let bytes = fs::read(vault.cache_dir().join(name)).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Puts `.dormouse/<name>` in place in one step, and nothing when it holds just that already.
pub(crate) fn store<T: Serialize>(vault: &Vault, name: &str, value: &T) -> Result<(), CommitError> {
    let Ok(mut bytes) = serde_json::to_vec_pretty(value) else {
        return Ok(());
    };
    bytes.push(b'\n');
    vault.write_cache(name, &bytes)
}
