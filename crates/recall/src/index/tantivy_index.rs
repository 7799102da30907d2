//! The embedded index: tantivy, in `.dormouse/index`.

use std::collections::BTreeMap;
use std::path::Path;

use dormouse_vault::Version;
use tantivy::columnar::Column;
use tantivy::directory::error::LockError;
use tantivy::postings::Postings;
use tantivy::schema::{FAST, Field as Column_, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{
    DocSet, Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, SegmentReader, TantivyDocument, TantivyError, Term,
};

use super::{BlockIndex, Field, IndexError, IndexedNote, IndexedUnit, Marks, NoteKey, Posting, UnitId};
use crate::text::one_edit_apart;

/// Bytes that one indexing pass may hold before it writes a segment.
const WRITER_MEMORY: usize = 48_000_000;

/// An index in a folder, or in memory. Postings hold counts and no positions, since phrases are
/// checked against the text.
pub struct TantivyIndex {
    index: Index,
    reader: IndexReader,
    columns: Columns,
    stamp: String,
}

#[derive(Clone, Copy)]
struct Columns {
    note: Column_,
    unit: Column_,
    marks: Column_,
    length: Column_,
    version_high: Column_,
    version_low: Column_,
    body: Column_,
    header: Column_,
    speaker: Column_,
}

impl std::fmt::Debug for TantivyIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TantivyIndex").field("stamp", &self.stamp).finish_non_exhaustive()
    }
}

impl From<TantivyError> for IndexError {
    fn from(error: TantivyError) -> Self {
        match error {
            TantivyError::LockFailure(LockError::LockBusy, _) => Self::Busy,
            error => Self::Engine { source: Box::new(error) },
        }
    }
}

impl From<std::io::Error> for IndexError {
    fn from(error: std::io::Error) -> Self {
        Self::Engine { source: Box::new(error) }
    }
}

impl TantivyIndex {
    /// Opens the index in `folder`, which is made when it is absent. `None` when there is an index
    /// of another stamp: it is of no use.
    ///
    /// # Errors
    /// The disk, or a folder that holds something else.
    pub fn open(folder: &Path, stamp: &str) -> Result<Option<Self>, IndexError> {
        std::fs::create_dir_all(folder)?;
        let (schema, columns) = schema();
        let fresh = std::fs::read_dir(folder)?.next().is_none();
        let index = if fresh { Index::create_in_dir(folder, schema)? } else { Index::open_in_dir(folder)? };
        let payload = index.load_metas()?.payload;
        let usable = index.schema() == schema_of() && payload.as_deref().is_none_or(|have| have == stamp);
        if usable { Self::with(index, columns, stamp).map(Some) } else { Ok(None) }
    }

    /// An index in memory.
    ///
    /// # Errors
    /// The engine.
    pub fn in_memory(stamp: &str) -> Result<Self, IndexError> {
        let (schema, columns) = schema();
        Self::with(Index::create_in_ram(schema), columns, stamp)
    }

    fn with(index: Index, columns: Columns, stamp: &str) -> Result<Self, IndexError> {
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self { index, reader, columns, stamp: stamp.to_owned() })
    }

    fn searcher(&self) -> Searcher {
        self.reader.searcher()
    }

    fn field(&self, field: Field) -> Column_ {
        match field {
            Field::Body => self.columns.body,
            Field::Header => self.columns.header,
            Field::Speaker => self.columns.speaker,
        }
    }

    fn document(&self, note: &IndexedNote, unit: &IndexedUnit) -> TantivyDocument {
        let columns = &self.columns;
        let (high, low) = halves(note.version);
        let mut doc = TantivyDocument::default();
        doc.add_u64(columns.note, note.key.0);
        doc.add_u64(columns.unit, u64::from(unit.block) << 16 | u64::from(unit.part));
        doc.add_u64(columns.marks, u64::from(unit.marks.0));
        doc.add_u64(columns.length, unit.body.len() as u64);
        doc.add_u64(columns.version_high, high);
        doc.add_u64(columns.version_low, low);
        for (field, terms) in
            [(columns.body, &unit.body), (columns.header, &unit.header), (columns.speaker, &unit.speaker)]
        {
            if !terms.is_empty() {
                doc.add_pre_tokenized_text(field, pre_tokenized(terms));
            }
        }
        doc
    }
}

impl BlockIndex for TantivyIndex {
    fn versions(&self) -> Result<BTreeMap<NoteKey, Version>, IndexError> {
        let mut out = BTreeMap::new();
        for segment in self.searcher().segment_readers() {
            let rows = Rows::of(segment)?;
            let high = segment.fast_fields().u64("version_high")?;
            let low = segment.fast_fields().u64("version_low")?;
            for doc in segment.doc_ids_alive() {
                let (Some((note, _)), Some(high), Some(low)) = (rows.at(doc), high.first(doc), low.first(doc)) else {
                    continue;
                };
                out.insert(note, whole(high, low));
            }
        }
        Ok(out)
    }

    fn apply(&self, remove: &[NoteKey], add: &mut dyn Iterator<Item = IndexedNote>) -> Result<(), IndexError> {
        let mut writer: IndexWriter = self.index.writer_with_num_threads(1, WRITER_MEMORY)?;
        let forget =
            |writer: &IndexWriter, key: NoteKey| writer.delete_term(Term::from_field_u64(self.columns.note, key.0));
        for key in remove {
            forget(&writer, *key);
        }
        for note in add {
            forget(&writer, note.key);
            for unit in &note.units {
                writer.add_document(self.document(&note, unit))?;
            }
        }
        let mut prepared = writer.prepare_commit()?;
        prepared.set_payload(&self.stamp);
        prepared.commit()?;
        writer.wait_merging_threads()?;
        Ok(self.reader.reload()?)
    }

