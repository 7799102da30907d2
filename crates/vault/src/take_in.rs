//! Taking in: what was seen of some files turns one snapshot into the next.
//!
//! The cost follows the change. Links are resolved again only for notes whose text changed and for
//! notes with a link whose last segment names a file that came or went; the reverse index from
//! names to the notes that use them is kept here, beside the snapshot, since no reader needs it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::conflict_copy;
use crate::fold;
use crate::graph::{EdgeKey, EdgeTarget, Standing};
use crate::note::Note;
use crate::path::NotePath;
use crate::reading::Found;
use crate::snapshot::{Delta, Snapshot};
use crate::walk::Stamp;

/// What the next change needs to know and no reader does.
#[derive(Debug, Default)]
pub(crate) struct Books {
    /// Every file as it was when it was last read.
    pub(crate) stamps: BTreeMap<NotePath, Stamp>,
    /// The out-edges of each note, as they stand in the graph and among the unresolved.
    edges: HashMap<NotePath, Vec<EdgeKey>>,
    /// Names to the notes with a link that may mean a file of this name.
    users: HashMap<String, BTreeSet<NotePath>>,
    /// Files to the possible conflict copies that are one only if the file exists.
    copies: HashMap<NotePath, BTreeSet<NotePath>>,
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

/// The next snapshot, and how it differs. `seen` names a path at most once.
pub(crate) fn take_in(books: &mut Books, old: &Snapshot, seen: Vec<Sighting>) -> (Snapshot, Delta) {
    let mut step = Step {
        books,
        next: old.successor(),
        delta: Delta::default(),
        moved: BTreeSet::new(),
        dirty: BTreeSet::new(),
        read: BTreeSet::new(),
    };
    for sighting in seen {
        step.file(sighting);
    }
    step.judge_copies();
    step.relink();
    let Step { next, mut delta, .. } = step;
    for list in [&mut delta.added, &mut delta.changed, &mut delta.removed] {
        list.sort_unstable();
    }
    (next, delta)
}

struct Step<'b> {
    books: &'b mut Books,
    next: Snapshot,
    delta: Delta,
    /// Files that came or went.
    moved: BTreeSet<NotePath>,
    /// Notes whose links must be resolved, or that are gone.
    dirty: BTreeSet<NotePath>,
    /// Notes that were read, of which it must be said whether they are a conflict copy.
    read: BTreeSet<NotePath>,
}

