//! `vault.begin(writer)` → plan → `commit`: a builder around [`ChangeSet`].

use crate::change::{Change, ChangeSet, FileDiff, Writer};
use crate::conserve::Conservation;
use crate::error::CommitError;
use crate::path::NotePath;
use crate::vault::{Committed, Vault};
use crate::version::Version;

/// A change set in the making, tied to the vault that will apply it.
#[derive(Debug)]
pub struct Transaction<'v> {
    pub(crate) vault: &'v Vault,
    pub(crate) set: ChangeSet,
}

impl Transaction<'_> {
    /// States what must be conserved.
    #[must_use]
    pub fn rule(mut self, rule: Conservation) -> Self {
        self.set.rule = rule;
        self
    }

    /// Plans a new file.
    #[must_use]
    pub fn create(mut self, path: NotePath, content: impl Into<String>) -> Self {
        self.set.changes.push(Change::Create { path, content: content.into() });
        self
    }

    /// Plans new content for a file that was read at `expected`.
    #[must_use]
    pub fn replace(mut self, path: NotePath, expected: Version, content: impl Into<String>) -> Self {
        self.set.changes.push(Change::Replace { path, expected, content: content.into() });
        self
    }

    /// Plans a new name.
    #[must_use]
    pub fn rename(mut self, from: NotePath, expected: Version, to: NotePath) -> Self {
        self.set.changes.push(Change::Rename { from, to, expected });
        self
    }

    /// The plan as data.
    #[must_use]
    pub fn into_change_set(self) -> ChangeSet {
        self.set
    }

    /// What it would do, without doing it.
    ///
    /// # Errors
    /// The same as [`Transaction::commit`].
    pub fn dry_run(&self) -> Result<Vec<FileDiff>, CommitError> {
        self.vault.preview(&self.set)
    }

    /// Applies the plan.
    ///
    /// # Errors
    /// [`CommitError`]; the vault is then as it was.
    pub fn commit(self) -> Result<Committed, CommitError> {
        self.vault.commit(&self.set)
    }
}

impl Vault {
    /// Begins a transaction for `writer`, under [`Conservation::Additive`] until told otherwise.
    #[must_use]
    pub fn begin(&self, writer: Writer) -> Transaction<'_> {
        Transaction { vault: self, set: ChangeSet::new(writer, Conservation::Additive) }
    }
}
