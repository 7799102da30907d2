//! Recall as dream's finder of digests that are near.

use std::sync::Arc;

use dormouse_dream::{Neighbour, Neighbours};
use dormouse_recall::{Filters, Recall, SearchRequest};
use dormouse_vault::Layer;

/// [`Neighbours`] over recall: digests only, archived ones included, and out of the access spool: a
/// dream that looks around is no use of a note.
#[derive(Debug, Clone)]
pub struct RecallNeighbours {
    recall: Arc<Recall>,
}

impl RecallNeighbours {
    /// Over `recall`.
    #[must_use]
    pub fn new(recall: Arc<Recall>) -> Self {
        Self { recall }
    }
}

impl Neighbours for RecallNeighbours {
    fn neighbours(&self, query: &str, limit: usize) -> Vec<Neighbour> {
        let request = SearchRequest {
            query: plain(query),
            limit,
            passages: 1,
            filters: Filters { layers: vec![Layer::Digest], ..Filters::default() },
            include_archived: true,
            quiet: true,
            ..SearchRequest::default()
        };
        match self.recall.search(&request) {
            Ok(reply) => reply.hits.into_iter().map(|hit| Neighbour { path: hit.path, score: hit.score }).collect(),
            Err(error) => {
                // Without neighbours a dream creates instead of updating: more notes, nothing lost.
                tracing::warn!(%error, "recall could not find neighbours");
                Vec::new()
            }
        }
    }
}

/// Material is no query language: quotes, colons and minus signs in it mean nothing.
fn plain(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '"' | ':' | '-' | '“' | '”' | '：') { ' ' } else { c }).collect()
}
