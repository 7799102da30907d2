//! One run: the tasks in order, each planned as data and then written in one step.

use std::panic::{AssertUnwindSafe, catch_unwind};

use chrono::{DateTime, FixedOffset, Utc};
use dormouse_vault::audit::{self, AuditEntry};
use dormouse_vault::meta::{AccessLog, Archived, Artefact, Communities, Cooldowns, Dismissed, DreamLedger, Recency};
use dormouse_vault::{
    ChangeSet, Clock, CommitError, Conservation, NotePath, Problem, Stage, Vault, VaultError, Writer,
};

use crate::config::ConsolidateConfig;
use crate::duplicates::{PairsFound, Vectors};
use crate::error::ConsolidateError;
use crate::inputs::Inputs;
use crate::progress::{Progress, Watch};
use crate::report::{ConsolidateReport, SplitDone, Task, TaskReport, TaskState, Theme};
use crate::state::{Looked, Looks, State};
use crate::ties::{Ties, ties};
use crate::{communities, duplicates, health, split, time};

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
    let mut run = Run { state: State::load(context.vault), inputs: None, looked: None, ties: None, context, vectors };
    for task in Task::ALL.into_iter().filter(|t| tasks.contains(t)) {
        let _span = tracing::info_span!("consolidate", task = task.as_str()).entered();
        let mut done = TaskReport { task, state: TaskState::Done, numbers: std::collections::BTreeMap::new() };
        done.state =
            if (run.context.cancel)() { TaskState::Skipped } else { run.guarded(task, &mut report, &mut done) };
        match &done.state {
            TaskState::Done => run.state.last_runs.set(task, run.context.clock.now_utc()),
            TaskState::Failed { .. } => run.state.last_runs.fail(task, run.context.clock.now_utc()),
            TaskState::Cancelled | TaskState::Skipped => {}
        }
        run.context.progress.end(task, &done.state);
        report.tasks.push(done);
    }
    // Losing these files only makes a task due again, or has the notes read through again.
    let kept = run.state.store(run.context.vault).and_then(|()| match (&run.inputs, &run.looked) {
        (Some(inputs), Some(looked)) => Looks::store(run.context.vault, inputs, looked),
        _ => Ok(()),
    });
    if kept.is_err() {
        tracing::warn!("the run's state could not be kept");
    }
    Ok(report)
}

struct Run<'a> {
    context: RunContext<'a>,
    state: State,
    /// Read when first needed, and again after a split.
    inputs: Option<Inputs<'a>>,
    /// The look at `inputs`, when a task needed it.
    looked: Option<Vec<Looked>>,
    /// What the links of `inputs` say, when a task needed it.
    ties: Option<Vec<Ties>>,
    /// For the duplicate search.
    vectors: Option<&'a dyn Vectors>,
}

