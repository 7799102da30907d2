//! Time: folds what was used into the access log, ages every digest note, and decides which sleep.
//!
//! Days are calendar days, each in the zone of whoever wrote it down, so that summer time, a
//! journey and a server elsewhere move nothing by more than a day; "tomorrow" counts as today. A day
//! further ahead is a clock that was wrong, on one side or the other: it is kept and says nothing
//! until the clock gets there.

mod active;
mod fold;
mod rules;
mod sleep;

use std::collections::BTreeMap;
use std::collections::btree_map;
use std::iter::Peekable;

use chrono::{DateTime, Duration, FixedOffset, NaiveDate};
use dormouse_vault::meta::{AccessLog, Archived, Artefact, DreamLedger, Recency, RecencyScore};
use dormouse_vault::{AccessHit, NotePath};

pub(crate) use active::Dates;
pub(crate) use rules::is_rule;
pub use sleep::{Sleeper, sleepers};

use crate::communities::round;
use crate::config::TimeConfig;
use crate::error::ConsolidateError;
use crate::inputs::Inputs;
use crate::progress::Watch;
use crate::state::Looked;
use crate::ties::Ties;

/// What earlier runs left.
pub(crate) struct Past<'a> {
    pub(crate) log: Option<&'a AccessLog>,
    pub(crate) recency: Option<&'a Recency>,
    pub(crate) archived: Option<&'a Archived>,
    pub(crate) ledger: Option<&'a DreamLedger>,
    /// What the look of now has of each digest note, in the order of the inputs.
    pub(crate) looked: &'a [Looked],
    /// What its links say, in the same order.
    pub(crate) ties: &'a [Ties],
}

/// What one run of the task computed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) log: AccessLog,
    pub(crate) recency: Recency,
    pub(crate) archived: Archived,
    pub(crate) fell_asleep: Vec<NotePath>,
    pub(crate) woke: Vec<NotePath>,
    /// Notes below the threshold that something keeps awake.
    pub(crate) protected: usize,
    /// Notes with no day that the clock can make sense of: they stay as they were.
    pub(crate) undated: usize,
}

/// How fresh a note is, 0..=1: `exp(-Δt/τ) · (1 + ln(1 + hits)) · (1 + ln(1 + inbound)/SCALE)`,
/// clamped. `days` since it was last active, `hits` the days with a hit in the window, `inbound`
/// the notes that link to it.
#[must_use]
pub fn recency(days: u32, hits: u32, inbound: usize, config: &TimeConfig) -> f64 {
    let tau = if config.tau_days > 0.0 { config.tau_days } else { TimeConfig::default().tau_days };
    let scale = if config.inbound_scale > 0.0 { config.inbound_scale } else { TimeConfig::default().inbound_scale };
    let decay = (-f64::from(days) / tau).exp();
    let used = 1.0 + f64::from(hits).ln_1p();
    let leaned_on = 1.0 + (inbound as f64).ln_1p() / scale;
    round((decay * used * leaned_on).clamp(0.0, 1.0))
}

