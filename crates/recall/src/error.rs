//! The crate's errors. A query is never one: any string is legal, and a signal that can't be read
//! is a warning in the reply.

use dormouse_vault::VaultError;

use crate::index::IndexError;

/// What can go wrong in recall.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecallError {
    /// The vault's disk.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The index failed even in memory.
    #[error("the search index: {0}")]
    Index(#[from] IndexError),
    /// The note that a request starts from is not in the vault.
    #[error("no such note: {name:?}; name a path, or a title as in a wikilink")]
    NoSuchNote {
        /// What was asked for.
        name: String,
    },
}
