//! What the last run left beside the themes themselves: `.dormouse/consolidate/themes`, from which
//! the next run sees what has changed since. Losing it costs a run from scratch; in a vault of more
//! than 10,000 digests, where a run keeps the labels of communities that did not change, labels may
//! differ after that, since they are then made by the words of today.

use std::collections::HashMap;
use std::fs;
use std::hash::{BuildHasherDefault, Hasher};

use dormouse_vault::{Csr, NotePath, Vault};
use serde::{Deserialize, Serialize};

use super::label::LABELS;
use crate::config::CommunitiesConfig;
use crate::inputs::Inputs;
use crate::rng::mix;

const FILE: &str = "consolidate/themes";
/// Stands at the head of the file; another one is another build's.
const HEAD: &[u8] = b"dormouse themes 1\n";

/// For keys that are hashes already.
#[derive(Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| mix(hash ^ u64::from(*byte)));
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// A map whose keys are hashes.
pub(super) type ByHash<T> = HashMap<u64, T, BuildHasherDefault<Hashed>>;

/// The last run, in numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LastRun {
    /// The settings and the seed.
    pub(super) settings: u64,
    /// The modularity of the last search from scratch.
    pub(super) searched: f64,
    /// Notes whose links changed since then.
    pub(super) moved: u64,
    /// Path and links of each note, as hashes.
    pub(super) notes: Vec<(u64, u64)>,
    /// Id, and what is in it (paths and contents), of each community.
    pub(super) contents: Vec<(u32, u64)>,
}

impl LastRun {
    /// What the last run left; `None` when that is missing, cut, or of another build.
    pub(super) fn load(vault: &Vault) -> Option<Self> {
        let bytes = fs::read(vault.cache_dir().join(FILE)).ok()?;
        let (check, rest) = bytes.strip_prefix(HEAD)?.split_first_chunk::<8>()?;
        if sum(rest) != u64::from_le_bytes(*check) {
            return None;
        }
        let mut numbers = rest.chunks_exact(8).filter_map(|c| c.first_chunk::<8>()).map(|c| u64::from_le_bytes(*c));
        let mut next = || numbers.next();
        let (settings, searched, moved) = (next()?, f64::from_bits(next()?), next()?);
        let (notes, contents) = (next()?, next()?);
        let notes = (0..notes).map(|_| Some((next()?, next()?))).collect::<Option<Vec<_>>>()?;
        let contents = (0..contents).map(|_| Some((next()? as u32, next()?))).collect::<Option<Vec<_>>>()?;
        Some(Self { settings, searched, moved, notes, contents })
    }

    /// Leaves it for the next run.
    pub(crate) fn store(&self, vault: &Vault) {
        let mut numbers = vec![self.settings, self.searched.to_bits(), self.moved];
        numbers.extend([self.notes.len() as u64, self.contents.len() as u64]);
        numbers.extend(self.notes.iter().flat_map(|&(path, links)| [path, links]));
        numbers.extend(self.contents.iter().flat_map(|&(id, content)| [u64::from(id), content]));
        let rest: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
        let bytes = [HEAD, &sum(&rest).to_le_bytes(), &rest].concat();
        if vault.write_cache(FILE, &bytes).is_err() {
            tracing::warn!("what the next run could start from was not kept");
        }
    }

    /// The notes whose links are not what they were: a link that came, went or changed its weight
    /// shows at both of its ends.
    pub(super) fn changed(&self, now: &[(u64, u64)]) -> Vec<u32> {
        let before: ByHash<u64> = self.notes.iter().copied().collect();
        let differs = |(path, links): &(u64, u64)| before.get(path) != Some(links);
        (0..).zip(now).filter(|(_, note)| differs(note)).map(|(node, _)| node).collect()
    }

    /// How many notes are gone.
    pub(super) fn gone(&self, now: &[(u64, u64)]) -> usize {
        let here: ByHash<()> = now.iter().map(|&(path, _)| (path, ())).collect();
        self.notes.iter().filter(|(path, _)| !here.contains_key(path)).count()
    }
}

fn sum(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(bytes.len() as u64, |hash, chunk| {
        let mut word = [0; 8];
        word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
        mix(hash ^ u64::from_le_bytes(word))
    })
}

/// The hash of a text, the same on every machine.
pub(super) fn hash(text: &str) -> u64 {
    sum(text.as_bytes())
}

/// The settings that a partition depends on.
pub(super) fn settings(config: &CommunitiesConfig, seed: u64) -> u64 {
    let parts = [
        seed,
        config.resolution.to_bits(),
        config.source_coupling.to_bits(),
        config.hub_cap as u64,
        u64::from(config.starts),
    ];
    parts.into_iter().fold(1, |hash, part| mix(hash ^ part))
}

/// The path and the links of each digest, as hashes.
pub(super) fn notes(inputs: &Inputs<'_>, rows: &Csr) -> Vec<(u64, u64)> {
    let paths: Vec<u64> = inputs.digests.iter().map(|digest| hash(digest.path().as_str())).collect();
    let links = |node: u32| {
        rows.row(node).fold(0_u64, |sum, (other, weight)| {
            let path = paths.get(other as usize).copied().unwrap_or(0);
            // A sum, so that the order of the row does not matter.
            sum.wrapping_add(mix(path ^ weight.to_bits().rotate_left(17)))
        })
    };
    (0_u32..).zip(&paths).map(|(node, &path)| (path, links(node))).collect()
}

/// What the label of a group depends on: how labels are made, how many terms they have, and the paths
/// and the contents of its notes.
pub(super) fn content(inputs: &Inputs<'_>, group: &[u32], terms: usize) -> u64 {
    let made = mix(u64::from(LABELS) ^ mix(terms as u64));
    group.iter().filter_map(|&node| inputs.digests.get(node as usize)).fold(made, |sum, digest| {
        let (first, second) = digest.note.version.as_bytes().split_at(8);
        let half = |bytes: &[u8]| bytes.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        mix(sum ^ hash(digest.path().as_str()) ^ half(first).rotate_left(7) ^ half(second).rotate_left(29))
    })
}

/// A path as the maps of this module know it.
pub(super) fn path_key(path: &NotePath) -> u64 {
    hash(path.as_str())
}
