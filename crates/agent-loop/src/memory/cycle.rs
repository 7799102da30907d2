//! `MemoryCycle`: the three stages in their order, each allowed to fail without stopping the others.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, FixedOffset};
use dormouse_consolidate::{
    ConsolidateConfig, ConsolidateReport, DEFAULT_SEED, LastRuns, RunContext as ConsolidateContext, Scheduler, Silent,
    SplitDone, Task, run,
};
use dormouse_dream::{Abstractor, DreamConfig, DreamContext, DreamEvent, DreamReport, DreamRequest, DreamScope, dream};
use dormouse_model::{Message, Role};
use dormouse_recall::{ContextBlock, Recall, SyncReport};
use dormouse_vault::audit::{AuditEntry, append};
use dormouse_vault::material::pending;
use dormouse_vault::meta::DreamLedger;
use dormouse_vault::{Clock, NotePath, Problem, Vault};
use serde::Serialize;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::auto_memory::{AutoMemoryConfig, Conversation, plan_events};
use super::cancellable::Cancellable;
use super::neighbours::RecallNeighbours;
use super::splitting::split_subject;
use crate::context::{DATA_NOTICE, fenced, without_fenced};
use crate::error::AgentError;
use crate::tools::REMEMBERED_IN;

/// Settings of the cycle. Plain data; every field has a default.
#[derive(Debug, Clone, PartialEq)]
pub struct CycleConfig {
    /// Tokens of recalled context before a run. Default 1,500.
    pub recall_tokens: usize,
    /// Auto-memory.
    pub auto_memory: AutoMemoryConfig,
    /// Dream.
    pub dream: DreamConfig,
    /// Consolidate, its schedule included.
    pub consolidate: ConsolidateConfig,
    /// The seed of consolidate. Default [`DEFAULT_SEED`].
    pub seed: u64,
}

impl Default for CycleConfig {
    fn default() -> Self {
        Self {
            recall_tokens: 1_500,
            auto_memory: AutoMemoryConfig::default(),
            dream: DreamConfig::default(),
            consolidate: ConsolidateConfig::default(),
            seed: DEFAULT_SEED,
        }
    }
}

impl CycleConfig {
    /// The vault's settings: `[dream]`, `[consolidate]` and `[auto_memory]`; defaults elsewhere. A
    /// section that is wrong is a problem to show, and its defaults are used.
    #[must_use]
    pub fn from_vault(vault: &Vault) -> (Self, Vec<Problem>) {
        let settings = vault.settings();
        let (auto_memory, mut problems) = settings.section("auto_memory");
        let (dream, more) = settings.section("dream");
        problems.extend(more);
        let (consolidate, more) = settings.section("consolidate");
        problems.extend(more);
        (Self { auto_memory, dream, consolidate, ..Self::default() }, problems)
    }
}

/// A step that failed; the others went on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CycleProblem {
    /// `auto-memory`, `dream`, `split`, `recall` or `audit`.
    pub step: &'static str,
    /// What happened.
    pub reason: String,
}

/// What one turn of the cycle did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CycleReport {
    /// Daily events that were written.
    pub events: Vec<NotePath>,
    /// What the dream did; `None` when it did not run.
    pub dream: Option<DreamReport>,
    /// Notes that were split after a dream's write.
    pub splits: Vec<SplitDone>,
    /// How the index followed; `None` when it did not.
    pub sync: Option<SyncReport>,
    /// Steps that failed.
    pub problems: Vec<CycleProblem>,
}

/// Ties recall, auto-memory, dream and consolidate to one vault. Shared behind an `Arc`.
pub struct MemoryCycle {
    vault: Arc<Vault>,
    recall: Arc<Recall>,
    abstractor: Arc<dyn Abstractor>,
    clock: Arc<dyn Clock>,
    config: CycleConfig,
    cancel: CancellationToken,
    last_activity: Mutex<DateTime<FixedOffset>>,
    /// One turn of the cycle at a time in this process.
    turn: tokio::sync::Mutex<()>,
}

impl MemoryCycle {
    /// A cycle over the vault of `recall`.
    #[must_use]
    pub fn new(
        recall: Arc<Recall>,
        abstractor: Arc<dyn Abstractor>,
        clock: Arc<dyn Clock>,
        config: CycleConfig,
    ) -> Self {
        Self {
            vault: Arc::clone(recall.vault()),
            recall,
            abstractor,
            last_activity: Mutex::new(clock.now()),
            clock,
            config,
            cancel: CancellationToken::new(),
            turn: tokio::sync::Mutex::new(()),
        }
    }

