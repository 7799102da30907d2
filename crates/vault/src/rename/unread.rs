//! What a rename can't see or take along: files whose links could not be read, and what lies in a
//! folder without being a part of the vault.

use std::collections::BTreeMap;

use crate::layout::Layer;
use crate::path::NotePath;
use crate::problem::{Problem, ProblemKind};
use crate::snapshot::Snapshot;
use crate::vault::Vault;

use super::moves::bears_links;

/// Every file or folder that may hold links which could not be read, in order, with the reason.
/// Reads the notes whose frontmatter is malformed.
pub(crate) fn sources(vault: &Vault, now: &Snapshot) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for (path, problems) in now.walk_problems.iter() {
        // A folder that can't be listed may hold notes.
        let unseen = |problem: &&Problem| match problem.kind {
            ProblemKind::Unreadable => true,
            ProblemKind::BadName | ProblemKind::NameCollision => has_links(path),
            _ => false,
        };
        if let Some(problem) = problems.iter().find(unseen) {
            out.insert(path.clone(), problem.message.clone());
        }
    }
    for (path, problem) in now.troubles.iter() {
        out.insert(path.to_string(), problem.message.clone());
    }
    for note in now.notes().chain(now.canvases()).filter(|note| note.has_problems) {
        let document = note.document();
        let unread = |problem: &&Problem| match problem.kind {
            ProblemKind::MalformedCanvas => true,
            ProblemKind::MalformedFrontmatter => {
                let text = vault.read(&note.path).map(|read| read.text).unwrap_or_default();
                let block = document.frontmatter.span.clone().and_then(|span| text.get(span));
                block.is_some_and(|block| block.contains("[[") || block.contains("]("))
            }
            _ => false,
        };
        if let Some(problem) = document.problems.iter().find(unread) {
            out.insert(note.path.to_string(), problem.message.clone());
        }
    }
    let is_record = |path: &str| {
        NotePath::new(path).is_ok_and(|path| matches!(now.layout().layer(&path), Layer::Audit | Layer::Meta))
    };
    out.retain(|path, _| !is_record(path));
    out
}

fn has_links(shown: &str) -> bool {
    let name = shown.rsplit('/').next().unwrap_or(shown);
    NotePath::new(name).is_ok_and(|name| bears_links(&name))
}
