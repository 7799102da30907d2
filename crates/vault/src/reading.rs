//! Reading: one file of the vault becomes a note, a canvas, or a file that is only known to exist.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use crate::layout::{Layer, Layout};
use crate::note::{Document, Note};
use crate::packed::Packed;
use crate::path::NotePath;
use crate::problem::{Problem, ProblemKind};
use crate::version::Version;
use crate::walk::Stamp;

/// The largest file that is read as a note: 16 MiB.
const MAX_NOTE_BYTES: u64 = 16 << 20;

/// What a path turned out to be.
#[derive(Debug)]
pub(crate) enum Found {
    /// A note.
    Note(Arc<Note>),
    /// A canvas: no note, but its links are edges.
    Canvas(Arc<Note>),
    /// Any other file, or one that can't be read as what its name says.
    File {
        /// Bytes.
        size: u64,
        /// Why it is no note, if it should be one.
        problem: Option<Problem>,
    },
    /// Nothing.
    Gone,
}

/// Whether a path is a note's: Markdown, and neither derived nor a report.
pub(crate) fn is_note(path: &NotePath, layout: &Layout) -> bool {
    path.is_markdown() && !matches!(layout.layer(path), Layer::Meta | Layer::Audit)
}

/// Reads the file at `path`, which the walk saw as `stamp`. The parse of `before` is kept when the
/// bytes are still the same. Linear in the file's size.
pub(crate) fn read(root: &Path, path: &NotePath, stamp: Stamp, layout: &Layout, before: Option<&Arc<Note>>) -> Found {
    let no_note =
        |kind, message: String| Found::File { size: stamp.size, problem: Some(Problem { kind, line: None, message }) };
    let is_canvas = path.is_canvas();
    if !is_canvas && !is_note(path, layout) {
        return Found::File { size: stamp.size, problem: None };
    }
    match read_bounded(&root.join(path.as_disk()), stamp.size) {
        Ok(Some(bytes)) => {
            let note = Arc::new(to_note(path, stamp, &bytes, layout, before, is_canvas));
            if is_canvas { Found::Canvas(note) } else { Found::Note(note) }
        }
        Ok(None) => no_note(ProblemKind::TooLarge, "larger than 16 MiB; it is not read as a note".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Found::Gone,
        Err(error) => no_note(ProblemKind::Unreadable, format!("can't be read: {error}")),
    }
}

/// The bytes of a file, or `None` when it is larger than a note may be.
fn read_bounded(file: &Path, size: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(MAX_NOTE_BYTES)).unwrap_or(0) + 1);
    File::open(file)?.take(MAX_NOTE_BYTES + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= MAX_NOTE_BYTES).then_some(bytes))
}

fn to_note(
    path: &NotePath,
    stamp: Stamp,
    bytes: &[u8],
    layout: &Layout,
    before: Option<&Arc<Note>>,
    is_canvas: bool,
) -> Note {
    let version = Version::of(bytes);
    let mtime_ns = i128::from(stamp.mtime_ns);
    if let Some(before) = before.filter(|note| note.version == version && note.path == *path) {
        let mut note = Note::clone(before);
        if note.date.is_none_or(|date| date.source == crate::note::DateSource::Mtime) {
            note.date = crate::date::note_date(&note.document().frontmatter, path, mtime_ns);
        }
        return Note { path: path.clone(), mtime_ns, conflict_of: None, ..note };
    }
    let (doc, utf8) = parse(bytes, is_canvas);
    Note {
        layer: layout.layer(path),
        bucket: layout.bucket(path),
        version,
        size: bytes.len() as u64,
        mtime_ns,
        name: Arc::from(doc.name(path)),
        description: doc.description().map(Arc::from),
        aliases: doc.frontmatter.aliases(),
        date: crate::date::note_date(&doc.frontmatter, path, mtime_ns),
        conflict_of: None,
        utf8,
        path: path.clone(),
        has_problems: !doc.problems.is_empty(),
        doc: Packed::new(&doc),
    }
}

fn parse(bytes: &[u8], is_canvas: bool) -> (Document, bool) {
    let read = if is_canvas { Document::parse_canvas } else { Document::parse };
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (read(text), true);
    }
    let mut doc = read(&String::from_utf8_lossy(bytes));
    let message = "not UTF-8; it can be read and searched, but is never rewritten".to_owned();
    doc.problems.push(Problem { kind: ProblemKind::NotUtf8, line: None, message });
    (doc, false)
}
