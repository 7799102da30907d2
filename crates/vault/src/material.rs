//! Material: the experience that is dreamed, and which of it still waits. The one definition that
//! dream, recall and consolidate share.

use chrono::NaiveDate;

use crate::conflict_copy;
use crate::layout::Layer;
use crate::meta::{DreamLedger, DreamOutcome, Dreamed};
use crate::note::{DateSource, Note};
use crate::path::NotePath;
use crate::snapshot::Snapshot;

/// Extensions, in lower case, of the files of the resource layer that are text. All but `md` are
/// no notes.
pub const TEXT_EXTENSIONS: &[&str] =
    &["md", "txt", "text", "csv", "tsv", "json", "jsonl", "log", "yaml", "yml", "toml", "xml", "org", "rst", "tex"];

/// Why a path of the vault is no material.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotMaterial {
    /// `daily/<date>.md` whose every block links to an event of that day.
    #[error("the index of a day, not an event")]
    DayIndex,
    /// A file of `daily/` that is no Markdown.
    #[error("no Markdown note")]
    NotMarkdown,
    /// A resource of another kind than [`TEXT_EXTENSIONS`].
    #[error("no text")]
    NotText,
    /// A digest.
    #[error("a digest: what was dreamed is never dreamed again")]
    Digest,
    /// In `meta/` or `audit/`.
    #[error("written by the cycle itself")]
    Derived,
    /// Outside the layers.
    #[error("the user's own note")]
    Own,
    /// A sync tool's conflict copy.
    #[error("a sync tool's conflict copy")]
    ConflictCopy,
    /// A note that is not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// `private: true`.
    #[error("private")]
    Private,
    /// No file of the snapshot, or Markdown that can't be read as a note (too large, no access).
    #[error("not there, or not readable as a note")]
    Unreadable,
}

/// Whether a dream would look at `path`: an event or a day's note of `daily/` that is no mere index,
/// or a text file of `resource/`; there, readable, no conflict copy and not private. Linear in the
/// blocks and links of a day's note, else O(log n).
#[must_use]
pub fn is_material(snapshot: &Snapshot, path: &NotePath) -> bool {
    not_material(snapshot, path).is_none()
}

/// Why `path` is no material; `None` when it is. Cost as for [`is_material`].
#[must_use]
pub fn not_material(snapshot: &Snapshot, path: &NotePath) -> Option<NotMaterial> {
    match snapshot.layout().layer(path) {
        Layer::Daily if !path.is_markdown() => return Some(NotMaterial::NotMarkdown),
        Layer::Resource if !is_text(path) => return Some(NotMaterial::NotText),
        Layer::Daily | Layer::Resource => {}
        Layer::Digest => return Some(NotMaterial::Digest),
        Layer::Meta | Layer::Audit => return Some(NotMaterial::Derived),
        Layer::Other => return Some(NotMaterial::Own),
    }
    let Some(note) = snapshot.note(path) else {
        return if path.is_markdown() || !snapshot.exists(path) {
            Some(NotMaterial::Unreadable)
        } else {
            let copy = conflict_copy::original_of(path, |original| snapshot.exists(original));
            copy.map(|_| NotMaterial::ConflictCopy)
        };
    };
    if is_day_index(snapshot, note) {
        Some(NotMaterial::DayIndex)
    } else if note.conflict_of.is_some() {
        Some(NotMaterial::ConflictCopy)
    } else if !note.utf8 {
        Some(NotMaterial::NotUtf8)
    } else {
        note.is_private().then_some(NotMaterial::Private)
    }
}

/// All material of the snapshot, oldest first: by [`day`], then the time of day where the note states
/// one, then path (`event` before `event-2`); what has no day or time comes first. Linear in the number of files and the size of the days' notes, but for the sort.
#[must_use]
pub fn materials(snapshot: &Snapshot) -> Vec<NotePath> {
    let notes = snapshot.notes().map(|note| &note.path);
    let mut out: Vec<NotePath> =
        notes.chain(snapshot.files()).filter(|path| is_material(snapshot, path)).cloned().collect();
    out.sort_by_cached_key(|path| {
        let moment = snapshot.note(path).and_then(|note| note.date).and_then(|date| date.moment);
        (day(snapshot, path), moment, path.link_target().to_owned(), path.clone())
    });
    out
}

/// The day of a material: what its note says, else the date in its path; a modification time is
/// none.
#[must_use]
pub fn day(snapshot: &Snapshot, path: &NotePath) -> Option<NaiveDate> {
    let stated = snapshot.note(path).and_then(|note| note.date).filter(|date| date.source != DateSource::Mtime);
    stated.map(|date| date.day).or_else(|| path.date())
}

/// The material that the next dream would take: never dreamed, failed, or changed since; without a
/// ledger all of it. In the order of [`materials`].
#[must_use]
pub fn pending(snapshot: &Snapshot, ledger: Option<&DreamLedger>) -> Vec<NotePath> {
    let mut out = materials(snapshot);
    out.retain(|path| !is_settled(snapshot, ledger, path));
    out
}

/// Whether `path` is in [`pending`], for one path. Cost as for [`is_material`].
#[must_use]
pub fn is_pending(snapshot: &Snapshot, ledger: Option<&DreamLedger>, path: &NotePath) -> bool {
    is_material(snapshot, path) && !is_settled(snapshot, ledger, path)
}

/// Whether the ledger has it done at its present content. A resource that is no note counts by its
/// path alone, since resources don't change and the snapshot does not read them.
fn is_settled(snapshot: &Snapshot, ledger: Option<&DreamLedger>, path: &NotePath) -> bool {
    match ledger.and_then(|ledger| ledger.materials.get(path)) {
        Some(Dreamed { content, outcome: DreamOutcome::Done { .. }, .. }) => {
            snapshot.note(path).is_none_or(|note| note.version == *content)
        }
        _ => false,
    }
}

/// Whether the path is `daily/<date>.md`: a day's index, or a day that is written into one note.
#[must_use]
pub fn is_day_note(snapshot: &Snapshot, path: &NotePath) -> bool {
    path.is_markdown()
        && path.folder() == snapshot.layout().daily
        && path.date().is_some()
        && path.stem().chars().count() == 10
}

/// Whether a day's note has no block without a link to an event of that day. Spans of links and
/// blocks come in order, and no two blocks overlap.
fn is_day_index(snapshot: &Snapshot, note: &Note) -> bool {
    if !is_day_note(snapshot, &note.path) {
        return false;
    }
    let events = note.path.link_target();
    let to_event = |target: &str| snapshot.resolve(&note.path, target).path().is_some_and(|path| path.is_in(events));
    let mut links: Vec<_> =
        note.doc().links.iter().filter(|link| to_event(&link.target)).map(|link| &link.span).collect();
    links.sort_unstable_by_key(|span| span.start);
    note.doc().blocks.iter().all(|block| {
        let first = links.partition_point(|span| span.start < block.span.start);
        let from_here = links.iter().skip(first).take_while(|span| span.start < block.span.end);
        from_here.into_iter().any(|span| span.end <= block.span.end)
    })
}

fn is_text(path: &NotePath) -> bool {
    TEXT_EXTENSIONS.iter().any(|extension| path.extension().eq_ignore_ascii_case(extension))
}
