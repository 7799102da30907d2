//! What a rename does, line by line.

use std::fmt;

use serde::Serialize;

use crate::link::LinkKind;
use crate::path::NotePath;

/// What a rename does to the vault: the same for a dry run and the real one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The files that get another name, in order; more than one for a folder.
    pub moved: Vec<Moved>,
    /// The links that are written anew, by note and position. Notes carry the name that they have
    /// before the rename.
    pub rewritten: Vec<Rewritten>,
    /// Links that named nothing and now mean a moved file. They are left as they are, as Obsidian
    /// leaves them.
    pub resolved: Vec<NowResolves>,
    /// What a person should know.
    pub warnings: Vec<Warning>,
}

/// A file that gets another name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// The old path.
    pub from: NotePath,
    /// The new one.
    pub to: NotePath,
}

/// A link that is written anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rewritten {
    /// The note or canvas that holds it, by its old name.
    pub path: NotePath,
    /// 1-based line.
    pub line: u32,
    /// `wiki`, `embed`, `markdown`, `markdown-embed`, `frontmatter` or `canvas`.
    pub kind: &'static str,
    /// The whole link as it stands.
    pub before: String,
    /// The whole link as it is written.
    pub after: String,
    /// Why it is written in a longer form than it had; `None` when it keeps its form.
    pub longer: Option<Longer>,
}

/// Why a link gets a longer form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Longer {
    /// In its own form it would mean this file.
    WouldMean(NotePath),
    /// In its own form it would mean this file as well, and only byte order would tell the two apart.
    WouldTie(NotePath),
    /// In its own form it would mean nothing, or can't be written.
    WouldBreak,
}

/// A link that named nothing and now means a moved file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NowResolves {
    /// The note or canvas that holds it, by its old name.
    pub path: NotePath,
    /// 1-based line.
    pub line: u32,
    /// The link as it stands.
    pub link: String,
    /// The file that it means afterwards.
    pub to: NotePath,
}

/// Something that a rename can't mend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum Warning {
    /// A file that is not UTF-8 is never rewritten: its links to the moved file break.
    NotRewritten {
        /// The file.
        path: NotePath,
        /// How many of its links break.
        links: usize,
    },
    /// A file or folder could not be read, or a part of it: links in it keep the old name.
    NotRead {
        /// The file or folder, as it is shown.
        path: String,
        /// Why.
        reason: String,
    },
    /// What is no part of the vault (hidden files, links) stays in the old folder, and the folder
    /// with it.
    FolderStays {
        /// The old folder.
        folder: NotePath,
        /// What stays, in order; a hidden folder stands for all that is in it.
        files: Vec<String>,
    },
    /// Not every file system can hold the new name.
    NotPortable {
        /// The new path.
        path: NotePath,
        /// The first such character.
        character: char,
    },
}

impl Report {
    /// How many notes and canvases have a link that is written anew.
    #[must_use]
    pub fn files_rewritten(&self) -> usize {
        let mut paths: Vec<&NotePath> = self.rewritten.iter().map(|link| &link.path).collect();
        paths.dedup();
        paths.len()
    }
}

impl fmt::Display for Longer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WouldMean(path) => write!(f, "longer, since the short form would mean {path}"),
            Self::WouldTie(path) => write!(f, "longer, since the short form would mean {path} as well"),
            Self::WouldBreak => f.write_str("longer, since the short form would mean nothing"),
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
            Self::FolderStays { folder, files } => {
                let first = files.first().map_or("", String::as_str);
                write!(f, "{folder}: the folder stays: what is no part of the vault is not moved ({first}")?;
                if files.len() > 1 { write!(f, " and {} more)", files.len() - 1) } else { f.write_str(")") }
            }
            Self::NotPortable { path, character } => {
                write!(f, "{path}: not every file system can hold `{character}` in a name")
            }
        }
    }
}

/// The name of a form of link.
pub(super) fn kind_name(kind: LinkKind) -> &'static str {
    let names = [
        (LinkKind::Wiki, "wiki"),
        (LinkKind::Embed, "embed"),
        (LinkKind::Markdown, "markdown"),
        (LinkKind::MarkdownEmbed, "markdown-embed"),
        (LinkKind::Frontmatter, "frontmatter"),
        (LinkKind::Canvas, "canvas"),
    ];
    names.iter().find(|(known, _)| *known == kind).map_or("other", |(_, name)| name)
}
