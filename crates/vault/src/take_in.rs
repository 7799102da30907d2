//! Taking in: what was seen of some files turns one snapshot into the next.
//!
//! The cost follows the change. Links are resolved again only for files whose text changed, and for
//! those with a link that may mean a file that came or went: the ones that link to a file of that
//! name, and the ones whose link of that name led nowhere.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem;
use std::sync::Arc;

use foldhash::fast::FixedState;
use imbl::OrdSet;

use crate::conflict_copy;
use crate::fold;
use crate::graph::{EdgeKey, EdgeTarget, GraphChange, LinkGraph, Spare, Standing};
use crate::note::Note;
use crate::path::NotePath;
use crate::reading::Found;
use crate::snapshot::{Delta, Snapshot};
use crate::walk::Stamp;

/// What the next change needs to know and no reader does.
#[derive(Debug, Default)]
pub(crate) struct Books {
    /// Every file as it was when it was last read.
    pub(crate) stamps: HashMap<NotePath, Stamp, FixedState>,
    /// The last segment of each unresolved target, with the targets that end so.
    endings: HashMap<Box<str>, BTreeSet<Arc<str>>, FixedState>,
    /// Files to the possible conflict copies that are one only if the file exists.
    copies: BTreeMap<NotePath, BTreeSet<NotePath>>,
    spare: Spare,
    /// Files whose stamp or content is another than at the last [`Books::take_touched`].
    touched: Vec<NotePath>,
}

impl Books {
    /// The files that were seen to be otherwise since the last call; one may be named twice.
    pub(crate) fn take_touched(&mut self) -> Vec<NotePath> {
        mem::take(&mut self.touched)
    }

    /// Counts a link of `source` to a target that leads nowhere.
    pub(crate) fn learn_unresolved(&mut self, snapshot: &mut Snapshot, target: &str, source: &NotePath) {
        if let Some(sources) = snapshot.unresolved.get_mut(target) {
            sources.insert(source.clone());
            return;
        }
        let target: Arc<str> = Arc::from(target);
        self.endings.entry(ending(&target).into()).or_default().insert(Arc::clone(&target));
        snapshot.unresolved.insert(target, OrdSet::unit(source.clone()));
    }

    fn forget_unresolved(&mut self, target: &str) {
        if let Some(targets) = self.endings.get_mut(ending(target)) {
            targets.remove(target);
            if targets.is_empty() {
                self.endings.remove(ending(target));
            }
        }
    }

    /// The files that [`Books::learn_copy`] told of, with their copies.
    pub(crate) fn copies(&self) -> impl Iterator<Item = (&NotePath, &NotePath)> {
        self.copies.iter().flat_map(|(original, copies)| copies.iter().map(move |copy| (original, copy)))
    }

    /// Notes that `path` is a conflict copy just as long as `original` exists.
    pub(crate) fn learn_copy(&mut self, original: NotePath, path: NotePath) {
        self.copies.entry(original).or_default().insert(path);
    }
}

/// What was seen of one path.
#[derive(Debug)]
pub(crate) struct Sighting {
    /// The path, in its present spelling.
    pub(crate) path: NotePath,
    /// The stamp under which it was read; `None` when nothing is there.
    pub(crate) stamp: Option<Stamp>,
    /// What it is now.
    pub(crate) found: Found,
}

impl Sighting {
    /// Nothing is there any more.
    pub(crate) fn gone(path: NotePath) -> Self {
        Self { path, stamp: None, found: Found::Gone }
    }
}

/// The next snapshot, unless it would be the same, and how it differs. `seen` names a path at most
/// once.
pub(crate) fn take_in(
    books: &mut Books,
    old: &Snapshot,
    seen: impl IntoIterator<Item = Sighting>,
) -> (Option<Snapshot>, Delta) {
    let mut step = Step {
        books,
        old,
        next: old.successor(),
        delta: Delta::default(),
        moved: Vec::new(),
        dirty: Vec::new(),
        read: Vec::new(),
        differs: false,
        graph: if old.graph.is_empty() {
            GraphStep::Anew(LinkGraph::default())
        } else {
            GraphStep::Changes(Vec::new())
        },
    };
    for sighting in seen {
        step.file(sighting);
    }
    step.judge_copies();
    step.relink();
    step.finish()
}

struct Step<'b> {
    books: &'b mut Books,
    old: &'b Snapshot,
    next: Snapshot,
    delta: Delta,
    /// Files that came or went.
    moved: Vec<NotePath>,
    /// Notes and canvases whose links must be resolved, or that are gone.
    dirty: Vec<NotePath>,
    /// Notes that were read, of which it must be said whether they are a conflict copy.
    read: Vec<NotePath>,
    /// Whether the next snapshot is another than the last.
    differs: bool,
    graph: GraphStep,
}

