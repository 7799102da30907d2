//! The index port: which notes hold the words, and where in them the words stand. How a score is made
//! of that is not its business, so that another engine can take the embedded one's place without
//! touching the ranking.
//!
//! An index is written through [`BlockIndex`] and read through an [`IndexView`], which never changes:
//! what one search reads is of one moment, whatever is written meanwhile.

mod disk;
mod layered;
mod memory;
mod rows;
mod tantivy_index;
mod tantivy_view;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dormouse_vault::{NotePath, Version};

pub(crate) use layered::Layered;
pub use memory::MemoryIndex;
pub use tantivy_index::TantivyIndex;

/// Why an index could not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// Another process is writing it.
    #[error("another process is writing the index")]
    Busy,
    /// Writing it did not come to its end.
    #[error("writing it was broken off; is there room on the disk?")]
    BrokenOff,
    /// Files of it are gone.
    #[error("files of it are gone")]
    Gone,
    /// It has become one of another version.
    #[error("another version of the program has made the index anew")]
    Foreign,
    /// It can't be read or written.
    #[error("{source}")]
    Engine {
        /// What the engine said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// A note's identity in an index: 64 bits of the hash of its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NoteKey(pub u64);

impl NoteKey {
    /// The key of a path.
    #[must_use]
    pub fn of(path: &NotePath) -> Self {
        let hash = blake3::hash(path.as_str().as_bytes());
        Self(hash.as_bytes().iter().take(8).fold(0, |key, byte| key << 8 | u64::from(*byte)))
    }
}

/// A unit of a note: a part of a block, or the note's own header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitId {
    /// Index into the note's blocks, or [`UnitId::HEADER`].
    pub block: u32,
    /// Which part of a long block.
    pub part: u16,
}

impl UnitId {
    /// The block number of the note's header: name, aliases, description, tags, headings.
    pub const HEADER: u32 = u32::MAX;
}

/// What the form of a unit says, as bits: see the constants of [`Marks`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Marks(pub u16);

/// Which text of a unit a term stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// The block's own text.
    Body,
    /// The heading path and the note's name, aliases, description, tags and date.
    Header,
    /// Who says it.
    Speaker,
}

/// A unit as it is indexed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexedUnit {
    /// Index into the note's blocks, or [`UnitId::HEADER`].
    pub block: u32,
    /// Which part of a long block.
    pub part: u16,
    /// What its form says.
    pub marks: Marks,
    /// The terms of its own text, in order, repeated as often as they stand there.
    pub body: Vec<String>,
    /// The terms of its headings and its note.
    pub header: Vec<String>,
    /// The terms of its speaker's name.
    pub speaker: Vec<String>,
}

/// A note as it is indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedNote {
    /// Its key.
    pub key: NoteKey,
    /// The version that was read.
    pub version: Version,
    /// The day that it states, in days since 1970-01-01; 0 without one. Of two notes that are as good
    /// the newer is found first.
    pub day: u16,
    /// Its units, the header among them, so that there is at least one.
    pub units: Vec<IndexedUnit>,
}

/// A term that a search looks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sought<'a> {
    /// Where it should stand.
    pub field: Field,
    /// The term.
    pub term: &'a str,
    /// How much it says against the others, > 0.
    pub weight: f64,
}

/// A note that was found, with the place where the engine that found it has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// The note.
    pub note: NoteKey,
    at: Option<u64>,
}

impl Found {
    /// A note that something else has found.
    #[must_use]
    pub const fn elsewhere(note: NoteKey) -> Self {
        Self { note, at: None }
    }
}

/// The notes of the best units.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Best {
    /// Each once, best first.
    pub notes: Vec<Found>,
    /// Whether these are all notes in which a term stands.
    pub complete: bool,
}

/// What is looked up in notes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked<'a> {
    /// Terms in the units' own text and in their headers, at most 65,535.
    pub terms: &'a [&'a str],
    /// Terms of speakers.
    pub speakers: &'a [&'a str],
}

