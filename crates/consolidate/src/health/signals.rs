//! The checks that look at the derived signals: readable, fresh, and about this vault; and what the
//! dream ledger says of material that waits.

use std::collections::HashSet;

use chrono::{DateTime, Duration, FixedOffset, Utc};
use dormouse_vault::meta::{
    AccessLog, Archived, Artefact, Communities, Cooldowns, Dismissed, DreamLedger, DreamOutcome, Loaded, Recency,
};
use dormouse_vault::{NotePath, Vault, material};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FindingKind, Findings, Severity};
use crate::config::ConsolidateConfig;
use crate::inputs::Inputs;

/// The derived signals as they stand.
pub(crate) struct Signals {
    communities: Loaded<Communities>,
    recency: Loaded<Recency>,
    archived: Loaded<Archived>,
    ledger: Loaded<DreamLedger>,
    access_log: Loaded<AccessLog>,
    cooldowns: Loaded<Cooldowns>,
    dismissed: Loaded<Dismissed>,
}

impl Signals {
    pub(crate) fn read(vault: &Vault) -> Self {
        Self {
            communities: vault.meta(),
            recency: vault.meta(),
            archived: vault.meta(),
            ledger: vault.meta(),
            access_log: vault.meta(),
            cooldowns: vault.meta(),
            dismissed: vault.meta(),
        }
    }

    /// The notes that a dream wrote, as far as the ledger knows.
    pub(super) fn dreamed(&self) -> HashSet<&NotePath> {
        let materials = self.ledger.value.iter().flat_map(|ledger| ledger.materials.values());
        let written = materials.filter_map(|dreamed| match &dreamed.outcome {
            DreamOutcome::Done { subjects, .. } => Some(subjects),
            DreamOutcome::Pending { .. } => None,
        });
        written.flatten().collect()
    }

    pub(super) fn check(&self, inputs: &Inputs<'_>, states: &[SignalState], out: &mut Findings) {
        unreadable(&self.communities, out);
        unreadable(&self.recency, out);
        unreadable(&self.archived, out);
        unreadable(&self.ledger, out);
        unreadable(&self.access_log, out);
        unreadable(&self.cooldowns, out);
        unreadable(&self.dismissed, out);
        for signal in states.iter().filter(|signal| signal.state == Freshness::Stale) {
            out.add(Severity::Notice, FindingKind::StaleMeta, None, None, || {
                format!("{} {}: run `dormouse consolidate`", signal.file, signal.reasons.join(", "))
            });
        }
        self.material(inputs, out);
    }

    /// How fresh each signal is, and whether it speaks of this vault.
    pub(super) fn states(
        &self,
        inputs: &Inputs<'_>,
        config: &ConsolidateConfig,
        now: DateTime<FixedOffset>,
    ) -> Vec<SignalState> {
        let (weekly, daily) = (i64::from(config.schedule.weekly_hours), i64::from(config.schedule.daily_hours));
        let communities = |found: &Communities| {
            let mut named: Vec<NotePath> = found.communities.iter().flat_map(|c| &c.members).cloned().collect();
            named.sort_unstable();
            named.dedup();
            Asked {
                hours: Some(weekly),
                complete: config.communities.list_singletons,
                there: there(inputs, &named),
                of: named.len(),
            }
        };
        let recency = |found: &Recency| {
            let there = there(inputs, found.notes.keys());
            Asked { hours: Some(daily), complete: true, there, of: found.notes.len() }
        };
        let archived = |found: &Archived| {
            let there = there(inputs, found.notes.keys());
            Asked { hours: Some(daily), complete: false, there, of: found.notes.len() }
        };
        // What is written when something happens is never too old.
        vec![
            state(inputs, &self.communities, now, communities),
            state(inputs, &self.recency, now, recency),
            state(inputs, &self.archived, now, archived),
            state(inputs, &self.access_log, now, |_| Asked::default()),
            state(inputs, &self.ledger, now, |_| Asked::default()),
            state(inputs, &self.cooldowns, now, |_| Asked::default()),
        ]
    }