impl Step<'_> {
    fn file(&mut self, Sighting { path, stamp, found }: Sighting) {
        let spelled = self.next.spelled(&path);
        let note_before = self.next.notes.get(&path).cloned();
        let stamp_before = self.books.stamps.remove(&path);
        if let Some(stamp) = stamp {
            self.books.stamps.insert(path.clone(), stamp);
        }
        if self.is_known(&path, &found) && spelled.as_ref().is_none_or(|old| old.as_disk() == path.as_disk()) {
            if note_before.is_none() && !stamp_before.zip(stamp).is_none_or(|(before, now)| before.looks_like(&now)) {
                self.delta.changed.push(path);
            }
            return;
        }
        let stays = !matches!(found, Found::Gone);
        if let Some(old) = spelled.as_ref().filter(|old| !stays || old.as_disk() != path.as_disk()) {
            Arc::make_mut(&mut self.next.index).remove(old);
            self.moved.insert(path.clone());
        }
        if stays && spelled.as_ref().is_none_or(|old| old.as_disk() != path.as_disk()) {
            Arc::make_mut(&mut self.next.index).insert(path.clone());
            self.moved.insert(path.clone());
        }
        let differs = match &found {
            Found::Note(note) => note_before.as_ref().is_none_or(|before| before.version != note.version),
            _ => note_before.is_some() || !stamp_before.zip(stamp).is_some_and(|(before, now)| before.looks_like(&now)),
        };
        self.put(&path, found, note_before.as_deref());
        match (spelled.is_some(), stays) {
            (false, true) => self.delta.added.push(path),
            (true, false) => self.delta.removed.push(path),
            (true, true) if differs => self.delta.changed.push(path),
            _ => {}
        }
    }

    /// Whether the snapshot says already what was found.
    fn is_known(&self, path: &NotePath, found: &Found) -> bool {
        let note = self.next.notes.get(path);
        let file = self.next.files.get(path);
        match found {
            Found::Gone => note.is_none() && file.is_none(),
            Found::Note(now) => note.is_some_and(|note| note.version == now.version && note.mtime_ns == now.mtime_ns),
            Found::File { size, problem } => file == Some(size) && self.next.troubles.get(path) == problem.as_ref(),
        }
    }

    /// Puts what was found in the place of what was known.
    fn put(&mut self, path: &NotePath, found: Found, before: Option<&Note>) {
        if self.next.files.contains_key(path) {
            Arc::make_mut(&mut self.next.files).remove(path);
        }
        if self.next.troubles.contains_key(path) {
            Arc::make_mut(&mut self.next.troubles).remove(path);
        }
        if let Some(before) = before {
            Arc::make_mut(&mut self.next.notes).remove(path);
            if !matches!(&found, Found::Note(now) if now.doc() == before.doc()) {
                self.forget_users(before);
            }
        }
        match found {
            Found::Note(note) => {
                if !before.is_some_and(|before| before.doc() == note.doc()) {
                    self.learn_users(&note);
                    self.dirty.insert(path.clone());
                }
                self.read.insert(path.clone());
                Arc::make_mut(&mut self.next.notes).insert(path.clone(), note);
            }
            Found::File { size, problem } => {
                Arc::make_mut(&mut self.next.files).insert(path.clone(), size);
                if let Some(problem) = problem {
                    Arc::make_mut(&mut self.next.troubles).insert(path.clone(), problem);
                }
            }
            Found::Gone => {}
        }
        if before.is_some() && !self.next.notes.contains_key(path) {
            self.dirty.insert(path.clone());
        }
    }

    fn learn_users(&mut self, note: &Note) {
        for name in note.doc().links.iter().flat_map(|link| names_meant(&link.target)) {
            self.books.users.entry(name).or_default().insert(note.path.clone());
        }
    }

    fn forget_users(&mut self, note: &Note) {
        for name in note.doc().links.iter().flat_map(|link| names_meant(&link.target)) {
            if let Some(users) = self.books.users.get_mut(&name) {
                users.remove(&note.path);
                if users.is_empty() {
                    self.books.users.remove(&name);
                }
            }
        }
    }

    /// Says of each note that was read, and of those that depend on a file that came or went,
    /// whether it is a conflict copy.
    fn judge_copies(&mut self) {
        let depending = self.moved.iter().filter_map(|path| self.books.copies.get(path)).flatten().cloned();
        let judged: BTreeSet<NotePath> = depending.chain(self.read.iter().cloned()).collect();
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
                self.books.copies.entry(candidate).or_default().insert(path.clone());
            }
            let standing = if original.is_some() { Standing::Copy } else { Standing::Original };
            if note.conflict_of != original
                && let Some(note) = Arc::make_mut(&mut self.next.notes).get_mut(&path)
            {
                Arc::make_mut(note).conflict_of = original;
            }
            if self.next.graph.standing(&path) != Some(standing) {
                Arc::make_mut(&mut self.next.graph).put_note(&path, standing);
            }
        }
    }

    /// Resolves the links of the notes that changed or that use a name that came or went.
    fn relink(&mut self) {
        for path in &self.moved {
            if let Some(users) = self.books.users.get(&name_of(path)) {
                self.dirty.extend(users.iter().cloned());
            }
        }
        for path in std::mem::take(&mut self.dirty) {
            let now = self.next.notes.get(&path).map(|note| self.next.edges_of(&path, note.doc()));
            let before = self.books.edges.get(&path).map(Vec::as_slice).unwrap_or_default();
            if before != now.as_deref().unwrap_or_default() {
                count_unresolved(&mut self.next, &path, before, now.as_deref().unwrap_or_default());
                Arc::make_mut(&mut self.next.graph).set_links(&path, now.as_deref().unwrap_or_default());
            }
            match now {
                Some(edges) => {
                    self.books.edges.insert(path, edges);
                }
                None => {
                    Arc::make_mut(&mut self.next.graph).drop_note(&path);
                    self.books.edges.remove(&path);
                }
            }
        }
    }
}

fn count_unresolved(next: &mut Snapshot, path: &NotePath, before: &[EdgeKey], now: &[EdgeKey]) {
    let (before, now) = (unresolved(before), unresolved(now));
    if before == now {
        return;
    }
    let counts = Arc::make_mut(&mut next.unresolved);
    for gone in before.difference(&now) {
        if let Some(sources) = counts.get_mut(*gone) {
            sources.remove(path);
            if sources.is_empty() {
                counts.remove(*gone);
            }
        }
    }
    for new in now.difference(&before) {
        counts.entry((*new).to_owned()).or_default().insert(path.clone());
    }
}

fn unresolved(edges: &[EdgeKey]) -> BTreeSet<&str> {
    let mut out = BTreeSet::new();
    for edge in edges {
        if let EdgeTarget::Unresolved(target) = &edge.target {
            out.insert(target.as_str());
        }
    }
    out
}

/// The names of files that a link's target may mean: its last segment, with and without `.md`.
fn names_meant(target: &str) -> BTreeSet<String> {
    let target = fold::name(target);
    let last = target.trim_end_matches('/').rsplit('/').next().unwrap_or("");
    let bare = last.strip_suffix(".md");
    bare.into_iter().chain([last]).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The name under which links look for a file.
fn name_of(path: &NotePath) -> String {
    let name = fold::name(path.file_name());
    name.strip_suffix(".md").map(str::to_owned).unwrap_or(name)
}
