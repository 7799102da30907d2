//! Reading the cached snapshot.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::mem;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use petgraph::stable_graph::NodeIndex;

use super::record::{Change, Head, Is, NoteRecord, Record};
use super::{HEAD, MAGIC, SUM, file, key, sum};
use crate::graph::{LinkGraph, Standing};
use crate::layout::Layout;
use crate::note::Note;
use crate::path::NotePath;
use crate::reading::Found;
use crate::resolve::FileIndex;
use crate::snapshot::Snapshot;
use crate::take_in::{Books, Sighting, take_in};

/// For how many files room is made before they have been seen.
const MOST: usize = 4 << 20;

/// A snapshot as it was when it was cached.
#[derive(Debug, Default)]
pub(crate) struct Warm {
    /// The snapshot and what goes with it; `None` when there is nothing to start from.
    pub(crate) start: Option<(Snapshot, Books)>,
    /// The length of the file up to the last whole chunk.
    pub(crate) length: u64,
    /// The length of the file up to the end of the whole snapshot; 0 when there is none.
    pub(crate) base: u64,
    /// Whether there was a file that could not be used.
    pub(crate) damaged: bool,
}

/// Reads the cached snapshot. Any fault in it means that there is none. Linear in its size.
pub(crate) fn load(cache: &Path, layout: &Layout) -> Warm {
    match fs::read(file(cache)) {
        Ok(bytes) => parse(&Bytes::from(bytes), layout),
        Err(error) => Warm { damaged: error.kind() != io::ErrorKind::NotFound, ..Warm::default() },
    }
}

/// [`load`] for the bytes of the file.
pub(crate) fn parse(bytes: &Bytes, layout: &Layout) -> Warm {
    let begin = MAGIC.len() + SUM;
    let Some(head) = bytes.get(..begin) else {
        return Warm { damaged: true, ..Warm::default() };
    };
    // Of another version or layout: no fault, only of no use.
    if !head.starts_with(MAGIC) || head.get(MAGIC.len()..) != Some(&key(layout)) {
        return Warm { damaged: !head.starts_with(MAGIC), ..Warm::default() };
    }
    let mut rest = bytes.slice(begin..);
    let mut length = begin as u64;
    let mut building = None;
    let mut start: Option<(Snapshot, Books)> = None;
    let mut changes = BTreeMap::new();
    let mut base = 0;
    while let Some((chunk, after)) = next_chunk(&rest) {
        let read = match (&mut building, &start) {
            (None, None) => Building::begin(&chunk, layout).map(|begun| building = Some(begun)),
            (Some(building), None) => building.files(&chunk, layout),
            (_, Some(_)) => later(&chunk, layout, &mut changes),
        };
        if read.is_none() {
            break;
        }
        length += (HEAD + chunk.len()) as u64;
        rest = after;
        if let Some(whole) = building.take_if(|building| building.missing == 0) {
            let Some(snapshot) = whole.finish() else {
                break;
            };
            start = Some(snapshot);
            base = length;
        }
    }
    let damaged = start.is_none() || !rest.is_empty();
    let start = start.map(|(snapshot, mut books)| {
        let (next, _) = take_in(&mut books, &snapshot, changes.into_values());
        let _ = books.take_touched();
        (next.unwrap_or(snapshot), books)
    });
    Warm { start, length, base, damaged }
}

/// The content of the first chunk and what follows it, when it is whole.
fn next_chunk(bytes: &Bytes) -> Option<(Bytes, Bytes)> {
    let length = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
    let end = HEAD.checked_add(usize::try_from(length).ok()?)?;
    let content = bytes.get(HEAD..end)?;
    (bytes.get(8..HEAD)? == sum(content)).then(|| (bytes.slice(HEAD..end), bytes.slice(end..)))
}

/// A snapshot of which not all files have been read.
#[derive(Default)]
struct Building {
    missing: usize,
    predicates: Vec<Arc<str>>,
    copies: Vec<(NotePath, NotePath)>,
    snapshot: Option<Snapshot>,
    books: Books,
    index: FileIndex,
    graph: LinkGraph,
    paths: Vec<NotePath>,
    nodes: Vec<Option<NodeIndex>>,
    /// Source, target, predicate, each by number.
    edges: Vec<(u32, u32, u32)>,
}

