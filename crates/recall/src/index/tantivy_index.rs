//! The embedded index: tantivy, in `.dormouse/index`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::MmapDirectory;
use tantivy::directory::error::{LockError, OpenReadError};
use tantivy::indexer::{LogMergePolicy, UserOperation};
use tantivy::schema::{FAST, Field as Column, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Index, IndexSettings, IndexWriter, ReloadPolicy, TantivyDocument, TantivyError, Term};

use super::disk::{Patient, Unwritten};
use super::rows::{form_number, halves, number_of};
use super::tantivy_view::TantivyView;
use super::{BlockIndex, Field, IndexError, IndexView, IndexedNote, IndexedUnit, NoteKey, UnitId};

/// Bytes that one indexing pass may hold before it writes a segment.
const WRITER_MEMORY: usize = 64_000_000;
/// The same for a few notes.
const SMALL_WRITER_MEMORY: usize = 15_000_000;
/// Notes that are a few.
const FEW: usize = 256;
/// tantivy's own tokenizer at blanks: terms are made by our analyzer, hold no blank, and come with one
/// between any two.
const TERMS: &str = "whitespace";
/// A segment is written anew when this share of it is gone.
const MAX_DEAD: f32 = 0.3;

/// An index in a folder, or in memory. Postings hold counts and no positions, since phrases are
/// checked against the text.
#[derive(Debug)]
pub struct TantivyIndex {
    place: Place,
    stamp: String,
}

#[derive(Debug)]
enum Place {
    Memory(Index),
    Folder(PathBuf),
    /// A folder that is only read.
    Unwritten(Index),
}

/// The columns of the schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    pub(super) note: Column,
    pub(super) head: Column,
    unit: Column,
    form: Column,
    version_high: Column,
    version_low: Column,
    body: Column,
    header: Column,
    speaker: Column,
}

impl Columns {
    pub(super) fn text(&self, field: Field) -> Column {
        match field {
            Field::Body => self.body,
            Field::Header => self.header,
            Field::Speaker => self.speaker,
        }
    }
}

impl From<TantivyError> for IndexError {
    fn from(error: TantivyError) -> Self {
        match error {
            TantivyError::LockFailure(LockError::LockBusy, _) => Self::Busy,
            TantivyError::ErrorInThread(_) | TantivyError::Poisoned => Self::BrokenOff,
            TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_)) => Self::Gone,
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
    /// of another stamp, or none that was ever written to the end: it is of no use.
    ///
    /// # Errors
    /// The disk, or a folder that holds something else.
    pub fn open(folder: &Path, stamp: &str) -> Result<Option<Self>, IndexError> {
        std::fs::create_dir_all(folder)?;
        let fresh = std::fs::read_dir(folder)?.next().is_none();
        let index = if fresh {
            Index::create(patient(folder)?, schema().0, settings())?
        } else {
            Index::open(patient(folder)?)?
        };
        let usable = is_usable(&index, stamp)?;
        Ok(usable.then(|| Self { place: Place::Folder(folder.to_owned()), stamp: stamp.to_owned() }))
    }

    /// Opens the index in a folder that can't be written. `None` as for [`TantivyIndex::open`].
    ///
    /// # Errors
    /// The disk, or a folder that holds no index.
    pub fn open_unwritten(folder: &Path, stamp: &str) -> Result<Option<Self>, IndexError> {
        let index = Index::open(Unwritten(MmapDirectory::open(folder).map_err(TantivyError::from)?))?;
        let usable = is_usable(&index, stamp)?;
        Ok(usable.then(|| Self { place: Place::Unwritten(index), stamp: stamp.to_owned() }))
    }

    /// An index in memory.
    ///
    /// # Errors
    /// The engine.
    pub fn in_memory(stamp: &str) -> Result<Self, IndexError> {
        let index = Index::builder().schema(schema().0).settings(settings()).create_in_ram()?;
        Ok(Self { place: Place::Memory(index), stamp: stamp.to_owned() })
    }

