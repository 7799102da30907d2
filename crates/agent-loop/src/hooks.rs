//! Hooks: what may watch, add to, decide about and follow a run. One trait for each right.
//!
//! Observers and contributors fail open: what goes wrong in them is logged and the run goes on.
//! Gates fail closed: a gate that errs, panics or takes too long denies.

use std::sync::Arc;

use async_trait::async_trait;
use dormouse_model::{FinishReason, Message, ModelError, Usage};
use serde_json::Value;

use crate::agent::{Record, RunContext};
use crate::error::AgentError;
use crate::loop_agent::{LoopOutcome, PlannedCall, StopReason};
use crate::tools::ToolOutput;

/// What happens in a loop, in order.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum LoopEvent<'a> {
    /// A run begins.
    LoopStarted,
    /// A model request is about to be sent.
    IterationStarted {
        /// From 1.
        iteration: usize,
        /// Whether tools are on offer.
        tools: bool,
    },
    /// The model answered.
    Replied {
        /// Why its reply ended.
        finish: FinishReason,
        /// What it cost.
        usage: Usage,
        /// How many tools it wants called.
        calls: usize,
    },
    /// The model call failed.
    ModelFailed {
        /// Why.
        error: &'a ModelError,
    },
    /// A tool starts.
    ToolStarted {
        /// The call.
        call: &'a PlannedCall,
    },
    /// A call has its result; what the tool itself said, before filters.
    ToolFinished {
        /// The call.
        call: &'a PlannedCall,
        /// The result.
        output: &'a ToolOutput,
    },
    /// An iteration is over, its tools included; also when it failed.
    IterationFinished {
        /// From 1.
        iteration: usize,
    },
    /// The run is over.
    LoopFinished {
        /// How.
        stop: StopReason,
        /// What it cost.
        usage: Usage,
    },
}

/// Watches a run. It can change nothing, and its panics are swallowed.
pub trait Observer: Send + Sync {
    /// Something happened.
    fn on(&self, event: &LoopEvent<'_>);
}

/// What a gate says of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Go on.
    Allow,
    /// Don't; the model is told why.
    Deny {
        /// Why.
        reason: String,
    },
    /// Go on with these arguments.
    Replace {
        /// The new arguments, an object.
        arguments: Value,
    },
}

/// Decides. Fails closed.
#[async_trait]
pub trait Gate: Send + Sync {
    /// Before a run begins; an error ends it as blocked.
    ///
    /// # Errors
    /// [`AgentError::Blocked`] or anything else: the run does not begin.
    async fn before_loop(&self, messages: &[Message], cx: &RunContext) -> Result<(), AgentError> {
        let _ = (messages, cx);
        Ok(())
    }

    /// Before a tool is called.
    ///
    /// # Errors
    /// Any error denies the call.
    async fn before_tool(&self, call: &PlannedCall, cx: &RunContext) -> Result<Verdict, AgentError> {
        let _ = (call, cx);
        Ok(Verdict::Allow)
    }
}

/// Adds reference material to the requests of a run. What it adds never enters the conversation's
/// history, so that it is never captured as something that was said. Fails open.
#[async_trait]
pub trait Contributor: Send + Sync {
    /// Once, before the run.
    async fn before_loop(&self, messages: &[Message], cx: &RunContext) -> Option<String> {
        let _ = (messages, cx);
        None
    }

    /// Before each request.
    async fn before_iteration(&self, iteration: usize, messages: &[Message], cx: &RunContext) -> Option<String> {
        let _ = (iteration, messages, cx);
        None
    }
}

/// Changes what the model sees of a tool's result. Fails closed: on a panic the model sees an error
/// in its place.
#[async_trait]
pub trait ResultFilter: Send + Sync {
    /// After a tool, before its result enters the history.
    async fn after_tool(&self, call: &PlannedCall, output: ToolOutput, cx: &RunContext) -> ToolOutput;
}

/// Work after a run that produced an answer: in the background, coalesced by session and name.
#[async_trait]
pub trait AfterLoop: Send + Sync {
    /// Names the work; one of a name runs at a time for each session.
    fn name(&self) -> &str;

    /// The work.
    async fn run(&self, session: String, outcome: Arc<LoopOutcome>);
}

/// The hooks of a loop; each list is run in order.
#[derive(Clone, Default)]
pub struct Hooks {
    /// Watch.
    pub observers: Vec<Arc<dyn Observer>>,
    /// Decide.
    pub gates: Vec<Arc<dyn Gate>>,
    /// Add reference material.
    pub contributors: Vec<Arc<dyn Contributor>>,
    /// Change what the model sees of results.
    pub filters: Vec<Arc<dyn ResultFilter>>,
    /// Follow in the background.
    pub after_loop: Vec<Arc<dyn AfterLoop>>,
}

impl std::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hooks")
            .field("observers", &self.observers.len())
            .field("gates", &self.gates.len())
            .field("contributors", &self.contributors.len())
            .field("filters", &self.filters.len())
            .field("after_loop", &self.after_loop.len())
            .finish()
    }
}

/// A hook of one agent's lifecycle.
#[async_trait]
pub trait AgentHook: Send + Sync {
    /// Before validation; may replace the input.
    ///
    /// # Errors
    /// Any error ends the invocation.
    async fn on_start(&self, input: Record, cx: &RunContext) -> Result<Record, AgentError> {
        let _ = cx;
        Ok(input)
    }

    /// After a valid output; may replace it.
    async fn on_success(&self, output: Record, cx: &RunContext) -> Record {
        let _ = cx;
        output
    }

    /// After any error.
    async fn on_error(&self, error: &AgentError, cx: &RunContext) {
        let _ = (error, cx);
    }

    /// Last, once, whatever happened.
    async fn on_end(&self, result: Result<&Record, &AgentError>, cx: &RunContext) {
        let _ = (result, cx);
    }
}
