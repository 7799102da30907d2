//! How central a note is: what links to it, or its PageRank in the whole graph.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_vault::{NotePath, PageRank, Snapshot};

use crate::config::{Centrality, RecallConfig};

/// Close enough for a factor.
const TOLERANCE: f64 = 1e-6;

/// The ranks of the graph that was asked for last, and its snapshot.
#[derive(Debug, Default)]
pub(crate) struct Ranks(Mutex<Option<(Arc<Snapshot>, Arc<Central>)>>);

/// By how much each file is more central than one that nobody links to; by its logarithm, 0 or more.
#[derive(Debug, Default)]
pub(crate) struct Central(Option<HashMap<NotePath, f64>>);

impl Central {
    /// The factor's logarithm for one note. O(1), or the number of its in-links.
    pub(crate) fn of(&self, note: &NotePath, snapshot: &Snapshot) -> f64 {
        match &self.0 {
            Some(ranks) => ranks.get(note).copied().unwrap_or(0.0),
            None => (snapshot.graph().inbound(note) as f64).ln_1p(),
        }
    }
}

impl Ranks {
    /// What the settings ask for. PageRank is computed once a graph, O(rounds · links), the first time
    /// that it is asked for.
    pub(crate) fn of(&self, snapshot: &Arc<Snapshot>, config: &RecallConfig) -> Arc<Central> {
        if config.centrality == Centrality::Inbound {
            return Arc::default();
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, central)) = kept.as_ref()
            && std::ptr::eq(of.graph(), snapshot.graph())
        {
            return Arc::clone(central);
        }
        let central = Arc::new(Central(ranks(snapshot)));
        *kept = Some((Arc::clone(snapshot), Arc::clone(&central)));
        central
    }
}

/// `None`, so that inbound links count, for a graph that is too large to be ranked.
fn ranks(snapshot: &Snapshot) -> Option<HashMap<NotePath, f64>> {
    let links = snapshot.graph().rows().ok()?;
    let settings = PageRank { tolerance: TOLERANCE, ..PageRank::default() };
    let ranks = settings.rank(&links.rows).ok()?;
    let least = ranks.iter().copied().fold(f64::INFINITY, f64::min);
    let of = |rank: f64| if least > 0.0 { (rank / least).ln().max(0.0) } else { 0.0 };
    Some(links.files.into_iter().cloned().zip(ranks.into_iter().map(of)).collect())
}
