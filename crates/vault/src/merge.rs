//! Merging: two notes become one, with every block and every link of both.
//!
//! [`plan`] makes a [`ChangeSet`] and a [`Report`] of it; [`Vault::preview`] and [`Vault::commit`]
//! take the set, all of it or nothing. The note that stays keeps its text and its properties byte for
//! byte; behind its text stands, verbatim, what only the other one says, under that one's headings.
//! A block that stands word for word in both stands once. Aliases and tags are joined, the name of
//! the note that goes becomes an alias, and links that stood in its properties become inline fields.
//!
//! Links to the note that goes lead to the one that stays and keep their form, as in a rename; so do
//! their anchors, but where a block's id or a heading's words would mean another place. A relative
//! link of the note that goes is spelled for its new folder. The file itself goes to `.trash/`, where
//! Obsidian puts what a person deletes, byte for byte.
//!
//! ```
//! use dormouse_vault::{NotePath, Vault, merge};
//!
//! let folder = dormouse_fixtures::temp_vault(
//!     "=== a.md\nHerons fish.\n=== b.md\nHerons fish.\n\nOtters sleep.\n=== n.md\nsee [[b|it]]\n",
//! );
//! let vault = Vault::open(folder.path())?;
//! let plan = merge::plan(&vault, &NotePath::new("a.md")?, &NotePath::new("b.md")?)?;
//! vault.commit(&plan.change_set)?;
//! assert_eq!(folder.read("n.md"), "see [[a|it]]\n");
//! assert!(folder.read("a.md").ends_with("Otters sleep.\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anchors;
mod body;
mod properties;
mod report;

pub use report::{Report, Warning};

use std::collections::BTreeMap;

use crate::capability::TRASH;
use crate::change::{Change, ChangeSet, Writer};
use crate::conserve::Conservation;
use crate::edit::{self, EditError, TextEdit};
use crate::error::VaultError;
use crate::fs;
use crate::graph::EdgeTarget;
use crate::layout::Layer;
use crate::note::{Document, NoteText};
use crate::path::NotePath;
use crate::problem::ProblemKind;
use crate::rename::{self, Moves, Planner, RenameError, Respelling, parser, unread};
use crate::snapshot::Snapshot;
use crate::vault::Vault;
use anchors::Anchors;
use body::Joined;

/// A planned merge.
#[derive(Debug, Clone)]
pub struct Merging {
    /// What the door applies, all of it or nothing. Names the version of every file it was planned
    /// from.
    pub change_set: ChangeSet,
    /// What it does.
    pub report: Report,
}

/// Why a merge can't be planned. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There is no such note.
    #[error("{path}: no such note")]
    NotFound {
        /// The path.
        path: NotePath,
    },
    /// Both names are the same note.
    #[error("{path}: this is one note")]
    SameNote {
        /// The path.
        path: NotePath,
    },
    /// Only digests and a person's own notes are merged: material stays as it came.
    #[error("{path}: only digests and your own notes are merged")]
    Denied {
        /// The note.
        path: NotePath,
    },
    /// A note that is not UTF-8 is never rewritten.
    #[error("{path}: not UTF-8; it is never rewritten")]
    NotUtf8 {
        /// The note.
        path: NotePath,
    },
    /// Both notes define a footnote or a link reference of this name, in different ways.
    #[error("{path}: `[{label}]` is defined otherwise in the note that stays; rename one of the two by hand first")]
    SameLabel {
        /// The note that goes.
        path: NotePath,
        /// The label.
        label: String,
    },
    /// The two texts can't stand one behind the other without being read otherwise: the first ends
    /// in a code block, comment or HTML that is not closed.
    #[error("{path}: text behind it would be read as a part of its last block; close that first")]
    Open {
        /// The note that stays.
        path: NotePath,
    },
    /// Its properties can't be changed in place.
    #[error("{path}: {source}")]
    Properties {
        /// The note that stays, or the one whose properties can't be read.
        path: NotePath,
        /// Why.
        source: EditError,
    },
    /// A link can't be written so that it means the note that stays.
    #[error("{path}: line {line}: {link} can't be written for the note that stays; change it by hand first")]
    Unwritable {
        /// The note or canvas that holds it.
        path: NotePath,
        /// 1-based line.
        line: u32,
        /// The link as it stands.
        link: String,
    },
    /// The links can't be written anew for another reason.
    #[error("{path}: its links can't be written for the note that stays: {source}")]
    Links {
        /// The note that goes.
        path: NotePath,
        /// Why.
        source: Box<RenameError>,
    },
    /// The trash has no free name left for the note that goes.
    #[error("{path}: no name is free for it in the trash; empty `.trash` and try again")]
    TrashFull {
        /// The note that goes.
        path: NotePath,
    },
    /// A file could not be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl MergeError {
    /// What was in the way of writing the links to `drop` anew.
    fn of_links(drop: &NotePath, error: RenameError) -> Self {
        match error {
            RenameError::Unwritable { path, line, link } => Self::Unwritable { path, line, link },
            RenameError::Vault(error) => Self::Vault(error),
            RenameError::NotFound { path } => Self::NotFound { path },
            other => Self::Links { path: drop.clone(), source: Box::new(other) },
        }
    }
}

