//! `Recall`: the vault's snapshot and its index, and the verbs over them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dormouse_vault::meta::{AccessKind, Archived, DreamLedger};
use dormouse_vault::{Clock, NotePath, Vault};
use serde::{Deserialize, Serialize};

use crate::config::RecallConfig;
use crate::context::ContextBlock;
use crate::embed::{Embedder, Meaning, MeaningStatus};
use crate::error::RecallError;
use crate::list::{ListReply, ListRequest};
use crate::search::{MetaCache, Pairing, SearchReply, SearchRequest, run};
use crate::sync::{Current, bring_up};
use crate::traverse::{TraverseReply, TraverseRequest};

/// Recall over one open vault. Cheap to share behind an `Arc`; all methods take `&self`.
pub struct Recall {
    pub(crate) vault: Arc<Vault>,
    pub(crate) config: RecallConfig,
    pub(crate) clock: Option<Arc<dyn Clock>>,
    pub(crate) state: Mutex<Option<Current>>,
    meta: MetaCache,
    pub(crate) meaning: Option<Meaning>,
}

impl std::fmt::Debug for Recall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recall").field("root", &self.vault.root()).finish_non_exhaustive()
    }
}

/// What [`Recall::sync`] did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SyncReport {
    /// Notes in the index now.
    pub notes: usize,
    /// Notes that were read, because they are new or changed.
    pub read: usize,
    /// Notes that were taken out.
    pub removed: usize,
    /// Whether the index was made anew, because it was absent, corrupt or of another version.
    pub rebuilt: bool,
    /// Whether it lives in memory, because the folder can't be written or another process writes it.
    pub in_memory: bool,
    /// What could not be used.
    pub warnings: Vec<String>,
}

impl Recall {
    /// Recall over `vault`, without a clock: nothing is spooled and nothing counts as old unless a
    /// request says what time it is. Cheap: the index is opened by the first sync or search.
    ///
    /// # Errors
    /// None today; a later version may check the settings.
    pub fn open(vault: Arc<Vault>, config: RecallConfig) -> Result<Self, RecallError> {
        Ok(Self { vault, config, clock: None, state: Mutex::new(None), meta: MetaCache::default(), meaning: None })
    }

    /// With a clock, which dates the access spool and the recency signal.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// With an embedder, whose vectors join the text score. A thread embeds what each sync finds; it
    /// ends with this value, within about a second.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.meaning = Some(Meaning::start(&self.vault, embedder));
        self
    }

    /// How far the vectors are; `None` without an embedder.
    #[must_use]
    pub fn meaning_status(&self) -> Option<MeaningStatus> {
        self.meaning.as_ref().map(Meaning::status)
    }

    /// Waits until every block of the last sync has its vector. False when that takes longer than
    /// `patience`, when the embedder fails, and without one.
    pub fn wait_for_meaning(&self, patience: Duration) -> bool {
        self.meaning.as_ref().is_some_and(|meaning| meaning.wait(patience))
    }

    /// The vault.
    #[must_use]
    pub fn vault(&self) -> &Arc<Vault> {
        &self.vault
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &RecallConfig {
        &self.config
    }

    /// Brings the index up to the vault's current snapshot: notes whose version differs are read
    /// again, those that are gone are taken out.
    ///
    /// # Errors
    /// Only when even an index in memory fails.
    pub fn sync(&self) -> Result<SyncReport, RecallError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (current, report) = bring_up(&self.vault, state.take())?;
        self.follow(&current);
        *state = Some(current);
        Ok(report)
    }

    /// The index and the snapshot that it stands for, brought up to date when that is wanted.
    fn current(&self) -> Result<Current, RecallError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(current) = state.as_ref() {
            let same = Arc::ptr_eq(&current.snapshot, &self.vault.snapshot());
            if same || !self.config.sync_on_search {
                return Ok(current.clone());
            }
        }
        let (current, _) = bring_up(&self.vault, state.take())?;
        self.follow(&current);
        *state = Some(current.clone());
        Ok(current)
    }

    fn follow(&self, current: &Current) {
        self.meaning.iter().for_each(|meaning| meaning.follow(&current.snapshot));
    }

    /// Answers a query. Each note's text is checked against its version before it goes out; one that
    /// changed on disk meanwhile makes the vault look again, once.
    ///
    /// # Errors
    /// Only when even an index in memory fails.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchReply, RecallError> {
        self.answer(request, Pairing::OneResult)
    }

    pub(crate) fn answer(&self, request: &SearchRequest, pairing: Pairing) -> Result<SearchReply, RecallError> {
        let beside = (&self.meta, self.meaning.as_ref());
        let now = request.now.or_else(|| self.clock.as_ref().map(|clock| clock.now()));
        let first = run(&self.vault, &self.current()?, beside, &self.config, request, now, pairing)?;
        let mut reply = if first.stale && self.vault.refresh().is_ok() {
            self.sync()?;
            run(&self.vault, &self.current()?, beside, &self.config, request, now, pairing)?.reply
        } else {
            first.reply
        };
        if !request.quiet {
            let paths: Vec<NotePath> = reply.hits.iter().map(|hit| hit.path.clone()).collect();
            reply.warnings.extend(self.note_access(&paths, AccessKind::Returned, now));
        }
        tracing::debug!(hits = reply.hits.len(), total = reply.total, "search");
        Ok(reply)
    }

    /// Lists notes by conditions.
    #[must_use]
    pub fn list(&self, request: &ListRequest) -> ListReply {
        let archived = self.vault.meta::<Archived>();
        let ledger = self.vault.meta::<DreamLedger>();
        let mut reply =
            crate::list::list(&self.vault.snapshot(), archived.value.as_ref(), ledger.value.as_ref(), request);
        reply.warnings.extend([archived.problem, ledger.problem].into_iter().flatten().map(|p| p.to_string()));
        reply
    }

    /// Walks along links.
    ///
    /// # Errors
    /// [`RecallError::NoSuchNote`].
    pub fn traverse(&self, request: &TraverseRequest) -> Result<TraverseReply, RecallError> {
        crate::traverse::traverse(&self.vault.snapshot(), request)
    }

    /// The best of the vault for `query` within `token_budget`, as cited Markdown.
    ///
    /// # Errors
    /// As [`Recall::search`].
    pub fn context(&self, query: &str, token_budget: usize) -> Result<ContextBlock, RecallError> {
        crate::context::pack(self, query, token_budget)
    }

    /// Notes in the access spool that `paths` were read or cited. Returns a warning when that
    /// could not be written; without a clock nothing is noted.
    pub fn mark_read(&self, paths: &[NotePath]) -> Option<String> {
        self.note_access(paths, AccessKind::Read, self.clock.as_ref().map(|clock| clock.now()))
    }
}
