//! The crate's errors. Inside a run, a failing tool or model is no error but part of the outcome.

use dormouse_consolidate::ConsolidateError;
use dormouse_dream::DreamError;
use dormouse_model::{ModelError, SchemaMismatch};
use dormouse_recall::RecallError;
use dormouse_vault::{CommitError, VaultError};

/// Why an agent, a tool or a step of the memory cycle could not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The input does not fit the agent's input schema.
    #[error("{agent}: the input does not fit: {mismatch}")]
    Input {
        /// The agent.
        agent: String,
        /// What is wrong with it.
        mismatch: SchemaMismatch,
    },
    /// The output does not fit the agent's output schema.
    #[error("{agent}: the output does not fit: {mismatch}")]
    Output {
        /// The agent.
        agent: String,
        /// What is wrong with it.
        mismatch: SchemaMismatch,
    },
    /// A gate said no.
    #[error("blocked: {reason}")]
    Blocked {
        /// What the gate said.
        reason: String,
    },
    /// A run ended without an answer.
    #[error("the run ended without an answer: {stop}")]
    NoAnswer {
        /// How it ended.
        stop: crate::loop_agent::StopReason,
    },
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// Two tools have one name, or names that differ only in case and separators.
    #[error("two tools are called {name}")]
    DuplicateTool {
        /// The name.
        name: String,
    },
    /// An argument fits its schema and still says nothing.
    #[error("`{argument}` is {value:?}; expected {expected}")]
    Argument {
        /// The argument's name.
        argument: &'static str,
        /// What it was, shortened.
        value: Box<str>,
        /// What it may be.
        expected: &'static str,
    },
    /// A background task ended before it gave its result.
    #[error("a background task ended early")]
    TaskLost,
    /// The model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The vault.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The vault's door.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// Recall.
    #[error(transparent)]
    Recall(#[from] RecallError),
    /// Dream.
    #[error(transparent)]
    Dream(#[from] DreamError),
    /// Consolidate.
    #[error(transparent)]
    Consolidate(#[from] ConsolidateError),
}
