//! Ids that last: a community keeps the id of the one that it shares the most members with.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_vault::NotePath;
use dormouse_vault::meta::Communities;

use crate::inputs::Inputs;

/// The id of a community and how much of it is as it was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Identity {
    pub(super) id: u32,
    /// Jaccard overlap with the same id of the last run; 1 on the first run, 0 for a new id.
    pub(super) stability: f64,
}

/// Gives each group the id of the last run's community with the largest overlap, each id once, the
/// largest overlaps first (ties by Jaccard, then id, then first member). New ones count on from the
/// largest id ever listed. O(n log n).
pub(super) fn assign(inputs: &Inputs, groups: &[Vec<usize>], previous: Option<&Communities>) -> Vec<Identity> {
    let Some(previous) = previous.filter(|p| !p.communities.is_empty()) else {
        return (0..groups.len()).map(|i| Identity { id: i as u32, stability: 1.0 }).collect();
    };
    let old: BTreeMap<&NotePath, (usize, u32)> = previous
        .communities
        .iter()
        .enumerate()
        .flat_map(|(at, c)| c.members.iter().map(move |m| (m, (at, c.id))))
        .collect();
    let mut overlaps: Vec<(usize, f64, u32, usize)> = Vec::new();
    for (g, group) in groups.iter().enumerate() {
        let mut shared: BTreeMap<usize, (usize, u32)> = BTreeMap::new();
        for path in group.iter().filter_map(|&n| inputs.digests.get(n)).map(|d| d.path()) {
            if let Some(&(at, id)) = old.get(path) {
                shared.entry(at).or_insert((0, id)).0 += 1;
            }
        }
        for (at, (count, id)) in shared {
            let before = previous.communities.get(at).map_or(0, |c| c.members.len());
            let jaccard = count as f64 / (before + group.len() - count).max(1) as f64;
            overlaps.push((count, jaccard, id, g));
        }
    }
    overlaps.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)).then(a.3.cmp(&b.3)));
    let mut given: BTreeMap<usize, Identity> = BTreeMap::new();
    let mut taken: BTreeSet<u32> = BTreeSet::new();
    for (_, jaccard, id, group) in overlaps {
        if !given.contains_key(&group) && taken.insert(id) {
            given.insert(group, Identity { id, stability: jaccard });
        }
    }
    let mut next = previous.communities.iter().map(|c| c.id).max().map_or(0, |m| m.saturating_add(1));
    (0..groups.len())
        .map(|g| {
            given.get(&g).copied().unwrap_or_else(|| {
                let id = next;
                next = next.saturating_add(1);
                Identity { id, stability: 0.0 }
            })
        })
        .collect()
}

/// The last run's partition of the notes of now; new notes are alone.
pub(super) fn carried_over(inputs: &Inputs, previous: &Communities) -> Vec<u32> {
    let old: BTreeMap<&NotePath, u32> = previous
        .communities
        .iter()
        .enumerate()
        .flat_map(|(at, c)| c.members.iter().map(move |m| (m, at as u32)))
        .collect();
    let mut next = previous.communities.len() as u32;
    let alone = |next: &mut u32| {
        *next += 1;
        *next - 1
    };
    inputs.digests.iter().map(|d| old.get(d.path()).copied().unwrap_or_else(|| alone(&mut next))).collect()
}
