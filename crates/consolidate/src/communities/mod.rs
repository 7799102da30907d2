//! Communities: the themes of the digest notes, from the links that their writers made.

mod digest_graph;
mod identity;
mod label;
mod leiden;
mod modularity;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use dormouse_vault::meta::{Artefact, Communities, Community};
use dormouse_vault::{Csr, GraphError};

pub use leiden::{Leiden, Partition};
pub use modularity::modularity;

use crate::config::CommunitiesConfig;
use crate::error::ConsolidateError;
use crate::inputs::Inputs;
use crate::progress::Watch;

/// How much modularity the last run's themes may lack and still be kept: themes that move at every
/// run are of no use to a reader.
const KEEP_WITHIN: f64 = 0.005;

/// The themes of `inputs`. `previous` gives the ids and, where it is still about as good, the
/// partition.
pub(crate) fn compute(
    inputs: &Inputs,
    previous: Option<&Communities>,
    config: &CommunitiesConfig,
    seed: u64,
    now: DateTime<Utc>,
    watch: &Watch<'_>,
) -> Result<Communities, ConsolidateError> {
    watch.begin(config.starts as usize + 2);
    let graph = digest_graph::build(inputs, config)?;
    watch.step(1)?;
    let partition = best_partition(inputs, &graph, previous, config, seed, watch)?;
    let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (node, &community) in partition.membership.iter().enumerate() {
        members.entry(community).or_default().push(node);
    }
    let groups: Vec<Vec<usize>> = members.into_values().filter(|m| config.list_singletons || m.len() > 1).collect();
    let ids = identity::assign(inputs, &groups, previous);
    let labels = label::label(inputs, &groups, config.terms, watch)?;
    let mut communities: Vec<Community> = groups
        .iter()
        .zip(ids)
        .zip(labels)
        .filter_map(|((group, id), label)| {
            let members = group.iter().filter_map(|&n| inputs.digests.get(n));
            Some(Community {
                id: id.id,
                label: label.label,
                terms: label.terms,
                hub: digest_graph::hub(inputs, &graph, group)?,
                stability: round(id.stability),
                members: members.map(|d| d.path().clone()).collect(),
            })
        })
        .collect();
    communities.sort_by(|a, b| b.members.len().cmp(&a.members.len()).then(a.id.cmp(&b.id)));
    watch.step(config.starts as usize + 2)?;
    Ok(Communities {
        version: Communities::VERSION,
        computed_at: now,
        seed,
        resolution: config.resolution,
        modularity: round(partition.modularity),
        communities,
    })
}

/// The best of several fresh starts, or the last run's themes where they hold up.
fn best_partition(
    inputs: &Inputs,
    graph: &Csr,
    previous: Option<&Communities>,
    config: &CommunitiesConfig,
    seed: u64,
    watch: &Watch<'_>,
) -> Result<Partition, ConsolidateError> {
    let stop = || (watch.cancel)();
    let singletons: Vec<u32> = (0..graph.nodes() as u32).collect();
    let mut best: Option<Partition> = None;
    for start in 0..config.starts.max(1) {
        let leiden =
            Leiden { resolution: config.resolution, seed: seed.wrapping_add(u64::from(start)), ..Leiden::default() };
        let found = leiden.run_from(graph, &singletons, &stop)?;
        watch.step(start as usize + 2)?;
        if best.as_ref().is_none_or(|b| found.modularity > b.modularity + 1e-12) {
            best = Some(found);
        }
    }
    let fresh = best.unwrap_or(Partition { membership: singletons, modularity: 0.0 });
    let leiden = Leiden { resolution: config.resolution, seed, ..Leiden::default() };
    let settled = settle(&leiden, graph, fresh, &stop)?;
    watch.check()?;
    let Some(previous) = previous.filter(|p| !p.communities.is_empty()) else {
        return Ok(settled);
    };
    let kept = leiden.run_from(graph, &identity::carried_over(inputs, previous), &stop)?;
    let kept = settle(&leiden, graph, kept, &stop)?;
    watch.check()?;
    Ok(if kept.modularity + KEEP_WITHIN >= settled.modularity { kept } else { settled })
}

/// Runs from the partition itself until that changes nothing, so that the next run on an unchanged
/// vault, which starts from it, ends with it.
fn settle(
    leiden: &Leiden,
    graph: &Csr,
    mut partition: Partition,
    stop: &dyn Fn() -> bool,
) -> Result<Partition, GraphError> {
    for _ in 0..16 {
        let next = leiden.run_from(graph, &partition.membership, stop)?;
        if next.modularity <= partition.modularity + 1e-12 {
            break;
        }
        partition = next;
    }
    Ok(partition)
}

/// Six decimals: the last bits of a float are no information.
pub(crate) fn round(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}
