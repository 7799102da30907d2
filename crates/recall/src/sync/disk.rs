//! The index on disk: opened if it is of use, made anew if not, left alone where nothing can be written.

use std::path::Path;
use std::sync::Arc;

use dormouse_vault::{CommitError, Stage, StageLock, Vault};

use crate::index::{BlockIndex, IndexError, IndexView, TantivyIndex};
use crate::text::ANALYZER_VERSION;

/// The layout of the index; another one makes it anew.
const FORMAT_VERSION: u32 = 5;

/// An index that lies on disk.
#[derive(Debug, Clone)]
pub(super) struct OnDisk {
    pub(super) index: Arc<TantivyIndex>,
    pub(super) view: Arc<dyn IndexView>,
}

/// What an index of this vault says of itself. An index that was copied with its vault to another place
/// is of use there as well: its notes are known by path and version.
pub(super) fn stamp() -> String {
    format!("dormouse-recall {FORMAT_VERSION} analyzer {ANALYZER_VERSION}")
}

/// Opens the index, if there is one that is of use; takes no lock and writes nothing.
pub(super) fn open(vault: &Vault) -> Option<OnDisk> {
    let folder = vault.cache_dir().join("index");
    if !folder.join("meta.json").is_file() {
        return None;
    }
    let written = if vault.is_read_only() { None } else { open_written(vault).ok().flatten() };
    written.or_else(|| opened(TantivyIndex::open_unwritten(&folder, &stamp())).ok().flatten())
}

/// Opens the index to write it, if there is one that is of use.
///
/// # Errors
/// [`IndexError::Busy`] when another process holds it up: it may be of use.
pub(super) fn open_written(vault: &Vault) -> Result<Option<OnDisk>, IndexError> {
    let folder = vault.cache_dir().join("index");
    if !folder.join("meta.json").is_file() {
        return Ok(None);
    }
    opened(TantivyIndex::open(&folder, &stamp()))
}

fn opened(index: Result<Option<TantivyIndex>, IndexError>) -> Result<Option<OnDisk>, IndexError> {
    let open = || {
        let Some(index) = index? else {
            return Ok(None);
        };
        let view = index.view()?;
        // Rubbish among the files shows when they are read.
        view.versions()?;
        Ok(Some(OnDisk { index: Arc::new(index), view }))
    };
    match open() {
        Err(IndexError::Busy) => Err(IndexError::Busy),
        outcome => Ok(outcome.ok().flatten()),
    }
}

/// The lock of those who write the index.
pub(super) fn lock(vault: &Vault) -> Result<StageLock, IndexError> {
    vault.lock_stage(Stage::Index).map_err(|error| match error {
        CommitError::Locked { .. } => IndexError::Busy,
        error => IndexError::Engine { source: Box::new(error) },
    })
}

/// Throws away what is of no use and makes an empty index. The caller holds the lock.
pub(super) fn anew(vault: &Vault) -> Result<OnDisk, IndexError> {
    let folder = vault.cache_dir().join("index");
    clear(&folder)?;
    let index = TantivyIndex::open(&folder, &stamp())?.ok_or(IndexError::Busy)?;
    let view = index.view()?;
    Ok(OnDisk { index: Arc::new(index), view })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the index folder is a cache that this file alone owns; no note is ever in it"
)]
fn clear(folder: &Path) -> std::io::Result<()> {
    match std::fs::symlink_metadata(folder) {
        Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(folder),
        Ok(_) => std::fs::remove_file(folder),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
