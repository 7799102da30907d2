//! `cargo xtask bench model`: events dreamed by a served model, behind a proxy that spoils its replies.
//!
//! A vault of labelled events is dreamed until nothing is pending. Every fault that the proxy injects
//! must be survived, every invariant hold, every kept fact's evidence stand in its note, and one more
//! dream send nothing and write nothing.

#![expect(clippy::disallowed_methods, reason = "it writes its figures, and only to vaults that it made itself")]

mod evidence;
mod fault;
mod proxy;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use chrono::{DateTime, Days, FixedOffset};
use clap::Parser;
use dormouse_agent_loop::named_model;
use dormouse_dream::{
    Abstractor, DreamConfig, DreamContext, DreamReport, DreamRequest, ExtractiveAbstractor, LexicalNeighbours,
    MaterialState, ModelAbstractor, dream,
};
use dormouse_fixtures::{LabelledEvent, labelled_events};
use dormouse_vault::{FixedClock, NotePath, Vault};
use serde_json::{Value, json};

use self::evidence::{KeptFact, Witnessed};
use self::fault::Fault;
use self::proxy::{Proxy, Seen};
use super::dream::{Bar, day_after_the_last};
use crate::dogfood::{Step, Witness};
use crate::progress;

/// So many runs must suffice.
const ROUNDS: u64 = 8;

