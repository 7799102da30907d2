//! Upkeep beside a watch: consolidate while the vault is quiet, and not a moment longer.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use chrono::{DateTime, FixedOffset};
use dormouse_consolidate::{
    ConsolidateConfig, ConsolidateError, ConsolidateReport, DEFAULT_SEED, LastRuns, RunContext, Scheduler, Silent,
    Task, run,
};
use dormouse_vault::{Clock, Delta, Vault};

/// How often the scheduler is asked, at the most and at the least.
const ASK: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(30));
/// How long a run is put off that another process holds up, or that could not begin.
const LATER: Duration = Duration::from_secs(60);

/// What happened.
pub(crate) enum Event {
    /// Somebody changed something just before a run; it is put off.
    Changed(Delta),
    /// A run begins.
    Begins(Vec<Task>),
    /// It has ended.
    Ended(Box<Result<ConsolidateReport, Unended>>),
}

/// Why a run gave no report.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unended {
    /// It could not begin, or was stopped: it comes later.
    #[error("put off: {0}")]
    PutOff(#[from] ConsolidateError),
    /// A fault of ours.
    #[error("failed: a fault in this program, please report it")]
    Panicked,
}

type Run = JoinHandle<Result<ConsolidateReport, ConsolidateError>>;

/// Asks the scheduler and runs what is due, on a thread of its own.
pub(crate) struct Upkeep {
    vault: Arc<Vault>,
    clock: Arc<dyn Clock>,
    config: Arc<ConsolidateConfig>,
    scheduler: Scheduler,
    /// The last change or search by anybody else.
    active: DateTime<FixedOffset>,
    ask: Duration,
    next: Instant,
    spool: Spool,
    cancel: Arc<AtomicBool>,
    run: Option<Run>,
}

impl Upkeep {
    pub(crate) fn new(vault: Arc<Vault>, clock: Arc<dyn Clock>, config: ConsolidateConfig, quiet: Option<u32>) -> Self {
        let mut scheduler = Scheduler::new(config.schedule.clone());
        if let Some(seconds) = quiet {
            scheduler = scheduler.with_quiet(chrono::Duration::seconds(seconds.into()));
        }
        let wait = scheduler.quiet().to_std().unwrap_or_default() / 20;
        Self {
            active: clock.now(),
            ask: wait.clamp(ASK.0, ASK.1),
            next: Instant::now(),
            spool: Spool::of(&vault),
            cancel: Arc::default(),
            run: None,
            vault,
            clock,
            config: Arc::new(config),
            scheduler,
        }
    }

    /// The foreground is awake: what runs is stopped, and there is no quiet for a while.
    pub(crate) fn wake(&mut self) {
        self.active = self.clock.now();
        self.cancel.store(true, Ordering::SeqCst);
    }

    /// Looks whether there is something to do or to tell. Costs next to nothing in between.
    pub(crate) fn tick(&mut self) -> Option<Event> {
        if self.spool.grew() {
            self.wake();
        }
        if let Some(run) = self.run.take_if(|run| run.is_finished()) {
            self.spool.seen();
            return Some(Event::Ended(Box::new(self.ended(run))));
        }
        if self.run.is_some() || Instant::now() < self.next {
            return None;
        }
        self.next = Instant::now() + self.ask;
        let due = self.scheduler.due(self.clock.now(), self.active, &LastRuns::load(&self.vault));
        if due.is_empty() {
            return None;
        }
        // What the watch has not told of yet would be taken in by the run and never told.
        match self.vault.refresh() {
            Ok(delta) if !delta.is_empty() => {
                self.wake();
                return Some(Event::Changed(delta));
            }
            _ => {}
        }
        match self.begin(due.clone()) {
            Ok(run) => self.run = Some(run),
            Err(_) => {
                self.next = Instant::now() + LATER;
                return None;
            }
        }
        Some(Event::Begins(due))
    }

    fn begin(&mut self, tasks: Vec<Task>) -> std::io::Result<Run> {
        self.cancel = Arc::default();
        let (vault, clock) = (Arc::clone(&self.vault), Arc::clone(&self.clock));
        let (config, cancel) = (Arc::clone(&self.config), Arc::clone(&self.cancel));
        std::thread::Builder::new().name("dormouse-upkeep".to_owned()).spawn(move || {
            let context = RunContext {
                vault: &vault,
                clock: clock.as_ref(),
                config: &config,
                seed: DEFAULT_SEED,
                progress: &Silent,
                cancel: &|| cancel.load(Ordering::SeqCst),
            };
            run(context, &tasks)
        })
    }

    fn ended(&mut self, run: Run) -> Result<ConsolidateReport, Unended> {
        let ended = outcome(run);
        if ended.is_err() {
            self.next = Instant::now() + LATER;
        }
        ended
    }

    /// Whether a run is under way.
    pub(crate) fn is_running(&self) -> bool {
        self.run.is_some()
    }

    /// The first moment at which something will be due, when it stays quiet.
    pub(crate) fn next_due(&self) -> DateTime<FixedOffset> {
        let next = self.scheduler.next_due(self.active, &LastRuns::load(&self.vault));
        next.with_timezone(self.clock.now().offset())
    }

    /// Stops what runs and waits for its end, which is less than a second away.
    pub(crate) fn end(mut self) -> Option<Result<ConsolidateReport, Unended>> {
        self.cancel.store(true, Ordering::SeqCst);
        let run = self.run.take()?;
        Some(self.ended(run))
    }
}

/// What a run that has ended, or is about to, came to.
fn outcome(run: Run) -> Result<ConsolidateReport, Unended> {
    run.join().map_or(Err(Unended::Panicked), |ended| ended.map_err(Unended::from))
}

/// The access spool as a sign of life: whoever searches or reads leaves a line there.
struct Spool {
    file: PathBuf,
    known: Option<(u64, SystemTime)>,
}

impl Spool {
    fn of(vault: &Vault) -> Self {
        let mut spool = Self { file: vault.spool().file().to_owned(), known: None };
        spool.seen();
        spool
    }

    fn look(&self) -> Option<(u64, SystemTime)> {
        let found = fs::metadata(&self.file).ok()?;
        Some((found.len(), found.modified().ok()?))
    }

    fn seen(&mut self) {
        self.known = self.look();
    }

    /// Whether somebody wrote to it; that it was emptied is our own doing.
    fn grew(&mut self) -> bool {
        let found = self.look();
        let grew = found.is_some_and(|(size, _)| size > 0) && found != self.known;
        self.known = found;
        grew
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_panicked_has_failed_and_one_that_was_stopped_is_put_off() {
        let said = |run: fn() -> Result<ConsolidateReport, ConsolidateError>| {
            outcome(std::thread::spawn(run)).map(|_| ()).unwrap_err().to_string()
        };
        assert!(said(|| std::panic::resume_unwind(Box::new("no such note"))).starts_with("failed: "));
        assert!(said(|| Err(ConsolidateError::Cancelled)).starts_with("put off: "));
    }
}
