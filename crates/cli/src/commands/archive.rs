//! `dormouse archive`: which digests sleep, and waking them. Sleep is soft: it lies in
//! `meta/archived.json` alone, and no note is touched by either.

use std::io::{self, Write};

use anyhow::Result;
use dormouse_consolidate::{
    ConsolidateConfig, ConsolidateError, RunContext, Silent, Sleeper, Task, TaskState, sleepers,
};
use dormouse_vault::meta::AccessKind;
use dormouse_vault::{AccessHit, Clock, CommitError, Layer, NotePath, Vault};
use serde::Serialize;

use super::{Scene, find_note, warn};
use crate::args::{ArchiveAct, ArchiveArgs};
use crate::failure::refuse;
use crate::output::{Output, bold, dim};

pub(crate) fn run(scene: &Scene, args: &ArchiveArgs, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    let (config, problems) = vault.settings().section::<ConsolidateConfig>("consolidate");
    warn(&problems);
    let clock = scene.clock();
    match &args.act {
        ArchiveAct::List { limit } => list(&vault, &config, clock.as_ref(), *limit as usize, out),
        ArchiveAct::Thaw { notes } => thaw(&vault, &config, clock.as_ref(), notes, out),
    }
}

#[derive(Debug, Serialize)]
struct Listed {
    /// How many sleep.
    asleep: usize,
    /// The first of them.
    notes: Vec<Sleeper>,
}

fn list(vault: &Vault, config: &ConsolidateConfig, clock: &dyn Clock, limit: usize, out: &mut Output) -> Result<u8> {
    let mut notes = sleepers(vault, &config.time, clock.today());
    let asleep = notes.len();
    notes.truncate(limit);
    let listed = Listed { asleep, notes };
    out.emit(&listed, |w| page(w, &listed))?;
    Ok(0)
}

fn page(w: &mut dyn Write, listed: &Listed) -> io::Result<()> {
    if listed.asleep == 0 {
        return writeln!(w, "No digest sleeps.");
    }
    for note in &listed.notes {
        writeln!(w, "{}  {}  {}", note.since, bold(&note.name), dim(&note.path))?;
        writeln!(w, "            {}", note.why)?;
    }
    match listed.asleep - listed.notes.len() {
        0 => Ok(()),
        more => writeln!(w, "and {more} more; `--limit N` shows more of them"),
    }
}

#[derive(Debug, Serialize)]
struct Thawed {
    /// Notes that slept and are awake now.
    thawed: Vec<NotePath>,
    /// Notes that were awake already; nothing was noted of them.
    awake: Vec<NotePath>,
    /// Notes that are noted as read, and wake when the run that is under way has ended.
    waiting: Vec<NotePath>,
}

/// A person's act, kept as what it means: the note is used. One `read` of now is spooled, as for a
/// note that was opened, and folded in at once; the formula does the rest, then and in every later run.
fn thaw(
    vault: &Vault,
    config: &ConsolidateConfig,
    clock: &dyn Clock,
    names: &[String],
    out: &mut Output,
) -> Result<u8> {
    let mut notes = names.iter().map(|name| find_note(vault, name)).collect::<Result<Vec<_>>>()?;
    notes.sort();
    notes.dedup();
    if let Some(other) = notes.iter().find(|path| vault.layout().layer(path) != Layer::Digest) {
        return Err(refuse(
            "not-a-note",
            format!("{other} is no digest"),
            "only digests sleep; `dormouse archive list`",
        ));
    }
    if vault.is_read_only() {
        return Err(CommitError::ReadOnly { path: vault.root().to_path_buf() }.into());
    }
    let asleep = |vault: &Vault| {
        let sleeping = sleepers(vault, &config.time, clock.today());
        move |path: &NotePath| sleeping.iter().any(|s| s.path == *path)
    };
    let (mut thawed, awake): (Vec<_>, Vec<_>) = notes.into_iter().partition(asleep(vault));
    let mut waiting = Vec::new();
    if !thawed.is_empty() {
        let hit = |path: &NotePath| AccessHit { path: path.clone(), at: clock.now(), kind: AccessKind::Read };
        vault.spool().append(&thawed.iter().map(hit).collect::<Vec<_>>())?;
        let context = RunContext {
            vault,
            clock,
            config,
            seed: dormouse_consolidate::DEFAULT_SEED,
            progress: &Silent,
            cancel: &|| false,
        };
        match dormouse_consolidate::run(context, &[Task::Time]) {
            Ok(report) => {
                if let Some(TaskState::Failed { reason }) = report.state(Task::Time) {
                    return Err(refuse(
                        "failed",
                        format!("the notes are noted as read, but time could not be computed anew: {reason}"),
                        "`dormouse consolidate --task time` tries again",
                    ));
                }
            }
            Err(ConsolidateError::Commit(CommitError::Locked { .. })) => waiting = std::mem::take(&mut thawed),
            Err(error) => return Err(error.into()),
        }
    }
    let done = Thawed { thawed, awake, waiting };
    out.emit(&done, |w| {
        done.thawed.iter().try_for_each(|note| writeln!(w, "{note} is awake again"))?;
        done.awake.iter().try_for_each(|note| writeln!(w, "{note} was awake"))?;
        done.waiting.iter().try_for_each(|note| {
            writeln!(w, "{note} wakes with the next run of time: a run is under way at this moment")
        })
    })?;
    Ok(0)
}
