//! The signatures of earlier runs: `.dormouse/consolidate/signatures`, by what a note's content was.

use std::collections::HashMap;
use std::fs;

use dormouse_vault::{Vault, Version};

use super::signature::{SKETCH, Signature};
use crate::error::ConsolidateError;
use crate::inputs::Inputs;
use crate::progress::Watch;

const FILE: &str = "consolidate/signatures";
const HEAD: &[u8] = b"dormouse signatures 1\n";
/// The file is written anew when more than one in this many signatures are not in it: a few are made
/// again more cheaply than all are written.
const ANEW: usize = 200;

/// One signature a digest note, in order; those of notes whose content was seen before are kept ones.
/// Linear in the texts of the others, and in the number of notes with a small constant. A note that can't be read as
/// the snapshot has it says nothing in this run.
pub(crate) fn signatures(
    vault: &Vault,
    inputs: &Inputs<'_>,
    watch: &Watch<'_>,
) -> Result<Vec<Signature>, ConsolidateError> {
    let bytes = fs::read(vault.cache_dir().join(FILE)).unwrap_or_default();
    let kept = index(&bytes).unwrap_or_default();
    let mut out = Vec::with_capacity(inputs.digests.len());
    let mut made = 0;
    for (at, digest) in inputs.digests.iter().enumerate() {
        if at % 64 == 0 {
            watch.step(at)?;
        }
        let known = kept.get(&digest.note.version).and_then(|entry| read(entry)).map(|(signature, _)| signature);
        out.push(known.unwrap_or_else(|| {
            made += 1;
            digest.signature()
        }));
    }
    let dead = kept.len().saturating_sub(out.len() - made);
    drop(kept);
    if (made + dead) * ANEW > out.len() {
        store(vault, inputs, &out);
    }
    Ok(out)
}

/// Where each entry begins. `None` for a file that is cut or of another build.
fn index(bytes: &[u8]) -> Option<HashMap<Version, &[u8]>> {
    let (body, sum) = bytes.split_last_chunk::<16>()?;
    if Version::of(body).as_bytes() != sum {
        return None;
    }
    let mut rest = body.strip_prefix(HEAD)?;
    let mut out = HashMap::new();
    while let Some((version, entry)) = rest.split_first_chunk::<16>() {
        let (_, length) = read(entry)?;
        out.insert(Version::from_bytes(*version), entry.get(..length)?);
        rest = entry.get(length..)?;
    }
    Some(out)
}

/// An entry, and how long it is.
fn read(entry: &[u8]) -> Option<(Signature, usize)> {
    let (text, rest) = entry.split_first_chunk::<8>()?;
    let (tokens, rest) = rest.split_first_chunk::<4>()?;
    let (&length, rest) = rest.split_first()?;
    let length = usize::from(length);
    let sketch = rest.get(..4 * length)?.chunks_exact(4).filter_map(|hash| hash.first_chunk::<4>());
    let signature = Signature {
        text: u64::from_le_bytes(*text),
        tokens: u32::from_le_bytes(*tokens),
        sketch: sketch.map(|hash| u32::from_le_bytes(*hash)).collect(),
    };
    Some((signature, 13 + 4 * length))
}

fn store(vault: &Vault, inputs: &Inputs<'_>, signatures: &[Signature]) {
    let mut bytes = HEAD.to_vec();
    // What could not be read is tried again.
    for (digest, signature) in inputs.digests.iter().zip(signatures).filter(|(_, s)| **s != Signature::default()) {
        bytes.extend(digest.note.version.as_bytes());
        bytes.extend(signature.text.to_le_bytes());
        bytes.extend(signature.tokens.to_le_bytes());
        bytes.push(signature.sketch.len().min(SKETCH) as u8);
        signature.sketch.iter().take(SKETCH).for_each(|hash| bytes.extend(hash.to_le_bytes()));
    }
    let sum = Version::of(&bytes);
    bytes.extend(sum.as_bytes());
    if vault.write_cache(FILE, &bytes).is_err() {
        tracing::warn!("signatures were not kept");
    }
}
