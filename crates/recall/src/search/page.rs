//! What becomes of an answer on its way out: its page, its budget, and what links bring.

use std::collections::BTreeSet;

use dormouse_vault::{NotePath, Snapshot};

use super::passages::cut;
use super::reply::{Expanded, SearchReply};
use super::request::SearchRequest;
use crate::cursor::{CHANGED, Cursor, question};
use crate::error::RecallError;
use crate::traverse::{Direction, Way, walk};

/// The most notes and passages that a request gets.
const MAX_LIMIT: usize = 1_000;
/// The most notes that expansion brings, its deepest reach, and the links that it looks at.
const MAX_EXPANDED: usize = 200;
const MAX_DEPTH: usize = 3;
const EXPANSION_LINKS: usize = 20_000;
/// A passage that crosses the line of a budget is worth cutting from so many bytes on.
const WORTH_CUTTING: usize = 80;

/// The page of an answer that a request asks for.
pub(crate) struct Page {
    question: u64,
    from: Option<Cursor>,
    offset: usize,
    limit: usize,
}

impl Page {
    /// Reads the request's cursor.
    ///
    /// # Errors
    /// [`RecallError::BadCursor`], [`RecallError::OtherCursor`].
    pub(crate) fn of(request: &SearchRequest) -> Result<Self, RecallError> {
        let filters = serde_json::to_string(&(&request.filters, request.signals)).unwrap_or_default();
        let question = question(&[
            "search",
            &request.query,
            &filters,
            if request.include_archived { "archived" } else { "" },
            if request.soft_dates { "soft" } else { "" },
        ]);
        let from = request.cursor.as_deref().map(|text| Cursor::read(text, question)).transpose()?;
        let offset = from.map_or(0, |cursor| cursor.offset);
        Ok(Self { question, from, offset, limit: request.limit.min(MAX_LIMIT) })
    }

    /// The request for everything to the end of the page and one hit more, which says that there is
    /// a next page.
    pub(crate) fn widened(&self, request: &SearchRequest) -> SearchRequest {
        let limit = if self.limit == 0 { 0 } else { self.offset.saturating_add(self.limit).saturating_add(1) };
        SearchRequest { limit, ..request.clone() }
    }

    /// Cuts the reply to the page, and its passages to their budgets.
    pub(crate) fn turn(&self, reply: &mut SearchReply, request: &SearchRequest) {
        let state =
            |reply: &SearchReply, place: usize| Cursor::state_of(reply.hits.iter().take(place).map(|hit| &hit.path));
        if self.from.is_some_and(|cursor| cursor.state != state(reply, self.offset)) {
            reply.warnings.push(CHANGED.to_owned());
        }
        let offset = self.offset.saturating_add(self.limit);
        let more = reply.hits.len() > offset && self.limit > 0;
        let next = more.then(|| Cursor { question: self.question, state: state(reply, offset), offset });
        reply.cursor = next.map(|next| next.to_string());
        reply.hits.drain(..self.offset.min(reply.hits.len()));
        reply.hits.truncate(self.limit);
        for passage in reply.hits.iter_mut().flat_map(|hit| &mut hit.passages) {
            cut(passage, request.max_passage_bytes);
        }
        if let Some(budget) = request.byte_budget {
            within(reply, budget);
        }
    }
}

/// Keeps the best passages of a reply within `budget` bytes of text.
fn within(reply: &mut SearchReply, budget: usize) {
    let mut order: Vec<(usize, usize, f64)> = Vec::new();
    for (hit, passages) in reply.hits.iter().map(|hit| &hit.passages).enumerate() {
        order.extend(passages.iter().enumerate().map(|(at, passage)| (hit, at, passage.score)));
    }
    // The best first; of equals in the order of the reply.
    order.sort_by(|a, b| b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1))));
    let mut left = budget;
    let mut out: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (hit, at, _) in order {
        let Some(passage) = reply.hits.get_mut(hit).and_then(|hit| hit.passages.get_mut(at)) else {
            continue;
        };
        if passage.text.len() > left && left >= WORTH_CUTTING {
            reply.left_out.bytes += cut(passage, left);
        }
        match left.checked_sub(passage.text.len()) {
            Some(less) => left = less,
            None => {
                reply.left_out.passages += 1;
                reply.left_out.bytes += passage.text.len();
                out.insert((hit, at));
            }
        }
    }
    for (number, hit) in reply.hits.iter_mut().enumerate() {
        let mut at = 0;
        hit.passages.retain(|_| {
            at += 1;
            !out.contains(&(number, at - 1))
        });
    }
}

/// The notes that links of the hits lead to, nearest first.
pub(crate) fn expand(
    reply: &mut SearchReply,
    request: &SearchRequest,
    snapshot: &Snapshot,
    sleeps: &dyn Fn(&NotePath) -> bool,
) {
    let starts: Vec<NotePath> = reply.hits.iter().map(|hit| hit.path.clone()).collect();
    // Places that a hit stands for are shown already.
    let shown: BTreeSet<&NotePath> = reply.hits.iter().flat_map(|hit| &hit.also_at).collect();
    let way = Way {
        direction: Direction::Both,
        depth: request.expand.min(MAX_DEPTH),
        predicate: None,
        budget: EXPANSION_LINKS,
        enters: &|path| snapshot.note(path).is_some() && !sleeps(path) && !shown.contains(path),
    };
    let limit = request.expand_limit.min(MAX_EXPANDED);
    let mut found = 0_usize;
    let mut expanded = Vec::new();
    let partial = walk(snapshot, &starts, &way, |path, depth, via| {
        if let (Some(note), Some(via)) = (snapshot.note(path), via) {
            found += 1;
            if expanded.len() < limit {
                expanded.push(Expanded {
                    path: path.clone(),
                    name: note.name.to_string(),
                    description: note.description.as_deref().map(str::to_owned),
                    layer: note.layer,
                    depth,
                    via,
                });
            }
        }
    });
    if partial || found > expanded.len() {
        let least = if partial { "at least " } else { "" };
        reply.notices.push(format!("links lead to {least}{found} further notes; {} are shown", expanded.len()));
    }
    reply.expanded = expanded;
}
