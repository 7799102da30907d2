//! The tool loop: messages → model → tool calls → results → again, until an answer.
//!
//! [`LoopMachine`] decides and does no I/O; [`LoopAgent`] is the thin driver that waits for models
//! and tools.

mod calls;
mod config;
mod drive;
mod execute;
mod machine;
mod outcome;
mod render;
mod repair;
mod text_calls;

pub use calls::PlannedCall;
pub use config::{LoopConfig, OnError, TextCalls};
pub use drive::LoopAgent;
pub use machine::{LoopMachine, Step};
pub use outcome::{LoopOutcome, StopReason};
pub use repair::repair;
pub use text_calls::{TextCallsRead, read_text_calls};
