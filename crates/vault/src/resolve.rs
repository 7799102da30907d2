//! Which file a link's target means, as Obsidian decides it.

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
    /// The file, when there is one.
    #[must_use]
    pub fn path(&self) -> Option<&NotePath> {
        match self {
            Self::File { path, .. } => Some(path),
            _ => None,
        }
    }
}
