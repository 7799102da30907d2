//! The cached snapshot: what an open read, so that the next one need not.
//!
//! `.dormouse/snapshot` is a list of chunks. The first says how many files a whole snapshot has, the
//! next ones hold them, and every later one the files that changed since; each carries its length and
//! a checksum, so that a torn end is passed
//! over and a damaged file is made anew. Nothing in it is trusted further than the stamp of a file
//! goes: an open still looks at every file, and reads those that are not proven to be as they were.
//! What is written, and how it is read, is private to one version of this crate: a file of another
//! is ignored, and replaced.

mod load;
mod record;
mod save;

use std::path::{Path, PathBuf};

use crate::layout::Layout;
use crate::packed::READING;

pub(crate) use load::{Warm, load};
pub(crate) use save::Saver;

/// The form of the file; raised with every change of [`record`].
const FORM: u32 = 1;
/// What every cached snapshot begins with.
const MAGIC: &[u8; 16] = b"dormouse snap \r\n";
/// The checksum of a chunk.
const SUM: usize = 16;
/// The length and the checksum before a chunk's content.
const HEAD: usize = 8 + SUM;

fn file(cache: &Path) -> PathBuf {
    cache.join("snapshot")
}

/// What the content depends on beside the files: form, reading and layout.
fn key(layout: &Layout) -> [u8; SUM] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&FORM.to_le_bytes()).update(&READING.to_le_bytes());
    hasher.update(format!("{layout:?}").as_bytes());
    short(&hasher.finalize())
}

fn sum(content: &[u8]) -> [u8; SUM] {
    short(&blake3::hash(content))
}

fn short(hash: &blake3::Hash) -> [u8; SUM] {
    let mut out = [0; SUM];
    for (to, from) in out.iter_mut().zip(hash.as_bytes()) {
        *to = *from;
    }
    out
}
