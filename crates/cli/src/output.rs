//! What goes to stdout: text for a person or one JSON value for a program, never both.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;

use crate::failure::Failure;

/// The door to stdout. Colours are stripped where it is no terminal; a closed pipe ends quietly.
pub(crate) struct Output {
    json: bool,
    out: anstream::AutoStream<io::Stdout>,
}

impl Output {
    /// Writes to stdout, as JSON when `json`.
    pub(crate) fn stdout(json: bool) -> Self {
        Self { json, out: anstream::AutoStream::auto(io::stdout()) }
    }

    /// Whether a program reads.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints `value` as JSON, or what `human` writes.
    pub(crate) fn emit<T: Serialize>(
        &mut self,
        value: &T,
        human: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        if self.json {
            let text = serde_json::to_string_pretty(value)?;
            writeln!(self.out, "{text}")?;
        } else {
            let mut page = Vec::new();
            human(&mut page)?;
            self.out.write_all(&page)?;
        }
        Ok(())
    }

    /// Prints `value` as one line of JSON, or what `human` writes, and sends it out at once: for
    /// commands that go on.
    pub(crate) fn line<T: Serialize>(
        &mut self,
        value: &T,
        human: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        if self.json {
            writeln!(self.out, "{}", serde_json::to_string(value)?)?;
        } else {
            let mut page = Vec::new();
            human(&mut page)?;
            self.out.write_all(&page)?;
        }
        self.finish()
    }

    /// Sends out what is buffered; a full disk shows here.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.out.flush()?;
        Ok(())
    }

    /// Reports a failure: JSON on stdout for a program, two lines on stderr for a person.
    pub(crate) fn failure(&mut self, failure: &Failure) -> ExitCode {
        if self.json {
            let text = serde_json::to_string_pretty(&serde_json::json!({ "error": failure })).unwrap_or_default();
            let _ = writeln!(self.out, "{text}").and_then(|()| self.out.flush());
        } else {
            anstream::eprintln!("\u{1b}[1;31merror\u{1b}[0m: {}", failure.message);
            if let Some(hint) = &failure.hint {
                anstream::eprintln!("  {hint}");
            }
            if let Some(met) = &failure.conflict {
                anstream::eprint!("{}", met.diff);
            }
        }
        ExitCode::from(failure.exit_code())
    }

    /// Reports what clap found wrong with the command line; help and version are no failure.
    pub(crate) fn usage(&mut self, error: &clap::Error) -> ExitCode {
        let asked = !error.use_stderr();
        if self.json && !asked {
            let message = error.to_string();
            let first = message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            return self.failure(&Failure::usage(first));
        }
        let _ = error.print();
        ExitCode::from(if asked { 0 } else { 2 })
    }
}

/// Wraps `text` in an SGR style; [`Output`] strips it where it is no terminal.
pub(crate) fn styled(style: &str, text: impl std::fmt::Display) -> String {
    format!("\u{1b}[{style}m{text}\u{1b}[0m")
}

/// Bold.
pub(crate) fn bold(text: impl std::fmt::Display) -> String {
    styled("1", text)
}

/// Dim.
pub(crate) fn dim(text: impl std::fmt::Display) -> String {
    styled("2", text)
}
