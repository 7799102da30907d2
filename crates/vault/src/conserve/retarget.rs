//! A rename: links to the old name become links to the new one, and nothing else changes.

use crate::conserve::{Part, Scene, Violation};
use crate::graph::{EdgeKey, EdgeTarget};
use crate::link::LinkKind;
use crate::note::{Document, Note};
use crate::path::NotePath;
use crate::resolve::Resolution;
use crate::snapshot::Snapshot;

/// Checks a rename: each changed note differs in the spelling of link targets alone, and no link
/// of an unchanged note comes to mean another file.
pub(super) fn check(from: &NotePath, to: &NotePath, scene: &Scene<'_>) -> Vec<Violation> {
    let rename = Rename { from, to, scene };
    if !scene.parts.iter().any(|part| part.touched.from.as_ref() == Some(from)) {
        return vec![Violation::OutOfRule { path: from.clone() }];
    }
    let changed = scene.parts.iter().filter_map(|part| rename.changed_note(part));
    let others = scene
        .now
        .notes()
        .filter(|note| note.path != *from && !scene.parts.iter().any(|part| *part.path() == note.path))
        .filter_map(|note| rename.other_note(note));
    changed.chain(others).collect()
}

struct Rename<'a> {
    from: &'a NotePath,
    to: &'a NotePath,
    scene: &'a Scene<'a>,
}

/// What of a link must survive, and where it leads.
type Kept<'d> = (LinkKind, &'d str, Option<&'d str>, EdgeKey);

impl Rename<'_> {
    fn changed_note(&self, part: &Part<'_>) -> Option<Violation> {
        let path = part.path();
        let source = part.touched.from.as_ref().unwrap_or(path);
        let old = part.old.as_ref()?;
        let before = self.skeleton(self.scene.now, source, part.touched.text_before()?, old);
        let after = self.skeleton(self.scene.after, path, part.touched.text_after(), &part.new);
        let missing: Vec<EdgeKey> =
            before.1.iter().filter(|kept| !after.1.contains(kept)).map(|kept| kept.3.clone()).collect();
        if !missing.is_empty() {
            Some(Violation::EdgesLost { path: path.clone(), missing })
        } else if before != after {
            Some(Violation::OutOfRule { path: path.clone() })
        } else {
            None
        }
    }

    fn other_note(&self, note: &Note) -> Option<Violation> {
        let concerned =
            note.doc().links.iter().any(|link| names(&link.target, self.from) || names(&link.target, self.to));
        if !concerned {
            return None;
        }
        let after = self.scene.after.edges_of(&note.path, note.doc());
        let mut missing = self.scene.now.edges_of(&note.path, note.doc());
        for edge in &mut missing {
            edge.target = self.mapped(edge.target.clone());
        }
        // An unresolved link that the new name makes whole is no loss.
        missing.retain(|edge| matches!(edge.target, EdgeTarget::File(_)) && !after.contains(edge));
        (!missing.is_empty()).then(|| Violation::EdgesLost { path: note.path.clone(), missing })
    }

    /// A text with its links cut out, and what the links say.
    fn skeleton<'d>(
        &self,
        snapshot: &Snapshot,
        source: &NotePath,
        text: &'d str,
        doc: &'d Document,
    ) -> (String, Vec<Kept<'d>>) {
        let mut links: Vec<_> = doc.links.iter().collect();
        links.sort_by_key(|link| link.span.start);
        let (mut rest, mut at, mut kept) = (String::with_capacity(text.len()), 0, Vec::new());
        for link in links {
            let target = match snapshot.resolve(source, &link.target) {
                Resolution::File { path, .. } => self.mapped(EdgeTarget::File(path)),
                Resolution::Unresolved(key) => EdgeTarget::Unresolved(key),
                Resolution::External => continue,
            };
            rest.push_str(text.get(at..link.span.start).unwrap_or(""));
            rest.push('\0');
            at = at.max(link.span.end);
            let predicate = link.predicate.as_ref().map(|p| p.to_lowercase());
            kept.push((link.kind, link.subpath.as_str(), link.display.as_deref(), EdgeKey { target, predicate }));
        }
        rest.push_str(text.get(at..).unwrap_or(""));
        (rest, kept)
    }

    fn mapped(&self, target: EdgeTarget) -> EdgeTarget {
        match target {
            EdgeTarget::File(path) if path == *self.from => EdgeTarget::File(self.to.clone()),
            other => other,
        }
    }
}

/// Whether a link's target could mean `path`: its last name is the file's, with or without `.md`.
fn names(target: &str, path: &NotePath) -> bool {
    let last = target.rsplit('/').next().unwrap_or(target).to_lowercase();
    last == path.file_name().to_lowercase() || last == path.stem().to_lowercase()
}
