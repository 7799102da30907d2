//! What the stage remembers between runs, under `.dormouse/`: when each task last ran
//! (`consolidate.json`), and what was seen of each digest note (`consolidate/looked`), so that an
//! edit counts as activity without trusting a file's mtime, and a note that did not change is not
//! read through again.

use std::collections::HashMap;
use std::fs;

use chrono::{Datelike, Duration, NaiveDate};
use dormouse_vault::text::estimate_tokens;
use dormouse_vault::{CommitError, NotePath, NoteText, Vault, Version};
use serde::{Deserialize, Serialize};

use crate::cache;
use crate::error::ConsolidateError;
use crate::inputs::{Digest, Inputs};
use crate::progress::Watch;
use crate::reading::Reading;
use crate::scheduler::LastRuns;
use crate::time::{Dates, is_rule};

const FILE: &str = "consolidate.json";

/// The small part of the memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct State {
    pub(crate) last_runs: LastRuns,
}

impl State {
    pub(crate) fn load(vault: &Vault) -> Self {
        cache::load(vault, FILE).unwrap_or_default()
    }

    pub(crate) fn store(&self, vault: &Vault) -> Result<(), CommitError> {
        cache::store(vault, FILE, self)
    }
}

/// What was seen of one digest note. All but `written` is a pure function of its text and path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Looked {
    pub(crate) version: Version,
    /// The days on which other content than before was met; none as long as it is the first known.
    pub(crate) written: Written,
    /// The days that it states.
    pub(crate) dates: Dates,
    /// `pinned: true`.
    pub(crate) pinned: bool,
    /// It states a rule.
    pub(crate) rule: bool,
    /// Estimated tokens of its body.
    pub(crate) tokens: u32,
}

/// On which days a note was found changed: the last one, by each clock that was believed. Normally
/// one; more when the clock was set far ahead or back in between, so that a day it made up replaces
/// no true one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Written(pub(crate) Vec<NaiveDate>);

impl Written {
    const MOST: usize = 4;
    /// Changes further apart than this are told apart: by then the earlier one has lost its weight.
    const SPAN: Duration = Duration::days(120);

    fn on(mut self, today: NaiveDate) -> Self {
        let since = |day: &NaiveDate| today.signed_duration_since(*day);
        match self.0.iter_mut().find(|day| since(day) >= Duration::zero() && since(day) <= Self::SPAN) {
            Some(day) => *day = today,
            None => {
                if self.0.len() == Self::MOST {
                    self.0.remove(0);
                }
                self.0.push(today);
            }
        }
        self
    }
}

impl Looked {
    /// `read` is the note's text; without one the note is looked at again by the next run.
    fn of(digest: &Digest<'_>, read: Option<NoteText>, written: Written) -> Self {
        let doc = digest.note.document();
        let version = read.as_ref().map_or_else(|| Version::of(b""), |read| read.version);
        let text = read.map_or_else(String::new, |read| read.text);
        let tokens = estimate_tokens(text.get(doc.body.clone()).unwrap_or(""));
        let statement = Reading::of(&doc, &text).statement();
        if version == digest.note.version {
            digest.sign(&statement);
        }
        Self {
            version,
            written,
            dates: Dates::of(&digest.note, &doc),
            pinned: doc.frontmatter.is_true("pinned"),
            rule: is_rule(&digest.note, &statement),
            tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
        }
    }
}

/// What the last look saw, in path order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Looks {
    notes: Vec<(Box<str>, Looked)>,
}

impl Looks {
    const FILE: &'static str = "consolidate/looked";
    const HEAD: &'static [u8] = b"dormouse looked 1\n";
    /// What was kept; nothing when that is missing, cut or of another build.
    pub(crate) fn load(vault: &Vault) -> Self {
        let bytes = fs::read(vault.cache_dir().join(Self::FILE)).unwrap_or_default();
        Self { notes: Self::read(&bytes).unwrap_or_default() }
    }

    /// Keeps `looked`, the look at `inputs`. A note that could not be read yet is left out: what it
    /// says when it can be is no edit.
    pub(crate) fn store(vault: &Vault, inputs: &Inputs<'_>, looked: &[Looked]) -> Result<(), CommitError> {
        let nothing = Version::of(b"");
        let seen = inputs.digests.iter().zip(looked);
        let seen = seen.filter(|(digest, looked)| looked.version != nothing || digest.note.version == nothing);
        vault.write_cache(Self::FILE, &Self::bytes(seen.map(|(digest, looked)| (digest.path(), looked))))
    }

