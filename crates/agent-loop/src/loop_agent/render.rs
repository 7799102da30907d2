//! A round of calls and a conversation as text.

use dormouse_model::{Message, Role};
use serde_json::json;

/// JSON with sorted keys, so that equal arguments are equal text.
pub(super) fn canonical(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Object(map) => {
            let sorted: std::collections::BTreeMap<_, _> = map.iter().map(|(k, v)| (k, canonical(v))).collect();
            format!("{sorted:?}")
        }
        serde_json::Value::Array(items) => {
            format!("{:?}", items.iter().map(canonical).collect::<Vec<_>>())
        }
        other => other.to_string(),
    }
}

/// The conversation for a model that knows no tools: calls and results as text.
pub(super) fn as_text(messages: Vec<Message>) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        match message.role {
            Role::Tool => {
                let mark = if message.is_error { " error=\"true\"" } else { "" };
                let text = format!("<TOOL_RESULT{mark}>\n{}\n</TOOL_RESULT>", message.content);
                match out.last_mut() {
                    Some(last) if last.role == Role::User && last.content.starts_with("<TOOL_RESULT") => {
                        last.content.push('\n');
                        last.content.push_str(&text);
                    }
                    _ => out.push(Message::user(text)),
                }
            }
            Role::Assistant if !message.tool_calls.is_empty() => {
                let mut text = message.content;
                for call in message.tool_calls {
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    text.push_str(&format!(
                        "<TOOL_CALL>{}</TOOL_CALL>",
                        json!({ "name": call.name, "arguments": call.arguments })
                    ));
                }
                out.push(Message::assistant(text));
            }
            _ => out.push(message),
        }
    }
    out
}
