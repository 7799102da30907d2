//! `dormouse rename`: a file or folder gets another name, and every link to it is written anew.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result};
use dormouse_vault::rename::{self, Report};
use dormouse_vault::{NotePath, Snapshot, Vault};
use serde::Serialize;

use super::{Scene, find_note, warn_lines};
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
    let from = source(&vault, &args.old)?;
    let to = target(&vault.snapshot(), &from, args)?;
    let plan = rename::plan(&vault, &from, &to)?;
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
    let files = reply.report.moved.len();
    let (links, notes) = (reply.links_rewritten, reply.files_rewritten);
    writeln!(w, "{}", dim(format!("── {done} {files} file(s), {links} link(s) in {notes} file(s) written anew")))
}

/// What is renamed: a note as in a wikilink, any file by its path, or a folder.
fn source(vault: &Vault, old: &str) -> Result<NotePath> {
    let snapshot = vault.snapshot();
    let exact = NotePath::new(old.trim_end_matches('/')).ok();
    if let Some(path) = exact.as_ref().filter(|path| snapshot.exists(path)) {
        return Ok(path.clone());
    }
    if snapshot.find(old).is_none()
        && let Some(folder) = exact.filter(|folder| has_files(&snapshot, folder))
    {
        return Ok(folder);
    }
    find_note(vault, old)
}

fn has_files(snapshot: &Snapshot, folder: &NotePath) -> bool {
    let below = |path: &NotePath| path.is_in(folder.as_str());
    snapshot.notes().any(|note| below(&note.path)) || snapshot.files().any(below)
}

/// The new path: a whole one, a folder that the file goes into (`ideas/`), or, where neither name
/// has a folder, another name in the same one. The extension may be left out.
fn target(snapshot: &Snapshot, from: &NotePath, args: &RenameArgs) -> Result<NotePath> {
    let given = args.new.trim_start_matches('/');
    let mut new = if given.is_empty() || given.ends_with('/') {
        format!("{given}{}", from.file_name())
    } else if !args.new.contains('/') && !args.old.contains('/') && !from.folder().is_empty() {
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
