//! Conditions made ready for a snapshot: names looked up once, so that a note is asked in O(1).

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::NaiveDate;
use dormouse_vault::material::pending;
use dormouse_vault::meta::DreamLedger;
use dormouse_vault::{Bucket, Layer, Note, NotePath, Snapshot};
use unicode_normalization::UnicodeNormalization;

use crate::filter::{Condition, Filters, stated_date};
use crate::naming::{named, pointing_nowhere};
use crate::traits::Traits;

/// Where conditions are asked.
pub(crate) struct Ground<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) traits: &'a Traits,
    /// The notes that sleep.
    pub(crate) archived: Arc<BTreeSet<NotePath>>,
    /// What was dreamed; read when something asks for it.
    pub(crate) ledger: &'a dyn Fn() -> Option<DreamLedger>,
}

/// Conditions that can be asked of any note of a snapshot.
pub(crate) struct Conditions<'a> {
    traits: &'a Traits,
    /// Of each group one must hold.
    groups: Vec<Vec<Test>>,
    /// None of these may hold.
    none: Vec<Test>,
    /// Names that mean nothing in the vault, or several things.
    pub(crate) notices: Vec<String>,
}

/// One condition, looked up.
#[derive(Debug)]
enum Test {
    Layer(Layer),
    Bucket(Bucket),
    /// In lower case, with a slash behind; empty for the whole vault.
    Folder(String),
    Dated(Option<NaiveDate>, Option<NaiveDate>),
    Among(Arc<BTreeSet<NotePath>>),
    /// In lower case.
    Tag(String),
    Property(String, Option<String>),
}

impl<'a> Conditions<'a> {
    /// Makes `filters` ready. Linear in the links of the notes that they name; a title instead of a
    /// path, a name that is nowhere, and `is:pending` are linear in the notes.
    pub(crate) fn of(filters: &[&Filters], ground: &Ground<'a>) -> Self {
        let mut out = Self { traits: ground.traits, groups: Vec::new(), none: Vec::new(), notices: Vec::new() };
        for filters in filters {
            out.fields(filters, ground);
            for group in &filters.any_of {
                let tests = group.iter().map(|condition| out.test(condition, ground)).collect();
                out.groups.push(tests);
            }
            for condition in &filters.none_of {
                let test = out.test(condition, ground);
                out.none.push(test);
            }
        }
        // What needs no document goes first.
        let costly = |test: &Test| matches!(test, Test::Tag(_) | Test::Property(..));
        if out.groups.iter().flatten().chain(&out.none).any(costly) {
            ground.traits.forget(ground.snapshot);
        }
        out.groups.sort_by_key(|group| group.iter().any(costly));
        out.none.sort_by_key(costly);
        out
    }

    /// Whether a note fulfils all of them. Linear in the conditions; one on a tag or property costs
    /// a look at the note's document once for each version of it.
    pub(crate) fn hold(&self, note: &Note) -> bool {
        self.groups.iter().all(|group| group.iter().any(|test| self.holds(test, note)))
            && !self.none.iter().any(|test| self.holds(test, note))
    }

    fn holds(&self, test: &Test, note: &Note) -> bool {
        match test {
            Test::Layer(layer) => note.layer == *layer,
            Test::Bucket(bucket) => note.bucket == Some(*bucket),
            Test::Folder(folder) => is_in(&note.path, folder),
            Test::Dated(from, until) => stated_date(note)
                .is_some_and(|day| from.is_none_or(|from| day >= from) && until.is_none_or(|until| day <= until)),
            Test::Among(paths) => paths.contains(&note.path),
            Test::Tag(tag) => self.traits.of(note).has_tag(tag),
            Test::Property(key, value) => self.traits.of(note).has_property(key, value.as_deref()),
        }
    }

