//! What a caller may put before and behind a search: a rewriting of the query, and a second opinion on
//! the order of the best notes. Neither is there by default, and a search without them asks no model.

use std::error::Error;
use std::sync::Arc;

use crate::search::{Hit, Named, SearchReply, SignalFreshness, SignalState};

/// How many of the best notes a [`Reranker`] is asked about.
pub const RERANKED: usize = 30;
/// The factors of the passages that a reranker likes least and most.
const FACTORS: (f64, f64) = (0.5, 2.0);

/// What went wrong in a caller's own code.
pub type AssistError = Box<dyn Error + Send + Sync>;

/// Makes another query of a query before it is searched for: resolves "he" and "there" from a
/// conversation, translates, adds words. Called once a search, on the searching thread; how long it may
/// take is its own affair.
pub trait QueryRewrite: Send + Sync {
    /// The query to search for instead, in the language of docs/query.md; operators and phrases that
    /// are to hold on must be in it. An empty one leaves the query as it was.
    ///
    /// # Errors
    /// Whatever went wrong: the query is then searched for as it was, with a warning in the reply.
    fn rewrite(&self, query: &str) -> Result<String, AssistError>;
}

/// Judges how well passages answer a query: a cross-encoder, say. Called once a search, on the searching
/// thread.
pub trait Reranker: Send + Sync {
    /// A score for each of `passages`, in their order, higher for better, on any scale. At most
    /// [`RERANKED`] passages, the best one of each note, best first, each below its note's name, date
    /// and headings.
    ///
    /// The scores become a factor of 0.5 to 2 between the least and the best of them, which the reply
    /// explains as `rerank`; scores that are all the same or not finite change nothing.
    ///
    /// # Errors
    /// Whatever went wrong: the order then stays as it was, with a warning in the reply.
    fn scores(&self, query: &str, passages: &[String]) -> Result<Vec<f64>, AssistError>;
}

/// Both, as far as they are set.
#[derive(Clone, Default)]
pub(crate) struct Assistants {
    pub(crate) rewrite: Option<Arc<dyn QueryRewrite>>,
    pub(crate) reranker: Option<Arc<dyn Reranker>>,
}

/// What was searched for in the place of a query, and what to tell about it.
pub(crate) struct Rewritten {
    pub(crate) query: String,
    notice: Option<String>,
    warning: Option<String>,
    state: Option<SignalState>,
}

impl Rewritten {
    /// Tells the reader of a reply.
    pub(crate) fn tell(self, reply: &mut SearchReply) {
        reply.notices.extend(self.notice);
        reply.warnings.extend(self.warning);
        state(reply, "rewrite", self.state);
    }
}

impl Assistants {
    /// The query to search for.
    pub(crate) fn rewrite(&self, query: &str) -> Rewritten {
        let as_it_was = Rewritten { query: query.to_owned(), notice: None, warning: None, state: None };
        let Some(rewrite) = self.rewrite.as_ref().filter(|_| !query.trim().is_empty()) else {
            return as_it_was;
        };
        let fresh = Some(SignalState::Fresh);
        match rewrite.rewrite(query) {
            Ok(text) if text.trim().is_empty() || text == query => Rewritten { state: fresh, ..as_it_was },
            Ok(text) => {
                let notice = Some(format!("searched for {text:?}"));
                Rewritten { query: text, notice, state: fresh, ..as_it_was }
            }
            Err(error) => Rewritten {
                warning: Some(format!("the query could not be rewritten: {error}; searched for as it is")),
                state: Some(SignalState::Unreadable),
                ..as_it_was
            },
        }
    }

    /// How many notes a reranker wants to see; 0 without one.
    pub(crate) fn window(&self) -> usize {
        if self.reranker.is_some() { RERANKED } else { 0 }
    }

    /// Puts the best notes of a reply in a new order. Notes behind them stay behind, in their order.
    pub(crate) fn rerank(&self, query: &str, reply: &mut SearchReply) {
        let Some(reranker) = &self.reranker else {
            return;
        };
        let judged = reply.hits.len().min(RERANKED);
        let passages: Vec<String> = reply.hits.iter().take(judged).map(passage).collect();
        if passages.len() < 2 || query.trim().is_empty() {
            return;
        }
        let scores = match reranker.scores(query, &passages) {
            Ok(scores) if scores.len() == passages.len() => scores,
            Ok(scores) => {
                let why = format!("{} scores for {} passages", scores.len(), passages.len());
                return unranked(reply, &why);
            }
            Err(error) => return unranked(reply, &error.to_string()),
        };
        state(reply, "rerank", Some(SignalState::Fresh));
        let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let range = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least;
        if !(range.is_finite() && range > 0.0) || scores.iter().any(|score| !score.is_finite()) {
            return;
        }
        for (hit, score) in reply.hits.iter_mut().zip(scores) {
            apply(hit, FACTORS.0 + (FACTORS.1 - FACTORS.0) * (score - least) / range);
        }
        if let Some(judged) = reply.hits.get_mut(..judged) {
            judged.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
        }
    }
}

/// A note's best passage as a reranker reads it.
fn passage(hit: &Hit) -> String {
    let date = hit.date.map(|date| date.to_string());
    let best = hit.passages.first();
    let headings = best.map(|passage| passage.heading_path.join(" > ")).filter(|path| !path.is_empty());
    let head: Vec<String> = [Some(hit.name.clone()), date, headings].into_iter().flatten().collect();
    format!("{}\n{}", head.join(", "), best.map_or("", |passage| &passage.text))
}

fn apply(hit: &mut Hit, factor: f64) {
    hit.score *= factor;
    hit.passages.iter_mut().for_each(|passage| passage.score *= factor);
    if let Some(explain) = &mut hit.explain {
        explain.factors.push(Named { name: "rerank".to_owned(), value: factor });
    }
}

fn unranked(reply: &mut SearchReply, why: &str) {
    reply.warnings.push(format!("the best notes could not be reranked: {why}; they are in their own order"));
    state(reply, "rerank", Some(SignalState::Unreadable));
}

fn state(reply: &mut SearchReply, signal: &str, state: Option<SignalState>) {
    reply.freshness.extend(state.map(|state| SignalFreshness { signal: signal.to_owned(), state, computed_at: None }));
}
