//! `list`: the state of the vault, by conditions, without any ranking.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset, NaiveDate};
use dormouse_vault::material::is_pending;
use dormouse_vault::meta::{Archived, DreamLedger};
use dormouse_vault::{Bucket, Layer, Note, NotePath, Snapshot};
use serde::{Deserialize, Serialize};

use crate::conditions::{Conditions, Ground};
use crate::cursor::{CHANGED, Cursor, question};
use crate::error::RecallError;
use crate::filter::{Filters, newest_first, stated_date};
use crate::search::Query;
use crate::traits::Traits;

/// A listing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct ListRequest {
    /// Conditions in the language of queries, as `tag:x -in:digest date:last-week` (docs/query.md).
    /// Words are passed over, with a notice: they are what a search is for. Default: none.
    pub query: String,
    /// Conditions, beside those in `query`.
    pub filters: Filters,
    /// The present moment, for the dates in `query`; default: the clock's.
    pub now: Option<DateTime<FixedOffset>>,
    /// `Some(true)`: only archived notes; `Some(false)`: none of them; `None`: both. Default `None`.
    pub archived: Option<bool>,
    /// `Some(true)`: only material that waits for a dream; `Some(false)`: none of it. Default `None`.
    pub pending: Option<bool>,
    /// Only notes with a problem, or only those without. Default `None`.
    pub problems: Option<bool>,
    /// The order. Default by path.
    pub sort: SortBy,
    /// Notes to skip. Default 0. A cursor takes its place.
    pub offset: usize,
    /// Where to go on: the cursor of the reply before, to the same request. Default: at `offset`.
    pub cursor: Option<String>,
    /// Notes to return. Default 50.
    pub limit: usize,
}

impl Default for ListRequest {
    fn default() -> Self {
        Self {
            query: String::new(),
            filters: Filters::default(),
            now: None,
            archived: None,
            pending: None,
            problems: None,
            sort: SortBy::Path,
            offset: 0,
            cursor: None,
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
    /// How the conditions were read, where that is not obvious, and which of them no note fulfils.
    pub notices: Vec<String>,
    /// Where the next page starts, when there are more notes: opaque, for the same request.
    pub cursor: Option<String>,
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

/// Lists the notes of `snapshot`. Conflict copies are left out. Linear in the notes; conditions on
/// tags, properties and problems look at their documents.
///
/// # Errors
/// [`RecallError::BadCursor`], [`RecallError::OtherCursor`].
pub fn list(
    snapshot: &Snapshot,
    archived: Option<&Archived>,
    ledger: Option<&DreamLedger>,
    request: &ListRequest,
) -> Result<ListReply, RecallError> {
    list_with(snapshot, &Traits::default(), archived, ledger, request)
}

/// [`list`] with what notes state kept between two questions.
pub(crate) fn list_with(
    snapshot: &Snapshot,
    traits: &Traits,
    archived: Option<&Archived>,
    ledger: Option<&DreamLedger>,
    request: &ListRequest,
) -> Result<ListReply, RecallError> {
    let asked = asked(request);
    let from = request.cursor.as_deref().map(|text| Cursor::read(text, asked)).transpose()?;
    let offset = from.map_or(request.offset, |cursor| cursor.offset);
    let asleep: Arc<BTreeSet<NotePath>> =
        Arc::new(archived.map(|a| a.notes.keys().cloned().collect()).unwrap_or_default());
    let query = Query::parse(&request.query, request.now.map(|now| now.date_naive()));
    let ground = Ground { snapshot, traits, archived: Arc::clone(&asleep), ledger: &|| ledger.cloned() };
    let conditions = Conditions::of(&[&request.filters, &query.filters], &ground);
    let wanted = |note: &Note| {
        note.is_live()
            && conditions.hold(note)
            && request.archived.is_none_or(|a| a == asleep.contains(&note.path))
            && request.pending.is_none_or(|p| p == is_pending(snapshot, ledger, &note.path))
            && request.problems.is_none_or(|p| p != note.document().problems.is_empty())
    };
    let mut notes: Vec<&Note> = snapshot.notes().map(AsRef::as_ref).filter(|n| wanted(n)).collect();
    sort(&mut notes, request.sort, snapshot);
    let total = notes.len();
    let before = |place: usize| Cursor::state_of(notes.iter().take(place).map(|note| &note.path));
    let next = offset.saturating_add(request.limit).min(total);
    let (here, there) = (from.map(|_| before(offset)), (next < total && next > offset).then(|| before(next)));
    let page = notes.into_iter().skip(offset).take(request.limit);
    let notes: Vec<NoteSummary> =
        page.map(|note| summary(note, snapshot, asleep.contains(&note.path), ledger)).collect();
    let mut reply = ListReply { notes, total, notices: query.notices, ..ListReply::default() };
    reply.notices.extend(conditions.notices);
    if !query.text.trim().is_empty() || !query.without.is_empty() {
        reply.notices.push(format!("{:?} is no condition: a list looks for no words, a search does", query.text));
    }
    if from.map(|cursor| cursor.state) != here {
        reply.warnings.push(CHANGED.to_owned());
    }
    reply.cursor = there.map(|state| Cursor { question: asked, state, offset: next }.to_string());
    Ok(reply)
}

/// What tells a listing from another, its page aside.
fn asked(request: &ListRequest) -> u64 {
    let conditions = (&request.filters, request.archived, request.pending, request.problems, request.sort);
    question(&["list", &request.query, &serde_json::to_string(&conditions).unwrap_or_default()])
}

fn sort(notes: &mut [&Note], by: SortBy, snapshot: &Snapshot) {
    match by {
        SortBy::Path => notes.sort_by(|a, b| a.path.cmp(&b.path)),
        SortBy::Name => notes.sort_by_cached_key(|n| (n.name.to_lowercase(), n.path.clone())),
        SortBy::Newest => notes.sort_by_cached_key(|note| newest_first(note)),
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
