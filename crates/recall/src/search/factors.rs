//! What a note is, as factors of its score: layer, centrality, community, recency. Each lies in
//! 0.5..=2, and is 1 when its signal is off, missing, stale or can't be read.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, FixedOffset, Utc};
use dormouse_vault::meta::{Archived, Artefact, Communities, DreamLedger, DreamOutcome, Loaded, Recency};
use dormouse_vault::{Layer, Note, NotePath, Snapshot, Vault};

use super::reply::{SignalFreshness, SignalState};
use super::request::SignalSwitches;
use crate::config::RecallConfig;
use crate::filter::stated_date;

/// Digests of material whose evidence check dropped more than this share get no influence.
const MAX_DROPPED: f64 = 0.25;
/// The time in which a dated note's freshness falls to 1/e, in days; consolidate's τ.
const TAU_DAYS: f64 = 60.0;

/// The computed signals of a vault, as far as they can be used.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    communities: BTreeMap<NotePath, u32>,
    recency: BTreeMap<NotePath, f64>,
    /// Archived notes, whether or not they are dropped.
    pub(crate) archived: BTreeSet<NotePath>,
    /// Digests without influence on other notes.
    pub(crate) doubtful: BTreeSet<NotePath>,
    /// The state of each.
    pub(crate) freshness: Vec<SignalFreshness>,
    /// Why one can't be used.
    pub(crate) warnings: Vec<String>,
}

impl Signals {
    /// Reads them from `meta/`.
    pub(crate) fn load(
        vault: &Vault,
        switches: SignalSwitches,
        now: Option<DateTime<FixedOffset>>,
        config: &RecallConfig,
    ) -> Self {
        let mut out = Self::default();
        out.state("centrality", if switches.centrality { SignalState::Fresh } else { SignalState::Off }, None);
        if let Some(communities) = out.take::<Communities>(
            "communities",
            vault,
            switches.community,
            |c| c.computed_at,
            now,
            Some(config.stale_after_days),
        ) {
            out.communities =
                communities.communities.iter().flat_map(|c| c.members.iter().map(|m| (m.clone(), c.id))).collect();
        }
        if let Some(recency) = out.take::<Recency>(
            "recency",
            vault,
            switches.recency,
            |r| r.computed_at,
            now,
            Some(config.stale_after_days),
        ) {
            out.recency = recency.notes.into_iter().map(|(path, r)| (path, r.score)).collect();
        }
        // What sleeps goes on sleeping until consolidate wakes it.
        if let Some(archived) = out.take::<Archived>("archived", vault, switches.archive, |a| a.computed_at, now, None)
        {
            out.archived = archived.notes.into_keys().collect();
        }
        if let Some(ledger) = out.take::<DreamLedger>("digests", vault, switches.digests, |l| l.computed_at, now, None)
        {
            out.doubtful = doubtful(&ledger);
        }
        out
    }

    fn take<T: Artefact>(
        &mut self,
        name: &str,
        vault: &Vault,
        on: bool,
        computed_at: impl Fn(&T) -> DateTime<Utc>,
        now: Option<DateTime<FixedOffset>>,
        stale_after_days: Option<i64>,
    ) -> Option<T> {
        if !on {
            self.state(name, SignalState::Off, None);
            return None;
        }
        let Loaded { value, problem } = vault.meta::<T>();
        if let Some(problem) = problem {
            self.warnings.push(format!("{name}: {problem}"));
            self.state(name, SignalState::Unreadable, None);
            return None;
        }
        let Some(value) = value else {
            self.state(name, SignalState::Missing, None);
            return None;
        };
        let at = computed_at(&value);
        let stale = now.zip(stale_after_days).is_some_and(|(now, days)| (now.to_utc() - at).num_days() > days);
        if stale {
            self.warnings.push(format!(
                "{name}: computed on {}, too long ago to be used; run `dormouse consolidate`",
                at.date_naive()
            ));
        }
        self.state(name, if stale { SignalState::Stale } else { SignalState::Fresh }, Some(at));
        (!stale).then_some(value)
    }