    /// The look of now: in the order of `inputs`, what the note's text says and the day on which
    /// it was found changed. On the first look nothing counts as changed, and neither does a note
    /// that is new (its own dates speak for it) or has moved: a fresh clone makes nothing recent.
    /// Reads through what has changed alone; else linear with a small constant.
    pub(crate) fn look(
        &self,
        inputs: &Inputs<'_>,
        today: NaiveDate,
        watch: &Watch<'_>,
    ) -> Result<Vec<Looked>, ConsolidateError> {
        let mut out = Vec::with_capacity(inputs.digests.len());
        let mut moved: Option<HashMap<Version, &Looked>> = None;
        let mut rest = self.notes.iter().peekable();
        for (at, digest) in inputs.digests.iter().enumerate() {
            if at % 64 == 0 {
                watch.check()?;
            }
            let (path, version) = (digest.path().as_str(), digest.note.version);
            while rest.next_if(|(have, _)| **have < *path).is_some() {}
            let before = rest.next_if(|(have, _)| **have == *path).map(|(_, looked)| looked);
            out.push(match before {
                Some(before) if before.version == version => before.clone(),
                Some(before) => match digest.note_text() {
                    Some(read) => Looked::of(digest, Some(read), before.written.clone().on(today)),
                    // One that can't be read just now has not been edited, as far as anybody knows.
                    None => before.clone(),
                },
                None => {
                    let moved = moved.get_or_insert_with(|| self.gone(inputs));
                    let written = moved.get(&version).map(|looked| looked.written.clone()).unwrap_or_default();
                    Looked::of(digest, digest.note_text(), written)
                }
            });
        }
        Ok(out)
    }

    /// What was seen of notes that are no more, by their content.
    fn gone(&self, inputs: &Inputs<'_>) -> HashMap<Version, &Looked> {
        let there = |path: &str| inputs.digests.binary_search_by(|d| d.path().as_str().cmp(path)).is_ok();
        self.notes.iter().filter(|(path, _)| !there(path)).map(|(_, looked)| (looked.version, looked)).collect()
    }

    fn bytes<'a>(notes: impl Iterator<Item = (&'a NotePath, &'a Looked)>) -> Vec<u8> {
        let day = |day: &NaiveDate| day.num_days_from_ce().to_le_bytes();
        let mut out = Self::HEAD.to_vec();
        for (path, looked) in notes {
            let path = path.as_str();
            let Ok(length) = u16::try_from(path.len()) else {
                continue;
            };
            out.extend_from_slice(&length.to_le_bytes());
            out.extend_from_slice(path.as_bytes());
            out.extend_from_slice(looked.version.as_bytes());
            out.extend_from_slice(&looked.tokens.to_le_bytes());
            out.push(u8::from(looked.pinned) | u8::from(looked.rule) << 1);
            for days in [&looked.dates.0, &looked.written.0] {
                let days = days.iter().take(usize::from(u8::MAX));
                out.push(days.len() as u8);
                days.for_each(|date| out.extend_from_slice(&day(date)));
            }
        }
        let sum = Version::of(&out);
        out.extend_from_slice(sum.as_bytes());
        out
    }

    fn read(bytes: &[u8]) -> Option<Vec<(Box<str>, Looked)>> {
        let (body, sum) = bytes.split_last_chunk::<16>()?;
        if Version::of(body).as_bytes() != sum {
            return None;
        }
        let mut from = Cut(body.strip_prefix(Self::HEAD)?);
        let mut out = Vec::new();
        while !from.0.is_empty() {
            let length = usize::from(u16::from_le_bytes(from.take()?));
            let path: Box<str> = std::str::from_utf8(from.some(length)?).ok()?.into();
            let version = Version::from_bytes(from.take()?);
            let tokens = u32::from_le_bytes(from.take()?);
            let [flags] = from.take()?;
            let (dates, written) = (Dates(from.days()?), Written(from.days()?));
            let (pinned, rule) = (flags & 1 != 0, flags & 2 != 0);
            out.push((path, Looked { version, written, dates, pinned, rule, tokens }));
        }
        Some(out)
    }
}

