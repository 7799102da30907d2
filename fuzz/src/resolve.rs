//! Laws of resolution.

use dormouse_vault::{FileNames, NotePath, Resolution};

use crate::reference;

/// The lines of `data` are files but for the last two: the source and a target. The order of the
/// files never matters, files that come and go leave no trace, the answer is one of the files, and
/// it is the one that `reference` finds by reading the rules one after the other.
///
/// # Panics
/// When a law is broken.
pub fn resolve(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let lines: Vec<&str> = text.lines().take(24).collect();
    let [files @ .., source, target] = lines.as_slice() else {
        return;
    };
    let Ok(source) = NotePath::new(source) else {
        return;
    };
    let files: Vec<NotePath> = files.iter().filter_map(|file| NotePath::new(file).ok()).collect();
    let names: FileNames = files.iter().cloned().collect();
    let answer = names.resolve(&source, target);

    let last_spelling = |path: &NotePath| files.iter().rev().find(|file| *file == path).cloned();
    let mut backward: Vec<NotePath> = files.iter().rev().cloned().collect();
    backward.iter_mut().for_each(|path| *path = last_spelling(path).unwrap_or_else(|| path.clone()));
    let backward: FileNames = backward.into_iter().collect();
    assert_eq!(answer, backward.resolve(&source, target), "the order of the files matters: {text:?}");

    let mut disturbed = names.clone();
    let visitors: Vec<NotePath> =
        files.iter().filter_map(|file| NotePath::new(&format!("visit/{file}")).ok()).collect();
    let visitors: Vec<NotePath> = visitors.into_iter().filter(|visitor| !files.contains(visitor)).collect();
    visitors.iter().for_each(|path| disturbed.insert(path.clone()));
    visitors.iter().for_each(|path| disturbed.remove(path));
    assert_eq!(answer, disturbed.resolve(&source, target), "a file that is gone leaves a trace: {text:?}");
    assert_eq!(answer, names.resolve(&source, target), "a clone is disturbed by its copy: {text:?}");

    let expected = reference::resolve(&files, &source, target);
    match &answer {
        Resolution::File { path, ambiguous } => {
            assert!(expected.is_some(), "{target:?} in {source} is {path}, and by the rules nothing: {files:?}");
            let (by_rules, tie) = expected.unwrap();
            assert_eq!((path.as_str(), *ambiguous), (by_rules.as_str(), tie), "{target:?} in {source} of {files:?}");
        }
        Resolution::Unresolved(key) => {
            assert_eq!(expected, None, "{target:?} in {source} is nothing (counted as {key:?}): {files:?}");
        }
        other => panic!("{target:?} is {other:?}"),
    }
}
