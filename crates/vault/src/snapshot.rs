//! The snapshot: an immutable view of the whole vault at one moment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use imbl::{OrdMap, OrdSet};

use crate::fold;
use crate::graph::{EdgeKey, EdgeTarget, LinkGraph};
use crate::layout::{Layer, Layout};
use crate::link::Link;
use crate::note::{Document, Note};
use crate::packed::Asked;
use crate::path::NotePath;
use crate::problem::{Problem, ProblemKind};
use crate::resolve::{FileIndex, Resolution};
use crate::walk::PathProblems;

/// Notes, files, link graph, tags and problems of a vault at one moment. Cheap to clone; a change
/// makes a new one that shares what did not change.
#[derive(Debug, Clone)]
pub struct Snapshot {
    revision: u64,
    layout: Arc<Layout>,
    pub(crate) notes: OrdMap<NotePath, Arc<Note>>,
    /// Canvases, which have links; each is one of `files` as well.
    pub(crate) canvases: OrdMap<NotePath, Arc<Note>>,
    /// Files that are no notes, with their size.
    pub(crate) files: OrdMap<NotePath, u64>,
    pub(crate) index: Arc<FileIndex>,
    pub(crate) graph: Arc<LinkGraph>,
    pub(crate) unresolved: OrdMap<Arc<str>, OrdSet<NotePath>>,
    /// What the walk could not list.
    pub(crate) walk_problems: Arc<PathProblems>,
    /// Why a Markdown file is no note.
    pub(crate) troubles: OrdMap<NotePath, Problem>,
    /// Files of a plan that exist, or don't, in place of what is on disk.
    planned: BTreeMap<NotePath, bool>,
    fingerprint: OnceLock<[u8; 32]>,
}

/// What differs between two snapshots. A note counts as changed when its bytes did; any other file,
/// which is not read, when its size or modification time did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delta {
    /// New notes and files, in order.
    pub added: Vec<NotePath>,
    /// Notes and files with other content, in order.
    pub changed: Vec<NotePath>,
    /// Notes and files that are gone, in order.
    pub removed: Vec<NotePath>,
}

impl Delta {
    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

impl Snapshot {
    /// The snapshot of an empty vault.
    pub(crate) fn empty(layout: Layout) -> Self {
        Self {
            revision: 0,
            layout: Arc::new(layout),
            notes: OrdMap::new(),
            canvases: OrdMap::new(),
            files: OrdMap::new(),
            index: Arc::default(),
            graph: Arc::default(),
            unresolved: OrdMap::new(),
            walk_problems: Arc::default(),
            troubles: OrdMap::new(),
            planned: BTreeMap::new(),
            fingerprint: OnceLock::new(),
        }
    }

    /// A copy that may be changed into the next snapshot.
    pub(crate) fn successor(&self) -> Self {
        Self { revision: self.revision + 1, fingerprint: OnceLock::new(), ..self.clone() }
    }

    /// The same notes, but the files `added` exist and those `removed` don't: for resolving the
    /// links of a plan. Costs a copy of the name index.
    pub(crate) fn overlaid(&self, added: &[NotePath], removed: &[NotePath]) -> Self {
        let mut next = self.clone();
        for path in removed {
            if let Some(have) = next.spelled(path) {
                Arc::make_mut(&mut next.index).remove(&have);
            }
            next.planned.insert(path.clone(), false);
        }
        for path in added {
            if !next.exists(path) {
                Arc::make_mut(&mut next.index).insert(path.clone());
            }
            next.planned.insert(path.clone(), true);
        }
        next
    }

    /// The path of an existing file as it is spelled on disk. O(log n).
    pub(crate) fn spelled(&self, path: &NotePath) -> Option<NotePath> {
        let note = self.notes.get_key_value(path).map(|(have, _)| have);
        note.or_else(|| self.files.get_key_value(path).map(|(have, _)| have)).cloned()
    }

    /// A note or a canvas: what has links. O(log n).
    pub(crate) fn linking(&self, path: &NotePath) -> Option<&Arc<Note>> {
        self.notes.get(path).or_else(|| self.canvases.get(path))
    }

    /// All Markdown notes outside `meta/` and `audit/`, in path order; conflict copies included.
    pub fn notes(&self) -> impl Iterator<Item = &Arc<Note>> {
        self.notes.values()
    }

