//! Ids that last: a community keeps the id of the one that it shares the most members with.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_vault::NotePath;

use super::last_run::{ByHash, path_key};
use crate::inputs::Inputs;

/// The id of a community and how much of it is as it was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Identity {
    pub(super) id: u32,
    /// Jaccard overlap with the same id of the last run; 1 on the first run, which has nothing to
    /// differ from; 0 for a new id.
    pub(super) stability: f64,
}

/// The communities of the last run: an id and members each.
pub(super) struct Before {
    ids: Vec<u32>,
    sizes: Vec<usize>,
    /// Where each member was.
    home: ByHash<u32>,
}

impl Before {
    /// Takes down who was where. O(n).
    pub(super) fn of<'a>(communities: impl Iterator<Item = (u32, &'a [NotePath])>) -> Self {
        let mut out = Self { ids: Vec::new(), sizes: Vec::new(), home: ByHash::default() };
        for (at, (id, members)) in (0..).zip(communities) {
            out.ids.push(id);
            out.sizes.push(members.len());
            out.home.extend(members.iter().map(|path| (path_key(path), at)));
        }
        out
    }

    /// The last run's partition of the notes of now; new notes are alone.
    pub(super) fn carried_over(&self, inputs: &Inputs<'_>) -> Vec<u32> {
        let mut next = self.ids.len() as u32;
        let home = |digest: &crate::inputs::Digest| {
            self.home.get(&path_key(digest.path())).copied().unwrap_or_else(|| {
                next += 1;
                next - 1
            })
        };
        inputs.digests.iter().map(home).collect()
    }

    /// Gives each group the id of the last run's community with the largest overlap, each id once,
    /// the largest overlaps first (ties by Jaccard, then id, then first member). New ones count on
    /// from `next`, the first id that none has had yet; also returns the one after those given. When
    /// all four billion have been given, which no vault does but a damaged file may say, they begin
    /// again with the first that is free. O(n log n).
    pub(super) fn assign(&self, inputs: &Inputs<'_>, groups: &[Vec<u32>], next: u32) -> (Vec<Identity>, u32) {
        let mut next = self.ids.iter().max().map_or(0, |m| m.wrapping_add(1)).max(next);
        if self.ids.is_empty() && next == 0 {
            let ids = (0..groups.len()).map(|i| Identity { id: i as u32, stability: 1.0 }).collect();
            return (ids, groups.len() as u32);
        }
        let mut overlaps: Vec<(usize, f64, u32, usize)> = Vec::new();
        for (g, group) in groups.iter().enumerate() {
            let mut shared: BTreeMap<u32, usize> = BTreeMap::new();
            for digest in group.iter().filter_map(|&node| inputs.digests.get(node as usize)) {
                if let Some(&at) = self.home.get(&path_key(digest.path())) {
                    *shared.entry(at).or_insert(0) += 1;
                }
            }
            for (at, count) in shared {
                let before = self.sizes.get(at as usize).copied().unwrap_or(0);
                let id = self.ids.get(at as usize).copied().unwrap_or(0);
                let jaccard = count as f64 / (before + group.len() - count).max(1) as f64;
                overlaps.push((count, jaccard, id, g));
            }
        }
        overlaps.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)).then(a.3.cmp(&b.3)));
        let mut given: Vec<Option<Identity>> = vec![None; groups.len()];
        let mut taken: BTreeSet<u32> = BTreeSet::new();
        for (_, jaccard, id, group) in overlaps {
            if let Some(slot) = given.get_mut(group).filter(|slot| slot.is_none())
                && taken.insert(id)
            {
                *slot = Some(Identity { id, stability: jaccard });
            }
        }
        taken.extend(&self.ids);
        let mut fresh = || {
            loop {
                let id = next;
                next = next.wrapping_add(1);
                if taken.insert(id) {
                    return Identity { id, stability: 0.0 };
                }
            }
        };
        let ids = given.into_iter().map(|identity| identity.unwrap_or_else(&mut fresh)).collect();
        (ids, next)
    }
}
