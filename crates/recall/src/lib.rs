//! Recall: cue → answer, over an Obsidian vault.

mod access;
mod config;
mod context;
mod error;
mod filter;
mod index;
mod list;
mod recall;
mod search;
mod sync;
mod text;
mod traverse;
mod units;

pub use config::RecallConfig;
pub use context::{ContextBlock, ContextCitation};
pub use error::RecallError;
pub use filter::Filters;
pub use index::{
    BlockIndex, Field, IndexError, IndexedNote, IndexedUnit, Marks, MemoryIndex, NoteKey, Posting,
    TantivyIndex, UnitId,
};
pub use list::{ListReply, ListRequest, NoteSummary, SortBy, list};
pub use recall::{Recall, SyncReport};
pub use search::{
    Citation, Explain, Hit, Named, Passage, SearchReply, SearchRequest, SignalFreshness,
    SignalState, SignalSwitches,
};
pub use traverse::{Direction, Reached, TraverseReply, TraverseRequest, Via, traverse};
