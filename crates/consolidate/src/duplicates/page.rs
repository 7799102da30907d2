//! The page for a person: `audit/<date>/duplicates.md`.

use std::fmt::Write;

use chrono::{DateTime, FixedOffset};
use dormouse_vault::NotePath;
use dormouse_vault::audit::AuditEntry;

use super::{DuplicatePair, DuplicateReason};
use crate::inputs::Inputs;

/// The section with the pairs that `page`, today's page so far, does not show yet; `None` when
/// there are none, so that an unchanged set leaves the file alone.
pub(crate) fn entry(
    inputs: &Inputs<'_>,
    pairs: &[DuplicatePair],
    page: &str,
    max: usize,
    at: DateTime<FixedOffset>,
) -> Option<AuditEntry> {
    let new: Vec<(String, &DuplicatePair)> = pairs
        .iter()
        .map(|p| (heading(inputs, p), p))
        .filter(|(heading, _)| !page.lines().any(|line| line == heading.as_str()))
        .collect();
    if new.is_empty() {
        return None;
    }
    let mut body = String::new();
    for (heading, pair) in new.iter().take(max) {
        section(inputs, &mut body, heading, pair);
    }
    if let Some(more) = new.len().checked_sub(max).filter(|n| *n > 0) {
        let _ = writeln!(body, "{more} more pairs are not shown.");
    }
    let title = match new.len() {
        1 => "one pair to look at".to_owned(),
        n => format!("{n} pairs to look at"),
    };
    Some(AuditEntry { page: "duplicates", at, title, body })
}

fn heading(inputs: &Inputs<'_>, pair: &DuplicatePair) -> String {
    format!("### {} and {} · {}", link(inputs, &pair.keep), link(inputs, &pair.other), kind(&pair.reason))
}

fn link(inputs: &Inputs<'_>, path: &NotePath) -> String {
    let name = inputs.digest(path).map_or_else(|| path.stem().to_owned(), |d| d.note.name.to_string());
    let name: String = name.chars().filter(|c| !matches!(c, '[' | ']' | '|') && !c.is_control()).collect();
    format!("[[{}|{name}]]", path.link_target())
}

fn kind(reason: &DuplicateReason) -> &'static str {
    match reason {
        DuplicateReason::ConflictCopy => "conflict copy",
        DuplicateReason::Identical => "same text",
        DuplicateReason::SameName { .. } => "same name",
        DuplicateReason::Similar { .. } => "similar text",
        DuplicateReason::SameMeaning { .. } => "same meaning",
        DuplicateReason::SimilarName { .. } => "similar name",
    }
}

fn section(inputs: &Inputs<'_>, body: &mut String, heading: &str, pair: &DuplicatePair) {
    let why = match pair.reason {
        DuplicateReason::ConflictCopy => "A sync tool kept both sides of a conflict.".to_owned(),
        DuplicateReason::Identical => "They say the same in the same words.".to_owned(),
        DuplicateReason::SameName { ambiguous: false } => "Their names are the same.".to_owned(),
        DuplicateReason::SameName { ambiguous: true } => {
            "More than two notes have this name: which belong together is not decided here.".to_owned()
        }
        DuplicateReason::Similar { of_keep, of_other } => format!(
            "{:.0} % of the first stands in the second, {:.0} % of the second in the first.",
            100.0 * of_keep,
            100.0 * of_other
        ),
        DuplicateReason::SameMeaning { cosine } => {
            format!("Their vectors are alike by {:.0} %.", 100.0 * cosine)
        }
        DuplicateReason::SimilarName { likeness } => {
            format!("Their names are alike by {:.0} %.", 100.0 * likeness)
        }
    };
    let _ = writeln!(body, "{heading}\n\n{why}\n");
    if let Some(diff) = &pair.diff {
        let fence = "`".repeat(longest_fence(diff).max(2) + 1);
        let _ = writeln!(body, "{fence}diff\n{diff}\n{fence}\n");
    } else {
        list(body, "In both:", &pair.common);
        differing(body, pair);
    }
    if !matches!(pair.reason, DuplicateReason::SameName { ambiguous: true }) {
        let _ = writeln!(body, "{}\n", by_hand(inputs, pair));
    }
}

/// What a person can do about the pair.
fn by_hand(inputs: &Inputs<'_>, pair: &DuplicatePair) -> String {
    let (keep, other) = (shell(pair.keep.link_target()), shell(pair.other.link_target()));
    let links = match inputs.snapshot.graph().inbound(&pair.other) {
        0 => String::new(),
        1 => "; the one link to it will lead to the first".to_owned(),
        n => format!("; the {n} notes that link to it will link to the first"),
    };
    format!(
        "If they are one, every block and link of the second goes into the first{links}:\n\n\
         ```sh\ndormouse merge {keep} {other} --dry-run\n```\n\n\
         If they are two, and this is not to be asked again until one of them says something else:\n\n\
         ```sh\ndormouse dismiss {keep} {other}\n```"
    )
}

/// A path as a shell reads it whole.
fn shell(path: &str) -> String {
    let plain =
        path.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '-' | '_' | '.')) && !path.starts_with('-');
    if plain { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// What the two don't share, side by side.
fn differing(body: &mut String, pair: &DuplicatePair) {
    let mut rows: Vec<(&str, &str)> = pair.changed.iter().map(|c| (c.keep.as_str(), c.other.as_str())).collect();
    let (left, right) = (&pair.only_keep, &pair.only_other);
    let text = |side: &[String], at: usize| side.get(at).map_or("", |s| s.as_str()).to_owned();
    let alone: Vec<(String, String)> =
        (0..left.len().max(right.len())).map(|at| (text(left, at), text(right, at))).collect();
    rows.extend(alone.iter().map(|(a, b)| (a.as_str(), b.as_str())));
    if rows.is_empty() {
        return;
    }
    let (keep, other) = (pair.keep.link_target(), pair.other.link_target());
    let _ = writeln!(body, "| {} | {} |\n|---|---|", cell(keep), cell(other));
    for (a, b) in rows {
        let _ = writeln!(body, "| {} | {} |", cell(a), cell(b));
    }
    body.push('\n');
}

/// Text in a cell of a table: on one line, its bars escaped.
fn cell(text: &str) -> String {
    text.replace(['\n', '\r'], " ").replace('|', "\\|")
}

fn list(body: &mut String, head: &str, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    let _ = writeln!(body, "{head}\n");
    for sentence in sentences {
        let _ = writeln!(body, "- {}", sentence.replace(['\n', '\r'], " "));
    }
    body.push('\n');
}

/// The longest run of backticks.
fn longest_fence(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
