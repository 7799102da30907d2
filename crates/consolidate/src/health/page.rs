//! The page for a person: `audit/<date>/health.md`.

use std::fmt::Write;

use chrono::{DateTime, FixedOffset};
use dormouse_vault::audit::AuditEntry;

use super::{Finding, FindingKind, HealthReport, Severity};

/// The section of today's page; `None` when the page ends with just that already.
pub(crate) fn entry(report: &HealthReport, page: &str, max: usize, at: DateTime<FixedOffset>) -> Option<AuditEntry> {
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
            findings.chunk_by(|a, b| a.kind == b.kind).for_each(|kind| group(&mut body, kind, max));
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

fn group(body: &mut String, findings: &[&Finding], max: usize) {
    for finding in findings.iter().take(max) {
        let line = finding.line.map(|n| format!(", line {n}")).unwrap_or_default();
        let about = finding.path.as_ref().map(|p| format!("[[{}]]{line}: ", p.link_target())).unwrap_or_default();
        let _ = writeln!(body, "- {about}{}", unlinked(&finding.message));
    }
    if let (Some(more), Some(first)) = (findings.len().checked_sub(max).filter(|n| *n > 0), findings.first()) {
        let _ = writeln!(body, "- {more} more of this kind: {}", name(first.kind));
    }
}

fn name(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::BrokenProvenance => "broken provenance",
        FindingKind::LinksLost => "links lost",
        FindingKind::NoteGone => "notes gone",
        FindingKind::BrokenLink => "broken links",
        FindingKind::MalformedFrontmatter => "malformed frontmatter",
        FindingKind::FileProblem => "problems of files",
        FindingKind::ConflictCopy => "conflict copies",
        FindingKind::Oversize => "oversize notes",
        FindingKind::FailedMaterial => "failed material",
        FindingKind::PendingMaterial => "pending material",
        FindingKind::StaleMeta => "stale signals",
        FindingKind::Orphan => "orphans",
        FindingKind::BucketImbalance => "bucket balance",
        FindingKind::NoBucket => "notes outside the buckets",
    }
}

/// A message on one line; broken links as code, so that a click does not create the note.
fn unlinked(message: &str) -> String {
    let line = message.replace(['\n', '\r'], " ");
    if line.contains('`') { line } else { line.replace("[[", "`[[").replace("]]", "]]`") }
}
