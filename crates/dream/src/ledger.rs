//! The dream ledger: which material was dreamed, at which version.

use chrono::{DateTime, TimeDelta, Utc};
use dormouse_vault::meta::{Artefact, DreamLedger, DreamOutcome, Dreamed};
use dormouse_vault::{NotePath, Version};

use crate::config::DreamConfig;

/// An empty ledger.
pub(crate) fn empty(at: DateTime<Utc>) -> DreamLedger {
    DreamLedger { version: DreamLedger::VERSION, computed_at: at, materials: Default::default() }
}

/// Whether this very content was dreamed.
pub(crate) fn is_settled(ledger: &DreamLedger, path: &NotePath, version: Version) -> bool {
    matches!(
        ledger.materials.get(path),
        Some(Dreamed { content, outcome: DreamOutcome::Done { .. }, .. }) if *content == version
    )
}

/// Failed tries so far, for content of any version.
fn tries(ledger: &DreamLedger, path: &NotePath) -> u32 {
    match ledger.materials.get(path) {
        Some(Dreamed { outcome: DreamOutcome::Pending { tries, .. }, .. }) => *tries,
        _ => 0,
    }
}

/// Why this very content failed, and until when it is left alone; `None` when it may be tried.
pub(crate) fn resting(
    ledger: &DreamLedger,
    path: &NotePath,
    version: Version,
    now: DateTime<Utc>,
) -> Option<(String, DateTime<Utc>)> {
    let dreamed = ledger.materials.get(path).filter(|dreamed| dreamed.content == version)?;
    match &dreamed.outcome {
        DreamOutcome::Pending { reason, not_before: Some(until), .. } if *until > now => Some((reason.clone(), *until)),
        _ => None,
    }
}

/// What made a material fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The service could not be asked at all, which says nothing about the material.
    Service,
    /// The vault: somebody else wrote, or the disk refused. Trying again costs nothing.
    Vault,
    /// The model, asked about this material: trying again is paid for.
    Answer,
}

/// The entry of a material that failed. It is tried again at the next run; from its second failure on
/// each answer of no use doubles the time that it is left alone, from [`DreamConfig::retry_after`] to
/// [`DreamConfig::retry_within`].
pub(crate) fn failed(
    ledger: &DreamLedger,
    path: &NotePath,
    reason: String,
    cause: Cause,
    now: DateTime<Utc>,
    config: &DreamConfig,
) -> DreamOutcome {
    let before = tries(ledger, path);
    let next_run = |tries| DreamOutcome::Pending { reason: reason.clone(), tries, not_before: None };
    match (cause, before) {
        (Cause::Service, _) => return next_run(before),
        (Cause::Vault, _) | (Cause::Answer, 0) => return next_run(before.saturating_add(1)),
        (Cause::Answer, _) => {}
    }
    let factor = 1_u64.checked_shl((before - 1).min(32)).unwrap_or(u64::MAX);
    let minutes = config.retry_after.saturating_mul(factor).min(config.retry_within);
    let wait = i64::try_from(minutes).ok().and_then(TimeDelta::try_minutes);
    let not_before = wait.and_then(|wait| now.checked_add_signed(wait)).filter(|at| *at > now);
    DreamOutcome::Pending { reason, tries: before.saturating_add(1), not_before }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_material_that_fails_again_is_left_alone_for_twice_as_long_and_never_for_more_than_the_bound() {
        let now: DateTime<Utc> = "2026-11-30T12:00:00Z".parse().unwrap();
        let path = NotePath::new("daily/2026-11-29/a.md").unwrap();
        let version = Version::of(b"x");
        let config = DreamConfig::default();
        let mut ledger = empty(now);
        let mut waits = Vec::new();
        for _ in 0..41 {
            let outcome = failed(&ledger, &path, "why".into(), Cause::Answer, now, &config);
            let entry = Dreamed { content: version, at: now, by: "test".into(), outcome };
            ledger.materials.insert(path.clone(), entry);
            let until = resting(&ledger, &path, version, now).map(|(_, until)| until);
            waits.push(until.map(|until| (until - now).num_minutes()));
        }
        assert_eq!(&waits[..5], [None, Some(5), Some(10), Some(20), Some(40)]);
        assert_eq!(waits.last(), Some(&Some(1440)));
        assert_eq!(resting(&ledger, &path, Version::of(b"y"), now), None);
        assert_eq!(resting(&ledger, &path, version, now + TimeDelta::days(1)), None);
        let outcome = failed(&ledger, &path, "no key".into(), Cause::Service, now, &config);
        assert_eq!(outcome, DreamOutcome::Pending { reason: "no key".into(), tries: 41, not_before: None });
    }
}