/// Plans that `drop` goes into `keep`, for a person.
///
/// Reads both, and the notes and canvases that link to `drop`; the cost follows their number.
///
/// # Errors
/// [`MergeError`].
pub fn plan(vault: &Vault, keep: &NotePath, drop: &NotePath) -> Result<Merging, MergeError> {
    let now = vault.snapshot();
    let (keep, drop) = (mergeable(&now, keep)?, mergeable(&now, drop)?);
    if keep == drop {
        return Err(MergeError::SameNote { path: keep });
    }
    let moves: Moves = [(drop.clone(), keep.clone())].into_iter().collect();
    let after = moves.after(&now);
    let mut planner = Planner { vault, now: &now, after: &after, moves: &moves, report: rename::Report::default() };
    let of_links = |error| MergeError::of_links(&drop, error);
    let stays = whole(planner.respell(&keep).map_err(of_links)?, &keep)?;
    let goes = whole(planner.respell(&drop).map_err(of_links)?, &drop)?;
    let mut others = Vec::new();
    for source in moves.concerned(&now).into_iter().filter(|source| *source != keep && *source != drop) {
        others.extend(planner.respell(&source).map_err(of_links)?.map(|respelling| (source, respelling)));
    }
    let sources = || [(&keep, &stays), (&drop, &goes)].into_iter().chain(others.iter().map(|(path, r)| (path, r)));
    let named = anchors::block_ids(&now, &drop, sources());
    let joined = Joined::of(&keep, &stays, &goes, &named)?;
    let anchors = Anchors::new(&goes.doc, &joined);
    let mut report = Report::new(&keep, &drop, trash(vault, &drop)?);
    let mut set = ChangeSet::new(Writer::Person, Conservation::Merge { keep: keep.clone(), drop: drop.clone() });
    // Of the two themselves the links are written again with their anchors, and the texts joined anew.
    let mut turned: BTreeMap<bool, Respelling> = BTreeMap::new();
    for (path, respelling) in [(&keep, &stays), (&drop, &goes)] {
        let edits = anchors.turn(&now, path, &drop, respelling, &mut report);
        let (read, doc) = (respelling.read.clone(), respelling.doc.clone());
        turned.insert(path == &keep, Respelling { read, doc, edits });
    }
    let (Some(stays_now), Some(goes_now)) = (turned.remove(&true), turned.remove(&false)) else {
        return Err(MergeError::NotFound { path: keep });
    };
    let joined = Joined::of(&keep, &stays_now, &goes_now, &named)?;
    let text = finished(&now, &after, &keep, &drop, &stays_now, &goes_now, &joined, &moves, &mut report)?;
    set.changes.push(Change::Replace { path: stays.read.path.clone(), expected: stays.read.version, content: text });
    let rename = Change::Rename { from: goes.read.path.clone(), to: report.trash.clone(), expected: goes.read.version };
    set.changes.push(rename);
    for (source, respelling) in &others {
        let edits = anchors.turn(&now, source, &drop, respelling, &mut report);
        if edits.is_empty() {
            continue;
        }
        let Respelling { read, .. } = respelling;
        let content = edit::apply(&read.text, &edits).map_err(|_| unwritable(source, respelling))?;
        let alike = parser(source)(&content).links.len() == respelling.doc.links.len();
        if !alike {
            return Err(unwritable(source, respelling));
        }
        set.changes.push(Change::Replace { path: read.path.clone(), expected: read.version, content });
    }
    report.blocks_added = joined.added;
    report.blocks_same = joined.same;
    report.ids = joined.ids.clone();
    report.links = planner.report.rewritten.into_iter().filter(|link| link.path != drop).collect();
    report.warnings.extend(planner.report.warnings.iter().map(Warning::from_rename));
    let unread = unread::sources(vault, &now).into_iter();
    report.warnings.extend(unread.map(|(path, reason)| Warning::NotRead { path, reason }));
    Ok(Merging { change_set: set, report })
}

/// The note as it is spelled on disk, when it is one that a person merges.
fn mergeable(now: &Snapshot, path: &NotePath) -> Result<NotePath, MergeError> {
    let note = now.note(path).ok_or_else(|| MergeError::NotFound { path: path.clone() })?;
    if !matches!(note.layer, Layer::Digest | Layer::Other) {
        return Err(MergeError::Denied { path: path.clone() });
    }
    if !note.utf8 {
        return Err(MergeError::NotUtf8 { path: path.clone() });
    }
    Ok(note.path.clone())
}

