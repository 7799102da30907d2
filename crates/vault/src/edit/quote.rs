//! Any text as one YAML value.

/// `text` as one YAML value that means exactly this string, also in flow lists and to parsers of
/// YAML 1.1: plain where that is safe, else in double quotes.
#[must_use]
pub fn yaml_quote(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}') => {
                out.push_str(&format!("\\u{:04X}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Whether every YAML parser reads `text` unquoted as this string.
fn is_plain(text: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/');
    let safe =
        |c: char| word(c) || matches!(c, ' ' | '-' | '.' | '(' | ')' | '+') || "，。、；！？（）《》“”".contains(c);
    let reserved = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.ends_with(|c: char| c != ' ' && safe(c))
        && text.chars().all(safe)
        && !reserved.contains(&text.to_ascii_lowercase().as_str())
}
