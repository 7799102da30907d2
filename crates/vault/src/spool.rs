//! The access spool: recall's only write. One line a hit, appended whole, folded in by consolidate.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::error::VaultError;
use crate::fs::{self, Disk, OsDisk};
use crate::layout::Layer;
use crate::meta::AccessKind;
use crate::path::NotePath;
use crate::vault::Vault;
use crate::version::Version;

/// How long an append waits for others.
const PATIENCE: Duration = Duration::from_secs(2);

/// One access of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessHit {
    /// The note.
    pub path: NotePath,
    /// When, in the reader's zone.
    pub at: DateTime<FixedOffset>,
    /// How.
    pub kind: AccessKind,
}

/// The spool of a vault: `meta/access_spool.jsonl`.
#[derive(Debug, Clone)]
pub struct Spool {
    pub(crate) file: PathBuf,
    /// `.dormouse/locks/spool.lock`: held for the length of one append or one discard.
    pub(crate) lock: PathBuf,
}

impl Spool {
    /// Appends hits, each as one line, in one write under a short lock, so that processes side by
    /// side never tear a line and none is lost to a discard. Does nothing for an empty slice.
    ///
    /// # Errors
    /// The disk; a caller that only reads reports it and goes on.
    pub fn append(&self, hits: &[AccessHit]) -> Result<(), VaultError> {
        let mut lines = Vec::new();
        for hit in hits {
            serde_json::to_writer(&mut lines, hit).map_err(|e| self.error(e.into()))?;
            lines.push(b'\n');
        }
        if lines.is_empty() { Ok(()) } else { self.append_lines(lines).map_err(|e| self.error(e)) }
    }

    fn append_lines(&self, mut lines: Vec<u8>) -> io::Result<()> {
        let _held = self.hold()?;
        make_folder_of(&self.file)?;
        let mut file = fs::open_or_create(&self.file, true)?;
        if !ends_a_line(&mut file)? {
            // A line that was cut costs itself alone.
            lines.insert(0, b'\n');
        }
        let end = file.metadata()?.len();
        // What did not arrive whole is not there: a hit that is tried again must not count twice.
        file.write_all(&lines).inspect_err(|_| drop(file.set_len(end)))
    }

    /// The file that hits are appended to; it need not be there.
    #[must_use]
    pub fn file(&self) -> &std::path::Path {
        &self.file
    }

    /// Reads what is spooled, to the last whole line; lines that can't be read are skipped and
    /// counted. A missing spool is an empty one.
    ///
    /// # Errors
    /// The disk.
    pub fn read(&self) -> Result<Spooled, VaultError> {
        let mut bytes = self.bytes()?;
        let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
        bytes.truncate(whole);
        let mut spooled = Spooled { bytes: whole as u64, version: Some(Version::of(&bytes)), ..Spooled::default() };
        for line in bytes.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            match serde_json::from_slice(line) {
                Ok(hit) => spooled.hits.push(hit),
                Err(_) => spooled.skipped += 1,
            }
        }
        Ok(spooled)
    }

    /// Drops what `read` returned, once it has been folded in. Hits that came in since stay. Does
    /// nothing when the spool no longer starts with what was read.
    ///
    /// # Errors
    /// The disk; the spool is then as it was.
    pub fn discard(&self, spooled: &Spooled) -> Result<(), VaultError> {
        let _held = self.hold().map_err(|e| self.error(e))?;
        let bytes = self.bytes()?;
        let split = usize::try_from(spooled.bytes).unwrap_or(usize::MAX);
        let Some((read, rest)) = bytes.split_at_checked(split) else {
            return Ok(());
        };
        if split == 0 || Some(Version::of(read)) != spooled.version {
            return Ok(());
        }
        self.rewrite(rest).map_err(|e| self.error(e))
    }

    fn rewrite(&self, rest: &[u8]) -> io::Result<()> {
        if rest.is_empty() {
            return OsDisk.remove(&self.file);
        }
        let temp = self.file.with_file_name(".dormouse-tmp-spool");
        match OsDisk.remove(&temp) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        OsDisk.write_new(&temp, rest, true)?;
        OsDisk.rename_over(&temp, &self.file)
    }

    fn bytes(&self) -> Result<Vec<u8>, VaultError> {
        match OsDisk.read(&self.file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            read => read.map_err(|e| self.error(e)),
        }
    }

    /// Waits for the lock, two seconds at most: whoever reads must not hang on one who is stuck. A
    /// file system without locks goes without.
    fn hold(&self) -> io::Result<File> {
        make_folder_of(&self.lock)?;
        let file = fs::open_or_create(&self.lock, false)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    fn error(&self, source: io::Error) -> VaultError {
        VaultError::Io { path: self.file.clone(), source }
    }
}

fn make_folder_of(file: &Path) -> io::Result<()> {
    file.parent().filter(|folder| !folder.is_dir()).map_or(Ok(()), |folder| OsDisk.make_folders(folder))
}

fn ends_a_line(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// What [`Spool::read`] found.
#[derive(Debug, Clone, Default)]
pub struct Spooled {
    /// The hits, in order.
    pub hits: Vec<AccessHit>,
    /// Lines that could not be read.
    pub skipped: usize,
    /// How much was read, and what: [`Spool::discard`] drops just that.
    pub(crate) bytes: u64,
    pub(crate) version: Option<Version>,
}

impl Vault {
    /// The access spool.
    #[must_use]
    pub fn spool(&self) -> Spool {
        // Beneath the real folder no symbolic link is followed.
        let root = self.root().canonicalize().unwrap_or_else(|_| self.root().to_path_buf());
        Spool {
            file: root.join(self.layout().file(Layer::Meta, "access_spool.jsonl").as_disk()),
            lock: root.join(".dormouse/locks/spool.lock"),
        }
    }
}