/// Dreams events by a model that is served over HTTP.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench model", arg_required_else_help = true)]
pub(crate) struct ModelArgs {
    /// A server of chat completions, with its path: `http://127.0.0.1:18081/v1/`.
    #[arg(long, value_name = "URL")]
    server: String,
    /// The model's name as the server knows it.
    #[arg(long, value_name = "NAME", default_value = "default")]
    name: String,
    /// How many of the labelled events.
    #[arg(long, value_name = "N", default_value_t = 30)]
    events: usize,
    /// Spoils no reply.
    #[arg(long)]
    plain: bool,
    /// The figures and every kept fact as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Leaves the vault here, to be looked at.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Dreams, checks, reports. The exit code says whether everything held.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let args = ModelArgs::parse_from(std::iter::once("model".to_owned()).chain(args.iter().cloned()));
    let temporary = tempfile::tempdir().context("no temporary folder")?;
    let root = match &args.keep {
        Some(dir) if dir.exists() => bail!("{}: exists already; name a folder that does not", dir.display()),
        Some(dir) => dir.clone(),
        None => temporary.path().join("vault"),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let outcome = runtime.block_on(nights(&args, &root))?;
    anstream::println!("{}", outcome.to_markdown());
    if let Some(file) = &args.json {
        let text = serde_json::to_string_pretty(&outcome.to_json())? + "\n";
        fs::write(file, text).with_context(|| file.display().to_string())?;
    }
    Ok(if outcome.failures().is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What happened.
struct Outcome {
    model: String,
    events: usize,
    faulty: bool,
    seconds: f64,
    runs: Vec<DreamReport>,
    seen: Seen,
    pending: Vec<(NotePath, String)>,
    kept: Vec<KeptFact>,
    checks: usize,
    violations: Vec<String>,
    /// Requests that the dream over the unchanged vault sent.
    again_requests: usize,
    /// Files that it wrote.
    again_written: Vec<String>,
}

async fn nights(args: &ModelArgs, root: &Path) -> Result<Outcome> {
    let events = labelled_events();
    let wanted = args.events.min(events.len());
    let chosen: BTreeSet<usize> = (0..wanted).map(|n| n * events.len() / wanted.max(1)).collect();
    // What others of the events led to lies there already, so that a unit meets candidates.
    let others: Vec<&LabelledEvent> = events
        .iter()
        .enumerate()
        .filter(|(n, event)| !chosen.contains(n) && !event.kept.is_empty())
        .map(|(_, e)| e)
        .collect();
    write(root, others.into_iter().step_by(3))?;
    let vault = Vault::open(root)?;
    let day = day_after_the_last(&vault)?;
    night(&vault, &ExtractiveAbstractor, day).await?;
    write(root, chosen.iter().filter_map(|n| events.get(*n)))?;
    vault.refresh()?;
    let mut witness = Witness::default();
    witness.look(&vault, Step::Arrive)?;

    let (proxy, url) = Proxy::serve(&args.server, !args.plain).await?;
    let model = named_model(&format!("openai:{}@{url}", args.name))?;
    let abstractor = Witnessed::new(ModelAbstractor::new(model));
    let first = day_after_the_last(&vault)?;
    let started = Instant::now();
    let mut runs = Vec::new();
    let mut pending: BTreeMap<NotePath, String> = BTreeMap::new();
    for round in 0..ROUNDS {
        let day = first.checked_add_days(Days::new(round)).context("the calendar ends")?;
        let report = night(&vault, &abstractor, day).await?;
        witness.look(&vault, Step::Dream)?;
        for material in &report.materials {
            match &material.state {
                MaterialState::Pending { reason } => pending.insert(material.path.clone(), reason.clone()),
                _ => pending.remove(&material.path),
            };
        }
        let whole = !report.stopped;
        anstream::eprintln!("run {}: {} dreamed, {} pending", round + 1, report.totals.done, pending.len());
        runs.push(report);
        if whole && pending.is_empty() {
            break;
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    witness.at_the_end(&vault)?;

    let (files, requests) = (contents(root)?, proxy.seen().requests);
    let day = first.checked_add_days(Days::new(ROUNDS)).context("the calendar ends")?;
    night(&vault, &abstractor, day).await?;
    let after = contents(root)?;
    let paths: BTreeSet<&String> = files.keys().chain(after.keys()).collect();
    let again_written = paths.into_iter().filter(|path| files.get(*path) != after.get(*path)).cloned().collect();
    let seen = proxy.seen();
    Ok(Outcome {
        model: args.name.clone(),
        events: wanted,
        faulty: !args.plain,
        seconds,
        runs,
        again_requests: seen.requests - requests,
        seen,
        pending: pending.into_iter().collect(),
        kept: abstractor.kept(),
        checks: witness.checks,
        violations: witness.violations(),
        again_written,
    })
}

/// Puts events into a vault.
fn write<'e>(root: &Path, events: impl Iterator<Item = &'e LabelledEvent>) -> Result<()> {
    for event in events {
        let file = root.join(event.path());
        fs::create_dir_all(file.parent().context("an event lies in a folder")?)?;
        fs::write(&file, event.note())?;
    }
    Ok(())
}

async fn night(vault: &Vault, abstractor: &dyn Abstractor, day: DateTime<FixedOffset>) -> Result<DreamReport> {
    let bar = progress::bar(0);
    let context = DreamContext {
        vault,
        abstractor,
        neighbours: &LexicalNeighbours::new(vault),
        clock: &FixedClock::new(day),
        // One at a time, so that the faults fall the same way in every run.
        config: &DreamConfig { fan_out: 1, ..DreamConfig::default() },
        observer: &Bar(&bar),
        cancel: &|| false,
    };
    let report = dream(context, DreamRequest::default()).await?;
    bar.finish_and_clear();
    Ok(report)
}

/// The bytes of all files but the cache's.
fn contents(root: &Path) -> Result<BTreeMap<String, blake3::Hash>> {
    let mut out = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            if path.is_dir() {
                folders.extend((name != ".dormouse").then_some(path));
            } else {
                out.insert(name, blake3::hash(&fs::read(&path)?));
            }
        }
    }
    Ok(out)
}

impl Outcome {
    /// Faults that can happen to what was asked and did not happen.
    fn unseen(&self) -> Vec<&'static str> {
        let missing = Fault::ALL.iter().filter(|fault| !self.seen.injected.contains_key(fault));
        if self.faulty { missing.map(|fault| fault.name()).collect() } else { Vec::new() }
    }

    fn failures(&self) -> Vec<String> {
        let mut out: Vec<String> = self.violations.iter().map(|what| format!("violated: {what}")).collect();
        out.extend(self.pending.iter().map(|(path, reason)| format!("pending: {path}: {reason}")));
        let unproven = self.kept.iter().filter(|fact| !fact.verified);
        out.extend(unproven.map(|fact| format!("without evidence: {}: {}", fact.note, fact.fact)));
        out.extend(self.unseen().into_iter().map(|fault| format!("never happened: {fault}")));
        if self.again_requests > 0 {
            out.push(format!("a dream over the unchanged vault sent {} requests", self.again_requests));
        }
        out.extend(self.again_written.iter().map(|path| format!("a dream over the unchanged vault wrote {path}")));
        out
    }

    fn sum(&self, of: impl Fn(&DreamReport) -> u64) -> u64 {
        self.runs.iter().map(of).sum()
    }

    fn to_markdown(&self) -> String {
        let mut out = format!("{} events by {}, {:.0} s\n\n", self.events, self.model, self.seconds);
        let dropped = self.sum(|r| (r.totals.units_dropped + r.totals.facts_dropped) as u64);
        let verified = self.kept.iter().filter(|fact| fact.verified).count();
        let _ = writeln!(out, "| | |\n|---|---:|");
        for (what, figure) in [
            ("runs until nothing was pending", self.runs.len() as u64),
            ("requests", self.seen.requests as u64),
            ("replies spoilt", self.seen.injected.values().sum::<usize>() as u64),
            ("notes dreamed", self.sum(|r| r.totals.done as u64)),
            ("notes pending at the end", self.pending.len() as u64),
            ("notes created", self.sum(|r| r.totals.created as u64)),
            ("facts kept", self.kept.len() as u64),
            ("… with evidence that stands in the note", verified as u64),
            ("units and facts dropped", dropped),
            ("tokens in", self.sum(|r| r.usage.input_tokens)),
            ("tokens out", self.sum(|r| r.usage.output_tokens)),
            ("checks of invariants", self.checks as u64),
            ("violations", self.violations.len() as u64),
            ("requests of one more dream", self.again_requests as u64),
            ("files that it wrote", self.again_written.len() as u64),
        ] {
            let _ = writeln!(out, "| {what} | {figure} |");
        }
        if self.faulty {
            let _ = writeln!(out, "\n| fault | times |\n|---|---:|");
            for fault in Fault::ALL {
                let _ = writeln!(
                    out,
                    "| {} | {} |",
                    fault.name(),
                    self.seen.injected.get(&fault).copied().unwrap_or_default()
                );
            }
        }
        for failure in self.failures() {
            let _ = writeln!(out, "\n- {failure}");
        }
        out
    }

    fn to_json(&self) -> Value {
        let injected: BTreeMap<&str, usize> = self.seen.injected.iter().map(|(f, n)| (f.name(), *n)).collect();
        json!({
            "model": self.model,
            "events": self.events,
            "seconds": self.seconds,
            "requests": self.seen.requests,
            "faults": injected,
            "runs": self.runs,
            "kept": self.kept,
            "checks": self.checks,
            "failures": self.failures(),
        })
    }
}