    /// The conditions that have a field of their own.
    fn fields(&mut self, filters: &Filters, ground: &Ground<'_>) {
        let mut group = |tests: Vec<Test>| {
            if !tests.is_empty() {
                self.groups.push(tests);
            }
        };
        group(filters.layers.iter().map(|layer| Test::Layer(*layer)).collect());
        group(filters.buckets.iter().map(|bucket| Test::Bucket(*bucket)).collect());
        group(filters.folder.iter().map(|name| Test::Folder(folder(name))).collect());
        filters.tags.iter().for_each(|name| group(vec![Test::Tag(tag(name))]));
        filters
            .properties
            .iter()
            .for_each(|(key, value)| group(vec![Test::Property(key.clone(), Some(value.clone()))]));
        if filters.from.is_some() || filters.until.is_some() {
            group(vec![Test::Dated(filters.from, filters.until)]);
        }
        let around = |path: &NotePath, ends| among(ground.snapshot, std::slice::from_ref(path), ends);
        group(filters.links_to.iter().map(|path| around(path, Ends::Sources)).collect());
        group(filters.linked_from.iter().map(|path| around(path, Ends::Targets)).collect());
    }

    fn test(&mut self, condition: &Condition, ground: &Ground<'_>) -> Test {
        let test = match condition {
            Condition::Layer(layer) => return Test::Layer(*layer),
            Condition::Bucket(bucket) => return Test::Bucket(*bucket),
            Condition::Dated { from, until } => return Test::Dated(*from, *until),
            Condition::Links(name) => return self.linked(condition, name, Ends::Both, ground),
            Condition::LinksTo(name) => return self.linked(condition, name, Ends::Sources, ground),
            Condition::LinkedFrom(name) => return self.linked(condition, name, Ends::Targets, ground),
            Condition::Archived => return Test::Among(Arc::clone(&ground.archived)),
            Condition::Pending => {
                let waiting = pending(ground.snapshot, (ground.ledger)().as_ref());
                return Test::Among(Arc::new(waiting.into_iter().collect()));
            }
            Condition::Folder(name) => Test::Folder(folder(name)),
            Condition::Tag(name) => Test::Tag(tag(name)),
            Condition::Property { key, value } => Test::Property(key.clone(), value.clone()),
        };
        if !ground.snapshot.notes().any(|note| note.is_live() && self.holds(&test, note)) {
            self.notices.push(format!("no note fulfils {condition}"));
        }
        test
    }

    fn linked(&mut self, condition: &Condition, name: &str, ends: Ends, ground: &Ground<'_>) -> Test {
        let files = named(ground.snapshot, name);
        if files.len() > 1 {
            let all: Vec<&str> = files.iter().map(NotePath::as_str).collect();
            self.notices.push(format!("{condition} means each of {}", all.join(", ")));
        }
        if files.is_empty() && ends != Ends::Targets {
            let sources = pointing_nowhere(ground.snapshot, name);
            if !sources.is_empty() {
                self.notices.push(format!("{condition}: there is no such note, only links to it"));
                return Test::Among(Arc::new(sources.into_iter().collect()));
            }
        }
        if files.is_empty() {
            self.notices.push(format!("{condition}: there is no such note"));
        }
        among(ground.snapshot, &files, ends)
    }
}

/// The other ends of a file's links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Sources,
    Targets,
    Both,
}

fn among(snapshot: &Snapshot, files: &[NotePath], ends: Ends) -> Test {
    let graph = snapshot.graph();
    let mut found = BTreeSet::new();
    for file in files {
        if ends != Ends::Targets {
            found.extend(graph.in_edges(file).into_iter().map(|edge| edge.source.clone()));
        }
        if ends != Ends::Sources {
            found.extend(graph.out_edges(file).into_iter().map(|edge| edge.target.clone()));
        }
    }
    Test::Among(Arc::new(found))
}

fn tag(name: &str) -> String {
    name.trim_start_matches('#').trim_end_matches('/').to_lowercase()
}

fn folder(name: &str) -> String {
    let name: String = name.trim_matches('/').nfc().flat_map(char::to_lowercase).collect();
    if name.is_empty() { name } else { name + "/" }
}

/// Whether a path lies in a folder; both in any case, the folder as [`folder`] gives it.
fn is_in(path: &NotePath, folder: &str) -> bool {
    let path = path.as_str();
    match path.get(..folder.len()) {
        Some(start) if start.is_ascii() && folder.is_ascii() => start.eq_ignore_ascii_case(folder),
        _ => path.to_lowercase().starts_with(folder),
    }
}
