//! Tools: what a model may call, and what each call touches.

mod listing;
mod memory;
mod schedule;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use dormouse_model::ToolSpec;
use serde_json::Value;

use crate::agent::RunContext;
use crate::error::AgentError;

pub(crate) use memory::REMEMBERED_IN;
pub use memory::{MemoryTools, memory_tools};
pub use schedule::dependencies;

/// What a call touches, so that independent calls can run side by side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Access {
    /// Nothing that others could change.
    Pure,
    /// Reads these resources: `/`-separated names; a folder covers what is in it.
    Read(Vec<String>),
    /// Writes these resources.
    Write(Vec<String>),
    /// Anything: runs alone. The safe default.
    #[default]
    Exclusive,
}

/// What a tool answers: text for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// The text.
    pub text: String,
    /// Whether it tells of a failure.
    pub is_error: bool,
}

impl ToolOutput {
    /// A result.
    #[must_use]
    pub fn ok(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: false }
    }

    /// A failure that the model should read.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true }
    }
}

/// A tool.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Its name, description and the schema of its arguments.
    fn spec(&self) -> &ToolSpec;

    /// What a call with these arguments touches.
    fn access(&self, arguments: &Value) -> Access {
        let _ = arguments;
        Access::Exclusive
    }

    /// The work, on arguments that fit the schema. Failures are results.
    async fn call(&self, arguments: Value, cx: &RunContext) -> ToolOutput;
}

/// The tools of a loop, in name order.
#[derive(Clone, Default)]
pub struct ToolSet {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl ToolSet {
    /// Tools with names that stay apart when case and separators are ignored.
    ///
    /// # Errors
    /// [`AgentError::DuplicateTool`].
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Result<Self, AgentError> {
        let mut set = Self::default();
        for tool in tools {
            let name = tool.spec().name.clone();
            if set.tools.keys().any(|have| folded(have) == folded(&name)) {
                return Err(AgentError::DuplicateTool { name });
            }
            set.tools.insert(name, tool);
        }
        Ok(set)
    }

    /// The tool of exactly this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// What is offered to the model, in name order.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|tool| tool.spec().clone()).collect()
    }
}

impl std::fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}

/// A name without case and separators.
pub(crate) fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
