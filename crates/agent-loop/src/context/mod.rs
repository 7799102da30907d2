//! What goes into a request: note text as data, caps, and a conversation trimmed to the window.

mod cap;
mod fence;
mod trim;

pub use cap::{cap_bytes, cap_middle};
pub(crate) use fence::fenced_parts;
pub use fence::{DATA_NOTICE, fenced, without_fenced};
pub use trim::{TrimError, keep_last, message_tokens, trim_to};
