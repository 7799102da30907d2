//! The index port: where which word stands. It knows nothing of scores, so that another engine can
//! take the embedded one's place without touching the ranking.

mod memory;
mod tantivy_index;

use std::collections::BTreeMap;

use dormouse_vault::{NotePath, Version};

pub use memory::MemoryIndex;
pub use tantivy_index::TantivyIndex;

/// Why an index could not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// Another process is writing it.
    #[error("another process is writing the index")]
    Busy,
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
    /// Its units; the first is the header, so that there is at least one.
    pub units: Vec<IndexedUnit>,
}

/// One place of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Posting {
    /// The note.
    pub note: NoteKey,
    /// The unit.
    pub unit: UnitId,
    /// How often, ≥ 1.
    pub count: u32,
    /// How many terms the unit's own text has.
    pub length: u32,
}

/// An inverted index over units. All answers are complete and ordered by note and unit.
pub trait BlockIndex: Send + Sync + std::fmt::Debug {
    /// The notes in it with the versions that were indexed.
    ///
    /// # Errors
    /// [`IndexError`], as for every method here.
    fn versions(&self) -> Result<BTreeMap<NoteKey, Version>, IndexError>;

    /// Takes notes out and in, all of it or nothing; a note that is there already is replaced.
    ///
    /// # Errors
    /// [`IndexError::Busy`] when another process writes.
    fn apply(&self, remove: &[NoteKey], add: &mut dyn Iterator<Item = IndexedNote>) -> Result<(), IndexError>;

    /// Every place of `term` in `field`.
    ///
    /// # Errors
    /// [`IndexError`].
    fn postings(&self, field: Field, term: &str) -> Result<Vec<Posting>, IndexError>;

    /// The units of some notes with what their form says, in order; a note that isn't indexed has
    /// none.
    ///
    /// # Errors
    /// [`IndexError`].
    fn units(&self, notes: &[NoteKey]) -> Result<BTreeMap<NoteKey, Vec<(UnitId, Marks)>>, IndexError>;

    /// How many units there are.
    ///
    /// # Errors
    /// [`IndexError`].
    fn unit_count(&self) -> Result<u64, IndexError>;

    /// Terms of the units' own text that are one edit (insert, delete, replace, swap) away from
    /// `term`, with the number of units that have them, in term order. Of a term that starts with
    /// `a` to `z` or with `=` those that start so as well are enough.
    ///
    /// # Errors
    /// [`IndexError`].
    fn similar(&self, term: &str) -> Result<Vec<(String, u64)>, IndexError>;
}
