//! A vault of digest notes in English and Chinese: links within planted themes, sources, a few
//! notes that say the same.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use dormouse_fixtures::SplitMix64;

/// Notes of one theme.
const THEME: usize = 40;
/// Digests of one day's event.
const OF_A_DAY: usize = 5;

const SYLLABLES: [&str; 24] = [
    "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su", "ta", "ve", "wi", "xo",
    "yu", "za", "ber", "con", "dal",
];

/// A small random source.
struct Draw(SplitMix64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0.below(n)
    }

    /// Small numbers often, large ones seldom.
    fn skewed(&mut self, n: usize) -> usize {
        let (a, b) = (self.below(n), self.below(n));
        a * b / n.max(1)
    }
}

/// Writes `notes` digest notes below `root`, and the events that they cite.
pub(crate) fn generate(root: &Path, notes: usize) {
    let mut draw = Draw(SplitMix64(7));
    fs::create_dir_all(root.join("digest/wiki")).unwrap();
    fs::create_dir_all(root.join("digest/procedure")).unwrap();
    fs::create_dir_all(root.join("digest/personal")).unwrap();
    for day in 0..notes.div_ceil(OF_A_DAY) {
        let path = root.join(event(day)).with_extension("md");
        if day % 40 == 0 {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        fs::write(path, format!("---\nname: Event {day}\n---\nWhat was said on that day. ^b1\n")).unwrap();
    }
    for note in 0..notes {
        fs::write(root.join(name(note)).with_extension("md"), text(note, notes, &mut draw)).unwrap();
    }
}

/// The path of a note without its extension.
pub(crate) fn name(note: usize) -> String {
    let bucket = ["wiki", "procedure", "wiki", "personal"][note / THEME % 4];
    format!("digest/{bucket}/n{note:06}")
}

fn event(day: usize) -> String {
    let (folder, year) = (day / 40, 2020 + day / 40 / 336);
    format!("daily/{year}-{:02}-{:02}/e{day:06}", folder / 28 % 12 + 1, folder % 28 + 1)
}

fn text(note: usize, notes: usize, draw: &mut Draw) -> String {
    let theme = note / THEME;
    let chinese = theme % 3 == 2;
    // One in a hundred says what the note before it says.
    let source = if note % 100 == 99 { note - 1 } else { note };
    let mut own = Draw(SplitMix64(source as u64 * 31 + 5));
    let mut out = format!(
        "---\nname: {}\ndate: 2026-{:02}-{:02}\n---\n",
        title(note, theme, chinese),
        note % 11 + 1,
        note % 28 + 1
    );
    for block in 0..3 {
        for _ in 0..3 {
            sentence(&mut out, theme, chinese, &mut own);
        }
        let _ = writeln!(out, "(derived_from:: [[{}#^b1]]) ^b{}\n", cited(note, block, notes), block + 1);
    }
    for _ in 0..4 {
        let near = theme * THEME + draw.below(THEME);
        let target = if draw.below(20) == 0 { draw.below(notes) } else { near };
        let _ = writeln!(out, "- see [[{}]]", name(target.min(notes - 1)));
    }
    out
}

/// The event that a block cites: its note's own, or in the last block a near one.
fn cited(note: usize, block: usize, notes: usize) -> String {
    let own = note / OF_A_DAY;
    let near = own / 8 * 8 + note % 8;
    event(if block == 2 { near.min(notes.div_ceil(OF_A_DAY) - 1) } else { own })
}

fn title(note: usize, theme: usize, chinese: bool) -> String {
    if chinese {
        format!("{}{note}", hanzi(theme * 7 + note % 5))
    } else {
        format!("{} {note}", word(theme * 7 + note % 5))
    }
}

fn sentence(out: &mut String, theme: usize, chinese: bool, draw: &mut Draw) {
    for at in 0..8 {
        let id = if draw.below(4) == 0 { theme * 7 + draw.below(7) } else { 40_000 + draw.skewed(8_000) };
        if chinese {
            out.push_str(&hanzi(id));
        } else {
            out.push_str(if at > 0 { " " } else { "" });
            out.push_str(&word(id));
        }
    }
    out.push_str(if chinese { "。" } else { ". " });
}

fn word(id: usize) -> String {
    let mut draw = Draw(SplitMix64(id as u64));
    (0..2 + draw.below(3)).map(|_| SYLLABLES[draw.below(SYLLABLES.len())]).collect()
}

/// A word of two or three characters.
fn hanzi(id: usize) -> String {
    let mut draw = Draw(SplitMix64(id as u64 + 99));
    (0..2 + usize::from(id.is_multiple_of(4)))
        .filter_map(|_| char::from_u32(0x4E00 + draw.below(3_000) as u32))
        .collect()
}
