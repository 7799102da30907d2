//! Progress bars on stderr, on a terminal only; a machine-readable run draws none.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use dormouse_consolidate::{Progress, Task, TaskState};
use dormouse_dream::{DreamEvent, DreamObserver};
use dormouse_recall::SyncProgress;
use indicatif::{ProgressBar, ProgressStyle};

/// Notes that are indexed within a moment have no bar.
const WORTH_A_BAR: usize = 500;

/// Draws a dream's or a consolidation's progress.
#[derive(Debug)]
pub(crate) struct Bars {
    bar: Mutex<ProgressBar>,
    wanted: bool,
}

impl Bars {
    /// Bars, when they are wanted and stderr is a terminal.
    pub(crate) fn new(wanted: bool) -> Self {
        Self { bar: Mutex::new(ProgressBar::hidden()), wanted: wanted && std::io::stderr().is_terminal() }
    }

    fn start(&self, length: u64, what: &str) {
        if !self.wanted {
            return;
        }
        let bar = ProgressBar::new(length).with_message(what.to_owned());
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = bar;
    }

    fn with(&self, act: impl FnOnce(&ProgressBar)) {
        act(&self.bar.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Draws how far the search index is, when there is much to read.
    pub(crate) fn index(&self, progress: SyncProgress) {
        if progress.of < WORTH_A_BAR {
            return;
        }
        match progress.done {
            0 => self.start(progress.of as u64, "indexing"),
            done if done == progress.of => self.clear(),
            done => self.with(|bar| bar.set_position(done as u64)),
        }
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        self.with(ProgressBar::finish_and_clear);
    }
}

impl DreamObserver for Bars {
    fn event(&self, event: &DreamEvent<'_>) {
        match event {
            DreamEvent::Started { materials } => self.start(*materials as u64, "dreaming"),
            DreamEvent::Gating { path } => self.with(|bar| bar.set_message(path.to_string())),
            DreamEvent::Finished { .. } => self.with(|bar| bar.inc(1)),
            _ => {}
        }
    }
}

impl Progress for Bars {
    fn begin(&self, task: Task, steps: u64) {
        self.start(steps, task.as_str());
    }
    fn step(&self, _: Task, done: u64) {
        self.with(|bar| bar.set_position(done));
    }
    fn end(&self, _: Task, _: &TaskState) {
        self.clear();
    }
}

/// True once the user has pressed Ctrl-C; what is settled by then stays, the rest is left for the
/// next run. A second Ctrl-C ends the process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens on `runtime`.
    pub(crate) fn listen(runtime: &tokio::runtime::Runtime) -> Self {
        let interrupt = Self::default();
        let flag = Arc::clone(&interrupt.0);
        runtime.spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                if flag.swap(true, Ordering::SeqCst) {
                    std::process::exit(130);
                }
                anstream::eprintln!("stopping after the step in hand; press Ctrl-C again to stop at once");
            }
        });
        interrupt
    }

    /// Whether to stop.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
