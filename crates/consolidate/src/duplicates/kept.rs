//! What earlier runs found: `.dormouse/consolidate/signatures`, by path and content, and
//! `.dormouse/consolidate/met`, the candidate pairs among these. A run after a few changes makes few
//! signatures, meets what they touch, and writes neither file.

use std::collections::HashMap;
use std::fs;

use dormouse_vault::{Vault, Version};

use super::again::{Met, Since, meet_again};
use super::candidates::by_text;
use super::signature::{SKETCH, Signature};
use crate::error::ConsolidateError;
use crate::inputs::Inputs;
use crate::progress::Watch;

const SIGNATURES: &str = "consolidate/signatures";
const MET: &str = "consolidate/met";
const HEAD: &[u8] = b"dormouse signatures 2\n";
const MET_HEAD: &[u8] = b"dormouse met 1\n";
/// All pairs are met anew, and both files written, when more than one in this many notes have come,
/// gone or changed since the last time.
const ANEW: usize = 200;

/// The signatures of the digest notes, in order, and which of them are worth comparing.
#[derive(Debug, Default)]
pub(crate) struct Signed {
    pub(crate) signatures: Vec<Signature>,
    pub(super) met: Met,
}

/// The signatures of now. Linear in the texts that were not seen before, and in the number of notes
/// with a small constant; n log n in all features when much has changed. A note that can't be read
/// as the snapshot has it says nothing in this run.
pub(crate) fn sign(vault: &Vault, inputs: &Inputs<'_>, watch: &Watch<'_>) -> Result<Signed, ConsolidateError> {
    let bytes = fs::read(vault.cache_dir().join(SIGNATURES)).unwrap_or_default();
    let kept = Kept::read(&bytes).unwrap_or_default();
    watch.check()?;
    let mut signatures = Vec::with_capacity(inputs.digests.len());
    // What can't be read now is looked for again.
    let mut versions = Vec::with_capacity(inputs.digests.len());
    for (at, digest) in inputs.digests.iter().enumerate() {
        if at % 64 == 0 {
            watch.step(at)?;
        }
        let version = digest.note.version;
        let known = kept.by_version.get(&version).and_then(|at| kept.entries.get(*at)).and_then(Entry::signature);
        let signature = known.or_else(|| digest.signature());
        versions.push(signature.as_ref().map_or_else(|| Version::of(b""), |_| version));
        signatures.push(signature.unwrap_or_default());
    }
    let since = kept.since(inputs, &versions);
    let few = since.notes() * ANEW <= signatures.len();
    let then = if few { fs::read(vault.cache_dir().join(MET)).ok().and_then(|bytes| kept.met(&bytes)) } else { None };
    if let Some(then) = then {
        let met = meet_again(&signatures, &then, &since, watch)?;
        return Ok(Signed { signatures, met });
    }
    drop(kept);
    let (pairs, common) = by_text(&signatures, watch)?;
    let signed = Signed { signatures, met: Met { pairs, common } };
    signed.store(vault, inputs, &versions);
    Ok(signed)
}

/// A signature as it lies in the file.
#[derive(Debug, Clone, Copy)]
struct Entry<'a> {
    path: &'a [u8],
    version: Version,
    signature: &'a [u8],
}

impl<'a> Entry<'a> {
    /// The first entry, and what follows.
    fn cut(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (length, rest) = bytes.split_first_chunk::<2>()?;
        let (path, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
        let (version, rest) = rest.split_first_chunk::<16>()?;
        let length = 13 + 4 * usize::from(*rest.get(12)?);
        let (signature, rest) = rest.split_at_checked(length)?;
        Some((Self { path, version: Version::from_bytes(*version), signature }, rest))
    }

    fn signature(&self) -> Option<Signature> {
        let (text, rest) = self.signature.split_first_chunk::<8>()?;
        let (tokens, rest) = rest.split_first_chunk::<4>()?;
        let sketch = rest.get(1..)?.chunks_exact(4).filter_map(|hash| hash.first_chunk::<4>());
        Some(Signature {
            text: u64::from_le_bytes(*text),
            tokens: u32::from_le_bytes(*tokens),
            sketch: sketch.map(|hash| u32::from_le_bytes(*hash)).collect(),
        })
    }
}

/// The file of signatures, in order of path.
#[derive(Default)]
struct Kept<'a> {
    entries: Vec<Entry<'a>>,
    by_version: HashMap<Version, usize>,
    sum: [u8; 16],
}