    /// One note. O(log n).
    #[must_use]
    pub fn note(&self, path: &NotePath) -> Option<&Arc<Note>> {
        self.notes.get(path)
    }

    /// All canvases, in path order: files that are no notes, but whose links are edges. Of a canvas
    /// only its path, version and [`Note::doc`] have a meaning.
    pub fn canvases(&self) -> impl Iterator<Item = &Arc<Note>> {
        self.canvases.values()
    }

    /// One canvas. O(log n).
    #[must_use]
    pub fn canvas(&self, path: &NotePath) -> Option<&Arc<Note>> {
        self.canvases.get(path)
    }

    /// All files that are not notes (attachments, canvases, resources of other kinds, everything in
    /// `audit/` and `meta/`), in order.
    pub fn files(&self) -> impl Iterator<Item = &NotePath> {
        self.files.keys()
    }

    /// Whether a file of this path exists (a note or any other, `audit/` and `meta/` included).
    /// O(log n).
    #[must_use]
    pub fn exists(&self, path: &NotePath) -> bool {
        match self.planned.get(path) {
            Some(planned) => *planned,
            None => self.notes.contains_key(path) || self.files.contains_key(path),
        }
    }

    /// The file that `target` (decoded, without subpath) means in `source`.
    #[must_use]
    pub fn resolve(&self, source: &NotePath, target: &str) -> Resolution {
        self.index.resolve(source, target)
    }

    /// The file that `link` means in `source`. A file of a canvas is a path from the root with its
    /// extension; any other target is looked up as [`Snapshot::resolve`] does.
    #[must_use]
    pub fn resolve_link(&self, source: &NotePath, link: &Link) -> Resolution {
        self.resolve_asked(source, &Asked::from(link))
    }

    fn resolve_asked(&self, source: &NotePath, asked: &Asked<'_>) -> Resolution {
        if asked.whole { self.index.resolve_path(asked.target) } else { self.resolve(source, asked.target) }
    }

