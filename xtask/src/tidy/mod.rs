//! `cargo xtask tidy`: the rules of the house that a compiler doesn't know.

mod arrows;
mod capabilities;
mod sources;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

/// Runs all checks and prints every finding.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let mut findings = arrows::check(root)?;
    let files = sources::collect(root)?;
    findings.extend(sources::check(&files));
    findings.extend(capabilities::check(root, &files)?);
    for finding in &findings {
        anstream::eprintln!("tidy: {finding}");
    }
    anstream::println!("tidy: {} files, {} findings", files.len(), findings.len());
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
