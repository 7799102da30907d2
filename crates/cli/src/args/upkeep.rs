//! The arguments of what keeps the memory in order: consolidate, watch, doctor, archive.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Look at the whole vault every so many seconds, besides events. Default: 600.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=31_536_000))]
    pub(crate) rescan: Option<u32>,
    /// End after so many changes.
    #[arg(long, value_name = "N")]
    pub(crate) deltas: Option<u64>,
    /// Seconds without a change or a search before what is due is done. Default: that of dormouse.toml.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(0..=31_536_000))]
    pub(crate) quiet: Option<u32>,
    /// Only watch: never consolidate.
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) no_upkeep: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Findings of one kind that are shown; the rest is counted.
    #[arg(short = 'n', long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) limit: u32,
}

#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    #[command(subcommand)]
    pub(crate) act: ArchiveAct,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ArchiveAct {
    /// Digests that sleep, the longest first: since when, and why.
    List {
        /// How many at the most; the rest is counted.
        #[arg(short = 'n', long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        limit: u32,
    },
    /// Wake digests: noted as if they had been read just now, so that they stay awake as long as
    /// any note that was.
    Thaw {
        /// Paths, or names as in a wikilink.
        #[arg(required = true)]
        notes: Vec<String>,
    },
}

/// A task of consolidate, as named on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum TaskArg {
    Split,
    Communities,
    Time,
    Duplicates,
    Health,
}

#[derive(Debug, Args)]
pub(crate) struct ConsolidateArgs {
    /// Only this task; may be repeated. Default: all.
    #[arg(long = "task", value_enum)]
    pub(crate) tasks: Vec<TaskArg>,
    /// Only what the schedule says is due.
    #[arg(long, conflicts_with = "tasks")]
    pub(crate) due: bool,
    /// Seed of the community search.
    #[arg(long, default_value_t = dormouse_consolidate::DEFAULT_SEED)]
    pub(crate) seed: u64,
}
