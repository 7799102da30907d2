//! The ground that a change set stands on: what the disk has where it wants to write.

use std::io;
use std::path::{Path, PathBuf};

use similar::TextDiff;

use crate::capability;
use crate::change::{Change, ChangeSet, FileDiff};
use crate::error::{CommitError, Conflict};
use crate::fs::{self, Disk};
use crate::layout::Layout;
use crate::note::NoteText;
use crate::path::NotePath;
use crate::version::Version;

/// One file of a change set, before and after.
#[derive(Debug)]
pub(crate) struct Touched {
    /// The file; the new path of a rename.
    pub(crate) path: NotePath,
    /// The old path of a rename.
    pub(crate) from: Option<NotePath>,
    /// Where it lies, or will, symbolic links followed; relative to the vault.
    pub(crate) lies: String,
    /// The same for the old path of a rename.
    pub(crate) lay: Option<String>,
    /// What is there now.
    pub(crate) before: Option<NoteText>,
    /// The text after; `None` when it stays as it is.
    pub(crate) after: Option<String>,
    /// Whether the plan named a version: an append or a put takes the ground as it is.
    pub(crate) pinned: bool,
}

impl Touched {
    /// The file's text after the change.
    pub(crate) fn text_after(&self) -> &str {
        self.after.as_deref().or(self.before.as_ref().map(|b| b.text.as_str())).unwrap_or("")
    }

    /// The file's text before the change, when it was there.
    pub(crate) fn text_before(&self) -> Option<&str> {
        self.before.as_ref().map(|b| b.text.as_str())
    }

    /// Whether the change makes the file.
    pub(crate) fn is_new(&self) -> bool {
        self.before.is_none()
    }

    /// Whether nothing would change on disk.
    pub(crate) fn is_idle(&self) -> bool {
        self.from.is_none() && self.before.as_ref().is_some_and(|b| self.after.as_ref().is_none_or(|a| *a == b.text))
    }

    pub(crate) fn version_after(&self) -> Version {
        match (&self.after, &self.before) {
            (None, Some(before)) => before.version,
            _ => Version::of(self.text_after().as_bytes()),
        }
    }

    pub(crate) fn to_diff(&self) -> FileDiff {
        FileDiff {
            path: self.path.clone(),
            renamed_from: self.from.clone(),
            before: self.before.as_ref().map(|b| b.version),
            after: self.version_after(),
            diff: unified(self.text_before().unwrap_or(""), self.text_after(), &self.path),
        }
    }

    /// The conflict that is there when the ground moved away under this change.
    pub(crate) fn conflict(&self, current: Option<NoteText>, expected: Option<Version>) -> CommitError {
        let diff = unified(current.as_ref().map_or("", |c| &c.text), self.text_after(), &self.path);
        let path = self.from.as_ref().unwrap_or(&self.path).clone();
        CommitError::Conflict(Box::new(Conflict { path, expected, current, diff }))
    }
}

/// Looks at the disk: every version is as planned, every create has a free name, nothing lies
/// outside the vault, nothing that is not UTF-8 is rewritten.
pub(crate) fn survey(
    disk: &dyn Disk,
    root: &Path,
    set: &ChangeSet,
    layout: &Layout,
) -> Result<Vec<Touched>, CommitError> {
    let mut touched = Vec::with_capacity(set.changes.len());
    for change in &set.changes {
        touched.push(Surveyor { disk, root, set, layout }.look(change)?);
    }
    Ok(merge_renames(touched))
}

struct Surveyor<'a> {
    disk: &'a dyn Disk,
    root: &'a Path,
    set: &'a ChangeSet,
    layout: &'a Layout,
}

