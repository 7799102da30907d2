//! The checks that look at the notes themselves.

use dormouse_vault::text::estimate_tokens;
use dormouse_vault::{Bucket, Layer, ProblemKind, Resolution};

use super::{Finding, FindingKind, Severity};
use crate::config::HealthConfig;
use crate::inputs::{Digest, Inputs};

/// One digest note: provenance, links, length, company.
pub(super) fn note(inputs: &Inputs, digest: &Digest, config: &HealthConfig, out: &mut Vec<Finding>) {
    let note = &digest.note;
    let find = |severity, kind, line, message: String| Finding {
        severity,
        kind,
        path: Some(note.path.clone()),
        line,
        message,
    };
    let mut has_source = false;
    for (link, resolution) in inputs.snapshot.links_of(note) {
        let provenance = link.predicate.as_deref().is_some_and(|p| p.eq_ignore_ascii_case("derived_from"));
        match resolution {
            Resolution::File { .. } => has_source |= provenance,
            Resolution::Unresolved(_) if provenance => out.push(find(
                Severity::Severe,
                FindingKind::BrokenProvenance,
                Some(link.line),
                format!("its source [[{}]] does not exist: restore it, or correct the link", link.target),
            )),
            Resolution::Unresolved(_) => out.push(find(
                Severity::Warning,
                FindingKind::BrokenLink,
                Some(link.line),
                format!("links to [[{}]], which does not exist", link.target),
            )),
            Resolution::External => {}
        }
    }
    if !has_source {
        out.push(find(
            Severity::Severe,
            FindingKind::BrokenProvenance,
            None,
            "names no source that exists: add `derived_from:: [[…]]`".to_owned(),
        ));
    }
    let tokens = estimate_tokens(digest.text.get(note.doc().body.clone()).unwrap_or(""));
    if tokens > config.oversize_tokens {
        out.push(find(
            Severity::Warning,
            FindingKind::Oversize,
            None,
            format!(
                "has about {tokens} tokens (more than {}): give its themes headings, so that it can be split",
                config.oversize_tokens
            ),
        ));
    }
    if note.bucket.is_none() {
        let buckets = Bucket::ALL.map(Bucket::as_str).join(", ");
        out.push(find(
            Severity::Notice,
            FindingKind::NoBucket,
            None,
            format!("lies in none of the buckets: {buckets}"),
        ));
    }
    let graph = inputs.snapshot.graph();
    let linked = |other: &dormouse_vault::NotePath| *other != note.path;
    let out_links = graph.out_edges(&note.path);
    let authored = out_links.iter().any(|e| e.predicate != Some("derived_from") && linked(e.target));
    if !authored && graph.inbound(&note.path) == 0 {
        out.push(find(Severity::Notice, FindingKind::Orphan, None, "no other note is linked with it".to_owned()));
    }
}

/// Whether one bucket has nearly everything.
pub(super) fn balance(inputs: &Inputs, config: &HealthConfig, out: &mut Vec<Finding>) {
    let all = inputs.digests.len();
    if all < config.bucket_min_notes.max(1) {
        return;
    }
    for bucket in Bucket::ALL {
        let here = inputs.digests.iter().filter(|d| d.bucket() == Some(bucket)).count();
        if here as f64 > config.bucket_share * all as f64 {
            out.push(Finding {
                severity: Severity::Notice,
                kind: FindingKind::BucketImbalance,
                path: None,
                line: None,
                message: format!("{here} of {all} digest notes are in {bucket}: is everything sorted as it should be?"),
            });
        }
    }
}

/// The problems that the scan and the parser met, in every layer.
pub(super) fn files(inputs: &Inputs, out: &mut Vec<Finding>) {
    for (file, problem) in inputs.snapshot.problems() {
        let path = dormouse_vault::NotePath::new(&file).ok();
        let kind = match problem.kind {
            ProblemKind::MalformedFrontmatter => FindingKind::MalformedFrontmatter,
            ProblemKind::ConflictCopy => continue,
            _ => FindingKind::FileProblem,
        };
        let own = path.as_ref().is_some_and(|p| inputs.snapshot.layout().layer(p) != Layer::Other);
        let severity = match problem.kind {
            ProblemKind::DuplicateBlockId | ProblemKind::NameCollision => Severity::Notice,
            _ if own => Severity::Warning,
            // A person's own notes are theirs to mend or not.
            _ => Severity::Notice,
        };
        let message = if path.is_some() { problem.message } else { format!("{file}: {}", problem.message) };
        out.push(Finding { severity, kind, path, line: problem.line, message });
    }
    for note in inputs.snapshot.notes() {
        if let Some(original) = &note.conflict_of {
            out.push(Finding {
                severity: Severity::Warning,
                kind: FindingKind::ConflictCopy,
                path: Some(note.path.clone()),
                line: None,
                message: format!(
                    "a sync tool's copy of [[{}]]: take over what is missing there, then delete it",
                    original.link_target()
                ),
            });
        }
    }
}