impl<'a> Kept<'a> {
    /// `None` for a file that is missing, cut or of another build.
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = checked(bytes)?.strip_prefix(HEAD)?;
        let mut out = Self { sum: *bytes.last_chunk::<16>()?, ..Self::default() };
        while !rest.is_empty() {
            let (entry, more) = Entry::cut(rest)?;
            out.by_version.insert(entry.version, out.entries.len());
            out.entries.push(entry);
            rest = more;
        }
        Some(out)
    }

    /// What has happened since it was written; `versions` are those of the digest notes.
    fn since(&self, inputs: &Inputs<'_>, versions: &[Version]) -> Since {
        let mut out = Since::default();
        let mut at = 0;
        let path = |at: usize| inputs.digests.get(at).map(|digest| digest.path().as_str().as_bytes());
        for entry in &self.entries {
            while path(at).is_some_and(|path| path < entry.path) {
                out.changed.push(at as u32);
                at += 1;
            }
            let same = path(at) == Some(entry.path);
            if same && versions.get(at) == Some(&entry.version) {
                out.now.push(Some(at as u32));
            } else {
                out.now.push(None);
                out.gone.push((at as u32, entry.signature().unwrap_or_default()));
                if same {
                    out.edited += 1;
                    out.changed.push(at as u32);
                }
            }
            at += usize::from(same);
        }
        out.changed.extend(at as u32..inputs.digests.len() as u32);
        out
    }

    /// The pairs among these signatures; `None` when the file is missing, cut or of others.
    fn met(&self, bytes: &[u8]) -> Option<Met> {
        let (sum, rest) = checked(bytes)?.strip_prefix(MET_HEAD)?.split_first_chunk::<16>()?;
        let (count, rest) = rest.split_first_chunk::<8>()?;
        let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
        let (pairs, common) = rest.split_at_checked(count.checked_mul(8)?)?;
        let number = |bytes: &[u8]| bytes.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes));
        let pair = |bytes: &[u8]| Some((number(bytes)?, number(bytes.get(4..)?)?));
        let bits = |bytes: &[u8]| bytes.first_chunk::<16>().map(|bytes| u128::from_le_bytes(*bytes));
        let met = Met {
            pairs: pairs.chunks_exact(8).map(pair).collect::<Option<_>>()?,
            common: common.chunks_exact(16).map(bits).collect::<Option<_>>()?,
        };
        (*sum == self.sum && met.common.len() == self.entries.len()).then_some(met)
    }
}

impl Signed {
    fn store(&self, vault: &Vault, inputs: &Inputs<'_>, versions: &[Version]) {
        let mut bytes = HEAD.to_vec();
        for ((digest, version), signature) in inputs.digests.iter().zip(versions).zip(&self.signatures) {
            let path = digest.path().as_str().as_bytes();
            let Ok(length) = u16::try_from(path.len()) else {
                // No file system has such a path.
                return;
            };
            bytes.extend(length.to_le_bytes());
            bytes.extend(path);
            bytes.extend(version.as_bytes());
            bytes.extend(signature.text.to_le_bytes());
            bytes.extend(signature.tokens.to_le_bytes());
            bytes.push(signature.sketch.len().min(SKETCH) as u8);
            signature.sketch.iter().take(SKETCH).for_each(|hash| bytes.extend(hash.to_le_bytes()));
        }
        let sum = seal(&mut bytes);
        let mut met = MET_HEAD.to_vec();
        met.extend(sum);
        met.extend((self.met.pairs.len() as u64).to_le_bytes());
        self.met.pairs.iter().for_each(|(a, b)| met.extend([a.to_le_bytes(), b.to_le_bytes()].as_flattened()));
        self.met.common.iter().for_each(|bits| met.extend(bits.to_le_bytes()));
        seal(&mut met);
        if vault.write_cache(SIGNATURES, &bytes).and_then(|()| vault.write_cache(MET, &met)).is_err() {
            tracing::warn!("signatures were not kept");
        }
    }
}

/// Puts a checksum behind.
fn seal(bytes: &mut Vec<u8>) -> [u8; 16] {
    let sum = *Version::of(bytes).as_bytes();
    bytes.extend(sum);
    sum
}

/// What stands before the checksum, when that is right.
fn checked(bytes: &[u8]) -> Option<&[u8]> {
    let (body, sum) = bytes.split_last_chunk::<16>()?;
    (Version::of(body).as_bytes() == sum).then_some(body)
}