    /// The index as it lies there now. Each pass over a folder takes a fresh one, since another process
    /// may have written meanwhile and files are tidied away by what was known at opening.
    fn index(&self) -> Result<Index, IndexError> {
        Ok(match &self.place {
            Place::Memory(index) | Place::Unwritten(index) => index.clone(),
            Place::Folder(folder) => {
                let index = Index::open(patient(folder)?)?;
                if !is_usable(&index, &self.stamp)? {
                    return Err(IndexError::Foreign);
                }
                index
            }
        })
    }
}

impl BlockIndex for TantivyIndex {
    fn apply(&self, remove: &[NoteKey], add: &mut dyn Iterator<Item = IndexedNote>) -> Result<(), IndexError> {
        let memory = if remove.len() <= FEW { SMALL_WRITER_MEMORY } else { WRITER_MEMORY };
        let (_, columns) = schema();
        let mut writer: IndexWriter = self.index()?.writer_with_num_threads(1, memory)?;
        let mut policy = LogMergePolicy::default();
        policy.set_del_docs_ratio_before_merge(MAX_DEAD);
        writer.set_merge_policy(Box::new(policy));
        let term = |key: NoteKey| Term::from_field_u64(columns.note, key.0);
        for key in remove {
            writer.delete_term(term(*key));
        }
        for mut note in add {
            // The header ends a note.
            note.units.sort_by_key(|unit| (unit.block, unit.part));
            // One group, so that a note lies in one segment.
            let mut group = vec![UserOperation::Delete(term(note.key))];
            group.extend(note.units.iter().map(|unit| UserOperation::Add(document(&columns, &note, unit))));
            writer.run(group)?;
        }
        let mut prepared = writer.prepare_commit()?;
        prepared.set_payload(&self.stamp);
        prepared.commit()?;
        writer.wait_merging_threads()?;
        Ok(())
    }

    fn view(&self) -> Result<Arc<dyn IndexView>, IndexError> {
        let reader = self.index()?.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Arc::new(TantivyView::of(reader.searcher(), schema().1)?))
    }
}

fn patient(folder: &Path) -> Result<Patient, IndexError> {
    Ok(Patient(MmapDirectory::open(folder).map_err(TantivyError::from)?))
}

fn is_usable(index: &Index, stamp: &str) -> Result<bool, IndexError> {
    let payload = index.load_metas()?.payload;
    Ok(index.schema() == schema().0 && payload.as_deref().is_none_or(|have| have == stamp))
}

fn document(columns: &Columns, note: &IndexedNote, unit: &IndexedUnit) -> TantivyDocument {
    let mut doc = TantivyDocument::default();
    doc.add_u64(columns.note, note.key.0);
    doc.add_u64(columns.unit, number_of(unit.block, unit.part));
    doc.add_u64(columns.form, form_number(note.day, unit.marks, unit.body.len()));
    if unit.block == UnitId::HEADER {
        let (high, low) = halves(note.version);
        doc.add_u64(columns.head, 1);
        doc.add_u64(columns.version_high, high);
        doc.add_u64(columns.version_low, low);
    }
    for (field, terms) in [(columns.body, &unit.body), (columns.header, &unit.header), (columns.speaker, &unit.speaker)]
    {
        if !terms.is_empty() {
            doc.add_text(field, terms.join(" "));
        }
    }
    doc
}

/// `head` marks the header of each note, which alone has the version.
fn schema() -> (Schema, Columns) {
    let mut builder = Schema::builder();
    let counted = TextFieldIndexing::default()
        .set_tokenizer(TERMS)
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::WithFreqs);
    let text = TextOptions::default().set_indexing_options(counted);
    let columns = Columns {
        note: builder.add_u64_field("note", INDEXED | FAST),
        head: builder.add_u64_field("head", INDEXED),
        unit: builder.add_u64_field("unit", FAST),
        form: builder.add_u64_field("form", FAST),
        version_high: builder.add_u64_field("version_high", FAST),
        version_low: builder.add_u64_field("version_low", FAST),
        body: builder.add_text_field("body", text.clone()),
        header: builder.add_text_field("header", text.clone()),
        speaker: builder.add_text_field("speaker", text),
    };
    (builder.build(), columns)
}

/// No text is stored, so that there is nothing to compress.
fn settings() -> IndexSettings {
    IndexSettings { docstore_compression: tantivy::store::Compressor::None, ..IndexSettings::default() }
}
