//! `search`: from a query to notes with their best passages.

mod reply;
mod request;

pub use reply::{Citation, Explain, Hit, Named, Passage, SearchReply, SignalFreshness, SignalState};
pub use request::{SearchRequest, SignalSwitches};
