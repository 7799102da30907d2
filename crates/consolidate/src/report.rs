//! What a run did: for a person, for a script, for the next step of a program.

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset};
use dormouse_vault::{NotePath, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::duplicates::DuplicatePair;
use crate::health::HealthReport;

/// The tasks, in the order in which a run takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// Splits digests that have grown too long; the one task that writes notes. Normally a split
    /// is asked inline, after a dream's write.
    Split,
    /// Themes of the link graph.
    Communities,
    /// Access log, recency, archive.
    Time,
    /// Pairs of notes that say the same.
    Duplicates,
    /// What needs a person.
    Health,
}

impl Task {
    /// All tasks in order.
    pub const ALL: [Self; 5] = [Self::Split, Self::Communities, Self::Time, Self::Duplicates, Self::Health];

    /// The name as used in commands and settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Split => "split",
            Self::Communities => "communities",
            Self::Time => "time",
            Self::Duplicates => "duplicates",
            Self::Health => "health",
        }
    }
}

impl std::fmt::Display for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum TaskState {
    /// Done; its results are written.
    Done,
    /// Failed; nothing of it is written and the other tasks went on.
    Failed {
        /// What happened.
        reason: String,
    },
    /// The foreground woke up; nothing of it is written.
    Cancelled,
    /// Not begun, because the run was cancelled before.
    Skipped,
}

/// One task of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskReport {
    /// Which.
    pub task: Task,
    /// How it ended.
    #[serde(flatten)]
    pub state: TaskState,
    /// Counts by name; which ones is up to the task.
    pub numbers: BTreeMap<String, u64>,
}

/// A theme, for a person. Notes without company are not listed here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Theme {
    /// As in `meta/communities.json`.
    pub id: u32,
    /// Its most distinctive terms.
    pub label: String,
    /// Number of notes, at least 2.
    pub size: usize,
    /// The note in its middle.
    pub hub: NotePath,
    /// Jaccard overlap with the same id in the last run, 0..=1.
    pub stability: f64,
}

/// A note that was split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SplitDone {
    /// The overview that stays.
    pub parent: NotePath,
    /// The new notes.
    pub children: Vec<NotePath>,
    /// Why.
    pub reason: String,
}

/// What one run did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConsolidateReport {
    /// When, by the caller's clock.
    pub at: DateTime<FixedOffset>,
    /// The tasks that were asked for, in the order in which they ran.
    pub tasks: Vec<TaskReport>,
    /// Themes of two notes and more, in order of size, then id.
    pub communities: Vec<Theme>,
    /// Modularity of the partition; `None` when communities were not computed.
    pub modularity: Option<f64>,
    /// Notes that fell asleep in this run.
    pub archived: Vec<NotePath>,
    /// Notes that woke up in this run.
    pub thawed: Vec<NotePath>,
    /// Pairs that were found, whether or not they were on the page already.
    pub duplicates: Vec<DuplicatePair>,
    /// Notes that were split.
    pub splits: Vec<SplitDone>,
    /// The health check; `None` when it was not asked for or did not end.
    pub health: Option<HealthReport>,
    /// Derived files that could not be read and were made anew, and what a split could not record.
    pub problems: Vec<Problem>,
}

impl ConsolidateReport {
    /// An empty report.
    #[must_use]
    pub(crate) fn new(at: DateTime<FixedOffset>) -> Self {
        Self {
            at,
            tasks: Vec::new(),
            communities: Vec::new(),
            modularity: None,
            archived: Vec::new(),
            thawed: Vec::new(),
            duplicates: Vec::new(),
            splits: Vec::new(),
            health: None,
            problems: Vec::new(),
        }
    }

    /// How `task` ended, when it was asked for.
    #[must_use]
    pub fn state(&self, task: Task) -> Option<&TaskState> {
        self.tasks.iter().find(|t| t.task == task).map(|t| &t.state)
    }
}
