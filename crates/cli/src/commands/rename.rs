//! `dormouse rename`: a file or folder gets another name, and every link to it is written anew.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result};
use dormouse_vault::rename::{self, Report};
use dormouse_vault::{NotePath, Snapshot, Vault};
use serde::Serialize;

use super::naming::{ambiguous, answering, from_root};
use super::{Scene, counted, find_note, patient, warn_lines};
use crate::args::RenameArgs;
use crate::failure::refuse;
use crate::output::{Output, bold, dim};

#[derive(Debug, Serialize)]
struct Reply<'a> {
    from: &'a NotePath,
    to: &'a NotePath,
    written: bool,
    links_rewritten: usize,
    files_rewritten: usize,
    #[serde(flatten)]
    report: &'a Report,
}

pub(crate) fn run(scene: &Scene, args: &RenameArgs, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    let names = names(args)?;
    let once = args.dry_run;
    patient(once, |again| {
        if again {
            vault.refresh()?;
        }
        renamed(&vault, args, names, out)
    })
}

/// OLD and NEW, both from the vault's root.
fn names(args: &RenameArgs) -> Result<(&str, &str)> {
    for (name, which) in [(&args.old, "OLD"), (&args.new, "NEW")] {
        if name.trim().is_empty() {
            return Err(refuse(
                "usage",
                format!("{which} is empty"),
                "say both, as in `dormouse rename Heron \"Grey heron\"`",
            ));
        }
    }
    let new = from_root(&args.new);
    Ok((from_root(&args.old), if new.is_empty() { "/" } else { new }))
}

/// One attempt, from the vault as it stands now.
fn renamed(vault: &Vault, args: &RenameArgs, (old, new): (&str, &str), out: &mut Output) -> Result<u8> {
    let from = source(vault, old)?;
    let to = target(&vault.snapshot(), &from, old, new)?;
    let plan = rename::plan(vault, &from, &to)?;
    // A dry run makes every check of the real one.
    vault.preview(&plan.change_set)?;
    let ask = !args.yes && !args.dry_run && !out.is_json() && !plan.report.rewritten.is_empty() && is_attended();
    if ask {
        out.emit(&(), |w| page(w, &plan.report))?;
        out.finish()?;
        if !agreed()? {
            return Err(refuse("interrupted", "nothing was renamed", "`--yes` renames without asking"));
        }
    }
    if !args.dry_run {
        let committed = vault.commit(&plan.change_set)?;
        let kept = |path: &std::path::PathBuf| format!("bytes that were displaced are kept in {}", path.display());
        warn_lines(&committed.displaced.iter().map(kept).collect::<Vec<_>>());
    }
    let reply = Reply {
        from: &from,
        to: &to,
        written: !args.dry_run,
        links_rewritten: plan.report.rewritten.len(),
        files_rewritten: plan.report.files_rewritten(),
        report: &plan.report,
    };
    if !out.is_json() {
        warn_lines(&plan.report.warnings.iter().map(ToString::to_string).collect::<Vec<_>>());
    }
    out.emit(&reply, |w| {
        if !ask {
            page(w, &plan.report)?;
        }
        summary(w, &reply)
    })?;
    Ok(0)
}

fn page(w: &mut dyn Write, report: &Report) -> io::Result<()> {
    for moved in &report.moved {
        writeln!(w, "{} → {}", bold(&moved.from), bold(&moved.to))?;
    }
    for link in &report.rewritten {
        let why = link.longer.as_ref().map_or_else(String::new, |longer| dim(format!("  {longer}")));
        writeln!(w, "{}:{}  {} → {}{why}", link.path, link.line, link.before, link.after)?;
    }
    for link in &report.resolved {
        let says = format!("  named nothing and means {} now", link.to);
        writeln!(w, "{}:{}  {}{}", link.path, link.line, link.link, dim(says))?;
    }
    Ok(())
}

fn summary(w: &mut dyn Write, reply: &Reply<'_>) -> io::Result<()> {
    let done = if reply.written { "renamed" } else { "would rename" };
    let files = counted(reply.report.moved.len(), "file");
    let (links, notes) = (counted(reply.links_rewritten, "link"), counted(reply.files_rewritten, "file"));
    writeln!(w, "{}", dim(format!("── {done} {files}, {links} in {notes} written anew")))
}

/// What is renamed: a note as in a wikilink, any file by its path, or a folder. A name that both a
/// folder and notes answer to is refused; `A/` is the folder.
fn source(vault: &Vault, old: &str) -> Result<NotePath> {
    let snapshot = vault.snapshot();
    let exact = NotePath::new(old.trim_end_matches('/')).ok();
    let folder = exact.clone().filter(|folder| has_files(&snapshot, folder));
    if let Some(folder) = folder.as_ref().filter(|_| old.ends_with('/')) {
        return Ok(folder.clone());
    }
    if let Some(path) = exact.filter(|path| snapshot.exists(path)) {
        return Ok(path);
    }
    let Some(folder) = folder else {
        return find_note(vault, old);
    };
    let notes = answering(&snapshot, old);
    if notes.is_empty() {
        return Ok(folder);
    }
    let slashed = format!("{folder}/");
    let names: Vec<&str> = std::iter::once(slashed.as_str()).chain(notes.iter().map(NotePath::as_str)).collect();
    Err(ambiguous(old, &names))
}

fn has_files(snapshot: &Snapshot, folder: &NotePath) -> bool {
    let below = |path: &NotePath| path.is_in(folder.as_str());
    snapshot.notes().any(|note| below(&note.path)) || snapshot.files().any(below)
}

/// The new path: a whole one, a folder that the file goes into (`ideas/`), or, where neither name
/// has a folder, another name in the same one. The extension may be left out.
fn target(snapshot: &Snapshot, from: &NotePath, old: &str, new: &str) -> Result<NotePath> {
    let (keeps_folder, given) = (!new.contains('/') && !old.contains('/'), new.trim_start_matches('/'));
    let mut new = if given.is_empty() || given.ends_with('/') {
        format!("{given}{}", from.file_name())
    } else if keeps_folder && !from.folder().is_empty() {
        format!("{}/{given}", from.folder())
    } else {
        given.to_owned()
    };
    let name = new.rsplit('/').next().unwrap_or(&new);
    let wanted = from.extension();
    let is_file = snapshot.exists(from);
    let has_extension = if from.is_markdown() { ends_with_md(name) } else { name.contains('.') };
    if is_file && !wanted.is_empty() && !has_extension {
        new = format!("{new}.{wanted}");
    }
    NotePath::new(&new).map_err(|error| {
        refuse("bad-path", format!("{new:?}: {error}"), "name a path inside the vault, as `ideas/New name.md`")
    })
}

fn ends_with_md(name: &str) -> bool {
    name.len() > 3 && name.get(name.len() - 3..).is_some_and(|end| end.eq_ignore_ascii_case(".md"))
}

/// Whether a person sits at both ends.
fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

fn agreed() -> Result<bool> {
    anstream::eprint!("Rename? [y/N] ");
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).context("the answer can't be read")?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
