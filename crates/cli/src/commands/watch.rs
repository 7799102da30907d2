//! `dormouse watch`: what other programs change, as it happens, and upkeep while nothing does.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use dormouse_consolidate::{ConsolidateConfig, ConsolidateReport, Task, TaskReport, TaskState};
use dormouse_vault::{Delta, NotePath, Problem, WatchOptions};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::upkeep::{Event, Unended, Upkeep};
use super::{Scene, runtime, warn};
use crate::args::WatchArgs;
use crate::output::{Output, dim};

/// How soon Ctrl-C is heeded.
const HEED: Duration = Duration::from_millis(100);
/// How often the status line is drawn anew.
const REDRAW: Duration = Duration::from_millis(500);

pub(crate) fn run(scene: &Scene, args: &WatchArgs, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    let (config, problems) = vault.settings().section::<ConsolidateConfig>("consolidate");
    warn(&problems);
    let runtime = runtime()?;
    let ended = end_is_asked_for(&runtime)?;
    let rescan = args.rescan.map_or(WatchOptions::default().rescan, |seconds| Duration::from_secs(seconds.into()));
    let watcher = vault.watch(WatchOptions { rescan, ..WatchOptions::default() })?;
    // The first look takes in what changed since the vault was opened.
    while watcher.counts().rescans == 0 && watcher.problems().is_empty() && !ended.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(2));
    }
    let vault_root = vault.root().display().to_string();
    out.line(&Line::Watching { root: &vault_root }, |w| {
        writeln!(w, "{}", dim(format!("watching {vault_root}; Ctrl-C ends it")))
    })?;
    let wanted = !args.no_upkeep && !vault.is_read_only();
    let mut upkeep = wanted.then(|| Upkeep::new(Arc::clone(&vault), scene.clock(), config, args.quiet));
    let mut status = StatusLine::new(scene.progress);
    let mut said: Vec<Problem> = Vec::new();
    let mut left = args.deltas;
    while !ended.load(Ordering::SeqCst) && left != Some(0) {
        let delta = watcher.next(HEED);
        let problems = watcher.problems();
        if problems != said {
            if out.is_json() {
                out.line(&Line::Problems { problems: &problems }, |_| Ok(()))?;
            } else {
                status.aside(|| warn(&problems));
            }
            said = problems;
        }
        if let Some(delta) = &delta {
            status.aside(|| told(out, delta, &mut left))?;
        }
        if let Some(upkeep) = upkeep.as_mut().filter(|_| left != Some(0)) {
            if delta.is_some() {
                upkeep.wake();
            }
            match upkeep.tick() {
                Some(Event::Changed(changed)) => status.aside(|| told(out, &changed, &mut left))?,
                Some(Event::Begins(tasks)) => {
                    status.aside(|| out.line(&Line::UpkeepBegins { tasks: &tasks }, |w| begins(w, &tasks)))?;
                }
                Some(Event::Ended(done)) => status.aside(|| tell(out, &done))?,
                None => {}
            }
            status.show(upkeep);
        }
    }
    status.clear();
    if let Some(done) = upkeep.and_then(Upkeep::end) {
        tell(out, &done)?;
    }
    Ok(0)
}

/// Tells a change; one fewer is `left` to be told then.
fn told(out: &mut Output, delta: &Delta, left: &mut Option<u64>) -> Result<()> {
    out.line(&Line::of(delta), |w| page(w, delta))?;
    *left = left.map(|left| left.saturating_sub(1));
    Ok(())
}

/// How a run ended.
fn tell(out: &mut Output, done: &Result<ConsolidateReport, Unended>) -> Result<()> {
    match done {
        Ok(report) => out.line(&Line::UpkeepEnded { report: Some(report), error: None }, |w| {
            let state = |t: &TaskReport| match &t.state {
                TaskState::Done => format!("{} done", t.task),
                TaskState::Failed { reason } => format!("{} failed: {reason}", t.task),
                TaskState::Cancelled | TaskState::Skipped => format!("{} put off", t.task),
            };
            let states: Vec<String> = report.tasks.iter().map(state).collect();
            writeln!(w, "{}", dim(format!("upkeep: {}", states.join(", "))))?;
            let act = report.health.as_ref().map_or(0, |h| h.severe + h.warnings);
            if act > 0 { writeln!(w, "{act} finding(s) need you: `dormouse doctor`") } else { Ok(()) }
        }),
        Err(error) => {
            let message = error.to_string();
            out.line(&Line::UpkeepEnded { report: None, error: Some(&message) }, |w| {
                writeln!(w, "{}", dim(format!("upkeep {message}")))
            })
        }
    }
}

