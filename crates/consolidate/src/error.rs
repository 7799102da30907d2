//! What can go wrong with a whole run. A failed task is no error: it is reported.

use dormouse_vault::{CommitError, GraphError, VaultError};

/// Why a run, a split or one task could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsolidateError {
    /// The door refused or failed; [`CommitError::Locked`] when another run is under way.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The vault could not be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The link graph could not be built.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The foreground woke up.
    #[error("cancelled; nothing of this task was written")]
    Cancelled,
}
