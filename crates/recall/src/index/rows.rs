//! What the documents of a segment are: a unit each, the units of a note side by side.

use dormouse_vault::Version;
use tantivy::columnar::Column;
use tantivy::{DocId, SegmentReader};

use super::{IndexError, Marks, NoteKey, Unit, UnitId};

/// The columns of a segment, read where they are asked for. A note's documents stand together, since one
/// thread adds them and a merge keeps the order; its header is the last of them.
#[derive(Debug)]
pub(super) struct Rows {
    note: Column<u64>,
    unit: Column<u64>,
    form: Column<u64>,
    version_high: Column<u64>,
    version_low: Column<u64>,
    count: DocId,
}

impl Rows {
    pub(super) fn of(segment: &SegmentReader) -> Result<Self, IndexError> {
        let column = |name: &str| segment.fast_fields().u64(name);
        Ok(Self {
            note: column("note")?,
            unit: column("unit")?,
            form: column("form")?,
            version_high: column("version_high")?,
            version_low: column("version_low")?,
            count: segment.max_doc(),
        })
    }

    /// The note of a document.
    pub(super) fn note(&self, doc: DocId) -> NoteKey {
        NoteKey(self.note.first(doc).unwrap_or(0))
    }

    /// The unit that a document is.
    pub(super) fn unit(&self, doc: DocId) -> UnitId {
        unit_of(self.unit.first(doc).unwrap_or(0))
    }

    /// The unit with its form.
    pub(super) fn whole(&self, doc: DocId) -> Unit {
        let (marks, length) = form_of(self.form.first(doc).unwrap_or(0));
        Unit { id: self.unit(doc), marks, length }
    }

    /// The day of the note of a document.
    pub(super) fn day(&self, doc: DocId) -> u16 {
        u16::try_from(self.form.first(doc).unwrap_or(0) >> 48).unwrap_or(0)
    }

    /// The documents of the note that `doc` is of: from the first to behind the last.
    pub(super) fn of_note(&self, doc: DocId) -> (NoteKey, DocId, DocId) {
        let note = self.note(doc);
        let mut start = doc;
        while let Some(before) = start.checked_sub(1).filter(|before| self.note(*before) == note) {
            // A note that was written anew twice may stand here twice: the header ends each.
            if self.unit(before).block == UnitId::HEADER {
                break;
            }
            start = before;
        }
        let mut end = doc;
        while end < self.count && self.note(end) == note {
            end += 1;
            if self.unit(end - 1).block == UnitId::HEADER {
                break;
            }
        }
        (note, start, end)
    }

    /// The version of the note whose header a document is.
    pub(super) fn version(&self, doc: DocId) -> Option<Version> {
        Some(whole(self.version_high.first(doc)?, self.version_low.first(doc)?))
    }
}

/// A unit's number as it is kept in a column.
pub(super) fn number_of(block: u32, part: u16) -> u64 {
    u64::from(block) << 16 | u64::from(part)
}

fn unit_of(number: u64) -> UnitId {
    UnitId {
        block: u32::try_from(number >> 16).unwrap_or(UnitId::HEADER),
        part: u16::try_from(number & 0xFFFF).unwrap_or(u16::MAX),
    }
}

/// Day, length and form as they are kept in a column.
pub(super) fn form_number(day: u16, marks: Marks, length: usize) -> u64 {
    u64::from(day) << 48 | u64::from(u32::try_from(length).unwrap_or(u32::MAX)) << 16 | u64::from(marks.0)
}

fn form_of(number: u64) -> (Marks, u32) {
    (Marks(u16::try_from(number & 0xFFFF).unwrap_or(0)), u32::try_from(number >> 16 & 0xFFFF_FFFF).unwrap_or(u32::MAX))
}

/// The two halves of a version.
pub(super) fn halves(version: Version) -> (u64, u64) {
    let number = u128::from_be_bytes(*version.as_bytes());
    (u64::try_from(number >> 64).unwrap_or(0), u64::try_from(number & u128::from(u64::MAX)).unwrap_or(0))
}

fn whole(high: u64, low: u64) -> Version {
    Version::from_bytes((u128::from(high) << 64 | u128::from(low)).to_be_bytes())
}
