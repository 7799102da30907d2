//! `cargo xtask bench dream`: whether dreaming improves recall, measured.
//!
//! A vault with questions is dreamed by the real pipeline. Then the same questions are asked of the
//! vault without digests, of the dreamed one, and of a control whose digests keep their links and
//! have none of their words. What asks and counts is the measurement of retrieval.

#![expect(clippy::disallowed_methods, reason = "it writes its figures, and never to a vault that it was given")]

mod arms;
mod recorded;
mod report;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use chrono::{DateTime, Days, FixedOffset, NaiveTime, TimeZone as _};
use clap::Parser;
use dormouse_agent_loop::named_model;
use dormouse_dream::{
    Abstractor, DreamConfig, DreamContext, DreamReport, DreamRequest, ExtractiveAbstractor, LexicalNeighbours,
    ModelAbstractor, dream,
};
use dormouse_vault::{FixedClock, Layer, Vault};
use serde_json::Value;

use self::recorded::Recorded;
use self::report::{Coverage, Proof};
use crate::{progress, root};

/// Characters of the context that is searched for the answer's words.
const CONTEXT: &str = "2000";

/// Does dreaming improve recall?
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench dream", arg_required_else_help = true)]
pub(crate) struct ProofArgs {
    /// The folder with vault/ and queries.jsonl.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Units from this file instead of a dreamer: JSON lines of {conv, subject, statement, sources:
    /// [{note, block}]}.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["model", "offline"])]
    facts: Option<PathBuf>,
    /// Units from a model of the user's configuration, or ADAPTER:NAME@BASE_URL.
    #[arg(long, value_name = "NAME", conflicts_with = "offline")]
    model: Option<String>,
    /// Units by rules, without a model. The default.
    #[arg(long)]
    offline: bool,
    /// Only these conversations (the property `conv`), separated by commas.
    #[arg(long, value_name = "CONV", value_delimiter = ',')]
    only: Vec<String>,
    /// What a question searches: its own conversation, or the whole vault.
    #[arg(long, value_name = "SCOPE", default_value = "conversation")]
    scope: String,
    /// The figures as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Leaves the three vaults here, to be looked at.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// A setting of recall, NAME=VALUE, repeatable.
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
}

/// Dreams, asks, reports.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let args = ProofArgs::parse_from(std::iter::once("dream".to_owned()).chain(args.iter().cloned()));
    let questions = args.data.join("queries.jsonl");
    if !args.data.join("vault").is_dir() || !questions.is_file() {
        bail!("{}: no vault/ and queries.jsonl in it; name the folder of a data set", args.data.display());
    }
    let temporary = tempfile::tempdir().context("no temporary folder")?;
    let place = match &args.keep {
        Some(dir) if dir.exists() => bail!("{}: exists already; name a folder that does not", dir.display()),
        Some(dir) => dir.as_path(),
        None => temporary.path(),
    };
    let folder = |name: &str| place.join(name);
    arms::copy_sources(&args.data.join("vault"), &folder("without"), &args.only)?;
    arms::copy_sources(&args.data.join("vault"), &folder("with"), &args.only)?;
    let questions = arms::questions(&questions, &folder("queries.jsonl"), &args.only)?;

    let abstractor: Box<dyn Abstractor> = match (&args.facts, &args.model) {
        (Some(file), _) => Box::new(Recorded::read(file)?),
        (None, Some(name)) => Box::new(ModelAbstractor::new(named_model(name)?)),
        (None, None) => Box::new(ExtractiveAbstractor),
    };
    anstream::eprintln!("dreaming {} by {}", args.data.display(), abstractor.name());
    let started = Instant::now();
    let vault = Vault::open(folder("with")).context("the copy can't be opened")?;
    let dreamed = night(&vault, abstractor.as_ref())?;
    let seconds = started.elapsed().as_secs_f64();
    let coverage = Coverage::of(&vault.snapshot(), &questions);
    arms::control(&vault, &folder("control"))?;
    drop(vault);

    anstream::eprintln!("asking {} questions of three vaults", questions.len());
    let asked = ask(place, &args)?;
    let proof = Proof::new(&args.data, &dreamed, seconds, coverage, &asked)?;
    anstream::println!("{}", proof.to_markdown());
    if let Some(file) = &args.json {
        let text = serde_json::to_string_pretty(&proof.to_json())? + "\n";
        fs::write(file, text).with_context(|| file.display().to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One run of dream over everything, on the day after the last.
fn night(vault: &Vault, abstractor: &dyn Abstractor) -> Result<DreamReport> {
    let snapshot = vault.snapshot();
    let clock = FixedClock::new(day_after_the_last(vault)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let bar = progress::bar(snapshot.notes().filter(|note| note.layer == Layer::Daily).count());
    let neighbours = LexicalNeighbours::new(vault);
    // A recorded session may hold more than a day's events do.
    let config = DreamConfig { max_units: 64, max_facts: 64, ..DreamConfig::default() };
    let observer = Bar(&bar);
    let context = DreamContext {
        vault,
        abstractor,
        neighbours: &neighbours,
        clock: &clock,
        config: &config,
        observer: &observer,
        cancel: &|| false,
    };
    let report = runtime.block_on(dream(context, DreamRequest::default()))?;
    bar.finish_and_clear();
    Ok(report)
}

/// Draws a run.
pub(super) struct Bar<'a>(pub(super) &'a indicatif::ProgressBar);

impl dormouse_dream::DreamObserver for Bar<'_> {
    fn event(&self, event: &dormouse_dream::DreamEvent<'_>) {
        match event {
            dormouse_dream::DreamEvent::Started { materials } => self.0.set_length(*materials as u64),
            dormouse_dream::DreamEvent::Finished { report } => {
                self.0.set_message(report.path.to_string());
                self.0.inc(1);
            }
            _ => {}
        }
    }
}

pub(super) fn day_after_the_last(vault: &Vault) -> Result<DateTime<FixedOffset>> {
    let snapshot = vault.snapshot();
    let last = snapshot.notes().filter_map(|note| note.path.date()).max().context("no note of the vault has a day")?;
    let day = last.checked_add_days(Days::new(1)).unwrap_or(last);
    Ok(chrono::Utc.from_utc_datetime(&day.and_time(NaiveTime::MIN)).fixed_offset())
}

/// Runs the measurement of retrieval over the three vaults, and reads its figures.
fn ask(place: &Path, args: &ProofArgs) -> Result<Value> {
    let figures = place.join("figures.json");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["bench", "--quiet", "--package", "dormouse-recall", "--bench", "retrieval", "--"]);
    command.arg("--vault").arg(place.join("without")).arg("--questions").arg(place.join("queries.jsonl"));
    for name in ["with", "control"] {
        let mut arm = std::ffi::OsString::from(format!("{name}="));
        arm.push(place.join(name));
        command.arg("--arm").arg(arm);
    }
    command.args(["--scope", &args.scope, "--context", CONTEXT, "--json"]).arg(&figures);
    for setting in &args.set {
        command.args(["--set", setting]);
    }
    // Its table is one of three that are printed here as one.
    let status =
        command.stdout(Stdio::null()).current_dir(root()).status().context("`cargo bench` could not be started")?;
    if !status.success() {
        bail!("the measurement of retrieval failed: {status}");
    }
    Ok(serde_json::from_str(&fs::read_to_string(&figures)?)?)
}
