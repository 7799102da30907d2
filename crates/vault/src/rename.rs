//! Renaming a file or a folder, with every link to it written anew.
//!
//! [`plan`] makes a [`ChangeSet`] and a [`Report`] of it; [`Vault::preview`] and [`Vault::commit`]
//! take the set, so that a dry run and the real one are the same plan. After it every link of every
//! note and canvas means the file that it meant before. Each link keeps its form: bare or with a
//! path, relative or from the root, with or without `.md`, percent-encoded or between `<>`, quoted
//! in YAML or in JSON; anchor, shown text and everything around it stay byte for byte. Where a form
//! would come to mean another file, or as well another as its own, a longer one is written and the
//! report says why.
//!
//! A link that named nothing and that the new name makes whole is left alone and reported. Pages of
//! `audit/` are records of their day and are never rewritten.
//!
//! ```
//! use dormouse_vault::{NotePath, Vault, rename};
//!
//! let folder = dormouse_fixtures::temp_vault("=== a/Old.md\nold\n=== n.md\nsee [[Old#H|it]]\n");
//! let vault = Vault::open(folder.path())?;
//! let plan = rename::plan(&vault, &NotePath::new("a/Old.md")?, &NotePath::new("b/New.md")?)?;
//! assert_eq!(plan.report.rewritten[0].after, "[[New#H|it]]");
//! vault.commit(&plan.change_set)?;
//! assert_eq!(folder.read("n.md"), "see [[New#H|it]]\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod emptied;
mod moves;
mod name;
mod report;
mod spelling;
pub(crate) mod unread;
mod written;

pub use name::NameRule;
pub use report::{Longer, Moved, NowResolves, Report, Rewritten, Warning};

pub(crate) use emptied::clear;
pub(crate) use moves::{Moves, bears_links};

use crate::change::{Change, ChangeSet, Writer};
use crate::conserve::Conservation;
use crate::conserve::retarget::{Turn, is_alike};
use crate::edit::{self, TextEdit};
use crate::error::VaultError;
use crate::fold;
use crate::layout::Layer;
use crate::link::{Link, LinkKind};
use crate::note::{Document, NoteText};
use crate::path::NotePath;
use crate::resolve::{FileIndex, Resolution};
use crate::snapshot::Snapshot;
use crate::vault::Vault;
use spelling::Spelling;
use written::Written;

/// A planned rename.
#[derive(Debug, Clone)]
pub struct Renaming {
    /// What the door applies, all of it or nothing. Names the version of every file it was planned
    /// from.
    pub change_set: ChangeSet,
    /// What it does.
    pub report: Report,
}

/// Why a rename can't be planned. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenameError {
    /// There is no such file or folder.
    #[error("{path}: no such file")]
    NotFound {
        /// The old path.
        path: NotePath,
    },
    /// The new name is the old one.
    #[error("{path}: this is its name already")]
    SameName {
        /// The path.
        path: NotePath,
    },
    /// The new name is taken, perhaps in another case or Unicode form.
    #[error("{path}: a file of this name is there")]
    Exists {
        /// The file that is there.
        path: NotePath,
    },
    /// The new name breaks a rule.
    #[error("{path}: {rule}")]
    BadName {
        /// The new path.
        path: NotePath,
        /// The rule.
        rule: NameRule,
    },
    /// A note stays a note and another file another file.
    #[error("{from} to {to}: a note keeps its extension `.md`, and another file does not get it")]
    OtherKind {
        /// The old path.
        from: NotePath,
        /// The new path.
        to: NotePath,
    },
    /// A folder can't be moved into itself.
    #[error("{from} to {to}: a folder can't be moved into itself")]
    IntoItself {
        /// The old path.
        from: NotePath,
        /// The new path.
        to: NotePath,
    },
    /// Digests and a person's own files move among themselves, material stays in its layer, and
    /// nobody renames in `meta/`, `audit/` or a dot-folder.
    #[error("{from} to {to}: {}", whither(*from_layer, *to_layer))]
    Denied {
        /// The old path.
        from: NotePath,
        /// The new path.
        to: NotePath,
        /// The layer of the old path.
        from_layer: Layer,
        /// The layer of the new path.
        to_layer: Layer,
    },
    /// A link can't be written so that it means the file under its new name.
    #[error("{path}: line {line}: {link} can't be written for the new name; change it by hand first")]
    Unwritable {
        /// The note or canvas that holds it.
        path: NotePath,
        /// 1-based line.
        line: u32,
        /// The link as it stands.
        link: String,
    },
    /// A file could not be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

