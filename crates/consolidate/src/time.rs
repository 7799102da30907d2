//! Time: folds what was used into the access log, ages every digest note, and decides which sleep.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Datelike, FixedOffset, NaiveDate};
use dormouse_vault::meta::{
    AccessLog, Archived, ArchivedNote, Artefact, DreamLedger, DreamOutcome, Recency, RecencyScore,
};
use dormouse_vault::{AccessHit, Bucket, DateSource, Layer, Note, NotePath};

use crate::communities::round;
use crate::config::TimeConfig;
use crate::error::ConsolidateError;
use crate::inputs::{Digest, Inputs};
use crate::progress::Watch;
use crate::state::Seen;

/// What earlier runs left.
pub(crate) struct Past<'a> {
    pub(crate) log: Option<&'a AccessLog>,
    pub(crate) archived: Option<&'a Archived>,
    pub(crate) ledger: Option<&'a DreamLedger>,
    pub(crate) seen: &'a BTreeMap<NotePath, Seen>,
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
    inputs: &Inputs,
    hits: &[AccessHit],
    past: &Past<'_>,
    config: &TimeConfig,
    now: DateTime<FixedOffset>,
    watch: &Watch<'_>,
) -> Result<Outcome, ConsolidateError> {
    watch.begin(inputs.digests.len());
    let today = now.date_naive();
    let log = fold(past.log, hits, inputs, config, now);
    let dreamed = dreamed_days(past.ledger, now);
    let mut notes = BTreeMap::new();
    for (at, digest) in inputs.digests.iter().enumerate() {
        if at % 256 == 0 {
            watch.step(at)?;
        }
        let days = log.notes.get(digest.path());
        let hits_30 =
            days.map_or(0, |d| d.keys().filter(|day| within(**day, today, config.window_days)).count() as u32);
        let last_hit = days.and_then(|d| d.keys().next_back().copied());
        let last_active = last_active(inputs, digest, last_hit, past, &dreamed, today);
        let age = u32::try_from(today.signed_duration_since(last_active).num_days()).unwrap_or(0);
        let score = recency(age, hits_30, inputs.snapshot.graph().inbound(digest.path()), config);
        notes.insert(digest.path().clone(), RecencyScore { score, last_active, hits_30 });
    }
    let computed_at = now.to_utc();
    let recency = Recency { version: Recency::VERSION, computed_at, notes };
    let (asleep, protected) = sleepers(inputs, &recency, past.archived, config, today);
    let before: BTreeSet<NotePath> = past.archived.map(|a| a.notes.keys().cloned().collect()).unwrap_or_default();
    let fell_asleep = asleep.keys().filter(|p| !before.contains(*p)).cloned().collect();
    // A note that is gone has not woken up.
    let woke = before.into_iter().filter(|p| !asleep.contains_key(p) && recency.notes.contains_key(p)).collect();
    let archived = Archived { version: Archived::VERSION, computed_at, notes: asleep };
    Ok(Outcome { log, recency, archived, fell_asleep, woke, protected })
}

/// The log with `hits` folded in: one entry a note and day, the strongest use of the day. Hits from
/// the future count for today. Days beyond the window are kept up to a number a note; notes that
/// are gone are forgotten after the window. Folding the same hits again changes nothing.
fn fold(
    log: Option<&AccessLog>,
    hits: &[AccessHit],
    inputs: &Inputs,
    config: &TimeConfig,
    now: DateTime<FixedOffset>,
) -> AccessLog {
    let today = now.date_naive();
    let mut notes = log.map(|l| l.notes.clone()).unwrap_or_default();
    for hit in hits {
        let day = hit.at.date_naive().min(today);
        let kind = notes.entry(hit.path.clone()).or_default().entry(day).or_insert(hit.kind);
        *kind = (*kind).max(hit.kind);
    }
    for days in notes.values_mut() {
        let future: Vec<NaiveDate> = days.range(today..).map(|(d, _)| *d).filter(|d| *d > today).collect();
        for day in future {
            if let Some(kind) = days.remove(&day) {
                let of_today = days.entry(today).or_insert(kind);
                *of_today = (*of_today).max(kind);
            }
        }
        let old: Vec<NaiveDate> =
            days.keys().rev().filter(|d| !within(**d, today, config.window_days)).copied().collect();
        for day in old.into_iter().skip(config.history_days) {
            days.remove(&day);
        }
    }
    notes.retain(|path, days| {
        let recent = days.keys().next_back().is_some_and(|d| within(*d, today, config.window_days));
        recent || (!days.is_empty() && inputs.snapshot.exists(path))
    });
    AccessLog { version: AccessLog::VERSION, computed_at: now.to_utc(), notes }
}

/// Whether `day` is one of the `window` days that end with `today`.
fn within(day: NaiveDate, today: NaiveDate, window: u32) -> bool {
    (0..i64::from(window)).contains(&today.signed_duration_since(day).num_days())
}

/// The last day on which each digest note was dreamed, as the ledger knows it.
fn dreamed_days(ledger: Option<&DreamLedger>, now: DateTime<FixedOffset>) -> BTreeMap<NotePath, NaiveDate> {
    let mut out: BTreeMap<NotePath, NaiveDate> = BTreeMap::new();
    for dreamed in ledger.into_iter().flat_map(|l| l.materials.values()) {
        if let DreamOutcome::Done { subjects, .. } = &dreamed.outcome {
            let day = dreamed.at.with_timezone(now.offset()).date_naive();
            for subject in subjects {
                let last = out.entry(subject.clone()).or_insert(day);
                *last = (*last).max(day);
            }
        }
    }
    out
}

