//! What the cached snapshot says of one file.

use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Datelike, FixedOffset, NaiveDate};
use serde::{Deserialize, Serialize};

use crate::layout::Layout;
use crate::note::{DateSource, Note, NoteDate};
use crate::packed::Packed;
use crate::path::NotePath;
use crate::problem::Problem;
use crate::version::Version;
use crate::walk::Stamp;

/// One file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Record<'a> {
    /// As it is spelled on disk.
    pub(super) path: &'a str,
    pub(super) stamp: Stamp,
    #[serde(borrow)]
    pub(super) is: Is<'a>,
}

/// What the file is.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Is<'a> {
    /// No note.
    File(Option<Problem>),
    #[serde(borrow)]
    Note(NoteRecord<'a>),
    Canvas(NoteRecord<'a>),
}

/// A note or canvas, with its edges in the snapshot.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct NoteRecord<'a> {
    version: [u8; 16],
    size: u64,
    name: &'a str,
    description: Option<&'a str>,
    #[serde(borrow)]
    aliases: Vec<&'a str>,
    date: Option<DateRecord>,
    pub(super) conflict_of: Option<&'a str>,
    utf8: bool,
    has_problems: bool,
    doc: &'a [u8],
    /// Resolved links: the target's number among the files and the predicate's, one up, 0 for none.
    pub(super) edges: Vec<(u32, u32)>,
    pub(super) unresolved: Vec<&'a str>,
}

/// A date in numbers, which read faster than text.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct DateRecord {
    days: i32,
    /// Seconds, nanoseconds, seconds east of UTC.
    moment: Option<(i64, u32, i32)>,
    source: u8,
}

impl<'a> NoteRecord<'a> {
    pub(super) fn of(note: &'a Note) -> Self {
        Self {
            version: *note.version.as_bytes(),
            size: note.size,
            name: &note.name,
            description: note.description.as_deref(),
            aliases: note.aliases.iter().map(String::as_str).collect(),
            date: note.date.map(DateRecord::of),
            conflict_of: note.conflict_of.as_ref().map(NotePath::as_disk),
            utf8: note.utf8,
            has_problems: note.has_problems,
            doc: note.doc.bytes(),
            edges: Vec::new(),
            unresolved: Vec::new(),
        }
    }

    /// The note again. `chunk` is what the record was read from.
    pub(super) fn note(&self, path: NotePath, stamp: Stamp, layout: &Layout, chunk: &Bytes) -> Note {
        Note {
            layer: layout.layer(&path),
            bucket: layout.bucket(&path),
            version: Version::from_bytes(self.version),
            size: self.size,
            mtime_ns: i128::from(stamp.mtime_ns),
            name: Arc::from(self.name),
            description: self.description.map(Arc::from),
            aliases: self.aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            date: self.date.and_then(DateRecord::date),
            conflict_of: self.conflict_of.and_then(|of| NotePath::new(of).ok()),
            utf8: self.utf8,
            has_problems: self.has_problems,
            doc: Packed::from_bytes(chunk.slice_ref(self.doc)),
            path,
        }
    }
}

const SOURCES: [DateSource; 3] = [DateSource::Frontmatter, DateSource::Path, DateSource::Mtime];

impl DateRecord {
    fn of(date: NoteDate) -> Self {
        let moment = date.moment.map(|at| (at.timestamp(), at.timestamp_subsec_nanos(), at.offset().local_minus_utc()));
        let source = SOURCES.iter().position(|source| *source == date.source).unwrap_or(0);
        Self { days: date.day.num_days_from_ce(), moment, source: u8::try_from(source).unwrap_or(0) }
    }

    fn date(self) -> Option<NoteDate> {
        let moment = match self.moment {
            None => None,
            Some((seconds, nanos, east)) => {
                let zone = FixedOffset::east_opt(east)?;
                Some(DateTime::from_timestamp(seconds, nanos)?.with_timezone(&zone))
            }
        };
        let day = NaiveDate::from_num_days_from_ce_opt(self.days)?;
        Some(NoteDate { day, moment, source: *SOURCES.get(usize::from(self.source))? })
    }
}

/// The first chunk.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Head<'a> {
    pub(super) files: u32,
    #[serde(borrow)]
    pub(super) predicates: Vec<&'a str>,
    pub(super) edges: u32,
    /// Conflict copies that are one only while another file exists: that file, the copy.
    pub(super) copies: Vec<(&'a str, &'a str)>,
}

/// One change in a later chunk.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Change<'a> {
    Gone(&'a str),
    #[serde(borrow)]
    Now(Box<Record<'a>>),
}
