//! Which file a link's target means, as Obsidian decides it.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::FixedState;

use crate::fold;
use crate::path::NotePath;

/// What a target resolves to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// One file.
    File {
        /// The file.
        path: NotePath,
        /// Whether another file of the same rank was passed over by byte order.
        ambiguous: bool,
    },
    /// No file; the key under which it is counted (lower-case, without `.md`).
    Unresolved(String),
    /// A URL with a scheme: not a link inside the vault.
    External,
}

impl Resolution {
    fn of((path, ambiguous): (NotePath, bool)) -> Self {
        Self::File { path, ambiguous }
    }

    /// The file, when there is one.
    #[must_use]
    pub fn path(&self) -> Option<&NotePath> {
        match self {
            Self::File { path, .. } => Some(path),
            _ => None,
        }
    }
}

/// Into how many parts the index is cut. A change copies one part and this many pointers.
const SHARDS: u64 = 256;

/// A file as it is compared. One whose path is folded already shares it.
#[derive(Debug, Clone)]
struct Known {
    path: NotePath,
    folded: Arc<str>,
}

/// Files by the hash of their folded name; a name's files are told from another's of its hash by
/// comparing.
#[derive(Debug, Clone, Default)]
struct Shard {
    first: HashMap<u64, Known, FixedState>,
    /// The files beside the first of their hash.
    more: BTreeMap<u64, Vec<Known>>,
}

/// All files of a vault by their folded name. A clone is one pointer; a change copies what it
/// touches, so that snapshots share the rest.
#[derive(Debug, Clone)]
pub(crate) struct FileIndex {
    shards: Arc<Vec<Arc<Shard>>>,
}

impl Default for FileIndex {
    fn default() -> Self {
        let empty: Arc<Shard> = Arc::default();
        Self { shards: Arc::new((0..SHARDS).map(|_| Arc::clone(&empty)).collect()) }
    }
}

impl FileIndex {
    /// Makes room for this many files.
    pub(crate) fn reserve(&mut self, files: usize) {
        for shard in Arc::make_mut(&mut self.shards) {
            Arc::make_mut(shard).first.reserve(files / 200);
        }
    }

    /// Adds a file; one that is there already is replaced (its spelling on disk may be new).
    pub(crate) fn insert(&mut self, path: NotePath) {
        let folded = if is_folded(path.as_str()) { path.shared() } else { fold::name(path.as_str()).into() };
        let hash = hash_of(file_name(&folded));
        if self.known(hash).any(|known| known.path == path) {
            self.remove(&path);
        }
        let known = Known { path, folded };
        let Some(shard) = self.shard_mut(hash) else {
            return;
        };
        match shard.first.entry(hash) {
            Entry::Vacant(free) => {
                free.insert(known);
            }
            Entry::Occupied(_) => shard.more.entry(hash).or_default().push(known),
        }
    }

    /// Takes a file away.
    pub(crate) fn remove(&mut self, path: &NotePath) {
        let hash = hash_of(file_name(&fold::name(path.as_str())));
        if !self.known(hash).any(|known| known.path == *path) {
            return;
        }
        let Some(shard) = self.shard_mut(hash) else {
            return;
        };
        let rest = shard.more.entry(hash).or_default();
        if let Some(at) = rest.iter().position(|known| known.path == *path) {
            rest.remove(at);
        } else if let Some(next) = rest.pop() {
            shard.first.insert(hash, next);
        } else {
            shard.first.remove(&hash);
        }
        if rest.is_empty() {
            shard.more.remove(&hash);
        }
    }

    fn known(&self, hash: u64) -> impl Iterator<Item = &Known> {
        let shard = self.shards.get(shard_of(hash));
        let first = shard.and_then(|shard| shard.first.get(&hash));
        let more = shard.and_then(|shard| shard.more.get(&hash));
        first.into_iter().chain(more.into_iter().flatten())
    }

    /// Which file `target` (decoded, without subpath) means in a link of `source`. The order of
    /// insertion never matters. Linear in the number of files of that name.
    pub(crate) fn resolve(&self, source: &NotePath, target: &str) -> Resolution {
        if target.is_empty() {
            return Resolution::File { path: source.clone(), ambiguous: false };
        }
        let (wanted, literal) = normal(target);
        let (wanted, literal) = (wanted.trim_end_matches('/'), literal.trim_end_matches('/'));
        let as_written = file_name(wanted).contains('.').then(|| self.find(source, wanted, literal)).flatten();
        let with_extension = || self.find(source, &format!("{wanted}.md"), &format!("{literal}.md"));
        // Slashes alone name no file.
        let found = as_written.or_else(with_extension).filter(|_| !wanted.is_empty());
        found.map_or_else(|| Resolution::Unresolved(unresolved_key(target)), Resolution::of)
    }

