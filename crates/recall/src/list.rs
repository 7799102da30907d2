//! `list`: the state of the vault, by conditions, without any ranking.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use dormouse_vault::material::is_pending;
use dormouse_vault::meta::{Archived, DreamLedger};
use dormouse_vault::{Bucket, Layer, Note, NotePath, Snapshot};
use serde::{Deserialize, Serialize};

use crate::filter::{Filters, stated_date};

/// A listing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct ListRequest {
    /// Conditions.
    pub filters: Filters,
    /// `Some(true)`: only archived notes; `Some(false)`: none of them; `None`: both. Default `None`.
    pub archived: Option<bool>,
    /// `Some(true)`: only material that waits for a dream; `Some(false)`: none of it. Default `None`.
    pub pending: Option<bool>,
    /// Only notes with a problem, or only those without. Default `None`.
    pub problems: Option<bool>,
    /// The order. Default by path.
    pub sort: SortBy,
    /// Notes to skip. Default 0.
    pub offset: usize,
    /// Notes to return. Default 50.
    pub limit: usize,
}

impl Default for ListRequest {
    fn default() -> Self {
        Self {
            filters: Filters::default(),
            archived: None,
            pending: None,
            problems: None,
            sort: SortBy::Path,
            offset: 0,
            limit: 50,
        }
    }
}

/// The order of a listing; equal notes stand in path order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SortBy {
    /// By path.
    #[default]
    Path,
    /// By name, case ignored.
    Name,
    /// Newest first, undated last.
    Newest,
    /// Oldest first, undated last.
    Oldest,
    /// Most linked first.
    Inbound,
}

/// The answer to a listing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ListReply {
    /// The notes, in the order asked for.
    pub notes: Vec<NoteSummary>,
    /// How many match, before offset and limit.
    pub total: usize,
    /// What could not be used.
    pub warnings: Vec<String>,
}

/// A note in a listing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct NoteSummary {
    /// The note.
    pub path: NotePath,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// The day that it states.
    pub date: Option<NaiveDate>,
    /// Its layer.
    pub layer: Layer,
    /// Its bucket, for a digest note.
    pub bucket: Option<Bucket>,
    /// Its tags.
    pub tags: Vec<String>,
    /// How many notes link to it.
    pub inbound: usize,
    /// Whether it is archived.
    pub archived: bool,
    /// Whether it waits for a dream.
    pub pending: bool,
}

/// Lists the notes of `snapshot`. Conflict copies are left out. Linear in the notes.
#[must_use]
pub fn list(
    snapshot: &Snapshot,
    archived: Option<&Archived>,
    ledger: Option<&DreamLedger>,
    request: &ListRequest,
) -> ListReply {
    let asleep: BTreeSet<&NotePath> = archived.map(|a| a.notes.keys().collect()).unwrap_or_default();
    let wanted = |note: &Note| {
        note.is_live()
            && request.filters.matches(note, snapshot)
            && request.archived.is_none_or(|a| a == asleep.contains(&note.path))
            && request.pending.is_none_or(|p| p == is_pending(snapshot, ledger, &note.path))
            && request.problems.is_none_or(|p| p != note.doc().problems.is_empty())
    };
    let mut notes: Vec<&Note> = snapshot.notes().map(AsRef::as_ref).filter(|n| wanted(n)).collect();
    sort(&mut notes, request.sort, snapshot);
    let total = notes.len();
    let page = notes.into_iter().skip(request.offset).take(request.limit);
    let notes = page.map(|note| summary(note, snapshot, asleep.contains(&note.path), ledger)).collect();
    ListReply { notes, total, warnings: Vec::new() }
}

fn sort(notes: &mut [&Note], by: SortBy, snapshot: &Snapshot) {
    match by {
        SortBy::Path => notes.sort_by(|a, b| a.path.cmp(&b.path)),
        SortBy::Name => notes.sort_by_cached_key(|n| (n.name.to_lowercase(), n.path.clone())),
        SortBy::Newest => notes.sort_by_cached_key(|n| {
            let date = stated_date(n);
            (date.is_none(), std::cmp::Reverse(date), n.path.clone())
        }),
        SortBy::Oldest => notes.sort_by_cached_key(|n| {
            let date = stated_date(n);
            (date.is_none(), date, n.path.clone())
        }),
        SortBy::Inbound => {
            notes.sort_by_cached_key(|n| (std::cmp::Reverse(snapshot.graph().inbound(&n.path)), n.path.clone()))
        }
    }
}

fn summary(note: &Note, snapshot: &Snapshot, archived: bool, ledger: Option<&DreamLedger>) -> NoteSummary {
    NoteSummary {
        path: note.path.clone(),
        name: note.name.to_string(),
        description: note.description.as_deref().map(str::to_owned),
        date: stated_date(note),
        layer: note.layer,
        bucket: note.bucket,
        tags: note.doc().tags.clone(),
        inbound: snapshot.graph().inbound(&note.path),
        archived,
        pending: is_pending(snapshot, ledger, &note.path),
    }
}
