//! Asking: every question in every arm of the comparison.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use dormouse_recall::{Hit, Recall, RecallConfig, SearchRequest, SignalSwitches};
use dormouse_vault::{Clock, Layer, Vault};

use super::questions::{Asked, Figures, Place, Tally};
use super::witness::Witness;

/// How many results are looked at.
const LIMIT: usize = 10;

/// The answers to all questions in one arm.
pub(crate) struct Answers {
    /// Over all questions that have an answer.
    pub(crate) figures: Figures,
    /// The same by kind.
    pub(crate) by_kind: BTreeMap<String, Figures>,
    /// Questions with an answer that got no result at all.
    pub(crate) silent: Vec<String>,
    /// Evidence that is not in the vault.
    pub(crate) missing: usize,
}

/// Recall over a vault, for asking only: nothing is spooled.
pub(crate) fn recall(vault: &Arc<Vault>, clock: &Arc<dyn Clock>) -> Result<Recall> {
    let config = RecallConfig { spool: false, ..vault.settings().section::<RecallConfig>("recall").0 };
    let recall = Recall::open(Arc::clone(vault), config)?.with_clock(Arc::clone(clock));
    recall.sync()?;
    Ok(recall)
}

/// Asks all questions with `signals`. Every result is held against the boundary of the layers.
pub(crate) fn ask(
    recall: &Recall,
    questions: &[Asked],
    signals: SignalSwitches,
    witness: &mut Witness,
) -> Result<Answers> {
    let vault = recall.vault();
    let snapshot = vault.snapshot();
    let mut all = Tally::default();
    let mut kinds: BTreeMap<String, Tally> = BTreeMap::new();
    let mut answers = Answers { figures: Figures::default(), by_kind: BTreeMap::new(), silent: Vec::new(), missing: 0 };
    for question in questions {
        let request = SearchRequest { limit: LIMIT, signals, quiet: true, ..SearchRequest::new(&question.query) };
        let reply = recall.search(&request)?;
        for hit in &reply.hits {
            let allowed = !matches!(hit.layer, Layer::Meta | Layer::Audit);
            witness.check(allowed, "meta and audit are never a result", &hit.path);
            witness.check(snapshot.exists(&hit.path), "no result points to a missing note", &hit.path);
        }
        if question.has_no_answer() {
            continue;
        }
        let wanted = question.places(vault, &snapshot, &mut answers.missing);
        if reply.hits.is_empty() {
            answers.silent.push(question.id.clone());
        }
        let results: Vec<Vec<Place>> = reply.hits.iter().map(places).collect();
        all.add(&wanted, &results);
        kinds.entry(question.kind.clone()).or_default().add(&wanted, &results);
    }
    answers.figures = all.figures();
    answers.by_kind = kinds.iter().map(|(kind, tally)| (kind.clone(), tally.figures())).collect();
    Ok(answers)
}

/// The places that a result covers: the note itself, notes of the same text, and for a digest the
/// blocks that its returned passages cite.
fn places(hit: &Hit) -> Vec<Place> {
    let mut places: Vec<Place> = vec![(hit.path.clone(), None)];
    places.extend(hit.also_at.iter().map(|path| (path.clone(), None)));
    if hit.layer == Layer::Digest {
        let cited = hit.passages.iter().flat_map(|p| &p.cites);
        places.extend(cited.filter_map(|c| Some((c.note.clone(), Some(c.block.clone()?)))));
    }
    places
}