fn whither(from: Layer, to: Layer) -> &'static str {
    match (from, to) {
        (Layer::Meta | Layer::Audit, _) | (_, Layer::Meta | Layer::Audit) => {
            "what is computed or reported has its own names; nobody renames there"
        }
        (Layer::Daily | Layer::Resource, _) => "material stays in its layer",
        _ => "nothing is moved into the layers of material",
    }
}

/// Plans the rename of a file, or of a folder with everything below it, for a person.
///
/// `from` and `to` are whole paths; folders that are missing are made. A rename that changes case
/// alone is one. Reads the notes and canvases that link to a moved file or use a name that such a
/// file gets; the cost follows their number,
/// but for one glance at each note for whether it has problems; of a folder, what lies below it on disk is listed.
///
/// # Errors
/// [`RenameError`].
pub fn plan(vault: &Vault, from: &NotePath, to: &NotePath) -> Result<Renaming, RenameError> {
    let now = vault.snapshot();
    let moves = moves(&now, from, to)?;
    let after = moves.after(&now);
    let mut planner = Planner { vault, now: &now, after: &after, moves: &moves, report: Report::default() };
    let mut set = ChangeSet::new(Writer::Person, Conservation::Retarget { from: from.clone(), to: to.clone() });
    for (old, new) in moves.pairs() {
        let read = vault.read(old)?;
        let rename = Change::Rename { from: read.path.clone(), to: new.clone(), expected: read.version };
        set.changes.push(rename);
        planner.report.moved.push(Moved { from: old.clone(), to: new.clone() });
        if let Some(character) = name::not_portable(new) {
            planner.report.warnings.push(Warning::NotPortable { path: new.clone(), character });
        }
    }
    for source in moves.concerned(&now) {
        set.changes.extend(planner.source(&source)?);
    }
    let mut report = planner.report;
    if !now.exists(from) {
        let moved = moves.pairs().map(|(old, _)| old.as_disk()).collect();
        let files = emptied::left_behind(vault.root(), from, &moved);
        if !files.is_empty() {
            report.warnings.push(Warning::FolderStays { folder: from.clone(), files });
        }
    }
    let unread = unread::sources(vault, &now).into_iter();
    report.warnings.extend(unread.map(|(path, reason)| Warning::NotRead { path, reason }));
    Ok(Renaming { change_set: set, report })
}

/// Every file that gets another name, or why it may not.
fn moves(now: &Snapshot, from: &NotePath, to: &NotePath) -> Result<Moves, RenameError> {
    if from.as_str() == to.as_str() {
        return Err(RenameError::SameName { path: from.clone() });
    }
    let mut pairs = Vec::new();
    if now.exists(from) {
        pairs.push((from.clone(), composed(to)));
    } else {
        if to.is_in(from.as_str()) {
            return Err(RenameError::IntoItself { from: from.clone(), to: to.clone() });
        }
        let depth = from.as_str().split('/').count();
        for file in name::files_in(now, from.as_str()) {
            // What is not renamed keeps its spelling on disk.
            let rest: String = file.as_disk().split('/').skip(depth).flat_map(|name| ["/", name]).collect();
            let new = NotePath::new(&format!("{to}{rest}"))
                .map_err(|source| VaultError::Path { given: format!("{to}{rest}").into(), source })?;
            pairs.push((file.clone(), new));
        }
    }
    if pairs.is_empty() {
        return Err(RenameError::NotFound { path: from.clone() });
    }
    let moves: Moves = pairs.into_iter().collect();
    if let Some(rule) = name::broken_rule(to, now) {
        return Err(RenameError::BadName { path: to.clone(), rule });
    }
    moves.pairs().try_for_each(|(old, new)| may_move(now, &moves, old, new))?;
    Ok(moves)
}

/// The path in NFC on disk too.
fn composed(path: &NotePath) -> NotePath {
    NotePath::new(path.as_str()).unwrap_or_else(|_| path.clone())
}

fn may_move(now: &Snapshot, moves: &Moves, old: &NotePath, new: &NotePath) -> Result<(), RenameError> {
    if old.is_markdown() != new.is_markdown() {
        return Err(RenameError::OtherKind { from: old.clone(), to: new.clone() });
    }
    let (from_layer, to_layer) = (now.layout().layer(old), now.layout().layer(new));
    let persons = |layer| matches!(layer, Layer::Digest | Layer::Other);
    let material = matches!(from_layer, Layer::Daily | Layer::Resource) && from_layer == to_layer;
    if !((persons(from_layer) && persons(to_layer)) || material) {
        return Err(RenameError::Denied { from: old.clone(), to: new.clone(), from_layer, to_layer });
    }
    let folded = fold::name(new.as_str());
    let taken = now
        .index
        .named(folded.rsplit('/').next().unwrap_or(&folded))
        .find(|have| !moves.moves(have) && fold::name(have.as_str()) == folded);
    match taken {
        Some(have) => Err(RenameError::Exists { path: have.clone() }),
        None => Ok(()),
    }
}

