//! Recall: cue → answer, over an Obsidian vault.
//!
//! Three questions, three verbs, never merged into one: [`Recall::list`] (which notes are in a
//! state), [`Recall::search`] (which notes speak of something) and [`Recall::traverse`] (what is
//! linked). [`Recall::context`] packs what a search found into a cited Markdown block for a model.
//!
//! The unit of a search is the block: a paragraph, a list item, a turn of a dialogue. Its words are
//! looked up in an index behind a port ([`BlockIndex`]); everything that makes a score stays outside
//! of it. A block's text score is a sum of what stands in it, around it and in its note; the note's
//! layer, inbound links, theme and freshness are factors in 0.5..=2 on top. Each part can be switched
//! off ([`SignalSwitches`]), is shown by `explain`, and has its measurement in docs/ranking.md.
//!
//! With an embedder ([`Recall::with_embedder`]) the likeness of meaning joins the words; a caller may
//! rewrite queries ([`QueryRewrite`]) and rerank notes ([`Reranker`]). Without any of them no
//! model is ever called.
//!
//! Recall reads. Its one write is the access spool, and its caches are `.dormouse/index` and
//! `.dormouse/vectors`, which can be deleted at any time. Whatever is missing, stale, corrupt or held by another process: a warning in
//! the reply, that factor is 1, and the answer still comes.
//!
//! ```
//! use std::sync::Arc;
//!
//! use dormouse_recall::{Recall, RecallConfig, SearchRequest};
//! use dormouse_vault::Vault;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = dormouse_fixtures::temp_vault("=== ferry.md\nThe ferry leaves at nine.\n");
//! let vault = Arc::new(Vault::open(folder.path())?);
//! let recall = Recall::open(vault, RecallConfig::default())?;
//! let reply = recall.search(&SearchRequest::new("when do ferries leave?"))?;
//! let hit = reply.hits.first().ok_or("nothing found")?;
//! assert_eq!(hit.path.as_str(), "ferry.md");
//! # Ok(())
//! # }
//! ```

mod config;
mod error;
mod recall;

mod conditions;
mod cursor;
mod filter;
mod list;
mod naming;
mod traits;
mod traverse;

mod text;
mod units;

mod index;
mod sync;

mod embed;
mod search;

mod access;
mod assist;
mod context;

pub use assist::{AssistError, QueryRewrite, RERANKED, Reranker};
pub use config::{Centrality, EmbedSettings, RecallConfig, Spreading};
pub use context::{ContextBlock, ContextCitation};
#[cfg(feature = "embed")]
pub use embed::StaticEmbedder;
pub use embed::{EmbedError, Embedder, MeaningStatus, ScriptedEmbedder};
#[cfg(feature = "embed-http")]
pub use embed::{EndpointEmbedder, EndpointSettings};
pub use error::RecallError;
pub use filter::{Condition, Filters};
pub use index::{
    Asked, Best, BlockIndex, Field, Found, IndexError, IndexView, IndexedNote, IndexedUnit, Marks, MemoryIndex,
    NoteKey, NoteTerms, Sought, Standing, TantivyIndex, Unit, UnitId,
};
pub use list::{ListReply, ListRequest, NoteSummary, SortBy, list};
pub use recall::{Recall, SyncProgress, SyncReport};
pub use search::{
    Citation, Expanded, Explain, Hit, LeftOut, Named, Passage, SearchReply, SearchRequest, SignalFreshness,
    SignalState, SignalSwitches,
};
pub use text::index_terms;
pub use traverse::{Direction, Reached, TraverseReply, TraverseRequest, Unresolved, Via, traverse};
