//! `context`: recall packed into one cited Markdown block for a model.

use dormouse_vault::NotePath;
use serde::{Deserialize, Serialize};

/// A block of Markdown within a token budget.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ContextBlock {
    /// The text: facts of digests first, then source blocks, each with its number. Empty when
    /// nothing was found.
    pub markdown: String,
    /// What the numbers mean, in order.
    pub citations: Vec<ContextCitation>,
    /// An estimate of the tokens of `markdown`, at most the budget.
    pub tokens: usize,
    /// What could not be used.
    pub warnings: Vec<String>,
}

/// A numbered passage of a [`ContextBlock`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ContextCitation {
    /// The number in the text, from 1.
    pub number: usize,
    /// The note.
    pub path: NotePath,
    /// Its block id, where it has one.
    pub block_id: Option<String>,
    /// First and last line in the file, 1-based.
    pub lines: (u32, u32),
}
