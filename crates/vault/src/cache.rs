//! Cache files: what a stage keeps for itself under `.dormouse/`, and loses nothing but time without.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::CommitError;
use crate::fs::{Disk, OsDisk};
use crate::journal::TEMP_PREFIX;
use crate::path::NotePath;
use crate::vault::Vault;

/// The names below `.dormouse/` that are the vault's own.
const OWN: [&str; 6] = ["displaced", "journal", "lock", "locks", "set-aside", "snapshot"];

impl Vault {
    /// Puts `.dormouse/<name>` in place whole: a reader sees the old bytes or the new ones. `name`
    /// is a relative path, as in [`NotePath`], whose first part is none of `displaced`, `journal`,
    /// `lock`, `locks`, `set-aside`, `snapshot`. Does nothing when the file holds just these bytes. Takes no
    /// lock, and is not made durable: after a power cut the file may be the old one, or cut.
    ///
    /// # Errors
    /// [`CommitError::ReadOnly`], with nothing written; [`CommitError::Io`]: the disk, or
    /// `InvalidInput` for another name.
    pub fn write_cache(&self, name: &str, bytes: &[u8]) -> Result<(), CommitError> {
        if self.is_read_only() {
            return Err(CommitError::ReadOnly { path: self.root().to_path_buf() });
        }
        let file = self.canonical()?.join(".dormouse").join(name);
        let is_own = OWN.contains(&name.split('/').next().unwrap_or(name));
        let placed = if is_own || NotePath::new(name).is_err() {
            Err(io::Error::from(io::ErrorKind::InvalidInput))
        } else {
            place(&OsDisk, &file, bytes)
        };
        placed.map_err(|source| CommitError::of_disk(file, source))
    }
}

pub(crate) fn place(disk: &dyn Disk, file: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    if disk.read(file).is_ok_and(|have| have == bytes) {
        return Ok(());
    }
    let folder = file.parent().ok_or(io::ErrorKind::InvalidInput)?;
    disk.make_folders(folder)?;
    loop {
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let temp = folder.join(format!("{TEMP_PREFIX}cache-{}-{n}", std::process::id()));
        match disk.write_new(&temp, bytes, false) {
            // Left by another process of this number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            written => {
                return written.and_then(|()| disk.rename_over(&temp, file)).inspect_err(|_| {
                    let _ = disk.remove(&temp);
                });
            }
        }
    }
}