/// Bytes that are taken from the front.
pub(crate) struct Cut<'a>(pub(crate) &'a [u8]);

impl<'a> Cut<'a> {
    pub(crate) fn some(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    pub(crate) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }

    /// Days behind their number.
    fn days(&mut self) -> Option<Vec<NaiveDate>> {
        let [count] = self.take()?;
        (0..count).map(|_| NaiveDate::from_num_days_from_ce_opt(i32::from_le_bytes(self.take()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn looked(seed: u8) -> Looked {
        let day = |n: i32| NaiveDate::from_num_days_from_ce_opt(730_000 + n).unwrap();
        Looked {
            version: Version::of(&[seed]),
            written: Written((0..seed % 3).map(|n| day(i32::from(n) * 50)).collect()),
            dates: Dates((0..seed % 4).map(|n| day(i32::from(n))).collect()),
            pinned: seed.is_multiple_of(2),
            rule: seed.is_multiple_of(5),
            tokens: u32::from(seed) * 1000,
        }
    }

    #[test]
    fn a_day_that_a_wrong_clock_made_up_replaces_no_true_one() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        let days = ["2026-01-01", "2026-01-09", "2031-06-01", "2031-06-03", "2026-01-10", "2000-01-01", "2026-03-01"];
        let written = days.iter().fold(Written::default(), |written, text| written.on(day(text)));
        assert_eq!(written.0, [day("2026-03-01"), day("2031-06-03"), day("2000-01-01")]);
        let many =
            (0..9).fold(Written::default(), |written, n| written.on(day("2000-01-01") + Duration::days(400 * n)));
        assert_eq!(many.0.len(), Written::MOST);
    }

    #[test]
    fn a_note_that_cannot_be_read_just_now_has_not_been_edited() {
        let vault = dormouse_fixtures::temp_vault("=== digest/wiki/a.md\nold\n=== digest/wiki/b.md\nb\n");
        let open = Vault::open(vault.path()).unwrap();
        let watch = Watch { task: crate::Task::Time, progress: &crate::Silent, cancel: &|| false };
        // What is kept of a, by a run on this day that reads what lies there then.
        let mut day = NaiveDate::from_ymd_opt(2026, 11, 1).unwrap();
        let mut look = |lost: bool| {
            open.refresh().unwrap();
            let inputs = Inputs::of(&open, &watch).unwrap();
            let text = vault.read("digest/wiki/a.md");
            if lost {
                vault.remove("digest/wiki/a.md");
            }
            day = day.succ_opt().unwrap();
            let looked = Looks::load(&open).look(&inputs, day, &watch).unwrap();
            Looks::store(&open, &inputs, &looked).unwrap();
            vault.write("digest/wiki/a.md", text);
            let kept = Looks::load(&open).notes.into_iter().find(|(path, _)| path.ends_with("a.md"));
            kept.map(|(_, looked)| (looked.version, looked.written.0))
        };
        assert_eq!(look(true), None);
        assert_eq!(look(false), Some((Version::of(b"old\n"), vec![])));
        vault.write("digest/wiki/a.md", "new\n");
        assert_eq!(look(true), Some((Version::of(b"old\n"), vec![])));
        assert_eq!(look(false), Some((Version::of(b"new\n"), vec![NaiveDate::from_ymd_opt(2026, 11, 5).unwrap()])));
    }

    proptest! {
        #[test]
        fn what_is_kept_is_read_back_and_a_file_that_is_not_whole_is_none(
            seeds in prop::collection::vec(any::<u8>(), 0..20),
            cut in 0_usize..200,
        ) {
            let paths: Vec<NotePath> = (0..seeds.len()).map(|n| NotePath::new(&format!("文/{n:02}.md")).unwrap()).collect();
            let notes: Vec<Looked> = seeds.into_iter().map(looked).collect();
            let bytes = Looks::bytes(paths.iter().zip(&notes));
            let back = Looks::read(&bytes).unwrap();
            prop_assert!(back.iter().map(|(p, l)| (&**p, l)).eq(paths.iter().map(NotePath::as_str).zip(&notes)));
            prop_assert!(Looks::read(&bytes[..bytes.len() - 1 - cut.min(bytes.len() - 1)]).is_none());
        }
    }
}