fn whole(read: Option<Respelling>, path: &NotePath) -> Result<Respelling, MergeError> {
    let read = read.ok_or_else(|| MergeError::NotFound { path: path.clone() })?;
    if let Some(problem) = read.doc.problems.iter().find(|p| p.kind == ProblemKind::MalformedFrontmatter) {
        let source = EditError::MalformedFrontmatter { line: problem.line.unwrap_or(1) };
        return Err(MergeError::Properties { path: path.clone(), source });
    }
    if read.read.utf8 { Ok(read) } else { Err(MergeError::NotUtf8 { path: path.clone() }) }
}

fn unwritable(path: &NotePath, respelling: &Respelling) -> MergeError {
    let at = respelling.edits.first().map_or(0, |edit| edit.span.start);
    let link = respelling.doc.links.iter().find(|link| link.span.end > at);
    let text = link.and_then(|link| respelling.read.text.get(link.span.clone())).unwrap_or("");
    MergeError::Unwritable { path: path.clone(), line: link.map_or(1, |link| link.line), link: text.to_owned() }
}

/// A free name in the trash: the note's own, with a number behind it where that is taken.
fn trash(vault: &Vault, drop: &NotePath) -> Result<NotePath, MergeError> {
    let (stem, extension) = (drop.stem(), drop.extension());
    let named = |n: usize| match n {
        1 => NotePath::new(&format!("{TRASH}/{stem}.{extension}")),
        n => NotePath::new(&format!("{TRASH}/{stem} {n}.{extension}")),
    };
    let is_free = |path: &NotePath| fs::collision(&vault.root().join(path.as_disk()), None).is_none();
    let free = (1..10_000).filter_map(|n| named(n).ok()).find(is_free);
    free.ok_or_else(|| MergeError::TrashFull { path: drop.clone() })
}

/// The text of the note that stays: joined, with the properties and edges of both.
#[expect(clippy::too_many_arguments, reason = "the two notes, before and after, each named")]
fn finished(
    now: &Snapshot,
    after: &Snapshot,
    keep: &NotePath,
    drop: &NotePath,
    stays: &Respelling,
    goes: &Respelling,
    joined: &Joined,
    moves: &Moves,
    report: &mut Report,
) -> Result<String, MergeError> {
    let text = properties::joined(&joined.text, (keep, &stays.doc), (drop, &goes.doc), report)
        .map_err(|source| MergeError::Properties { path: keep.clone(), source })?;
    let have = after.edges_of(keep, &Document::parse(&text));
    let mut fields = Vec::new();
    for link in goes.doc.links.iter().filter(|link| link.span.start < goes.doc.body.start) {
        let Some(key) = link.predicate.as_deref() else { continue };
        let target = match now.resolve_link(drop, link) {
            crate::Resolution::File { path, .. } => moves.to(&path).link_target().to_owned(),
            crate::Resolution::Unresolved(_) => link.target.clone(),
            crate::Resolution::External => continue,
        };
        let edge = |edge: &crate::EdgeKey| {
            let leads = match &edge.target {
                EdgeTarget::File(file) => file.link_target() == target,
                EdgeTarget::Unresolved(name) => {
                    now.resolve_link(drop, link) == crate::Resolution::Unresolved(name.clone())
                }
            };
            leads && edge.predicate.as_deref() == Some(key.to_lowercase().as_str())
        };
        let shown = link.display.as_ref().map_or_else(String::new, |shown| format!("|{shown}"));
        let field = format!("{key}:: [[{target}{}{shown}]]", link.subpath);
        if !have.iter().any(edge) && !fields.contains(&field) {
            fields.push(field);
        }
    }
    if fields.is_empty() {
        return Ok(text);
    }
    let joined = body::with_lines(&text, &fields);
    let (before, behind) = (Document::parse(&text), Document::parse(&joined));
    if behind.fields.len() < before.fields.len() + fields.len() {
        // A field that can't be read alone can be read nowhere; else what stands above swallows it.
        let unread = fields.iter().find(|field| Document::parse(field).fields.is_empty());
        return Err(match unread {
            Some(field) => MergeError::Unwritable { path: drop.clone(), line: 1, link: field.clone() },
            None => MergeError::Open { path: keep.clone() },
        });
    }
    report.fields = fields;
    Ok(joined)
}

/// The text with the edits made.
fn edited(read: &NoteText, edits: &[TextEdit], path: &NotePath) -> Result<String, MergeError> {
    edit::apply(&read.text, edits).map_err(|_| MergeError::Unwritable {
        path: path.clone(),
        line: 1,
        link: String::new(),
    })
}
