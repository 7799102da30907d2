//! `search`: from a query to notes with their best passages.
//!
//! query → terms → evidence (what stands where) → blocks (scores with their surroundings) →
//! factors (what the note is) → links → pairs (a digest and its source are one result) → passages.

mod alike;
mod allowed;
mod blocks;
mod candidate;
mod citations;
mod dates;
mod evidence;
mod factors;
mod links;
mod meaning;
mod pairs;
mod passages;
mod query;
mod reply;
mod request;
mod run;
mod signals;
mod terms;

pub(crate) use citations::Citations;
pub use reply::{Citation, Explain, Hit, Named, Passage, SearchReply, SignalFreshness, SignalState};
pub use request::{SearchRequest, SignalSwitches};
pub(crate) use run::{Pairing, run};
pub(crate) use signals::MetaCache;
