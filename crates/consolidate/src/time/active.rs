//! When a note was last active: which days speak of it, and which of them count.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike, FixedOffset, NaiveDate};
use dormouse_vault::meta::{AccessKind, DreamLedger, DreamOutcome};
use dormouse_vault::{DateSource, Document, Note, NotePath};

use super::by;
use crate::state::Looked;

/// The days that a note's properties and path state, as they stand: at most [`Dates::MOST`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Dates(pub(crate) Vec<NaiveDate>);

impl Dates {
    /// Properties that hold a day on which a note was written.
    const KEYS: [&'static str; 4] = ["updated", "modified", "date", "created"];
    /// How many one note has at most: one of each key and one of its path.
    pub(crate) const MOST: usize = Self::KEYS.len() + 1;

    /// The days of `note`, whose document is `doc`: a pure function of its text and path.
    pub(crate) fn of(note: &Note, doc: &Document) -> Self {
        let stated = Self::KEYS.iter().filter_map(|key| doc.frontmatter.text(key).and_then(iso_day));
        let other = note.date.filter(|d| d.source != DateSource::Mtime).map(|d| d.day);
        let mut days: Vec<NaiveDate> = stated.chain(other).filter(|d| is_written(*d)).collect();
        days.sort_unstable();
        days.dedup();
        days.truncate(Self::MOST);
        Self(days)
    }
}

/// Everything that speaks of one note's last activity.
pub(super) struct Evidence<'a> {
    pub(super) looked: Option<&'a Looked>,
    pub(super) hits: Option<&'a BTreeMap<NaiveDate, AccessKind>>,
    /// What the last run made of it.
    pub(super) last: Option<NaiveDate>,
    pub(super) dreamed: Option<NaiveDate>,
    /// The day of its newest source.
    pub(super) source: Option<NaiveDate>,
    pub(super) note: &'a Note,
}

/// The last day on which the note was written, dated, cited anew or hit, as far as anything but its
/// mtime tells: its own dates, the newest source that it cites, an edit that was seen, a hit, and
/// what the last run knew (so that a lost cache ages nothing); else the day of its dream; else its
/// mtime. `None` when there is no day at all that is not ahead of `today`.
pub(super) fn last_active(evidence: &Evidence<'_>, today: NaiveDate) -> Option<NaiveDate> {
    let usable = |day: NaiveDate| by(day, today);
    let stated = evidence.looked.into_iter().flat_map(|l| &l.dates.0).copied();
    let written = evidence.looked.into_iter().flat_map(|l| &l.written.0).copied();
    let hit = evidence.hits.and_then(|days| days.keys().rev().find_map(|day| usable(*day)));
    let own = stated.chain(written).chain(evidence.last).filter_map(usable).chain(hit).max();
    own.max(evidence.source)
        .or_else(|| evidence.dreamed.and_then(usable))
        .or_else(|| modified(evidence.note).filter(|d| is_written(*d)).and_then(usable))
}

/// The last day on which each digest note was dreamed, as the ledger knows it.
pub(super) fn dreamed_days(ledger: Option<&DreamLedger>, now: DateTime<FixedOffset>) -> BTreeMap<NotePath, NaiveDate> {
    let mut out: BTreeMap<NotePath, NaiveDate> = BTreeMap::new();
    for dreamed in ledger.into_iter().flat_map(|l| l.materials.values()) {
        if let DreamOutcome::Done { subjects, .. } = &dreamed.outcome {
            let day = dreamed.at.with_timezone(now.offset()).date_naive();
            for subject in subjects {
                let last = out.entry(subject.clone()).or_insert(day);
                *last = (*last).max(day);
            }
        }
    }
    out
}

/// Whether a note can have been written on `day`: before 1970 it is a date that the note is about,
/// or the zero of some program.
fn is_written(day: NaiveDate) -> bool {
    day.year() >= 1970
}

fn iso_day(text: &str) -> Option<NaiveDate> {
    NaiveDate::parse_from_str(text.get(..10)?, "%Y-%m-%d").ok()
}

fn modified(note: &Note) -> Option<NaiveDate> {
    let seconds = i64::try_from(note.mtime_ns.div_euclid(1_000_000_000)).ok()?;
    DateTime::from_timestamp(seconds, 0).filter(|_| note.mtime_ns != 0).map(|at| at.date_naive())
}
