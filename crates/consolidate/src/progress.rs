//! Progress and cancellation: what a caller sees of a run under way, and how it stops one.

use crate::error::ConsolidateError;
use crate::report::{Task, TaskState};

/// Watches a run. The command line draws bars with it.
pub trait Progress: Sync {
    /// `task` begins and will take about `steps` steps.
    fn begin(&self, task: Task, steps: u64) {
        let _ = (task, steps);
    }
    /// `task` has done `done` of its steps.
    fn step(&self, task: Task, done: u64) {
        let _ = (task, done);
    }
    /// `task` is over.
    fn end(&self, task: Task, state: &TaskState) {
        let _ = (task, state);
    }
}

/// Progress that nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {}

/// One task's view of its caller.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    pub(crate) task: Task,
    pub(crate) progress: &'a dyn Progress,
    pub(crate) cancel: &'a (dyn Fn() -> bool + Sync),
}

impl Watch<'_> {
    /// Announces how many steps the task has.
    pub(crate) fn begin(&self, steps: usize) {
        self.progress.begin(self.task, steps as u64);
    }

    /// Reports progress and stops the task when the caller wants it.
    pub(crate) fn step(&self, done: usize) -> Result<(), ConsolidateError> {
        self.progress.step(self.task, done as u64);
        self.check()
    }

    /// Stops the task when the caller wants it.
    pub(crate) fn check(&self) -> Result<(), ConsolidateError> {
        if (self.cancel)() { Err(ConsolidateError::Cancelled) } else { Ok(()) }
    }
}
