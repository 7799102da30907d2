//! Placeholder
mod error; mod model; mod reply; mod request; mod usage;
pub use error::ModelError;
pub use model::{LanguageModel, Delta, DeltaStream};
pub use reply::{FinishReason, Reply, ToolCall};
pub use request::{Message, OutputSchema, Request, Role, ToolChoice, ToolSpec};
pub use usage::Usage;
