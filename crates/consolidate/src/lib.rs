//! Consolidate: notes become a network.
//!
//! Dream writes one note at a time; this stage has the view that one write can't have: the whole,
//! the statistics, the passage of time. It reads the vault and writes derived signals to `meta/`
//! and reports to `audit/`. It adds no link to a note, merges nothing and moves nothing; the one
//! exception that writes notes is the [`split`] of a note that has outgrown its subject, and that
//! goes verbatim through the vault's door.
//!
//! - [`run`] does the [`Task`]s that are asked for and reports what they did;
//! - [`Scheduler`] says which tasks are due when the user has been quiet;
//! - [`split::plan`] is asked inline after a dream's write;
//! - [`communities`] is a plain graph algorithm: Leiden on sparse rows, usable without any vault.
//!
//! ```no_run
//! use dormouse_consolidate::{ConsolidateConfig, DEFAULT_SEED, RunContext, Silent, Task, run};
//! use dormouse_vault::{Clock, FixedClock, Vault};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let vault = Vault::open("my-vault")?;
//! let clock = FixedClock::new("2026-11-30T22:00:00+08:00".parse()?);
//! let config = ConsolidateConfig::default();
//! let context = RunContext {
//!     vault: &vault,
//!     clock: &clock,
//!     config: &config,
//!     seed: DEFAULT_SEED,
//!     progress: &Silent,
//!     cancel: &|| false,
//! };
//! let report = run(context, &[Task::Communities, Task::Time])?;
//! for theme in &report.communities {
//!     println!("{} notes about {}", theme.size, theme.label);
//! }
//! # Ok(())
//! # }
//! ```

mod config;
mod error;
mod progress;
mod report;
mod run;
mod scheduler;

pub mod communities;
pub mod duplicates;
mod health;
pub mod split;
mod time;

mod cache;
mod inputs;
mod reading;
mod rng;
mod state;
mod ties;

pub use config::{
    CommunitiesConfig, ConsolidateConfig, DEFAULT_SEED, DuplicatesConfig, HealthConfig, ScheduleConfig, SplitConfig,
    TimeConfig,
};
pub use duplicates::{DuplicatePair, DuplicateReason};
pub use error::ConsolidateError;
pub use health::{Finding, FindingKind, Freshness, HealthReport, KindCount, Severity, SignalState, examine};
pub use progress::{Progress, Silent};
pub use report::{ConsolidateReport, SplitDone, Task, TaskReport, TaskState, Theme};
pub use run::{RunContext, run, run_with};
pub use scheduler::{LastRuns, Scheduler};
pub use time::{Sleeper, recency, sleepers};
