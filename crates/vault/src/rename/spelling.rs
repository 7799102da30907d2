//! How a link's target is spelled: bare, by a path, from the root, or relative to its note.

use crate::fold;
use crate::path::NotePath;

/// The form that a target has and keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `Note`, `a/Note`: the last so many segments of the path.
    Last(usize),
    /// The whole path.
    Whole,
    /// `/a/Note`
    Rooted,
    /// `./Note`, `../a/Note`
    Relative,
}

/// Form and extension of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spelling {
    form: Form,
    extension: bool,
}

impl Spelling {
    /// What a canvas writes of its files.
    pub(crate) const CANVAS: Self = Self { form: Form::Whole, extension: true };

    /// How `target` spells the file `means`.
    pub(crate) fn of(target: &str, means: &NotePath) -> Self {
        let segments = target.split('/').filter(|segment| !segment.is_empty()).count();
        let all = means.as_str().split('/').count();
        let form = if is_relative(target) {
            Form::Relative
        } else if target.starts_with('/') {
            Form::Rooted
        } else if segments == all && all > 1 {
            Form::Whole
        } else {
            Form::Last(segments.max(1))
        };
        let last = target.rsplit('/').next().unwrap_or(target);
        Self { form, extension: fold::name(last) == fold::name(means.file_name()) }
    }

    /// `path` spelled so, in a note of `folder`.
    pub(crate) fn spell(self, path: &NotePath, folder: &str) -> String {
        let whole = if self.extension { path.as_str() } else { path.link_target() };
        match self.form {
            Form::Last(count) => last_segments(whole, count).to_owned(),
            Form::Whole => whole.to_owned(),
            Form::Rooted => format!("/{whole}"),
            Form::Relative => relative(whole, folder),
        }
    }

    /// The longer forms that may be written where this one means another file, best first.
    pub(crate) fn longer(self, path: &NotePath, folder: &str) -> Vec<String> {
        let bare = if self.extension { path.as_str() } else { path.link_target() };
        let segments = path.as_str().split('/').count();
        let mut out = Vec::new();
        for whole in [bare, path.as_str()] {
            out.extend((1..=segments).rev().map(|count| last_segments(whole, count).to_owned()));
            out.push(format!("/{whole}"));
            out.push(relative(whole, folder));
        }
        out
    }
}

/// Whether a target is read from its note's folder.
pub(crate) fn is_relative(target: &str) -> bool {
    target.starts_with("./") || target.starts_with("../")
}

/// The same place named from another folder; `None` when it leaves the vault.
pub(crate) fn rebase(target: &str, from: &str, to: &str) -> Option<String> {
    let mut segments: Vec<&str> = from.split('/').filter(|s| !s.is_empty()).collect();
    for segment in target.split('/') {
        match segment {
            "." | "" => {}
            ".." => {
                segments.pop()?;
            }
            name => segments.push(name),
        }
    }
    Some(relative(&segments.join("/"), to))
}

fn last_segments(path: &str, count: usize) -> &str {
    let cut = path.rmatch_indices('/').nth(count.saturating_sub(1));
    cut.and_then(|(at, _)| path.get(at + 1..)).unwrap_or(path)
}

/// `path` as seen from `folder`, beginning with `./` or `../`.
fn relative(path: &str, folder: &str) -> String {
    let folders: Vec<&str> = folder.split('/').filter(|s| !s.is_empty()).collect();
    let segments: Vec<&str> = path.split('/').collect();
    let above = segments.len().saturating_sub(1);
    let shared = folders.iter().zip(segments.iter().take(above)).take_while(|(a, b)| a == b).count();
    let up = folders.len() - shared;
    let rest: Vec<&str> = segments.into_iter().skip(shared).collect();
    let climb = if up == 0 { "./".to_owned() } else { "../".repeat(up) };
    format!("{climb}{}", rest.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(target: &str, old: &str, new: &str, folder: &str, expected: &str) {
        let path = |text: &str| NotePath::new(text).unwrap();
        assert_eq!(Spelling::of(target, &path(old)).spell(&path(new), folder), expected);
    }

    #[test]
    fn a_target_keeps_its_form() {
        check("Old", "a/Old.md", "b/New.md", "", "New");
        check("old.md", "a/Old.md", "b/New.md", "", "New.md");
        check("a/Old", "a/Old.md", "b/c/New.md", "", "b/c/New");
        check("a/Old", "x/a/Old.md", "x/b/New.md", "", "b/New");
        check("/a/Old.md", "a/Old.md", "New.md", "", "/New.md");
        check("../a/Old", "a/Old.md", "b/New.md", "c", "../b/New");
        check("./Old", "c/Old.md", "c/d/New.md", "c", "./d/New");
        check("./Old", "c/Old.md", "New.md", "c/e", "../../New");
        check("pic.png", "a/pic.png", "b/img.jpg", "", "img.jpg");
    }

    #[test]
    fn a_relative_target_names_the_same_place_from_elsewhere() {
        assert_eq!(rebase("./b", "a", "c/d").as_deref(), Some("../../a/b"));
        assert_eq!(rebase("../b", "a", "").as_deref(), Some("./b"));
        assert_eq!(rebase("../../b", "a", ""), None);
    }
}
