//! Asks a scripted model for structured output and reads it: no network, no key.
//!
//! `cargo run -p dormouse-model --example offline`
#![allow(clippy::print_stdout, reason = "an example prints")]

use dormouse_model::{LanguageModel, Message, OutputSchema, Reply, Request, ScriptedModel};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = OutputSchema {
        name: "verdict".into(),
        schema: json!({
            "type": "object",
            "required": ["keep", "why"],
            "properties": {"keep": {"type": "boolean"}, "why": {"type": "string"}},
        }),
    };
    let model = ScriptedModel::from_rule(|request| {
        let about = request.messages.last().map(|m| m.content.len()).unwrap_or_default();
        Ok(Reply::text(format!("```json\n{{\"keep\": {}, \"why\": \"{about} bytes\"}}\n```", about > 20)))
    });
    for text in ["hello", "We chose BM25 over vectors because it was six points better."] {
        let request =
            Request { messages: vec![Message::user(text)], schema: Some(schema.clone()), ..Request::default() };
        let verdict = schema.check(&model.complete(request).await?.text)?;
        println!("{text}\n  -> {verdict}");
    }
    Ok(())
}
