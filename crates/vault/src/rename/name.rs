//! Names that a file may be given: ones that every link can write and every disk can hold.

use std::fmt;
use std::ops::Bound;

use crate::path::NotePath;
use crate::snapshot::Snapshot;

/// What is wrong with a new name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameRule {
    /// `#`, `^`, `[`, `]` or `|`: no link could name the file.
    LinkCharacter(char),
    /// `%%`, which opens a comment.
    CommentMark,
    /// A name that starts with a dot is never read.
    Hidden,
    /// A blank at the start, or a blank or a dot at the end (of the name or of its stem).
    Edge,
    /// `CON`, `NUL`, `COM1` and the like, which Windows keeps for devices.
    Device,
}

impl fmt::Display for NameRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LinkCharacter(c) => write!(f, "no link can name a file with `{c}` in its name"),
            Self::CommentMark => f.write_str("`%%` in a name opens a comment in every link to it"),
            Self::Hidden => f.write_str("a name that starts with a dot is never read"),
            Self::Edge => f.write_str("a name may not start with a blank, nor end with a blank or a dot"),
            Self::Device => f.write_str("Windows keeps this name for a device"),
        }
    }
}

/// The rule that the names of `path` break: its own and those of folders that are not there yet.
pub(super) fn broken_rule(path: &NotePath, now: &Snapshot) -> Option<NameRule> {
    let mut at = 0;
    for segment in path.as_str().split('/') {
        at += segment.len();
        let is_last = at == path.as_str().len();
        let folder = path.as_str().get(..at).unwrap_or("");
        if (is_last || !has_folder(now, folder))
            && let Some(rule) = segment_rule(segment)
        {
            return Some(rule);
        }
        at += 1;
    }
    None
}

fn segment_rule(name: &str) -> Option<NameRule> {
    if let Some(c) = name.chars().find(|c| "#^[]|".contains(*c)) {
        return Some(NameRule::LinkCharacter(c));
    }
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let ends_badly = |text: &str| text.ends_with('.') || text.ends_with(char::is_whitespace);
    let device = name.split('.').next().unwrap_or(name).trim_end();
    if name.contains("%%") {
        Some(NameRule::CommentMark)
    } else if name.starts_with('.') {
        Some(NameRule::Hidden)
    } else if name.starts_with(char::is_whitespace) || ends_badly(name) || ends_badly(stem) {
        Some(NameRule::Edge)
    } else if is_device(device) {
        Some(NameRule::Device)
    } else {
        None
    }
}

fn is_device(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let numbered = |rest: Option<&str>| rest.is_some_and(|n| matches!(n, "¹" | "²" | "³") || is_one_to_nine(n));
    matches!(upper.as_str(), "CON" | "PRN" | "AUX" | "NUL")
        || numbered(upper.strip_prefix("COM"))
        || numbered(upper.strip_prefix("LPT"))
}

fn is_one_to_nine(text: &str) -> bool {
    matches!(text.as_bytes(), [b'1'..=b'9'])
}

/// A character that some file systems can't hold.
pub(super) fn not_portable(path: &NotePath) -> Option<char> {
    path.as_str().chars().find(|c| "*\"<>:?".contains(*c))
}

/// Whether a file lies below `folder`. O(log n).
pub(super) fn has_folder(now: &Snapshot, folder: &str) -> bool {
    files_in(now, folder).next().is_some()
}

/// All notes and files below `folder`, notes first.
pub(super) fn files_in<'a>(now: &'a Snapshot, folder: &'a str) -> impl Iterator<Item = &'a NotePath> {
    let from = (Bound::Excluded(folder.to_owned() + "/"), Bound::Unbounded);
    let (start, end) = (from.0.as_ref().map(String::as_str), from.1);
    let notes = now.notes.range::<(Bound<&str>, Bound<&str>), str>((start, end)).map(|(path, _)| path);
    let files = now.files.range::<(Bound<&str>, Bound<&str>), str>((start, end)).map(|(path, _)| path);
    notes.take_while(|path| path.is_in(folder)).chain(files.take_while(|path| path.is_in(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_link_or_a_disk_cannot_hold_are_known() {
        let rule = |name: &str| segment_rule(name);
        for (name, c) in [("C#.md", '#'), ("a^b.md", '^'), ("[x.md", '['), ("x].md", ']'), ("a|b.md", '|')] {
            assert_eq!(rule(name), Some(NameRule::LinkCharacter(c)));
        }
        assert_eq!(rule("50%% off.md"), Some(NameRule::CommentMark));
        assert_eq!(rule(".hidden.md"), Some(NameRule::Hidden));
        for name in [" a.md", "a .md", "a..md", "a.", "a ", "\u{3000}a.md"] {
            assert_eq!(rule(name), Some(NameRule::Edge), "{name:?}");
        }
        for name in ["con.md", "NUL", "Com1.tar.gz", "lpt9.md", "COM².md", "aux"] {
            assert_eq!(rule(name), Some(NameRule::Device), "{name}");
        }
        for name in ["console.md", "COM0.md", "v1.2.md", "100%.md", "计划 🗂.md", "a'b\".md", "x - (y).md"] {
            assert_eq!(rule(name), None, "{name}");
        }
    }
}
