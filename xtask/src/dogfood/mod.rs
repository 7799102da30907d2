//! `cargo xtask dogfood`: the whole cycle on a copy of a vault, with every invariant checked.
#![expect(
    clippy::disallowed_methods,
    reason = "it builds, spoils and removes copies of vaults, and never writes to one that it was given"
)]

mod ask;
mod git;
mod live;
mod questions;
mod report;
mod story;
mod trials;
mod witness;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use dormouse_agent_loop::named_model;
use dormouse_dream::{Abstractor, ExtractiveAbstractor, ModelAbstractor};
use dormouse_recall::SignalSwitches;
use dormouse_vault::{Clock, Layer};

use self::ask::{Answers, ask};
use self::live::{Life, place};
use self::questions::Asked;
use self::report::Report;
use self::story::Story;
pub(crate) use self::witness::{Step, Witness};
use crate::{progress, root};

/// Options of `cargo xtask dogfood`.
#[derive(Debug, Args)]
pub(crate) struct DogfoodArgs {
    /// Live through this vault instead of the example vault; it is copied and never touched.
    #[arg(long, value_name = "DIR", conflicts_with = "git")]
    vault: Option<PathBuf>,
    /// Live through this repository's commits, one daily event each.
    #[arg(long, value_name = "DIR")]
    git: Option<PathBuf>,
    /// Ask these questions: JSON lines of {id, query, kind, evidence: [{note, block}]}.
    #[arg(long, value_name = "FILE")]
    questions: Option<PathBuf>,
    /// Dream with a model from the user's configuration, or ADAPTER:NAME@BASE_URL. Default: offline,
    /// no model.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Where the vault and the report are left.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Lives, asks, checks, reports. Fails when an invariant is broken.
pub(crate) fn run(args: &DogfoodArgs) -> Result<ExitCode> {
    let out = args.out.clone().unwrap_or_else(|| root().join("target/dogfood"));
    let (mut story, mut questions) = tell(args)?;
    if let Some(file) = &args.questions {
        questions = questions::of_file(file)?;
    }
    let abstractor: Arc<dyn Abstractor> = match &args.model {
        None => Arc::new(ExtractiveAbstractor),
        Some(name) => Arc::new(ModelAbstractor::new(named_model(name)?)),
    };
    let vault = fresh_folder(&out, args.vault.as_deref())?;
    for (from, path) in &story.base {
        place(from, &vault, path)?;
    }
    let name = std::mem::take(&mut story.name);
    let source = Source::of(&story);
    let bar = progress::bar(story.arrivals());
    anstream::eprintln!("living through {name}: {} arrivals on {} days", story.arrivals(), story.days.len());
    let start = story.days.values().flatten().map(|(at, _)| *at).next();
    let Some(start) = start else { bail!("{name}: nothing in it has a date; there is nothing to live through") };
    let mut life = Life::open(&vault, Arc::clone(&abstractor), start)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(life.live(story, &bar))?;
    bar.finish_and_clear();

    let mut report = Report { story: name, abstractor: abstractor.name().to_owned(), ..Report::default() };
    examine(&mut life, &questions, &vault, &mut report)?;
    runtime.block_on(trials::dreaming_again_changes_nothing(&mut life, abstractor.as_ref()))?;
    trials::the_cache_can_go(&mut life, &questions, &vault)?;
    life.witness.at_the_end(&life.vault)?;
    source.is_untouched(&vault, &mut life)?;
    finish(report, life, &out)
}

/// The story and its questions.
fn tell(args: &DogfoodArgs) -> Result<(Story, Vec<Asked>)> {
    if let Some(repository) = &args.git {
        return git::story(repository);
    }
    if let Some(dir) = &args.vault {
        if !dir.is_dir() {
            bail!("{}: no such folder; name a vault", dir.display());
        }
        return Ok((story::of_vault(dir, Vec::new())?, Vec::new()));
    }
    let mut story = story::of_vault(&dormouse_fixtures::example_vault(), dormouse_fixtures::sessions())?;
    story.name = "the example vault".into();
    Ok((story, questions::of_fixtures()))
}

/// The file that says that a folder's `vault/` is ours to replace.
const MARK: &str = ".dogfood";

/// An empty `vault/` in the output folder. Only what an earlier run left there is removed: a folder
/// that this command did not make, or that has to do with the source, is refused.
fn fresh_folder(out: &Path, source: Option<&Path>) -> Result<PathBuf> {
    fs::create_dir_all(out).with_context(|| out.display().to_string())?;
    let out = out.canonicalize().with_context(|| out.display().to_string())?;
    let vault = out.join("vault");
    if let Some(source) = source {
        let source = source.canonicalize().with_context(|| source.display().to_string())?;
        if source.starts_with(&vault) || vault.starts_with(&source) {
            bail!(
                "{}: the copy would lie in the source or replace it; name another folder with --out",
                vault.display()
            );
        }
    }
    if vault.exists() {
        if !out.join(MARK).is_file() {
            bail!("{}: not made by this command; name another folder with --out", vault.display());
        }
        fs::remove_dir_all(&vault).with_context(|| vault.display().to_string())?;
    }
    fs::write(out.join(MARK), "The folder `vault` beside this file is replaced by the next `cargo xtask dogfood`.\n")?;
    fs::create_dir_all(&vault).with_context(|| vault.display().to_string())?;
    Ok(vault)
}

/// Asks everything: with all signals, with each one off, and without the digests.
fn examine(life: &mut Life, questions: &[Asked], vault: &Path, report: &mut Report) -> Result<()> {
    let started = Instant::now();
    anstream::eprintln!("asking {} questions in {} arms", questions.len(), SignalSwitches::NAMES.len() + 2);
    let clock: Arc<dyn Clock> = Arc::new(life.clock.clone());
    life.counts.questions = questions.iter().filter(|q| !q.has_no_answer()).count();
    life.counts.questions_without_answer = questions.len() - life.counts.questions;
    let recall = ask::recall(&life.vault, &clock)?;
    let all = ask(&recall, questions, SignalSwitches::ALL, &mut life.witness)?;
    life.counts.evidence_not_found = all.missing;
    every_question_is_answered(&all, "with all signals", life);
    (report.questions, report.by_kind) = (all.figures, all.by_kind);
    for name in SignalSwitches::NAMES {
        let arm = ask(&recall, questions, SignalSwitches::ALL.without(name), &mut life.witness)?;
        report.ablation.insert(name.to_owned(), arm.figures);
    }
    let layout = life.vault.layout().clone();
    let control = trials::without(vault, &[&layout.digest, &layout.meta, &layout.audit])?;
    let recall = ask::recall(&control.vault, &clock)?;
    let control = ask(&recall, questions, SignalSwitches::ALL, &mut life.witness)?;
    (report.questions_without_digests, report.by_kind_without_digests) = (control.figures, control.by_kind);
    life.spent("questions", started);
    life.witness.look(&life.vault, Step::Ask)
}

/// A question that something answers never meets silence.
fn every_question_is_answered(answers: &Answers, arm: &str, life: &mut Life) {
    for id in &answers.silent {
        life.witness.violation("the answer still comes", format_args!("{id} {arm}"));
    }
}

/// The story's files as they were, to be compared at the end.
struct Source(BTreeMap<dormouse_vault::NotePath, (PathBuf, blake3::Hash)>);

impl Source {
    fn of(story: &Story) -> Self {
        let arrivals = story.days.values().flatten().filter_map(|(_, arrival)| match arrival {
            story::Arrival::File { from, path } => Some((from, path)),
            _ => None,
        });
        let files = story.base.iter().map(|(from, path)| (from, path)).chain(arrivals);
        Self(files.filter_map(|(from, path)| Some((path.clone(), (from.clone(), hash(from)?)))).collect())
    }