    /// Which file `target` means as a path from the vault's root with its extension, as in a canvas:
    /// no folder is passed over and no extension is added.
    pub(crate) fn resolve_path(&self, target: &str) -> Resolution {
        let (wanted, literal) = normal(target);
        let (wanted, literal) = (wanted.trim_matches('/'), literal.trim_matches('/'));
        let known: Vec<&Known> = self.known(hash_of(file_name(wanted))).collect();
        let found = best(&known, "", literal, |k| Some(*k.folded == *wanted));
        found.map_or_else(|| Resolution::Unresolved(unresolved_key(target)), Resolution::of)
    }

    fn find(&self, source: &NotePath, wanted: &str, literal: &str) -> Option<(NotePath, bool)> {
        let name = file_name(wanted);
        let mut known = self.known(hash_of(name)).filter(|known| file_name(&known.folded) == name);
        let first = known.next()?;
        let second = known.next();
        if second.is_none() && wanted.len() == name.len() {
            return Some((first.path.clone(), false));
        }
        let known: Vec<&Known> = [Some(first), second].into_iter().flatten().chain(known).collect();
        let folder = fold::name(source.folder());
        if wanted.starts_with("./") || wanted.starts_with("../") {
            return best(&known, &folder, literal, |k| Some(*k.folded == *relative(&folder, wanted)?));
        }
        if let Some(rooted) = wanted.strip_prefix('/') {
            return best(&known, &folder, literal, |k| Some(*k.folded == *rooted));
        }
        let exact = best(&known, &folder, literal, |k| Some(*k.folded == *wanted));
        exact.or_else(|| {
            best(&known, &folder, literal, |k| {
                let head = k.folded.strip_suffix(wanted)?;
                Some(head.is_empty() || head.ends_with('/'))
            })
        })
    }

    /// The files of this folded name.
    pub(crate) fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a NotePath> + use<'a> {
        self.known(hash_of(name)).filter(move |known| file_name(&known.folded) == name).map(|known| &known.path)
    }

    fn shard_mut(&mut self, hash: u64) -> Option<&mut Shard> {
        Arc::make_mut(&mut self.shards).get_mut(shard_of(hash)).map(Arc::make_mut)
    }
}

/// The best of the files that `fits`: in the source's folder or below it, then the shortest path
/// in characters, then the one that is spelled like the link, then byte order. The flag says that
/// only byte order decided.
fn best(
    known: &[&Known],
    folder: &str,
    literal: &str,
    fits: impl Fn(&Known) -> Option<bool>,
) -> Option<(NotePath, bool)> {
    let spelled = literal.trim_start_matches("../").trim_start_matches("./").trim_start_matches('/');
    let rank = |k: &Known| {
        let beside = folder.is_empty() || k.folded.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        (!beside, k.path.as_str().chars().count(), !k.path.as_str().ends_with(spelled))
    };
    let fitting = known.iter().filter(|k| fits(k) == Some(true));
    let mut ranked: Vec<_> = fitting.map(|k| (rank(k), &k.path)).collect();
    ranked.sort();
    let (first, path) = ranked.first()?;
    let ambiguous = ranked.get(1).is_some_and(|(second, _)| second == first);
    Some(((*path).clone(), ambiguous))
}

/// A target folded, and as it is spelled: both with runs of slashes as one.
fn normal(target: &str) -> (Cow<'_, str>, Cow<'_, str>) {
    let literal = if target.contains('\u{A0}') { target.replace('\u{A0}', " ").into() } else { target.into() };
    (collapse_slashes(fold::name(target).into()), collapse_slashes(literal))
}

/// The key under which a target that no file answers to is counted: folded, without slashes at its
/// end and without `.md`.
pub(crate) fn unresolved_key(target: &str) -> String {
    let mut folded = fold::name(target);
    if folded.ends_with('/') {
        let end = folded.trim_end_matches('/').len();
        folded.truncate(end.max(1));
    }
    folded.strip_suffix(".md").filter(|rest| !rest.is_empty()).map_or_else(|| folded.clone(), ToOwned::to_owned)
}

fn hash_of(name: &str) -> u64 {
    FixedState::default().hash_one(name)
}

fn shard_of(hash: u64) -> usize {
    usize::try_from(hash % SHARDS).unwrap_or(0)
}

