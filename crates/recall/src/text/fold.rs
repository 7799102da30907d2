//! Folding: one spelling for what a reader takes for the same word.

use unicode_normalization::UnicodeNormalization;

/// Lower case, compatibility forms and Latin, Greek and Cyrillic accents folded away, final sigma
/// as sigma. Marks of other scripts stay, since they are vowels there. Linear.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let lower = text.nfkc().flat_map(char::to_lowercase);
    let open = lower.nfkd().filter(|c| !matches!(u32::from(*c), 0x300..=0x36F));
    open.map(|c| if c == 'ς' { 'σ' } else { c }).nfc().collect()
}
