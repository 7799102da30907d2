//! What the tasks look at: the live digest notes with their texts, read once a run.

use std::sync::Arc;

use dormouse_vault::{Bucket, Layer, Note, NotePath, NoteText, Snapshot, Vault, VaultError};

use crate::error::ConsolidateError;
use crate::progress::Watch;
use crate::reading::Reading;

/// A digest note with its text. The spans of `note.doc()` hold in `text`.
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
        Reading::of(&self.note.document(), &self.text).statement()
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
        for note in snapshot.notes().filter(|n| n.layer == Layer::Digest && n.is_live() && n.utf8) {
            watch.check()?;
            match vault.read(&note.path) {
                Ok(read) if read.version == note.version => {
                    digests.push(Digest { note: Arc::clone(note), text: read.text });
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
