//! Vectors on disk: `.dormouse/vectors/<hash of the model's id>`, a cache that may go at any time.
//!
//! A line says whose vectors these are and how long; then come records of one size: the key of the
//! text, its scale, its bytes, and four bytes of the record's hash. Records are only ever put at the
//! end, under a lock. A record that was cut, or is not what its hash says, costs embedding one text
//! again; a file that is not ours is begun anew.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use dormouse_vault::Vault;

use super::rows::Row;
use super::texts::TextKey;

/// How long an append waits for another process's.
const PATIENCE: Duration = Duration::from_millis(500);
/// Key, scale and check of a record.
const FRAME: usize = 8 + 4 + 4;
/// The longest vector that is read back, so that a broken header asks for no memory.
const MAX_DIMENSION: usize = 1 << 14;

/// The file of one model in one vault.
#[derive(Debug)]
pub(crate) struct VectorFile {
    path: PathBuf,
    lock: PathBuf,
    /// The hash of the model's id.
    model: String,
    /// Bytes of it that were read or written here.
    seen: u64,
    read_only: bool,
}

/// The file's name below `.dormouse/`, by the model.
pub(super) fn name_of(id: &str) -> String {
    let model = blake3::hash(id.as_bytes()).to_hex();
    format!("vectors/{}", model.get(..16).unwrap_or(&model))
}

impl VectorFile {
    pub(crate) fn of(vault: &Vault, id: &str) -> Self {
        let model = blake3::hash(id.as_bytes()).to_hex().to_string();
        let path = vault.cache_dir().join(name_of(id));
        let lock = vault.cache_dir().join("vectors/lock");
        Self { path, lock, model, seen: 0, read_only: vault.is_read_only() }
    }

    fn header(&self, dimension: usize) -> String {
        format!("dormouse-vectors 1 {dimension} {}\n", self.model)
    }

    /// The length of the vectors in the file, when it is one of this model.
    pub(crate) fn dimension(&self) -> Option<usize> {
        let file = File::open(&self.path).ok()?;
        let mut line = Vec::new();
        file.take(128).read_to_end(&mut line).ok()?;
        let line = line.split(|b| *b == b'\n').next().and_then(|line| std::str::from_utf8(line).ok())?;
        let dimension: usize = line.split(' ').nth(2)?.parse().ok()?;
        (format!("{line}\n") == self.header(dimension) && (1..=MAX_DIMENSION).contains(&dimension)).then_some(dimension)
    }

    /// Reads what came in since the last look: every whole record whose hash is right. Nothing of a
    /// file that is missing or not ours.
    pub(crate) fn read(&mut self, dimension: usize, mut take: impl FnMut(TextKey, &[i8], f32)) {
        if self.dimension() != Some(dimension) {
            self.seen = 0;
            return;
        }
        let Ok(file) = File::open(&self.path) else {
            return;
        };
        let header = self.header(dimension).len() as u64;
        let length = file.metadata().map_or(0, |meta| meta.len());
        if self.seen < header || self.seen > length {
            self.seen = header;
        }
        let mut file = BufReader::with_capacity(1 << 18, file);
        if file.seek(SeekFrom::Start(self.seen)).is_err() {
            return;
        }
        let mut record = vec![0_u8; FRAME + dimension];
        while file.read_exact(&mut record).is_ok() {
            self.seen += record.len() as u64;
            if let Some((text, bytes, scale)) = parsed(&record) {
                take(text, &bytes, scale);
            }
        }
    }

    /// Puts records at the end, in one write under the lock. What another process put there
    /// meanwhile stays, and is read at the next look.
    ///
    /// # Errors
    /// The disk, or another process that holds the lock for long: the vectors are not kept.
    pub(crate) fn append(&mut self, dimension: usize, rows: &[(TextKey, Row)]) -> io::Result<()> {
        if self.read_only || rows.is_empty() {
            return Ok(());
        }
        let _held = self.hold()?;
        let ours = self.dimension() == Some(dimension);
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        let header = self.header(dimension);
        let mut bytes = Vec::with_capacity(header.len() + rows.len() * (FRAME + dimension));
        let mut end = file.metadata()?.len();
        if ours {
            // What a dead writer left half-done is cut off.
            let over = (end - header.len() as u64) % (FRAME + dimension) as u64;
            if over > 0 {
                end -= over;
                file.set_len(end)?;
            }
        } else {
            file.set_len(0)?;
            end = 0;
            bytes.extend_from_slice(header.as_bytes());
        }
        rows.iter().for_each(|(text, row)| put(&mut bytes, *text, &row.bytes, row.scale));
        file.write_all(&bytes).inspect_err(|_| drop(file.set_len(end)))?;
        if self.seen == end || end == 0 {
            self.seen = end + bytes.len() as u64;
        }
        Ok(())
    }

