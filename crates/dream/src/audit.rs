//! The audit: one section a material, for a person. Never read back.

use chrono::{DateTime, FixedOffset};
use dormouse_vault::audit::AuditEntry;

use crate::integrate::Outcome;
use crate::markdown::{clip, link, one_line};
use crate::material::Material;
use crate::report::{Action, DreamReport, MaterialReport, MaterialState};
use crate::withheld::is_secret;

/// The section about one material; `None` when nothing happened that a person should know.
pub(crate) fn entry(
    at: DateTime<FixedOffset>,
    run: &str,
    abstractor: &str,
    uses_model: bool,
    material: &Material,
    report: &MaterialReport,
    outcomes: &[Outcome],
) -> Option<AuditEntry> {
    let mut lines = Vec::new();
    for outcome in outcomes {
        let Some(written) = &outcome.written else {
            continue;
        };
        let note = link(&written.path, None, &written.name);
        let verb = match written.action {
            Action::Create => "created",
            Action::Corroborate => "corroborated",
            Action::Refine => "refined",
            Action::Correct => "corrected",
        };
        lines.push(format!("- {verb} {note}: {} fact(s), {} new link(s)", written.facts, written.edges_added));
        for changed in &written.changed {
            lines.push(format!("  - block before: {}", quoted(&changed.old)));
            lines.push(format!("  - block after: {}", quoted(&changed.new)));
        }
    }
    for kept in report.kept.iter().filter(|k| k.known) {
        if !lines.is_empty() {
            lines.push(format!("- known already: “{}”", one_line(&kept.name)));
        }
    }
    lines.extend(bounded(report.dropped.iter().map(|dropped| {
        let what = if dropped.whole { "dropped" } else { "left out of" };
        format!("- {what} “{}”: {}", quiet(&dropped.name), quiet(&dropped.reason))
    })));
    lines.extend(bounded(report.remarks.iter().map(|r| format!("- {}", quiet(r)))));
    if let MaterialState::Pending { reason } = &report.state {
        lines.push(format!("- stays pending: {}", quiet(reason)));
    }
    if lines.is_empty() {
        return None;
    }
    let by = if uses_model {
        format!("Judged by the model `{}`", one_line(abstractor).replace('`', "'"))
    } else {
        "By rules; no model was involved".to_owned()
    };
    let name = if is_secret(&material.name) { "a name withheld" } else { &material.name };
    let body = format!("From {}. {by}. Run {run}.\n\n{}\n", link(&material.path, None, name), lines.join("\n"));
    Some(AuditEntry { page: "dream", at, title: quiet(name), body })
}

/// The section about what a run's model calls cost.
pub(crate) fn spent(at: DateTime<FixedOffset>, report: &DreamReport) -> AuditEntry {
    let usage = &report.usage;
    let cost = usage.cost.as_ref().map(|cost| format!(", {:.4} {}", cost.amount, quiet(&cost.currency)));
    let body = format!(
        "Run {} by the model `{}`: {} materials dreamed, {} pending; {} requests, {} tokens read, {} written{}.\n",
        report.run,
        one_line(&report.abstractor).replace('`', "'"),
        report.totals.done,
        report.totals.failed,
        usage.calls,
        usage.input_tokens,
        usage.output_tokens,
        cost.unwrap_or_default(),
    );
    AuditEntry { page: "dream", at, title: "What the run cost".to_owned(), body }
}

/// At most so many lines of one kind about one material, each of at most so many characters.
const LISTED: usize = 20;
const LINE_CHARS: usize = 400;

/// The first lines, and how many more there are. One that quotes a secret is not among them.
fn bounded(lines: impl ExactSizeIterator<Item = String>) -> Vec<String> {
    let more = lines.len().saturating_sub(LISTED);
    let mut out: Vec<String> =
        lines.take(LISTED).map(|line| clip(&line, LINE_CHARS)).filter(|line| !is_secret(line)).collect();
    if more > 0 {
        out.push(format!("- and {more} more"));
    }
    out
}

/// A block's text on one line; its links stay links, and are no edges in the audit layer.
fn quoted(text: &str) -> String {
    one_line(text)
}

/// Words of others that may not make a link or a tag in our report.
fn quiet(text: &str) -> String {
    one_line(text).replace("[[", "‹").replace("]]", "›").replace('#', "＃")
}
