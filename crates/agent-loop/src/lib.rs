//! An agent loop that lives on memory.
//!
//! Three things stand here, each usable without the others:
//!
//! - **the loop**: [`LoopAgent`] asks a model, runs the tools that it calls side by side where they
//!   are independent, and goes on until there is an answer. [`LoopMachine`] is the same without any
//!   I/O. Whatever goes wrong (a tool that crashes, arguments that are no JSON, a reply that was cut,
//!   a server that fails) is told to the model or ends the run with a [`StopReason`], never a panic;
//! - **hooks**: observers watch and fail open, gates decide and fail closed, contributors add
//!   reference material, work after the loop runs in the background ([`BackgroundJobs`]);
//! - **the memory cycle**: [`MemoryCycle`] recalls before a run, writes its events after it, dreams
//!   them into digests, and consolidates when the user is quiet. Every step may fail; the others go
//!   on, and what was not dreamed stays pending.
//!
//! With the feature `genai`, `named_model` finds a real model by the name that the user gave it in
//! their own configuration, with retries.
//!
//! Text of notes is data: it is fenced and labelled in every prompt, never enters the history, and is
//! never captured again as something that was said.
//!
//! ```
//! use std::sync::Arc;
//! use dormouse_agent_loop::{LoopAgent, LoopConfig, RunContext, StopReason, Tool, ToolOutput, ToolSet};
//! use dormouse_model::{FinishReason, Message, Reply, ScriptedModel, ToolCall, ToolSpec, Usage};
//! use serde_json::{Value, json};
//!
//! struct Clock(ToolSpec);
//!
//! #[async_trait::async_trait]
//! impl Tool for Clock {
//!     fn spec(&self) -> &ToolSpec {
//!         &self.0
//!     }
//!     async fn call(&self, _: Value, _: &RunContext) -> ToolOutput {
//!         ToolOutput::ok("half past nine")
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let spec = ToolSpec { name: "clock".into(), description: "Tells the time.".into(), parameters: json!({"type": "object"}) };
//! let call = ToolCall { id: "1".into(), name: "clock".into(), arguments: json!({}) };
//! let model = ScriptedModel::new(vec![
//!     Reply { text: String::new(), tool_calls: vec![call], finish: FinishReason::ToolCalls, usage: Usage::default() },
//!     Reply::text("It is half past nine."),
//! ]);
//! let agent = LoopAgent::new("guide", Arc::new(model), ToolSet::new([Arc::new(Clock(spec)) as Arc<dyn Tool>])?, LoopConfig::default());
//! let outcome = agent.run(vec![Message::user("What time is it?")], &RunContext::new("session-1")).await;
//! assert_eq!((outcome.text.as_str(), outcome.stop), ("It is half past nine.", StopReason::FinalAnswer));
//! # Ok(())
//! # }
//! ```

mod agent;
mod background;
mod clock;
mod context;
mod error;
mod hooks;
mod lifecycle;
mod loop_agent;
mod memory;
#[cfg(feature = "genai")]
mod models;
mod session;
mod tools;

pub use agent::{Agent, AgentInfo, Outcome, Record, RunContext};
pub use background::{BackgroundJobs, DRAIN_LIMIT, Submitted};
pub use clock::SystemClock;
pub use context::{
    DATA_NOTICE, TrimError, cap_bytes, cap_middle, fenced, keep_last, message_tokens, trim_to, without_fenced,
};
pub use error::AgentError;
pub use hooks::{AfterLoop, AgentHook, Contributor, Gate, Hooks, LoopEvent, Observer, ResultFilter, Verdict};
pub use lifecycle::invoke;
pub use loop_agent::{
    LoopAgent, LoopConfig, LoopMachine, LoopOutcome, OnError, PlannedCall, Step, StopReason, TextCalls, TextCallsRead,
    read_text_calls, repair,
};
pub use memory::{
    AutoMemoryConfig, Conversation, CycleConfig, CycleProblem, CycleReport, MemoryCycle, PlannedEvent, RecallBefore,
    RecallNeighbours, RememberAfter, plan_events, run_when_idle, split_subject,
};
#[cfg(feature = "genai")]
pub use models::{ModelLookupError, named_model};
pub use session::{Replay, TranscriptModel, replay};
pub use tools::{Access, MemoryTools, Tool, ToolOutput, ToolSet, dependencies, memory_tools};
