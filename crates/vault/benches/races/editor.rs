//! The other program: saves a note as editors do, each in one of four ways.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Instant;

use dormouse_fixtures::SplitMix64;

/// How an editor saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Cuts the file to nothing and writes it anew.
    Truncate,
    /// Writes another file and renames it over the note.
    Rename,
    /// Adds a line.
    Append,
    /// Holds the file open from before the race, and writes late.
    Held,
}

pub(crate) const STYLES: [Style; 4] = [Style::Truncate, Style::Rename, Style::Append, Style::Held];

impl Style {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Truncate => "truncate",
            Self::Rename => "rename",
            Self::Append => "append",
            Self::Held => "held",
        }
    }
}

/// A save that the editor was told is done.
pub(crate) struct Save {
    /// All that was written, whole.
    pub(crate) text: String,
    pub(crate) finished: Instant,
}

/// Small and repeatable.
pub(crate) struct Dice(pub(crate) SplitMix64);

impl Dice {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0.next() % n.max(1)
    }

    /// Passes a moment: none, a few looks at the clock, or up to a third of a millisecond.
    pub(crate) fn dawdle(&mut self) {
        let micros = match self.below(4) {
            0 => 0,
            1 => self.below(20),
            _ => self.below(330),
        };
        let start = Instant::now();
        while start.elapsed().as_micros() < u128::from(micros) {
            std::thread::yield_now();
        }
    }
}

/// One editor with one note.
pub(crate) struct Editor<'a> {
    pub(crate) note: &'a Path,
    pub(crate) style: Style,
    pub(crate) dice: Dice,
    pub(crate) held: Option<File>,
}

impl Editor<'_> {
    /// Opens the note before the race, where the style is to hold it.
    pub(crate) fn prepare(&mut self) {
        if self.style == Style::Held {
            self.held = Some(OpenOptions::new().read(true).write(true).open(self.note).unwrap());
        }
    }

    /// Saves the `n`-th time in race `race`.
    pub(crate) fn save(&mut self, race: usize, n: usize) -> Save {
        self.dice.dawdle();
        let text = match self.style {
            Style::Append => format!("- edit {race}.{n} appended\n"),
            _ => self.whole_text(race, n),
        };
        match self.style {
            Style::Truncate => {
                let file = OpenOptions::new().write(true).create(true).truncate(true).open(self.note).unwrap();
                self.write_slowly(file, &text);
            }
            Style::Rename => {
                let temp = self.note.with_extension("editor~");
                self.write_slowly(File::create(&temp).unwrap(), &text);
                fs::rename(&temp, self.note).unwrap();
            }
            Style::Append => {
                let file = OpenOptions::new().append(true).create(true).open(self.note).unwrap();
                self.dice.dawdle();
                self.write_slowly(file, &text);
            }
            Style::Held => {
                let mut file = self.held.as_ref().unwrap().try_clone().unwrap();
                file.seek(SeekFrom::Start(0)).unwrap();
                file.set_len(0).unwrap();
                self.write_slowly(file, &text);
            }
        }
        Save { text, finished: Instant::now() }
    }

    /// What an editor has on its screen: the note as it was, between two marks of this save.
    fn whole_text(&mut self, race: usize, n: usize) -> String {
        let mut body = String::new();
        if let Some(held) = &mut self.held {
            held.seek(SeekFrom::Start(0)).unwrap();
            held.read_to_string(&mut body).unwrap();
        } else {
            body = fs::read_to_string(self.note).unwrap_or_default();
        }
        let body: String = body.lines().filter(|line| line.starts_with("base ")).map(|l| format!("{l}\n")).collect();
        format!("- edit {race}.{n} begins\n{body}- edit {race}.{n} ends\n")
    }

    /// In pieces, as a buffer is flushed; closing it is the end of the save.
    fn write_slowly(&mut self, mut file: File, text: &str) {
        for piece in text.as_bytes().chunks(4096) {
            file.write_all(piece).unwrap();
            if self.dice.below(4) == 0 {
                std::thread::yield_now();
            }
        }
    }
}
