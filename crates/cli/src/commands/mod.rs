//! The commands, one file each.

mod archive;
mod completions;
mod consolidate;
mod context;
mod dismiss;
mod doctor;
mod dream;
mod edit;
mod init;
mod list;
mod merge;
mod naming;
mod patience;
mod read;
mod remember;
mod rename;
mod search;
mod status;
mod topics;
mod traverse;
mod upkeep;
mod watch;

use std::sync::Arc;

use anyhow::Result;
use dormouse_agent_loop::SystemClock;
use dormouse_recall::{Recall, RecallConfig};
use dormouse_vault::{Clock, Problem, Vault};

use crate::args::{Cli, Command, EmbedArgs};
use crate::discovery;
use crate::embedding;
use crate::failure::refuse;
use crate::output::Output;
use crate::progress::Bars;

pub(crate) use naming::{counted, find_note};
pub(crate) use patience::patient;

/// What every command has.
pub(crate) struct Scene {
    /// The vault's folder, when it was named or found.
    named: Option<std::path::PathBuf>,
    /// Whether bars may be drawn.
    pub(crate) progress: bool,
    /// The endpoint for vectors.
    embed: EmbedArgs,
}

/// Runs the command and says with which code to exit.
pub(crate) fn run(cli: Cli, out: &mut Output) -> Result<u8> {
    let scene = Scene { named: cli.vault, progress: !cli.no_progress && !cli.json, embed: cli.embed };
    match cli.command {
        Command::Init(args) => init::run(&scene, &args, out),
        Command::Status => status::run(&scene, out),
        Command::Doctor(args) => doctor::run(&scene, &args, out),
        Command::Archive(args) => archive::run(&scene, &args, out),
        Command::Search(args) => search::run(&scene, &args, out),
        Command::List(args) => list::run(&scene, &args, out),
        Command::Traverse(args) => traverse::run(&scene, &args, out),
        Command::Read(args) => read::run(&scene, &args, out),
        Command::Remember(args) => remember::run(&scene, &args, out),
        Command::Rename(args) => rename::run(&scene, &args, out),
        Command::Merge(args) => merge::run(&scene, &args, out),
        Command::Dismiss(args) => dismiss::run(&scene, &args, out),
        Command::Edit(args) => edit::run(&scene, &args, out),
        Command::Dream(args) => dream::run(&scene, &args, out),
        Command::Topics(args) => topics::run(&scene, &args, out),
        Command::Consolidate(args) => consolidate::run(&scene, &args, out),
        Command::Context(args) => context::run(&scene, &args, out),
        Command::Watch(args) => watch::run(&scene, &args, out),
        Command::Completions { shell } => completions::run(shell, out),
    }
}

impl Scene {
    /// The folder that was named with `--vault` or `DORMOUSE_VAULT`.
    pub(crate) fn named(&self) -> Option<&std::path::Path> {
        self.named.as_deref()
    }

    /// Opens the vault in force and reports what opening met.
    pub(crate) fn open(&self) -> Result<Arc<Vault>> {
        let root = discovery::find(self.named())?;
        let vault = Vault::open(&root).map_err(|error| blocked(&root).unwrap_or_else(|| error.into()))?;
        warn(vault.problems());
        Ok(Arc::new(vault))
    }

    /// Opens recall over the vault, with its index brought up to date, and with its vectors as far as
    /// they are made within a moment.
    pub(crate) fn recall(&self, vault: &Arc<Vault>) -> Result<Recall> {
        let mut config = self.settings(vault);
        let embedder = embedding::embedder(&self.embed, vault.root(), &config)?;
        // A command asks once, and its model is loaded by that.
        config.embed.deadline_ms = config.embed.deadline_ms.max(embedding::PATIENCE.as_millis() as u64);
        let mut recall = Recall::open(Arc::clone(vault), config)?.with_clock(self.clock());
        let embeds = embedder.is_some();
        if let Some(embedder) = embedder {
            recall = recall.with_embedder(embedder);
        }
        let bars = Bars::new(self.progress);
        recall.catch_up(&|progress| bars.index(progress))?;
        if embeds {
            recall.wait_for_meaning(embedding::PATIENCE);
        }
        Ok(recall)
    }

    fn settings(&self, vault: &Vault) -> RecallConfig {
        let (config, problems) = vault.settings().section::<RecallConfig>("recall");
        warn(&problems);
        config
    }

    /// Opens recall over the vault without touching the index: for what needs the snapshot alone.
    pub(crate) fn recall_unsynced(&self, vault: &Arc<Vault>) -> Result<Recall> {
        Ok(Recall::open(Arc::clone(vault), self.settings(vault))?.with_clock(self.clock()))
    }

    /// The real clock.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(SystemClock)
    }
}

/// Why a vault can't be opened in which `.dormouse` is no folder.
fn blocked(root: &std::path::Path) -> Option<anyhow::Error> {
    let cache = root.join(".dormouse");
    let says = format!("{} is a file, and has to be a folder: caches and locks are kept there", cache.display());
    cache
        .is_file()
        .then(|| refuse("io", says, "move that file away and try again; the folder is made when it is needed"))
}

/// Warnings for a person, on stderr, one line each.
pub(crate) fn warn(problems: &[Problem]) {
    for problem in problems {
        anstream::eprintln!("\u{1b}[33mwarning\u{1b}[0m: {problem}");
    }
}

/// [`warn`] for warnings that are text already.
pub(crate) fn warn_lines(warnings: &[String]) {
    for warning in warnings {
        anstream::eprintln!("\u{1b}[33mwarning\u{1b}[0m: {warning}");
    }
}

/// The runtime for commands that may call a model.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}