    /// The note that a person names: a full path, a path without `.md`, or a wikilink target seen
    /// from the vault's root, with or without brackets. An anchor or shown text is passed over.
    /// Titles and aliases name nothing, as in links.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<Note>> {
        let name = name.trim();
        let by_path = |name: &str| NotePath::new(name).ok().and_then(|path| self.notes.get(&path));
        if let Some(note) = by_path(name).or_else(|| by_path(&format!("{name}.md"))) {
            return Some(note);
        }
        let name = name.strip_prefix('!').unwrap_or(name);
        let inner = name.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]")).unwrap_or(name);
        let target = inner.split(['|', '#']).next().unwrap_or(inner).trim();
        if target.is_empty() {
            return None;
        }
        let root = NotePath::new("-").ok()?;
        self.notes.get(self.resolve(&root, target).path()?)
    }

    /// Which heading or block a link's subpath means in `target`: its 1-based line, or `None` when
    /// the anchor is broken.
    #[must_use]
    pub fn anchor_line(&self, target: &NotePath, subpath: &str) -> Option<u32> {
        self.notes.get(target)?.doc().anchor_line(subpath)
    }

    /// The edges of a document as if it stood at `source`: ordered, each key once. Works for text
    /// that is not in the snapshot yet. A page in `audit/` or `meta/` has none.
    #[must_use]
    pub fn edges_of<'d>(&self, source: &NotePath, doc: &'d Document) -> Vec<EdgeKey> {
        let asked: Vec<Asked<'d>> = doc.links.iter().map(Asked::from).collect();
        self.edges_asked(source, &asked)
    }

    /// [`Snapshot::edges_of`] for what a document's links ask.
    pub(crate) fn edges_asked(&self, source: &NotePath, asked: &[Asked<'_>]) -> Vec<EdgeKey> {
        if asked.is_empty() || matches!(self.layout.layer(source), Layer::Audit | Layer::Meta) {
            return Vec::new();
        }
        let edge = |asked: &Asked<'_>| {
            let target = match self.resolve_asked(source, asked) {
                Resolution::File { path, .. } => EdgeTarget::File(path),
                Resolution::Unresolved(key) => EdgeTarget::Unresolved(key),
                Resolution::External => return None,
            };
            Some(EdgeKey { target, predicate: asked.predicate.map(str::to_lowercase) })
        };
        let mut edges: Vec<EdgeKey> = asked.iter().filter_map(edge).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// The resolved links with their positions, in document order.
    #[must_use]
    pub fn links_of<'a>(&self, note: &'a Note) -> Vec<(&'a Link, Resolution)> {
        note.doc().links.iter().map(|link| (link, self.resolve_link(&note.path, link))).collect()
    }

    /// The link graph.
    #[must_use]
    pub fn graph(&self) -> &LinkGraph {
        &self.graph
    }

    /// Unresolved targets with the notes that name them, both in order. Linear in their number.
    #[must_use]
    pub fn unresolved(&self) -> BTreeMap<String, Vec<NotePath>> {
        self.unresolved
            .iter()
            .map(|(target, sources)| (target.to_string(), sources.iter().cloned().collect()))
            .collect()
    }

    /// Tags (lower-case) with the number of notes that have them. Linear in the number of notes.
    #[must_use]
    pub fn tags(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for note in self.notes() {
            let tags: BTreeSet<String> = note.document().tags.iter().map(|tag| tag.to_lowercase()).collect();
            for tag in tags {
                *counts.entry(tag).or_default() += 1;
            }
        }
        counts
    }

    /// Problems of the scan and of every note, in path order. Linear in the number of files.
    #[must_use]
    pub fn problems(&self) -> Vec<(String, Problem)> {
        let mut out: BTreeMap<String, Vec<Problem>> = (*self.walk_problems).clone();
        for (path, problem) in self.troubles.iter() {
            out.entry(path.to_string()).or_default().push(problem.clone());
        }
        for (path, problem) in self.collisions() {
            out.entry(path.to_string()).or_default().push(problem);
        }
        for note in self.notes().chain(self.canvases()) {
            let mut problems = if note.has_problems { note.document().problems } else { Vec::new() };
            if let Some(original) = &note.conflict_of {
                let message = format!(
                    "a conflict copy of [[{}]]; merge what is worth keeping and delete it",
                    original.link_target()
                );
                problems.push(Problem { kind: ProblemKind::ConflictCopy, line: None, message });
            }
            if !problems.is_empty() {
                out.entry(note.path.to_string()).or_default().extend(problems);
            }
        }
        out.into_iter()
            .flat_map(|(path, problems)| problems.into_iter().map(move |problem| (path.clone(), problem)))
            .collect()
    }

    /// Files whose path differs from another's by case alone: all are kept, but not every disk can
    /// hold them side by side.
    fn collisions(&self) -> Vec<(&NotePath, Problem)> {
        let mut folded: BTreeMap<String, Vec<&NotePath>> = BTreeMap::new();
        for path in self.notes.keys().chain(self.files.keys()) {
            folded.entry(fold::name(path.as_str())).or_default().push(path);
        }
        let problem = |path: &NotePath, twin: &NotePath| Problem {
            kind: ProblemKind::NameCollision,
            line: None,
            message: format!("{path} and {twin} differ by case alone; rename one"),
        };
        let mut out = Vec::new();
        for paths in folded.into_values() {
            for path in &paths {
                if let Some(twin) = paths.iter().find(|twin| twin != &path) {
                    out.push((*path, problem(path, twin)));
                }
            }
        }
        out
    }

    /// The layers' folders.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Grows with every change within one process.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// A hash over the paths and versions of all notes and the paths and sizes of all other files,
    /// `meta/` and `audit/` left out, since what is derived must not make itself stale: equal for
    /// equal vaults, in every process. Linear at the first call, then kept.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        *self.fingerprint.get_or_init(|| {
            let mut hasher = blake3::Hasher::new();
            for note in self.notes() {
                hasher.update(note.path.as_str().as_bytes()).update(&[0]).update(note.version.as_bytes());
            }
            for canvas in self.canvases() {
                hasher.update(canvas.path.as_str().as_bytes()).update(&[2]).update(canvas.version.as_bytes());
            }
            for (path, size) in self.files.iter() {
                if !matches!(self.layout.layer(path), Layer::Meta | Layer::Audit) {
                    hasher.update(path.as_str().as_bytes()).update(&[1]).update(&size.to_le_bytes());
                }
            }
            *hasher.finalize().as_bytes()
        })
    }
}
