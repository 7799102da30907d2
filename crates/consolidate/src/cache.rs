//! Small files of our own under `.dormouse/`: what makes a run cheaper or its report better, and
//! costs nothing when it is deleted.

use std::fs;
use std::io::Write;

use dormouse_vault::{CommitError, Vault};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads `.dormouse/<name>`; `None` when it is missing or unreadable in any way.
pub(crate) fn load<T: DeserializeOwned>(vault: &Vault, name: &str) -> Option<T> {
    let bytes = fs::read(vault.cache_dir().join(name)).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Puts `.dormouse/<name>` in place in one step; does nothing in a read-only vault, and nothing
/// when it holds just that already.
pub(crate) fn store<T: Serialize>(vault: &Vault, name: &str, value: &T) -> Result<(), CommitError> {
    let Ok(mut bytes) = serde_json::to_vec_pretty(value) else {
        return Ok(());
    };
    bytes.push(b'\n');
    store_bytes(vault, name, &bytes)
}

/// [`store`] for bytes.
pub(crate) fn store_bytes(vault: &Vault, name: &str, bytes: &[u8]) -> Result<(), CommitError> {
    let dir = vault.cache_dir();
    let file = dir.join(name);
    if vault.is_read_only() || fs::read(&file).is_ok_and(|have| have == bytes) {
        return Ok(());
    }
    let write = || {
        fs::create_dir_all(file.parent().unwrap_or(&dir))?;
        let mut temp = tempfile::NamedTempFile::new_in(&dir)?;
        temp.write_all(bytes)?;
        temp.persist(&file).map_err(|e| e.error)?;
        Ok(())
    };
    write().map_err(|source| CommitError::Io { path: file.clone(), source })
}
