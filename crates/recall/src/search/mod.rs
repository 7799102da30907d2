//! `search`: from a query to notes with their best passages.
//!
//! query → terms → evidence (what stands where) → blocks (scores with their surroundings) →
//! factors (what the note is) → links → pairs (a digest and its source are one result) → passages.

mod alike;
mod blocks;
mod calendar;
mod candidate;
mod centrality;
mod citations;
mod dates;
mod evidence;
mod factors;
mod links;
mod page;
mod pairs;
mod passages;
mod phrase;
mod query;
mod relative;
mod reply;
mod request;
mod run;
mod signals;
mod terms;
mod wording;

pub(crate) use citations::Citations;
pub(crate) use page::{Page, expand};
pub(crate) use passages::cut;
pub(crate) use query::Query;
pub use reply::{Citation, Expanded, Explain, Hit, LeftOut, Named, Passage, SearchReply, SignalFreshness, SignalState};
pub use request::{SearchRequest, SignalSwitches};
pub(crate) use run::{Pairing, run};
pub(crate) use signals::MetaCache;
