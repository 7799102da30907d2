//! Likeness of names, in any script.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

use super::signature;
use crate::rng::mix;

/// The key of a name: NFKC, lower-case, blanks collapsed. Never empty for a name with a visible
/// character: no script is thrown away.
pub(super) fn key(name: &str) -> String {
    let folded: String = name.nfkc().flat_map(char::to_lowercase).collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A hash of a key.
pub(super) fn hash(key: &str) -> u64 {
    signature::hash(key.as_bytes())
}

/// Whether a name says enough to be compared by likeness: not one short word, not one letter over
/// and over.
pub(super) fn is_telling(key: &str) -> bool {
    let short_word = key.chars().count() < 6 && !key.contains(' ');
    !short_word && entropy(key) >= 1.5
}

/// Shannon entropy of the characters, in bits.
fn entropy(text: &str) -> f64 {
    let mut chars: Vec<char> = text.chars().collect();
    chars.sort_unstable();
    let total = chars.len() as f64;
    chars.chunk_by(|a, b| a == b).map(|run| run.len() as f64 / total).map(|p| -p * p.log2()).sum()
}

fn trigrams(key: &str) -> BTreeSet<[char; 3]> {
    let chars: Vec<char> = key.chars().collect();
    chars.windows(3).filter_map(|w| <[char; 3]>::try_from(w).ok()).collect()
}

/// Jaccard of the character trigrams, 0..=1.
pub(super) fn likeness(a: &str, b: &str) -> f64 {
    let (a, b) = (trigrams(a), trigrams(b));
    let both = a.intersection(&b).count();
    let all = a.len() + b.len() - both;
    if all == 0 { 0.0 } else { both as f64 / all as f64 }
}

/// Hashes of which names with a likeness of 0.9 share at least one: the smallest trigram under each
/// of six orders. (They miss each other with probability 0.1⁶.)
pub(super) fn bands(key: &str) -> Vec<u64> {
    if !is_telling(key) {
        return Vec::new();
    }
    let grams: Vec<u64> =
        trigrams(key).into_iter().map(|g| signature::hash(g.iter().collect::<String>().as_bytes())).collect();
    (1..=6_u64).filter_map(|i| grams.iter().map(|g| mix(g ^ mix(i))).min().map(|h| h ^ mix(i << 32))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_15_chinese_names_keep_keys_of_their_own() {
        assert_eq!(key(" 发布 流程 "), "发布 流程");
        assert_ne!(key("发布流程"), key("备份流程"));
        assert_eq!(key("Ｂackup  Plan"), "backup plan");
    }

    #[test]
    fn item_14_short_and_flat_names_are_never_compared_by_likeness() {
        assert!(!is_telling("redis"));
        assert!(!is_telling("aaaaaaaaaa"));
        assert!(is_telling("release notes"));
        assert!(likeness("how to release the next version", "how to release the next versions") >= 0.9);
        assert!(likeness("how to release a version", "how to revert a version") < 0.9);
        assert_eq!(likeness("", ""), 0.0);
    }
}
