//! What a run did, as data.

use chrono::{DateTime, FixedOffset, Utc};
use dormouse_model::Usage;
use dormouse_vault::{Bucket, FileDiff, NotePath};
use schemars::JsonSchema;
use serde::Serialize;

use crate::config::Price;

/// What a run did.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DreamReport {
    /// Names the run: `dream-` and its start.
    pub run: String,
    /// When it started.
    pub started_at: DateTime<FixedOffset>,
    /// Which abstractor: `extractive`, or the model's name.
    pub abstractor: String,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// Whether it was cancelled, or stopped after failures in a row; what is left stays pending.
    pub stopped: bool,
    /// Per material, in the order of the run.
    pub materials: Vec<MaterialReport>,
    /// Sums.
    pub totals: DreamTotals,
    /// What model calls cost.
    pub usage: UsageReport,
    /// What went wrong beside the materials: a ledger that could not be read, an audit page that could
    /// not be written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// What would be written; only for a dry run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<serde_json::Value>")]
    pub diffs: Vec<FileDiff>,
}

/// What came of one material.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MaterialReport {
    /// The material.
    pub path: NotePath,
    /// Its state after the run.
    #[serde(flatten)]
    pub state: MaterialState,
    /// Units with evidence.
    pub kept: Vec<KeptUnit>,
    /// Units and facts that were dropped, with the reason.
    pub dropped: Vec<DroppedUnit>,
    /// Digest notes that it went into.
    pub subjects: Vec<SubjectReport>,
    /// Other things that a person should know: links that were turned into text, refused writes.
    pub remarks: Vec<String>,
}

/// The state of a material after a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum MaterialState {
    /// Dreamed.
    Done,
    /// It failed and is tried again at the next run.
    Pending {
        /// Why.
        reason: String,
    },
    /// It failed before, has not changed since, and is left alone for a while; nothing was sent.
    Waiting {
        /// Why it failed.
        reason: String,
        /// When it may be tried again.
        until: DateTime<Utc>,
    },
    /// It was dreamed before and has not changed since; nothing was sent to a model.
    Unchanged,
    /// It is no material.
    Skipped {
        /// Why.
        reason: String,
    },
}

/// A unit that was kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KeptUnit {
    /// Its name.
    pub name: String,
    /// Its bucket.
    pub bucket: Bucket,
    /// How many facts it has.
    pub facts: usize,
    /// Whether a digest said all of it already, so that nothing had to be written.
    pub known: bool,
}

/// A unit, or a fact of one, that was dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DroppedUnit {
    /// The unit's name, as far as it has one.
    pub name: String,
    /// Why.
    pub reason: String,
    /// Whether the whole unit was dropped, or facts of it.
    pub whole: bool,
    /// How many facts it stands for; 0 where none could be read, or where it is less than a fact.
    pub facts: usize,
}

/// What was done to a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// A new note.
    Create,
    /// Another instance of what it says.
    Corroborate,
    /// Scope, boundary or step made precise.
    Refine,
    /// A claim narrowed or contradicted, in place.
    Correct,
}

/// A subject that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SubjectReport {
    /// The digest note.
    pub path: NotePath,
    /// What was done.
    pub action: Action,
    /// Out-edges that it has now and had not before.
    pub edges_added: usize,
}

/// Sums over a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DreamTotals {
    /// Materials that were dreamed.
    pub done: usize,
    /// Materials that failed and stay pending.
    pub failed: usize,
    /// Materials that failed before and are left alone for a while.
    pub waiting: usize,
    /// Materials that were not looked at again.
    pub unchanged: usize,
    /// Paths that are no material.
    pub skipped: usize,
    /// Units kept.
    pub units_kept: usize,
    /// Units that a digest said already, among the kept ones.
    pub units_known: usize,
    /// Whole units dropped.
    pub units_dropped: usize,
    /// Single facts dropped from units.
    pub facts_dropped: usize,
    /// Notes created.
    pub created: usize,
    /// Updates: another instance.
    pub corroborated: usize,
    /// Updates: made precise.
    pub refined: usize,
    /// Updates: narrowed or contradicted.
    pub corrected: usize,
    /// Out-edges added to digests.
    pub edges_added: usize,
}

/// What model calls cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct UsageReport {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Requests sent.
    pub calls: u64,
    /// What that costs by [`DreamConfig::price`](crate::DreamConfig::price); absent without a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Cost {
    /// How much, 0 or more.
    pub amount: f64,
    /// The currency, as the settings name it.
    pub currency: String,
}

impl UsageReport {
    /// What was used, with its cost where a price is known.
    pub(crate) fn of(usage: Usage, price: Option<&Price>) -> Self {
        let million = |tokens: u64, price: f64| tokens as f64 / 1e6 * price;
        let cost = |price: &Price| Cost {
            amount: million(usage.input_tokens, price.input) + million(usage.output_tokens, price.output),
            currency: price.currency.clone(),
        };
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            calls: usage.calls,
            cost: price.map(cost),
        }
    }
}

impl DreamTotals {
    pub(crate) fn add(&mut self, material: &MaterialReport) {
        match material.state {
            MaterialState::Done => self.done += 1,
            MaterialState::Pending { .. } => self.failed += 1,
            MaterialState::Waiting { .. } => self.waiting += 1,
            MaterialState::Unchanged => self.unchanged += 1,
            MaterialState::Skipped { .. } => self.skipped += 1,
        }
        self.units_kept += material.kept.len();
        self.units_known += material.kept.iter().filter(|k| k.known).count();
        self.units_dropped += material.dropped.iter().filter(|d| d.whole).count();
        self.facts_dropped += material.dropped.iter().filter(|d| !d.whole).map(|d| d.facts).sum::<usize>();
        for subject in &material.subjects {
            self.edges_added += subject.edges_added;
            match subject.action {
                Action::Create => self.created += 1,
                Action::Corroborate => self.corroborated += 1,
                Action::Refine => self.refined += 1,
                Action::Correct => self.corrected += 1,
            }
        }
    }
}

impl MaterialReport {
    pub(crate) fn new(path: NotePath, state: MaterialState) -> Self {
        Self { path, state, kept: Vec::new(), dropped: Vec::new(), subjects: Vec::new(), remarks: Vec::new() }
    }
}
