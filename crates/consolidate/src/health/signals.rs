//! The checks that look at the derived signals: readable, fresh, and about this vault; and what the
//! dream ledger says of material that waits.

use std::collections::BTreeSet;

use chrono::{DateTime, Duration, FixedOffset, Utc};
use dormouse_vault::meta::{
    AccessLog, Archived, Artefact, Communities, Cooldowns, DreamLedger, DreamOutcome, Loaded, Recency,
};
use dormouse_vault::{NotePath, Vault, material};

use super::{Finding, FindingKind, Severity};
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
        }
    }

    pub(super) fn check(
        &self,
        inputs: &Inputs,
        config: &ConsolidateConfig,
        now: DateTime<FixedOffset>,
        out: &mut Vec<Finding>,
    ) {
        unreadable(&self.communities, out);
        unreadable(&self.recency, out);
        unreadable(&self.archived, out);
        unreadable(&self.ledger, out);
        unreadable(&self.access_log, out);
        unreadable(&self.cooldowns, out);
        let (weekly, daily) = (i64::from(config.schedule.weekly_hours), i64::from(config.schedule.daily_hours));
        if let Some(found) = &self.communities.value {
            let members: BTreeSet<&NotePath> = found.communities.iter().flat_map(|c| &c.members).collect();
            let complete = config.communities.list_singletons.then_some(&members);
            stale(inputs, Communities::FILE, found.computed_at, weekly, now, &members, complete, out);
        }
        if let Some(found) = &self.recency.value {
            let notes: BTreeSet<&NotePath> = found.notes.keys().collect();
            stale(inputs, Recency::FILE, found.computed_at, daily, now, &notes, Some(&notes), out);
        }
        if let Some(found) = &self.archived.value {
            let notes: BTreeSet<&NotePath> = found.notes.keys().collect();
            stale(inputs, Archived::FILE, found.computed_at, daily, now, &notes, None, out);
        }
        self.material(inputs, out);
    }

    /// Material that no dream has taken in at its present content.
    fn material(&self, inputs: &Inputs, out: &mut Vec<Finding>) {
        let ledger = self.ledger.value.as_ref();
        let mut pending = 0_usize;
        for path in material::pending(&inputs.snapshot, ledger) {
            match ledger.and_then(|l| l.materials.get(&path)).map(|d| &d.outcome) {
                Some(DreamOutcome::Pending { reason, tries }) => out.push(failed(&path, reason, *tries)),
                _ => pending += 1,
            }
        }
        if pending > 0 {
            out.push(Finding {
                severity: Severity::Notice,
                kind: FindingKind::PendingMaterial,
                path: None,
                line: None,
                message: format!("material that waits for a dream: {pending}; run `dormouse dream`"),
            });
        }
    }
}

fn failed(path: &NotePath, reason: &str, tries: u32) -> Finding {
    let reason = reason.lines().next().unwrap_or("no reason given");
    Finding {
        severity: Severity::Warning,
        kind: FindingKind::FailedMaterial,
        path: Some(path.clone()),
        line: None,
        message: format!("could not be dreamed ({tries} tries): {reason}"),
    }
}

fn unreadable<T: Artefact>(loaded: &Loaded<T>, out: &mut Vec<Finding>) {
    if let Some(problem) = &loaded.problem {
        out.push(Finding {
            severity: Severity::Warning,
            kind: FindingKind::StaleMeta,
            path: None,
            line: problem.line,
            message: format!("{}: {}", T::FILE, problem.message),
        });
    }
}

/// A signal is stale when two runs were missed, when it speaks of notes that are gone, or when it
/// lacks notes that are there.
#[expect(clippy::too_many_arguments, reason = "one check for three files")]
fn stale(
    inputs: &Inputs,
    file: &str,
    computed_at: DateTime<Utc>,
    hours: i64,
    now: DateTime<FixedOffset>,
    named: &BTreeSet<&NotePath>,
    complete: Option<&BTreeSet<&NotePath>>,
    out: &mut Vec<Finding>,
) {
    let mut reasons = Vec::new();
    let age = now.to_utc().signed_duration_since(computed_at);
    if age > Duration::hours(2 * hours.max(1)) {
        reasons.push(format!("was computed {} days ago", age.num_days()));
    } else if age < -Duration::hours(1) {
        reasons.push("was computed in the future: the clock was wrong".to_owned());
    }
    let gone = named.iter().filter(|path| inputs.digest(path).is_none()).count();
    if gone > 0 {
        reasons.push(format!("names {gone} notes that are gone"));
    }
    let missing = complete.map_or(0, |have| inputs.digests.iter().filter(|d| !have.contains(d.path())).count());
    if missing > 0 {
        reasons.push(format!("lacks {missing} notes"));
    }
    if !reasons.is_empty() {
        out.push(Finding {
            severity: Severity::Notice,
            kind: FindingKind::StaleMeta,
            path: None,
            line: None,
            message: format!("{file} {}: run `dormouse consolidate`", reasons.join(", ")),
        });
    }
}