    /// Notes the state of a signal.
    pub(crate) fn state(&mut self, signal: &str, state: SignalState, computed_at: Option<DateTime<Utc>>) {
        self.freshness.push(SignalFreshness { signal: signal.to_owned(), state, computed_at });
    }
}

fn doubtful(ledger: &DreamLedger) -> BTreeSet<NotePath> {
    let mut counts: BTreeMap<&NotePath, (f64, f64)> = BTreeMap::new();
    for dreamed in ledger.materials.values() {
        if let DreamOutcome::Done { subjects, dropped } = &dreamed.outcome {
            for subject in subjects {
                let (lost, kept) = counts.entry(subject).or_default();
                *lost += f64::from(*dropped);
                *kept += subjects.len() as f64;
            }
        }
    }
    let bad = counts.into_iter().filter(|(_, (lost, kept))| *lost > MAX_DROPPED * (lost + kept));
    bad.map(|(path, _)| path.clone()).collect()
}

/// The factors of one note, in the order in which they are explained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Factors {
    /// The layer's weight.
    pub(crate) layer: f64,
    /// `1 + α·ln(1 + inbound)`.
    pub(crate) centrality: f64,
    /// β for the theme of the best digests.
    pub(crate) community: f64,
    /// Freshness.
    pub(crate) recency: f64,
}

impl Factors {
    /// The factors of `note`, without the community's, which needs the other notes.
    pub(crate) fn of(
        note: &Note,
        snapshot: &Snapshot,
        signals: &Signals,
        switches: SignalSwitches,
        now: Option<DateTime<FixedOffset>>,
        config: &RecallConfig,
    ) -> Self {
        let bound = |value: f64| {
            if value.is_finite() { value.clamp(0.5, 2.0) } else { 1.0 }
        };
        let layer = match note.layer {
            Layer::Digest => config.digest_weight,
            Layer::Daily => config.daily_weight,
            Layer::Resource => config.resource_weight,
            _ => config.other_weight,
        };
        let inbound = snapshot.graph().inbound(&note.path) as f64;
        Self {
            layer: if switches.layer { bound(layer) } else { 1.0 },
            centrality: if switches.centrality { bound(1.0 + config.centrality_alpha * inbound.ln_1p()) } else { 1.0 },
            community: 1.0,
            recency: if switches.recency { bound(recency(note, signals, now, config)) } else { 1.0 },
        }
    }

    /// Their product.
    pub(crate) fn product(&self) -> f64 {
        self.layer * self.centrality * self.community * self.recency
    }
}

fn recency(note: &Note, signals: &Signals, now: Option<DateTime<FixedOffset>>, config: &RecallConfig) -> f64 {
    if note.layer == Layer::Digest {
        // A digest that consolidate has not weighed yet is new.
        let freshness = signals.recency.get(&note.path).copied().unwrap_or(1.0);
        return config.recency_floor + (1.0 - config.recency_floor) * freshness.clamp(0.0, 1.0);
    }
    let Some((day, now)) = stated_date(note).zip(now) else {
        return 1.0;
    };
    let age = (now.date_naive() - day).num_days().max(0) as f64;
    config.dated_floor + (1.0 - config.dated_floor) * (-age / TAU_DAYS).exp()
}

/// Gives β to every digest that shares its community with another one of the three best digests.
/// `ranked` are the notes with their factors, best first.
pub(crate) fn boost_communities(ranked: &mut [(&Note, &mut Factors)], signals: &Signals, config: &RecallConfig) {
    let theme = |note: &Note| signals.communities.get(&note.path).copied();
    let seeds: Vec<(NotePath, u32)> = ranked
        .iter()
        .filter(|(note, _)| note.layer == Layer::Digest)
        .take(3)
        .filter_map(|(note, _)| theme(note).map(|c| (note.path.clone(), c)))
        .collect();
    let beta = if config.community_beta.is_finite() { config.community_beta.clamp(0.5, 2.0) } else { 1.0 };
    for (note, factors) in ranked {
        let own = theme(note);
        if own.is_some() && seeds.iter().any(|(path, community)| *path != note.path && Some(*community) == own) {
            factors.community = beta;
        }
    }
}
