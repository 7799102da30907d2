//! What a merge does, line by line.

use std::fmt;

use serde::Serialize;

use crate::path::NotePath;
use crate::rename::{self, Rewritten};

/// What a merge does to the vault: the same for a dry run and the real one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The note that stays.
    pub keep: NotePath,
    /// The note that goes.
    pub drop: NotePath,
    /// Where its file goes.
    pub trash: NotePath,
    /// Blocks that the note that stays gains.
    pub blocks_added: usize,
    /// Blocks that both had word for word, and that stand once.
    pub blocks_same: usize,
    /// Aliases that the note that stays gains.
    pub aliases: Vec<String>,
    /// Tags that it gains.
    pub tags: Vec<String>,
    /// Links of properties of the note that goes, as the inline fields that they become.
    pub fields: Vec<String>,
    /// Properties of the note that goes that stay in the trash with it.
    pub properties_left: Vec<String>,
    /// Block ids of the note that goes that are another one afterwards: old and new.
    pub ids: Vec<(String, String)>,
    /// The links that are written anew, by note and position.
    pub links: Vec<Rewritten>,
    /// What a person should know.
    pub warnings: Vec<Warning>,
}

impl Report {
    pub(super) fn new(keep: &NotePath, drop: &NotePath, trash: NotePath) -> Self {
        Self {
            keep: keep.clone(),
            drop: drop.clone(),
            trash,
            blocks_added: 0,
            blocks_same: 0,
            aliases: Vec::new(),
            tags: Vec::new(),
            fields: Vec::new(),
            properties_left: Vec::new(),
            ids: Vec::new(),
            links: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// Something that a merge can't mend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum Warning {
    /// A file that is not UTF-8 is never rewritten: its links to the note that goes break.
    NotRewritten {
        /// The file.
        path: NotePath,
        /// How many of its links break.
        links: usize,
    },
    /// A file or folder could not be read: links in it keep the old name.
    NotRead {
        /// The file or folder, as it is shown.
        path: String,
        /// Why.
        reason: String,
    },
    /// An anchor means another place of the note that stays, and can't be written otherwise.
    OtherPlace {
        /// The note that holds the link.
        path: NotePath,
        /// 1-based line.
        line: u32,
        /// The anchor.
        subpath: String,
    },
}

impl Warning {
    pub(super) fn from_rename(warning: &rename::Warning) -> Self {
        match warning {
            rename::Warning::NotRewritten { path, links } => Self::NotRewritten { path: path.clone(), links: *links },
            other => Self::NotRead { path: String::new(), reason: other.to_string() },
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRewritten { path, links } => {
                write!(f, "{path}: not UTF-8, so that {links} link(s) in it are not rewritten and break")
            }
            Self::NotRead { path, reason } => {
                write!(f, "{path}: could not be read: links in it are not followed ({reason})")
            }
            Self::OtherPlace { path, line, subpath } => {
                write!(f, "{path}:{line}: `{subpath}` means another place of the note that stays")
            }
        }
    }
}
