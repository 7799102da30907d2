//! Hints: what an event of the operating system says about where to look, and no more.
//!
//! Reading is no change, and a name that starts with a dot is not there. A name that editors and
//! sync tools give to files in the making is looked at late: it is gone by then.

use std::path::Path;

use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind, RenameMode};
use notify::{Event, EventKind};

use crate::path::NotePath;
use crate::walk;

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hint {
    /// Something may be other at this path.
    Touched(NotePath),
    /// Something new stands at this path, and it may be a folder.
    Arrived(NotePath),
    /// A file in the making.
    Passing(NotePath),
    /// One half of a rename, the old name, by the number that the halves share.
    Left(usize),
    /// The other half, the new name.
    Came(usize),
    /// The vault's folder itself.
    Root,
    /// Something that has no path of ours: everything must be looked at.
    Unclear,
    /// Events were lost: everything must be looked at, and listened to anew.
    Lost,
}

/// What `event` says of the vault at `root`.
pub(crate) fn hints(root: &Path, event: &notify::Result<Event>) -> Vec<Hint> {
    let Ok(event) = event else {
        return vec![Hint::Lost];
    };
    if event.need_rescan() {
        return vec![Hint::Lost];
    }
    if is_reading(event.kind) {
        return Vec::new();
    }
    let mut out = Vec::new();
    for path in &event.paths {
        let Ok(relative) = path.strip_prefix(root) else {
            continue;
        };
        if relative.as_os_str().is_empty() {
            out.push(Hint::Root);
        } else if !relative.iter().any(walk::is_hidden) {
            out.extend(of_path(event.kind, relative));
            out.extend(half(event, RenameMode::From).map(Hint::Left));
        }
    }
    out.extend(half(event, RenameMode::To).map(Hint::Came));
    out
}

fn is_reading(kind: EventKind) -> bool {
    matches!(kind, EventKind::Access(access) if access != AccessKind::Close(AccessMode::Write))
}

fn of_path(kind: EventKind, relative: &Path) -> Option<Hint> {
    let Ok(path) = walk::to_note_path(relative) else {
        return Some(Hint::Unclear);
    };
    let may_be_folder = match kind {
        EventKind::Create(CreateKind::File) => false,
        EventKind::Create(_) => true,
        EventKind::Modify(ModifyKind::Name(mode)) => mode != RenameMode::From,
        _ => false,
    };
    Some(match (may_be_folder, is_temporary(&path)) {
        (_, true) if kind != EventKind::Create(CreateKind::Folder) => Hint::Passing(path),
        (true, _) => Hint::Arrived(path),
        (false, _) => Hint::Touched(path),
    })
}

/// The number of the rename of which `event` is this half.
fn half(event: &Event, mode: RenameMode) -> Option<usize> {
    (event.kind == EventKind::Modify(ModifyKind::Name(mode))).then(|| event.tracker()).flatten()
}

/// Whether this is the name of a file in the making: an editor's swap, probe, backup or lock file,
/// an office program's owner file, a download, a sync tool's part. A note's name never is.
pub(crate) fn is_temporary(path: &NotePath) -> bool {
    if path.is_markdown() {
        return false;
    }
    let name = path.file_name();
    let lower = name.to_lowercase();
    let ends = [
        "~",
        ".tmp",
        ".temp",
        ".swp",
        ".swo",
        ".swx",
        ".part",
        ".partial",
        ".crdownload",
        ".download",
        "___jb_tmp___",
        "___jb_old___",
    ];
    ends.iter().any(|end| lower.ends_with(end))
        || lower.starts_with("~$")
        || (lower.len() > 2 && lower.starts_with('#') && lower.ends_with('#'))
        || lower.rsplit_once(".sb-").is_some_and(|(_, mark)| mark.contains('-'))
        || is_probe(&lower)
}