/// Ages all digest notes. Linear in the notes, their links and the log.
pub(crate) fn compute(
    inputs: &Inputs<'_>,
    hits: &[AccessHit],
    past: &Past<'_>,
    config: &TimeConfig,
    now: DateTime<FixedOffset>,
    watch: &Watch<'_>,
) -> Result<Outcome, ConsolidateError> {
    watch.begin(inputs.digests.len());
    let today = now.date_naive();
    let log = fold::fold(past.log, hits, inputs, config, now, watch)?;
    let dreamed = active::dreamed_days(past.ledger, now);
    let mut log_of = Along::new(&log.notes);
    let mut last_of = past.recency.map(|r| Along::new(&r.notes));
    let nothing = Ties::default();
    let (mut notes, mut unknown): (Vec<(NotePath, RecencyScore)>, Vec<bool>) =
        (Vec::with_capacity(inputs.digests.len()), Vec::with_capacity(inputs.digests.len()));
    for (at, digest) in inputs.digests.iter().enumerate() {
        if at % 256 == 0 {
            watch.step(at)?;
        }
        let path = digest.path();
        let ties = past.ties.get(at).unwrap_or(&nothing);
        let days = log_of.at(path);
        let hits_30 = days.map_or(0, |days| days.keys().filter(|d| within(**d, today, config.window_days)).count());
        let hits_30 = u32::try_from(hits_30).unwrap_or(u32::MAX);
        let last = last_of.as_mut().and_then(|l| l.at(path));
        let evidence = active::Evidence {
            looked: past.looked.get(at),
            hits: days,
            last: last.map(|l| l.last_active),
            dreamed: dreamed.get(path).copied(),
            source: ties.newest_source,
            note: &digest.note,
        };
        let known = active::last_active(&evidence, today);
        unknown.push(known.is_none());
        let score = match (known, last) {
            (Some(last_active), _) => {
                let age = u32::try_from(today.signed_duration_since(last_active).num_days()).unwrap_or(0);
                let score = recency(age, hits_30, ties.inbound, config);
                RecencyScore { score, last_active, hits_30 }
            }
            (None, Some(last)) => RecencyScore { hits_30, ..last.clone() },
            (None, None) => {
                let score = recency(0, hits_30, ties.inbound, config);
                RecencyScore { score, last_active: today, hits_30 }
            }
        };
        notes.push((path.clone(), score));
    }
    let computed_at = now.to_utc();
    let recency =
        Recency { version: Recency::VERSION, computed_at, notes: notes.into_iter().collect::<BTreeMap<_, _>>() };
    watch.check()?;
    let undated = unknown.iter().filter(|unknown| **unknown).count();
    let night = sleep::fall(inputs, &recency, past, &unknown, config, today);
    let archived = Archived { version: Archived::VERSION, computed_at, notes: night.asleep };
    Ok(Outcome {
        log,
        recency,
        archived,
        fell_asleep: night.fell_asleep,
        woke: night.woke,
        protected: night.protected,
        undated,
    })
}

/// Whether `day` is one of the `window` days that end with `today`, or tomorrow: it is that already
/// somewhere.
fn within(day: NaiveDate, today: NaiveDate, window: u32) -> bool {
    window > 0 && (-1..i64::from(window)).contains(&today.signed_duration_since(day).num_days())
}

/// The day as far as the clock can make sense of it: none after tomorrow, and tomorrow is today.
pub(crate) fn by(day: NaiveDate, today: NaiveDate) -> Option<NaiveDate> {
    let ahead = day.signed_duration_since(today);
    (ahead <= Duration::days(1)).then(|| day.min(today))
}

/// A map read along with keys that come in its order, without a search for each.
struct Along<'a, V> {
    rest: Peekable<btree_map::Iter<'a, NotePath, V>>,
}

impl<'a, V> Along<'a, V> {
    fn new(map: &'a BTreeMap<NotePath, V>) -> Self {
        Self { rest: map.iter().peekable() }
    }

    /// The value of `path`, which lies behind all that were asked for before.
    fn at(&mut self, path: &NotePath) -> Option<&'a V> {
        while self.rest.next_if(|(have, _)| *have < path).is_some() {}
        self.rest.next_if(|(have, _)| *have == path).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(days: u32, hits: u32, inbound: usize, expected: f64) {
        let got = recency(days, hits, inbound, &TimeConfig::default());
        assert!((got - expected).abs() < 1e-6, "{got} is not {expected}");
    }

    #[test]
    fn recency_follows_the_formula_and_stays_in_bounds() {
        check(0, 0, 0, 1.0);
        check(60, 0, 0, 0.367_879);
        check(120, 0, 0, 0.135_335);
        check(120, 0, 3, 0.135_335 * (1.0 + 4.0_f64.ln() / 10.0));
        check(120, 2, 0, 0.135_335 * (1.0 + 3.0_f64.ln()));
        check(0, 30, 500, 1.0);
        check(u32::MAX, 30, 500, 0.0);
    }

    #[test]
    fn a_note_without_hits_and_links_sleeps_after_114_days() {
        let config = TimeConfig::default();
        assert!(recency(113, 0, 0, &config) >= config.archive_below);
        assert!(recency(114, 0, 0, &config) < config.archive_below);
    }

    #[test]
    fn tomorrow_is_today_somewhere_and_what_lies_further_ahead_says_nothing() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        let today = day("2026-11-30");
        assert_eq!(by(day("2026-11-29"), today), Some(day("2026-11-29")));
        assert_eq!(by(day("2026-12-01"), today), Some(today));
        assert_eq!(by(day("2026-12-02"), today), None);
        assert_eq!(by(day("9999-12-31"), today), None);
        let kept = ["2026-12-02", "2026-12-01", "2026-11-30", "2026-11-01", "2026-10-31", "0001-01-01"];
        let kept: Vec<bool> = kept.iter().map(|d| within(day(d), today, 30)).collect();
        assert_eq!(kept, [false, true, true, true, false, false]);
    }
}
