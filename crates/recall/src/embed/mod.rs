//! Meaning, optional: vectors of blocks beside their words.
//!
//! A caller sets an [`Embedder`]: a static model from a folder, an endpoint, or one of its own. A
//! thread embeds the blocks that have no vector yet, the vectors are kept under
//! `.dormouse/vectors` by the hash of the embedded text, and a query uses what is there. Nothing
//! here ever makes a write or a query wait for a model: an embedder that fails, loads or is slow
//! costs the signal, and the reply says so.

mod embedder;
#[cfg(feature = "embed-http")]
mod endpoint;
mod error;
mod file;
mod meaning;
mod places;
mod rows;
mod scripted;
#[cfg(feature = "embed")]
mod static_model;
mod status;
mod texts;
mod vectors;
mod worker;

pub use embedder::Embedder;
#[cfg(feature = "embed-http")]
pub use endpoint::{EndpointEmbedder, EndpointSettings};
pub use error::EmbedError;
pub(crate) use meaning::{Asked, Meaning};
pub use scripted::ScriptedEmbedder;
#[cfg(feature = "embed")]
pub use static_model::StaticEmbedder;
pub use status::MeaningStatus;
