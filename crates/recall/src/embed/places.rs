//! Which texts each note has, on disk: `.dormouse/vectors/<hash of the model's id>.notes`. With it an
//! unchanged vault is opened without reading a note. Written whole and read whole: a file that is
//! cut, changed or not ours is none.

use std::collections::HashMap;

use dormouse_vault::{CommitError, Vault, Version};

use super::texts::TextKey;
use super::vectors::Vectors;
use crate::index::NoteKey;

/// The first bytes; another layout has others.
const MAGIC: &[u8; 16] = b"dormouse-places1";

/// The texts of a note by block.
pub(crate) type Texts = Vec<(u32, TextKey)>;

/// The file's name below `.dormouse/`.
pub(crate) fn name_of(id: &str) -> String {
    format!("{}.notes", super::file::name_of(id))
}

/// Writes down the texts of all notes.
///
/// # Errors
/// As [`Vault::write_cache`].
pub(crate) fn keep(vault: &Vault, name: &str, vectors: &Vectors) -> Result<(), CommitError> {
    let texts = vectors.texts_by_row();
    let mut notes: Vec<_> = vectors.notes.iter().collect();
    notes.sort_unstable_by_key(|(key, _)| **key);
    let mut out = MAGIC.to_vec();
    for (key, note) in notes {
        out.extend_from_slice(&key.0.to_le_bytes());
        out.extend_from_slice(note.version.as_bytes());
        out.extend_from_slice(&u32::try_from(note.blocks.len()).unwrap_or(0).to_le_bytes());
        for (block, row) in &note.blocks {
            let text = usize::try_from(*row).ok().and_then(|row| texts.get(row)).copied().unwrap_or(TextKey(0));
            out.extend_from_slice(&block.to_le_bytes());
            out.extend_from_slice(&text.0.to_le_bytes());
        }
    }
    let hash = blake3::hash(&out);
    out.extend_from_slice(hash.as_bytes());
    vault.write_cache(name, &out)
}

/// The texts of all notes as they were written down, with the versions that they are of.
pub(crate) fn read(vault: &Vault, name: &str) -> HashMap<NoteKey, (Version, Texts)> {
    let bytes = std::fs::read(vault.cache_dir().join(name)).unwrap_or_default();
    parsed(&bytes).unwrap_or_default()
}

fn parsed(bytes: &[u8]) -> Option<HashMap<NoteKey, (Version, Texts)>> {
    let (body, hash) = bytes.split_last_chunk::<32>()?;
    if blake3::hash(body).as_bytes() != hash {
        return None;
    }
    let mut rest = body.strip_prefix(MAGIC.as_slice())?;
    let mut out = HashMap::new();
    while !rest.is_empty() {
        let key = NoteKey(u64::from_le_bytes(take(&mut rest)?));
        let version = Version::from_bytes(take(&mut rest)?);
        let count = u32::from_le_bytes(take(&mut rest)?);
        let texts = (0..count).map(|_| {
            let block = u32::from_le_bytes(take(&mut rest)?);
            Some((block, TextKey(u64::from_le_bytes(take(&mut rest)?))))
        });
        let texts = texts.collect::<Option<Texts>>()?;
        out.insert(key, (version, texts));
    }
    Some(out)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, more) = rest.split_first_chunk::<N>()?;
    *rest = more;
    Some(*first)
}
