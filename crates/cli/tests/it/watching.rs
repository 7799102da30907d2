//! `dormouse watch`: deltas as they come, as JSON lines or for a person, and a clean end.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};

use dormouse_fixtures::{TempVault, temp_vault};
use serde_json::{Value, json};

use crate::program::program;

/// Starts a watch that takes `args`.
fn start(vault: &TempVault, args: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let mut child =
        program(vault.path()).arg("watch").args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    (child, out)
}

fn line(out: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    line
}

#[test]
fn deltas_come_as_json_lines_and_the_watch_ends_after_as_many_as_were_asked_for() {
    let vault = temp_vault("=== a.md\nold\n");
    let (mut child, mut out) = start(&vault, &["--json", "--deltas", "2"]);
    let mut next = || serde_json::from_str::<Value>(&line(&mut out)).unwrap();
    assert_eq!(next()["type"], "watching");
    vault.write("a.md", "new\n");
    assert_eq!(next(), json!({ "type": "delta", "added": [], "changed": ["a.md"], "removed": [] }));
    vault.write("sub/b.md", "b\n");
    assert_eq!(next(), json!({ "type": "delta", "added": ["sub/b.md"], "changed": [], "removed": [] }));
    assert_eq!(line(&mut out), "");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_watch_ends_cleanly_when_it_is_interrupted() {
    for signal in ["INT", "TERM"] {
        let vault = temp_vault("=== a.md\nold\n");
        let (child, mut out) = start(&vault, &[]);
        assert!(line(&mut out).starts_with("watching "));
        let pid = child.id().to_string();
        assert!(std::process::Command::new("kill").args([&format!("-{signal}"), &pid]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    }
}

#[test]
fn a_person_sees_a_mark_and_a_path_a_line_and_a_closed_pipe_ends_the_watch() {
    let vault = temp_vault("=== a.md\nold\n");
    let (mut child, mut out) = start(&vault, &[]);
    assert!(line(&mut out).starts_with("watching "));
    vault.write("b.md", "b\n");
    assert_eq!(line(&mut out), "+ b.md\n");
    vault.remove("a.md");
    assert_eq!(line(&mut out), "- a.md\n");
    drop(out);
    let start = std::time::Instant::now();
    for n in 0.. {
        if let Some(status) = child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(0));
            break;
        }
        assert!(start.elapsed().as_secs() < 60, "it goes on");
        vault.write("b.md", format!("{n}\n"));
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}
