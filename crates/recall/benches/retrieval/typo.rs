//! A slip of the finger: one edit in one content word of a question.

use dormouse_fixtures::SplitMix64;
use dormouse_vault::text::content_words;

use crate::data::Question;

/// The question with one letter of one content word of four or more lost, doubled, wrong or swapped
/// with its neighbour; as it is when it has no such word. The same slip for the same question.
pub(crate) fn slip(question: &Question) -> Question {
    let seed =
        question.id.bytes().fold(20_261_130_u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let mut random = SplitMix64(seed);
    let content = content_words(&question.query);
    let words: Vec<&str> = question.query.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
    let plain = |word: &&str| word.trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let slips: Vec<usize> = words
        .iter()
        .enumerate()
        .filter(|(_, word)| {
            let word = plain(word);
            word.chars().count() >= 4
                && word.chars().all(|c| c.is_ascii_alphabetic())
                && content.iter().any(|have| have.to_lowercase() == word.to_lowercase())
        })
        .map(|(at, _)| at)
        .collect();
    let Some(&at) = slips.get(random.below(slips.len())) else {
        return question.clone();
    };
    let query: String = words
        .iter()
        .enumerate()
        .map(|(here, word)| if here == at { edited(word, &mut random) } else { (*word).to_owned() })
        .collect();
    Question { query, ..question.clone() }
}

fn edited(word: &str, random: &mut SplitMix64) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let length = letters.iter().take_while(|c| c.is_alphanumeric()).count();
    // The first letter is seldom wrong.
    let at = 1 + random.below(length.saturating_sub(2));
    let wrong = char::from(b'a' + u8::try_from(random.below(26)).unwrap_or(0));
    match random.below(4) {
        0 => {
            letters.remove(at);
        }
        1 => letters.insert(at, wrong),
        2 => letters.iter_mut().skip(at).take(1).for_each(|letter| *letter = wrong),
        _ => letters.swap(at, at + 1),
    }
    letters.into_iter().collect()
}
