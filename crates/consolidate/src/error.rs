//! What can go wrong with a whole run. A failed task is no error: it is reported.

use dormouse_vault::{CommitError, GraphError, Problem, VaultError};

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
    /// A file that holds what a person said can't be read; nothing was written over it.
    #[error("{problem}; it holds what a person said and is left as it is: mend it, or move it away and try again")]
    Unreadable {
        /// Which, and why.
        problem: Box<Problem>,
    },
    /// The foreground woke up.
    #[error("cancelled; nothing of this task was written")]
    Cancelled,
}
