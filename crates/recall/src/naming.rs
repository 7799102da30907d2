//! Notes by the names that people give them.

use dormouse_vault::{NotePath, Snapshot};

use crate::text::fold;

/// The files that a name means: the one that it is the path or a wikilink of, else the notes that
/// have it as title or alias, case and accents ignored. O(log n), for a title linear in the notes.
pub(crate) fn named(snapshot: &Snapshot, name: &str) -> Vec<NotePath> {
    if let Some(note) = snapshot.find(name) {
        return vec![note.path.clone()];
    }
    if let Ok(path) = NotePath::new(name.trim())
        && snapshot.exists(&path)
    {
        return vec![path];
    }
    let wanted = fold(name.trim());
    if wanted.is_empty() {
        return Vec::new();
    }
    let has = |title: &str| fold(title) == wanted;
    let titled =
        snapshot.notes().filter(|note| note.is_live() && (has(&note.name) || note.aliases.iter().any(|a| has(a))));
    titled.map(|note| note.path.clone()).collect()
}

/// The notes with a link of this name that leads nowhere. Linear in the number of such names.
pub(crate) fn pointing_nowhere(snapshot: &Snapshot, name: &str) -> Vec<NotePath> {
    let name = name.trim();
    let inner = name.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]")).unwrap_or(name);
    let wanted = fold(inner);
    let found = snapshot.unresolved().into_iter().filter(|(target, _)| fold(target) == wanted);
    found.flat_map(|(_, sources)| sources).collect()
}
