//! `cargo xtask conformance`: Obsidian's link rules against the vault (`links FILE`), reference
//! graphs against Leiden, modularity and PageRank (`graphs DIR`).
#![allow(clippy::print_stdout, reason = "the report is the command's output")]

mod graphs;
mod partitions;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use dormouse_fuzz::vectors;
use serde_json::Value;

/// Options of `cargo xtask conformance`.
#[derive(Debug, Args)]
pub(crate) struct ConformanceArgs {
    #[command(subcommand)]
    suite: Suite,
}

#[derive(Debug, Subcommand)]
enum Suite {
    /// Obsidian's link rules: small vaults and what the links of one file in them mean.
    Links {
        /// A JSON list of vectors; fixtures/links.json is ours.
        file: PathBuf,
    },
    /// Graphs with reference values for communities, modularity and PageRank.
    Graphs {
        /// A folder with `reference.json` and a `.txt` a graph; fixtures/graphs is ours.
        dir: PathBuf,
    },
}

/// Prints each vector that fails and the sum; failure when there is one.
pub(crate) fn run(args: &ConformanceArgs) -> Result<ExitCode> {
    match &args.suite {
        Suite::Links { file } => links(file),
        Suite::Graphs { dir } => {
            let (passed, failed) = graphs::check_folder(dir, &mut |line| anstream::println!("{line}"))?;
            anstream::println!("{passed} passed, {failed} failed");
            Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    }
}

fn links(file: &Path) -> Result<ExitCode> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let vectors = vectors::parse(&text).with_context(|| file.display().to_string())?;
    let mut failed = 0;
    for vector in &vectors {
        let failure = vectors::run(vector).with_context(|| file.display().to_string())?;
        if let Some(failure) = failure {
            failed += 1;
            anstream::println!("{}", failure.id);
            if !failure.why.is_empty() {
                anstream::println!("  why      {}", failure.why);
            }
            rows("expected", &failure.expected);
            rows("actual", &failure.actual);
        }
    }
    anstream::println!("{} passed, {failed} failed", vectors.len() - failed);
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn rows(name: &str, rows: &[Value]) {
    if rows.is_empty() {
        anstream::println!("  {name:8} nothing");
    }
    for row in rows {
        anstream::println!("  {name:8} {row}");
    }
}