/// Vim asks whether it may write in a folder with a file called 4913, or 123 more, and so on.
fn is_probe(name: &str) -> bool {
    let number: Option<u32> = name.parse().ok().filter(|_| !name.starts_with(['+', '0']));
    number.and_then(|n| n.checked_sub(4913)).is_some_and(|more| more % 123 == 0)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use notify::event::{DataChange, Flag, MetadataKind, RemoveKind};

    use super::*;

    #[track_caller]
    fn check(kind: EventKind, paths: &[&str], expected: Expect) {
        let mut event = Event::new(kind).set_tracker(7);
        for path in paths {
            event = event.add_path(Path::new("/v").join(path));
        }
        expected.assert_eq(&shown(&hints(Path::new("/v"), &Ok(event))));
    }

    fn shown(hints: &[Hint]) -> String {
        let one = |hint: &Hint| match hint {
            Hint::Touched(path) => format!("touched {path}"),
            Hint::Arrived(path) => format!("arrived {path}"),
            Hint::Passing(path) => format!("passing {path}"),
            other => format!("{other:?}"),
        };
        hints.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    const RENAME: fn(RenameMode) -> EventKind = |mode| EventKind::Modify(ModifyKind::Name(mode));

    /// VLT-34: only events that change something count.
    #[test]
    fn reading_is_no_change() {
        let open = AccessKind::Open(AccessMode::Any);
        check(EventKind::Access(open), &["n.md"], expect![""]);
        check(EventKind::Access(AccessKind::Close(AccessMode::Read)), &["n.md"], expect![""]);
        check(EventKind::Access(AccessKind::Close(AccessMode::Write)), &["n.md"], expect!["touched n.md"]);
        check(EventKind::Modify(ModifyKind::Data(DataChange::Any)), &["n.md"], expect!["touched n.md"]);
        check(EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any)), &["n.md"], expect!["touched n.md"]);
    }

    #[test]
    fn hidden_names_are_not_there_and_a_rename_out_of_one_still_has_two_halves() {
        check(EventKind::Create(CreateKind::File), &[".obsidian/workspace.json"], expect![""]);
        check(EventKind::Create(CreateKind::File), &["a/.syncthing.n.md.tmp", ".#n.md"], expect![""]);
        check(RENAME(RenameMode::From), &[".n.md.tmp"], expect![""]);
        check(RENAME(RenameMode::To), &["n.md"], expect!["arrived n.md, Came(7)"]);
        check(RENAME(RenameMode::From), &["n.md"], expect!["touched n.md, Left(7)"]);
        check(RENAME(RenameMode::To), &[".n.md.bak"], expect!["Came(7)"]);
        check(RENAME(RenameMode::Both), &["a.md", "b.md"], expect!["arrived a.md, arrived b.md"]);
    }

    #[test]
    fn what_has_no_path_of_ours_means_everything() {
        check(EventKind::Create(CreateKind::Any), &[r"a\b.md"], expect!["Unclear"]);
        check(EventKind::Remove(RemoveKind::Folder), &[""], expect!["Root"]);
        let overflow = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert_eq!(hints(Path::new("/v"), &Ok(overflow)), [Hint::Lost]);
        let limit = notify::Error::new(notify::ErrorKind::MaxFilesWatch);
        assert_eq!(hints(Path::new("/v"), &Err(limit)), [Hint::Lost]);
    }

    #[test]
    fn files_in_the_making_are_known_by_their_names_and_notes_never_are() {
        let is = |name: &str| is_temporary(&NotePath::new(name).unwrap());
        for name in [
            "a/n.md~",
            "n.md.tmp",
            "~syncthing~n.md.tmp",
            "~$Plan.docx",
            "n.md.swp",
            "a/4913",
            "5036",
            "#n.md#",
            "n.md.sb-1a2b3c4d-AbCdEf",
            "n.md___jb_tmp___",
            "film.mp4.part",
            "笔记.md.TMP",
        ] {
            assert!(is(name), "{name}");
        }
        for name in ["n.md", "~$n.md", "#.md", "4912", "04913", "2026", "a.pdf", "tmp", "#", "x.sb-1", "票.txt"] {
            assert!(!is(name), "{name}");
        }
    }
}
