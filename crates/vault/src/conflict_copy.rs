//! Copies that a sync tool leaves beside a note when two devices changed it.

use crate::path::NotePath;

/// The note that `path` is a conflict copy of, by the names that sync tools give:
///
/// | tool | name |
/// |---|---|
/// | Obsidian Sync | `Note (Conflicted copy laptop 202602201045).md` |
/// | Dropbox, Nextcloud | `Note (Ana's conflicted copy 2026-02-20).md`, `Note (conflicted copy 2026-02-20 101010).md` |
/// | Syncthing | `Note.sync-conflict-20260220-101010-AB12CD3.md` |
/// | basic-memory | `Note.conflict-20260220-101010.md` |
/// | iCloud | `Note 2.md`, only when `exists` knows `Note.md` |
///
/// The original need not exist, but for iCloud's twins: a name may well end in a number, so these
/// count only beside their original. A name that ends in ` 2` without one is an ordinary note.
pub(crate) fn original_of(path: &NotePath, exists: impl Fn(&NotePath) -> bool) -> Option<NotePath> {
    let stem = path.stem();
    if let Some(original) = marked(stem) {
        return sibling(path, original);
    }
    let original = twin(stem)?;
    sibling(path, original).filter(|original| exists(original))
}

fn sibling(path: &NotePath, stem: &str) -> Option<NotePath> {
    let folder = path.folder();
    let slash = if folder.is_empty() { "" } else { "/" };
    let dot = if path.extension().is_empty() { "" } else { "." };
    NotePath::new(&format!("{folder}{slash}{stem}{dot}{}", path.extension())).ok()
}

/// The stem without a sync tool's mark.
fn marked(stem: &str) -> Option<&str> {
    if let Some((original, mark)) = stem.rsplit_once(" (") {
        let copy = mark.ends_with(')') && mark.to_ascii_lowercase().contains("conflicted copy");
        return (copy && !original.is_empty()).then_some(original);
    }
    for mark in [".sync-conflict-", ".conflict-"] {
        if let Some((original, rest)) = stem.rsplit_once(mark) {
            let date: usize = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'-').count();
            return (!original.is_empty() && date >= 8).then_some(original);
        }
    }
    None
}

/// The stem without iCloud's number, 2 to 9.
fn twin(stem: &str) -> Option<&str> {
    let (original, number) = stem.rsplit_once(' ')?;
    let digit = matches!(number.as_bytes(), [b'2'..=b'9']);
    (digit && !original.trim().is_empty() && !original.ends_with(' ')).then_some(original)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, files: &[&str], expected: Option<&str>) {
        let path = NotePath::new(path).unwrap();
        let found = original_of(&path, |p| files.contains(&p.as_str()));
        assert_eq!(found.as_ref().map(NotePath::as_str), expected);
    }

    /// VLT-32.
    #[test]
    fn names_that_sync_tools_give_are_conflict_copies() {
        let day = Some("daily/2026-02-20.md");
        check("daily/2026-02-20 (Conflicted copy laptop-1 202602201045).md", &[], day);
        check("daily/2026-02-20.sync-conflict-20260220-101010-AB12CD3.md", &[], day);
        check("Plan (conflicted copy 2026-02-20 101010).md", &[], Some("Plan.md"));
        check("计划 (Ana's conflicted copy 2026-02-20).md", &[], Some("计划.md"));
        check("Plan.conflict-2026-02-20.md", &[], Some("Plan.md"));
    }

    #[test]
    fn a_number_at_the_end_is_a_copy_only_beside_its_original() {
        check("a/Plan 2.md", &["a/Plan.md"], Some("a/Plan.md"));
        check("a/Plan 2.md", &["Plan.md"], None);
        check("Windows 10.md", &["Windows.md"], None);
    }

    #[test]
    fn other_names_are_no_copies() {
        check("On conflicted copy.md", &[], None);
        check("Plan (draft).md", &[], None);
        check("Notes on .conflict-free.md", &[], None);
        check(" (conflicted copy).md", &[], None);
    }
}