fn begins(w: &mut dyn Write, tasks: &[Task]) -> io::Result<()> {
    let names: Vec<&str> = tasks.iter().map(|task| task.as_str()).collect();
    writeln!(w, "{}", dim(format!("quiet: {}", names.join(", "))))
}

/// One line on stderr, on a terminal only: what goes on, or when the next thing will.
struct StatusLine {
    bar: Option<ProgressBar>,
    shown: Option<Instant>,
}

impl StatusLine {
    fn new(wanted: bool) -> Self {
        let bar = (wanted && io::stderr().is_terminal()).then(|| {
            let style = ProgressStyle::with_template("{wide_msg}").ok();
            let bar = ProgressBar::new_spinner();
            match style {
                Some(style) => bar.with_style(style),
                None => bar,
            }
        });
        Self { bar, shown: None }
    }

    /// Shows how things stand, twice a second at the most.
    fn show(&mut self, upkeep: &Upkeep) {
        let Some(bar) = self.bar.as_ref().filter(|_| self.shown.is_none_or(|at| at.elapsed() > REDRAW)) else {
            return;
        };
        self.shown = Some(Instant::now());
        bar.set_message(if upkeep.is_running() {
            "consolidating; any change or search stops it".to_owned()
        } else {
            format!("when it stays quiet, the next upkeep is at {}", upkeep.next_due().format("%Y-%m-%d %H:%M:%S"))
        });
        bar.tick();
    }

    /// Does something that prints, without the line in its way.
    fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn clear(&self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}

/// True once the user has pressed Ctrl-C, or the system asks the process to end: the ordinary end of
/// a watch.
#[cfg(unix)]
fn end_is_asked_for(runtime: &tokio::runtime::Runtime) -> io::Result<Arc<AtomicBool>> {
    use tokio::signal::unix::{SignalKind, signal};
    let ended = Arc::new(AtomicBool::new(false));
    let _context = runtime.enter();
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        let (mut asked, flag) = (signal(kind)?, Arc::clone(&ended));
        runtime.spawn(async move {
            asked.recv().await;
            flag.store(true, Ordering::SeqCst);
        });
    }
    Ok(ended)
}

#[cfg(not(unix))]
fn end_is_asked_for(runtime: &tokio::runtime::Runtime) -> io::Result<Arc<AtomicBool>> {
    let ended = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&ended);
    runtime.spawn(async move {
        let _ = tokio::signal::ctrl_c().await;
        flag.store(true, Ordering::SeqCst);
    });
    Ok(ended)
}

/// One line of `--json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Line<'a> {
    /// The first line: from here on nothing is missed.
    Watching { root: &'a str },
    /// What changed.
    Delta { added: &'a [NotePath], changed: &'a [NotePath], removed: &'a [NotePath] },
    /// Why the vault is not watched as it should be, from now on; empty when all is well again.
    Problems { problems: &'a [Problem] },
    /// There is quiet, and these tasks of consolidate begin.
    UpkeepBegins { tasks: &'a [Task] },
    /// They have ended, were stopped, or could not begin.
    UpkeepEnded {
        #[serde(skip_serializing_if = "Option::is_none")]
        report: Option<&'a ConsolidateReport>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
    },
}

impl<'a> Line<'a> {
    fn of(delta: &'a Delta) -> Self {
        Self::Delta { added: &delta.added, changed: &delta.changed, removed: &delta.removed }
    }
}

fn page(w: &mut dyn Write, delta: &Delta) -> io::Result<()> {
    for (mark, paths) in [("+", &delta.added), ("~", &delta.changed), ("-", &delta.removed)] {
        for path in paths {
            writeln!(w, "{mark} {path}")?;
        }
    }
    Ok(())
}