    fn postings(&self, field: Field, term: &str) -> Result<Vec<Posting>, IndexError> {
        let field = self.field(field);
        let term = Term::from_field_text(field, term);
        let mut out = Vec::new();
        for segment in self.searcher().segment_readers() {
            let inverted = segment.inverted_index(field)?;
            let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::WithFreqs)? else {
                continue;
            };
            let rows = Rows::of(segment)?;
            let lengths = segment.fast_fields().u64("length")?;
            let mut doc = postings.doc();
            while doc != tantivy::TERMINATED {
                if segment.alive_bitset().is_none_or(|alive| alive.is_alive(doc))
                    && let Some((note, unit)) = rows.at(doc)
                {
                    let length = u32::try_from(lengths.first(doc).unwrap_or(0)).unwrap_or(u32::MAX);
                    let count = postings.term_freq();
                    out.push(Posting { note, unit, count, length });
                }
                doc = postings.advance();
            }
        }
        out.sort_unstable();
        Ok(out)
    }

    fn units(&self, notes: &[NoteKey]) -> Result<BTreeMap<NoteKey, Vec<(UnitId, Marks)>>, IndexError> {
        let mut out: BTreeMap<NoteKey, Vec<(UnitId, Marks)>> = BTreeMap::new();
        for segment in self.searcher().segment_readers() {
            let inverted = segment.inverted_index(self.columns.note)?;
            let rows = Rows::of(segment)?;
            let marks = segment.fast_fields().u64("marks")?;
            for note in notes {
                let term = Term::from_field_u64(self.columns.note, note.0);
                let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::Basic)? else {
                    continue;
                };
                let mut doc = postings.doc();
                while doc != tantivy::TERMINATED {
                    if segment.alive_bitset().is_none_or(|alive| alive.is_alive(doc))
                        && let Some((note, unit)) = rows.at(doc)
                    {
                        let marks = u16::try_from(marks.first(doc).unwrap_or(0)).unwrap_or(0);
                        out.entry(note).or_default().push((unit, Marks(marks)));
                    }
                    doc = postings.advance();
                }
            }
        }
        out.values_mut().for_each(|units| units.sort_unstable());
        Ok(out)
    }

    fn unit_count(&self) -> Result<u64, IndexError> {
        Ok(self.searcher().num_docs())
    }

    fn similar(&self, term: &str) -> Result<Vec<(String, u64)>, IndexError> {
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        for segment in self.searcher().segment_readers() {
            let inverted = segment.inverted_index(self.columns.body)?;
            let mut terms = inverted.terms().stream()?;
            while terms.advance() {
                let Ok(have) = std::str::from_utf8(terms.key()) else {
                    continue;
                };
                if one_edit_apart(have, term) {
                    *found.entry(have.to_owned()).or_default() += u64::from(terms.value().doc_freq);
                }
            }
        }
        let mut out = Vec::new();
        for have in found.into_keys() {
            let units = self.postings(Field::Body, &have)?.len() as u64;
            if units > 0 {
                out.push((have, units));
            }
        }
        Ok(out)
    }
}

/// Which note and unit a row is.
struct Rows {
    note: Column<u64>,
    unit: Column<u64>,
}

impl Rows {
    fn of(segment: &SegmentReader) -> Result<Self, IndexError> {
        Ok(Self { note: segment.fast_fields().u64("note")?, unit: segment.fast_fields().u64("unit")? })
    }

    fn at(&self, doc: u32) -> Option<(NoteKey, UnitId)> {
        let unit = self.unit.first(doc)?;
        let block = u32::try_from(unit >> 16).ok()?;
        let part = u16::try_from(unit & 0xFFFF).ok()?;
        Some((NoteKey(self.note.first(doc)?), UnitId { block, part }))
    }
}

fn schema() -> (Schema, Columns) {
    let mut builder = Schema::builder();
    let counted = TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::WithFreqs);
    let text = TextOptions::default().set_indexing_options(counted);
    let columns = Columns {
        note: builder.add_u64_field("note", INDEXED | FAST),
        unit: builder.add_u64_field("unit", FAST),
        marks: builder.add_u64_field("marks", FAST),
        length: builder.add_u64_field("length", FAST),
        version_high: builder.add_u64_field("version_high", FAST),
        version_low: builder.add_u64_field("version_low", FAST),
        body: builder.add_text_field("body", text.clone()),
        header: builder.add_text_field("header", text.clone()),
        speaker: builder.add_text_field("speaker", text),
    };
    (builder.build(), columns)
}

fn schema_of() -> Schema {
    schema().0
}

fn pre_tokenized(terms: &[String]) -> PreTokenizedString {
    let tokens =
        terms.iter().enumerate().map(|(position, term)| Token { position, text: term.clone(), ..Token::default() });
    PreTokenizedString { text: String::new(), tokens: tokens.collect() }
}

fn halves(version: Version) -> (u64, u64) {
    let number = u128::from_be_bytes(*version.as_bytes());
    (u64::try_from(number >> 64).unwrap_or(0), u64::try_from(number & u128::from(u64::MAX)).unwrap_or(0))
}

fn whole(high: u64, low: u64) -> Version {
    Version::from_bytes((u128::from(high) << 64 | u128::from(low)).to_be_bytes())
}
