//! The plan: a note's text becomes a change set. Paths are free ones, names are safe ones.

use std::collections::BTreeSet;

use dormouse_vault::text::slug;
use dormouse_vault::{Bucket, Change, ChangeSet, Conservation, NotePath, Snapshot, Writer};

use crate::decide::Candidate;
use crate::markdown::folded;

/// A path for a new note: `digest/<bucket>/<slug>.md`, with `-2`, `-3`, … when that is taken, also
/// by a name that differs only in case. `planned` are paths of this run that don't exist yet.
pub(crate) fn free_path(
    snapshot: &Snapshot,
    bucket: Bucket,
    name: &str,
    planned: &BTreeSet<NotePath>,
) -> Option<NotePath> {
    let folder = snapshot.layout().bucket_folder(bucket);
    let prefix = format!("{}/", folder.to_lowercase());
    let taken: BTreeSet<String> = snapshot
        .notes()
        .map(|n| n.path.as_str().to_lowercase())
        .filter(|p| p.starts_with(&prefix))
        .chain(planned.iter().map(|p| p.as_str().to_lowercase()))
        .collect();
    let slug = slug(name);
    (1..10_000).find_map(|n| {
        let file = if n == 1 { format!("{folder}/{slug}.md") } else { format!("{folder}/{slug}-{n}.md") };
        let path = NotePath::new(&file).ok()?;
        (!taken.contains(&file.to_lowercase()) && !snapshot.exists(&path)).then_some(path)
    })
}

/// A name that no other digest of the bucket has: with the day behind it when it is taken.
pub(crate) fn free_name(snapshot: &Snapshot, bucket: Bucket, name: &str, day: chrono::NaiveDate) -> String {
    let taken = snapshot.notes().any(|n| n.bucket == Some(bucket) && folded(&n.name) == folded(name));
    if taken { format!("{name} ({day})") } else { name.to_owned() }
}

/// One new subject.
pub(crate) fn create(path: NotePath, content: String) -> ChangeSet {
    ChangeSet::new(Writer::Dream, Conservation::Superset { subject: path.clone() })
        .with(Change::Create { path, content })
}

/// One changed subject, planned from what was read.
pub(crate) fn replace(subject: &Candidate, content: String) -> ChangeSet {
    let path = subject.path.clone();
    ChangeSet::new(Writer::Dream, Conservation::Superset { subject: path.clone() }).with(Change::Replace {
        path,
        expected: subject.version,
        content,
    })
}

/// A block of a subject that an update added to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChangedBlock {
    pub(crate) old: String,
    pub(crate) new: String,
}

/// What an update did to the blocks that were there: those it added to, or the texts of those that
/// it lost. Each old block must stand in the new text, in the old order. Linear in the texts' size
/// times the number of blocks that are missing.
pub(crate) fn compare(subject: &Candidate, new: &str) -> Result<Vec<ChangedBlock>, Vec<String>> {
    let mut changed = Vec::new();
    let mut lost = Vec::new();
    let mut from = 0;
    for block in &subject.blocks {
        let raw = subject.text.get(block.span.clone()).unwrap_or("").trim();
        let bare = without_block_id(raw);
        let Some(at) = new.get(from..).and_then(|rest| rest.find(bare)) else {
            lost.push(raw.to_owned());
            continue;
        };
        let end = from + at + bare.len();
        let line_end = new.get(end..).and_then(|rest| rest.find('\n')).map_or(new.len(), |n| end + n);
        let rest = new.get(end..line_end).unwrap_or("").trim();
        let id = raw.get(bare.len()..).unwrap_or("").trim();
        if rest != id {
            let new_block = new.get(from + at..line_end).unwrap_or("").trim().to_owned();
            changed.push(ChangedBlock { old: raw.to_owned(), new: new_block });
        }
        from = end;
    }
    if lost.is_empty() { Ok(changed) } else { Err(lost) }
}

fn without_block_id(raw: &str) -> &str {
    match raw.rsplit_once(" ^") {
        Some((head, id)) if !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') => {
            head.trim_end()
        }
        _ => raw,
    }
}
