//! How a run ended.

use std::fmt;

use dormouse_model::{Message, ModelError, Usage};
use serde::{Deserialize, Serialize};

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model answered.
    FinalAnswer,
    /// The last allowed request was used up; the text is what the model said in it.
    MaxIterations,
    /// Model calls failed.
    ApiError,
    /// The reply was cut and the continuations are used up.
    Truncated,
    /// The model asked for the same calls again and again.
    RepeatedCall,
    /// What must be sent does not fit the window.
    ContextOverflow,
    /// The provider withheld the reply.
    Withheld,
    /// A gate did not let the run begin.
    Blocked,
    /// Somebody cancelled it.
    Cancelled,
}

impl StopReason {
    /// Whether the run has an answer that work may follow on.
    #[must_use]
    pub fn has_answer(self) -> bool {
        matches!(self, Self::FinalAnswer | Self::MaxIterations | Self::Truncated)
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FinalAnswer => "final answer",
            Self::MaxIterations => "iteration limit",
            Self::ApiError => "model calls failed",
            Self::Truncated => "reply cut off",
            Self::RepeatedCall => "the same calls again and again",
            Self::ContextOverflow => "context does not fit",
            Self::Withheld => "reply withheld",
            Self::Blocked => "blocked",
            Self::Cancelled => "cancelled",
        })
    }
}

/// What a run leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopOutcome {
    /// The last words of the model; empty when there are none.
    pub text: String,
    /// Why it ended.
    pub stop: StopReason,
    /// The conversation, well-formed: what came in and what was said and done since.
    pub messages: Vec<Message>,
    /// Model requests made.
    pub iterations: usize,
    /// What they cost.
    pub usage: Usage,
    /// The error that ended it, where it was a model's.
    pub error: Option<ModelError>,
    /// More about the end, for a person.
    pub detail: Option<String>,
}
