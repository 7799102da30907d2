//! Stand-ins for parts that are being written.
#![allow(dead_code, missing_docs, clippy::string_slice)]
use std::collections::BTreeMap;
use crate::frontmatter::Frontmatter;
use crate::link::{Link, LinkKind};
use crate::note::{DateSource, Document, NoteDate};
use crate::path::NotePath;
use crate::resolve::Resolution;

#[derive(Debug, Clone, Default)]
pub(crate) struct FileIndex(BTreeMap<String, Vec<NotePath>>);
impl FileIndex {
    pub(crate) fn insert(&mut self, path: NotePath) {
        let list = self.0.entry(path.file_name().to_lowercase()).or_default();
        list.retain(|p| p != &path);
        list.push(path);
        list.sort();
    }
    pub(crate) fn remove(&mut self, path: &NotePath) {
        let key = path.file_name().to_lowercase();
        if let Some(list) = self.0.get_mut(&key) {
            list.retain(|p| p != path);
            if list.is_empty() {
                self.0.remove(&key);
            }
        }
    }
    pub(crate) fn resolve(&self, source: &NotePath, target: &str) -> Resolution {
        if target.contains("://") {
            return Resolution::External;
        }
        if target.is_empty() {
            return Resolution::File { path: source.clone(), ambiguous: false };
        }
        let lower = target.to_lowercase();
        let last = lower.rsplit('/').next().unwrap_or("");
        let list = self.0.get(last).or_else(|| self.0.get(&format!("{last}.md")));
        let fits = |p: &&NotePath| {
            let have = p.as_str().to_lowercase();
            let suffix = |t: &str| have == t || have.ends_with(&format!("/{t}"));
            suffix(&lower) || suffix(&format!("{lower}.md"))
        };
        match list.into_iter().flatten().filter(fits).min_by_key(|p| (p.as_str().len(), (*p).clone())) {
            Some(path) => Resolution::File { path: path.clone(), ambiguous: false },
            None => Resolution::Unresolved(lower.strip_suffix(".md").unwrap_or(&lower).to_owned()),
        }
    }
}
pub(crate) fn original_of(_: &NotePath, _: impl Fn(&NotePath) -> bool) -> Option<NotePath> {
    None
}
pub(crate) fn note_date(_: &Frontmatter, path: &NotePath, _: i128) -> Option<NoteDate> {
    path.date().map(|day| NoteDate { day, moment: None, source: DateSource::Path })
}
pub(crate) fn anchor_line(_: &Document, _: &str) -> Option<u32> {
    None
}
pub(crate) fn parse(text: &str) -> Document {
    let mut doc = Document { body: 0..text.len(), ..Document::default() };
    let mut at = 0;
    while let Some(open) = text.get(at..).and_then(|t| t.find("[[")).map(|i| i + at) {
        let Some(close) = text.get(open..).and_then(|t| t.find("]]")).map(|i| i + open) else { break };
        let inner = text.get(open + 2..close).unwrap_or("");
        let target = inner.split(['|', '#']).next().unwrap_or("").to_owned();
        doc.links.push(Link { kind: LinkKind::Wiki, span: open..close + 2, target_span: open + 2..open + 2 + target.len(), target, subpath: String::new(), display: None, predicate: None, key: None, line: 1 });
        at = close + 2;
    }
    doc
}