/// A unit of a note, as a search sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// Which it is.
    pub id: UnitId,
    /// What its form says.
    pub marks: Marks,
    /// How many terms its own text has.
    pub length: u32,
}

/// A term in a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Standing {
    /// Index into [`NoteTerms::units`].
    pub unit: u32,
    /// Where in it.
    pub field: Field,
    /// Index into the list that was asked for.
    pub term: u16,
    /// How often, ≥ 1.
    pub count: u32,
}

/// The units of a note, and where in them the terms stand that were asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteTerms {
    /// The note.
    pub note: NoteKey,
    /// All of its units, in order; the header is the last.
    pub units: Vec<Unit>,
    /// In order of unit, field and term.
    pub standing: Vec<Standing>,
}

/// An inverted index over units.
pub trait BlockIndex: Send + Sync + std::fmt::Debug {
    /// Takes notes out and in, all of it or nothing; a note that is there already is replaced.
    ///
    /// # Errors
    /// [`IndexError::Busy`] when another process writes.
    fn apply(&self, remove: &[NoteKey], add: &mut dyn Iterator<Item = IndexedNote>) -> Result<(), IndexError>;

    /// The index as it is now, by all processes that write it.
    ///
    /// # Errors
    /// [`IndexError`].
    fn view(&self) -> Result<Arc<dyn IndexView>, IndexError>;
}

/// An index at one moment. Every answer is exact but where it says so.
pub trait IndexView: Send + Sync + std::fmt::Debug {
    /// The notes in it with the versions that were indexed. O(notes).
    ///
    /// # Errors
    /// [`IndexError`], as for every method here.
    fn versions(&self) -> Result<BTreeMap<NoteKey, Version>, IndexError>;

    /// How many units there are.
    ///
    /// # Errors
    /// [`IndexError`].
    fn unit_count(&self) -> Result<u64, IndexError>;

    /// How many units have a term. From some thousands on an estimate is enough; 0 is exact.
    ///
    /// # Errors
    /// [`IndexError`].
    fn frequency(&self, field: Field, term: &str) -> Result<u64, IndexError>;

    /// The notes of the `limit` units that the engine finds best for `terms`, rare terms weighing
    /// more (BM25 or the like), of those that `keep` allows: nothing is cut before it was asked. Work
    /// grows with the places of the terms at most, and less where the engine can pass places over.
    ///
    /// # Errors
    /// [`IndexError`].
    fn best(
        &self,
        terms: &[Sought<'_>],
        limit: usize,
        keep: &mut dyn FnMut(NoteKey) -> bool,
    ) -> Result<Best, IndexError>;

    /// The units of some notes with the places of the terms in them, in order of the notes' keys; a
    /// note that isn't indexed is left out.
    ///
    /// # Errors
    /// [`IndexError`].
    fn gather(&self, notes: &[Found], asked: Asked<'_>) -> Result<Vec<NoteTerms>, IndexError>;

    /// The first units that have a term, in an order of the engine's own in which the units of a note
    /// stand together. O(limit).
    ///
    /// # Errors
    /// [`IndexError`].
    fn first(&self, field: Field, term: &str, limit: usize) -> Result<Vec<(NoteKey, UnitId)>, IndexError>;

    /// The notes that have a term in a unit's own text or header. O(places).
    ///
    /// # Errors
    /// [`IndexError`].
    fn holders(&self, term: &str) -> Result<BTreeSet<NoteKey>, IndexError>;

    /// Terms of the units' own text that are one edit (insert, delete, replace, swap) away from
    /// `term`, with the number of units that have them, in term order.
    ///
    /// # Errors
    /// [`IndexError`].
    fn similar(&self, term: &str) -> Result<Vec<(String, u64)>, IndexError>;
}

/// Those of `words` that stand in units' own text, with the number of these units.
fn counted(view: &dyn IndexView, words: BTreeSet<String>) -> Result<Vec<(String, u64)>, IndexError> {
    let mut out = Vec::new();
    for word in words {
        let units = view.frequency(Field::Body, &word)?;
        if units > 0 {
            out.push((word, units));
        }
    }
    Ok(out)
}
