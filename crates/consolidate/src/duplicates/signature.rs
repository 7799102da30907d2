//! What the search keeps of a note: a small signature that is a pure function of what it says.

use std::hash::Hasher;
use std::ops::Range;

use dormouse_vault::text::{content_words, estimate_tokens, sentences};
use serde::{Deserialize, Serialize};

use crate::rng::mix;

/// Features that a sketch holds at most.
pub(super) const SKETCH: usize = 128;
/// Words in a shingle.
pub(super) const SHINGLE: usize = 3;

/// A note's signature: at most 540 bytes, whatever the note's length.
///
/// Features are runs of three content words within a sentence (of Chinese, of three bigrams: four
/// characters) and whole sentences, so that order between sentences does not count. The sketch
/// holds the smallest 128 of their hashes: all of a short note, a fair sample of a long one, and
/// the same features of two notes that share them (a bottom-k sketch; Broder 1997, Cohen and
/// Kaplan 2007). Equal statements give equal signatures, on every machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Signature {
    /// Hash of all its content words in order; 0 when it has none.
    pub(super) text: u64,
    /// Estimated tokens.
    pub(super) tokens: u32,
    /// Ascending, no two the same.
    pub(super) sketch: Vec<u32>,
}

impl Signature {
    /// The signature of what a note says: its text without headings, provenance and lists of
    /// links. Linear.
    #[must_use]
    pub fn of(statement: &str) -> Self {
        let mut sketch = Vec::new();
        let (mut text, mut any) = (0_u64, false);
        for sentence in sentences_of(statement) {
            let words = word_hashes(sentence);
            any |= !words.is_empty();
            text = words.iter().fold(text, |hash, word| mix(hash ^ word).rotate_left(1));
            sketch.extend(features(&words));
        }
        sketch.sort_unstable();
        sketch.dedup();
        sketch.truncate(SKETCH);
        sketch.shrink_to_fit();
        let text = if any { text.max(1) } else { 0 };
        Self { text, tokens: u32::try_from(estimate_tokens(statement)).unwrap_or(u32::MAX), sketch }
    }

    /// Hash of what the note says, of its words in their order: equal for texts that differ in
    /// marks, blanks and function words alone. 0 for a note that says nothing.
    #[must_use]
    pub const fn says(&self) -> u64 {
        self.text
    }
}

/// The sentences of a text. A line that goes on in the next one is one with it, so that text is the
/// same however it is wrapped. Linear.
pub(super) fn sentences_of(statement: &str) -> impl Iterator<Item = &str> {
    let mut pending: Option<Range<usize>> = None;
    let mut out: Vec<Range<usize>> = Vec::new();
    for next in sentences(statement) {
        match &mut pending {
            Some(last) if goes_on(statement, last, &next) => last.end = next.end,
            _ => out.extend(pending.replace(next)),
        }
    }
    out.extend(pending);
    out.into_iter().filter_map(|range| statement.get(range))
}

/// Whether the sentence at `next` continues the one at `last`, which was cut by a line end alone.
fn goes_on(text: &str, last: &Range<usize>, next: &Range<usize>) -> bool {
    let gap = text.get(last.end..next.start).unwrap_or("");
    if gap.matches('\n').count() != 1 || gap.chars().any(|c| !c.is_whitespace()) {
        return false;
    }
    let before = text.get(last.clone()).unwrap_or("");
    let ended = before.ends_with(['.', '!', '?', '。', '！', '？', '；', '…', ':', '：', '|']);
    let line = before.rsplit('\n').next().unwrap_or(before);
    let wide = line.chars().map(|c| if dormouse_vault::text::is_cjk(c) { 2 } else { 1 }).sum::<usize>() >= 40;
    let first = text.get(next.clone()).and_then(|s| s.chars().next()).unwrap_or('-');
    !ended && wide && (first.is_alphabetic() || first.is_numeric())
}

/// The content words of a sentence, as hashes.
pub(super) fn word_hashes(sentence: &str) -> Vec<u64> {
    content_words(sentence).iter().map(|word| hash(word.as_bytes())).collect()
}

/// The features of a sentence: its runs of words, and the whole of it.
pub(super) fn features(words: &[u64]) -> impl Iterator<Item = u32> {
    words.windows(SHINGLE).map(shingle).chain((!words.is_empty()).then(|| whole(words)))
}

/// The feature of one run of words.
pub(super) fn shingle(run: &[u64]) -> u32 {
    (run.iter().fold(0x5851_F42D_4C95_7F2D, |hash, word| mix(hash ^ word)) >> 32) as u32
}

/// The feature of a whole sentence.
pub(super) fn whole(words: &[u64]) -> u32 {
    (key(words) >> 32) as u32
}

/// The hash of a whole sentence.
pub(super) fn key(words: &[u64]) -> u64 {
    words.iter().fold(0x1405_7B7E_F767_814F, |hash, word| mix(hash ^ word))
}

/// FNV-1a, mixed: the same on every machine.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let mut fnv = Fnv(0xCBF2_9CE4_8422_2325);
    fnv.write(bytes);
    mix(fnv.0)
}

struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_sentences_wrapping_and_marks_do_not_change_the_sketch() {
        let of = |text: &str| Signature::of(text);
        let (a, b) = (
            of("Herons fish at dawn here. Otters sleep all day."),
            of("Otters sleep all day! Herons fish at dawn here."),
        );
        assert_eq!(a.sketch, b.sketch);
        assert_ne!(a.says(), b.says());
        let wrapped = of("The grey heron that fishes in the shallow\nwater at dawn is a patient bird.");
        assert_eq!(
            wrapped.sketch,
            of("The grey heron that fishes in the shallow water at dawn is a patient bird.").sketch
        );
        assert_eq!(of("…").says(), 0);
    }

    #[test]
    fn a_signature_is_small_however_long_the_note_is() {
        let long: String = (0..5000).map(|i| format!("Word{i} stands beside thing{} here. ", i * 7)).collect();
        let signature = Signature::of(&long);
        assert_eq!(signature.sketch.len(), SKETCH);
        let json = serde_json::to_string(&signature).unwrap();
        assert_eq!(serde_json::from_str::<Signature>(&json).unwrap(), signature);
    }
}
