//! Case folding for names: one character at a time, so that no context (the Greek final sigma)
//! makes two spellings of a name differ.

use unicode_normalization::UnicodeNormalization;

/// `text` in lower case. Linear.
pub(crate) fn case(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).map(|c| if c == 'ς' { 'σ' } else { c }).collect()
}

/// The form in which names and paths are compared: NFC, no-break spaces as spaces, lower case.
pub(crate) fn name(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let spaced = text.chars().map(|c| if matches!(c, '\u{A0}' | '\u{202F}') { ' ' } else { c });
    case(&spaced.nfc().collect::<String>()).nfc().collect()
}
