//! Tests with several processes: this binary starts itself on one ignored test.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const TASK: &str = "DORMOUSE_TEST_TASK";

/// Starts `test` of this binary in a process of its own, on the vault at `folder`.
pub(crate) fn start(test: &str, folder: &Path, n: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--quiet"])
        .env(TASK, format!("{n}:{}", folder.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits for a process that must end well.
pub(crate) fn finish(mut child: Child) {
    assert!(child.wait().unwrap().success());
}

/// What this process was started for; nothing when a person runs the ignored tests.
pub(crate) fn task() -> Option<(PathBuf, usize)> {
    let task = std::env::var(TASK).ok()?;
    let (n, folder) = task.split_once(':')?;
    Some((PathBuf::from(folder), n.parse().ok()?))
}
