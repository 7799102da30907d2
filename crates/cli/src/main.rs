//! `dormouse`: long-term memory for agents in an ordinary Obsidian vault.

mod args;
mod commands;
mod discovery;
mod embedding;
mod failure;
mod models;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::failure::Failure;
use crate::output::Output;

fn main() -> ExitCode {
    let wants_json = std::env::args_os().skip(1).take_while(|a| a != "--").any(|a| a == "--json");
    let mut out = Output::stdout(wants_json);
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return out.usage(&error),
    };
    init_tracing(cli.verbose);
    let result = commands::run(cli, &mut out).and_then(|code| out.finish().map(|()| code));
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) if reader_is_gone(&error) => ExitCode::SUCCESS,
        Err(error) => out.failure(&Failure::from_error(&error)),
    }
}

/// Whether whoever read the output has closed the pipe: no failure of ours.
fn reader_is_gone(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Logs go to stderr: errors by default (what a person should know is printed by the command itself),
/// more with `-v`, or what `DORMOUSE_LOG` says.
fn init_tracing(verbose: u8) {
    let default = match verbose {
        0 => "error,tantivy=off",
        1 => {
            "warn,dormouse=info,dormouse_vault=info,dormouse_model=info,dormouse_dream=info,dormouse_consolidate=info,dormouse_recall=info,dormouse_agent_loop=info"
        }
        _ => "debug,tantivy=warn",
    };
    let filter = tracing_subscriber::EnvFilter::try_from_env("DORMOUSE_LOG").unwrap_or_else(|_| default.into());
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false).try_init();
}
