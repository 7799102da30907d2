//! `dormouse dismiss`: two notes are no duplicates, and are not to be reported again.

use std::io::{self, Write};

use anyhow::Result;
use dormouse_consolidate::duplicates::{self, Dismissal};
use dormouse_vault::NotePath;
use serde::Serialize;

use super::{Scene, find_note};
use crate::args::DismissArgs;
use crate::failure::refuse;
use crate::output::{Output, dim};

#[derive(Debug, Serialize)]
struct Reply {
    a: NotePath,
    b: NotePath,
    /// Whether the pair is dismissed now.
    dismissed: bool,
    /// Whether that is new.
    changed: bool,
}

#[derive(Debug, Serialize)]
struct List {
    dismissed: Vec<Dismissal>,
}

pub(crate) fn run(scene: &Scene, args: &DismissArgs, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    if args.list {
        let list = List { dismissed: duplicates::dismissals(&vault)? };
        out.emit(&list, |w| page(w, &list))?;
        return Ok(0);
    }
    let (Some(a), Some(b)) = (&args.a, &args.b) else {
        let hint = "say both, as in `dormouse dismiss Heron \"Grey heron\"`, or `dormouse dismiss --list`";
        return Err(refuse("usage", "two notes are needed", hint));
    };
    // A pair whose note is gone can still be taken back, by its path.
    let named = |name: &str| match (args.undo, find_note(&vault, name)) {
        (true, Err(error)) => NotePath::new(name).map_err(|_| error),
        (_, found) => found,
    };
    let (a, b) = (named(a)?, named(b)?);
    if a == b {
        return Err(refuse("usage", format!("{a}: this is one note"), "name two"));
    }
    let clock = scene.clock();
    let changed = if args.undo {
        duplicates::undismiss(&vault, &a, &b, clock.as_ref())?
    } else {
        duplicates::dismiss(&vault, &a, &b, clock.as_ref())?
    };
    let reply = Reply { a, b, dismissed: !args.undo, changed };
    out.emit(&reply, |w| told(w, &reply))?;
    Ok(0)
}

fn told(w: &mut dyn Write, reply: &Reply) -> io::Result<()> {
    let says = match (reply.dismissed, reply.changed) {
        (true, true) => "not reported as duplicates any more, until one of them says something else",
        (true, false) => "dismissed already",
        (false, true) => "reported again when they are found",
        (false, false) => "were not dismissed",
    };
    writeln!(w, "{} and {}: {says}", reply.a, reply.b)
}

fn page(w: &mut dyn Write, list: &List) -> io::Result<()> {
    if list.dismissed.is_empty() {
        return writeln!(w, "No pair is dismissed.");
    }
    for pair in &list.dismissed {
        let state = if pair.in_force { "" } else { "  no longer in force: one of them says something else" };
        writeln!(w, "{}  {} {}{}", pair.at.format("%Y-%m-%d"), pair.a, pair.b, dim(state))?;
    }
    Ok(())
}
