//! Dormouse's own automation. What CI runs, you can run: `cargo xtask --help`.

mod bench;
mod ci;
mod conformance;
mod dogfood;
mod fuzz;
mod progress;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Dormouse's own automation.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, arg_required_else_help = true)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measures speed, memory and safety under load.
    Bench(bench::BenchArgs),
    /// Everything that CI runs, in its order.
    Ci(ci::CiArgs),
    /// Runs vectors of Obsidian's rules and prints what does not come out.
    Conformance(conformance::ConformanceArgs),
    /// Lives through a story on a copy of a vault and checks every invariant.
    Dogfood(dogfood::DogfoodArgs),
    /// Looks for inputs that break a law, with a coverage-guided engine.
    Fuzz(fuzz::FuzzArgs),
    /// Checks the crates' arrows, module headers, file sizes and the capability table.
    Tidy,
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode> {
    let filter = tracing_subscriber::EnvFilter::try_from_env("DORMOUSE_LOG").unwrap_or_else(|_| "off".into());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    match Args::parse().command {
        Command::Bench(args) => bench::run(&args),
        Command::Ci(args) => ci::run(&args),
        Command::Conformance(args) => conformance::run(&args),
        Command::Dogfood(args) => dogfood::run(&args),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Tidy => tidy::run(&root()),
    }
}

/// The workspace's folder.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
