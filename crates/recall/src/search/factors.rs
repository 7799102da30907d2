//! What a note is, as factors of its score: layer, centrality, community, recency. Each lies in
//! 0.5..=2, and is 1 when its signal is off, missing, stale or can't be read.

use chrono::{DateTime, FixedOffset};
use dormouse_vault::{Layer, Note, NotePath};

use super::request::SignalSwitches;
use super::signals::Signals;
use crate::config::RecallConfig;
use crate::filter::stated_date;

/// The time in which a dated note's freshness falls to 1/e, in days; consolidate's τ.
const TAU_DAYS: f64 = 60.0;

/// The factors of one note, in the order in which they are explained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Factors {
    /// The layer's weight.
    pub(crate) layer: f64,
    /// `1 + α·central`, with `ln(1 + inbound)` or the logarithm of PageRank.
    pub(crate) centrality: f64,
    /// β for the theme of the best digests.
    pub(crate) community: f64,
    /// Freshness.
    pub(crate) recency: f64,
}

impl Factors {
    /// The factors of `note`, which is as `central` as given, without the community's, which needs the other notes.
    pub(crate) fn of(
        note: &Note,
        central: f64,
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
        Self {
            layer: if switches.layer { bound(layer) } else { 1.0 },
            centrality: if switches.centrality { bound(1.0 + config.centrality_alpha * central) } else { 1.0 },
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
        let freshness = signals.freshness_of(&note.path).unwrap_or(1.0);
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
    let theme = |note: &Note| signals.community(&note.path);
    let seeds: Vec<(NotePath, u32)> = ranked
        .iter()
        .filter(|(note, _)| note.layer == Layer::Digest && !signals.is_doubtful(&note.path))
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