/// Whether [`fold::name`] leaves it as it is, as far as that is quick to see.
fn is_folded(path: &str) -> bool {
    path.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase())
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `./x` and `../x` from `folder`; `None` when it leaves the vault.
fn relative(folder: &str, target: &str) -> Option<String> {
    let mut segments: Vec<&str> = folder.split('/').filter(|s| !s.is_empty()).collect();
    for segment in target.split('/') {
        match segment {
            "." => {}
            ".." => {
                segments.pop()?;
            }
            name => segments.push(name),
        }
    }
    Some(segments.join("/"))
}

fn collapse_slashes(path: Cow<'_, str>) -> Cow<'_, str> {
    if !path.contains("//") {
        return path;
    }
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if c != '/' || !out.ends_with('/') {
            out.push(c);
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name() -> impl Strategy<Value = String> {
        let segment = prop::sample::select(vec!["a", "A", "b", "Note", "note.md", "n.1", "é", "e\u{301}"]);
        (prop::collection::vec(segment, 1..4), prop::sample::select(vec![".md", "", ".png"]))
            .prop_map(|(segments, extension)| segments.join("/") + extension)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn neither_order_nor_removal_leaves_a_trace(
            names in prop::collection::vec(name(), 1..12),
            gone in prop::collection::vec(name(), 0..6),
            source in name(),
            target in name(),
        ) {
            let paths: Vec<NotePath> = names.iter().map(|n| NotePath::new(n).unwrap()).collect();
            let gone: Vec<NotePath> = gone.iter().map(|n| NotePath::new(n).unwrap()).collect();
            let source = NotePath::new(&source).unwrap();
            let mut forward = FileIndex::default();
            paths.iter().for_each(|p| forward.insert(p.clone()));
            let before = forward.clone();
            gone.iter().for_each(|p| forward.insert(p.clone()));
            gone.iter().for_each(|p| forward.remove(p));
            let mut backward = FileIndex::default();
            paths.iter().rev().filter(|p| !gone.contains(p)).for_each(|p| backward.insert(p.clone()));
            for target in [target.clone(), format!("./{target}"), format!("../{target}"), format!("/{target}")] {
                let answer = forward.resolve(&source, &target);
                prop_assert_eq!(&answer, &backward.resolve(&source, &target));
                if let Some(path) = answer.path() {
                    prop_assert!(paths.contains(path));
                }
                // The older clone is not disturbed.
                if let Some(path) = before.resolve(&source, &target).path() {
                    prop_assert!(paths.contains(path));
                }
            }
        }

        #[test]
        fn the_path_that_we_write_means_the_note(names in prop::collection::vec(name(), 1..12), source in name()) {
            let paths: Vec<NotePath> = names.iter().map(|n| NotePath::new(n).unwrap()).collect();
            let mut index = FileIndex::default();
            paths.iter().for_each(|p| index.insert(p.clone()));
            let source = NotePath::new(&source).unwrap();
            // A name without an extension is out of Obsidian's reach.
            for path in paths.iter().filter(|path| path.file_name().contains('.')) {
                let found = index.resolve(&source, path.as_str());
                let found = found.path().map(NotePath::as_str);
                prop_assert_eq!(found, Some(path.as_str()), "{:?}", paths);
            }
        }
    }

    #[test]
    fn a_path_of_a_canvas_is_whole_and_a_target_may_end_in_slashes() {
        let mut index = FileIndex::default();
        ["a/N.md", "a/n.MD", "b/T", "M.md"].iter().for_each(|p| index.insert(NotePath::new(p).unwrap()));
        let source = NotePath::new("a/s.canvas").unwrap();
        let path = |found: Resolution| found.path().map_or("-".to_owned(), ToString::to_string);
        let whole = ["a/N.md", "A//n.md", "/a/n.MD", "b/T", "N.md", "a/N", "./N.md", "../M.md", "M", "m.md", "/", ""];
        let whole = whole.map(|target| path(index.resolve_path(target))).join(" ");
        assert_eq!(whole, "a/N.md a/N.md a/n.MD b/T - - - - - M.md - -");
        let linked = ["a/N/", "a/n.md//", "M/", "../m/", "/", "//", "a/", "./", "./."];
        let linked = linked.map(|target| path(index.resolve(&source, target))).join(" ");
        assert_eq!(linked, "a/N.md a/N.md M.md M.md - - - - -");
    }

    #[test]
    fn unresolved_targets_are_counted_under_one_key() {
        let keys: Vec<String> =
            ["Map", "map.md", "MAP.MD", "map//", "./Map", ".md", "//"].iter().map(|t| unresolved_key(t)).collect();
        assert_eq!(keys, ["map", "map", "map", "map", "./map", ".md", "/"]);
    }
}
