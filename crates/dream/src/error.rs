//! The crate's errors. A material that fails is no error of the run: it stays pending.

use dormouse_model::{ModelError, Usage};
use dormouse_vault::{CommitError, NotePath, VaultError};

/// Why a run, or the work on one material, could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DreamError {
    /// The vault could not be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// A write was refused.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// A note was named that does not exist.
    #[error("{path}: no such note; name a daily event or a resource by its vault-relative path")]
    NoSuchMaterial {
        /// What was named.
        path: NotePath,
    },
    /// The model gave no reply.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model's reply was of no use, twice.
    #[error("the model's reply was of no use: {fault}")]
    Reply {
        /// What was wrong with it.
        fault: ReplyFault,
        /// What the failed dialogue cost.
        usage: Usage,
    },
    /// A topic was named that there is none of, or several.
    #[error("{id}: no topic has this id, or several begin so; `dormouse topics --all` lists them")]
    NoSuchTopic {
        /// What was named.
        id: String,
    },
    /// The file that holds the topics can't be read, so nothing is written over it.
    #[error("the topics can't be read: {problem}; mend the file or move it away")]
    TopicsUnreadable {
        /// Why.
        problem: Box<dormouse_vault::Problem>,
    },
    /// The note was changed by others each time that a write was planned.
    #[error("{path}: changed by others each time it was about to be written; it is tried again at the next run")]
    Contended {
        /// The subject.
        path: NotePath,
    },
}

impl DreamError {
    /// What was spent although nothing came of it.
    pub(crate) fn usage(&self) -> Usage {
        match self {
            Self::Reply { usage, .. } => *usage,
            _ => Usage::default(),
        }
    }

    /// The same error, with what was spent before it.
    pub(crate) fn after(self, spent: Usage) -> Self {
        match self {
            Self::Reply { fault, mut usage } => {
                usage += spent;
                Self::Reply { fault, usage }
            }
            other => other,
        }
    }
}

/// What is wrong with a model's reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplyFault {
    /// Nothing but blanks, or nothing but reasoning.
    #[error("it is empty")]
    Empty,
    /// It ran into the token limit.
    #[error("it was cut off by the token limit")]
    Truncated,
    /// The provider withheld it.
    #[error("it was withheld by the provider")]
    Withheld,
    /// No JSON value of the asked shape stands in it.
    #[error("it holds no JSON object of the asked shape")]
    NoJson,
    /// Every item of it was rejected.
    #[error("none of its items is valid")]
    NothingValid,
}
