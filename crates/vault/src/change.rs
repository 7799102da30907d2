//! A change is data: planned by a stage, shown as a diff, applied in one place.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::conserve::Conservation;
use crate::path::NotePath;
use crate::version::Version;

/// Who writes. Each writer can touch only its own layer; the door checks it.
///
/// | writer | creates | replaces | appends, puts | rule it must state |
/// |---|---|---|---|---|
/// | dream | notes in `digest/<bucket>/` | the same | – | `Superset` naming what it replaces; `Additive` for creates alone |
/// | split | notes in `digest/<bucket>/` | the same | – | `SplitUnion` |
/// | auto-memory | `daily/<date>/<event>.md` | – | appends to `daily/<date>.md` | `Additive` |
/// | ingest | files in `resource/` | – | – | `Additive` |
/// | meta | – | – | puts `meta/**.json` | `Additive` |
/// | audit | – | – | appends to `audit/**.md` | `Additive` |
/// | person | files in `digest/` and outside the layers | the same; notes and canvases of `daily/` and `resource/` under `Retarget` and `Merge` | – | `Retarget` for a rename, `Merge` for two notes that become one, else `Free`, or any of dream's and split's |
///
/// Dream and split may not replace a note that says `locked: true`. A person alone renames: within `digest/` and the user's own notes, or within `daily/` or
/// `resource/`. A path with a name that starts with a dot is nobody's, but that a merge puts the note
/// that goes into `.trash/`; and a symbolic link is
/// judged by where it ends; one that ends outside the vault is denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Writer {
    /// Creates and replaces digest notes, under [`Conservation::Superset`].
    Dream,
    /// Replaces a digest note and creates its children, under [`Conservation::SplitUnion`].
    Split,
    /// Creates `daily/<date>/<event>.md` and appends to `daily/<date>.md`.
    AutoMemory,
    /// Creates files in `resource/`.
    Ingest,
    /// Puts `meta/*.json`.
    Meta,
    /// Appends to `audit/**.md`.
    Audit,
    /// A person: any note but the immutable layers; the only one that may rename.
    Person,
}

impl fmt::Display for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dream => "dream",
            Self::Split => "split",
            Self::AutoMemory => "auto-memory",
            Self::Ingest => "ingest",
            Self::Meta => "meta",
            Self::Audit => "audit",
            Self::Person => "person",
        })
    }
}

/// One change to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A new file; the path must be free (also under another case or Unicode form).
    Create {
        /// Where.
        path: NotePath,
        /// The whole content.
        content: String,
    },
    /// New content for a file that still has the version that the plan was made from.
    Replace {
        /// Which file.
        path: NotePath,
        /// The version that was read.
        expected: Version,
        /// The whole new content.
        content: String,
    },
    /// Text at the end of a file; creates it with `header` before when it is absent. Only for
    /// audit pages and the day's index, which many append to.
    Append {
        /// Which file.
        path: NotePath,
        /// What a new file starts with.
        header: String,
        /// What is appended, line end included.
        content: String,
    },
    /// A derived file under `meta/`, whole, whatever was there; what could not be read is kept.
    Put {
        /// Which file.
        path: NotePath,
        /// The whole content.
        content: String,
    },
    /// A new name for a file.
    Rename {
        /// The old path.
        from: NotePath,
        /// The new path, which must be free.
        to: NotePath,
        /// The version that was read.
        expected: Version,
    },
}

impl Change {
    /// The file that the change is about; the old path of a rename.
    #[must_use]
    pub fn path(&self) -> &NotePath {
        match self {
            Self::Create { path, .. }
            | Self::Replace { path, .. }
            | Self::Append { path, .. }
            | Self::Put { path, .. }
            | Self::Rename { from: path, .. } => path,
        }
    }
}

/// Changes that happen together or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSet {
    /// Who writes.
    pub writer: Writer,
    /// What must be conserved.
    pub rule: Conservation,
    /// The changes, at most one a file.
    pub changes: Vec<Change>,
}

impl ChangeSet {
    /// A change set without changes.
    #[must_use]
    pub fn new(writer: Writer, rule: Conservation) -> Self {
        Self { writer, rule, changes: Vec::new() }
    }

    /// Adds a change.
    #[must_use]
    pub fn with(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// What a change would do to one file, as a unified diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileDiff {
    /// The file; the new path of a rename.
    pub path: NotePath,
    /// The old path of a rename.
    pub renamed_from: Option<NotePath>,
    /// The version before; `None` for a new file.
    pub before: Option<Version>,
    /// The version after.
    pub after: Version,
    /// A unified diff with three lines of context.
    pub diff: String,
}
