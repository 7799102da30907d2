//! Progress, for whoever draws it.

use dormouse_vault::NotePath;

use crate::report::{Action, MaterialReport};

/// What happens during a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum DreamEvent<'a> {
    /// The run knows its materials.
    Started {
        /// How many will be dreamed; unchanged ones are not counted.
        materials: usize,
    },
    /// A material goes through the gate.
    Gating {
        /// The material.
        path: &'a NotePath,
    },
    /// A subject was written. No commit is in progress: this is the moment to ask the split rule.
    Wrote {
        /// The digest note.
        path: &'a NotePath,
        /// What was done to it.
        action: Action,
    },
    /// A material is settled.
    Finished {
        /// What came of it.
        report: &'a MaterialReport,
    },
}

/// Hears what happens. Called from the run's own task, in order.
pub trait DreamObserver: Send + Sync {
    /// Something happened. The default does nothing.
    fn event(&self, event: &DreamEvent<'_>) {
        let _ = event;
    }
}

/// Hears nothing.
impl DreamObserver for () {}

/// A closure hears.
impl<F: Fn(&DreamEvent<'_>) + Send + Sync> DreamObserver for F {
    fn event(&self, event: &DreamEvent<'_>) {
        self(event);
    }
}
