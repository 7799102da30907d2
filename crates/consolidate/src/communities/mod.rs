//! Communities: the themes of the digest notes, from the links that their writers made.

mod chinese;
mod digest_graph;
mod groups;
mod identity;
mod label;
mod last_run;
mod leiden;
mod modularity;
mod search;
mod terms;

use chrono::{DateTime, Utc};
use dormouse_vault::Vault;
use dormouse_vault::meta::{Artefact, Communities, Community};

pub(crate) use last_run::LastRun;
pub use leiden::{Leiden, Partition};
pub use modularity::modularity;

use self::digest_graph::DigestGraph;
use self::identity::Before;
use self::last_run::ByHash;
use crate::config::CommunitiesConfig;
use crate::error::ConsolidateError;
use crate::inputs::Inputs;
use crate::progress::Watch;

/// The themes of `inputs`, and, for a large vault (more than 10,000 digests), what the next run
/// starts from, to be kept once they are written. `previous` gives the ids and, where it is still
/// about as good, the partition. After a few changes to a large vault only their surroundings are
/// searched, and only communities whose notes changed are labelled anew, both with the help of what
/// the last run left in the cache; in any other vault the result depends on the vault, `previous`,
/// the settings and the seed alone.
pub(crate) fn compute(
    vault: &Vault,
    inputs: &Inputs<'_>,
    previous: Option<&Communities>,
    config: &CommunitiesConfig,
    seed: u64,
    now: DateTime<Utc>,
    watch: &Watch<'_>,
) -> Result<(Communities, Option<LastRun>), ConsolidateError> {
    watch.begin(config.starts as usize + 3);
    let graph = DigestGraph::build(inputs, config)?;
    watch.step(1)?;
    let listed = previous.map_or(&[][..], |p| &p.communities);
    let before = Before::of(listed.iter().map(|c| (c.id, &*c.members)));
    let notes = last_run::notes(inputs, &graph.rows);
    let settings = last_run::settings(config, seed);
    let large = inputs.digests.len() > search::LARGE;
    let last = if large { LastRun::load(vault) } else { None };
    let last = last.filter(|last| last.settings == settings && last.themes == last_run::written(listed));
    let ground = search::Ground { rows: &graph.rows, notes: &notes, config, seed };
    let carried = (!listed.is_empty()).then(|| before.carried_over(inputs));
    let found = search::search(&ground, carried.as_deref(), last.as_ref(), watch)?;
    watch.step(config.starts as usize + 2)?;
    let all = members(&found.partition.membership);
    let groups: Vec<Vec<u32>> = all.into_iter().filter(|m| config.list_singletons || m.len() > 1).collect();
    let (ids, next_id) = before.assign(inputs, &groups, previous.map_or(0, |p| p.next_id));
    let hubs = graph.hubs(&groups, &found.partition.membership);
    let contents: Vec<u64> = groups.iter().map(|group| last_run::content(inputs, group, config.terms)).collect();
    let mut kept = Kept::default();
    if let Some(last) = last.as_ref().filter(|_| !found.anew) {
        kept = Kept::of(vault, last, listed, &groups, ids.iter().map(|id| id.id).zip(contents.iter().copied()));
    }
    let relabelled = kept.relabelled;
    let (labels, words) = label::label(inputs, &groups, kept.labels, kept.words, config.terms, watch)?;
    let mut communities: Vec<(Community, u64)> = Vec::with_capacity(groups.len());
    for ((((group, id), label), hub), content) in groups.iter().zip(ids).zip(labels).zip(hubs).zip(contents) {
        let path = |node: u32| inputs.digests.get(node as usize).map(|d| d.path().clone());
        if let Some(hub) = hub.and_then(path) {
            let (stability, members) = (round(id.stability), group.iter().filter_map(|&node| path(node)).collect());
            let (label, terms) = (label.label, label.terms);
            communities.push((Community { id: id.id, label, terms, hub, stability, members }, content));
        }
    }
    communities.sort_by(|(a, _), (b, _)| b.members.len().cmp(&a.members.len()).then(a.id.cmp(&b.id)));
    let contents = communities.iter().map(|(community, content)| (community.id, *content)).collect();
    let communities: Vec<Community> = communities.into_iter().map(|(community, _)| community).collect();
    let last = large.then(|| {
        words.inspect(|words| words.store(vault));
        let themes = last_run::written(&communities);
        LastRun { settings, themes, searched: found.searched, moved: found.moved, relabelled, notes, contents }
    });
    let groups = groups::group(inputs, &graph.rows, &communities, previous, config, seed, watch)?;
    watch.step(config.starts as usize + 3)?;
    let found = Communities {
        version: Communities::VERSION,
        computed_at: now,
        seed,
        resolution: config.resolution,
        modularity: round(found.partition.modularity),
        next_id,
        communities,
        groups,
    };
    Ok((found, last))
}

/// What a run takes over from the labels of the last one.
#[derive(Default)]
struct Kept {
    /// The label of each group that is as it was; none at all when all are to be labelled.
    labels: Vec<Option<label::Label>>,
    /// How often words occur, as it was counted last.
    words: Option<label::Vocabulary>,
    /// Notes whose community was labelled anew since all were.
    relabelled: u64,
}

impl Kept {
    /// `now` has the id and the content of each group.
    fn of(
        vault: &Vault,
        last: &LastRun,
        listed: &[Community],
        groups: &[Vec<u32>],
        now: impl Iterator<Item = (u32, u64)>,
    ) -> Self {
        let known: ByHash<u64> = last.contents.iter().map(|&(id, content)| (u64::from(id), content)).collect();
        let old: ByHash<&Community> = listed.iter().map(|c| (u64::from(c.id), c)).collect();
        let unchanged = |(id, content): (u32, u64)| {
            let same = known.get(&u64::from(id)) == Some(&content);
            let label = |c: &&Community| label::Label { label: c.label.clone(), terms: c.terms.clone() };
            old.get(&u64::from(id)).filter(|_| same).map(label)
        };
        let labels: Vec<Option<label::Label>> = now.map(unchanged).collect();
        let changed =
            groups.iter().zip(&labels).filter(|(_, label)| label.is_none()).map(|(group, _)| group.len()).sum();
        let all = groups.iter().map(Vec::len).sum();
        match label::Vocabulary::load(vault).filter(|_| last.labels_last(changed, all)) {
            Some(words) => Self { labels, words: Some(words), relabelled: last.relabelled + changed as u64 },
            None => Self::default(),
        }
    }
}

/// The nodes of each community, ascending, in the order of their labels.
fn members(membership: &[u32]) -> Vec<Vec<u32>> {
    let count = membership.iter().max().map_or(0, |&m| m as usize + 1);
    let mut out = vec![Vec::new(); count];
    for (node, &community) in (0..).zip(membership) {
        if let Some(group) = out.get_mut(community as usize) {
            group.push(node);
        }
    }
    out.retain(|group| !group.is_empty());
    out
}

/// Six decimals: the last bits of a float are no information.
pub(crate) fn round(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}
