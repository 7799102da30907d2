//! What the cycle has computed about notes, read from `meta/` once and again when a file is another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use chrono::{DateTime, FixedOffset, Utc};
use dormouse_vault::meta::{Archived, Artefact, Communities, DreamLedger, DreamOutcome, Recency};
use dormouse_vault::{NotePath, Vault};

use super::centrality::Ranks;
use super::reply::{SignalFreshness, SignalState};
use super::request::SignalSwitches;
use crate::config::RecallConfig;
use crate::traits::Traits;

/// Digests of material whose evidence check dropped more than this share get no influence.
const MAX_DROPPED: f64 = 0.25;

/// A file as it was read: time, length, and where the system has one its number, which a file that
/// is put in another's place does not share.
type Seen = Option<(SystemTime, u64, u64)>;

/// One artefact as recall uses it.
#[derive(Debug, Default)]
struct Read<T> {
    seen: Seen,
    value: Arc<T>,
    computed_at: Option<DateTime<Utc>>,
    problem: Option<String>,
}

/// What is kept between two questions: the artefacts as they were last read, and what notes state.
#[derive(Debug, Default)]
pub(crate) struct MetaCache {
    kept: Mutex<Kept>,
    pub(crate) traits: Traits,
    pub(crate) ranks: Ranks,
}

#[derive(Debug, Default)]
struct Kept {
    communities: Read<BTreeMap<NotePath, u32>>,
    recency: Read<BTreeMap<NotePath, f64>>,
    archived: Read<BTreeSet<NotePath>>,
    doubtful: Read<BTreeSet<NotePath>>,
}

impl<T: Default> Read<T> {
    /// Reads the file again if it is another than the one that was read.
    fn renew<A: Artefact>(&mut self, vault: &Vault, of: impl Fn(A) -> T) {
        let seen = seen(vault, A::FILE);
        if seen == self.seen && (seen.is_some() || self.problem.is_none()) {
            return;
        }
        let loaded = vault.meta::<A>();
        self.seen = seen;
        self.problem = loaded.problem.map(|problem| problem.to_string());
        self.computed_at = loaded.value.as_ref().map(Artefact::computed_at);
        self.value = Arc::new(loaded.value.map(of).unwrap_or_default());
    }
}

fn seen(vault: &Vault, file: &str) -> Seen {
    let file = vault.root().join(&vault.layout().meta).join(file);
    let meta = std::fs::metadata(file).ok()?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&meta);
    #[cfg(not(unix))]
    let number = 0;
    Some((meta.modified().ok()?, meta.len(), number))
}

/// The computed signals of a vault, as far as they can be used.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    communities: Arc<BTreeMap<NotePath, u32>>,
    recency: Arc<BTreeMap<NotePath, f64>>,
    archived: Arc<BTreeSet<NotePath>>,
    doubtful: Arc<BTreeSet<NotePath>>,
    /// The state of each.
    pub(crate) freshness: Vec<SignalFreshness>,
    /// Why one can't be used.
    pub(crate) warnings: Vec<String>,
}

impl Signals {
    /// Takes them from the cache, which looks at the files' times first.
    pub(crate) fn load(
        vault: &Vault,
        cache: &MetaCache,
        switches: SignalSwitches,
        now: Option<DateTime<FixedOffset>>,
        config: &RecallConfig,
    ) -> Self {
        let mut kept = cache.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let days = Some(config.stale_after_days);
        let mut out = Self::default();
        out.state("centrality", if switches.centrality { SignalState::Fresh } else { SignalState::Off }, None);
        if switches.community {
            kept.communities.renew(vault, |c: Communities| {
                c.communities.iter().flat_map(|c| c.members.iter().map(|m| (m.clone(), c.id))).collect()
            });
        }
        out.communities = out.take("communities", &kept.communities, switches.community, now, days);
        if switches.recency {
            kept.recency
                .renew(vault, |r: Recency| r.notes.into_iter().map(|(path, note)| (path, note.score)).collect());
        }
        out.recency = out.take("recency", &kept.recency, switches.recency, now, days);
        // What sleeps goes on sleeping until consolidate wakes it.
        kept.archived.renew(vault, |a: Archived| a.notes.into_keys().collect());
        out.archived = out.take("archived", &kept.archived, switches.archive, now, None);
        if !switches.archive {
            // Nothing is dropped, and a condition may still ask for them.
            out.archived = Arc::clone(&kept.archived.value);
        }
        if switches.digests {
            kept.doubtful.renew(vault, |ledger: DreamLedger| doubtful(&ledger));
        }
        out.doubtful = out.take("digests", &kept.doubtful, switches.digests, now, None);
        out
    }

    /// The community of a note.
    pub(crate) fn community(&self, note: &NotePath) -> Option<u32> {
        self.communities.get(note).copied()
    }

    /// The freshness of a note, 0..=1.
    pub(crate) fn freshness_of(&self, note: &NotePath) -> Option<f64> {
        self.recency.get(note).copied()
    }

    /// Whether a note sleeps, whether or not sleepers are dropped.
    pub(crate) fn is_archived(&self, note: &NotePath) -> bool {
        self.archived.contains(note)
    }

    /// The notes that sleep.
    pub(crate) fn archived(&self) -> Arc<BTreeSet<NotePath>> {
        Arc::clone(&self.archived)
    }

    /// Whether a digest has no influence on other notes.
    pub(crate) fn is_doubtful(&self, note: &NotePath) -> bool {
        self.doubtful.contains(note)
    }

    fn take<T: Default>(
        &mut self,
        name: &str,
        read: &Read<T>,
        on: bool,
        now: Option<DateTime<FixedOffset>>,
        stale_after_days: Option<i64>,
    ) -> Arc<T> {
        let state = if !on {
            SignalState::Off
        } else if let Some(problem) = &read.problem {
            self.warnings.push(format!("{name}: {problem}"));
            SignalState::Unreadable
        } else if let Some(at) = read.computed_at {
            let age = now.map(|now| (now.to_utc() - at).num_days());
            if age.zip(stale_after_days).is_some_and(|(age, days)| age > days) {
                self.warnings.push(format!(
                    "{name}: computed on {}, too long ago to be used; run `dormouse consolidate`",
                    at.date_naive()
                ));
                SignalState::Stale
            } else {
                SignalState::Fresh
            }
        } else {
            SignalState::Missing
        };
        let computed_at =
            matches!(state, SignalState::Fresh | SignalState::Stale).then_some(read.computed_at).flatten();
        self.state(name, state, computed_at);
        if state == SignalState::Fresh { Arc::clone(&read.value) } else { Arc::default() }
    }

    /// Notes the state of a signal.
    pub(crate) fn state(&mut self, signal: &str, state: SignalState, computed_at: Option<DateTime<Utc>>) {
        self.freshness.push(SignalFreshness { signal: signal.to_owned(), state, computed_at });
    }
}

fn doubtful(ledger: &DreamLedger) -> BTreeSet<NotePath> {
    let mut counts: BTreeMap<&NotePath, (f64, f64)> = BTreeMap::new();
    for dreamed in ledger.materials.values() {
        if let DreamOutcome::Done { subjects, dropped } = &dreamed.outcome {
            for subject in subjects {
                let (lost, kept) = counts.entry(subject).or_default();
                *lost += f64::from(*dropped);
                *kept += subjects.len() as f64;
            }
        }
    }
    let bad = counts.into_iter().filter(|(_, (lost, kept))| *lost > MAX_DROPPED * (lost + kept));
    bad.map(|(path, _)| path.clone()).collect()
}
