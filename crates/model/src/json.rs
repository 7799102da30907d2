//! JSON as models write it: bare, fenced, behind prose or a think block, with trailing commas.

use serde_json::{Deserializer, Value};

/// The JSON values in a model's text, in the order in which a reader should try them: the whole
/// text, ```` ```json ```` blocks, other fenced blocks, then every object or array that stands in
/// running text. `<think>` blocks are skipped and trailing commas forgiven. Bare scalars count only
/// as the whole text. Linear in the text's length, nesting counted up to 128 levels.
#[must_use]
pub fn json_in(text: &str) -> Vec<Value> {
    let text = without_thoughts(text);
    let text = text.trim();
    if let Some(value) = parse(text) {
        return vec![value];
    }
    let fences = fences(text);
    let (tagged, other): (Vec<_>, Vec<_>) = fences.iter().partition(|(tag, _)| tag.eq_ignore_ascii_case("json"));
    let mut found: Vec<Value> = tagged.into_iter().chain(other).filter_map(|(_, body)| parse(body)).collect();
    found.retain(|v| v.is_object() || v.is_array());
    if found.is_empty() {
        found = in_prose(text);
    }
    found
}

/// The text without `<think>…</think>`; an unclosed block swallows the rest, as models do when cut.
fn without_thoughts(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("<think>") {
        out.push_str(rest.get(..at).unwrap_or_default());
        rest = match rest.get(at..).and_then(|r| r.find("</think>").map(|end| (r, end))) {
            Some((block, end)) => block.get(end + "</think>".len()..).unwrap_or_default(),
            None => "",
        };
    }
    out.push_str(rest);
    out
}

/// One value that is all of `text`; trailing commas before `}` and `]` are dropped if it must be.
fn parse(text: &str) -> Option<Value> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    serde_json::from_str(text)
        .ok()
        .or_else(|| text.starts_with(['{', '[']).then(|| serde_json::from_str(&without_trailing_commas(text)).ok())?)
}

fn without_trailing_commas(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    // Where a comma was written with only blanks after it so far.
    let mut comma: Option<usize> = None;
    for c in text.chars() {
        if in_string {
            (in_string, escaped) = match c {
                _ if escaped => (true, false),
                '\\' => (true, true),
                '"' => (false, false),
                _ => (true, false),
            };
        } else {
            match c {
                '"' => (in_string, comma) = (true, None),
                ',' => comma = Some(out.len()),
                '}' | ']' => {
                    if let Some(at) = comma.take() {
                        out.truncate(at);
                    }
                }
                c if c.is_whitespace() => {}
                _ => comma = None,
            }
        }
        out.push(c);
    }
    out
}

/// Fenced blocks as `(info word, body)`.
fn fences(text: &str) -> Vec<(&str, &str)> {
    let mut out = Vec::new();
    let mut open: Option<(&str, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some(info) = line.trim_start().strip_prefix("```") {
            match open.take() {
                None => open = Some((info.trim().trim_matches('`'), at + line.len())),
                Some((tag, from)) => out.push((tag, text.get(from..at).unwrap_or_default())),
            }
        }
        at += line.len();
    }
    // A reply that was cut leaves its fence open.
    if let Some((tag, from)) = open {
        out.push((tag, text.get(from..).unwrap_or_default()));
    }
    out
}

/// Objects and arrays of objects that stand in running text. A failed try at one `{` costs at most
/// the parser's depth limit, so that the whole stays linear.
fn in_prose(text: &str) -> Vec<Value> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(step) = text.get(at..).and_then(|rest| rest.find('{')) {
        at += step;
        let rest = text.get(at..).unwrap_or_default();
        let mut stream = Deserializer::from_str(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                at += stream.byte_offset();
                out.push(value);
            }
            _ => at += 1,
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::json_in;
    use serde_json::json;

    #[test]
    fn whole_text_fences_and_prose_are_read() {
        assert_eq!(json_in("{\"a\":1}"), [json!({"a": 1})]);
        assert_eq!(json_in("3"), [json!(3)]);
        assert_eq!(json_in("Sure:\n```json\n{\"a\": [1, 2,],}\n```\nDone."), [json!({"a": [1, 2]})]);
        assert_eq!(json_in("{\"a\":1} and {\"b\":2}"), [json!({"a": 1}), json!({"b": 2})]);
        assert_eq!(json_in("<think>{\"no\":1}</think>好的：{\"是\": true}。"), [json!({"是": true})]);
        assert_eq!(json_in("no json here, not even { this }"), [] as [serde_json::Value; 0]);
    }

    #[test]
    fn json_blocks_come_before_other_fences() {
        let text = "```python\n{\"x\": 1}\n```\n```json\n{\"y\": 2}\n```";
        assert_eq!(json_in(text), [json!({"y": 2}), json!({"x": 1})]);
    }

    #[test]
    fn commas_inside_strings_stay() {
        assert_eq!(json_in("{\"a\": \",}\", \"b\": \"x\\\",]\",}"), [json!({"a": ",}", "b": "x\",]"})]);
    }

    #[test]
    fn hostile_text_takes_no_time() {
        let deep = "{\"a\":".repeat(50_000);
        assert!(json_in(&deep).is_empty());
        assert!(json_in(&"{".repeat(100_000)).is_empty());
        assert!(json_in(&"```\n".repeat(20_000)).is_empty());
    }
}
