//! How far the vectors are.

use serde::{Deserialize, Serialize};

/// How far the vectors of a vault are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MeaningStatus {
    /// The embedder's id.
    pub model: String,
    /// Notes whose blocks all have vectors.
    pub notes: usize,
    /// Notes in the vault.
    pub of_notes: usize,
    /// Texts that have a vector, in all of the vault.
    pub vectors: usize,
    /// Texts that the embedder would not take while it took others; they are found by their words.
    pub refused: usize,
    /// Why the embedder failed last; none when it works.
    pub problem: Option<String>,
    /// Whether nothing is left to be embedded.
    pub idle: bool,
}
