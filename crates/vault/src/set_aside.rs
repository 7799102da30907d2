//! Setting aside: a derived file that this build can't read is kept before another is put in its
//! place. Much of it can be computed again; the access log and the ledger of a newer build can't.

use std::io;
use std::path::{Path, PathBuf};

use crate::fs::Disk;
use crate::ground::Touched;
use crate::meta;

/// Keeps the bytes that `put` is about to replace under `.dormouse/set-aside/<name>-<n>`, when they
/// are no artefact of this build's version; n counts from 1. Bytes that are kept already, and a file
/// that is blank, are not kept again. A put that then fails leaves a copy too many, never one too
/// few.
pub(crate) fn keep(disk: &dyn Disk, root: &Path, put: &Touched) -> Result<(), (PathBuf, io::Error)> {
    let name = put.path.file_name();
    let Some(before) = put.before.as_ref() else {
        return Ok(());
    };
    if before.text.trim().is_empty() || (before.utf8 && meta::is_current(name, before.text.as_bytes())) {
        return Ok(());
    }
    // The text may be a lossy view. When these bytes are others by now, the put meets moved ground.
    let file = root.join(put.lay.as_ref().unwrap_or(&put.lies));
    let bytes = disk.read(&file).map_err(|error| (file, error))?;
    let folder = root.join(".dormouse/set-aside");
    if !folder.is_dir() {
        disk.make_folders(&folder).map_err(|error| (folder.clone(), error))?;
    }
    let mut n = 1_usize;
    loop {
        let to = folder.join(format!("{name}-{n}"));
        match disk.read(&to) {
            Ok(kept) if kept == bytes => return Ok(()),
            Ok(_) => n += 1,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let written = disk.write_new(&to, &bytes, true).and_then(|()| disk.sync_folder(&folder));
                return written.map_err(|error| {
                    // What arrived is a part, and the whole is still in its place.
                    let _ = disk.remove(&to);
                    (to, error)
                });
            }
            Err(error) => return Err((to, error)),
        }
    }
}