    /// Puts these records in place of the whole file. A reader sees the old file or the new one.
    ///
    /// # Errors
    /// As [`VectorFile::append`].
    #[expect(clippy::disallowed_methods, reason = "this cache file is this module's own; no note is ever in it")]
    pub(crate) fn replace<'a>(
        &mut self,
        dimension: usize,
        rows: impl Iterator<Item = (TextKey, &'a [i8], f32)>,
    ) -> io::Result<()> {
        if self.read_only {
            return Ok(());
        }
        let _held = self.hold()?;
        let fresh = self.path.with_extension("new");
        let file = OpenOptions::new().create(true).truncate(true).write(true).open(&fresh)?;
        let mut out = BufWriter::with_capacity(1 << 18, file);
        let header = self.header(dimension);
        let mut end = header.len() as u64;
        out.write_all(header.as_bytes())?;
        let mut record = Vec::new();
        for (text, bytes, scale) in rows {
            record.clear();
            put(&mut record, text, bytes, scale);
            out.write_all(&record)?;
            end += record.len() as u64;
        }
        out.into_inner().map_err(io::IntoInnerError::into_error)?;
        std::fs::rename(&fresh, &self.path)?;
        self.seen = end;
        Ok(())
    }

    /// The lock of those who write here.
    fn hold(&self) -> io::Result<File> {
        if let Some(folder) = self.lock.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&self.lock)?;
        let until = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(std::fs::TryLockError::Error(error)) => return Err(error),
                Err(std::fs::TryLockError::WouldBlock) if Instant::now() > until => {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                Err(std::fs::TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

fn put(out: &mut Vec<u8>, text: TextKey, bytes: &[i8], scale: f32) {
    let start = out.len();
    out.extend_from_slice(&text.0.to_le_bytes());
    out.extend_from_slice(&scale.to_le_bytes());
    out.extend(bytes.iter().map(|byte| byte.to_le_bytes()).map(|[byte]| byte));
    let check = check(out.get(start..).unwrap_or(&[]));
    out.extend_from_slice(&check);
}

fn check(record: &[u8]) -> [u8; 4] {
    let hash = blake3::hash(record);
    hash.as_bytes().first_chunk().copied().unwrap_or_default()
}

fn parsed(record: &[u8]) -> Option<(TextKey, Vec<i8>, f32)> {
    let (body, sum) = record.split_last_chunk::<4>()?;
    if check(body) != *sum {
        return None;
    }
    let (key, rest) = body.split_first_chunk::<8>()?;
    let (scale, bytes) = rest.split_first_chunk::<4>()?;
    let scale = f32::from_le_bytes(*scale);
    let bytes = bytes.iter().map(|byte| i8::from_le_bytes([*byte])).collect();
    scale.is_finite().then_some((TextKey(u64::from_le_bytes(*key)), bytes, scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(from: u64, to: u64) -> Vec<(TextKey, Row)> {
        (from..to).map(|n| (TextKey(n), Row::of(&[n as f32, 1.0, -2.0]))).collect()
    }

    fn keys(file: &mut VectorFile) -> Vec<u64> {
        let mut out = Vec::new();
        file.read(3, |text, bytes, scale| {
            let row = Row::of(&[text.0 as f32, 1.0, -2.0]);
            assert_eq!((bytes, scale), (row.bytes.as_slice(), row.scale));
            out.push(text.0);
        });
        out
    }

    #[test]
    fn each_look_reads_what_came_in_since_and_a_replaced_file_is_read_from_its_start() {
        let folder = dormouse_fixtures::temp_vault("=== a.md\na\n");
        let vault = Vault::open(folder.path()).unwrap();
        let (mut ours, mut theirs) = (VectorFile::of(&vault, "m"), VectorFile::of(&vault, "m"));
        assert_eq!((ours.dimension(), keys(&mut ours)), (None, vec![]));
        ours.append(3, &rows(0, 3)).unwrap();
        assert_eq!((keys(&mut ours), keys(&mut theirs)), (vec![], vec![0, 1, 2]));
        theirs.append(3, &rows(3, 5)).unwrap();
        assert_eq!((keys(&mut ours), keys(&mut theirs)), (vec![3, 4], vec![]));
        let kept = rows(1, 2);
        theirs.replace(3, kept.iter().map(|(text, row)| (*text, row.bytes.as_slice(), row.scale))).unwrap();
        assert_eq!((keys(&mut ours), keys(&mut theirs)), (vec![1], vec![]));
        assert!(VectorFile::of(&vault, "another").dimension().is_none());
    }

    #[test]
    fn a_file_that_is_no_folder_of_ours_is_an_error_and_never_a_panic() {
        let folder = dormouse_fixtures::temp_vault("=== a.md\na\n=== .dormouse/vectors\nin the way\n");
        let vault = Vault::open(folder.path()).unwrap();
        let mut file = VectorFile::of(&vault, "m");
        assert!(file.append(3, &rows(0, 1)).is_err());
        assert!(keys(&mut file).is_empty());
    }
}
