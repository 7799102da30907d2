//! Pairs: a digest that restates a block and the source that holds it are one result with two
//! places.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dormouse_vault::{Layer, Snapshot};

use super::blocks::Scored;
use super::candidate::Candidate;
use super::citations::{Citations, Place};
use crate::index::{NoteKey, UnitId};

/// A block speaks for its note from this share of the note's best block on.
const SPEAKS: f64 = 0.6;
/// The better place of a pair is worth at most this factor to its other half.
const MAX_SHARED: f64 = 2.0;

/// What a note has to say to a query.
struct Claims {
    /// Its blocks that speak; for a digest, what each of them cites.
    blocks: Vec<BTreeSet<Place>>,
    /// All of these places.
    places: BTreeSet<Place>,
    digest: bool,
}

impl Claims {
    fn of(candidate: &Candidate, citations: &Citations, snapshot: &Snapshot) -> Self {
        let key = NoteKey::of(&candidate.note.path);
        let digest = candidate.note.layer == Layer::Digest;
        let cited = if digest { citations.of(&candidate.note, snapshot) } else { Arc::default() };
        let body = || candidate.blocks.iter().filter(|b| b.block != UnitId::HEADER);
        let least = SPEAKS * body().next().map_or(0.0, Scored::score);
        let blocks: Vec<BTreeSet<Place>> = body()
            .take_while(|b| b.score() >= least)
            .map(|b| {
                if digest {
                    cited.get(&b.block).into_iter().flatten().copied().collect()
                } else {
                    BTreeSet::from([(key, b.block)])
                }
            })
            .collect();
        let places = blocks.iter().flatten().copied().collect();
        Self { blocks, places, digest }
    }

    /// Whether each block that speaks restates one of `sources`.
    fn restates(&self, sources: &BTreeSet<Place>) -> bool {
        !self.blocks.is_empty() && self.blocks.iter().all(|b| !b.is_disjoint(sources))
    }
}

/// A place in the ranking, with what stands there.
struct Placed {
    head: Candidate,
    claims: Claims,
    /// The blocks that speak of the sources that stand here.
    sources: BTreeSet<Place>,
}

/// Takes notes that say what a better one says into its place. `ranked` is best first and stays so.
///
/// - A digest all of whose blocks that speak cite blocks that speak in one source above it adds
///   nothing: it becomes a further place of that source.
/// - A source all of whose blocks that speak are cited by one digest above it becomes a further
///   place of the digest; a digest that gathers several sources takes each of them in.
/// - A source that has more to say than a digest above it, where that one does nothing but restate
///   it, takes the digest's place and score: its text holds what both say.
///
/// O(n log n) in the blocks that speak and their citations.
pub(crate) fn collapse(ranked: Vec<Candidate>, citations: &Citations, snapshot: &Snapshot) -> Vec<Candidate> {
    let mut ranking = Ranking::default();
    for candidate in ranked {
        let claims = Claims::of(&candidate, citations, snapshot);
        if claims.digest {
            ranking.take_digest(candidate, claims);
        } else {
            ranking.take_source(candidate, claims);
        }
    }
    ranking.placed.into_iter().map(|p| p.head).collect()
}

/// The ranking as far as it has been made.
#[derive(Default)]
struct Ranking {
    placed: Vec<Placed>,
    /// Where a block of a source stands.
    shown: BTreeMap<Place, usize>,
    /// Where the digests stand that cite a block, the best first.
    cited: BTreeMap<Place, Vec<usize>>,
}

impl Ranking {
    fn take_digest(&mut self, candidate: Candidate, claims: Claims) {
        let near: BTreeSet<usize> = claims.places.iter().filter_map(|place| self.shown.get(place).copied()).collect();
        let restated = near.into_iter().find(|at| self.placed.get(*at).is_some_and(|p| claims.restates(&p.sources)));
        if let Some(place) = restated.and_then(|at| self.placed.get_mut(at)) {
            place.head.also_at.push(candidate.note.path.clone());
            return;
        }
        for place in &claims.places {
            self.cited.entry(*place).or_default().push(self.placed.len());
        }
        self.placed.push(Placed { head: candidate, claims, sources: BTreeSet::new() });
    }

    fn take_source(&mut self, mut candidate: Candidate, claims: Claims) {
        let near: BTreeSet<usize> =
            claims.places.iter().filter_map(|place| self.cited.get(place)).flatten().copied().collect();
        let digests = || {
            let placed = near.iter().filter_map(|at| Some((*at, self.placed.get(*at)?)));
            placed.filter(|(_, p)| p.claims.digest)
        };
        let worth = MAX_SHARED * candidate.score();
        let whole = digests().find(|(_, p)| claims.restates(&p.claims.places));
        let part = digests().find(|(_, p)| p.claims.restates(&claims.places) && p.head.score() <= worth);
        let (at, takes_over) = match (whole, part) {
            (Some((at, _)), _) => (at, false),
            (None, Some((at, _))) => (at, true),
            (None, None) => (self.placed.len(), false),
        };
        for place in &claims.places {
            self.shown.entry(*place).or_insert(at);
        }
        let Some(place) = self.placed.get_mut(at) else {
            self.placed.push(Placed { head: candidate, sources: claims.places.clone(), claims });
            return;
        };
        place.sources.extend(&claims.places);
        if takes_over {
            candidate.shared = place.head.score() / candidate.score();
            candidate.also_at.push(place.head.note.path.clone());
            candidate.also_at.append(&mut place.head.also_at);
            place.head = candidate;
            place.claims = claims;
        } else {
            place.head.also_at.push(candidate.note.path.clone());
        }
    }
}