    /// Material that no dream has taken in at its present content.
    fn material(&self, inputs: &Inputs<'_>, out: &mut Findings) {
        let ledger = self.ledger.value.as_ref();
        let mut pending = 0_usize;
        for path in material::pending(&inputs.snapshot, ledger) {
            match ledger.and_then(|l| l.materials.get(&path)).map(|d| &d.outcome) {
                Some(DreamOutcome::Pending { reason, tries, not_before }) => {
                    out.add(Severity::Warning, FindingKind::FailedMaterial, Some(&path), None, || {
                        let reason = reason.lines().next().unwrap_or("no reason given");
                        let again =
                            not_before.map(|at| format!("; tried again from {}", at.format("%Y-%m-%d %H:%M UTC")));
                        format!("could not be dreamed ({tries} tries): {reason}{}", again.unwrap_or_default())
                    });
                }
                _ => pending += 1,
            }
        }
        if pending > 0 {
            out.add(Severity::Notice, FindingKind::PendingMaterial, None, None, || {
                format!("material that waits for a dream: {pending}; run `dormouse dream`")
            });
        }
    }
}

fn unreadable<T: Artefact>(loaded: &Loaded<T>, out: &mut Findings) {
    if let Some(problem) = &loaded.problem {
        out.add(Severity::Warning, FindingKind::StaleMeta, None, problem.line, || problem.message.clone());
    }
}

/// How one derived signal stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignalState {
    /// Its file below `meta/`.
    pub file: String,
    /// Whether it can be relied on.
    pub state: Freshness,
    /// When it was computed.
    pub computed_at: Option<DateTime<Utc>>,
    /// Whole hours since then, 0 for a moment ahead of the clock.
    pub age_hours: Option<u64>,
    /// Notes that it speaks of and that are gone: it is of another vault, or of an earlier state.
    pub gone: usize,
    /// Digest notes that it should speak of and does not.
    pub lacks: usize,
    /// Why it is stale or unreadable, for a person.
    pub reasons: Vec<String>,
}

/// Whether a signal can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Freshness {
    /// It is young enough, and about this vault as it is.
    Fresh,
    /// Two runs were missed, it speaks of notes that are gone, or it lacks notes that are there.
    Stale,
    /// It was never computed.
    Missing,
    /// It can't be read.
    Unreadable,
}

/// What is asked of a signal that could be read.
#[derive(Default)]
struct Asked {
    /// Hours between its runs; `None` for one that has no schedule.
    hours: Option<i64>,
    /// Whether it should speak of all digest notes.
    complete: bool,
    /// How many notes it speaks of, and how many of these there are.
    of: usize,
    there: usize,
}

fn there<'a>(inputs: &Inputs<'_>, named: impl IntoIterator<Item = &'a NotePath>) -> usize {
    let mut digests = inputs.digests.iter().map(|d| d.path()).peekable();
    let is_there = |path: &&NotePath| {
        while digests.next_if(|have| *have < *path).is_some() {}
        digests.peek().is_some_and(|have| *have == *path)
    };
    named.into_iter().filter(is_there).count()
}

fn state<T: Artefact>(
    inputs: &Inputs<'_>,
    loaded: &Loaded<T>,
    now: DateTime<FixedOffset>,
    ask: impl FnOnce(&T) -> Asked,
) -> SignalState {
    let file = T::FILE.to_owned();
    let Some(found) = &loaded.value else {
        let state = if loaded.problem.is_some() { Freshness::Unreadable } else { Freshness::Missing };
        let reasons = loaded.problem.iter().map(|problem| problem.message.clone()).collect();
        return SignalState { file, state, computed_at: None, age_hours: None, gone: 0, lacks: 0, reasons };
    };
    let asked = ask(found);
    let computed_at = found.computed_at();
    let age = now.to_utc().signed_duration_since(computed_at);
    let mut reasons = Vec::new();
    if asked.hours.is_some_and(|hours| age > Duration::hours(2 * hours.max(1))) {
        reasons.push(format!("was computed {} days ago", age.num_days()));
    } else if age < -Duration::hours(1) {
        reasons.push("was computed in the future: the clock was wrong".to_owned());
    }
    let gone = asked.of - asked.there;
    let lacks = if asked.complete { inputs.digests.len() - asked.there } else { 0 };
    if gone > 0 {
        reasons.push(format!("names {gone} notes that are gone"));
    }
    if lacks > 0 {
        reasons.push(format!("lacks {lacks} notes"));
    }
    let state = if reasons.is_empty() { Freshness::Fresh } else { Freshness::Stale };
    let age_hours = Some(u64::try_from(age.num_hours()).unwrap_or(0));
    SignalState { file, state, computed_at: Some(computed_at), age_hours, gone, lacks, reasons }
}
