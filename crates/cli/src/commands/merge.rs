//! `dormouse merge`: two notes become one, with every block and link of both.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result};
use dormouse_vault::Vault;
use dormouse_vault::merge::{self, Report};
use serde::Serialize;

use super::{Scene, counted, find_note, patient, warn_lines};
use crate::args::MergeArgs;
use crate::failure::refuse;
use crate::output::{Output, bold, dim};

#[derive(Debug, Serialize)]
struct Reply<'a> {
    written: bool,
    #[serde(flatten)]
    report: &'a Report,
    /// What each file gains and loses, as unified diffs.
    diffs: Vec<String>,
}

pub(crate) fn run(scene: &Scene, args: &MergeArgs, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    patient(args.dry_run, |again| {
        if again {
            vault.refresh()?;
        }
        merged(&vault, args, out)
    })
}

/// One attempt, from the vault as it stands now.
fn merged(vault: &Vault, args: &MergeArgs, out: &mut Output) -> Result<u8> {
    let (keep, drop) = (find_note(vault, &args.keep)?, find_note(vault, &args.drop)?);
    let plan = merge::plan(vault, &keep, &drop)?;
    // A dry run makes every check of the real one.
    let diffs = vault.preview(&plan.change_set)?;
    let diffs: Vec<String> = diffs.into_iter().map(|file| file.diff).filter(|diff| !diff.is_empty()).collect();
    let attended = io::stdin().is_terminal() && io::stdout().is_terminal();
    let ask = !args.yes && !args.dry_run && !out.is_json() && attended;
    if ask {
        out.emit(&(), |w| page(w, &plan.report, &diffs))?;
        out.finish()?;
        if !agreed()? {
            return Err(refuse("interrupted", "nothing was merged", "`--yes` merges without asking"));
        }
    }
    if !args.dry_run {
        let committed = vault.commit(&plan.change_set)?;
        let kept = |path: &std::path::PathBuf| format!("bytes that were displaced are kept in {}", path.display());
        warn_lines(&committed.displaced.iter().map(kept).collect::<Vec<_>>());
    }
    if !out.is_json() {
        warn_lines(&plan.report.warnings.iter().map(ToString::to_string).collect::<Vec<_>>());
    }
    let reply = Reply { written: !args.dry_run, report: &plan.report, diffs };
    out.emit(&reply, |w| {
        if args.dry_run {
            page(w, &plan.report, &reply.diffs)?;
        }
        summary(w, &reply)
    })?;
    Ok(0)
}

fn page(w: &mut dyn Write, report: &Report, diffs: &[String]) -> io::Result<()> {
    writeln!(w, "{} + {} → {}", bold(&report.keep), bold(&report.drop), bold(&report.keep))?;
    diffs.iter().try_for_each(|diff| write!(w, "{diff}"))
}

fn summary(w: &mut dyn Write, reply: &Reply<'_>) -> io::Result<()> {
    let report = reply.report;
    let done = if reply.written { "merged" } else { "would merge" };
    let (added, links) = (counted(report.blocks_added, "block"), counted(report.links.len(), "link"));
    let same = report.blocks_same;
    writeln!(w, "{}", dim(format!("── {done}: {added} added, {same} in both already, {links} written anew")))?;
    let lies = if reply.written { "is" } else { "would be" };
    writeln!(w, "{}", dim(format!("   {} {lies} in {}, whole", report.drop, report.trash)))?;
    if !report.properties_left.is_empty() {
        let left = report.properties_left.join(", ");
        writeln!(w, "{}", dim(format!("   properties that only that file has: {left}")))?;
    }
    Ok(())
}

fn agreed() -> Result<bool> {
    anstream::eprint!("Merge? [y/N] ");
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).context("the answer can't be read")?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
