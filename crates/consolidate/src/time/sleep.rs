//! Sleep: which notes fall asleep, which wake, and what a person is told of each.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use dormouse_vault::meta::{Archived, ArchivedNote, Recency};
use dormouse_vault::{DateSource, Layer, NotePath, Vault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Along, Past, by, within};
use crate::config::TimeConfig;
use crate::inputs::Inputs;

/// One night: who sleeps after it.
pub(super) struct Night {
    pub(super) asleep: BTreeMap<NotePath, ArchivedNote>,
    pub(super) fell_asleep: Vec<NotePath>,
    pub(super) woke: Vec<NotePath>,
    /// Notes below the threshold that something keeps awake.
    pub(super) protected: usize,
}

/// Puts to sleep what is below the threshold and kept awake by nothing. A note that slept keeps its
/// day; one that is `unknown` to the clock stays as it was. Linear, but for the links of sleepers.
pub(super) fn fall(
    inputs: &Inputs<'_>,
    recency: &Recency,
    past: &Past<'_>,
    unknown: &[bool],
    config: &TimeConfig,
    today: NaiveDate,
) -> Night {
    let mut before = past.archived.map(|a| Along::new(&a.notes));
    let mut scores = Along::new(&recency.notes);
    let mut night = Night { asleep: BTreeMap::new(), fell_asleep: Vec::new(), woke: Vec::new(), protected: 0 };
    for (at, digest) in inputs.digests.iter().enumerate() {
        let path = digest.path();
        let slept = before.as_mut().and_then(|b| b.at(path));
        let Some(score) = scores.at(path).map(|s| s.score) else {
            continue;
        };
        let unknown = unknown.get(at).copied().unwrap_or(false);
        let (low, kept) = if unknown {
            (slept.is_some(), past.looked.get(at).is_some_and(|l| l.pinned))
        } else if score < config.archive_below {
            let kept = past.looked.get(at).is_some_and(|l| l.pinned || l.rule);
            (true, kept || is_leaned_on(inputs, path, recency, config, today))
        } else {
            (false, false)
        };
        match (low && !kept, slept) {
            (true, Some(slept)) if unknown => {
                night.asleep.insert(path.clone(), slept.clone());
            }
            (true, Some(slept)) => {
                let since = slept.since.min(today);
                night.asleep.insert(path.clone(), ArchivedNote { since, score: slept.score });
            }
            (true, None) => {
                night.asleep.insert(path.clone(), ArchivedNote { since: today, score });
                night.fell_asleep.push(path.clone());
            }
            (false, Some(_)) => night.woke.push(path.clone()),
            (false, None) => {}
        }
        night.protected += usize::from(low && kept);
    }
    night
}

/// Whether a note that is itself awake links here: what living notes lean on does not sleep. Of
/// notes outside the digests those count that are dated within τ.
fn is_leaned_on(
    inputs: &Inputs<'_>,
    path: &NotePath,
    recency: &Recency,
    config: &TimeConfig,
    today: NaiveDate,
) -> bool {
    let awake = |source: &NotePath| match recency.notes.get(source) {
        Some(score) => score.score >= config.archive_below,
        None => inputs.snapshot.note(source).is_some_and(|note| {
            let day = note.date.filter(|d| d.source != DateSource::Mtime).and_then(|d| by(d.day, today));
            let lives = matches!(note.layer, Layer::Other | Layer::Daily) && note.is_live();
            lives && day.is_some_and(|d| within(d, today, config.tau_days as u32))
        }),
    };
    inputs.snapshot.graph().in_edges(path).into_iter().any(|edge| edge.source != path && awake(edge.source))
}

/// A note that sleeps, for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sleeper {
    /// The note.
    pub path: NotePath,
    /// Its name.
    pub name: String,
    /// The day that it fell asleep.
    pub since: NaiveDate,
    /// Its recency at the last run, 0..=1; that of falling asleep when no other is known.
    pub score: f64,
    /// The last day that it was written, cited anew or used; `None` when that is not known.
    pub last_active: Option<NaiveDate>,
    /// Days with a hit among the last thirty, at the last run.
    pub hits_30: u32,
    /// Notes that link to it now.
    pub inbound: usize,
    /// Why, in one sentence.
    pub why: String,
}

/// The notes that sleep, as the last run of time left them and as far as they are still there: the
/// longest asleep first, then by path. Reads `meta/archived.json` and `meta/recency.json`.
#[must_use]
pub fn sleepers(vault: &Vault, config: &TimeConfig, today: NaiveDate) -> Vec<Sleeper> {
    let Some(archived) = vault.meta::<Archived>().value else {
        return Vec::new();
    };
    let recency = vault.meta::<Recency>().value;
    let snapshot = vault.snapshot();
    let mut out: Vec<Sleeper> = Vec::new();
    for (path, asleep) in archived.notes {
        let Some(note) = snapshot.note(&path) else {
            continue;
        };
        let known = recency.as_ref().and_then(|r| r.notes.get(&path));
        let inbound = snapshot.graph().inbound(&path);
        let (score, hits_30) = known.map_or((asleep.score, 0), |k| (k.score, k.hits_30));
        let last_active = known.map(|k| k.last_active);
        let idle = last_active.map(|day| today.signed_duration_since(day).num_days().max(0));
        let why = why(idle, hits_30, inbound, score, config.archive_below);
        let name = note.name.to_string();
        out.push(Sleeper { path, name, since: asleep.since, score, last_active, hits_30, inbound, why });
    }
    out.sort_by(|a, b| a.since.cmp(&b.since).then_with(|| a.path.cmp(&b.path)));
    out
}

fn why(idle: Option<i64>, hits: u32, inbound: usize, score: f64, below: f64) -> String {
    let counted = |n: u64, one: &str, many: &str| match n {
        0 => format!("no {many}"),
        1 => format!("one {one}"),
        n => format!("{n} {many}"),
    };
    let idle =
        idle.map_or_else(|| "not used for long".to_owned(), |days| format!("not written or used for {days} days"));
    format!(
        "{idle}, {} within thirty days, {}: recency {score:.3} is below {below}",
        counted(u64::from(hits), "day with a hit", "hits"),
        counted(inbound as u64, "link to it", "links to it"),
    )
}
