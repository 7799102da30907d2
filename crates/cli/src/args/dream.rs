//! Options of the commands over experience.

use clap::{Args, Subcommand};

use super::day;

#[derive(Debug, Args)]
pub(crate) struct DreamArgs {
    /// Only material of this day or later.
    #[arg(long, value_name = "DAY", value_parser = day, conflicts_with = "note")]
    pub(crate) since: Option<chrono::NaiveDate>,
    /// Only this material; may be repeated.
    #[arg(long, value_name = "NOTE")]
    pub(crate) note: Vec<String>,
    /// At most so many materials.
    #[arg(long)]
    pub(crate) limit: Option<usize>,
    /// A model from the user's configuration, or ADAPTER:NAME@BASE_URL. Default: offline, no model.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Try at once what failed before and would be left alone for a while.
    #[arg(long)]
    pub(crate) retry: bool,
    /// Show the changes without making them.
    #[arg(long)]
    pub(crate) dry_run: bool,
}
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TopicsArgs {
    /// What to say of one; without it the list is shown.
    #[command(subcommand)]
    pub(crate) act: Option<TopicsAct>,
    /// Also those that were raised or resolved.
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TopicsAct {
    /// It was raised, or put aside: don't show it again.
    Raised {
        /// The topic's id, or its beginning.
        id: String,
    },
    /// It is answered or done.
    Resolved {
        /// The topic's id, or its beginning.
        id: String,
    },
    /// It may be raised again.
    Reopen {
        /// The topic's id, or its beginning.
        id: String,
    },
}
