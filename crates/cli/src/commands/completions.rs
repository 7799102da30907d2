//! `dormouse completions`.

use anyhow::Result;
use clap::CommandFactory;

use crate::args::Cli;
use crate::output::Output;

pub(crate) fn run(shell: clap_complete::Shell, out: &mut Output) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "dormouse", &mut script);
    let text = String::from_utf8_lossy(&script).into_owned();
    out.emit(&serde_json::json!({ "shell": shell.to_string(), "script": text }), |w| w.write_all(text.as_bytes()))?;
    Ok(0)
}
