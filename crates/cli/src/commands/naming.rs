//! Which file a person means, and how things are counted.

use std::collections::BTreeSet;

use anyhow::Result;
use dormouse_vault::{NotePath, Resolution, Snapshot, Vault};

use crate::failure::refuse;

/// How many candidates a refusal lists.
const MOST_LISTED: usize = 12;

/// The note that a person names, as in a wikilink or by its path; a file of another kind by its
/// path alone. Several notes that answer to a bare name, or to the end of a path, are refused.
pub(crate) fn find_note(vault: &Vault, name: &str) -> Result<NotePath> {
    let snapshot = vault.snapshot();
    let name = from_root(name);
    let notes = answering(&snapshot, name);
    match notes.as_slice() {
        [] => {}
        [note] => return Ok(note.clone()),
        several => {
            let paths: Vec<&str> = several.iter().map(NotePath::as_str).collect();
            return Err(ambiguous(name, &paths));
        }
    }
    let Ok(path) = NotePath::new(name) else {
        return Err(refuse(
            "bad-path",
            format!("{name:?} can't be a note's path"),
            "name a note by its path inside the vault, as `digest/wiki/x.md`",
        ));
    };
    if snapshot.exists(&path) {
        return Ok(path);
    }
    Err(refuse(
        "not-found",
        format!("{name}: no such note"),
        "`dormouse list` shows what there is, `dormouse search WORDS` finds it",
    ))
}

/// `name` without the `./` in front that a shell puts there: paths are relative to the vault.
pub(crate) fn from_root(mut name: &str) -> &str {
    while let Some(rest) = name.strip_prefix("./") {
        name = rest.trim_start_matches('/');
    }
    name
}

/// The refusal of a name that several files answer to.
pub(crate) fn ambiguous(name: &str, candidates: &[&str]) -> anyhow::Error {
    let mut list: Vec<&str> = candidates.iter().copied().take(MOST_LISTED).collect();
    let more = format!("and {} more", candidates.len() - list.len());
    if list.len() < candidates.len() {
        list.push(&more);
    }
    let message = format!("{name}: {} files answer to this name: {}", candidates.len(), list.join(", "));
    refuse("ambiguous", message, "name one by its path as it is listed")
}

/// All notes that `name` may mean, in path order: the one whose path it is, else all that a
/// wikilink of this name means in one folder or another. Linear in the number of notes.
pub(crate) fn answering(snapshot: &Snapshot, name: &str) -> Vec<NotePath> {
    let Some(found) = snapshot.find(name) else {
        return Vec::new();
    };
    let name = name.trim();
    let is_path = found.path.as_str() == name || found.path.link_target() == name;
    let bare = name.strip_prefix('!').unwrap_or(name);
    let inner = bare.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]")).unwrap_or(bare);
    let target = inner.split(['|', '#']).next().unwrap_or(inner).trim();
    if is_path || target.starts_with("./") || target.starts_with("../") {
        return vec![found.path.clone()];
    }
    // A link means the file beside it first: seen from each folder, every file gets its turn.
    let folders: BTreeSet<&str> = snapshot.notes().map(|note| note.path.folder()).collect();
    let mut answers = BTreeSet::from([found.path.clone()]);
    for folder in folders {
        let source = if folder.is_empty() { NotePath::new("-") } else { NotePath::new(&format!("{folder}/-")) };
        let Some(Resolution::File { path, ambiguous }) = source.ok().map(|source| snapshot.resolve(&source, target))
        else {
            continue;
        };
        if ambiguous {
            let folded = path.as_str().to_lowercase();
            let twins = snapshot.notes().map(|note| &note.path).filter(|twin| twin.as_str().to_lowercase() == folded);
            answers.extend(twins.cloned());
        }
        if snapshot.note(&path).is_some() {
            answers.insert(path);
        }
    }
    answers.into_iter().collect()
}

/// `1 note`, `2 notes`.
pub(crate) fn counted(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}
