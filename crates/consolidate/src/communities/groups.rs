//! The second level: where there are more communities than a person takes in at a glance, those
//! that links join are gathered into groups.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_vault::meta::{Communities, Community, CommunityGroup};
use dormouse_vault::{Csr, GraphError};

use super::last_run::{ByHash, path_key};
use super::leiden::Leiden;
use crate::config::CommunitiesConfig;
use crate::error::ConsolidateError;
use crate::inputs::Inputs;
use crate::progress::Watch;

/// Communities on one level.
const MOST: usize = 40;
/// Times that the resolution is halved.
const HALVINGS: u32 = 12;
/// Terms of a group.
const TERMS: usize = 5;

/// Groups of the communities of two notes and more, when these are more than forty: the communities
/// are the nodes of a graph and links between their notes its edges, and the resolution is halved
/// until there are at most forty groups or none can be joined any more. What stays alone is in no
/// group.
pub(super) fn group(
    inputs: &Inputs<'_>,
    rows: &Csr,
    communities: &[Community],
    previous: Option<&Communities>,
    config: &CommunitiesConfig,
    seed: u64,
    watch: &Watch<'_>,
) -> Result<Vec<CommunityGroup>, ConsolidateError> {
    let several: Vec<&Community> = communities.iter().filter(|c| c.members.len() > 1).collect();
    if several.len() <= MOST {
        return Ok(Vec::new());
    }
    let between = joined(inputs, rows, &several)?;
    let mut resolution = config.resolution / 2.0;
    let mut parts = Vec::new();
    for _ in 0..HALVINGS {
        let leiden = Leiden { resolution, seed, ..Leiden::default() };
        parts = super::members(&leiden.run_from(&between, &[], &|| (watch.cancel)())?.membership);
        watch.check()?;
        parts.retain(|part| part.len() > 1);
        let alone = several.len() - parts.iter().map(Vec::len).sum::<usize>();
        if parts.len() + alone <= MOST {
            break;
        }
        resolution /= 2.0;
    }
    Ok(named(&several, parts, previous))
}

/// The communities as nodes.
fn joined(inputs: &Inputs<'_>, rows: &Csr, several: &[&Community]) -> Result<Csr, GraphError> {
    let home: ByHash<u32> =
        (0..).zip(several).flat_map(|(at, c)| c.members.iter().map(move |path| (path_key(path), at))).collect();
    let home: Vec<Option<u32>> = inputs.digests.iter().map(|d| home.get(&path_key(d.path())).copied()).collect();
    let of = |node: u32| home.get(node as usize).copied().flatten();
    let mut edges: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for node in 0..rows.nodes() as u32 {
        let Some(from) = of(node) else { continue };
        for (other, weight) in rows.row(node).filter(|&(other, _)| other >= node) {
            if let Some(to) = of(other) {
                *edges.entry((from.min(to), from.max(to))).or_insert(0.0) += weight;
            }
        }
    }
    let edges: Vec<_> = edges.into_iter().map(|((u, v), weight)| (u, v, weight)).collect();
    Csr::undirected(several.len(), &edges)
}

/// Groups with ids that last, as those of communities do, and the terms of their largest members.
fn named(several: &[&Community], parts: Vec<Vec<u32>>, previous: Option<&Communities>) -> Vec<CommunityGroup> {
    let sizes = |part: &[u32]| part.iter().filter_map(|&at| several.get(at as usize)).map(|c| c.members.len()).sum();
    let mut groups: Vec<CommunityGroup> = parts
        .iter()
        .map(|part| {
            let inside = || part.iter().filter_map(|&at| several.get(at as usize));
            let mut terms: Vec<String> = Vec::new();
            // The first term of each, the largest first; then the second of each, and so on.
            for rank in 0..TERMS {
                for term in inside().filter_map(|c| c.terms.get(rank)) {
                    if terms.len() < TERMS && !terms.contains(term) {
                        terms.push(term.clone());
                    }
                }
            }
            let label = terms.iter().take(3).cloned().collect::<Vec<_>>().join(" · ");
            CommunityGroup { id: 0, label, terms, notes: sizes(part), communities: inside().map(|c| c.id).collect() }
        })
        .collect();
    let old = previous.map_or(&[][..], |p| &p.groups);
    let home: BTreeMap<u32, u32> = old.iter().flat_map(|g| g.communities.iter().map(|c| (*c, g.id))).collect();
    let mut overlaps: Vec<(usize, u32, usize)> = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let mut shared: BTreeMap<u32, usize> = BTreeMap::new();
        for before in group.communities.iter().filter_map(|community| home.get(community)) {
            *shared.entry(*before).or_insert(0) += 1;
        }
        overlaps.extend(shared.into_iter().map(|(before, count)| (count, before, at)));
    }
    overlaps.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut given: BTreeMap<usize, u32> = BTreeMap::new();
    let mut taken: BTreeSet<u32> = BTreeSet::new();
    for (_, id, at) in overlaps {
        if !given.contains_key(&at) && taken.insert(id) {
            given.insert(at, id);
        }
    }
    let mut next = old.iter().map(|group| group.id.saturating_add(1)).max().unwrap_or(0);
    for (at, group) in groups.iter_mut().enumerate() {
        group.id = given.get(&at).copied().unwrap_or_else(|| {
            next += 1;
            next - 1
        });
    }
    groups.sort_by(|a, b| b.notes.cmp(&a.notes).then(a.id.cmp(&b.id)));
    groups
}
