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

/// The next line of JSON of this type.
fn until(out: &mut BufReader<ChildStdout>, wanted: &str) -> Value {
    loop {
        let text = line(out);
        assert!(!text.is_empty(), "the watch has ended before {wanted}");
        let value: Value = serde_json::from_str(&text).unwrap();
        if value["type"] == wanted {
            return value;
        }
    }
}

#[test]
fn a_watch_consolidates_when_it_is_quiet_and_only_once() {
    let vault = temp_vault("=== digest/wiki/a.md\n[[b]]\n=== digest/wiki/b.md\nb\n");
    let (mut child, mut out) = start(&vault, &["--json", "--quiet", "1", "--deltas", "1"]);
    assert_eq!(until(&mut out, "upkeep-begins")["tasks"].as_array().map(Vec::len), Some(5));
    let ended = until(&mut out, "upkeep-ended");
    assert!(ended["report"]["tasks"].as_array().unwrap().iter().all(|t| t["state"] == "done"), "{ended}");
    for file in ["meta/communities.json", "meta/recency.json", "meta/archived.json"] {
        assert!(vault.exists(file), "{file}");
    }
    // It is done for the day; the watch goes on.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    vault.write("digest/wiki/a.md", "[[b]] and more\n");
    assert_eq!(serde_json::from_str::<Value>(&line(&mut out)).unwrap()["type"], "delta");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_change_and_a_search_put_the_upkeep_off() {
    let vault = temp_vault("=== digest/wiki/a.md\nheron\n");
    let (mut child, mut out) = start(&vault, &["--json", "--quiet", "2"]);
    until(&mut out, "watching");
    let begun = std::time::Instant::now();
    // Quiet is never longer than a second for four seconds.
    for n in 0..4 {
        std::thread::sleep(std::time::Duration::from_millis(900));
        if n % 2 == 0 {
            vault.write("own.md", format!("{n}\n"));
        } else {
            assert_eq!(crate::program::run(vault.path(), &["search", "heron"]).code, 0);
        }
    }
    let last = std::time::Instant::now();
    until(&mut out, "upkeep-begins");
    assert!(last.duration_since(begun).as_millis() >= 3600 && last.elapsed().as_millis() >= 1500);
    until(&mut out, "upkeep-ended");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[cfg(unix)]
#[test]
fn a_watch_that_is_interrupted_while_it_consolidates_ends_at_once_and_leaves_whole_files() {
    let vault = temp_vault("");
    for n in 0..2_000 {
        let text = format!("---\nname: N{n}\n---\nword{} theme{} [[n{}]]\n", n % 90, n % 40, (n + 40) % 2_000);
        vault.write(&format!("digest/wiki/n{n}.md"), text);
    }
    let (child, mut out) = start(&vault, &["--json", "--quiet", "0"]);
    until(&mut out, "upkeep-begins");
    let pid = child.id().to_string();
    let asked = std::time::Instant::now();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(asked.elapsed().as_secs_f64() < 2.0, "{:?}", asked.elapsed());
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    for (path, bytes) in vault.files().iter().filter(|(path, _)| path.starts_with("meta/")) {
        assert!(serde_json::from_slice::<Value>(bytes).is_ok(), "{path} is whole");
    }
}
