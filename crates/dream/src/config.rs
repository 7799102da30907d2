//! Settings: `[dream]` in `dormouse.toml`.

use serde::{Deserialize, Serialize};

/// How to dream. Plain data; every field has a default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DreamConfig {
    /// How many digests are looked at for each unit. Default 24.
    pub neighbours: usize,
    /// How many materials are gated, and units decided, at the same time. Default 4, at least 1.
    pub fan_out: usize,
    /// How often a unit is planned again after a conflict. Default 3.
    pub max_replans: usize,
    /// Material above this many estimated tokens is cut at headings and blocks before it goes to a
    /// model. Default 3,000; a model with a small window gets half of its window at most.
    pub material_tokens: usize,
    /// Largest resource file that is read, in bytes. Default 1 MiB.
    pub max_material_bytes: u64,
    /// Units of one material. What is beyond is dropped and audited. Default 12.
    pub max_units: usize,
    /// Facts of one unit. Default 16.
    pub max_facts: usize,
    /// Characters of one fact's text. A longer fact is dropped and audited. Default 600.
    pub max_fact_chars: usize,
    /// A subject above this many estimated tokens takes in no more facts: a new note is made and
    /// linked. Default 4,000.
    pub subject_tokens: usize,
    /// Sources that one block may name. What is said once more beyond that is counted as known.
    /// Default 8.
    pub max_sources: usize,
    /// Share of a fact's content words that must stand in its evidence, 0..=1. Default 0.34
    /// (measured: drops no right fact of a small model, and 8 % of a strong one's).
    pub min_support: f64,
    /// After this many materials in a row whose model call failed, the run stops and leaves the
    /// rest pending. Default 3.
    pub max_failures: usize,
    /// Minutes that a material is left alone after its second failure (after the first it is tried at
    /// the next run); each further one doubles them. 0: it is tried at each run. Default 5.
    pub retry_after: u64,
    /// Minutes that a material is left alone at most. Default 1,440, a day.
    pub retry_within: u64,
    /// Upper bound of a model's reply in tokens. Default 4,096.
    pub max_output_tokens: u32,
    /// What a million tokens cost, for the report; none without a price.
    pub price: Option<Price>,
}

/// What a model's tokens cost, in a currency of the user's choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// For a million tokens that are read.
    pub input: f64,
    /// For a million tokens that are written.
    pub output: f64,
    /// The currency, as it is shown. Default `USD`.
    #[serde(default = "usd")]
    pub currency: String,
}

fn usd() -> String {
    "USD".to_owned()
}

impl Default for DreamConfig {
    fn default() -> Self {
        Self {
            neighbours: 24,
            fan_out: 4,
            max_replans: 3,
            material_tokens: 3_000,
            max_material_bytes: 1024 * 1024,
            max_units: 12,
            max_facts: 16,
            max_fact_chars: 600,
            subject_tokens: 4_000,
            max_sources: 8,
            min_support: 0.34,
            max_failures: 3,
            retry_after: 5,
            retry_within: 1_440,
            max_output_tokens: 4_096,
            price: None,
        }
    }
}
