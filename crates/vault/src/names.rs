//! Link resolution without a vault on disk: a set of file names that links are looked up in.

use crate::path::NotePath;
use crate::resolve::{FileIndex, Resolution};

/// The files of a vault, by name. A clone is cheap and is not disturbed by changes.
///
/// ```
/// use dormouse_vault::{FileNames, NotePath};
///
/// let names: FileNames = [NotePath::new("a/Note.md")?, NotePath::new("pic.png")?].into_iter().collect();
/// let found = names.resolve(&NotePath::new("source.md")?, "note");
/// assert_eq!(found.path().map(NotePath::as_str), Some("a/Note.md"));
/// # Ok::<(), dormouse_vault::PathError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct FileNames(FileIndex);

impl FileNames {
    /// Adds a file; one that is there already stays once. Linear in the files of the same name.
    pub fn insert(&mut self, path: NotePath) {
        self.0.insert(path);
    }

    /// Takes a file away; one that is not there is no fault. Linear in the files of the same name.
    pub fn remove(&mut self, path: &NotePath) {
        self.0.remove(path);
    }

    /// Which file `target`, a [`Link::target`](crate::Link::target), means in a link of `source`. The
    /// order of insertion never matters. Linear in the number of files of that name.
    #[must_use]
    pub fn resolve(&self, source: &NotePath, target: &str) -> Resolution {
        self.0.resolve(source, target)
    }
}

impl FromIterator<NotePath> for FileNames {
    fn from_iter<I: IntoIterator<Item = NotePath>>(paths: I) -> Self {
        let mut names = Self::default();
        paths.into_iter().for_each(|path| names.insert(path));
        names
    }
}
