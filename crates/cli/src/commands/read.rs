//! `dormouse read`: a note with its version token.

use anyhow::Result;
use dormouse_vault::{EdgeKey, Layer, NotePath, Version};
use serde::Serialize;

use super::{Scene, counted, find_note};
use crate::args::ReadArgs;
use crate::output::{Output, dim};

#[derive(Debug, Serialize)]
struct Reply {
    path: NotePath,
    version: Version,
    layer: Layer,
    utf8: bool,
    text: String,
    links: Vec<EdgeKey>,
    backlinks: Vec<NotePath>,
    problems: Vec<String>,
}

pub(crate) fn run(scene: &Scene, args: &ReadArgs, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    let path = find_note(&vault, &args.note)?;
    let read = vault.read(&path)?;
    let snapshot = vault.snapshot();
    let note = snapshot.note(&path);
    let mut backlinks: Vec<NotePath> = snapshot.graph().in_edges(&path).iter().map(|e| e.source.clone()).collect();
    backlinks.dedup();
    let reply = Reply {
        version: read.version,
        layer: vault.layout().layer(&path),
        utf8: read.utf8,
        links: note.map(|n| snapshot.edges_of(&n.path, n.doc())).unwrap_or_default(),
        backlinks,
        problems: note.map(|n| n.doc().problems.iter().map(ToString::to_string).collect()).unwrap_or_default(),
        text: read.text,
        path,
    };
    let verb = if reply.backlinks.len() == 1 { "links" } else { "link" };
    let (links, notes) = (counted(reply.links.len(), "link"), counted(reply.backlinks.len(), "note"));
    let tally = format!("{links} out, {notes} {verb} here");
    out.emit(&reply, |w| {
        w.write_all(reply.text.as_bytes())?;
        if !reply.text.ends_with('\n') {
            writeln!(w)?;
        }
        writeln!(w, "{}", dim(format!("── {} · version {} · {tally}", reply.path, reply.version)))?;
        reply.problems.iter().try_for_each(|p| writeln!(w, "{}", dim(format!("── {p}"))))
    })?;
    Ok(0)
}
