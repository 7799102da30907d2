//! A note, read without loss: spans into the source for every part that has a meaning.

use std::ops::Range;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset, NaiveDate};
use serde::{Deserialize, Serialize};

use crate::block::{Block, Heading};
use crate::frontmatter::Frontmatter;
use crate::inline_field::InlineField;
use crate::layout::{Bucket, Layer};
use crate::link::Link;
use crate::packed::Packed;
use crate::path::NotePath;
use crate::problem::Problem;
use crate::version::Version;

/// The property that keeps the stages from writing a note.
pub(crate) const LOCKED: &str = "locked";

/// Everything that one pass over a note's text yields. All ranges are byte ranges into that text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The properties; empty when there are none.
    pub frontmatter: Frontmatter,
    /// The text after the frontmatter.
    pub body: Range<usize>,
    /// ATX and setext headings in document order.
    pub headings: Vec<Heading>,
    /// The body cut into paragraphs, list items, quotes, tables, code, … in document order. Every
    /// line of the body that is neither blank nor a heading belongs to exactly one block.
    pub blocks: Vec<Block>,
    /// All links, frontmatter first, then in document order.
    pub links: Vec<Link>,
    /// Dataview inline fields.
    pub fields: Vec<InlineField>,
    /// Tags without `#`, first spelling, frontmatter first, each once.
    pub tags: Vec<String>,
    /// What is wrong with the note. A problem never hides it.
    pub problems: Vec<Problem>,
}

/// A calendar date, with the time of day where the note states one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct NoteDate {
    /// The day, in the note's own zone.
    pub day: NaiveDate,
    /// The moment, when the source has a time of day.
    pub moment: Option<DateTime<FixedOffset>>,
    /// Where the date was found.
    pub source: DateSource,
}

/// Where a note's date came from, most to least trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DateSource {
    /// `date`, `created` or `updated` in the frontmatter.
    Frontmatter,
    /// An ISO date in the path.
    Path,
    /// The file's modification time: the last resort, since sync and git reset it.
    Mtime,
}

/// A note in a snapshot. The text itself is read on demand through `Vault::read`.
#[derive(Debug, Clone)]
pub struct Note {
    /// Its identity.
    pub path: NotePath,
    /// The layer that its folder says.
    pub layer: Layer,
    /// For digest notes in a bucket folder.
    pub bucket: Option<Bucket>,
    /// The version of its bytes.
    pub version: Version,
    /// Size in bytes.
    pub size: u64,
    /// Modification time, in nanoseconds since the epoch. Never trusted as the note's date.
    pub mtime_ns: i128,
    /// `name` of the frontmatter, else the first level-1 heading, else the file's stem.
    pub name: Arc<str>,
    /// `description` of the frontmatter.
    pub description: Option<Arc<str>>,
    /// `aliases`, trimmed, in order. They never resolve links.
    pub aliases: Vec<String>,
    /// The note's date, see [`DateSource`].
    pub date: Option<NoteDate>,
    /// When the note is a sync tool's conflict copy: the note that it is a copy of. Conflict copies
    /// stay out of recall, communities and dreams.
    pub conflict_of: Option<NotePath>,
    /// Whether the bytes are UTF-8. A note that isn't is listed, never rewritten.
    pub utf8: bool,
    /// Whether its document has problems of its own.
    pub(crate) has_problems: bool,
    /// What one parse of its text gave.
    pub(crate) doc: Packed,
}

impl Note {
    /// What one parse of its text gave. All ranges are byte ranges of the text of
    /// [`Note::version`]. Spread out at the first call and kept as long as the note is; a sweep
    /// over a whole vault takes [`Note::document`].
    #[must_use]
    pub fn doc(&self) -> &Document {
        self.doc.get()
    }

    /// [`Note::doc`] for one use: nothing is kept. Linear in the document.
    #[must_use]
    pub fn document(&self) -> Document {
        self.doc.unpack()
    }

    /// The block with this id; case is ignored.
    #[must_use]
    pub fn block(&self, id: &str) -> Option<&Block> {
        self.doc().blocks.iter().find(|b| b.id.as_deref().is_some_and(|have| have.eq_ignore_ascii_case(id)))
    }

    /// Whether the cycle may use the note: it is no conflict copy. A note that is not UTF-8 is live
    /// too: it is searched and never rewritten; [`Note::utf8`] says so.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.conflict_of.is_none()
    }

    /// `locked: true`: a person alone writes it; the door refuses a dream and a split.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.doc().frontmatter.is_true(LOCKED)
    }

    /// `private: true`: it is never dreamed.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.doc().frontmatter.is_true("private")
    }

    /// `pinned: true`: it is never archived.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.doc().frontmatter.is_true("pinned")
    }
}

/// A note's text together with the version that it was read at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteText {
    /// Its identity.
    pub path: NotePath,
    /// The text; bytes that are not UTF-8 are shown as U+FFFD and [`NoteText::utf8`] is false.
    pub text: String,
    /// The token for a later replace.
    pub version: Version,
    /// Whether [`NoteText::text`] is the file byte for byte.
    pub utf8: bool,
}
