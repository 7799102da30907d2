//! Problems: what is wrong with a user's file, beside the result and never instead of it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Problem {
    /// Which rule it breaks.
    pub kind: ProblemKind,
    /// 1-based line, where there is one.
    pub line: Option<u32>,
    /// For a person: what it is, and what to do.
    pub message: String,
}

/// The kinds of [`Problem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// The YAML can't be read.
    MalformedFrontmatter,
    /// A property stands twice.
    DuplicateKey,
    /// The file is not UTF-8.
    NotUtf8,
    /// The file can't be read.
    Unreadable,
    /// The name can't be a [`crate::NotePath`].
    BadName,
    /// Two names differ only by case or Unicode form.
    NameCollision,
    /// A sync tool's conflict copy.
    ConflictCopy,
    /// A symlink that loops, dangles or leaves the vault.
    Symlink,
    /// A meta file that is corrupt, cut, or of another version.
    Meta,
    /// A settings file with a mistake.
    Settings,
    /// A canvas that is no JSON.
    MalformedCanvas,
    /// A block id stands twice in a note.
    DuplicateBlockId,
    /// The file is too large to be read as a note.
    TooLarge,
    /// The cache could not be used and is made anew.
    Cache,
    /// The vault can't be watched as it should be, and is looked at from time to time instead.
    Watch,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}
