//! The embedded index: tantivy, in `.dormouse/index`.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use dormouse_vault::Version;
use tantivy::directory::error::LockError;
use tantivy::index::SegmentId;
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
    /// The rows of the segments in use.
    rows: RwLock<HashMap<SegmentId, Arc<Rows>>>,
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
        Ok(Self { index, reader, columns, stamp: stamp.to_owned(), rows: RwLock::default() })
    }

    fn searcher(&self) -> Searcher {
        self.reader.searcher()
    }

    /// The rows of a segment, read once and kept as long as the segment is in use.
    fn rows(&self, segment: &SegmentReader) -> Result<Arc<Rows>, IndexError> {
        let id = segment.segment_id();
        if let Some(rows) = self.rows.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return Ok(Arc::clone(rows));
        }
        let rows = Arc::new(Rows::of(segment)?);
        self.rows.write().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::clone(&rows));
        Ok(rows)
    }

    /// Looks at what was committed, and forgets the rows of segments that are gone.
    fn reload(&self) -> Result<(), IndexError> {
        self.reader.reload()?;
        let searcher = self.searcher();
        let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
        rows.retain(|id, _| searcher.segment_readers().iter().any(|segment| segment.segment_id() == *id));
        Ok(())
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
        let mut out = Vec::new();
        for segment in self.searcher().segment_readers() {
            let rows = self.rows(segment)?;
            let high = segment.fast_fields().u64("version_high")?;
            let low = segment.fast_fields().u64("version_low")?;
            let mut last = None;
            for doc in segment.doc_ids_alive() {
                // All units of a note have its version, and they stand together.
                let Some(note) = rows.at(doc).map(|row| row.note).filter(|note| last != Some(*note)) else {
                    continue;
                };
                last = Some(note);
                if let (Some(high), Some(low)) = (high.first(doc), low.first(doc)) {
                    out.push((note, whole(high, low)));
                }
            }
        }
        Ok(out.into_iter().collect())
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
        self.reload()
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
            let rows = self.rows(segment)?;
            out.reserve(usize::try_from(postings.doc_freq()).unwrap_or(0));
            let mut doc = postings.doc();
            while doc != tantivy::TERMINATED {
                if segment.alive_bitset().is_none_or(|alive| alive.is_alive(doc))
                    && let Some(&Row { note, unit, length, .. }) = rows.at(doc)
                {
                    out.push(Posting { note, unit, count: postings.term_freq(), length });
                }
                doc = postings.advance();
            }
        }
        // Runs in order, which a stable sort merges.
        out.sort();
        Ok(out)
    }

    fn units(&self, notes: &[NoteKey]) -> Result<BTreeMap<NoteKey, Vec<(UnitId, Marks)>>, IndexError> {
        let mut out: BTreeMap<NoteKey, Vec<(UnitId, Marks)>> = BTreeMap::new();
        for segment in self.searcher().segment_readers() {
            let rows = self.rows(segment)?;
            for note in notes {
                for (doc, row) in rows.of_note(*note) {
                    if segment.alive_bitset().is_none_or(|alive| alive.is_alive(doc)) {
                        out.entry(*note).or_default().push((row.unit, row.marks));
                    }
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
            // Latin words are a small part of a vocabulary of Chinese pairs.
            let range = inverted.terms().range();
            let mut terms = match term.bytes().next() {
                Some(b'=') => range.ge(b"=").lt(b">"),
                Some(b'a'..=b'z') => range.ge(b"a").lt(b"{"),
                _ => range,
            }
            .into_stream()?;
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

/// What one document is.
#[derive(Debug, Clone, Copy)]
struct Row {
    note: NoteKey,
    unit: UnitId,
    marks: Marks,
    length: u32,
}

/// The documents of a segment, decoded, and where each note's first one is. A note's documents stand
/// together, since one thread adds them and a merge keeps the order. 32 bytes a document.
#[derive(Debug)]
struct Rows {
    rows: Vec<Row>,
    first: HashMap<NoteKey, Vec<u32>>,
}

impl Rows {
    fn of(segment: &SegmentReader) -> Result<Self, IndexError> {
        let column = |name: &str| segment.fast_fields().u64(name);
        let (notes, units, marks, lengths) = (column("note")?, column("unit")?, column("marks")?, column("length")?);
        let mut rows: Vec<Row> = Vec::with_capacity(usize::try_from(segment.max_doc()).unwrap_or(0));
        let mut first: HashMap<NoteKey, Vec<u32>> = HashMap::new();
        for doc in 0..segment.max_doc() {
            let number = |column: &tantivy::columnar::Column<u64>| column.first(doc).unwrap_or(0);
            let (note, unit) = (NoteKey(number(&notes)), number(&units));
            if rows.last().is_none_or(|row| row.note != note) {
                first.entry(note).or_default().push(doc);
            }
            rows.push(Row {
                note,
                unit: UnitId {
                    block: u32::try_from(unit >> 16).unwrap_or(UnitId::HEADER),
                    part: u16::try_from(unit & 0xFFFF).unwrap_or(u16::MAX),
                },
                marks: Marks(u16::try_from(number(&marks)).unwrap_or(0)),
                length: u32::try_from(number(&lengths)).unwrap_or(u32::MAX),
            });
        }
        Ok(Self { rows, first })
    }

    fn at(&self, doc: u32) -> Option<&Row> {
        self.rows.get(usize::try_from(doc).ok()?)
    }

    /// The documents of a note, dead ones too: a note that was written anew may have both.
    fn of_note(&self, note: NoteKey) -> impl Iterator<Item = (u32, &Row)> {
        let starts = self.first.get(&note).into_iter().flatten();
        starts.flat_map(move |start| {
            (*start..).map_while(move |doc| Some((doc, self.at(doc).filter(|row| row.note == note)?)))
        })
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
