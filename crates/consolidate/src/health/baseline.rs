//! What was there at the last check: `.dormouse/health-baseline.json`. Links that vanish without a
//! dream or a split behind it can't be told from a person's edit, so they are reported, not judged.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_vault::{EdgeKey, EdgeTarget, NotePath, Version};
use serde::{Deserialize, Serialize};

use super::{Finding, FindingKind, Severity};
use crate::inputs::{Digest, Inputs};

/// The file below `.dormouse/`.
pub(crate) const BASELINE_FILE: &str = "health-baseline.json";

/// The digest notes of a check with their links.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Baseline {
    notes: BTreeMap<NotePath, Known>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Known {
    version: Version,
    edges: Vec<EdgeKey>,
}

impl Baseline {
    /// The baseline of `inputs`.
    pub(crate) fn of(inputs: &Inputs) -> Self {
        let notes = inputs.digests.iter().map(|d| {
            let known = Known { version: d.note.version, edges: inputs.snapshot.edges_of(d.path(), d.note.doc()) };
            (d.path().clone(), known)
        });
        Self { notes: notes.collect() }
    }

    /// Reports notes that are gone and links that vanished. A note that moved (the same content
    /// under another path) is followed, and so are links to it.
    pub(super) fn compare(&self, inputs: &Inputs, out: &mut Vec<Finding>) {
        let by_version: BTreeMap<Version, &NotePath> = inputs
            .digests
            .iter()
            .filter(|d| !self.notes.contains_key(d.path()))
            .map(|d| (d.note.version, d.path()))
            .collect();
        let moved: BTreeMap<&NotePath, &NotePath> = self
            .notes
            .iter()
            .filter(|(path, _)| inputs.digest(path).is_none())
            .filter_map(|(path, known)| Some((path, *by_version.get(&known.version)?)))
            .collect();
        // What a split moved away stands in the children, which link to the parent.
        for (path, known) in &self.notes {
            let now = moved.get(path).copied().unwrap_or(path);
            let Some(digest) = inputs.digest(now) else {
                if inputs.snapshot.note(path).is_none_or(|n| n.is_live() && n.utf8) {
                    out.push(gone(path));
                }
                continue;
            };
            if digest.note.version == known.version {
                continue;
            }
            let present = edges_with_parts(inputs, digest);
            let missing: Vec<String> = known
                .edges
                .iter()
                .map(|edge| follow(edge, &moved))
                .filter(|edge| !present.contains(edge))
                .map(|edge| edge.to_string())
                .collect();
            if !missing.is_empty() {
                out.push(lost(now, &missing));
            }
        }
    }
}

/// The edges of a note and of the notes that were split from it.
fn edges_with_parts(inputs: &Inputs, digest: &Digest) -> BTreeSet<EdgeKey> {
    let parts = inputs
        .snapshot
        .graph()
        .in_edges(digest.path())
        .into_iter()
        .filter(|e| e.predicate == Some(crate::split::PART_OF));
    let parts = parts.filter_map(|e| inputs.digest(e.source));
    parts.chain([digest]).flat_map(|d| inputs.snapshot.edges_of(d.path(), d.note.doc())).collect()
}

fn follow(edge: &EdgeKey, moved: &BTreeMap<&NotePath, &NotePath>) -> EdgeKey {
    match &edge.target {
        EdgeTarget::File(path) => match moved.get(path) {
            Some(now) => EdgeKey { target: EdgeTarget::File((*now).clone()), predicate: edge.predicate.clone() },
            None => edge.clone(),
        },
        EdgeTarget::Unresolved(_) => edge.clone(),
    }
}

fn gone(path: &NotePath) -> Finding {
    Finding {
        severity: Severity::Warning,
        kind: FindingKind::NoteGone,
        path: Some(path.clone()),
        line: None,
        message: "was there at the last check and is gone; restore it if nobody meant that".to_owned(),
    }
}

fn lost(path: &NotePath, missing: &[String]) -> Finding {
    // As code: a page must not link on behalf of a note that doesn't any more.
    Finding {
        severity: Severity::Warning,
        kind: FindingKind::LinksLost,
        path: Some(path.clone()),
        line: None,
        message: format!("{} link(s) lost since the last check: `{}`", missing.len(), missing.join("`, `")),
    }
}