/// Writes links anew for files that get another name.
pub(crate) struct Planner<'a> {
    pub(crate) vault: &'a Vault,
    pub(crate) now: &'a Snapshot,
    pub(crate) after: &'a Snapshot,
    pub(crate) moves: &'a Moves,
    pub(crate) report: Report,
}

/// A link that must be written anew.
struct Respelled {
    edit: TextEdit,
    longer: Option<Longer>,
}

/// A note or canvas as it was read, and the edits of its links.
pub(crate) struct Respelling {
    pub(crate) read: NoteText,
    pub(crate) doc: Document,
    pub(crate) edits: Vec<TextEdit>,
}

impl Planner<'_> {
    /// The edits of the links of one note or canvas; `None` when it is gone.
    pub(crate) fn respell(&mut self, source: &NotePath) -> Result<Option<Respelling>, RenameError> {
        let read = match self.vault.read(source) {
            Ok(read) => read,
            Err(VaultError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let doc = parser(source)(&read.text);
        let mut edits = Vec::new();
        let mut unwritten = 0;
        for link in &doc.links {
            match self.link(source, link, &read.text) {
                Ok(None) => {}
                Ok(Some(_)) | Err(RenameError::Unwritable { .. }) if !read.utf8 => unwritten += 1,
                Ok(Some(respelled)) => {
                    self.report.rewritten.push(rewritten(source, link, &read.text, &respelled));
                    edits.push(respelled.edit);
                }
                Err(error) => return Err(error),
            }
        }
        if unwritten > 0 {
            self.report.warnings.push(Warning::NotRewritten { path: source.clone(), links: unwritten });
        }
        Ok(Some(Respelling { read, doc, edits }))
    }

    /// The new text of one note or canvas; `None` when none of its links is written anew.
    fn source(&mut self, source: &NotePath) -> Result<Option<Change>, RenameError> {
        let Some(Respelling { read, doc, edits }) = self.respell(source)? else {
            return Ok(None);
        };
        if edits.is_empty() {
            return Ok(None);
        }
        let parse = parser(source);
        let unwritable = || {
            let mut links = self.report.rewritten.iter().filter(|link| link.path == *source);
            let link = links.nth(culprit(&read.text, &doc, parse, &edits));
            RenameError::Unwritable {
                path: source.clone(),
                line: link.map_or(1, |link| link.line),
                link: link.map_or_else(String::new, |link| link.before.clone()),
            }
        };
        let content = edit::apply(&read.text, &edits).map_err(|_| unwritable())?;
        let turn = Turn { moves: self.moves, now: self.now, after: self.after };
        if turn.compare(source, (&read.text, &doc), (&content, &parse(&content))).is_some() {
            return Err(unwritable());
        }
        let path = self.moves.to(&read.path).clone();
        Ok(Some(Change::Replace { path, expected: read.version, content }))
    }

    /// How a link must be written so that it means afterwards what it means now; `None` when it may
    /// stay.
    fn link(&mut self, source: &NotePath, link: &Link, text: &str) -> Result<Option<Respelled>, RenameError> {
        if link.target.is_empty() {
            return Ok(None);
        }
        let new_source = self.moves.to(source);
        let then = self.after.resolve_link(new_source, link);
        let unwritable = || RenameError::Unwritable {
            path: source.clone(),
            line: link.line,
            link: text.get(link.span.clone()).unwrap_or(&link.target).to_owned(),
        };
        let (means, was_tied) = match self.now.resolve_link(source, link) {
            Resolution::File { path, ambiguous } => (path, ambiguous),
            Resolution::Unresolved(_) => {
                let Some(found) = then.path() else {
                    return Ok(None);
                };
                if self.moves.makes(found) {
                    let link_text = text.get(link.span.clone()).unwrap_or(&link.target).to_owned();
                    self.report.resolved.push(NowResolves {
                        path: source.clone(),
                        line: link.line,
                        link: link_text,
                        to: found.clone(),
                    });
                    return Ok(None);
                }
                // A relative link to nothing goes on naming the same place.
                let moved = spelling::rebase(&link.target, source.folder(), new_source.folder());
                let raw = moved.and_then(|target| Written::of(text, link)?.write(&target)).ok_or_else(unwritable)?;
                return Ok(Some(Respelled {
                    edit: TextEdit { span: link.target_span.clone(), with: raw },
                    longer: None,
                }));
            }
            Resolution::External => return Ok(None),
        };
        let wanted = self.moves.to(&means);
        let still = match &then {
            Resolution::File { path, ambiguous } => path == wanted && (was_tied || !ambiguous),
            _ => false,
        };
        let moved = self.moves.moves(&means);
        // A relative target is spelled anew with the folder of its note, so that the way back restores it.
        let elsewhere = spelling::is_relative(&link.target) && source.folder() != new_source.folder();
        if still && !elsewhere && (!moved || names_no_folder(link, &means, wanted)) {
            return Ok(None);
        }
        let written = Written::of(text, link).ok_or_else(unwritable)?;
        let spelling =
            if link.kind == LinkKind::Canvas { Spelling::CANVAS } else { Spelling::of(&link.target, &means) };
        let own = if moved || spelling::is_relative(&link.target) {
            spelling.spell(wanted, new_source.folder())
        } else {
            link.target.clone()
        };
        let candidates = spelling.longer(wanted, new_source.folder());
        let writes = |target: &String, tied| self.fits(new_source, &written, target, wanted, tied);
        // What can be told apart is; a link that only byte order decided before may go on so.
        let (raw, is_own) = [false, true]
            .into_iter()
            .filter(|tied| was_tied || !tied)
            .find_map(|tied| {
                let own = writes(&own, tied).map(|raw| (raw, true));
                own.or_else(|| Some((candidates.iter().find_map(|target| writes(target, tied))?, false)))
            })
            .ok_or_else(unwritable)?;
        let span = link.target_span.clone();
        if is_own && text.get(span.clone()) == Some(raw.as_str()) {
            return Ok(None);
        }
        let longer = (!is_own).then(|| self.why_longer(new_source, &own, wanted));
        Ok(Some(Respelled { edit: TextEdit { span, with: raw }, longer }))
    }

    /// `target` as it is written, when it can be and means `wanted` in `source`: alone, or, where
    /// `tied`, as the first of equals.
    fn fits(
        &self,
        source: &NotePath,
        written: &Written,
        target: &str,
        wanted: &NotePath,
        tied: bool,
    ) -> Option<String> {
        match self.after.resolve(source, target) {
            Resolution::File { path, ambiguous } if path == *wanted && (tied || !ambiguous) => written.write(target),
            _ => None,
        }
    }

    /// Why `target`, a link's own form, is not written for `wanted`.
    fn why_longer(&self, source: &NotePath, target: &str, wanted: &NotePath) -> Longer {
        match self.after.resolve(source, target) {
            Resolution::File { path, .. } if path != *wanted => Longer::WouldMean(path),
            Resolution::File { ambiguous: true, .. } => {
                let mut others = FileIndex::clone(&self.after.index);
                others.remove(wanted);
                others.resolve(source, target).path().cloned().map_or(Longer::WouldBreak, Longer::WouldTie)
            }
            _ => Longer::WouldBreak,
        }
    }
}

/// How the links of a file are read.
pub(crate) fn parser(path: &NotePath) -> fn(&str) -> Document {
    if path.is_canvas() { Document::parse_canvas } else { Document::parse }
}

/// Which of the edits is the first after which the text has other links, when all of them together
/// make it so. Reads the text as often as the number of edits has bits.
fn culprit(text: &str, doc: &Document, parse: fn(&str) -> Document, edits: &[TextEdit]) -> usize {
    let stays = |count: usize| {
        let first = edits.get(..count).unwrap_or(edits);
        edit::apply(text, first).is_ok_and(|after| is_alike((text, doc), (&after, &parse(&after))))
    };
    let (mut good, mut bad) = (0, edits.len());
    while bad > good + 1 {
        let middle = good + (bad - good) / 2;
        if stays(middle) { good = middle } else { bad = middle }
    }
    good
}

/// Whether nothing of a link to a moved file is out of date: it names no folder, and the file keeps
/// its name.
fn names_no_folder(link: &Link, old: &NotePath, new: &NotePath) -> bool {
    link.kind != LinkKind::Canvas && !link.target.contains('/') && old.file_name() == new.file_name()
}

fn rewritten(source: &NotePath, link: &Link, text: &str, respelled: &Respelled) -> Rewritten {
    let before = text.get(link.span.clone()).unwrap_or("").to_owned();
    let from = respelled.edit.span.start.saturating_sub(link.span.start);
    let to = respelled.edit.span.end.saturating_sub(link.span.start);
    let mut after = before.clone();
    if before.get(from..to).is_some() {
        after.replace_range(from..to, &respelled.edit.with);
    }
    Rewritten {
        path: source.clone(),
        line: link.line,
        kind: report::kind_name(link.kind),
        before,
        after,
        longer: respelled.longer.clone(),
    }
}