impl Building {
    fn begin(chunk: &Bytes, layout: &Layout) -> Option<Self> {
        let (head, rest) = postcard::take_from_bytes::<Head<'_>>(chunk).ok()?;
        let (files, edges) = (usize::try_from(head.files).ok()?, usize::try_from(head.edges).ok()?);
        if !rest.is_empty() {
            return None;
        }
        let mut begun = Self {
            missing: files,
            predicates: head.predicates.iter().map(|p| Arc::from(*p)).collect(),
            snapshot: Some(Snapshot::empty(layout.clone())),
            ..Self::default()
        };
        for (original, copy) in head.copies {
            begun.copies.push((NotePath::new(original).ok()?, NotePath::new(copy).ok()?));
        }
        // What a damaged number asks for in vain is bounded.
        let (files, edges) = (files.min(MOST), edges.min(MOST));
        begun.graph.reserve(files, edges);
        begun.index.reserve(files);
        begun.books.stamps.reserve(files);
        begun.paths.reserve(files);
        begun.nodes.reserve(files);
        begun.edges.reserve(edges);
        Some(begun)
    }

    fn files(&mut self, chunk: &Bytes, layout: &Layout) -> Option<()> {
        let mut rest: &[u8] = chunk;
        while !rest.is_empty() {
            let (record, after) = postcard::take_from_bytes::<Record<'_>>(rest).ok()?;
            rest = after;
            self.missing = self.missing.checked_sub(1)?;
            self.file(record, layout, chunk)?;
        }
        Some(())
    }

    fn file(&mut self, Record { path, stamp, is }: Record<'_>, layout: &Layout, chunk: &Bytes) -> Option<()> {
        let snapshot = self.snapshot.as_mut()?;
        let path = NotePath::new(path).ok()?;
        let (record, is_canvas) = match is {
            Is::File(problem) => {
                problem.map(|problem| snapshot.troubles.insert(path.clone(), problem));
                snapshot.files.insert(path.clone(), stamp.size);
                (None, false)
            }
            Is::Note(record) => (Some(record), false),
            Is::Canvas(record) => (Some(record), true),
        };
        let mut node = None;
        if let Some(record) = record {
            let note = record.note(path.clone(), stamp, layout, chunk);
            let standing = if note.conflict_of.is_some() { Standing::Copy } else { Standing::Original };
            node = Some(self.graph.put_note(&path, standing));
            let number = u32::try_from(self.paths.len()).ok()?;
            self.edges.extend(record.edges.iter().map(|(target, predicate)| (number, *target, *predicate)));
            for target in record.unresolved {
                self.books.learn_unresolved(snapshot, target, &path);
            }
            if is_canvas {
                snapshot.files.insert(path.clone(), note.size);
                snapshot.canvases.insert(path.clone(), Arc::new(note));
            } else {
                snapshot.notes.insert(path.clone(), Arc::new(note));
            }
        }
        self.index.insert(path.clone());
        self.books.stamps.insert(path.clone(), stamp);
        self.paths.push(path);
        self.nodes.push(node);
        Some(())
    }

    fn finish(mut self) -> Option<(Snapshot, Books)> {
        for (source, target, predicate) in mem::take(&mut self.edges) {
            let (source, target) = (self.node(source)?, self.node(target)?);
            let predicate = match predicate.checked_sub(1) {
                None => None,
                Some(number) => Some(Arc::clone(self.predicates.get(usize::try_from(number).ok()?)?)),
            };
            self.graph.add_link(source, target, predicate);
        }
        for (original, copy) in self.copies {
            self.books.learn_copy(original, copy);
        }
        let mut snapshot = self.snapshot?;
        snapshot.index = Arc::new(self.index);
        snapshot.graph = Arc::new(self.graph);
        Some((snapshot, self.books))
    }

    /// The node of the file of this number.
    fn node(&mut self, number: u32) -> Option<NodeIndex> {
        let number = usize::try_from(number).ok()?;
        let known = self.nodes.get_mut(number)?;
        if known.is_none() {
            *known = Some(self.graph.node(self.paths.get(number)?));
        }
        *known
    }
}

/// A chunk of changes: of each file the last that was said of it is kept.
fn later(chunk: &Bytes, layout: &Layout, changes: &mut BTreeMap<NotePath, Sighting>) -> Option<()> {
    let mut rest: &[u8] = chunk;
    while !rest.is_empty() {
        let (change, after) = postcard::take_from_bytes::<Change<'_>>(rest).ok()?;
        rest = after;
        let sighting = match change {
            Change::Gone(path) => Sighting::gone(NotePath::new(path).ok()?),
            Change::Now(record) => {
                let Record { path, stamp, is } = *record;
                let path = NotePath::new(path).ok()?;
                let note = |record: NoteRecord<'_>| -> Arc<Note> {
                    let mut note = record.note(path.clone(), stamp, layout, chunk);
                    note.conflict_of = None;
                    Arc::new(note)
                };
                let found = match is {
                    Is::File(problem) => Found::File { size: stamp.size, problem },
                    Is::Note(record) => Found::Note(note(record)),
                    Is::Canvas(record) => Found::Canvas(note(record)),
                };
                Sighting { path, stamp: Some(stamp), found }
            }
        };
        changes.insert(sighting.path.clone(), sighting);
    }
    Some(())
}