/// The last day that the note was written, dated or hit, as far as anything but its mtime tells:
/// its own dates, the newest source that it cites, an edit that was seen, a hit; else the ledger;
/// else its mtime. Days in the future are today.
fn last_active(
    inputs: &Inputs,
    digest: &Digest,
    last_hit: Option<NaiveDate>,
    past: &Past<'_>,
    dreamed: &BTreeMap<NotePath, NaiveDate>,
    today: NaiveDate,
) -> NaiveDate {
    let note = &digest.note;
    let own = own_dates(note);
    let sources =
        inputs.snapshot.graph().out_edges(&note.path).into_iter().filter(|e| inputs.position(e.target).is_none());
    let cited = sources.filter_map(|e| source_date(inputs, e.target));
    let written = past.seen.get(&note.path).and_then(|s| s.written);
    let known = own.into_iter().chain(cited).chain(written).chain(last_hit).max();
    let known = known.or_else(|| dreamed.get(&note.path).copied());
    known.unwrap_or_else(|| modified(note).unwrap_or(today)).min(today)
}

/// The dates of the note's own frontmatter and path.
fn own_dates(note: &Note) -> Vec<NaiveDate> {
    let property = |key: &str| note.doc().frontmatter.text(key).and_then(iso_day);
    let stated = ["updated", "modified", "date", "created"].into_iter().filter_map(property);
    let other = note.date.filter(|d| d.source != DateSource::Mtime).map(|d| d.day);
    stated.chain(other).collect()
}

/// The date of something that a digest cites: a daily note or a resource.
fn source_date(inputs: &Inputs, path: &NotePath) -> Option<NaiveDate> {
    let stated =
        inputs.snapshot.note(path).and_then(|n| n.date).filter(|d| d.source != DateSource::Mtime).map(|d| d.day);
    stated.or_else(|| path.date())
}

fn iso_day(text: &str) -> Option<NaiveDate> {
    NaiveDate::parse_from_str(text.get(..10)?, "%Y-%m-%d").ok().filter(|d| d.year() > 0)
}

fn modified(note: &Note) -> Option<NaiveDate> {
    let seconds = i64::try_from(note.mtime_ns.div_euclid(1_000_000_000)).ok()?;
    DateTime::from_timestamp(seconds, 0).map(|at| at.date_naive())
}

/// The notes that sleep, with the number of those that would but for what keeps them awake.
fn sleepers(
    inputs: &Inputs,
    recency: &Recency,
    past: Option<&Archived>,
    config: &TimeConfig,
    today: NaiveDate,
) -> (BTreeMap<NotePath, ArchivedNote>, usize) {
    let mut asleep = BTreeMap::new();
    let mut protected = 0;
    for digest in &inputs.digests {
        let Some(score) = recency.notes.get(digest.path()).map(|s| s.score).filter(|s| *s < config.archive_below)
        else {
            continue;
        };
        if digest.note.is_pinned() || is_rule(digest) || is_leaned_on(inputs, digest.path(), recency, config, today) {
            protected += 1;
            continue;
        }
        let before = past.and_then(|a| a.notes.get(digest.path())).cloned();
        asleep.insert(digest.path().clone(), before.unwrap_or(ArchivedNote { since: today, score }));
    }
    (asleep, protected)
}

/// Whether a note that is itself awake links here: what living notes lean on does not sleep.
fn is_leaned_on(inputs: &Inputs, path: &NotePath, recency: &Recency, config: &TimeConfig, today: NaiveDate) -> bool {
    let awake = |source: &NotePath| match recency.notes.get(source) {
        Some(score) => score.score >= config.archive_below,
        None => inputs.snapshot.note(source).is_some_and(|note| {
            let day = note.date.filter(|d| d.source != DateSource::Mtime).map(|d| d.day);
            note.layer == Layer::Other && day.is_some_and(|d| within(d, today, config.tau_days as u32))
        }),
    };
    inputs.snapshot.graph().in_edges(path).into_iter().any(|edge| edge.source != path && awake(edge.source))
}

/// Words of a rule that holds until it is revoked.
const RULES_EN: [&str; 7] = ["never", "always", "must", "don't", "don’t", "do not", "forbidden"];
const RULES_ZH: [&str; 12] =
    ["不要", "禁止", "必须", "永远", "绝不", "务必", "切勿", "总是", "不得", "不许", "一定要", "千万"];

/// Whether a note of `personal` or `procedure` states a rule: age does not make it less true.
fn is_rule(digest: &Digest) -> bool {
    if !matches!(digest.bucket(), Some(Bucket::Personal | Bucket::Procedure)) {
        return false;
    }
    let description = digest.note.description.as_deref().unwrap_or("");
    let text = format!("{}\n{description}\n{}", digest.note.name, digest.statement()).to_lowercase();
    RULES_ZH.iter().any(|cue| text.contains(cue)) || RULES_EN.iter().any(|cue| has_words(&text, cue))
}

/// Whether `cue` stands in `text` as whole words.
fn has_words(text: &str, cue: &str) -> bool {
    text.match_indices(cue).any(|(at, found)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
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
    fn rules_are_found_as_whole_words() {
        assert!(has_words("you must not", "must"));
        assert!(!has_words("mustard", "must"));
        assert!(has_words("never.", "never"));
    }
}
