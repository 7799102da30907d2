//! Names on disk: where a vault path lies, what it really is, and which names can't lie side by side.

use std::fs;
use std::path::{Component, Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use crate::path::NotePath;

/// Where `path` lies below `root`: as spelled, else under the same names in another Unicode form.
pub(crate) fn locate(root: &Path, path: &NotePath) -> PathBuf {
    let exact = root.join(path.as_disk());
    if path.as_str().is_ascii() || exact.symlink_metadata().is_ok() {
        return exact;
    }
    path.as_disk().split('/').fold(root.to_path_buf(), |folder, name| {
        let plain = folder.join(name);
        if plain.symlink_metadata().is_ok() {
            return plain;
        }
        let nfc: String = name.nfc().collect();
        twin(&folder, |other| other.nfc().eq(nfc.chars())).unwrap_or(plain)
    })
}

/// The file that `located` really is, symlinks followed; `None` when it lies outside `root` (which
/// is canonical), or is a dangling link. What doesn't exist yet is judged by its folder.
pub(crate) fn real(root: &Path, located: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut at = located;
    while at.symlink_metadata().is_err() {
        missing.push(at.file_name()?);
        at = at.parent()?;
    }
    let mut real = at.canonicalize().ok()?;
    if !real.starts_with(root) {
        return None;
    }
    real.extend(missing.iter().rev());
    Some(real)
}

/// `path` below `root` as a vault path; `None` when it is none.
pub(crate) fn relative(root: &Path, path: &Path) -> Option<NotePath> {
    let names: Option<Vec<&str>> = path
        .strip_prefix(root)
        .ok()?
        .components()
        .map(|c| if let Component::Normal(name) = c { name.to_str() } else { None })
        .collect();
    NotePath::new(&names?.join("/")).ok()
}

/// A file beside `path` whose name differs from its own only by case or Unicode form, or the file
/// itself; `except` is passed over. Linear in the folder.
pub(crate) fn collision(path: &Path, except: Option<&Path>) -> Option<PathBuf> {
    let folder = path.parent()?;
    let wanted = fold(path.file_name()?.to_str()?);
    let found = twin(folder, |other| fold(other) == wanted && except != Some(folder.join(other).as_path()))?;
    Some(found)
}

fn twin(folder: &Path, is_it: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let mut names: Vec<_> = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
    names.retain(|name| name.to_str().is_some_and(&is_it));
    names.sort();
    names.first().map(|name| folder.join(name))
}

/// A name without its case and Unicode form: two names that fold alike can't lie side by side on
/// every file system.
pub(crate) fn fold(name: &str) -> String {
    name.nfc().flat_map(char::to_lowercase).nfc().collect()
}

/// Whether the folder has an entry that is spelled just so. A file system that ignores case answers
/// to other spellings as well; this doesn't. Linear in the folder.
pub(crate) fn is_spelled(path: &Path) -> bool {
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    entries.into_iter().flatten().filter_map(Result::ok).any(|e| Some(e.file_name().as_os_str()) == path.file_name())
}

/// Whether two names are one file: hard links, or two spellings where case is ignored.
#[cfg(unix)]
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path: &Path| path.symlink_metadata().ok().map(|found| (found.dev(), found.ino()));
    id(a).is_some() && id(a) == id(b)
}

/// Without file ids nothing is known to be the same.
#[cfg(not(unix))]
pub(crate) fn is_same_file(_: &Path, _: &Path) -> bool {
    false
}
