//! Text for ranking: the one analyzer that reads notes and queries alike.

mod edit;
mod fold;
mod form;
mod kinds;
mod lexicon;
mod scan;

pub(crate) use edit::one_edit_apart;
pub(crate) use fold::fold;
pub(crate) use form::{asks_when, asks_where, is_time_word, marks, speaker};
pub(crate) use kinds::{kinds, kinds_asked};
pub(crate) use lexicon::is_frame;
pub use scan::index_terms;
pub(crate) use scan::{Role, Word, analyze};

/// Grows with every change of the analyzer that makes an index built before it wrong.
pub(crate) const ANALYZER_VERSION: u32 = 3;