    /// Ends its dreams when `cancel` says so; never by default. A question to a model that is under
    /// way is given up at once, no further material is begun, and what was not dreamed stays pending.
    /// What was written stays, and the conversation's events are written all the same.
    #[must_use]
    pub fn with_cancel(self, cancel: CancellationToken) -> Self {
        let abstractor: Arc<dyn Abstractor> = Arc::new(Cancellable::new(self.abstractor, cancel.clone()));
        Self { abstractor, cancel, ..self }
    }

    /// The vault.
    #[must_use]
    pub fn vault(&self) -> &Arc<Vault> {
        &self.vault
    }

    /// Recall.
    #[must_use]
    pub fn recall(&self) -> &Arc<Recall> {
        &self.recall
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &CycleConfig {
        &self.config
    }

    /// Notes that the foreground is awake: idle work waits from now on.
    pub fn touch(&self) {
        *self.last_activity.lock().unwrap_or_else(PoisonError::into_inner) = self.clock.now();
    }

    /// When the foreground was last awake.
    #[must_use]
    pub fn last_activity(&self) -> DateTime<FixedOffset> {
        *self.last_activity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the vault knows about the newest words of the user, as a fenced block with its notice;
    /// `None` when there is nothing. A failure is logged and gives `None`.
    #[must_use]
    pub fn recall_before(&self, messages: &[Message]) -> Option<String> {
        self.touch();
        let newest = messages.iter().rev().find(|m| m.role == Role::User)?;
        let query = without_fenced(&newest.content);
        if query.trim().is_empty() {
            return None;
        }
        let found: ContextBlock = match self.recall.context(query.trim(), self.config.recall_tokens) {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "recall failed; the run goes on without it");
                return None;
            }
        };
        (!found.markdown.trim().is_empty())
            .then(|| format!("{DATA_NOTICE}\n\n{}", fenced(&[("source", "recall")], &found.markdown)))
    }

    /// After a run: auto-memory writes the conversation's events, dream takes them in, each subject
    /// that it wrote is asked for a split, and the index follows. Nothing new, nothing done.
    pub async fn after(self: &Arc<Self>, conversation: &Conversation) -> CycleReport {
        self.touch();
        let conversation = conversation.clone();
        self.on_a_thread(move |cycle, runtime, report| {
            cycle.remember(&conversation, report);
            let mut events = report.events.clone();
            events.extend(cycle.remembered_in(&conversation.session));
            cycle.digest(events, runtime, report);
        })
        .await
    }

    /// A daily event or a resource arrived by another way: dream takes it in.
    pub async fn observe_event(self: &Arc<Self>, path: &NotePath) -> CycleReport {
        self.touch();
        let path = path.clone();
        self.on_a_thread(move |cycle, runtime, report| {
            if let Err(error) = cycle.vault.refresh() {
                report.problem("recall", &error);
            }
            cycle.digest(vec![path], runtime, report);
        })
        .await
    }

    /// Dreams everything that is pending.
    pub async fn dream_pending(self: &Arc<Self>) -> CycleReport {
        self.on_a_thread(|cycle, runtime, report| {
            cycle.dreamed(DreamScope::Pending, runtime, report);
            cycle.synced(report);
        })
        .await
    }

