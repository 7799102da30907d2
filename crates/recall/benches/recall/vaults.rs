//! Vaults of any size: words by Zipf's law, links, dates, in two languages, from a seed.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use dormouse_fixtures::SplitMix64;

/// Words of the vocabulary, and characters of the Chinese one.
const WORDS: usize = 30_000;
const CHARACTERS: usize = 3_000;

/// Chance, with what a vault asks of it.
pub(crate) struct Random(pub(crate) SplitMix64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// A rank below `bound` by Zipf's law: the logarithm is even.
    fn zipf(&mut self, bound: usize) -> usize {
        let even = self.below(1 << 30) as f64 / f64::from(1 << 30);
        ((bound as f64).powf(even) as usize).saturating_sub(1).min(bound - 1)
    }
}

/// A word of its own for each number.
fn word(mut number: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "ke", "mi", "no", "ru", "sa", "te", "vi", "lo", "du", "fa", "ge", "hi", "po", "za", "wen"];
    let mut out = String::new();
    for _ in 0..4 {
        out.push_str(SYLLABLES[number % 16]);
        number /= 16;
    }
    out
}

fn say(random: &mut Random, chinese: bool, out: &mut String) {
    if chinese {
        (0..2).for_each(|_| out.push(char::from_u32(0x4E00 + random.zipf(CHARACTERS) as u32).unwrap()));
    } else {
        out.push_str(&word(random.zipf(WORDS)));
        out.push(' ');
    }
}

/// Words for a query, as they stand in the notes.
pub(crate) fn query(random: &mut Random, language: &str) -> String {
    let chinese = language == "zh" || (language == "mixed" && random.below(2) == 0);
    let mut out = String::new();
    for _ in 0..2 + random.below(4) {
        // Nobody asks for the most frequent words alone.
        if chinese {
            (0..2).for_each(|_| out.push(char::from_u32(0x4E00 + (20 + random.zipf(CHARACTERS - 20)) as u32).unwrap()));
        } else {
            write!(out, "{} ", word(20 + random.zipf(WORDS - 20))).unwrap();
        }
    }
    out
}

/// The path of a note.
pub(crate) fn name(number: usize) -> String {
    format!("daily/2026-{:02}-{:02}/note-{number:06}.md", 1 + number / 28 % 12, 1 + number % 28)
}

/// Writes the notes: six blocks of about thirty words, three links each.
pub(crate) fn generate(root: &Path, notes: usize, language: &str) {
    let mut random = Random(SplitMix64(7));
    for number in 0..notes {
        let file = root.join(name(number));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let chinese = language == "zh" || (language == "mixed" && number % 2 == 0);
        let mut text = String::from("# ");
        (0..3).for_each(|_| say(&mut random, chinese, &mut text));
        text.push_str("\n\n");
        for block in 0..6 {
            (0..25 + random.below(10)).for_each(|_| say(&mut random, chinese, &mut text));
            if block % 2 == 0 {
                write!(text, " [[note-{:06}]]", random.below(notes)).unwrap();
            }
            text.push_str("\n\n");
        }
        fs::write(file, text).unwrap();
    }
}
