//! The folders that a renamed folder leaves behind: removed when nothing is in them any more.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::fs::{Disk, locate};
use crate::path::NotePath;
use crate::walk::is_hidden;

/// The first `depth` names of `path`.
fn head(path: &str, depth: usize) -> &str {
    let end = path.match_indices('/').nth(depth.saturating_sub(1)).map_or(path.len(), |(at, _)| at);
    path.get(..end).unwrap_or(path)
}

fn folder_of(path: &str) -> &str {
    path.rfind('/').and_then(|at| path.get(..at)).unwrap_or("")
}

/// What lies below a folder: the folders, outer ones first, and everything else that a walk of the
/// vault may see or not. Folders whose name starts with a dot are not entered.
fn below(root: &Path, folder: &str) -> (Vec<String>, Vec<String>) {
    let (mut folders, mut others, mut next) = (Vec::new(), Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = next.pop() {
        for entry in fs::read_dir(root.join(&folder)).into_iter().flatten().filter_map(Result::ok) {
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            let name = entry.file_name();
            let is_listed = !is_hidden(&name) && name.to_str().is_some();
            let is_folder = is_listed && entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder { next.push(path) } else { others.push(path) }
        }
        folders.push(folder);
    }
    (folders, others)
}

/// What keeps a folder alive after its files `moved` (as they are spelled on disk): files and folders
/// that are no part of the vault, in order. Linear in what lies below the folder.
pub(super) fn left_behind(root: &Path, from: &NotePath, moved: &BTreeSet<&str>) -> Vec<String> {
    let depth = from.as_str().split('/').count();
    let tops: BTreeSet<&str> = moved.iter().map(|path| head(path, depth)).collect();
    let mut left: Vec<String> = tops.into_iter().flat_map(|top| below(root, top).1).collect();
    left.retain(|path| !moved.contains(path.as_str()));
    left.sort();
    left
}

/// Removes the folders that the rename of the folder `from` to `to` emptied, with those above them,
/// up to the vault's root. `lay` says where the moved files lay. Folders in it that were empty before
/// are made anew below `to`. What is not empty stays, and what fails is left.
pub(crate) fn clear(disk: &dyn Disk, root: &Path, (from, to): (&NotePath, &NotePath), lay: &[&str]) {
    let depth = from.as_str().split('/').count();
    let tops: BTreeSet<&str> = lay.iter().map(|path| head(path, depth)).collect();
    let held: BTreeSet<&str> =
        lay.iter().flat_map(|path| path.match_indices('/').map(|(at, _)| path.get(..at).unwrap_or(""))).collect();
    for top in tops {
        let (mut folders, _) = below(root, top);
        // A folder's path is longer than that of the one it lies in.
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
        for folder in folders {
            let removed = disk.remove_folder(&root.join(&folder)).is_ok();
            if removed && !held.contains(folder.as_str()) {
                let rest = folder.get(top.len()..).unwrap_or("").trim_start_matches('/');
                let made = disk.make_folders(&locate(root, to).join(rest));
                made.unwrap_or_else(|error| tracing::debug!(%error, folder, "an empty folder is not made anew"));
            }
        }
        let mut above = folder_of(top);
        while !above.is_empty() && disk.remove_folder(&root.join(above)).is_ok() {
            above = folder_of(above);
        }
    }
}
