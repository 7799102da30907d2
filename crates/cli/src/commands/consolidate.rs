//! `dormouse consolidate`: the tasks of the idle stage, in one pass.

use std::io::{self, Write};

use anyhow::Result;
use dormouse_consolidate::{
    ConsolidateConfig, ConsolidateReport, LastRuns, RunContext, Scheduler, Severity, Task, TaskState,
};
use dormouse_vault::Clock;

use super::{Scene, runtime, warn};
use crate::args::{ConsolidateArgs, TaskArg};
use crate::output::{Output, bold, dim};
use crate::progress::{Bars, Interrupt};

/// Entries of one list that a person is shown; the rest is counted, and `--json` has them all.
const MOST_SHOWN: usize = 20;

/// The health check found something severe.
const SEVERE: u8 = 8;

pub(crate) fn run(scene: &Scene, args: &ConsolidateArgs, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    let clock = scene.clock();
    let (config, problems) = vault.settings().section::<ConsolidateConfig>("consolidate");
    warn(&problems);
    let tasks = if args.due { due(&vault, &config, clock.as_ref()) } else { wanted(&args.tasks) };
    let runtime = runtime()?;
    let interrupt = Interrupt::listen(&runtime);
    let bars = Bars::new(scene.progress);
    let context = RunContext {
        vault: &vault,
        clock: clock.as_ref(),
        config: &config,
        seed: args.seed,
        progress: &bars,
        cancel: &|| interrupt.is_set(),
    };
    let report = dormouse_consolidate::run(context, &tasks)?;
    bars.clear();
    out.emit(&report, |w| page(w, &report))?;
    let failed = report.tasks.iter().any(|t| matches!(t.state, TaskState::Failed { .. }));
    let severe = report.health.as_ref().is_some_and(|h| h.severe > 0);
    Ok(match (failed, severe) {
        (true, _) => 1,
        (false, true) => SEVERE,
        _ => 0,
    })
}

/// What the schedule says, as if the vault had been quiet until now.
fn due(vault: &dormouse_vault::Vault, config: &ConsolidateConfig, clock: &dyn Clock) -> Vec<Task> {
    let now = clock.now();
    let quiet_since = now - chrono::Duration::minutes(i64::from(config.schedule.quiet_minutes));
    Scheduler::new(config.schedule.clone()).due(now, quiet_since, &LastRuns::load(vault))
}

fn wanted(args: &[TaskArg]) -> Vec<Task> {
    if args.is_empty() {
        return Task::ALL.to_vec();
    }
    args.iter()
        .map(|task| match task {
            TaskArg::Split => Task::Split,
            TaskArg::Communities => Task::Communities,
            TaskArg::Time => Task::Time,
            TaskArg::Duplicates => Task::Duplicates,
            TaskArg::Health => Task::Health,
        })
        .collect()
}

fn page(w: &mut dyn Write, report: &ConsolidateReport) -> io::Result<()> {
    if report.tasks.is_empty() {
        return writeln!(w, "Nothing is due.");
    }
    for task in &report.tasks {
        let state = match &task.state {
            TaskState::Done => "done".to_owned(),
            TaskState::Failed { reason } => format!("failed: {reason}"),
            TaskState::Cancelled => "cancelled".to_owned(),
            TaskState::Skipped => "skipped".to_owned(),
        };
        let numbers: Vec<String> = task.numbers.iter().map(|(name, n)| format!("{name} {n}")).collect();
        writeln!(w, "{:<12} {state:<8} {}", task.task.as_str(), dim(numbers.join(" · ")))?;
    }
    if !report.communities.is_empty() {
        writeln!(w, "\n{}", bold("Themes"))?;
        for theme in report.communities.iter().take(MOST_SHOWN) {
            writeln!(w, "  {:>4} notes  {}", theme.size, theme.label)?;
        }
        more(w, report.communities.len(), "themes")?;
    }
    for split in &report.splits {
        writeln!(w, "split {} into {} notes: {}", split.parent, split.children.len() + 1, split.reason)?;
    }
    for (what, notes) in [("now sleeps", &report.archived), ("is awake again", &report.thawed)] {
        notes.iter().take(MOST_SHOWN).try_for_each(|note| writeln!(w, "{note} {what}"))?;
        more(w, notes.len(), what)?;
    }
    for pair in report.duplicates.iter().take(MOST_SHOWN) {
        writeln!(w, "alike: {} and {}", pair.keep, pair.other)?;
    }
    more(w, report.duplicates.len(), "pairs, on the page in audit/")?;
    if let Some(health) = &report.health {
        writeln!(
            w,
            "\n{}: {} severe, {} warnings, {} notices",
            bold("Health"),
            health.severe,
            health.warnings,
            health.notices
        )?;
        for finding in health.findings.iter().filter(|f| f.severity != Severity::Notice).take(MOST_SHOWN) {
            let path = finding.path.as_ref().map(|p| format!("{p}: ")).unwrap_or_default();
            writeln!(w, "  {path}{}", finding.message)?;
        }
        more(w, health.to_act_on(), "findings; `dormouse doctor` says what to do")?;
    }
    Ok(())
}

/// How many of `all` were not shown.
fn more(w: &mut dyn Write, all: usize, of: &str) -> io::Result<()> {
    if all > MOST_SHOWN { writeln!(w, "  and {} more {of}", all - MOST_SHOWN) } else { Ok(()) }
}
