//! E-2: parent ∪ children ⊇ old parent, edges and blocks alike.

use std::collections::BTreeMap;

use crate::block::BlockKind;
use crate::conserve::{Part, Scene, Violation};
use crate::graph::{EdgeKey, EdgeTarget};
use crate::note::Document;
use crate::path::NotePath;

/// Checks a split. The set must replace the parent and create exactly the children named.
pub(super) fn check(parent: &NotePath, children: &[NotePath], scene: &Scene<'_>) -> Vec<Violation> {
    let mut found: Vec<Violation> = children
        .iter()
        .filter(|child| !scene.parts.iter().any(|p| p.path() == *child && p.touched.is_new()))
        .map(|child| Violation::OutOfRule { path: child.clone() })
        .collect();
    let Some(part) = scene.parts.iter().find(|p| p.path() == parent && p.old.is_some()) else {
        found.push(Violation::OutOfRule { path: parent.clone() });
        return found;
    };
    found.extend(edges(part, scene));
    found.extend(blocks(part, scene));
    found.extend(scene.parts.iter().filter(|p| p.path() != parent).filter_map(|child| {
        let linked = child.new_edges(scene).iter().any(|e| e.target == EdgeTarget::File(parent.clone()));
        (!linked).then(|| Violation::ChildUnlinked { child: child.path().clone(), parent: parent.clone() })
    }));
    found
}

fn edges(parent: &Part<'_>, scene: &Scene<'_>) -> Option<Violation> {
    let kept: Vec<EdgeKey> = scene.parts.iter().flat_map(|part| part.new_edges(scene)).collect();
    let missing: Vec<EdgeKey> = parent.old_edges(scene).into_iter().filter(|edge| !kept.contains(edge)).collect();
    (!missing.is_empty()).then(|| Violation::EdgesLost { path: parent.path().clone(), missing })
}

/// Every old block stands verbatim in exactly one of the parts: as often as before, no more, no
/// less. A rule (`---`) says nothing and is not counted.
fn blocks(parent: &Part<'_>, scene: &Scene<'_>) -> Option<Violation> {
    let mut balance: BTreeMap<&str, i64> = BTreeMap::new();
    for text in texts(parent.touched.text_before().unwrap_or(""), parent.old.as_ref()?) {
        *balance.entry(text).or_default() += 1;
    }
    for part in &scene.parts {
        for text in texts(part.touched.text_after(), &part.new) {
            if let Some(count) = balance.get_mut(text) {
                *count -= 1;
            }
        }
    }
    let blocks: Vec<String> =
        balance.into_iter().filter(|(_, count)| *count != 0).map(|(text, _)| text.to_owned()).collect();
    (!blocks.is_empty()).then(|| Violation::BlocksLost { path: parent.path().clone(), blocks })
}

fn texts<'t>(text: &'t str, doc: &'t Document) -> impl Iterator<Item = &'t str> {
    doc.blocks
        .iter()
        .filter(|block| block.kind != BlockKind::Rule)
        .filter_map(|block| text.get(block.span.clone()).map(str::trim))
        .filter(|text| !text.is_empty())
}
