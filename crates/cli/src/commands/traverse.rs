//! `dormouse traverse`: a walk along the links.

use anyhow::Result;
use dormouse_recall::{Direction, Reached, RecallError, TraverseReply, TraverseRequest};

use super::list::layer;
use super::{Scene, find_note};
use crate::args::{DirectionArg, TraverseArgs};
use crate::output::{Output, dim};

pub(crate) fn run(scene: &Scene, args: &TraverseArgs, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    // A title or an alias names a note here as well, when one note alone has it.
    let from = find_note(&vault, &args.from).map(|path| path.as_str().to_owned());
    let request = TraverseRequest {
        from: from.as_deref().unwrap_or(&args.from).to_owned(),
        direction: match args.direction {
            DirectionArg::Out => Direction::Out,
            DirectionArg::In => Direction::In,
            DirectionArg::Both => Direction::Both,
        },
        depth: args.depth as usize,
        predicate: args.predicate.clone(),
        layers: args.layer.iter().copied().map(layer).collect(),
        limit: args.limit as usize,
        budget: args.budget,
    };
    let reply = match (dormouse_recall::traverse(&vault.snapshot(), &request), from) {
        (Err(RecallError::NoSuchNote { .. }), Err(unknown)) => return Err(unknown),
        (reply, _) => reply?,
    };
    out.emit(&reply, |w| page(w, &reply))?;
    Ok(0)
}

fn page(w: &mut dyn std::io::Write, reply: &TraverseReply) -> std::io::Result<()> {
    for note in &reply.notes {
        writeln!(w, "{}{} {}", "  ".repeat(note.depth), note.path, dim(how(note)))?;
    }
    for link in &reply.unresolved {
        let predicate = link.predicate.as_deref().map(|predicate| format!(" {predicate}")).unwrap_or_default();
        writeln!(w, "{}", dim(format!("{} →{predicate} [[{}]]: no such note", link.from, link.target)))?;
    }
    if reply.truncated {
        let (shown, total) = (reply.notes.len(), super::counted(reply.total, "note"));
        let more = if reply.partial {
            format!("at least {total}; more with --budget")
        } else {
            format!("{total}; more with --limit")
        };
        writeln!(w, "{}", dim(format!("{shown} of {more}")))?;
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
