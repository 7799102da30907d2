//! `cargo xtask ci`: formatting, lints, docs, crates alone, examples, tests and the main job.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::root;

/// Options of `cargo xtask ci`.
#[derive(Debug, Args)]
pub(crate) struct CiArgs {
    /// Stop before the tests: formatting, tidy, lints and docs alone.
    #[arg(long)]
    quick: bool,
}

/// The library crates, each of which must compile alone and has an example.
const LIBRARIES: [(&str, &str); 6] = [
    ("dormouse-vault", "look"),
    ("dormouse-model", "offline"),
    ("dormouse-dream", "dream"),
    ("dormouse-consolidate", "consolidate"),
    ("dormouse-recall", "search"),
    ("dormouse-agent-loop", "agent"),
];

pub(crate) fn run(args: &CiArgs) -> Result<ExitCode> {
    step(&["fmt", "--all", "--check"], &[])?;
    step(&["xtask", "tidy"], &[])?;
    step(&["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"], &[])?;
    step(&["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")])?;
    if args.quick {
        return Ok(ExitCode::SUCCESS);
    }
    for (library, _) in LIBRARIES {
        step(&["check", "--package", library, "--no-default-features"], &[])?;
        step(&["check", "--package", library, "--all-features"], &[])?;
    }
    step(&["test", "--workspace"], &[])?;
    step(
        &[
            "test",
            "--package",
            "dormouse-vault",
            "--package",
            "dormouse-model",
            "--package",
            "dormouse-recall",
            "--all-features",
        ],
        &[],
    )?;
    for (_, example) in LIBRARIES {
        step(&["run", "--quiet", "--example", example], &[])?;
    }
    step(&["xtask", "dogfood"], &[])?;
    let again = root().join("target/ci");
    step(&["xtask", "dogfood", "--out", &again.to_string_lossy()], &[])?;
    same_report(&root().join("target/dogfood"), &again)?;
    step(&["xtask", "dogfood", "--git", ".", "--out", &again.to_string_lossy()], &[])?;
    Ok(ExitCode::SUCCESS)
}

/// Two runs on one story give the same report but for the times.
fn same_report(first: &Path, second: &Path) -> Result<()> {
    let read = |folder: &Path| -> Result<serde_json::Value> {
        let file = folder.join("report.json");
        let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let mut report: serde_json::Value = serde_json::from_str(&text)?;
        if let Some(fields) = report.as_object_mut() {
            fields.remove("timings_ms");
        }
        Ok(report)
    };
    if read(first)? != read(second)? {
        bail!("two runs of dogfood gave different reports: {} and {}", first.display(), second.display());
    }
    Ok(())
}

/// Runs cargo with `args`, loudly, and stops at a failure.
fn step(args: &[&str], env: &[(&str, &str)]) -> Result<()> {
    let line = format!("cargo {}", args.join(" "));
    anstream::eprintln!("==> {line}");
    let started = Instant::now();
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(args)
        .envs(env.iter().copied())
        .current_dir(root())
        .status()
        .with_context(|| format!("`{line}` could not be started"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    anstream::eprintln!("    {:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}
