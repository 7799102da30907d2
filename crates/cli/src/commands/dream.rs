//! `dormouse dream`: new experience becomes linked digest notes.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use dormouse_agent_loop::{CycleProblem, RecallNeighbours, split_subject};
use dormouse_consolidate::{ConsolidateConfig, SplitDone};
use dormouse_dream::{
    Abstractor, Action, DreamConfig, DreamContext, DreamEvent, DreamObserver, DreamReport, DreamRequest, DreamScope,
    ExtractiveAbstractor, MaterialState, ModelAbstractor, dream,
};

use serde::Serialize;

use super::{Scene, find_note, runtime, warn};
use crate::args::DreamArgs;
use crate::models;
use crate::output::{Output, bold, dim};
use crate::progress::{Bars, Interrupt};

pub(crate) fn run(scene: &Scene, args: &DreamArgs, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    let clock = scene.clock();
    let (config, problems) = vault.settings().section::<DreamConfig>("dream");
    warn(&problems);
    let abstractor: Box<dyn Abstractor> = match &args.model {
        Some(name) => Box::new(ModelAbstractor::new(models::named(name)?)),
        None => Box::new(ExtractiveAbstractor),
    };
    let notes: Vec<_> = args.note.iter().map(|n| find_note(&vault, n)).collect::<Result<_>>()?;
    let scope = match (args.since, notes.is_empty()) {
        (Some(day), _) => DreamScope::Since(day),
        (None, false) => DreamScope::Notes(notes),
        (None, true) => DreamScope::Pending,
    };
    let recall = Arc::new(scene.recall(&vault)?);
    let runtime = runtime()?;
    let interrupt = Interrupt::listen(&runtime);
    let bars = Bars::new(scene.progress);
    let (organise, problems) = vault.settings().section::<ConsolidateConfig>("consolidate");
    warn(&problems);
    let splits: Mutex<Vec<Result<SplitDone, CycleProblem>>> = Mutex::default();
    // A subject that was just written is asked whether it has outgrown itself.
    let observer = |event: &DreamEvent<'_>| {
        bars.event(event);
        if let DreamEvent::Wrote { path, .. } = event
            && let Some(outcome) = split_subject(&vault, path, &organise.split, clock.as_ref()).transpose()
        {
            splits.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
        }
    };
    let context = DreamContext {
        vault: &vault,
        abstractor: abstractor.as_ref(),
        neighbours: &RecallNeighbours::new(Arc::clone(&recall)),
        clock: clock.as_ref(),
        config: &config,
        observer: &observer,
        cancel: &|| interrupt.is_set(),
    };
    let request = DreamRequest { scope, limit: args.limit, dry_run: args.dry_run, retry: args.retry };
    let report = runtime.block_on(dream(context, request))?;
    bars.clear();
    let mut reply = Reply { report, splits: Vec::new(), problems: Vec::new() };
    for outcome in splits.into_inner().unwrap_or_else(PoisonError::into_inner) {
        match outcome {
            Ok(done) => reply.splits.push(done),
            Err(problem) => reply.problems.push(problem),
        }
    }
    if !args.dry_run {
        recall.sync()?;
    }
    out.emit(&reply, |w| page(w, &reply, args.model.is_none()))?;
    Ok(u8::from(reply.report.totals.failed > 0))
}

/// What the dream did, and the splits that it led to.
#[derive(Debug, Serialize)]
struct Reply {
    #[serde(flatten)]
    report: DreamReport,
    splits: Vec<SplitDone>,
    #[serde(rename = "split_problems")]
    problems: Vec<CycleProblem>,
}

fn page(w: &mut dyn Write, reply: &Reply, offline: bool) -> io::Result<()> {
    let report = &reply.report;
    if report.dry_run {
        report.diffs.iter().try_for_each(|d| writeln!(w, "{}", d.diff))?;
    }
    for material in &report.materials {
        match &material.state {
            MaterialState::Pending { reason } => writeln!(w, "{} stays pending: {reason}", material.path)?,
            MaterialState::Waiting { reason, until } => writeln!(
                w,
                "{} waits until {} ({reason}); --retry tries it now",
                material.path,
                until.format("%Y-%m-%d %H:%M UTC")
            )?,
            MaterialState::Skipped { reason } => writeln!(w, "{} skipped: {reason}", material.path)?,
            MaterialState::Done | MaterialState::Unchanged => {}
        }
        for subject in &material.subjects {
            let action = match subject.action {
                Action::Create => "created",
                Action::Corroborate => "corroborated",
                Action::Refine => "refined",
                Action::Correct => "corrected",
            };
            writeln!(w, "{action:<12} {} {}", subject.path, dim(format!("from {}", material.path)))?;
        }
    }
    for split in &reply.splits {
        writeln!(w, "split        {} into {} notes: {}", split.parent, split.children.len() + 1, split.reason)?;
    }
    reply.problems.iter().try_for_each(|p| writeln!(w, "{}: {}", p.step, p.reason))?;
    report.problems.iter().try_for_each(|p| writeln!(w, "{p}"))?;
    let t = &report.totals;
    writeln!(
        w,
        "{} {} materials: {} units kept, {} dropped; {} created, {} corroborated, {} refined, {} corrected; {} links",
        bold(if report.dry_run { "Would dream" } else { "Dreamed" }),
        t.done,
        t.units_kept,
        t.units_dropped,
        t.created,
        t.corroborated,
        t.refined,
        t.corrected,
        t.edges_added,
    )?;
    if report.stopped {
        writeln!(w, "Stopped early; what is left stays pending, run `dormouse dream` again.")?;
    }
    if offline {
        writeln!(w, "{}", dim("by the offline extractive abstractor, no model involved (--model NAME uses one)"))?;
    } else {
        let u = &report.usage;
        let cost = u.cost.as_ref().map(|c| format!(", {:.4} {}", c.amount, c.currency)).unwrap_or_default();
        writeln!(
            w,
            "{}",
            dim(format!(
                "{}: {} calls, {} tokens in, {} out{cost}",
                report.abstractor, u.calls, u.input_tokens, u.output_tokens
            ))
        )?;
    }
    Ok(())
}
