//! Tool calls that a model writes as text: `<TOOL_CALL>` tags, fenced or bare JSON.

use dormouse_model::{ToolCall, ToolSpec, json_in};
use serde_json::{Value, json};

use super::calls::resolve;

/// What was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextCallsRead {
    /// The reply without the calls.
    pub text: String,
    /// The calls; ids empty.
    pub calls: Vec<ToolCall>,
    /// Tags whose content is no call.
    pub malformed: usize,
}

/// Reads the calls in a reply's text. Tags count anywhere but in code fences and think blocks,
/// whatever their case. Without tags, JSON with the name of an offered tool counts: anywhere when
/// `anywhere`, else only when the reply is nothing else. Linear.
#[must_use]
pub fn read_text_calls(text: &str, specs: &[ToolSpec], anywhere: bool) -> TextCallsRead {
    let tagged = tagged(text);
    if !tagged.calls.is_empty() || tagged.malformed > 0 {
        return tagged;
    }
    let plain = TextCallsRead { text: text.to_owned(), ..TextCallsRead::default() };
    if specs.is_empty() || !(anywhere || is_only_json(text)) {
        return plain;
    }
    let calls: Vec<ToolCall> = json_in(text)
        .iter()
        .flat_map(|value| value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice))
        .filter_map(call)
        .filter(|call| resolve(&call.name, specs).is_some())
        .collect();
    if calls.is_empty() { plain } else { TextCallsRead { text: before_json(text), calls, malformed: 0 } }
}

fn tagged(text: &str) -> TextCallsRead {
    const OPEN: &str = "<tool_call>";
    const CLOSE: &str = "</tool_call>";
    let mut read = TextCallsRead::default();
    // ASCII case folding keeps byte positions.
    let lower = text.to_ascii_lowercase();
    let hidden = hidden_ranges(&lower);
    let mut at = 0;
    while let Some(found) = lower.get(at..).and_then(|rest| rest.find(OPEN)).map(|step| at + step) {
        if let Some(range) = hidden.iter().find(|range| range.contains(&found)) {
            read.text.push_str(text.get(at..range.end).unwrap_or_default());
            at = range.end;
            continue;
        }
        read.text.push_str(text.get(at..found).unwrap_or_default());
        let body_start = found + OPEN.len();
        let rest = lower.get(body_start..).unwrap_or_default();
        let (body_end, next) = match rest.find(CLOSE) {
            Some(end) => (body_start + end, body_start + end + CLOSE.len()),
            None => (text.len(), text.len()),
        };
        match json_in(text.get(body_start..body_end).unwrap_or_default()).first().and_then(call) {
            Some(call) => read.calls.push(call),
            None => read.malformed += 1,
        }
        at = next;
    }
    read.text.push_str(text.get(at..).unwrap_or_default());
    read.text = read.text.trim().to_owned();
    read
}

/// Think blocks and code fences, in order, not overlapping.
fn hidden_ranges(lower: &str) -> Vec<std::ops::Range<usize>> {
    let mut out: Vec<std::ops::Range<usize>> = Vec::new();
    let mut at = 0;
    loop {
        let rest = lower.get(at..).unwrap_or_default();
        let think = rest.find("<think>");
        let fence = rest.find("```");
        let (start, open, close) = match (think, fence) {
            (Some(t), Some(f)) if t < f => (t, "<think>", "</think>"),
            (_, Some(f)) => (f, "```", "```"),
            (Some(t), None) => (t, "<think>", "</think>"),
            (None, None) => return out,
        };
        let begin = at + start;
        let inside = begin + open.len();
        let end = lower.get(inside..).and_then(|r| r.find(close)).map_or(lower.len(), |e| inside + e + close.len());
        out.push(begin..end);
        at = end;
    }
}

