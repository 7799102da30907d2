//! `Recall`: the vault's snapshot and its index, and the verbs over them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

use dormouse_vault::meta::{AccessKind, Archived, DreamLedger};
use dormouse_vault::{Clock, NotePath, Vault};
use serde::{Deserialize, Serialize};

use crate::assist::{Assistants, QueryRewrite, Reranker};
use crate::config::RecallConfig;
use crate::context::ContextBlock;
use crate::embed::{Embedder, Meaning, MeaningStatus};
use crate::error::RecallError;
use crate::index::IndexError;
use crate::list::{ListReply, ListRequest};
use crate::search::{MetaCache, Page, Pairing, SearchReply, SearchRequest, SignalState, expand, run};
use crate::sync::{Current, Keeper};
use crate::traverse::{TraverseReply, TraverseRequest};

/// How often a search begins anew because notes changed under it.
const MAX_ATTEMPTS: usize = 6;

/// Recall over one open vault. Cheap to share behind an `Arc`; all methods take `&self`.
pub struct Recall {
    pub(crate) vault: Arc<Vault>,
    pub(crate) config: RecallConfig,
    pub(crate) clock: Option<Arc<dyn Clock>>,
    index: Arc<Shared>,
    writer: Mutex<Option<JoinHandle<()>>>,
    meta: MetaCache,
    meaning: Option<Meaning>,
    assistants: Assistants,
}

/// The index, which a thread of its own writes down now and then.
#[derive(Debug, Default)]
struct Shared {
    keeper: Mutex<Option<Keeper>>,
    current: RwLock<Option<Current>>,
    /// Held by the one who writes.
    writing: Mutex<()>,
}

/// How far a pass over changed notes has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncProgress {
    /// Notes that have been read.
    pub done: usize,
    /// Notes to read.
    pub of: usize,
}

