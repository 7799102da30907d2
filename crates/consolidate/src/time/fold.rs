//! The access log: which note was used on which day.

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset, NaiveDate};
use dormouse_vault::AccessHit;
use dormouse_vault::meta::{AccessKind, AccessLog, Artefact};

use super::{by, within};
use crate::config::TimeConfig;
use crate::error::ConsolidateError;
use crate::inputs::Inputs;
use crate::progress::Watch;

/// The log with `hits` folded in: one entry a note and day, the strongest use of the day. The day
/// is that of the reader's own clock and zone, whenever it is folded: the same hits folded again, by
/// another machine or after a crash, change nothing. Days beyond the window are kept up to a number
/// a note, and so are days that have not come yet; notes that are gone are forgotten after the
/// window. Linear in the hits and the log.
pub(super) fn fold(
    log: Option<&AccessLog>,
    hits: &[AccessHit],
    inputs: &Inputs<'_>,
    config: &TimeConfig,
    now: DateTime<FixedOffset>,
    watch: &Watch<'_>,
) -> Result<AccessLog, ConsolidateError> {
    let today = now.date_naive();
    let mut notes = log.map(|l| l.notes.clone()).unwrap_or_default();
    for chunk in hits.chunks(4096) {
        watch.check()?;
        for hit in chunk {
            let kind = notes.entry(hit.path.clone()).or_default().entry(hit.at.date_naive()).or_insert(hit.kind);
            *kind = (*kind).max(hit.kind);
        }
    }
    notes.values_mut().for_each(|days| prune(days, config, today));
    notes.retain(|path, days| {
        let counts = days.keys().any(|day| within(*day, today, config.window_days));
        counts || (!days.is_empty() && inputs.snapshot.exists(path))
    });
    Ok(AccessLog { version: AccessLog::VERSION, computed_at: now.to_utc(), notes })
}

type Days = BTreeMap<NaiveDate, AccessKind>;

/// Drops the oldest days beyond the window, and the farthest of those to come, above `history_days`.
fn prune(days: &mut Days, config: &TimeConfig, today: NaiveDate) {
    if days.len() <= config.history_days {
        return;
    }
    let old = days.keys().rev().filter(|d| by(**d, today).is_some() && !within(**d, today, config.window_days));
    let ahead = days.keys().filter(|d| by(**d, today).is_none());
    // As many as are ever behind us: a clock that is set back must not cost what was used since.
    let most_ahead = config.history_days + config.window_days as usize + 1;
    let excess: Vec<NaiveDate> = old.skip(config.history_days).chain(ahead.skip(most_ahead)).copied().collect();
    for day in excess {
        days.remove(&day);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_stays_small_whichever_way_the_clock_was_wrong() {
        let today: NaiveDate = "2026-11-30".parse().unwrap();
        let config = TimeConfig { history_days: 5, ..TimeConfig::default() };
        let mut days: Days = (-400..400).map(|n| (today + chrono::Duration::days(n), AccessKind::Returned)).collect();
        prune(&mut days, &config, today);
        let first = days.keys().next().unwrap().to_string();
        let last = days.keys().next_back().unwrap().to_string();
        assert_eq!((days.len(), first.as_str(), last.as_str()), (5 + 31 + 36, "2026-10-27", "2027-01-06"));
    }
}
