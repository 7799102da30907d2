//! `dormouse traverse`: a walk along the links.

use anyhow::Result;
use dormouse_recall::{Direction, Reached, TraverseReply, TraverseRequest};

use super::{Scene, find_note};
use crate::args::{DirectionArg, TraverseArgs};
use crate::output::{Output, dim};

pub(crate) fn run(scene: &Scene, args: &TraverseArgs, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    let from = find_note(&vault, &args.from)?;
    let request = TraverseRequest {
        from: from.as_str().to_owned(),
        direction: match args.direction {
            DirectionArg::Out => Direction::Out,
            DirectionArg::In => Direction::In,
            DirectionArg::Both => Direction::Both,
        },
        depth: args.depth as usize,
        predicate: args.predicate.clone(),
        limit: args.limit as usize,
    };
    let reply = dormouse_recall::traverse(&vault.snapshot(), &request)?;
    out.emit(&reply, |w| page(w, &reply))?;
    Ok(0)
}

fn page(w: &mut dyn std::io::Write, reply: &TraverseReply) -> std::io::Result<()> {
    for note in &reply.notes {
        writeln!(w, "{}{} {}", "  ".repeat(note.depth), note.path, dim(how(note)))?;
    }
    if reply.truncated {
        writeln!(
            w,
            "{}",
            dim(format!("{}; there are more: raise --limit", super::counted(reply.notes.len(), "note")))
        )?;
    }
    Ok(())
}

/// Along which link a note was reached.
fn how(note: &Reached) -> String {
    let Some(via) = &note.via else { return format!("“{}”", note.name) };
    let arrow = if via.direction == Direction::In { "←" } else { "→" };
    match &via.predicate {
        Some(predicate) => format!("{arrow} {predicate} · {}", note.name),
        None => format!("{arrow} · {}", note.name),
    }
}
