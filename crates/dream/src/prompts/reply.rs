//! Reading a reply: the JSON object in whatever stands around it.

use serde_json::{Map, Value};

use crate::error::ReplyFault;

/// So many places are tried where a value could begin.
const ATTEMPTS: usize = 256;

/// The last object in `text` that has `key` with an array in it: prose, fences and reasoning around
/// it are passed over, and what stands inside of reasoning counts for nothing.
pub(crate) fn object_with(text: &str, key: &str) -> Result<Map<String, Value>, ReplyFault> {
    let text = without_reasoning(text);
    if text.trim().is_empty() {
        return Err(ReplyFault::Empty);
    }
    let (values, unfinished) = values(&text);
    let fitting: Vec<Map<String, Value>> = values
        .into_iter()
        .filter_map(|value| match value {
            Value::Object(map) if map.get(key).is_some_and(Value::is_array) => Some(map),
            // A bare list of items, which small models like to send.
            Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_object) => {
                Some(Map::from_iter([(key.to_owned(), Value::Array(items))]))
            }
            _ => None,
        })
        .collect();
    let fault = if unfinished { ReplyFault::Truncated } else { ReplyFault::NoJson };
    fitting.into_iter().next_back().ok_or(fault)
}

/// The text without `<think>` and the like; a block that never closes reaches to the end.
fn without_reasoning(text: &str) -> String {
    let mut out = text.to_owned();
    for tag in ["think", "thinking", "reasoning", "thought"] {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        while let Some(start) = out.find(&open) {
            match out.get(start..).and_then(|rest| rest.find(&close)) {
                Some(end) => out.replace_range(start..start + end + close.len(), ""),
                None => out.truncate(start),
            }
        }
        // Some servers send the end of the reasoning alone.
        if let Some(end) = out.rfind(&close) {
            out.replace_range(..end + close.len(), "");
        }
    }
    out
}

/// All top-level JSON objects and arrays in a text, in order, and whether one began and did not end.
fn values(text: &str) -> (Vec<Value>, bool) {
    let mut found = Vec::new();
    let mut unfinished = false;
    let mut at = 0;
    for _ in 0..ATTEMPTS {
        let Some(start) = text.get(at..).and_then(|rest| rest.find(['{', '['])).map(|n| at + n) else {
            break;
        };
        let mut stream = serde_json::Deserializer::from_str(text.get(start..).unwrap_or("")).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                at = start + stream.byte_offset().max(1);
                found.push(value);
            }
            Some(Err(error)) => {
                unfinished |= error.is_eof();
                at = start + 1;
            }
            None => break,
        }
    }
    (found, unfinished)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<String, ReplyFault> {
        object_with(text, "units").map(|map| Value::Object(map).to_string())
    }

    #[test]
    fn the_object_is_found_in_prose_fences_and_reasoning() {
        let bare = r#"{"units":[1]}"#;
        assert_eq!(check(bare).as_deref(), Ok(bare));
        assert_eq!(check("Note {on trains}: {\"units\":[1]} Good luck {wave}.").as_deref(), Ok(bare));
        assert_eq!(check("```json\n{\"units\":[1]}\n```\nDone.").as_deref(), Ok(bare));
        assert_eq!(check("<think>or {\"units\":[2]}?</think>{\"units\":[1]}").as_deref(), Ok(bare));
        assert_eq!(check("so [1,2] it is</think>\n{\"units\":[1]}").as_deref(), Ok(bare));
        assert_eq!(check("[{\"name\":1}]").as_deref(), Ok(r#"{"units":[{"name":1}]}"#));
    }

    #[test]
    fn a_reply_without_it_is_a_fault_and_never_an_empty_success() {
        assert_eq!(check(" \n"), Err(ReplyFault::Empty));
        assert_eq!(check("<think>never closed {\"units\":[1]}"), Err(ReplyFault::Empty));
        assert_eq!(check("I can't help with that."), Err(ReplyFault::NoJson));
        assert_eq!(check("{\"units\": [{\"name\": \"half of the te"), Err(ReplyFault::Truncated));
        assert_eq!(check(&"{".repeat(100_000)), Err(ReplyFault::NoJson));
    }
}