/// `{"name": …, "arguments": {…}}` and the spellings that models use for it.
fn call(value: &Value) -> Option<ToolCall> {
    let inner = value.get("function").filter(|f| f.is_object()).unwrap_or(value);
    let name = ["name", "tool", "tool_name", "function"].iter().find_map(|key| inner.get(*key)?.as_str())?;
    let arguments = ["arguments", "parameters", "args", "input"].iter().find_map(|key| inner.get(*key));
    Some(ToolCall {
        id: String::new(),
        name: name.to_owned(),
        arguments: arguments.cloned().unwrap_or_else(|| json!({})),
    })
}

/// Whether the reply is one JSON value, bare or in one fence, and nothing else.
fn is_only_json(text: &str) -> bool {
    let text = text.trim();
    let bare = (text.starts_with('{') && text.ends_with('}')) || (text.starts_with('[') && text.ends_with(']'));
    let fenced = text.starts_with("```") && text.ends_with("```") && text.matches("```").count() == 2;
    bare || fenced
}

/// What the model said before its JSON.
fn before_json(text: &str) -> String {
    let end = text.find("```").into_iter().chain(text.find(['{', '['])).min().unwrap_or(0);
    text.get(..end).unwrap_or_default().trim().to_owned()
}

/// The instructions that describe the tools to a model without native calls.
pub(crate) fn manual(specs: &[ToolSpec]) -> String {
    let mut out = String::from(
        "You can call tools. To call one, write exactly this, once for each call, and nothing after it:\n<TOOL_CALL>{\"name\": \"tool name\", \"arguments\": {}}</TOOL_CALL>\nThe results come in the next message. Answer without a call when you need none.\n\nTools:\n",
    );
    for spec in specs {
        out.push_str(&format!("- {}: {} Arguments (JSON schema): {}\n", spec.name, spec.description, spec.parameters));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn specs() -> Vec<ToolSpec> {
        vec![ToolSpec { name: "Read".into(), description: "reads".into(), parameters: json!({"type": "object"}) }]
    }

    fn names(text: &str, anywhere: bool) -> (Vec<String>, usize, String) {
        let read = read_text_calls(text, &specs(), anywhere);
        (read.calls.iter().map(|c| format!("{} {}", c.name, c.arguments)).collect(), read.malformed, read.text)
    }

    #[test]
    fn tags_count_outside_fences_and_thoughts_only() {
        let text = "<think><TOOL_CALL>{\"name\":\"Edit\",\"arguments\":{}}</TOOL_CALL></think>Format:\n```\n<TOOL_CALL>{\"name\":\"Read\",\"arguments\":{\"file_path\":\"x\"}}</TOOL_CALL>\n```\n<tool_call>\n{\"name\": \"Read\", \"arguments\": {\"file_path\": \"src/main.rs\"}}\n</TOOL_CALL>\n<TOOL_CALL>{bad}</TOOL_CALL>";
        let (calls, malformed, _) = names(text, false);
        assert_eq!((calls, malformed), (vec!["Read {\"file_path\":\"src/main.rs\"}".to_owned()], 1));
    }

    #[test]
    fn json_that_names_an_offered_tool_is_a_call() {
        let fenced = "I will look.\n```json\n{\"name\": \"read\", \"arguments\": {\"p\": 1}}\n```";
        assert_eq!(names(fenced, true), (vec!["read {\"p\":1}".into()], 0, "I will look.".into()));
        assert_eq!(names(fenced, false).0, [] as [String; 0], "prose around it: an example, not a call");
        assert_eq!(names("{\"function\": {\"name\": \"Read\", \"parameters\": {}}}", false).0, ["Read {}"]);
        assert_eq!(names("{\"name\": \"Ada\", \"arguments\": {}}", true).0, [] as [String; 0]);
    }

    #[test]
    fn hostile_text_takes_no_time() {
        for piece in ["<TOOL_CALL>", "```", "<think>", "{\"name\":", "<TOOL_CALL></TOOL_CALL>"] {
            let _ = read_text_calls(&piece.repeat(20_000), &specs(), true);
        }
    }
}
