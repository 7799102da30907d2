//! `cargo xtask bench NAME`: measurements, each built optimised with the crate that it measures alone.
//!
//! A measurement is a `[[bench]]` target of its crate. Its figures are ratios within one run, against
//! a floor or a peer that does the same work, since the machines are noisy. Cargo starts
//! it in its crate's folder; `BENCH_CWD` names the folder that relative paths are meant from.

mod dream;
mod model;

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use clap::Args;

use crate::root;

/// Options of `cargo xtask bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// What to measure.
    #[arg(value_enum)]
    name: Name,
    /// Options of the measurement; `--help` lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Name {
    /// Opening, editing and renaming in a large vault, against floors that only read the disk.
    Vault,
    /// An editor and the door write one note at once; nothing that either was told is saved is lost.
    Races,
    /// Hostile texts at three lengths, to see that reading them grows with their length alone.
    Linear,
    /// Retrieval against questions whose evidence is known: `--data DIR`.
    Retrieval,
    /// Recall's speed, size and memory in a large vault, against bare tantivy.
    Recall,
    /// Leiden and PageRank on a large graph, beside igraph's: `--peer PYTHON`.
    Communities,
    /// All tasks of consolidate over a large vault, and again after one edit.
    Consolidate,
    /// Whether dreaming improves recall: `--data DIR [--facts FILE | --model NAME | --offline]`.
    Dream,
    /// Events dreamed by a served model whose replies are spoilt on the way: `--server URL`.
    Model,
    /// Planted duplicates: recall, precision and growth, `--notes N`.
    Duplicates,
    /// A year of dreams with a model that errs and a person who edits: nothing erodes, nothing invented gets in.
    Erosion,
}

impl Name {
    /// The crate and its bench target; `None` where several crates are measured together.
    fn target(self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Self::Dream | Self::Model => return None,
            Self::Vault => ("dormouse-vault", "vault"),
            Self::Races => ("dormouse-vault", "races"),
            Self::Linear => ("dormouse-vault", "linear"),
            Self::Retrieval => ("dormouse-recall", "retrieval"),
            Self::Recall => ("dormouse-recall", "recall"),
            Self::Communities => ("dormouse-consolidate", "communities"),
            Self::Consolidate => ("dormouse-consolidate", "consolidate"),
            Self::Duplicates => ("dormouse-consolidate", "duplicates"),
            Self::Erosion => ("dormouse-dream", "erosion"),
        })
    }
}

pub(crate) fn run(args: &BenchArgs) -> Result<ExitCode> {
    let Some((package, bench)) = args.name.target() else {
        return if matches!(args.name, Name::Model) { model::run(&args.args) } else { dream::run(&args.args) };
    };
    // Static embedding models compile C, and are built in where they are asked for.
    let embeds = args.args.iter().any(|arg| arg == "--embed");
    let features: &[&str] = if embeds { &["--features", "embed"] } else { &[] };
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["bench", "--quiet", "--package", package, "--bench", bench])
        .args(features)
        .arg("--")
        .args(&args.args)
        .env("BENCH_CWD", std::env::current_dir().context("the current folder is not known")?)
        .current_dir(root())
        .status()
        .context("`cargo bench` could not be started")?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
