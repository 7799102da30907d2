//! `dormouse dream`: new experience becomes linked digest notes.

use std::io::{self, Write};
use std::sync::Arc;

use anyhow::Result;
use dormouse_agent_loop::RecallNeighbours;
use dormouse_dream::{
    Abstractor, Action, DreamConfig, DreamContext, DreamReport, DreamRequest, DreamScope, ExtractiveAbstractor,
    MaterialState, ModelAbstractor, dream,
};

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
    let context = DreamContext {
        vault: &vault,
        abstractor: abstractor.as_ref(),
        neighbours: &RecallNeighbours::new(recall),
        clock: clock.as_ref(),
        config: &config,
        observer: &bars,
        cancel: &|| interrupt.is_set(),
    };
    let request = DreamRequest { scope, limit: args.limit, dry_run: args.dry_run };
    let report = runtime.block_on(dream(context, request))?;
    bars.clear();
    out.emit(&report, |w| page(w, &report, args.model.is_none()))?;
    Ok(u8::from(report.totals.failed > 0))
}

fn page(w: &mut dyn Write, report: &DreamReport, offline: bool) -> io::Result<()> {
    if report.dry_run {
        report.diffs.iter().try_for_each(|d| writeln!(w, "{}", d.diff))?;
    }
    for material in &report.materials {
        match &material.state {
            MaterialState::Pending { reason } => writeln!(w, "{} stays pending: {reason}", material.path)?,
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
        writeln!(
            w,
            "{}",
            dim(format!(
                "{}: {} calls, {} tokens in, {} out",
                report.abstractor, u.calls, u.input_tokens, u.output_tokens
            ))
        )?;
    }
    Ok(())
}
