//! A repository's history as experience: one daily event a commit.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use chrono::DateTime;
use dormouse_vault::daily::DailyEvent;

use super::questions::Asked;
use super::story::{Arrival, Story};

/// At most so many files of a commit are named.
const FILES_NAMED: usize = 12;

/// The story of a repository: every commit on the way to HEAD, oldest first, merges left out.
pub(crate) fn story(repository: &Path) -> Result<(Story, Vec<Asked>)> {
    let output = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args([
            "-c",
            "core.quotepath=off",
            "-c",
            "log.showSignature=false",
            "log",
            "--reverse",
            "--no-merges",
            "--name-only",
            "--format=%x1e%h%x1f%aI%x1f%s%x1f%b%x1f",
        ])
        .output()
        .context("`git` could not be started; is it installed?")?;
    if !output.status.success() {
        bail!("`git log` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let log = String::from_utf8_lossy(&output.stdout);
    let folder = repository.canonicalize().unwrap_or_else(|_| repository.to_path_buf());
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
    let mut story = Story { name: format!("the history of {name}"), ..Story::default() };
    let mut questions = Vec::new();
    for record in log.split('\u{1e}').filter(|r| !r.trim().is_empty()) {
        let Some((event, hash)) = event(record) else {
            anstream::eprintln!("a commit could not be read and is left out: {:?}", record.lines().next());
            continue;
        };
        questions.push(Asked::known_item(&hash, &event));
        story.arrive(event.at, Arrival::Event(event));
    }
    if story.days.is_empty() {
        bail!("{}: no commits to live through", repository.display());
    }
    story.sort();
    Ok((story, questions))
}

/// One commit's event and short hash.
fn event(record: &str) -> Option<(DailyEvent, String)> {
    let mut fields = record.split('\u{1f}');
    let (hash, date, subject) = (fields.next()?.trim(), fields.next()?, fields.next()?.trim());
    let body = fields.next().unwrap_or_default();
    let files: Vec<&str> = fields.next().unwrap_or_default().lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    let at = DateTime::parse_from_rfc3339(date).ok()?;
    let mut blocks = vec![format!("Commit `{hash}`: {subject}.")];
    blocks.extend(paragraphs(body));
    if !files.is_empty() {
        let shown: Vec<String> = files.iter().take(FILES_NAMED).map(|f| format!("`{f}`")).collect();
        let more = files.len().saturating_sub(FILES_NAMED);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        blocks.push(format!("It touched {}{rest}.", shown.join(", ")));
    }
    let event = DailyEvent {
        at,
        name: subject.to_owned(),
        description: format!("Commit {hash}: {subject}"),
        properties: vec![("source".into(), "commit".into()), ("commit".into(), hash.to_owned())],
        blocks,
    };
    Some((event, hash.to_owned()))
}

/// The paragraphs and list items of a message body; trailers are left out.
fn paragraphs(body: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut open = false;
    for line in body.lines().map(str::trim_end) {
        let item = line.trim_start().starts_with("- ") || line.trim_start().starts_with("* ");
        let trailer = line.split_once(": ").is_some_and(|(key, _)| key.ends_with("-by"));
        if line.trim().is_empty() || trailer {
            open = false;
        } else if open && !item {
            if let Some(last) = blocks.last_mut() {
                last.push('\n');
                last.push_str(line);
            }
        } else {
            blocks.push(line.trim_start().to_owned());
            open = true;
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::{event, paragraphs};

    #[test]
    fn a_message_body_is_cut_into_paragraphs_and_items() {
        let body = "Why it was so.\nMore of it.\n\n- one\n- two\n  goes on\n\nSigned-off-by: x\n";
        assert_eq!(paragraphs(body), ["Why it was so.\nMore of it.", "- one", "- two\n  goes on"]);
    }

    #[test]
    fn a_commit_becomes_an_event_at_its_own_time() {
        let (event, hash) =
            event("abc123\u{1f}2026-10-19T09:00:00+02:00\u{1f}vault: a door\u{1f}Because.\n\u{1f}\na.rs\nb.rs\n")
                .unwrap();
        assert_eq!(hash, "abc123");
        assert_eq!(event.at.to_rfc3339(), "2026-10-19T09:00:00+02:00");
        assert_eq!(event.blocks, ["Commit `abc123`: vault: a door.", "Because.", "It touched `a.rs`, `b.rs`."]);
    }
}
