//! Topics: what a host might raise with the user today. Follow-ups with a day, questions that nothing
//! has answered, subjects that keep coming up.
//!
//! Found by rules in daily events alone, English and Chinese; the same events give the same topics.
//! What was raised or resolved stays so, and is not found again under other words.

mod dates;
mod find;
mod says;
mod store;

pub use store::{TopicMark, mark_topic, refresh_topics};
