//! The crate's errors. A query is never one: any string is legal, and a signal that can't be read
//! is a warning in the reply.

use dormouse_vault::{NotePath, VaultError};

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
    /// Several notes have the title that a request starts from.
    #[error("several notes are called {name:?}; name one by its path: {}", listed(paths))]
    SeveralNotes {
        /// What was asked for.
        name: String,
        /// The notes.
        paths: Vec<NotePath>,
    },
    /// A cursor that no reply has given.
    #[error("this is no cursor of a reply; ask again without it")]
    BadCursor,
    /// A cursor that belongs to another question.
    #[error("this cursor belongs to another question; ask again without it, or with the question that gave it")]
    OtherCursor,
}

fn listed(paths: &[NotePath]) -> String {
    paths.iter().map(NotePath::as_str).collect::<Vec<_>>().join(", ")
}