    /// One turn of the cycle, on a thread of its own: commits and searches must not hold up the
    /// runtime.
    async fn on_a_thread(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &Handle, &mut CycleReport) + Send + 'static,
    ) -> CycleReport {
        let _turn = self.turn.lock().await;
        let (cycle, runtime) = (Arc::clone(self), Handle::current());
        let done = tokio::task::spawn_blocking(move || {
            let mut report = CycleReport::default();
            work(&cycle, &runtime, &mut report);
            report
        });
        done.await.unwrap_or_else(|_| {
            let mut report = CycleReport::default();
            report.problem("dream", &AgentError::TaskLost);
            report
        })
    }

    /// Runs `tasks` of consolidate, and brings the index up to date.
    ///
    /// # Errors
    /// [`AgentError::Consolidate`] when another process consolidates or the vault can't be written.
    pub async fn consolidate(
        self: &Arc<Self>,
        tasks: &[Task],
        cancel: &CancellationToken,
    ) -> Result<ConsolidateReport, AgentError> {
        let _turn = self.turn.lock().await;
        let (cycle, tasks, cancel) = (Arc::clone(self), tasks.to_vec(), cancel.clone());
        let work = tokio::task::spawn_blocking(move || {
            let stop = || cancel.is_cancelled();
            let report = run(
                ConsolidateContext {
                    vault: &cycle.vault,
                    clock: cycle.clock.as_ref(),
                    config: &cycle.config.consolidate,
                    seed: cycle.config.seed,
                    progress: &Silent,
                    cancel: &stop,
                },
                &tasks,
            );
            if let Err(error) = cycle.recall.sync() {
                tracing::warn!(%error, "the index did not follow");
            }
            report
        });
        Ok(work.await.map_err(|_| AgentError::TaskLost)??)
    }

    /// Runs the tasks that are due at `now` after enough quiet; `None` when none is.
    ///
    /// # Errors
    /// As [`MemoryCycle::consolidate`].
    pub async fn consolidate_if_idle(
        self: &Arc<Self>,
        now: DateTime<FixedOffset>,
        cancel: &CancellationToken,
    ) -> Result<Option<ConsolidateReport>, AgentError> {
        let scheduler = Scheduler::new(self.config.consolidate.schedule.clone());
        let due = scheduler.due(now, self.last_activity(), &LastRuns::load(&self.vault));
        if due.is_empty() { Ok(None) } else { self.consolidate(&due, cancel).await.map(Some) }
    }

    fn remember(&self, conversation: &Conversation, report: &mut CycleReport) {
        let planned = plan_events(conversation, &self.vault.snapshot(), &self.config.auto_memory);
        for plan in planned {
            match self.vault.write_event(&plan.event) {
                Ok((path, _)) => report.events.push(path),
                Err(error) => report.problem("auto-memory", &error),
            }
        }
        if report.events.is_empty() {
            return;
        }
        let list: Vec<String> = report.events.iter().map(|p| format!("- [[{}]]", p.link_target())).collect();
        let entry = AuditEntry {
            page: "memory",
            at: self.clock.now(),
            title: format!("Session {}", conversation.session),
            body: format!("{} event(s) captured, without a model:\n\n{}\n", list.len(), list.join("\n")),
        };
        if let Err(error) = self.vault.commit(&append(&[entry], self.vault.layout())) {
            report.problem("audit", &error);
        }
    }

    /// Events that the agent itself wrote with its `remember` tool in this conversation, and that no
    /// dream has taken in yet.
    fn remembered_in(&self, session: &str) -> Vec<NotePath> {
        let snapshot = self.vault.snapshot();
        let ledger = self.vault.meta::<DreamLedger>().value;
        let said_here = |path: &NotePath| {
            let note = snapshot.note(path);
            note.is_some_and(|note| note.doc().frontmatter.text(REMEMBERED_IN) == Some(session))
        };
        pending(&snapshot, ledger.as_ref()).into_iter().filter(said_here).collect()
    }

    fn digest(&self, events: Vec<NotePath>, runtime: &Handle, report: &mut CycleReport) {
        if events.is_empty() {
            return;
        }
        // Recall finds the events at once, and dream finds yesterday's digests.
        self.synced(report);
        self.dreamed(DreamScope::Notes(events), runtime, report);
        self.synced(report);
    }

    fn dreamed(&self, scope: DreamScope, runtime: &Handle, report: &mut CycleReport) {
        let neighbours = RecallNeighbours::new(Arc::clone(&self.recall));
        let splits: Mutex<Vec<Result<SplitDone, CycleProblem>>> = Mutex::default();
        let observer = |event: &DreamEvent<'_>| {
            if let DreamEvent::Wrote { path, .. } = event
                && let Some(outcome) = self.split(path).transpose()
            {
                splits.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
            }
        };
        let context = DreamContext {
            vault: &self.vault,
            abstractor: self.abstractor.as_ref(),
            neighbours: &neighbours,
            clock: self.clock.as_ref(),
            config: &self.config.dream,
            observer: &observer,
            cancel: &|| self.cancel.is_cancelled(),
        };
        match runtime.block_on(dream(context, DreamRequest { scope, ..DreamRequest::default() })) {
            Ok(dreamed) => report.dream = Some(dreamed),
            // The material stays pending and is dreamed by the next run.
            Err(error) => report.problem("dream", &error),
        }
        for outcome in splits.into_inner().unwrap_or_else(PoisonError::into_inner) {
            match outcome {
                Ok(done) => report.splits.push(done),
                Err(problem) => report.problems.push(problem),
            }
        }
    }

    /// Asks the split rule about one subject, and follows it.
    fn split(&self, path: &NotePath) -> Result<Option<SplitDone>, CycleProblem> {
        split_subject(&self.vault, path, &self.config.consolidate.split, self.clock.as_ref())
    }

    fn synced(&self, report: &mut CycleReport) {
        match self.recall.sync() {
            Ok(done) => report.sync = Some(done),
            Err(error) => report.problem("recall", &error),
        }
    }
}

impl std::fmt::Debug for MemoryCycle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryCycle").field("root", &self.vault.root()).finish_non_exhaustive()
    }
}

impl CycleReport {
    fn problem(&mut self, step: &'static str, error: &dyn std::fmt::Display) {
        let problem = CycleProblem { step, reason: error.to_string() };
        tracing::warn!(step, "a step of the memory cycle failed; the others go on");
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }
}