    /// The source is as it was, and each copy is byte-identical; the day's index may have grown.
    fn is_untouched(&self, vault: &Path, life: &mut Life) -> Result<()> {
        for (path, (from, before)) in &self.0 {
            life.witness.check(hash(from).as_ref() == Some(before), "the source is never touched", from.display());
            if !matches!(life.vault.layout().layer(path), Layer::Daily | Layer::Resource | Layer::Other) {
                continue;
            }
            let copy = vault.join(path.as_disk());
            let same = hash(&copy).as_ref() == Some(before);
            let is_index = life.vault.layout().layer(path) == Layer::Daily
                && path.date().is_some_and(|d| path.stem() == d.to_string());
            let grew = is_index && fs::read(&copy)?.starts_with(&fs::read(from)?);
            life.witness.check(same || grew, "no source byte changes", path);
        }
        Ok(())
    }
}

fn hash(file: &Path) -> Option<blake3::Hash> {
    Some(blake3::hash(&fs::read(file).ok()?))
}

/// Completes the report, writes it, prints it.
fn finish(mut report: Report, mut life: Life, out: &Path) -> Result<ExitCode> {
    let snapshot = life.vault.snapshot();
    life.counts.digests = snapshot.notes().filter(|n| n.layer == Layer::Digest).count();
    life.counts.edges = snapshot.graph().edge_count();
    life.counts.archived = life.vault.meta::<dormouse_vault::meta::Archived>().value.map_or(0, |a| a.notes.len());
    let ledger = life.vault.meta::<dormouse_vault::meta::DreamLedger>().value;
    life.counts.pending = ledger.map_or(0, |ledger| dormouse_vault::material::pending(&snapshot, Some(&ledger)).len());
    report.violations = life.witness.violations();
    report.checks = life.witness.checks;
    report.counts = life.counts;
    report.themes = life.themes;
    report.timings_ms =
        life.timings.iter().map(|(k, v)| (k.clone(), u64::try_from(v.as_millis()).unwrap_or(u64::MAX))).collect();
    report.write(out)?;
    anstream::println!("{}", report.to_markdown());
    anstream::println!("The vault is in {}: open that folder in Obsidian, or ask it:", out.join("vault").display());
    anstream::println!(
        "  cargo run --quiet --package dormouse -- --vault {} search \"why not reciprocal rank fusion\"",
        out.join("vault").display()
    );
    anstream::println!("The report is in {} and report.json beside it.", out.join("report.md").display());
    if report.violations.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    anstream::eprintln!("{} invariants are broken, see above", report.violations.len());
    Ok(ExitCode::FAILURE)
}

#[cfg(test)]
mod tests {
    use dormouse_fixtures::temp_vault;

    use super::fresh_folder;

    #[test]
    fn a_folder_that_is_not_ours_or_the_source_is_never_replaced() {
        let out = temp_vault("=== vault/precious.md\nkeep me\n");
        assert!(fresh_folder(out.path(), None).is_err());
        let source = out.path().join("vault");
        assert!(fresh_folder(out.path(), Some(&source)).is_err());
        assert!(fresh_folder(&source.join("inside"), Some(&source)).is_err());
        assert_eq!(out.read("vault/precious.md"), "keep me\n");
        let ours = temp_vault("");
        let vault = fresh_folder(ours.path(), None).unwrap();
        std::fs::write(vault.join("old.md"), "old").unwrap();
        assert!(!fresh_folder(ours.path(), None).unwrap().join("old.md").exists());
    }
}