impl Shared {
    fn keeper(&self) -> MutexGuard<'_, Option<Keeper>> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn latest(&self) -> Option<Current> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn publish(&self, keeper: &Keeper) -> Result<Current, RecallError> {
        let current = keeper.current()?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(current.clone());
        Ok(current)
    }

    /// Writes down what has gathered, while searches go on.
    fn write(
        &self,
        vault: &Vault,
        report: &mut SyncReport,
        progress: &dyn Fn(SyncProgress),
    ) -> Result<(), RecallError> {
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(plan) = self.keeper().as_ref().map(Keeper::plan) else {
            return Ok(());
        };
        let written = plan.run(vault, progress);
        if let Some(keeper) = self.keeper().as_mut() {
            match written {
                Ok(written) => keeper.rebase(vault, written, report)?,
                Err(error) => keeper.failed(vault, error),
            }
            self.publish(keeper)?;
        }
        Ok(())
    }
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
        Ok(Self {
            vault,
            config,
            clock: None,
            index: Arc::default(),
            writer: Mutex::new(None),
            meta: MetaCache::default(),
            meaning: None,
            assistants: Assistants::default(),
        })
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

    /// With a rewriting of every query, which [`Recall::search`] and [`Recall::context`] then search for.
    #[must_use]
    pub fn with_query_rewrite(mut self, rewrite: Arc<dyn QueryRewrite>) -> Self {
        self.assistants.rewrite = Some(rewrite);
        self
    }

    /// With a second opinion on the order of the best notes of [`Recall::search`].
    #[must_use]
    pub fn with_reranker(mut self, reranker: Arc<dyn Reranker>) -> Self {
        self.assistants.reranker = Some(reranker);
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

    /// Brings the index up to the vault's current snapshot and writes it down: notes whose version
    /// differs are read again, those that are gone are taken out.
    ///
    /// # Errors
    /// Only when even an index in memory fails.
    pub fn sync(&self) -> Result<SyncReport, RecallError> {
        self.sync_with(&|_| ())
    }

    /// [`Recall::sync`], telling how far it has come: the first one of a large vault takes a while.
    ///
    /// # Errors
    /// As [`Recall::sync`].
    pub fn sync_with(&self, progress: &dyn Fn(SyncProgress)) -> Result<SyncReport, RecallError> {
        let mut report = SyncReport::default();
        let opened = self.opened(progress, Some(&mut report))?;
        if !self.vault.is_read_only() && !opened {
            // What was taken into memory is read once more on its way to the disk.
            report = SyncReport { rebuilt: report.rebuilt, ..SyncReport::default() };
            self.index.write(&self.vault, &mut report, progress)?;
        }
        if let Some(keeper) = self.index.keeper().as_ref() {
            keeper.describe(&mut report);
        }
        Ok(report)
    }

    /// Brings the index up as a search would, telling how far it has come: a few changes stay in memory,
    /// an index that is absent or far behind is written.
    ///
    /// # Errors
    /// As [`Recall::sync`].
    pub fn catch_up(&self, progress: &dyn Fn(SyncProgress)) -> Result<SyncReport, RecallError> {
        let mut report = SyncReport::default();
        self.opened(progress, Some(&mut report))?;
        if let Some(keeper) = self.index.keeper().as_ref() {
            keeper.describe(&mut report);
        }
        Ok(report)
    }

    /// Opens the keeper, or lets it take in what changed. Says whether all of that is written down.
    fn opened(&self, progress: &dyn Fn(SyncProgress), report: Option<&mut SyncReport>) -> Result<bool, RecallError> {
        let mut keeper = self.index.keeper();
        if let Some(keeper) = keeper.as_mut() {
            keeper.take_in(&self.vault)?;
            self.follow(&self.index.publish(keeper)?);
            return Ok(false);
        }
        let (made, first) = Keeper::open(&self.vault, progress)?;
        let made = keeper.insert(made);
        self.follow(&self.index.publish(made)?);
        if let Some(report) = report {
            *report = first;
        }
        Ok(made.is_written())
    }

    /// The index and the snapshot that it stands for, brought up to date when that is wanted.
    fn current(&self) -> Result<Current, RecallError> {
        let have = self.index.latest();
        if let Some(current) = have.filter(|current| {
            !self.config.sync_on_search || (current.whole && Arc::ptr_eq(&current.snapshot, &self.vault.snapshot()))
        }) {
            return Ok(current);
        }
        let mut keeper = self.index.keeper();
        let Some(keeper) = keeper.as_mut() else {
            drop(keeper);
            self.opened(&|_| (), None)?;
            return self.index.latest().ok_or(RecallError::Index(IndexError::Busy));
        };
        let enough = keeper.take_in(&self.vault)?;
        let current = self.index.publish(keeper)?;
        self.follow(&current);
        if enough {
            self.write_behind();
        }
        Ok(current)
    }

    /// Has the vault look at notes that are not as it knows them; at everything, when one is gone, since it
    /// may have got another name.
    fn look_again(&self, stale: &[NotePath]) {
        if stale.iter().all(|path| self.vault.read(path).is_ok()) {
            self.vault.refresh_files(stale.iter().cloned());
        } else if let Err(error) = self.vault.refresh() {
            tracing::warn!(%error, "the vault could not be looked at");
        }
    }

    /// Lets the vectors follow.
    fn follow(&self, current: &Current) {
        self.meaning.iter().for_each(|meaning| meaning.follow(&current.snapshot));
    }

    /// Starts writing down what has gathered, unless that is going on.
    fn write_behind(&self) {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        let (index, vault) = (Arc::clone(&self.index), Arc::clone(&self.vault));
        let thread = std::thread::Builder::new().name("dormouse-index".to_owned()).spawn(move || {
            if let Err(error) = index.write(&vault, &mut SyncReport::default(), &|_| ()) {
                tracing::warn!(%error, "the search index could not be written");
            }
        });
        // Without a thread it is written at the next occasion.
        *writer = thread.ok();
    }

    /// Answers a query. Each note's text is checked against its version before it goes out; one that
    /// changed on disk meanwhile makes the vault look at it again, a few times.
    ///
    /// # Errors
    /// [`RecallError::BadCursor`], [`RecallError::OtherCursor`]; else only when even an index in memory
    /// fails.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchReply, RecallError> {
        self.answer(request, Pairing::OneResult)
    }

    pub(crate) fn answer(&self, request: &SearchRequest, pairing: Pairing) -> Result<SearchReply, RecallError> {
        let now = request.now.or_else(|| self.clock.as_ref().map(|clock| clock.now()));
        let beside = (&self.meta, self.meaning.as_ref());
        let page = Page::of(request)?;
        let rewritten = self.assistants.rewrite(&request.query);
        let mut wide = SearchRequest { query: rewritten.query.clone(), ..page.widened(request) };
        if pairing == Pairing::OneResult && wide.limit > 0 {
            wide.limit = wide.limit.max(self.assistants.window());
        }
        let mut current = self.current()?;
        let mut outcome = run(&self.vault, &current, beside, &self.config, &wide, now, pairing)?;
        for _ in 0..MAX_ATTEMPTS {
            if outcome.stale.is_empty() && current.whole {
                break;
            }
            if !outcome.stale.is_empty() {
                self.look_again(&outcome.stale);
            }
            self.opened(&|_| (), None)?;
            current = self.current()?;
            outcome = run(&self.vault, &current, beside, &self.config, &wide, now, pairing)?;
        }
        let mut reply = outcome.reply;
        if !outcome.stale.is_empty() {
            let names: Vec<&str> = outcome.stale.iter().take(3).map(NotePath::as_str).collect();
            reply.warnings.push(format!(
                "{} changed again and again during this search and may be missing from the answer",
                names.join(", ")
            ));
            reply.freshness.iter_mut().filter(|f| f.signal == "index").for_each(|f| f.state = SignalState::Partial);
        }
        if pairing == Pairing::OneResult {
            self.assistants.rerank(&rewritten.query, &mut reply);
        }
        rewritten.tell(&mut reply);
        page.turn(&mut reply, request);
        if request.expand > 0 {
            expand(&mut reply, request, &current.snapshot, &|path| outcome.asleep.contains(path));
        }
        if !request.quiet {
            let paths: Vec<NotePath> = reply.hits.iter().map(|hit| hit.path.clone()).collect();
            reply.warnings.extend(self.note_access(&paths, AccessKind::Returned, now));
        }
        tracing::debug!(hits = reply.hits.len(), total = reply.total, "search");
        Ok(reply)
    }

    /// Lists notes by conditions.
    ///
    /// # Errors
    /// [`RecallError::BadCursor`], [`RecallError::OtherCursor`].
    pub fn list(&self, request: &ListRequest) -> Result<ListReply, RecallError> {
        let archived = self.vault.meta::<Archived>();
        let ledger = self.vault.meta::<DreamLedger>();
        let now = request.now.or_else(|| self.clock.as_ref().map(|clock| clock.now()));
        let request = ListRequest { now, ..request.clone() };
        let (snapshot, traits) = (self.vault.snapshot(), &self.meta.traits);
        let mut reply =
            crate::list::list_with(&snapshot, traits, archived.value.as_ref(), ledger.value.as_ref(), &request)?;
        reply.warnings.extend([archived.problem, ledger.problem].into_iter().flatten().map(|p| p.to_string()));
        Ok(reply)
    }

    /// Walks along links.
    ///
    /// # Errors
    /// [`RecallError::NoSuchNote`], [`RecallError::SeveralNotes`].
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

impl Drop for Recall {
    /// Waits for the index that is being written.
    fn drop(&mut self) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            // A writer that panicked has written nothing.
            let _ = writer.join();
        }
    }
}
