//! What a model answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::usage::Usage;

/// A tool call as the model wrote it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id; may be empty or repeated, the loop mints its own then.
    pub id: String,
    /// The tool's name as written.
    pub name: String,
    /// The arguments; a string when they are no JSON.
    pub arguments: Value,
}

/// Why the reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// It was complete.
    Stop,
    /// It ran into the token limit.
    Length,
    /// It wants tools called.
    ToolCalls,
    /// The provider withheld it.
    ContentFilter,
    /// The provider didn't say.
    Unknown,
}

/// One reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The text.
    pub text: String,
    /// Native tool calls.
    #[serde(default)]
    pub tool_calls: Vec<ToolCall>,
    /// Why it ended.
    pub finish: FinishReason,
    /// What it cost.
    #[serde(default)]
    pub usage: Usage,
}

impl Reply {
    /// A complete reply of text alone.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), tool_calls: Vec::new(), finish: FinishReason::Stop, usage: Usage::default() }
    }
}
