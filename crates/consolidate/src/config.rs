//! Settings: plain data with the defaults that the documentation names. `[consolidate]` in
//! `dormouse.toml`.

use serde::{Deserialize, Serialize};

/// The seed of a run that names none.
pub const DEFAULT_SEED: u64 = 0;

/// Every setting of the stage. Name only what differs from the defaults; a key that is none of these
/// is an error, so that a slip of the pen does not pass for a setting.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConsolidateConfig {
    /// When a note is split.
    pub split: SplitConfig,
    /// When two notes are reported as duplicates.
    pub duplicates: DuplicatesConfig,
    /// How themes are found.
    pub communities: CommunitiesConfig,
    /// How notes age.
    pub time: TimeConfig,
    /// What health complains about.
    pub health: HealthConfig,
    /// When the tasks are due.
    pub schedule: ScheduleConfig,
}

/// `[consolidate.split]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SplitConfig {
    /// Estimated tokens of the body above which a note may be split. Default 1200.
    pub threshold_tokens: usize,
    /// The fewest tokens of a child; smaller themes stay with the parent. Default 100.
    pub min_child_tokens: usize,
    /// Cosine of content words, 0..=1, from which two sections are one theme. Default 0.25.
    pub cohesion: f64,
    /// Days for which parent and children are left alone afterwards. Default 14.
    pub cooldown_days: u32,
    /// Notes that one sweep splits at most. Default 20.
    pub max_per_sweep: usize,
}

impl Default for SplitConfig {
    fn default() -> Self {
        Self { threshold_tokens: 1200, min_child_tokens: 100, cohesion: 0.25, cooldown_days: 14, max_per_sweep: 20 }
    }
}

/// `[consolidate.duplicates]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DuplicatesConfig {
    /// Share of one note that must stand in the other, 0..=1: the mean of its sentences and of its
    /// words, boilerplate left out. Default 0.5.
    pub share: f64,
    /// The same for whichever of the two has the smaller share, 0..=1. Default 0.3.
    pub share_of_longer: f64,
    /// Cosine of two vectors, 0..=1, where a caller has vectors. Default 0.92.
    pub meaning: f64,
    /// Estimated tokens below which only identical text is reported. Default 24.
    pub min_tokens: usize,
    /// The longer note may have at most this many times the tokens of the shorter. Default 2.5.
    pub max_length_ratio: f64,
    /// Likeness of two names by character trigrams, 0..=1. Default 0.9.
    pub name_likeness: f64,
    /// Pairs that one page shows at most; the rest is counted. Default 200.
    pub max_pairs: usize,
}

impl Default for DuplicatesConfig {
    fn default() -> Self {
        Self {
            share: 0.5,
            share_of_longer: 0.3,
            meaning: 0.92,
            min_tokens: 24,
            max_length_ratio: 2.5,
            name_likeness: 0.9,
            max_pairs: 200,
        }
    }
}

/// `[consolidate.communities]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommunitiesConfig {
    /// Resolution γ > 0; larger gives more and smaller themes. Default 1.
    pub resolution: f64,
    /// Weight that two digests gain by a common source: this, divided by the number of digests
    /// that the source has. 0 turns it off. Default 0.5.
    pub source_coupling: f64,
    /// Links after which a note's links begin to weigh less, so that an index of everything does
    /// not swallow the themes. Default 16.
    pub hub_cap: usize,
    /// Fresh starts, the best of which is kept. Default 4.
    pub starts: u32,
    /// Whether notes without company are listed as communities of one. Default true: every digest
    /// note is in exactly one community.
    pub list_singletons: bool,
    /// Terms of a label. Default 5.
    pub terms: usize,
}

impl Default for CommunitiesConfig {
    fn default() -> Self {
        Self { resolution: 1.0, source_coupling: 0.5, hub_cap: 16, starts: 4, list_singletons: true, terms: 5 }
    }
}

/// `[consolidate.time]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TimeConfig {
    /// τ of the decay, in days. Default 60.
    pub tau_days: f64,
    /// SCALE of the inbound term. Default 10.
    pub inbound_scale: f64,
    /// Recency below which a note sleeps, 0..=1. Default 0.15.
    pub archive_below: f64,
    /// Days whose hits count. Default 30.
    pub window_days: u32,
    /// Days with a hit that the log keeps for a note beyond the window, newest first. Default 90.
    pub history_days: usize,
}

impl Default for TimeConfig {
    fn default() -> Self {
        Self { tau_days: 60.0, inbound_scale: 10.0, archive_below: 0.15, window_days: 30, history_days: 90 }
    }
}

/// `[consolidate.health]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HealthConfig {
    /// Estimated tokens above which a digest note is called oversize. Default 2400, twice the
    /// split threshold.
    pub oversize_tokens: usize,
    /// Share of all digest notes, 0..=1, above which one bucket is called out of balance.
    /// Default 0.9.
    pub bucket_share: f64,
    /// Digest notes below which balance is not judged. Default 20.
    pub bucket_min_notes: usize,
    /// Findings of one kind that the page lists; the rest is counted. Default 50.
    pub max_listed: usize,
}

impl Default for HealthConfig {
    fn default() -> Self {
        Self { oversize_tokens: 2400, bucket_share: 0.9, bucket_min_notes: 20, max_listed: 50 }
    }
}

/// `[consolidate.schedule]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScheduleConfig {
    /// Minutes of quiet before anything runs. Default 10.
    pub quiet_minutes: u32,
    /// Hours between runs of time and health. Default 24.
    pub daily_hours: u32,
    /// Hours between runs of communities, duplicates and the split sweep. Default 168.
    pub weekly_hours: u32,
    /// Minutes for which a task that failed is left alone. Default 60.
    pub retry_minutes: u32,
}

impl Default for ScheduleConfig {
    fn default() -> Self {
        Self { quiet_minutes: 10, daily_hours: 24, weekly_hours: 168, retry_minutes: 60 }
    }
}
