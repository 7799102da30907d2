//! Which source blocks a digest block cites.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_vault::{Layer, Note, Snapshot};

use super::reply::Citation;
use crate::index::NoteKey;

/// The citations of all digest notes of a snapshot.
#[derive(Debug, Default)]
pub(crate) struct Citations {
    /// Per digest block: the cited source blocks, as note and block number.
    blocks: BTreeMap<(NoteKey, u32), Vec<(NoteKey, u32)>>,
}

impl Citations {
    /// Reads them. Linear in the links of the digest layer.
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let mut blocks: BTreeMap<(NoteKey, u32), Vec<(NoteKey, u32)>> = BTreeMap::new();
        for note in snapshot.notes().filter(|n| n.layer == Layer::Digest && n.is_live()) {
            let key = NoteKey::of(&note.path);
            for (number, cites) in by_block(note, snapshot) {
                let targets = cites.iter().filter_map(|cite| {
                    let target = snapshot.note(&cite.note)?;
                    let id = cite.block.as_deref()?;
                    let block = target
                        .doc()
                        .blocks
                        .iter()
                        .position(|b| b.id.as_deref().is_some_and(|have| have.eq_ignore_ascii_case(id)))?;
                    Some((NoteKey::of(&cite.note), u32::try_from(block).ok()?))
                });
                blocks.entry((key, number)).or_default().extend(targets);
            }
        }
        Self { blocks }
    }

    /// The source blocks that a digest block cites.
    pub(crate) fn of_block(&self, note: NoteKey, block: u32) -> &[(NoteKey, u32)] {
        self.blocks.get(&(note, block)).map_or(&[], Vec::as_slice)
    }
}

/// What each block of a note cites: its links with a block anchor, and its `derived_from::` links.
/// A block that holds nothing but provenance cites for the block before it.
pub(crate) fn by_block(note: &Note, snapshot: &Snapshot) -> BTreeMap<u32, BTreeSet<Citation>> {
    let mut out: BTreeMap<u32, BTreeSet<Citation>> = BTreeMap::new();
    for (link, resolution) in snapshot.links_of(note) {
        let anchor = link.subpath.strip_prefix("#^");
        let provenance = link.predicate.as_deref().is_some_and(|p| p.eq_ignore_ascii_case("derived_from"));
        let Some(path) = resolution.path() else {
            continue;
        };
        if (anchor.is_none() && !provenance) || *path == note.path {
            continue;
        }
        let holder = note.doc().blocks.partition_point(|b| b.span.start <= link.span.start).checked_sub(1);
        let Some(holder) = holder.filter(|h| note.doc().blocks.get(*h).is_some_and(|b| link.span.start < b.span.end))
        else {
            continue;
        };
        let cite = Citation { note: path.clone(), block: anchor.map(str::to_owned) };
        let before = holder.checked_sub(1).filter(|_| only_provenance(note, holder));
        for block in [Some(holder), before].into_iter().flatten() {
            if let Ok(block) = u32::try_from(block) {
                out.entry(block).or_default().insert(cite.clone());
            }
        }
    }
    out
}

/// Whether a block starts with a provenance field, so that it says nothing of its own.
fn only_provenance(note: &Note, block: usize) -> bool {
    let Some(block) = note.doc().blocks.get(block) else {
        return false;
    };
    let first = note.doc().fields.iter().find(|field| block.span.contains(&field.span.start));
    first.is_some_and(|field| {
        field.key.eq_ignore_ascii_case("derived_from") && field.span.start.saturating_sub(block.span.start) <= 4
    })
}
