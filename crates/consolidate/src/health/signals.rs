//! The checks that look at the derived signals: readable, fresh, and about this vault; and what the
//! dream ledger says of material that waits.

use std::collections::BTreeSet;

use chrono::{DateTime, Duration, FixedOffset, Utc};
use dormouse_vault::meta::{
    AccessLog, Archived, Artefact, Communities, Cooldowns, DreamLedger, DreamOutcome, Loaded, Recency,
};
use dormouse_vault::{Layer, Note, NotePath, Snapshot, Vault};

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
        let known = |path: &NotePath| self.ledger.value.as_ref().and_then(|l| l.materials.get(path));
        let mut pending = 0_usize;
        for note in inputs.snapshot.notes().filter(|n| is_material(&inputs.snapshot, n)) {
            match known(&note.path).map(|d| (&d.outcome, d.content == note.version)) {
                Some((DreamOutcome::Done { .. }, true)) => {}
                Some((DreamOutcome::Pending { reason, tries }, _)) => out.push(failed(&note.path, reason, *tries)),
                _ => pending += 1,
            }
        }
        let layout = inputs.snapshot.layout();
        let texts = inputs.snapshot.files().filter(|f| layout.layer(f) == Layer::Resource && is_text(f));
        for file in texts {
            match known(file).map(|d| &d.outcome) {
                Some(DreamOutcome::Done { .. }) => {}
                Some(DreamOutcome::Pending { reason, tries }) => out.push(failed(file, reason, *tries)),
                None => pending += 1,
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

/// Whether a dream would look at the note: an event or a resource, live, not marked private. A
/// day's index, whose blocks all link to that day's events, is no event.
fn is_material(snapshot: &Snapshot, note: &Note) -> bool {
    if !note.is_live() || !note.utf8 || !matches!(note.layer, Layer::Daily | Layer::Resource) {
        return false;
    }
    let private = note.doc.frontmatter.properties.get("private");
    if private.is_some_and(|p| p.as_bool() == Some(true) || p.as_str() == Some("true")) {
        return false;
    }
    let in_root = note.layer == Layer::Daily && note.path.folder() == snapshot.layout().daily;
    if !in_root || note.path.date().is_none() || note.path.stem().chars().count() != 10 {
        return true;
    }
    let events = note.path.link_target();
    let to_events = |target: &NotePath| target.is_in(events);
    let linked = snapshot.graph().out_edges(&note.path).into_iter().filter(|e| to_events(e.target)).count();
    linked < note.doc.blocks.len()
}

/// Text files that are read as resources beside notes.
fn is_text(path: &NotePath) -> bool {
    const TEXT: [&str; 14] =
        ["txt", "text", "csv", "tsv", "json", "jsonl", "log", "yaml", "yml", "toml", "xml", "org", "rst", "tex"];
    TEXT.contains(&path.extension().to_ascii_lowercase().as_str())
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
