//! Anchors of links to the note that goes: the same places in the note that stays.

use std::collections::BTreeSet;

use crate::edit::TextEdit;
use crate::link::LinkKind;
use crate::note::Document;
use crate::path::NotePath;
use crate::rename::Respelling;
use crate::snapshot::Snapshot;

use super::body::Joined;
use super::{Report, Warning};

/// The block ids of `drop` that some link names, in lower case.
pub(super) fn block_ids<'a>(
    now: &Snapshot,
    drop: &NotePath,
    sources: impl Iterator<Item = (&'a NotePath, &'a Respelling)>,
) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for (source, respelling) in sources {
        for link in &respelling.doc.links {
            let id = link.subpath.rsplit('#').next().and_then(|last| last.trim().strip_prefix('^'));
            if let Some(id) = id
                && now.resolve_link(source, link).path() == Some(drop)
            {
                out.insert(id.to_lowercase());
            }
        }
    }
    out
}

/// Old places and new ones.
pub(super) struct Anchors<'a> {
    goes: &'a Document,
    joined: &'a Joined,
    merged: Document,
}

impl<'a> Anchors<'a> {
    pub(super) fn new(goes: &'a Document, joined: &'a Joined) -> Self {
        Self { goes, joined, merged: Document::parse(&joined.text) }
    }

    /// The edits of a file's links, with those of its anchors to `drop`.
    pub(super) fn turn(
        &self,
        now: &Snapshot,
        source: &NotePath,
        drop: &NotePath,
        respelling: &Respelling,
        report: &mut Report,
    ) -> Vec<TextEdit> {
        let mut edits = respelling.edits.clone();
        for link in respelling.doc.links.iter().filter(|link| !link.subpath.is_empty()) {
            let own = link.target.is_empty() && source == drop;
            if !own && (link.target.is_empty() || now.resolve_link(source, link).path() != Some(drop)) {
                continue;
            }
            let Some(wanted) = self.place(&link.subpath) else { continue };
            if wanted == link.subpath {
                continue;
            }
            let at = link.target_span.end;
            let written = respelling.read.text.get(at..link.span.end).unwrap_or("");
            let markdown = matches!(link.kind, LinkKind::Markdown | LinkKind::MarkdownEmbed);
            let wanted = if markdown { wanted.replace(' ', "%20") } else { wanted };
            if written.starts_with(&link.subpath) && wanted.replace("%20", "").chars().all(is_plain) {
                edits.push(TextEdit { span: at..at + link.subpath.len(), with: wanted });
            } else {
                let (path, subpath) = (source.clone(), link.subpath.clone());
                report.warnings.push(Warning::OtherPlace { path, line: link.line, subpath });
            }
        }
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        edits
    }

    /// How the place that `subpath` means in the note that goes is named in the one that stays;
    /// `None` when it means nothing there, or can't be named.
    fn place(&self, subpath: &str) -> Option<String> {
        if let Some((head, id)) = subpath.rsplit_once("#^") {
            let wanted = self.joined.id_of(id.trim());
            return Some(wanted.map_or_else(|| subpath.to_owned(), |id| format!("{head}#^{id}")));
        }
        let line = self.goes.anchor_line(subpath)?;
        let at = self.goes.headings.iter().position(|heading| heading.line == line)?;
        let Some(new) = self.joined.heading_line(at) else { return Some(subpath.to_owned()) };
        if self.merged.anchor_line(subpath) == Some(new) {
            return Some(subpath.to_owned());
        }
        // With the headings above it, outermost first.
        let heading = self.merged.headings.iter().position(|heading| heading.line == new)?;
        let mut chain: Vec<&str> = Vec::new();
        let mut level = u8::MAX;
        for above in
            self.merged.headings.get(..=heading)?.iter().rev().filter(|h| !h.text.contains(['#', '|', '[', ']']))
        {
            if above.level < level {
                chain.insert(0, above.text.trim());
                level = above.level;
                let named: String = chain.iter().map(|text| format!("#{text}")).collect();
                if self.merged.anchor_line(&named) == Some(new) {
                    return Some(named);
                }
            }
        }
        // Nothing names it: the first heading of these words is where the link leads.
        None
    }
}

/// What stands in a subpath as itself in every form of link but a percent-encoded one.
fn is_plain(c: char) -> bool {
    !matches!(c, '|' | ']' | '[' | '"' | '\'' | '\\' | '(' | ')' | '<' | '>' | '%') && !c.is_control()
}
