//! Links as evidence: bounded spreading activation from the best notes along the link graph.

use std::collections::BTreeMap;

use dormouse_vault::{Csr, Layer, NotePath, PageRank, Snapshot};

use crate::config::{RecallConfig, Spreading};

/// Links of one note that are followed; a hub's further ones are left alone.
const MAX_LINKS: usize = 64;
/// What a link between two notes of other kinds carries, against 1 between a digest and its source.
const PLAIN_LINK: f64 = 0.4;
/// What a link to the note before or after in a series carries: it says when, not what.
const SERIES_LINK: f64 = 0.1;
/// How much of the activation is left for the second step.
const SECOND_STEP: f64 = 0.5;
/// Share of rank that follows links; the rest goes back to the seeds.
const FOLLOWED: f64 = 0.5;
/// Steps from the seeds that bring notes in.
const REACH: usize = 2;
/// The most notes that are ranked.
const MAX_NOTES: usize = 2_000;

/// Spreads the scores of `seeds`, best first, along links. A note gets 0..=1 of the best seed's
/// score. A doubtful digest passes nothing on.
pub(crate) fn spread(
    seeds: &[(NotePath, f64)],
    snapshot: &Snapshot,
    doubtful: &dyn Fn(&NotePath) -> bool,
    config: &RecallConfig,
) -> BTreeMap<NotePath, f64> {
    let best = seeds.first().map_or(0.0, |(_, score)| *score);
    if best <= 0.0 {
        return BTreeMap::new();
    }
    let seeds: Vec<(&NotePath, f64)> = seeds
        .iter()
        .filter(|(seed, _)| !doubtful(seed))
        .take(config.link_seeds)
        .map(|(seed, score)| (seed, (score / best).min(1.0)))
        .collect();
    match config.spreading {
        Spreading::Steps => steps(&seeds, snapshot, doubtful),
        Spreading::PageRank => personalised(&seeds, snapshot, doubtful),
    }
}

/// Two steps at most; the strongest of what reaches a note counts, damped by the square root of the
/// number of links at the giving end, so that a hub lights up nobody.
fn steps(
    seeds: &[(&NotePath, f64)],
    snapshot: &Snapshot,
    doubtful: &dyn Fn(&NotePath) -> bool,
) -> BTreeMap<NotePath, f64> {
    let mut out: BTreeMap<NotePath, f64> = BTreeMap::new();
    for &(seed, score) in seeds {
        for (next, weight) in neighbours(seed, snapshot) {
            let reached = weight * score;
            raise(&mut out, &next, reached);
            // A second step only over a digest: from one source of it to the others.
            if is_digest(&next, snapshot) && !is_digest(seed, snapshot) && !doubtful(&next) {
                for (far, weight) in neighbours(&next, snapshot).iter().filter(|(far, _)| far != seed) {
                    raise(&mut out, far, reached * SECOND_STEP * weight);
                }
            }
        }
    }
    out
}

/// PageRank personalised to the seeds over the notes within two steps of them, at most
/// [`MAX_NOTES`], links in both directions by what each carries: of a note's rank what came along
/// links, as a part of the strongest seed's rank.
fn personalised(
    seeds: &[(&NotePath, f64)],
    snapshot: &Snapshot,
    doubtful: &dyn Fn(&NotePath) -> bool,
) -> BTreeMap<NotePath, f64> {
    let mut reached = Reached::default();
    let starts: Vec<(u32, f64)> =
        seeds.iter().filter_map(|(seed, score)| Some((reached.place(seed)?, *score))).collect();
    let mut edges: Vec<(u32, u32, f64)> = Vec::new();
    let mut at = 0;
    let mut last = starts.len();
    for step in 0..=REACH {
        for from in at..last {
            let Some(path) = reached.order.get(from).cloned().filter(|path| !doubtful(path)) else {
                continue;
            };
            for (next, weight) in neighbours(&path, snapshot) {
                let known = if step < REACH { reached.place(&next) } else { reached.places.get(&next).copied() };
                if let (Ok(from), Some(to)) = (u32::try_from(from), known) {
                    edges.push((from, to, weight));
                }
            }
        }
        (at, last) = (last, reached.order.len());
    }
    let ranked = Csr::directed(reached.order.len(), &edges)
        .and_then(|rows| PageRank { damping: FOLLOWED, tolerance: 1e-6, max_rounds: 50 }.rank_from(&rows, &starts));
    let Ok(ranks) = ranked else {
        return BTreeMap::new();
    };
    let total: f64 = starts.iter().map(|(_, score)| score).sum();
    let strongest = starts.iter().filter_map(|(at, _)| ranks.get(*at as usize)).copied().fold(0.0, f64::max);
    let own =
        |at: usize| starts.iter().find(|(start, _)| *start as usize == at).map_or(0.0, |(_, score)| score / total);
    let along = ranks.iter().enumerate().map(|(at, rank)| (rank - (1.0 - FOLLOWED) * own(at)).max(0.0) / strongest);
    reached
        .order
        .into_iter()
        .zip(along)
        .filter(|(_, along)| *along > 0.0)
        .map(|(path, along)| (path, along.min(1.0)))
        .collect()
}

/// Notes in the order in which they were reached, numbered.
#[derive(Default)]
struct Reached {
    places: BTreeMap<NotePath, u32>,
    order: Vec<NotePath>,
}

impl Reached {
    /// The number of a note; `None` for one too many.
    fn place(&mut self, path: &NotePath) -> Option<u32> {
        if let Some(at) = self.places.get(path) {
            return Some(*at);
        }
        let at = u32::try_from(self.order.len()).ok().filter(|_| self.order.len() < MAX_NOTES)?;
        self.places.insert(path.clone(), at);
        self.order.push(path.clone());
        Some(at)
    }
}

fn raise(out: &mut BTreeMap<NotePath, f64>, path: &NotePath, value: f64) {
    let have = out.entry(path.clone()).or_insert(0.0);
    *have = have.max(value);
}

fn is_digest(path: &NotePath, snapshot: &Snapshot) -> bool {
    snapshot.layout().layer(path) == Layer::Digest
}

/// The notes at the other ends of a note's links, with what each link carries: the most that one of
/// several between the two does.
fn neighbours(path: &NotePath, snapshot: &Snapshot) -> Vec<(NotePath, f64)> {
    let graph = snapshot.graph();
    let here = is_digest(path, snapshot);
    let mut ends: BTreeMap<&NotePath, f64> = BTreeMap::new();
    let out_edges = graph.out_edges(path).into_iter().map(|edge| (edge.target, edge.predicate));
    for (end, predicate) in out_edges.chain(graph.in_edges(path).into_iter().map(|edge| (edge.source, edge.predicate)))
    {
        let weight = if here != is_digest(end, snapshot) {
            1.0
        } else if predicate.is_some_and(is_series) {
            SERIES_LINK
        } else {
            PLAIN_LINK
        };
        let have = ends.entry(end).or_insert(0.0);
        *have = have.max(weight);
    }
    ends.remove(path);
    let damping = (ends.len().max(1) as f64).sqrt();
    let mut ends: Vec<(&NotePath, f64)> = ends.into_iter().collect();
    ends.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    ends.into_iter().take(MAX_LINKS).map(|(end, weight)| (end.clone(), weight / damping)).collect()
}

/// Predicates that put notes in a row.
fn is_series(predicate: &str) -> bool {
    matches!(
        predicate,
        "previous" | "prev" | "next" | "before" | "after" | "yesterday" | "tomorrow" | "上一篇" | "下一篇"
    )
}
