//! Which files get which names, and whose links that concerns.

use std::collections::{BTreeMap, BTreeSet};

use crate::change::{Change, ChangeSet};
use crate::fold;
use crate::path::NotePath;
use crate::snapshot::Snapshot;

/// Old names to new ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moves {
    by_old: BTreeMap<NotePath, NotePath>,
    news: BTreeSet<NotePath>,
}

impl FromIterator<(NotePath, NotePath)> for Moves {
    fn from_iter<I: IntoIterator<Item = (NotePath, NotePath)>>(pairs: I) -> Self {
        let by_old: BTreeMap<NotePath, NotePath> = pairs.into_iter().collect();
        let news = by_old.values().cloned().collect();
        Self { by_old, news }
    }
}

impl Moves {
    /// The renames of a change set.
    pub(crate) fn of(set: &ChangeSet) -> Self {
        let rename = |change: &Change| match change {
            Change::Rename { from, to, .. } => Some((from.clone(), to.clone())),
            _ => None,
        };
        set.changes.iter().filter_map(rename).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_old.is_empty()
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&NotePath, &NotePath)> {
        self.by_old.iter()
    }

    /// What `path` is called afterwards.
    pub(crate) fn to<'a>(&'a self, path: &'a NotePath) -> &'a NotePath {
        self.by_old.get(path).unwrap_or(path)
    }

    /// Whether a file gets another name.
    pub(crate) fn moves(&self, path: &NotePath) -> bool {
        self.by_old.contains_key(path)
    }

    /// Whether a file gets this name.
    pub(crate) fn makes(&self, path: &NotePath) -> bool {
        self.news.contains(path)
    }

    /// The vault's names afterwards.
    pub(crate) fn after(&self, now: &Snapshot) -> Snapshot {
        let added: Vec<NotePath> = self.by_old.values().cloned().collect();
        let removed: Vec<NotePath> = self.by_old.keys().cloned().collect();
        now.overlaid(&added, &removed)
    }

    /// The notes that are moved themselves, that link to a moved file, or that use a name which
    /// such a file gets; canvases as well. The cost follows the number of those and of unresolved names.
    pub(crate) fn concerned(&self, now: &Snapshot) -> BTreeSet<NotePath> {
        let mut out: BTreeSet<NotePath> = self.by_old.keys().filter(|path| bears_links(path)).cloned().collect();
        let mut linking = |path: &NotePath| out.extend(now.graph.sources(path).cloned());
        self.by_old.keys().for_each(&mut linking);
        let mut keys = BTreeSet::new();
        for new in &self.news {
            let name = fold::name(new.file_name());
            now.index.named(&name).for_each(&mut linking);
            now.index.named(&format!("{name}.md")).for_each(&mut linking);
            let bare = name.strip_suffix(".md").unwrap_or(&name);
            keys.insert(bare.strip_suffix(".md").unwrap_or(bare).to_owned());
            keys.insert(bare.to_owned());
        }
        for (key, sources) in now.unresolved.iter() {
            if keys.contains(key.trim_end_matches('/').rsplit('/').next().unwrap_or(key)) {
                out.extend(sources.iter().cloned());
            }
        }
        out
    }
}

/// Whether links are read from such a file.
pub(crate) fn bears_links(path: &NotePath) -> bool {
    path.is_markdown() || path.is_canvas()
}
