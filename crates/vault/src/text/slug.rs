//! File names from titles.

use unicode_normalization::UnicodeNormalization;

/// The longest slug in bytes; leaves room for a numeric suffix and an extension in 255.
const MAX_BYTES: usize = 80;

/// A file name (without extension) for a title: NFC, lower-case, words joined by `-`, letters and
/// digits of every script kept, at most 80 bytes, never empty, never a reserved device name. Titles
/// without a letter or digit get `note-` and a hash, so that two of them differ.
#[must_use]
pub fn slug(title: &str) -> String {
    let mut out = String::new();
    let mut gap = false;
    for c in title.nfc().flat_map(char::to_lowercase).collect::<String>().nfc() {
        if c.is_alphanumeric() || (is_mark(c) && !out.is_empty() && !gap) {
            let separator = usize::from(gap && !out.is_empty());
            if out.len() + separator + c.len_utf8() > MAX_BYTES {
                break;
            }
            if separator == 1 {
                out.push('-');
            }
            gap = false;
            out.push(c);
        } else if !matches!(c, '\'' | '’') {
            gap = true;
        }
    }
    if out.is_empty() {
        let hash = blake3::hash(title.as_bytes()).to_hex();
        out = format!("note-{}", hash.get(..8).unwrap_or("0"));
    }
    let reserved = matches!(out.as_str(), "con" | "prn" | "aux" | "nul")
        || (out.len() == 4
            && (out.starts_with("com") || out.starts_with("lpt"))
            && out.ends_with(|c: char| c.is_ascii_digit()));
    if reserved {
        out.push_str("-note");
    }
    out
}

/// Combining marks stay with their letter.
fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn titles_become_portable_names() {
        assert_eq!(slug("Why RRF lost: 6 points!"), "why-rrf-lost-6-points");
        assert_eq!(slug("The user's rule"), "the-users-rule");
        assert_eq!(slug("为什么用 BM25？"), "为什么用-bm25");
        assert_eq!(slug("CON"), "con-note");
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
    }

    #[test]
    fn titles_without_letters_stay_apart() {
        assert_ne!(slug("🎉"), slug("🚀"));
        assert!(slug("").starts_with("note-"));
    }

    #[test]
    fn long_titles_are_cut_at_a_character() {
        assert!(slug(&"漢".repeat(500)).len() <= 80);
        assert!(slug(&"word ".repeat(500)).len() <= 80);
    }
}
