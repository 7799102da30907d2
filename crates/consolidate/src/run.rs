//! One run: the tasks in order, each planned as data and then written in one step.

use dormouse_vault::audit::{self, AuditEntry};
use dormouse_vault::meta::{AccessLog, Archived, Artefact, Communities, Cooldowns, Dismissed, DreamLedger, Recency};
use dormouse_vault::{
    ChangeSet, Clock, CommitError, Conservation, NotePath, Problem, Stage, Vault, VaultError, Writer,
};

use crate::config::ConsolidateConfig;
use crate::duplicates::Vectors;
use crate::error::ConsolidateError;
use crate::inputs::Inputs;
use crate::progress::{Progress, Watch};
use crate::report::{ConsolidateReport, SplitDone, Task, TaskReport, TaskState, Theme};
use crate::state::State;
use crate::{cache, communities, duplicates, health, split, time};

/// What a run works with. Everything from outside comes in here.
pub struct RunContext<'a> {
    /// The vault.
    pub vault: &'a Vault,
    /// The time; its local day names the audit folder.
    pub clock: &'a dyn Clock,
    /// The settings.
    pub config: &'a ConsolidateConfig,
    /// The same seed gives the same communities. [`crate::DEFAULT_SEED`] is the usual one.
    pub seed: u64,
    /// Who watches; [`crate::Silent`] when nobody does.
    pub progress: &'a dyn Progress,
    /// Asked often; once it says true the run ends within a second, and of the task under way
    /// nothing is written.
    pub cancel: &'a (dyn Fn() -> bool + Sync),
}

/// Runs `tasks`, each once, in the order of [`Task::ALL`].
///
/// Takes the vault's consolidate lock, looks at the disk again, then plans each task from the
/// snapshot and writes its result in one step. A task that fails is reported, and the others run.
///
/// # Errors
/// [`ConsolidateError::Commit`] with `Locked` when another run is under way or `ReadOnly` when
/// nothing can be written, and [`ConsolidateError::Vault`] when the vault can't be read at all.
pub fn run(context: RunContext<'_>, tasks: &[Task]) -> Result<ConsolidateReport, ConsolidateError> {
    run_with(context, tasks, None)
}

/// [`run`] for a caller that has vectors of notes: the duplicate search then also finds what is said
/// in other words.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    context: RunContext<'_>,
    tasks: &[Task],
    vectors: Option<&dyn Vectors>,
) -> Result<ConsolidateReport, ConsolidateError> {
    let _lock = context.vault.lock_stage(Stage::Consolidate)?;
    context.vault.refresh()?;
    let mut report = ConsolidateReport::new(context.clock.now());
    let mut run = Run { state: State::load(context.vault), inputs: None, context, vectors };
    for task in Task::ALL.into_iter().filter(|t| tasks.contains(t)) {
        let _span = tracing::info_span!("consolidate", task = task.as_str()).entered();
        let mut done = TaskReport { task, state: TaskState::Done, numbers: std::collections::BTreeMap::new() };
        done.state = if (run.context.cancel)() {
            TaskState::Skipped
        } else {
            match run.task(task, &mut report, &mut done) {
                Ok(()) => {
                    run.state.last_runs.set(task, run.context.clock.now_utc());
                    TaskState::Done
                }
                Err(ConsolidateError::Cancelled) => TaskState::Cancelled,
                Err(error) => {
                    tracing::warn!(task = task.as_str(), "a consolidate task failed");
                    TaskState::Failed { reason: error.to_string() }
                }
            }
        };
        run.context.progress.end(task, &done.state);
        report.tasks.push(done);
    }
    // Losing this file only makes a task due again.
    if run.state.store(run.context.vault).is_err() {
        tracing::warn!("the run's state could not be kept");
    }
    Ok(report)
}

struct Run<'a> {
    context: RunContext<'a>,
    state: State,
    /// Read when first needed, and again after a split.
    inputs: Option<Inputs>,
    /// For the duplicate search.
    vectors: Option<&'a dyn Vectors>,
}