/// How the next graph comes to be.
enum GraphStep {
    /// There was none: it is built as it goes.
    Anew(LinkGraph),
    /// The last one, changed.
    Changes(Vec<GraphChange>),
}

impl GraphStep {
    fn push(&mut self, change: GraphChange) {
        match self {
            Self::Anew(graph) => graph.apply(&change),
            Self::Changes(changes) => changes.push(change),
        }
    }
}

impl Step<'_> {
    fn file(&mut self, Sighting { path, stamp, found }: Sighting) {
        let spelled = self.next.spelled(&path);
        let note_before = self.next.linking(&path).cloned();
        let stamp_before = self.books.stamps.remove(&path);
        if stamp_before != stamp {
            self.books.touched.push(path.clone());
        }
        if let Some(stamp) = stamp {
            self.books.stamps.insert(path.clone(), stamp);
        }
        let respelled = spelled.as_ref().is_none_or(|old| old.as_disk() != path.as_disk());
        if self.is_known(&path, &found) && (spelled.is_none() || !respelled) {
            if note_before.is_none() && !stamp_before.zip(stamp).is_none_or(|(before, now)| before.looks_like(&now)) {
                self.delta.changed.push(path);
            }
            return;
        }
        self.differs = true;
        let stays = !matches!(found, Found::Gone);
        if let Some(old) = spelled.as_ref().filter(|_| !stays || respelled) {
            Arc::make_mut(&mut self.next.index).remove(old);
            self.moves(&path);
        }
        if stays && respelled {
            Arc::make_mut(&mut self.next.index).insert(path.clone());
            self.moves(&path);
        }
        let differs = match &found {
            Found::Note(note) | Found::Canvas(note) => {
                note_before.as_ref().is_none_or(|before| before.version != note.version)
            }
            _ => note_before.is_some() || !stamp_before.zip(stamp).is_some_and(|(before, now)| before.looks_like(&now)),
        };
        self.put(&path, found, note_before.as_deref(), respelled);
        match (spelled.is_some(), stays) {
            (false, true) => self.delta.added.push(path),
            (true, false) => self.delta.removed.push(path),
            (true, true) if differs => self.delta.changed.push(path),
            _ => {}
        }
    }

    /// Notes that a file came or went. Where there was no graph, every link is resolved anyway.
    fn moves(&mut self, path: &NotePath) {
        if !self.old.graph.is_empty() || !self.books.copies.is_empty() {
            self.moved.push(path.clone());
        }
    }

    /// Whether the snapshot says already what was found.
    fn is_known(&self, path: &NotePath, found: &Found) -> bool {
        let same = |have: Option<&Arc<Note>>, now: &Note| {
            have.is_some_and(|have| have.version == now.version && have.mtime_ns == now.mtime_ns)
        };
        let file = self.next.files.get(path);
        match found {
            Found::Gone => self.next.notes.get(path).is_none() && file.is_none(),
            Found::Note(now) => same(self.next.notes.get(path), now),
            Found::Canvas(now) => same(self.next.canvases.get(path), now),
            Found::File { size, problem } => {
                file == Some(size)
                    && self.next.troubles.get(path) == problem.as_ref()
                    && !self.next.canvases.contains_key(path)
            }
        }
    }

    /// Puts what was found in the place of what was known.
    fn put(&mut self, path: &NotePath, found: Found, before: Option<&Note>, respelled: bool) {
        self.next.files.remove(path);
        self.next.troubles.remove(path);
        if before.is_some() {
            self.next.notes.remove(path);
            self.next.canvases.remove(path);
        }
        match found {
            Found::Note(note) => {
                self.learn(path, &note, before, respelled);
                self.next.notes.insert(path.clone(), note);
            }
            Found::Canvas(canvas) => {
                self.learn(path, &canvas, before, respelled);
                self.next.files.insert(path.clone(), canvas.size);
                self.next.canvases.insert(path.clone(), canvas);
            }
            Found::File { size, problem } => {
                self.next.files.insert(path.clone(), size);
                if let Some(problem) = problem {
                    self.next.troubles.insert(path.clone(), problem);
                }
            }
            Found::Gone => {}
        }
        if before.is_some() && self.next.linking(path).is_none() {
            self.dirty.push(path.clone());
        }
    }

    fn learn(&mut self, path: &NotePath, now: &Note, before: Option<&Note>, respelled: bool) {
        if before.is_none_or(|before| before.doc != now.doc) {
            self.dirty.push(path.clone());
        }
        if before.is_none() || respelled {
            self.graph.push(GraphChange::Put(path.clone(), Standing::Original));
        }
        self.read.push(path.clone());
    }

    /// Says of each note that was read, and of those that depend on a file that came or went,
    /// whether it is a conflict copy.
    fn judge_copies(&mut self) {
        let mut judged = mem::take(&mut self.read);
        if !self.books.copies.is_empty() {
            judged.extend(self.moved.iter().filter_map(|path| self.books.copies.get(path)).flatten().cloned());
        }
        judged.sort_unstable();
        judged.dedup();
        for path in judged {
            let Some(note) = self.next.notes.get(&path) else {
                continue;
            };
            let asked = RefCell::new(Vec::new());
            let original = conflict_copy::original_of(&path, |candidate| {
                asked.borrow_mut().push(candidate.clone());
                self.next.exists(candidate)
            });
            for candidate in asked.into_inner() {
                self.books.learn_copy(candidate, path.clone());
            }
            let was_copy = self.old.notes.get(&path).is_some_and(|old| old.conflict_of.is_some());
            if was_copy || original.is_some() {
                let standing = if original.is_some() { Standing::Copy } else { Standing::Original };
                self.graph.push(GraphChange::Put(path.clone(), standing));
            }
            if note.conflict_of != original
                && let Some(note) = self.next.notes.get_mut(&path)
            {
                Arc::make_mut(note).conflict_of = original;
            }
        }
    }

    /// Resolves the links of the files that changed or that use a name that came or went.
    fn relink(&mut self) {
        for path in mem::take(&mut self.moved) {
            self.users_of(&path);
        }
        let mut dirty = mem::take(&mut self.dirty);
        dirty.sort_unstable();
        dirty.dedup();
        for path in dirty {
            let before = self.old.linking(&path).map(|note| self.old.edges_asked(&path, &note.doc.asked()));
            let now = self.next.linking(&path).map(|note| self.next.edges_asked(&path, &note.doc.asked()));
            if before != now {
                let (before, now) = (before.as_deref().unwrap_or_default(), now.as_deref().unwrap_or_default());
                self.count_unresolved(&path, before, now);
            }
            match now {
                Some(edges) if before.unwrap_or_default() != edges => self.graph.push(GraphChange::Links(path, edges)),
                Some(_) => {}
                None => self.graph.push(GraphChange::Drop(path)),
            }
        }
    }

    /// Marks the files with a link that may mean another file since `path` came or went.
    fn users_of(&mut self, path: &NotePath) {
        let name = fold::name(path.file_name());
        let bare = name.strip_suffix(".md");
        let longer = format!("{name}.md");
        for name in [Some(name.as_str()), bare, Some(longer.as_str())].into_iter().flatten() {
            for file in self.old.index.named(name) {
                self.dirty.extend(self.old.graph.sources(file).cloned());
            }
        }
        for name in [Some(name.as_str()), bare].into_iter().flatten() {
            for target in self.books.endings.get(name).into_iter().flatten() {
                self.dirty.extend(self.old.unresolved.get(target).into_iter().flatten().cloned());
            }
        }
    }

    fn count_unresolved(&mut self, path: &NotePath, before: &[EdgeKey], now: &[EdgeKey]) {
        let (before, now) = (unresolved(before), unresolved(now));
        for gone in before.difference(&now) {
            let mut last = false;
            if let Some(sources) = self.next.unresolved.get_mut(*gone) {
                sources.remove(path);
                last = sources.is_empty();
            }
            if last {
                self.next.unresolved.remove(*gone);
                self.books.forget_unresolved(gone);
            }
        }
        for new in now.difference(&before) {
            self.books.learn_unresolved(&mut self.next, new, path);
        }
    }

    fn finish(self) -> (Option<Snapshot>, Delta) {
        let Self { books, old, mut next, mut delta, graph, differs, .. } = self;
        match graph {
            GraphStep::Anew(graph) => {
                books.spare.forget();
                next.graph = Arc::new(graph);
            }
            GraphStep::Changes(changes) => next.graph = books.spare.next(&old.graph, changes),
        }
        for list in [&mut delta.added, &mut delta.changed, &mut delta.removed] {
            list.sort_unstable();
        }
        (differs.then_some(next), delta)
    }
}

fn unresolved(edges: &[EdgeKey]) -> BTreeSet<&str> {
    let targets = edges.iter().filter_map(|edge| match &edge.target {
        EdgeTarget::Unresolved(target) => Some(target.as_str()),
        EdgeTarget::File(_) => None,
    });
    targets.collect()
}

/// The last segment of a target that leads nowhere.
fn ending(target: &str) -> &str {
    let target = target.trim_end_matches('/');
    target.rsplit('/').next().unwrap_or(target)
}