impl Surveyor<'_> {
    fn look(&self, change: &Change) -> Result<Touched, CommitError> {
        let path = self.renamed_to(change.path()).unwrap_or(change.path());
        let (file, lies) = self.place(change, path)?;
        let before = read(self.disk, &file, path)?;
        let mut touched =
            Touched { path: change.path().clone(), from: None, lies, lay: None, before, after: None, pinned: true };
        match change {
            Change::Create { content, .. } => {
                touched.after = Some(content.clone());
                self.must_be_free(&touched, &file, None)?;
            }
            Change::Replace { expected, content, .. } => {
                touched.after = Some(content.clone());
                must_be(&touched, *expected)?;
            }
            Change::Append { header, content, .. } => {
                touched.pinned = false;
                touched.after = Some(appended(touched.text_before(), header, content));
            }
            Change::Put { content, .. } => {
                touched.pinned = false;
                touched.after = Some(content.clone());
                return Ok(touched);
            }
            Change::Rename { to, expected, .. } => {
                must_be(&touched, *expected)?;
                let (new, lies) = self.place(change, to)?;
                touched.from = Some(std::mem::replace(&mut touched.path, to.clone()));
                touched.lay = Some(std::mem::replace(&mut touched.lies, lies));
                self.must_be_free(&touched, &new, Some(&file))?;
            }
        }
        match &touched.before {
            Some(before) if !before.utf8 && touched.after.is_some() => Err(CommitError::NotUtf8 { path: touched.path }),
            _ => Ok(touched),
        }
    }

    /// A replace of a rename's new path means the file under its old one.
    fn renamed_to(&self, path: &NotePath) -> Option<&NotePath> {
        self.set.changes.iter().find_map(|other| match other {
            Change::Rename { from, to, .. } if to == path => Some(from),
            _ => None,
        })
    }

    /// Where `path` lies. A link out of the vault, or into a place that the writer may not touch,
    /// is denied.
    fn place(&self, change: &Change, path: &NotePath) -> Result<(PathBuf, String), CommitError> {
        let denied = || CommitError::Denied { writer: self.set.writer, path: path.clone() };
        let file = fs::real(self.root, &fs::locate(self.root, path)).ok_or_else(denied)?;
        let lies = fs::relative(self.root, &file).ok_or_else(denied)?;
        let hidden = capability::is_hidden(&lies) && !capability::is_discarded(self.set, change, &lies);
        if hidden || (lies != *path && !self.may_at(change, path, &lies)) {
            return Err(denied());
        }
        Ok((file, lies.as_disk().to_owned()))
    }

    fn may_at(&self, change: &Change, named: &NotePath, lies: &NotePath) -> bool {
        match change {
            Change::Rename { to, .. } if to == named => self.layout.layer(lies) == self.layout.layer(to),
            Change::Replace { path, .. } if path != named => true,
            _ => capability::may_at(self.set, change, lies, self.layout),
        }
    }

    fn must_be_free(&self, touched: &Touched, file: &Path, except: Option<&Path>) -> Result<(), CommitError> {
        let Some(taken) = fs::collision(file, except) else {
            return Ok(());
        };
        let path = fs::relative(self.root, &taken).unwrap_or_else(|| touched.path.clone());
        let current = read(self.disk, &taken, &path)?;
        Err(touched.conflict(current, None))
    }
}

fn must_be(touched: &Touched, expected: Version) -> Result<(), CommitError> {
    if touched.before.as_ref().is_some_and(|b| b.version == expected) {
        Ok(())
    } else {
        Err(touched.conflict(touched.before.clone(), Some(expected)))
    }
}

/// A rename and a replace of its new path are one file: new content first, then the new name.
fn merge_renames(mut touched: Vec<Touched>) -> Vec<Touched> {
    let renames: Vec<NotePath> = touched.iter().filter(|t| t.from.is_some()).map(|t| t.path.clone()).collect();
    for path in renames {
        let Some(at) = touched.iter().position(|t| t.from.is_none() && t.path == path) else {
            continue;
        };
        let replace = touched.remove(at);
        if let Some(rename) = touched.iter_mut().find(|t| t.path == path) {
            rename.after = replace.after;
        }
    }
    touched
}

/// The file's text with its version; `None` when there is none.
pub(crate) fn read(disk: &dyn Disk, file: &Path, path: &NotePath) -> Result<Option<NoteText>, CommitError> {
    let bytes = match disk.read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            return Err(CommitError::Io { path: file.to_path_buf(), source });
        }
    };
    let version = Version::of(&bytes);
    let (text, utf8) = match String::from_utf8(bytes) {
        Ok(text) => (text, true),
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), false),
    };
    Ok(Some(NoteText { path: path.clone(), text, version, utf8 }))
}

/// `content` at the end of `old`, on a line of its own, with the line ends that `old` has.
fn appended(old: Option<&str>, header: &str, content: &str) -> String {
    let Some(old) = old.filter(|o| !o.is_empty()) else {
        return format!("{header}{content}");
    };
    let end = if old.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if old.ends_with('\n') { "" } else { end };
    let content = if end == "\n" { content.to_owned() } else { content.replace("\r\n", "\n").replace('\n', end) };
    format!("{old}{gap}{content}")
}

/// A unified diff with three lines of context; empty for equal texts.
fn unified(old: &str, new: &str, path: &NotePath) -> String {
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}
