//! The checks that look at the notes themselves.

use std::collections::BTreeSet;

use dormouse_vault::{Bucket, Layer, NotePath, ProblemKind, Resolution};

use super::{FindingKind, Findings, Severity};
use crate::config::HealthConfig;
use crate::inputs::{Digest, Inputs};
use crate::ties::{SOURCE, Ties};

/// The notes that link to something that is not there.
pub(super) fn broken(inputs: &Inputs<'_>) -> BTreeSet<NotePath> {
    inputs.snapshot.unresolved().into_values().flatten().collect()
}

/// What is known of a digest note beside its text.
pub(super) struct About<'a> {
    pub(super) ties: &'a Ties,
    /// Estimated tokens of its body.
    pub(super) tokens: u32,
    /// Whether it links to something that is not there.
    pub(super) broken: bool,
    /// Whether a dream wrote it.
    pub(super) dreamed: bool,
}

/// One digest note: provenance, links, length, company. Its text is looked at only when a link of
/// it is broken, or it has no source.
pub(super) fn note(
    inputs: &Inputs<'_>,
    digest: &Digest<'_>,
    about: &About<'_>,
    config: &HealthConfig,
    out: &mut Findings,
) {
    let About { ties, tokens, broken, dreamed } = *about;
    let note = &digest.note;
    let path = Some(&note.path);
    if !ties.sourced {
        unsourced(digest, dreamed, out);
    }
    if broken {
        broken_links(inputs, digest, out);
    }
    if tokens as usize > config.oversize_tokens {
        out.add(Severity::Warning, FindingKind::Oversize, path, None, || {
            let most = config.oversize_tokens;
            format!("has about {tokens} tokens (more than {most}): give its themes headings, so that it can be split")
        });
    }
    if note.bucket.is_none() {
        out.add(Severity::Notice, FindingKind::NoBucket, path, None, || {
            format!("lies in none of the buckets: {}", Bucket::ALL.map(Bucket::as_str).join(", "))
        });
    }
    if !ties.authored && ties.inbound == 0 {
        out.add(Severity::Notice, FindingKind::Orphan, path, None, || "no other note is linked with it".to_owned());
    }
}

/// A note without a source that exists. A dream always names one: where it wrote the note, or the
/// note still says so, something was lost. A note that a person wrote by hand needs none.
fn unsourced(digest: &Digest<'_>, dreamed: bool, out: &mut Findings) {
    let path = Some(digest.path());
    let names_one = |predicate: &str| predicate.eq_ignore_ascii_case(SOURCE);
    if dreamed || digest.note.document().links.iter().any(|link| link.predicate.as_deref().is_some_and(names_one)) {
        out.add(Severity::Severe, FindingKind::BrokenProvenance, path, None, || {
            "names no source that exists: add `derived_from:: [[…]]`".to_owned()
        });
    } else {
        out.add(Severity::Notice, FindingKind::NoSource, path, None, || {
            "names no source; if it has one, add `derived_from:: [[…]]`".to_owned()
        });
    }
}

/// Each link to nothing, once a line and target.
fn broken_links(inputs: &Inputs<'_>, digest: &Digest<'_>, out: &mut Findings) {
    let doc = digest.note.document();
    let mut said = BTreeSet::new();
    for link in &doc.links {
        if !matches!(inputs.snapshot.resolve_link(digest.path(), link), Resolution::Unresolved(_)) {
            continue;
        }
        let provenance = link.predicate.as_deref().is_some_and(|p| p.eq_ignore_ascii_case(SOURCE));
        if !said.insert((link.line, &link.target, provenance)) {
            continue;
        }
        let (path, line, target) = (Some(digest.path()), Some(link.line), &link.target);
        if provenance {
            out.add(Severity::Severe, FindingKind::BrokenProvenance, path, line, || {
                format!("its source [[{target}]] does not exist: restore it, or correct the link")
            });
        } else {
            out.add(Severity::Warning, FindingKind::BrokenLink, path, line, || {
                format!("links to [[{target}]], which does not exist")
            });
        }
    }
}

/// Whether one bucket has nearly everything.
pub(super) fn balance(inputs: &Inputs<'_>, config: &HealthConfig, out: &mut Findings) {
    let all = inputs.digests.len();
    if all < config.bucket_min_notes.max(1) {
        return;
    }
    for bucket in Bucket::ALL {
        let here = inputs.digests.iter().filter(|d| d.bucket() == Some(bucket)).count();
        if here as f64 > config.bucket_share * all as f64 {
            out.add(Severity::Notice, FindingKind::BucketImbalance, None, None, || {
                format!("{here} of {all} digest notes are in {bucket}: is everything sorted as it should be?")
            });
        }
    }
}

/// The problems that the scan and the parser met, in every layer.
pub(super) fn files(inputs: &Inputs<'_>, out: &mut Findings) {
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
        out.add(severity, kind, path.as_ref(), problem.line, || {
            if path.is_some() { problem.message } else { format!("{file}: {}", problem.message) }
        });
    }
    for note in inputs.snapshot.notes() {
        if let Some(original) = &note.conflict_of {
            out.add(Severity::Warning, FindingKind::ConflictCopy, Some(&note.path), None, || {
                let original = original.link_target();
                format!("a sync tool's copy of [[{original}]]: take over what is missing there, then delete it")
            });
        }
    }
}
