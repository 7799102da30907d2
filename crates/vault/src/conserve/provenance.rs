//! Where a digest comes from, and that no link to nowhere is written.

use std::collections::BTreeSet;

use crate::conserve::{Part, Scene, Violation};
use crate::graph::{EdgeKey, EdgeTarget};
use crate::layout::Layer;
use crate::note::Document;
use crate::path::NotePath;
use crate::resolve::Resolution;

/// The predicate of a provenance link.
const DERIVED_FROM: &str = "derived_from";

/// A note that dream writes names at least one existing source.
pub(super) fn check(part: &Part<'_>, scene: &Scene<'_>) -> Option<Violation> {
    let is_source = |edge: &EdgeKey| {
        edge.predicate.as_deref() == Some(DERIVED_FROM)
            && matches!(&edge.target, EdgeTarget::File(path)
                if matches!(scene.after.layout().layer(path), Layer::Daily | Layer::Resource) && (scene.on_disk)(path))
    };
    let path = part.path();
    (!part.new_edges(scene).iter().any(is_source)).then(|| Violation::NoProvenance { path: path.clone() })
}

/// Links to nowhere that none of the old texts had.
pub(super) fn no_new_dangling(scene: &Scene<'_>) -> Vec<Violation> {
    let old: BTreeSet<String> = scene
        .parts
        .iter()
        .filter_map(|part| Some(dangling(part.path(), part.old.as_ref()?, scene)))
        .flatten()
        .map(|(key, _)| key)
        .collect();
    let mut found = Vec::new();
    for part in &scene.parts {
        let mut seen = BTreeSet::new();
        for (key, target) in dangling(part.path(), &part.new, scene) {
            if !old.contains(&key) && seen.insert(key) {
                found.push(Violation::DanglingLink { path: part.path().clone(), target });
            }
        }
    }
    found
}

/// The targets that lead nowhere: their key, and as written.
fn dangling(source: &NotePath, doc: &Document, scene: &Scene<'_>) -> Vec<(String, String)> {
    let written = |target: &NotePath| scene.parts.iter().any(|part| part.path() == target);
    doc.links
        .iter()
        .filter_map(|link| match scene.after.resolve(source, &link.target) {
            Resolution::Unresolved(key) => Some((key, link.target.clone())),
            Resolution::File { path, .. } if !written(&path) && !(scene.on_disk)(&path) => {
                Some((path.as_str().to_owned(), link.target.clone()))
            }
            _ => None,
        })
        .collect()
}
