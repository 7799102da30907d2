//! Asking the engine: a real vault, its real index, `Recall::search`.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, FixedOffset};
use dormouse_fixtures::TempVault;
use dormouse_recall::{Embedder, Hit, Recall, RecallConfig, SearchReply, SearchRequest, SignalSwitches};
use dormouse_vault::text::{content_words, truncate_chars};
use dormouse_vault::{Layer, Vault};

use crate::Outcome;
use crate::data::{Place, Question};
use crate::figures::{Answered, Covering};
use crate::options::{Options, Scope};

/// Notes and passages that are asked for: enough for the first 20 blocks and for 8,000 characters.
const NOTES: usize = 40;
const PASSAGES: usize = 20;
/// Passages of a result that a caller gets who asks for nothing else.
const SHOWN: usize = 3;

/// What an estimated token of English stands for.
const CHARACTERS_PER_TOKEN: usize = 4;

/// A copy of the vault, indexed.
pub(crate) struct Bench {
    pub(crate) vault: Arc<Vault>,
    embedder: Option<Arc<dyn Embedder>>,
    now: Option<DateTime<FixedOffset>>,
    /// Characters of the context that is searched for the answer's words.
    context: Option<usize>,
    _copy: TempVault,
}

impl Bench {
    /// Copies the vault without its cache and without `left_out`, opens it and builds the index.
    pub(crate) fn open(options: &Options, vault: &Path, left_out: &[String]) -> Outcome<Self> {
        let copy = dormouse_fixtures::temp_vault("");
        let left_out: Vec<&str> = left_out.iter().map(String::as_str).chain([".dormouse"]).collect();
        dormouse_fixtures::copy_tree_without(vault, copy.path(), &left_out);
        let mut bench = Self::over(copy, &options.config, options.embed.as_deref())?;
        bench.now = options.now;
        bench.context = options.context;
        Ok(bench)
    }

    /// Opens a vault that was made for this, and builds the index.
    pub(crate) fn over(copy: TempVault, config: &RecallConfig, embed: Option<&Path>) -> Outcome<Self> {
        let vault = Arc::new(Vault::open(copy.path())?);
        Recall::open(Arc::clone(&vault), config.clone())?.sync()?;
        Ok(Self { vault, embedder: embed.map(embedder).transpose()?, now: None, context: None, _copy: copy })
    }

    /// The engine over the vault, with all of its vectors where it has an embedder.
    fn recall(&self, config: &RecallConfig) -> Outcome<Recall> {
        let mut recall = Recall::open(Arc::clone(&self.vault), config.clone())?;
        if let Some(embedder) = &self.embedder {
            recall = recall.with_embedder(Arc::clone(embedder));
        }
        recall.sync()?;
        if self.embedder.is_some() && !recall.wait_for_meaning(Duration::from_secs(600)) {
            return Err(format!("the vectors are not there: {:?}", recall.meaning_status()).into());
        }
        Ok(recall)
    }

    /// Asks every question.
    pub(crate) fn ask(
        &self,
        questions: &[Question],
        config: &RecallConfig,
        signals: SignalSwitches,
        scope: Scope,
    ) -> Outcome<Vec<Answered>> {
        let recall = self.recall(config)?;
        let mut out = Vec::with_capacity(questions.len());
        for question in questions {
            let mut request = SearchRequest {
                limit: NOTES,
                passages: PASSAGES,
                signals,
                quiet: true,
                now: self.now,
                ..SearchRequest::new(question.query.as_str())
            };
            if let (Scope::Conversation, Some(conversation)) = (scope, &question.conversation) {
                request.filters.properties.insert("conv".to_owned(), conversation.clone());
            }
            let started = Instant::now();
            let reply = recall.search(&request)?;
            let milliseconds = started.elapsed().as_secs_f64() * 1_000.0;
            let (blocks, notes) = rankings(&reply);
            let answered =
                Answered::of(&question.id, &question.category, &question.evidence, &blocks, &notes, milliseconds);
            out.push(Answered { answer_words: self.answer_words(&recall, question)?, ..answered });
        }
        Ok(out)
    }

    /// The share of the answer's words that stand in the context that a reader gets, its citations
    /// and fences included.
    fn answer_words(&self, recall: &Recall, question: &Question) -> Outcome<Option<f64>> {
        let (Some(characters), Some(answer)) = (self.context, &question.answer) else {
            return Ok(None);
        };
        let context = recall.context(&question.query, characters / CHARACTERS_PER_TOKEN)?;
        Ok(share_of_words(answer, truncate_chars(&context.markdown, characters)))
    }
}

/// The share of the content words of `answer` that stand in `text`; `None` when it has none.
fn share_of_words(answer: &str, text: &str) -> Option<f64> {
    let wanted: BTreeSet<String> = content_words(answer).into_iter().collect();
    let have: BTreeSet<String> = content_words(text).into_iter().collect();
    let found = wanted.intersection(&have).count() as f64;
    (!wanted.is_empty()).then(|| found / wanted.len() as f64)
}

/// The static model in a folder.
#[cfg(feature = "embed")]
fn embedder(folder: &Path) -> Outcome<Arc<dyn Embedder>> {
    Ok(Arc::new(dormouse_recall::StaticEmbedder::new(folder)?))
}

#[cfg(not(feature = "embed"))]
fn embedder(_: &Path) -> Outcome<Arc<dyn Embedder>> {
    Err("this build has no embeddings; `cargo xtask bench` builds them in when --embed is given".into())
}

/// The blocks with their lengths in characters by score, and the notes in order.
fn rankings(reply: &SearchReply) -> (Vec<(Place, usize)>, Vec<Covering>) {
    let mut blocks: Vec<(f64, Place, usize)> = Vec::new();
    for hit in &reply.hits {
        let place = |id: &Option<String>| (hit.path.to_string(), id.clone());
        blocks.extend(hit.passages.iter().map(|p| (p.score, place(&p.block_id), p.text.chars().count())));
    }
    blocks.sort_by(|a, b| b.0.total_cmp(&a.0));
    let covering = |hit: &Hit| {
        let notes = std::iter::once(&hit.path).chain(&hit.also_at).map(ToString::to_string).collect();
        let cites = hit.passages.iter().take(SHOWN).flat_map(|passage| &passage.cites);
        let cited = cites.filter(|cite| cite.block.is_some() && hit.layer == Layer::Digest);
        Covering { notes, cited: cited.map(|cite| (cite.note.to_string(), cite.block.clone())).collect() }
    };
    let notes = reply.hits.iter().map(covering).collect();
    (blocks.into_iter().map(|(_, place, length)| (place, length)).collect(), notes)
}

/// The engine with signals left away: the text score of single blocks, and what stands around them.
pub(crate) fn bare() -> [(&'static str, SignalSwitches); 2] {
    let text = SignalSwitches::NONE;
    [("block text alone", text), ("+ neighbours, note", SignalSwitches { neighbours: true, note: true, ..text })]
}
