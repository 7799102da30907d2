//! Writing the cached snapshot.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::mem;
use std::path::Path;

use petgraph::stable_graph::NodeIndex;
use serde::Serialize;

use super::record::{Change, Head, Is, NoteRecord, Record};
use super::{MAGIC, Warm, file, key, sum};
use crate::fs::OsDisk;
use crate::journal::TEMP_PREFIX;
use crate::path::NotePath;
use crate::snapshot::Snapshot;
use crate::take_in::Books;

/// What has been saved, and what has not.
#[derive(Debug, Default)]
pub(crate) struct Saver {
    /// The length of the file that we know, and of its first chunk; 0 when there is none.
    length: u64,
    base: u64,
    /// Files of which the cached snapshot says something else.
    unsaved: BTreeSet<NotePath>,
}

impl Saver {
    /// Begins where a load ended.
    pub(crate) fn after(warm: &Warm) -> Self {
        Self { length: warm.length, base: warm.base, unsaved: BTreeSet::new() }
    }

    /// Notes that a file is not as the cached snapshot has it.
    pub(crate) fn touch(&mut self, paths: impl IntoIterator<Item = NotePath>) {
        self.unsaved.extend(paths);
    }

    /// Writes what has changed: at the end of the file, or the whole file anew when there is none,
    /// when it is another's by now, or when the changes in it have outgrown half of its first chunk.
    /// Costs what has changed, spread over many saves.
    ///
    /// # Errors
    /// The disk. What was not saved stays to be saved.
    pub(crate) fn save(&mut self, cache: &Path, snapshot: &Snapshot, books: &Books) -> io::Result<()> {
        if self.unsaved.is_empty() && self.base > 0 {
            return Ok(());
        }
        // A link would lead the cache to where it is not looked for.
        if cache.is_symlink() || cache.join("locks").is_symlink() {
            return Ok(());
        }
        let Some(_turn) = turn(cache)? else {
            return Ok(());
        };
        let target = file(cache);
        let there = std::fs::metadata(&target).map_or(0, |metadata| metadata.len());
        let grown = self.length.saturating_sub(self.base) > self.base / 2;
        if self.base == 0 || there != self.length || grown || self.unsaved.len() > books.stamps.len() / 4 + 16 {
            self.length = replace(&target, snapshot, books)?;
            self.base = self.length;
        } else {
            let mut end = Chunks::new(OpenOptions::new().append(true).open(&target)?);
            for path in &self.unsaved {
                let change = record(snapshot, books, path)
                    .map_or(Change::Gone(path.as_disk()), |record| Change::Now(Box::new(record)));
                end.put(&change)?;
            }
            self.length += end.finish()?;
        }
        self.unsaved.clear();
        Ok(())
    }
}

/// The right to write the file; `None` when another process has it.
fn turn(cache: &Path) -> io::Result<Option<File>> {
    let folder = cache.join("locks");
    crate::fs::Disk::make_folders(&OsDisk, &folder)?;
    let lock = OpenOptions::new().write(true).create(true).truncate(false).open(folder.join("snapshot.lock"))?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

/// How much goes into one chunk, about.
const CHUNK: usize = 1 << 20;

/// Writes values in chunks.
struct Chunks {
    to: File,
    open: Vec<u8>,
    written: u64,
}

impl Chunks {
    fn new(to: File) -> Self {
        Self { to, open: Vec::with_capacity(CHUNK + CHUNK / 16), written: 0 }
    }

    fn put(&mut self, value: &impl Serialize) -> io::Result<()> {
        let open = mem::take(&mut self.open);
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        self.open = postcard::to_extend(value, open).map_err(invalid)?;
        if self.open.len() >= CHUNK { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> io::Result<()> {
        if self.open.is_empty() {
            return Ok(());
        }
        self.raw(&(self.open.len() as u64).to_le_bytes())?;
        self.raw(&sum(&self.open))?;
        let content = mem::take(&mut self.open);
        self.raw(&content)?;
        self.open = content;
        self.open.clear();
        Ok(())
    }

    fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.to.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    fn finish(mut self) -> io::Result<u64> {
        self.close()?;
        Ok(self.written)
    }
}

/// Puts a whole snapshot in the file's place; gives its length.
fn replace(target: &Path, snapshot: &Snapshot, books: &Books) -> io::Result<u64> {
    let folder = target.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let temp = tempfile::Builder::new().prefix(TEMP_PREFIX).tempfile_in(folder)?;
    let mut chunks = Chunks::new(temp.as_file().try_clone()?);
    chunks.raw(MAGIC)?;
    chunks.raw(&key(snapshot.layout()))?;
    whole(snapshot, books, &mut chunks)?;
    let length = chunks.finish()?;
    temp.persist(target).map_err(|failed| failed.error)?;
    Ok(length)
}

/// A snapshot, all of it.
fn whole(snapshot: &Snapshot, books: &Books, to: &mut Chunks) -> io::Result<()> {
    let mut paths: Vec<&NotePath> = snapshot.notes.keys().chain(snapshot.files.keys()).collect();
    paths.sort_unstable();
    paths.retain(|path| books.stamps.contains_key(*path));
    let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let graph = &snapshot.graph;
    let nodes: Vec<Option<NodeIndex>> = paths.iter().map(|path| graph.node_of(path)).collect();
    let mut numbers = vec![None; graph.bound()];
    for (at, node) in nodes.iter().enumerate() {
        if let Some(slot) = node.and_then(|node| numbers.get_mut(node.index())) {
            *slot = Some(number(at));
        }
    }
    let predicates: Vec<&str> = graph.predicates().into_iter().collect();
    let predicate = |p: Option<&str>| p.and_then(|p| predicates.binary_search(&p).ok()).map_or(0, |at| number(at) + 1);
    let mut dead: Vec<(&NotePath, &str)> = Vec::new();
    for (target, sources) in &snapshot.unresolved {
        dead.extend(sources.iter().map(|source| (source, &**target)));
    }
    dead.sort_unstable();
    let mut dead = dead.into_iter().peekable();
    to.put(&Head {
        files: number(paths.len()),
        edges: number(graph.edge_count()),
        predicates: predicates.clone(),
        copies: books.copies().map(|(original, copy)| (original.as_disk(), copy.as_disk())).collect(),
    })?;
    to.close()?;
    for (path, node) in paths.into_iter().zip(nodes) {
        let Some(mut record) = record(snapshot, books, path) else {
            continue;
        };
        if let Is::Note(note) | Is::Canvas(note) = &mut record.is {
            let links = node.into_iter().flat_map(|node| graph.out_links(node));
            let numbered = |target: NodeIndex| numbers.get(target.index()).copied().flatten();
            note.edges.extend(links.filter_map(|(target, p)| Some((numbered(target)?, predicate(p)))));
            while dead.next_if(|(source, _)| *source < path).is_some() {}
            while let Some((_, target)) = dead.next_if(|(source, _)| *source == path) {
                note.unresolved.push(target);
            }
        }
        to.put(&record)?;
    }
    Ok(())
}

fn record<'a>(snapshot: &'a Snapshot, books: &'a Books, path: &NotePath) -> Option<Record<'a>> {
    let (known, stamp) = books.stamps.get_key_value(path)?;
    let is = if let Some(note) = snapshot.notes.get(path) {
        Is::Note(NoteRecord::of(note))
    } else if let Some(canvas) = snapshot.canvases.get(path) {
        Is::Canvas(NoteRecord::of(canvas))
    } else {
        Is::File(snapshot.troubles.get(path).cloned())
    };
    Some(Record { path: known.as_disk(), stamp: *stamp, is })
}
