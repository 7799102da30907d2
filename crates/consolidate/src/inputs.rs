//! What the tasks look at: the live digest notes of one snapshot. A text is read when a task needs it:
//! most of them are content with what is kept of a note by its version.

use std::cell::OnceCell;
use std::sync::Arc;

use dormouse_vault::{Bucket, Layer, Note, NotePath, NoteText, Snapshot, Vault};

use crate::duplicates::Signature;
use crate::error::ConsolidateError;
use crate::progress::Watch;
use crate::reading::Reading;

/// A digest note.
#[derive(Debug, Clone)]
pub(crate) struct Digest<'v> {
    pub(crate) note: Arc<Note>,
    vault: &'v Vault,
    signature: OnceCell<Signature>,
}

impl Digest<'_> {
    pub(crate) fn path(&self) -> &NotePath {
        &self.note.path
    }

    pub(crate) fn bucket(&self) -> Option<Bucket> {
        self.note.bucket
    }

    /// The note as the snapshot has it; `None` when it has changed since, is gone or can't be read. The
    /// spans of `note.document()` hold in its text.
    pub(crate) fn note_text(&self) -> Option<NoteText> {
        self.vault.read(&self.note.path).ok().filter(|read| read.version == self.note.version)
    }

    /// The signature of what the note says, from its text, for the search for duplicates later in this run.
    pub(crate) fn sign(&self, statement: &str) {
        let _ = self.signature.set(Signature::of(statement));
    }

    /// The signature that a task left behind, else one from the text; `None` as [`Digest::note_text`].
    pub(crate) fn signature(&self) -> Option<Signature> {
        let read = || self.statement().map(|statement| Signature::of(&statement));
        self.signature.get().cloned().or_else(read)
    }

    /// What the note says: its blocks without typed fields (provenance and the like), links by what
    /// they show, headings left out. `None` as [`Digest::note_text`].
    pub(crate) fn statement(&self) -> Option<String> {
        self.note_text().map(|read| Reading::of(&self.note.document(), &read.text).statement())
    }
}

/// The snapshot with its digest notes, in path order.
#[derive(Debug, Clone)]
pub(crate) struct Inputs<'v> {
    pub(crate) snapshot: Arc<Snapshot>,
    /// Live digest notes that are UTF-8; conflict copies are left out.
    pub(crate) digests: Vec<Digest<'v>>,
    vault: &'v Vault,
}

impl<'v> Inputs<'v> {
    /// The digest layer as it is now. Reads nothing.
    pub(crate) fn of(vault: &'v Vault, watch: &Watch<'_>) -> Result<Self, ConsolidateError> {
        watch.check()?;
        let snapshot = vault.snapshot();
        let live = snapshot.notes().filter(|n| n.layer == Layer::Digest && n.is_live() && n.utf8);
        let digests = live.map(|note| Digest { note: Arc::clone(note), vault, signature: OnceCell::new() }).collect();
        Ok(Self { snapshot, digests, vault })
    }
}

impl Inputs<'_> {
    /// The vault that they are of.
    pub(crate) fn vault(&self) -> &Vault {
        self.vault
    }

    /// The digest note at `path`.
    pub(crate) fn digest(&self, path: &NotePath) -> Option<&Digest<'_>> {
        self.position(path).and_then(|at| self.digests.get(at))
    }

    /// Whether a file of this name lies in the vault's trash, where Obsidian puts what a person deletes and
    /// a merge the note that it took in.
    pub(crate) fn is_in_trash(&self, path: &NotePath) -> bool {
        let trash = self.vault.root().join(".trash");
        let name = path.as_str().rsplit('/').next().unwrap_or(path.as_str());
        [path.as_str(), name].into_iter().any(|name| trash.join(name).is_file())
    }

    /// Where in `digests` the note at `path` is.
    pub(crate) fn position(&self, path: &NotePath) -> Option<usize> {
        self.digests.binary_search_by(|d| d.path().cmp(path)).ok()
    }
}