impl Run<'_> {
    fn task(
        &mut self,
        task: Task,
        report: &mut ConsolidateReport,
        done: &mut TaskReport,
    ) -> Result<(), ConsolidateError> {
        if self.inputs.is_none() {
            self.inputs = Some(Inputs::read(self.context.vault, &self.watch(task))?);
        }
        match task {
            Task::Split => self.split(report, done),
            Task::Communities => self.communities(report, done),
            Task::Time => self.time(report, done),
            Task::Duplicates => self.duplicates(report, done),
            Task::Health => self.health(report, done),
        }
    }

    fn watch(&self, task: Task) -> Watch<'_> {
        Watch { task, progress: self.context.progress, cancel: self.context.cancel }
    }

    fn inputs(&self) -> Result<&Inputs, ConsolidateError> {
        self.inputs.as_ref().ok_or(ConsolidateError::Cancelled)
    }

    /// A derived file; when it can't be read that is reported. The door keeps its bytes when a task
    /// puts a new one in its place.
    fn meta<T: Artefact>(&self, report: &mut ConsolidateReport) -> Option<T> {
        let loaded = self.context.vault.meta::<T>();
        loaded.problem.into_iter().for_each(|problem| note_problem(report, problem));
        loaded.value
    }

    fn put(&self, changes: Vec<dormouse_vault::Change>) -> Result<(), ConsolidateError> {
        let mut set = ChangeSet::new(Writer::Meta, Conservation::Additive);
        set.changes = changes;
        self.context.vault.commit(&set)?;
        Ok(())
    }

    fn communities(&self, report: &mut ConsolidateReport, done: &mut TaskReport) -> Result<(), ConsolidateError> {
        let context = &self.context;
        let previous = self.meta::<Communities>(report);
        let watch = self.watch(Task::Communities);
        let now = context.clock.now_utc();
        let found = communities::compute(
            self.inputs()?,
            previous.as_ref(),
            &context.config.communities,
            context.seed,
            now,
            &watch,
        )?;
        self.put(vec![found.to_change(context.vault.layout())])?;
        let themes = found.communities.iter().filter(|c| c.members.len() > 1);
        report.communities = themes
            .map(|c| Theme {
                id: c.id,
                label: c.label.clone(),
                size: c.members.len(),
                hub: c.hub.clone(),
                stability: c.stability,
            })
            .collect();
        report.modularity = Some(found.modularity);
        count(done, "notes", self.inputs()?.digests.len());
        count(done, "communities", report.communities.len());
        count(done, "alone", self.inputs()?.digests.len() - report.communities.iter().map(|c| c.size).sum::<usize>());
        Ok(())
    }

    fn time(&mut self, report: &mut ConsolidateReport, done: &mut TaskReport) -> Result<(), ConsolidateError> {
        let log = self.meta::<AccessLog>(report);
        let archived = self.meta::<Archived>(report);
        // Only so that a file that can't be read is reported before it is put anew.
        self.meta::<Recency>(report);
        let ledger = self.meta::<DreamLedger>(report);
        let context = &self.context;
        let spool = context.vault.spool();
        let spooled = spool.read()?;
        let now = context.clock.now();
        let inputs = self.inputs()?;
        let seen = self.state.look(inputs, now.date_naive());
        let past = time::Past { log: log.as_ref(), archived: archived.as_ref(), ledger: ledger.as_ref(), seen: &seen };
        let outcome = time::compute(inputs, &spooled.hits, &past, &context.config.time, now, &self.watch(Task::Time))?;
        let layout = context.vault.layout();
        self.put(vec![
            outcome.log.to_change(layout),
            outcome.recency.to_change(layout),
            outcome.archived.to_change(layout),
        ])?;
        // Folding the same hits twice changes nothing, so a crash between the two loses nothing.
        spool.discard(&spooled)?;
        count(done, "notes", outcome.recency.notes.len());
        count(done, "hits", spooled.hits.len());
        count(done, "hits_unreadable", spooled.skipped);
        count(done, "archived", outcome.fell_asleep.len());
        count(done, "thawed", outcome.woke.len());
        count(done, "asleep", outcome.archived.notes.len());
        count(done, "protected", outcome.protected);
        report.archived = outcome.fell_asleep;
        report.thawed = outcome.woke;
        self.state.seen = seen;
        Ok(())
    }

    fn duplicates(&self, report: &mut ConsolidateReport, done: &mut TaskReport) -> Result<(), ConsolidateError> {
        let context = &self.context;
        let inputs = self.inputs()?;
        let copies = duplicates::conflict_copies(context.vault, &inputs.snapshot)?;
        let dismissed = self.meta::<Dismissed>(report);
        let watch = self.watch(Task::Duplicates);
        watch.begin(inputs.digests.len());
        let signatures = duplicates::signatures(inputs, &watch)?;
        let known = duplicates::Known { dismissed: dismissed.as_ref(), vectors: self.vectors };
        let config = &context.config.duplicates;
        let pairs = duplicates::find(inputs, &signatures, copies, known, config, &watch)?;
        let page = self.todays_page("duplicates")?;
        let entry = duplicates::entry(inputs, &pairs, &page, context.config.duplicates.max_pairs, context.clock.now());
        count(done, "notes", inputs.digests.len());
        count(done, "pairs", pairs.len());
        report.duplicates = pairs;
        if let Some(entry) = entry {
            context.vault.commit(&audit::append(&[entry], context.vault.layout()))?;
        }
        Ok(())
    }

    fn health(&self, report: &mut ConsolidateReport, done: &mut TaskReport) -> Result<(), ConsolidateError> {
        let context = &self.context;
        let inputs = self.inputs()?;
        let baseline = cache::load::<health::Baseline>(context.vault, health::BASELINE_FILE);
        let signals = health::Signals::read(context.vault);
        let now = context.clock.now();
        let found = health::check(inputs, &signals, baseline.as_ref(), context.config, now, &self.watch(Task::Health))?;
        let page = self.todays_page("health")?;
        if let Some(entry) = health::entry(&found, &page, context.config.health.max_listed, now) {
            context.vault.commit(&audit::append(&[entry], context.vault.layout()))?;
        }
        cache::store(context.vault, health::BASELINE_FILE, &health::Baseline::of(inputs))?;
        count(done, "severe", found.severe);
        count(done, "warnings", found.warnings);
        count(done, "notices", found.notices);
        report.health = Some(found);
        Ok(())
    }

    fn split(&mut self, report: &mut ConsolidateReport, done: &mut TaskReport) -> Result<(), ConsolidateError> {
        let cooldowns = self.meta::<Cooldowns>(report);
        let config = &self.context.config.split;
        let (mut refused, mut changed) = (0, 0);
        let mut planned = Vec::new();
        {
            let inputs = self.inputs()?;
            let watch = self.watch(Task::Split);
            watch.begin(inputs.digests.len());
            for (at, digest) in inputs.digests.iter().enumerate() {
                watch.step(at)?;
                if planned.len() == config.max_per_sweep {
                    break;
                }
                let text = digest.note_text();
                let now = self.context.clock.now();
                if let split::SplitDecision::Split(plan) =
                    split::plan(&inputs.snapshot, &text, cooldowns.as_ref(), config, now)
                {
                    planned.push(plan);
                }
            }
        }
        // Whatever happens below: what was read is no longer what stands there.
        self.inputs = None;
        let config = &self.context.config.split;
        let mut failed = None;
        for plan in planned {
            match split::apply(self.context.vault, &plan, config, self.context.clock) {
                Ok(applied) => {
                    report.splits.push(split_done(&plan));
                    applied.problems.into_iter().for_each(|problem| note_problem(report, problem));
                }
                Err(ConsolidateError::Commit(CommitError::Conflict(_))) => changed += 1,
                Err(ConsolidateError::Commit(error)) if is_refusal(&error) => refused += 1,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        count(done, "split", report.splits.len());
        count(done, "refused", refused);
        count(done, "changed", changed);
        failed.map_or(Ok(()), Err)
    }

    /// The text of one of today's audit pages; empty when there is none.
    fn todays_page(&self, page: &'static str) -> Result<String, ConsolidateError> {
        let entry = AuditEntry { page, at: self.context.clock.now(), title: String::new(), body: String::new() };
        let path: NotePath = entry.path(self.context.vault.layout());
        match self.context.vault.read(&path) {
            Ok(read) => Ok(read.text),
            Err(VaultError::NotFound { .. }) => Ok(String::new()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether the door said no to what was planned, as against a disk that failed.
fn is_refusal(error: &CommitError) -> bool {
    matches!(error, CommitError::Denied { .. } | CommitError::NoteLocked { .. } | CommitError::Conservation(_))
}

fn note_problem(report: &mut ConsolidateReport, problem: Problem) {
    if !report.problems.contains(&problem) {
        report.problems.push(problem);
    }
}

fn split_done(plan: &split::SplitPlan) -> SplitDone {
    SplitDone {
        parent: plan.parent.clone(),
        children: plan.children.iter().map(|c| c.path.clone()).collect(),
        reason: plan.reason.clone(),
    }
}

fn count(done: &mut TaskReport, name: &str, value: usize) {
    done.numbers.insert(name.to_owned(), value as u64);
}
