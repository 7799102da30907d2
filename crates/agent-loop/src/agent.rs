//! The `Agent` contract: a name, what goes in, what comes out, and the work between.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::error::AgentError;
use crate::hooks::AgentHook;

/// What agents take and give: a JSON object.
pub type Record = Map<String, Value>;

/// What an agent says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentInfo {
    /// Unique in a program; used for logs and as a tool name.
    pub name: String,
    /// What it does, for whoever chooses between agents.
    pub description: String,
    /// JSON schema of the input; anything goes when `None`.
    pub input_schema: Option<Value>,
    /// JSON schema of the output; anything goes when `None`.
    pub output_schema: Option<Value>,
}

/// What a run carries down to everything that works for it.
#[derive(Debug, Clone)]
pub struct RunContext {
    /// The conversation that the run belongs to.
    pub session: String,
    /// Ends the run, its model calls and its tools.
    pub cancel: CancellationToken,
}

impl RunContext {
    /// A run of the conversation `session`.
    #[must_use]
    pub fn new(session: impl Into<String>) -> Self {
        Self { session: session.into(), cancel: CancellationToken::new() }
    }

    /// The same run for something that works under it: it ends with its parent, and can be ended
    /// alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { session: self.session.clone(), cancel: self.cancel.child_token() }
    }
}

/// What `process` answers with.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// A value.
    Record(Record),
}

/// Something that turns a record into a record. Called through [`crate::invoke`], which owns the
/// lifecycle, so that no agent can skip validation.
#[async_trait]
pub trait Agent: Send + Sync {
    /// What it is.
    fn info(&self) -> &AgentInfo;

    /// Hooks of its own, run in order.
    fn hooks(&self) -> &[Arc<dyn AgentHook>] {
        &[]
    }

    /// The work itself, on checked input.
    ///
    /// # Errors
    /// Whatever went wrong; the lifecycle tells the hooks and passes it on.
    async fn process(&self, input: Record, cx: &RunContext) -> Result<Outcome, AgentError>;
}
