//! Which source blocks a digest block cites.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_vault::{Note, NotePath, Snapshot};

use super::reply::Citation;
use crate::index::NoteKey;

/// A block, as note and number.
pub(crate) type Place = (NoteKey, u32);

/// The cited source blocks of each block of a note.
pub(crate) type Cited = BTreeMap<u32, Vec<Place>>;

/// The citations of the notes of a snapshot, read when they are asked for and kept.
#[derive(Debug, Default)]
pub(crate) struct Citations {
    known: Mutex<HashMap<NotePath, Arc<Cited>>>,
}

impl Citations {
    /// What the blocks of a digest cite. Linear in its links at first, then O(1).
    pub(crate) fn of(&self, note: &Note, snapshot: &Snapshot) -> Arc<Cited> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cited) = known().get(&note.path) {
            return Arc::clone(cited);
        }
        let mut cited = Cited::new();
        for (number, cites) in by_block(note, snapshot) {
            let targets = cites.iter().filter_map(|cite| {
                let target = snapshot.note(&cite.note)?;
                let id = cite.block.as_deref()?;
                let is = |have: &str| have.eq_ignore_ascii_case(id);
                let block = target.document().blocks.iter().position(|b| b.id.as_deref().is_some_and(is))?;
                Some((NoteKey::of(&cite.note), u32::try_from(block).ok()?))
            });
            cited.entry(number).or_default().extend(targets);
        }
        let cited = Arc::new(cited);
        known().insert(note.path.clone(), Arc::clone(&cited));
        cited
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
