//! Running the program as a user or a script does.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// What one call gave.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The one JSON value on stdout.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("no JSON ({e}): {}\n{}", self.stdout, self.stderr))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program prints UTF-8");
        Self { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// The program, deaf to the environment of whoever runs the tests.
pub(crate) fn program(vault: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dormouse"));
    command.env_remove("DORMOUSE_LOG").env_remove("DORMOUSE_CONFIG").env("DORMOUSE_VAULT", vault);
    command
}

/// Runs it in `vault` with `args`.
pub(crate) fn run(vault: &Path, args: &[&str]) -> Ran {
    program(vault).args(args).stdin(Stdio::null()).output().expect("the program starts").into()
}

/// Runs it with `input` on standard input.
pub(crate) fn run_with(vault: &Path, args: &[&str], input: &str) -> Ran {
    let mut child = program(vault)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends").into()
}
