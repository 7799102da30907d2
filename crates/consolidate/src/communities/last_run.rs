//! What the last run over a large vault left beside the themes themselves:
//! `.dormouse/consolidate/themes`, from which the next run sees what has changed since. It is made
//! and read in vaults of more than 10,000 digests alone; in any other one `meta/communities.json`
//! depends on the vault, on itself, the settings and the seed, and on no cache.
//!
//! The exception: in a large vault a run keeps what did not change, so that after the loss of this
//! file the themes are searched, and all labels made, from scratch, and may come out otherwise than
//! they would have. The file belongs to one `meta/communities.json`: beside another one, such as a
//! sync brings, it says nothing.

use std::collections::HashMap;
use std::fs;
use std::hash::{BuildHasherDefault, Hasher};

use dormouse_vault::meta::Community;
use dormouse_vault::{Csr, NotePath, Vault};

use super::label::LABELS;
use crate::config::CommunitiesConfig;
use crate::inputs::Inputs;
use crate::rng::mix;

const FILE: &str = "consolidate/themes";
/// Stands at the head of the file; another one is another build's.
const HEAD: &[u8] = b"dormouse themes 2\n";

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
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LastRun {
    /// The settings and the seed.
    pub(super) settings: u64,
    /// The themes as they were written, by [`written`].
    pub(super) themes: u64,
    /// The modularity of the last search from scratch.
    pub(super) searched: f64,
    /// Notes whose links changed since then.
    pub(super) moved: u64,
    /// Notes whose community was labelled anew since all were.
    pub(super) relabelled: u64,
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
        let (settings, themes) = (next()?, next()?);
        let (searched, moved, relabelled) = (f64::from_bits(next()?), next()?, next()?);
        let (notes, contents) = (next()?, next()?);
        let notes = (0..notes).map(|_| Some((next()?, next()?))).collect::<Option<Vec<_>>>()?;
        let contents = (0..contents).map(|_| Some((next()? as u32, next()?))).collect::<Option<Vec<_>>>()?;
        Some(Self { settings, themes, searched, moved, relabelled, notes, contents })
    }

    /// Leaves it for the next run.
    pub(crate) fn store(&self, vault: &Vault) {
        let mut numbers = vec![self.settings, self.themes, self.searched.to_bits(), self.moved, self.relabelled];
        numbers.extend([self.notes.len() as u64, self.contents.len() as u64]);
        numbers.extend(self.notes.iter().flat_map(|&(path, links)| [path, links]));
        numbers.extend(self.contents.iter().flat_map(|&(id, content)| [u64::from(id), content]));
        let rest: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
        let bytes = [HEAD, &sum(&rest).to_le_bytes(), &rest].concat();
        if vault.write_cache(FILE, &bytes).is_err() {
            tracing::warn!("what the next run could start from was not kept");
        }
    }

    /// Whether labels may be kept, and the words be those that were counted last, when `now` more of
    /// `all` notes are in communities to be labelled anew. Edits that change no link bring about no
    /// search, so that they are counted here: words of long ago would last for ever.
    pub(super) fn labels_last(&self, now: usize, all: usize) -> bool {
        self.relabelled.saturating_add(now as u64).saturating_mul(2) <= all as u64
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

/// The themes as the next run will find them.
pub(super) fn written(communities: &[Community]) -> u64 {
    communities.iter().fold(mix(communities.len() as u64), |sum, community| {
        let head = mix(sum ^ u64::from(community.id)) ^ hash(&community.label);
        let terms = community.terms.iter().fold(mix(head), |sum, term| mix(sum ^ hash(term)));
        community.members.iter().fold(mix(terms ^ 1), |sum, path| mix(sum ^ path_key(path)))
    })
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
    group.iter().filter_map(|&node| inputs.digests.get(node as usize)).fold(made(terms), |sum, digest| {
        let (first, second) = digest.note.version.as_bytes().split_at(8);
        let half = |bytes: &[u8]| bytes.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        mix(sum ^ hash(digest.path().as_str()) ^ half(first).rotate_left(7) ^ half(second).rotate_left(29))
    })
}

/// How labels are made.
fn made(terms: usize) -> u64 {
    mix(u64::from(LABELS) ^ mix(terms as u64))
}

/// A path as the maps of this module know it.
pub(super) fn path_key(path: &NotePath) -> u64 {
    hash(path.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_terms_make_other_labels_and_leave_the_partition() {
        let config = CommunitiesConfig::default();
        let fewer = CommunitiesConfig { terms: 2, ..config };
        assert_eq!(settings(&config, 7), settings(&fewer, 7));
        assert_ne!(settings(&config, 7), settings(&config, 8));
        assert_ne!(made(5), made(2));
    }

    #[test]
    fn labels_last_until_half_of_the_notes_have_been_labelled_anew_in_all() {
        let last = |relabelled| LastRun { relabelled, ..LastRun::default() };
        assert!(last(0).labels_last(500, 1_000));
        assert!(last(400).labels_last(100, 1_000));
        assert!(!last(401).labels_last(100, 1_000));
        assert!(!last(u64::MAX).labels_last(1, 1_000));
    }

    #[test]
    fn what_is_kept_belongs_to_the_themes_that_were_written() {
        let community = |id, label: &str, members: &[&str]| Community {
            id,
            label: label.to_owned(),
            terms: vec![label.to_owned()],
            hub: NotePath::new("digest/wiki/a.md").unwrap(),
            stability: 1.0,
            members: members.iter().map(|path| NotePath::new(path).unwrap()).collect(),
        };
        let (one, two) = (community(0, "x", &["a.md", "b.md"]), community(1, "y", &["c.md"]));
        let all = [
            vec![],
            vec![one.clone(), two.clone()],
            vec![two.clone(), one.clone()],
            vec![community(0, "z", &["a.md", "b.md"]), two],
            vec![community(0, "x", &["a.md"]), community(1, "y", &["b.md", "c.md"])],
            vec![one, community(2, "y", &["c.md"])],
        ];
        let hashes: std::collections::BTreeSet<u64> = all.iter().map(|themes| written(themes)).collect();
        assert_eq!(hashes.len(), all.len());
    }

    #[test]
    fn it_is_read_back_as_it_was_left_and_not_at_all_when_it_is_cut() {
        let vault = dormouse_fixtures::temp_vault("=== a.md\na\n");
        let open = Vault::open(vault.path()).unwrap();
        let last = LastRun {
            settings: 1,
            themes: 2,
            searched: 0.5,
            moved: 3,
            relabelled: 4,
            notes: vec![(5, 6), (7, 8)],
            contents: vec![(9, 10)],
        };
        last.store(&open);
        assert_eq!(LastRun::load(&open), Some(last));
        let file = open.cache_dir().join(FILE);
        let bytes = fs::read(&file).unwrap();
        open.write_cache(FILE, &bytes[..bytes.len() - 8]).unwrap();
        assert_eq!(LastRun::load(&open), None);
    }
}