impl Run<'_> {
    /// Does `task` and says how it ended. A panic in it is caught and reported as its failure: a
    /// note that one task trips over must neither keep the others from their work nor end the
    /// program that watches the vault, which may be an agent's host. What the task had in hand is
    /// thrown away; nothing of it is on disk, since a task writes in one step at its end.
    fn guarded(&mut self, task: Task, report: &mut ConsolidateReport, done: &mut TaskReport) -> TaskState {
        let ended = catch_unwind(AssertUnwindSafe(|| self.task(task, report, done)));
        match ended {
            Ok(Ok(())) => TaskState::Done,
            Ok(Err(ConsolidateError::Cancelled)) => TaskState::Cancelled,
            Ok(Err(error)) => {
                tracing::warn!(task = task.as_str(), "a consolidate task failed");
                TaskState::Failed { reason: error.to_string() }
            }
            Err(panic) => {
                tracing::error!(task = task.as_str(), "a consolidate task panicked");
                (self.inputs, self.looked, self.ties) = (None, None, None);
                let said = panic.downcast_ref::<&str>().copied().map(str::to_owned);
                let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
                TaskState::Failed { reason: format!("a fault in this program, please report it: {said}") }
            }
        }
    }

    fn task(
        &mut self,
        task: Task,
        report: &mut ConsolidateReport,
        done: &mut TaskReport,
    ) -> Result<(), ConsolidateError> {
        if self.inputs.is_none() {
            self.inputs = Some(Inputs::of(self.context.vault, &self.watch(task))?);
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

    fn inputs(&self) -> Result<&Inputs<'_>, ConsolidateError> {
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
        let (found, last) = communities::compute(
            context.vault,
            self.inputs()?,
            previous.as_ref(),
            &context.config.communities,
            context.seed,
            now,
            &watch,
        )?;
        let alike = |p: &Communities| {
            (p.seed, p.resolution, p.modularity, &p.groups)
                == (found.seed, found.resolution, found.modularity, &found.groups)
                && p.next_id == found.next_id
        };
        if !previous.as_ref().is_some_and(alike)
            || fresh(previous.as_ref(), &found, context.clock.now(), |c| &c.communities)
        {
            self.put(vec![found.to_change(context.vault.layout())])?;
        }
        last.inspect(|last| last.store(context.vault));
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
        let last = self.meta::<Recency>(report);
        let ledger = self.meta::<DreamLedger>(report);
        self.look(Task::Time)?;
        let context = &self.context;
        let spool = context.vault.spool();
        let spooled = spool.read()?;
        let now = context.clock.now();
        let inputs = self.inputs()?;
        let past = time::Past {
            log: log.as_ref(),
            recency: last.as_ref(),
            archived: archived.as_ref(),
            ledger: ledger.as_ref(),
            looked: self.looked.as_deref().unwrap_or_default(),
            ties: self.ties.as_deref().unwrap_or_default(),
        };
        let watch = self.watch(Task::Time);
        let outcome = time::compute(inputs, &spooled.hits, &past, &context.config.time, now, &watch)?;
        let layout = context.vault.layout();
        let mut changes = Vec::new();
        changes.extend(fresh(log.as_ref(), &outcome.log, now, |l| &l.notes).then(|| outcome.log.to_change(layout)));
        changes.extend(
            fresh(last.as_ref(), &outcome.recency, now, |r| &r.notes).then(|| outcome.recency.to_change(layout)),
        );
        changes.extend(
            fresh(archived.as_ref(), &outcome.archived, now, |a| &a.notes).then(|| outcome.archived.to_change(layout)),
        );
        watch.check()?;
        if !changes.is_empty() {
            self.put(changes)?;
        }
        // A hit counts on its own day, whenever it is folded: a crash between the two counts nothing
        // twice and loses nothing.
        spool.discard(&spooled)?;
        count(done, "notes", outcome.recency.notes.len());
        count(done, "hits", spooled.hits.len());
        count(done, "hits_unreadable", spooled.skipped);
        count(done, "archived", outcome.fell_asleep.len());
        count(done, "thawed", outcome.woke.len());
        count(done, "asleep", outcome.archived.notes.len());
        count(done, "protected", outcome.protected);
        count(done, "undated", outcome.undated);
        report.archived = outcome.fell_asleep;
        report.thawed = outcome.woke;
        Ok(())
    }

    /// Looks at each digest note and its links, once a run.
    fn look(&mut self, task: Task) -> Result<(), ConsolidateError> {
        if self.looked.is_none() {
            let today = self.context.clock.today();
            let memory = Looks::load(self.context.vault);
            self.looked = Some(memory.look(self.inputs()?, today, &self.watch(task))?);
        }
        if self.ties.is_none() {
            self.ties = Some(ties(self.inputs()?, self.context.clock.today(), &self.watch(task))?);
        }
        Ok(())
    }

    fn duplicates(&mut self, report: &mut ConsolidateReport, done: &mut TaskReport) -> Result<(), ConsolidateError> {
        let context = &self.context;
        let inputs = self.inputs()?;
        let watch = self.watch(Task::Duplicates);
        let (copies, unread) = duplicates::conflict_copies(context.vault, &inputs.snapshot, &watch)?;
        unread.into_iter().for_each(|problem| note_problem(report, problem));
        let dismissed = self.meta::<Dismissed>(report);
        watch.begin(inputs.digests.len());
        let signed = duplicates::sign(context.vault, inputs, &watch)?;
        let known = duplicates::Known { dismissed: dismissed.as_ref(), vectors: self.vectors };
        let config = &context.config.duplicates;
        let pairs = duplicates::find(inputs, &signed, copies, known, config, &watch)?;
        let page = self.todays_page("duplicates")?;
        let entry = duplicates::entry(inputs, &pairs, &page, context.config.duplicates.max_pairs, context.clock.now());
        count(done, "notes", inputs.digests.len());
        count(done, "pairs", pairs.len());
        let found = PairsFound::of(&pairs, context.clock.today());
        report.duplicates = pairs;
        if let Some(entry) = entry {
            context.vault.commit(&audit::append(&[entry], context.vault.layout()))?;
        }
        found.store(context.vault);
        Ok(())
    }

    fn health(&mut self, report: &mut ConsolidateReport, done: &mut TaskReport) -> Result<(), ConsolidateError> {
        self.look(Task::Health)?;
        let context = &self.context;
        let inputs = self.inputs()?;
        let watch = self.watch(Task::Health);
        let baseline = health::Baseline::load(context.vault);
        let now = context.clock.now();
        let ground = health::Ground {
            signals: &health::Signals::read(context.vault),
            baseline: baseline.as_ref(),
            looked: self.looked.as_deref().unwrap_or_default(),
            ties: self.ties.as_deref().unwrap_or_default(),
            pairs: PairsFound::open(inputs, &watch)?,
            config: context.config,
            now,
        };
        let found = health::check(inputs, &ground, &watch)?;
        let page = self.todays_page("health")?;
        if let Some(entry) = health::entry(&found, &page, now) {
            context.vault.commit(&audit::append(&[entry], context.vault.layout()))?;
        }
        health::Baseline::store(context.vault, inputs, baseline.as_ref())?;
        count(done, "severe", found.severe);
        count(done, "warnings", found.warnings);
        count(done, "notices", found.notices);
        report.health = Some(found);
        Ok(())
    }

    fn split(&mut self, report: &mut ConsolidateReport, done: &mut TaskReport) -> Result<(), ConsolidateError> {
        let cooldowns = self.meta::<Cooldowns>(report);
        self.look(Task::Split)?;
        let config = &self.context.config.split;
        let (mut refused, mut changed) = (0, 0);
        let mut planned = Vec::new();
        {
            let (inputs, looked) = (self.inputs()?, self.looked.as_deref().unwrap_or_default());
            let watch = self.watch(Task::Split);
            watch.begin(inputs.digests.len());
            for (at, (digest, looked)) in inputs.digests.iter().zip(looked).enumerate() {
                if at % 64 == 0 {
                    watch.step(at)?;
                }
                if looked.tokens as usize <= config.threshold_tokens {
                    continue;
                }
                if planned.len() == config.max_per_sweep {
                    break;
                }
                watch.check()?;
                let Some(text) = digest.note_text() else { continue };
                let now = self.context.clock.now();
                if let split::SplitDecision::Split(plan) =
                    split::plan(&inputs.snapshot, &text, cooldowns.as_ref(), config, now)
                {
                    planned.push(plan);
                }
            }
        }
        if planned.is_empty() {
            ["split", "refused", "changed"].into_iter().for_each(|number| count(done, number, 0));
            return Ok(());
        }
        // Whatever happens below: what was read is no longer what stands there.
        (self.inputs, self.looked, self.ties) = (None, None, None);
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

/// Whether a signal is to be written: its content differs from what lies there, or that is of
/// another day. A second run on one day writes nothing, and a sync tool sees a file change only
/// when it says something else or a day has passed.
fn fresh<T: Artefact, C: PartialEq>(
    before: Option<&T>,
    found: &T,
    now: DateTime<FixedOffset>,
    content: impl Fn(&T) -> &C,
) -> bool {
    let day = |at: DateTime<Utc>| at.with_timezone(now.offset()).date_naive();
    // One of later today was written by a clock that was ahead; as it stands, its task would stay due.
    let of_now = |at: DateTime<Utc>| day(at) == now.date_naive() && at <= now;
    before.is_none_or(|before| !of_now(before.computed_at()) || content(before) != content(found))
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
