//! The page for a person: `audit/<date>/health.md`.

use std::fmt::Write;

use chrono::{DateTime, FixedOffset};
use dormouse_vault::audit::AuditEntry;

use super::{Finding, HealthReport, Severity};

/// The section of today's page; `None` when the page ends with just that already.
pub(crate) fn entry(report: &HealthReport, page: &str, at: DateTime<FixedOffset>) -> Option<AuditEntry> {
    let title = match (report.severe, report.warnings, report.notices) {
        (0, 0, 0) => "all is well".to_owned(),
        (severe, warnings, notices) => {
            format!("severe {severe}, warnings {warnings}, notices {notices}")
        }
    };
    let mut body = String::new();
    for (severity, head) in
        [(Severity::Severe, "Severe"), (Severity::Warning, "Warnings"), (Severity::Notice, "Notices")]
    {
        let findings: Vec<&Finding> = report.findings.iter().filter(|f| f.severity == severity).collect();
        if !findings.is_empty() {
            let _ = writeln!(body, "### {head}\n");
            findings.chunk_by(|a, b| a.kind == b.kind).for_each(|kind| group(&mut body, report, kind));
            body.push('\n');
        }
    }
    if body.is_empty() {
        body.push_str("Nothing needs a person.\n");
    }
    let last = page.trim_end().rsplit_once("\n## ").map_or("", |(_, section)| section);
    let same = last.split_once('\n').is_some_and(|(head, rest)| head.ends_with(&title) && rest.trim() == body.trim());
    (!same).then_some(AuditEntry { page: "health", at, title, body })
}

fn group(body: &mut String, report: &HealthReport, findings: &[&Finding]) {
    for finding in findings {
        let line = finding.line.map(|n| format!(", line {n}")).unwrap_or_default();
        let about = finding.path.as_ref().map(|p| format!("[[{}]]{line}: ", p.link_target())).unwrap_or_default();
        let _ = writeln!(body, "- {about}{}", unlinked(&finding.message));
    }
    let all = findings
        .first()
        .and_then(|first| report.counts.iter().find(|c| (c.severity, c.kind) == (first.severity, first.kind)));
    if let Some(all) = all.filter(|all| all.count > findings.len()) {
        let _ = writeln!(body, "- and {} more of this kind: {}", all.count - findings.len(), all.kind.name());
    }
}

/// A message on one line; broken links as code, so that a click does not create the note.
fn unlinked(message: &str) -> String {
    let line = message.replace(['\n', '\r'], " ");
    if line.contains('`') { line } else { line.replace("[[", "`[[").replace("]]", "]]`") }
}
