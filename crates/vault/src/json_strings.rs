//! Where the values of a JSON text stand in it.

use std::ops::Range;

/// A string of a JSON text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct JsonString {
    /// The array or object of the second level that it lies in, counted through the text; strings
    /// of one node have one number.
    pub(crate) node: usize,
    /// The key of the top-level member that the node lies in.
    pub(crate) list: Range<usize>,
    /// Its own key in the node.
    pub(crate) key: Range<usize>,
    /// Its bytes between the quotes.
    pub(crate) span: Range<usize>,
}

/// The string members of the objects in the top-level lists: `{"list": [{"key": "string"}]}`.
/// `json` is known to be well formed. Linear, and does not recurse.
pub(crate) fn of_nodes(json: &str) -> Vec<JsonString> {
    let bytes = json.as_bytes();
    let mut found = Vec::new();
    // The open brackets; deeper than three nothing is of interest, so that their number is enough.
    let mut open: Vec<u8> = Vec::new();
    let mut depth = 0_usize;
    let (mut list, mut key) = (0..0, 0..0);
    let mut node = 0;
    let mut expects_key = false;
    let mut i = 0;
    while let Some(byte) = bytes.get(i) {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth <= 3 {
                    open.push(*byte);
                    node += usize::from(depth == 3);
                }
                expects_key = *byte == b'{';
            }
            b'}' | b']' => {
                if depth <= 3 {
                    open.pop();
                }
                depth = depth.saturating_sub(1);
                expects_key = false;
            }
            b',' => expects_key = open.last() == Some(&b'{') && depth <= 3,
            b':' => expects_key = false,
            b'"' => {
                let end = string_end(bytes, i + 1);
                let span = i + 1..end;
                if expects_key {
                    match depth {
                        1 => list = span,
                        3 => key = span,
                        _ => {}
                    }
                } else if open == [b'{', b'[', b'{'] && depth == 3 {
                    found.push(JsonString { node, list: list.clone(), key: key.clone(), span });
                }
                i = end;
            }
            _ => {}
        }
        i += 1;
    }
    found
}

/// The position of the quote that ends the string which begins at `from`.
fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut i = from;
    loop {
        match bytes.get(i) {
            None | Some(b'"') => return i.min(bytes.len()),
            Some(b'\\') => i += 2,
            Some(_) => i += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_nodes_are_found_with_their_list_and_key() {
        let json =
            r#"{"x": "no", "nodes": [{"a": "1", "deep": [{"b": "no"}, "no"], "c\"": "\"2"}, "no"], "o": {"p": "no"}}"#;
        let shown: Vec<_> = of_nodes(json)
            .into_iter()
            .map(|s| (s.node, json[s.list].to_owned(), json[s.key].to_owned(), json[s.span].to_owned()))
            .collect();
        let row = |key: &str, value: &str| (1, "nodes".to_owned(), key.to_owned(), value.to_owned());
        assert_eq!(shown, [row("a", "1"), row("c\\\"", "\\\"2")]);
    }
}
