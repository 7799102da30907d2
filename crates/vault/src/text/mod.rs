//! Text measures that several stages share: words, sentences, slugs, token estimates. Unicode and
//! Chinese throughout. No ranking here: recall has its own analyzers.

mod sentences;
mod slug;
mod tokens;
mod words;

pub use sentences::sentences;
pub use slug::slug;
pub use tokens::{estimate_tokens, truncate_chars, truncate_tokens};
pub use words::{content_words, is_cjk, shingles, words};
