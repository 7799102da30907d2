//! The memory cycle around a loop: recall before it, events after it, dreams of the events, order
//! when idle.

mod auto_memory;
mod cancellable;
mod cycle;
mod hooks;
mod idle;
mod neighbours;
mod splitting;

pub use auto_memory::{AutoMemoryConfig, Conversation, PlannedEvent, plan_events};
pub use cycle::{CycleConfig, CycleProblem, CycleReport, MemoryCycle};
pub use hooks::{RecallBefore, RememberAfter};
pub use idle::run_when_idle;
pub use neighbours::RecallNeighbours;
pub use splitting::split_subject;
