//! The language-model port: everything that Dormouse asks of a model, and nothing of any vendor.
//!
//! A [`Request`] goes in, a [`Reply`] comes out, through one object-safe trait, [`LanguageModel`].
//! Prompts and the reading of replies belong to the stage that asks; this crate holds only what all
//! of them need:
//!
//! - **doubles** for tests and offline work: [`ScriptedModel`] answers from a list or a rule and
//!   remembers what it was asked, [`RecordedModel`] answers from a file of recorded replies;
//! - **one retry layer**, [`Retrying`], which honours `Retry-After`; nothing else here retries;
//! - **schemas**: [`OutputSchema::check`] reads the JSON in a reply and checks it, whether or not
//!   the provider enforced the schema;
//! - **real providers** in one file behind the feature `genai`: `GenaiModel`, made from plain
//!   [`ModelSettings`], which also parse from one line such as `openai:qwen@http://127.0.0.1:18081/v1/`.
//!
//! ```
//! use dormouse_model::{LanguageModel, Message, OutputSchema, Reply, Request, ScriptedModel};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = OutputSchema {
//!     name: "colour".into(),
//!     schema: json!({"type": "object", "required": ["hex"], "properties": {"hex": {"type": "string"}}}),
//! };
//! let model = ScriptedModel::new(vec![Reply::text("Here you are: {\"hex\": \"#8a7f6d\"}")]);
//! let request = Request {
//!     messages: vec![Message::user("The colour of a dormouse?")],
//!     schema: Some(schema.clone()),
//!     ..Request::default()
//! };
//! let reply = model.complete(request).await?;
//! assert_eq!(schema.check(&reply.text)?, json!({"hex": "#8a7f6d"}));
//! assert_eq!(model.requests().len(), 1);
//! # Ok(())
//! # }
//! ```

mod error;
#[cfg(feature = "genai")]
mod genai;
mod json;
mod model;
mod recorded;
mod reply;
mod request;
mod retry;
mod schema;
mod scripted;
mod settings;
mod usage;

pub use error::ModelError;
#[cfg(feature = "genai")]
pub use genai::GenaiModel;
pub use json::json_in;
pub use model::{Delta, DeltaStream, LanguageModel};
pub use recorded::RecordedModel;
pub use reply::{FinishReason, Reply, ToolCall};
pub use request::{Message, OutputSchema, Request, Role, ToolChoice, ToolSpec};
#[cfg(feature = "genai")]
pub use retry::TokioPause;
pub use retry::{Pause, RetryPolicy, Retrying};
pub use schema::{Fault, SchemaMismatch, check_value};
pub use scripted::ScriptedModel;
pub use settings::{Adapter, ModelSettings, SpecError};
pub use usage::Usage;
