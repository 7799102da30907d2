//! What the tasks look at: the live digest notes with their texts, read once a run.

use std::sync::Arc;

use dormouse_vault::{
    Bucket, Document, Layer, Note, NotePath, NoteText, Snapshot, Vault, VaultError,
};

use crate::error::ConsolidateError;
use crate::progress::Watch;

/// A digest note with its text. The spans of `note.doc` hold in `text`.
#[derive(Debug, Clone)]
pub(crate) struct Digest {
    pub(crate) note: Arc<Note>,
    pub(crate) text: String,
}

impl Digest {
    pub(crate) fn path(&self) -> &NotePath {
        &self.note.path
    }

    pub(crate) fn bucket(&self) -> Option<Bucket> {
        self.note.bucket
    }

    /// The note as it was read.
    pub(crate) fn note_text(&self) -> NoteText {
        NoteText {
            path: self.note.path.clone(),
            text: self.text.clone(),
            version: self.note.version,
            utf8: self.note.utf8,
        }
    }

    /// What the note says: its blocks without typed fields (provenance and the like), links by what
    /// they show, headings left out.
    pub(crate) fn statement(&self) -> String {
        statement(&self.note.doc, &self.text)
    }
}

/// The snapshot with the texts of its digest notes, in path order.
#[derive(Debug, Clone)]
pub(crate) struct Inputs {
    pub(crate) snapshot: Arc<Snapshot>,
    /// Live digest notes that are UTF-8; conflict copies are left out.
    pub(crate) digests: Vec<Digest>,
}

impl Inputs {
    /// Reads the digest layer. A note that changed while it was read is left for the next run.
    pub(crate) fn read(vault: &Vault, watch: &Watch<'_>) -> Result<Self, ConsolidateError> {
        let snapshot = vault.snapshot();
        let mut digests = Vec::new();
        for note in snapshot
            .notes()
            .filter(|n| n.layer == Layer::Digest && n.is_live() && n.utf8)
        {
            watch.check()?;
            match vault.read(&note.path) {
                Ok(read) if read.version == note.version => {
                    digests.push(Digest {
                        note: Arc::clone(note),
                        text: read.text,
                    });
                }
                Ok(_) | Err(VaultError::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Self { snapshot, digests })
    }

    /// The digest note at `path`.
    pub(crate) fn digest(&self, path: &NotePath) -> Option<&Digest> {
        self.position(path).and_then(|at| self.digests.get(at))
    }

    /// Where in `digests` the note at `path` is.
    pub(crate) fn position(&self, path: &NotePath) -> Option<usize> {
        self.digests.binary_search_by(|d| d.path().cmp(path)).ok()
    }
}

/// The text of a note's blocks as a person reads it: links by what they show, typed fields gone.
pub(crate) fn statement(doc: &Document, text: &str) -> String {
    let mut out = String::new();
    for block in &doc.blocks {
        let part = plain(doc, text, block.span.clone());
        let part = match (&block.id, part.trim_end().rsplit_once('^')) {
            (Some(id), Some((head, tail))) if tail == id => head.trim_end().to_owned(),
            _ => part,
        };
        if !part.trim().is_empty() {
            out.push_str(part.trim());
            out.push('\n');
        }
    }
    out
}

/// `text[span]` with links replaced by what they show and typed fields left out. Linear in the span
/// and the note's links.
pub(crate) fn plain(doc: &Document, text: &str, span: std::ops::Range<usize>) -> String {
    let mut cuts: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    let inside = |r: &std::ops::Range<usize>| r.start >= span.start && r.end <= span.end;
    for field in doc.fields.iter().filter(|f| inside(&f.span)) {
        let links_inside = doc
            .links
            .iter()
            .any(|l| l.span.start >= field.span.start && l.span.end <= field.span.end);
        if links_inside {
            cuts.push((field.span.clone(), String::new()));
        }
    }
    for link in doc.links.iter().filter(|l| inside(&l.span)) {
        let shown = link
            .display
            .clone()
            .unwrap_or_else(|| last_segment(&link.target).to_owned());
        cuts.push((link.span.clone(), shown));
    }
    cuts.sort_by(|a, b| a.0.start.cmp(&b.0.start).then(b.0.end.cmp(&a.0.end)));
    let mut out = String::new();
    let mut at = span.start;
    for (range, shown) in cuts {
        if range.start < at {
            continue;
        }
        out.push_str(text.get(at..range.start).unwrap_or(""));
        out.push_str(&shown);
        at = range.end;
    }
    out.push_str(text.get(at..span.end).unwrap_or(""));
    out
}

fn last_segment(target: &str) -> &str {
    let name = target.rsplit('/').next().unwrap_or(target);
    name.strip_suffix(".md").unwrap_or(name)
}
