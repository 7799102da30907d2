//! `dormouse status`: the health panel of the cycle. It only looks.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use chrono::{DateTime, FixedOffset, Utc};
use dormouse_consolidate::{
    ConsolidateConfig, FindingKind, Freshness, HealthReport, KindCount, LastRuns, SignalState, Task, examine,
};
use dormouse_vault::meta::{AccessLog, Archived, Communities, DreamLedger, DreamOutcome};
use dormouse_vault::{Layer, Problem, Vault};
use serde::Serialize;

use super::{Scene, warn};
use crate::output::{Output, bold, dim};

/// How many entries of one list are shown or printed; the rest is counted.
const MOST: usize = 50;
/// The same on the panel.
const MOST_SHOWN: usize = 10;

/// The fields of `--json`, as docs/consolidate.md names them.
#[derive(Debug, Serialize)]
struct Reply {
    vault: PathBuf,
    read_only: bool,
    /// Notes by layer; digests by bucket.
    notes: BTreeMap<String, usize>,
    files: usize,
    links: usize,
    unresolved: usize,
    /// Material that waits for a dream.
    pending: usize,
    /// Material whose last dream failed, with the reason: the first of them.
    failed: BTreeMap<String, String>,
    failed_total: usize,
    communities: usize,
    archived: usize,
    /// When each stage last did what.
    stages: Stages,
    signals: Vec<SignalState>,
    health: Health,
    /// What is wrong with files: the first of them.
    problems: Vec<FileProblem>,
    problems_total: usize,
}

#[derive(Debug, Serialize)]
struct Stages {
    /// The last dream that wrote its ledger.
    dream: Option<DateTime<Utc>>,
    /// The tasks of consolidate by name.
    consolidate: BTreeMap<&'static str, Ran>,
    /// The last note that was returned or read.
    recall: Option<DateTime<FixedOffset>>,
}

#[derive(Debug, Serialize)]
struct Ran {
    /// When it last ended well.
    at: Option<DateTime<Utc>>,
    /// When it failed, when that was its last end.
    failed: Option<DateTime<Utc>>,
}

#[derive(Debug, Serialize)]
struct Health {
    severe: usize,
    warnings: usize,
    notices: usize,
    counts: Vec<KindCount>,
}

#[derive(Debug, Serialize)]
struct FileProblem {
    path: String,
    #[serde(flatten)]
    problem: Problem,
}

pub(crate) fn run(scene: &Scene, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    let (config, problems) = vault.settings().section::<ConsolidateConfig>("consolidate");
    warn(&problems);
    let health = examine(&vault, &config, scene.clock().now(), &|| false)?;
    let reply = look(&vault, health);
    out.emit(&reply, |w| page(w, &reply, scene.clock().now_utc()))?;
    Ok(0)
}

fn look(vault: &Vault, health: HealthReport) -> Reply {
    let snapshot = vault.snapshot();
    let mut notes: BTreeMap<String, usize> = BTreeMap::new();
    for note in snapshot.notes() {
        let name = note.bucket.map_or_else(|| note.layer.to_string(), |b| format!("{}/{b}", Layer::Digest));
        *notes.entry(name).or_default() += 1;
    }
    let ledger = vault.meta::<DreamLedger>().value;
    let mut failed: BTreeMap<String, String> = BTreeMap::new();
    for (path, dreamed) in ledger.iter().flat_map(|l| &l.materials) {
        if let DreamOutcome::Pending { reason, .. } = &dreamed.outcome {
            failed.insert(path.to_string(), reason.clone());
        }
    }
    let failed_total = failed.len();
    let unreadable = |signal: &SignalState| {
        let path = format!("{}/{}", vault.layout().meta, signal.file);
        let problem = |message: &String| Problem {
            kind: dormouse_vault::ProblemKind::Meta,
            line: None,
            message: message.clone(),
        };
        let reason = signal.reasons.first().filter(|_| signal.state == Freshness::Unreadable);
        reason.map(|message| FileProblem { path, problem: problem(message) })
    };
    let mut problems: Vec<FileProblem> = health.signals.iter().filter_map(unreadable).collect();
    problems.extend(vault.problems().iter().map(|p| FileProblem { path: ".".into(), problem: p.clone() }));
    problems.extend(snapshot.problems().into_iter().map(|(path, problem)| FileProblem { path, problem }));
    let problems_total = problems.len();
    problems.truncate(MOST);
    Reply {
        vault: vault.root().to_path_buf(),
        read_only: vault.is_read_only(),
        files: snapshot.files().count(),
        links: snapshot.graph().edge_count(),
        unresolved: snapshot.unresolved().len(),
        pending: dormouse_vault::material::pending(&snapshot, ledger.as_ref()).len(),
        failed: failed.into_iter().take(MOST).collect(),
        failed_total,
        communities: vault.meta::<Communities>().value.map_or(0, |c| c.communities.len()),
        archived: vault.meta::<Archived>().value.map_or(0, |a| a.notes.len()),
        stages: stages(vault, ledger.map(|l| l.computed_at)),
        notes,
        health: Health {
            severe: health.severe,
            warnings: health.warnings,
            notices: health.notices,
            counts: health.counts,
        },
        signals: health.signals,
        problems,
        problems_total,
    }
}

fn stages(vault: &Vault, dream: Option<DateTime<Utc>>) -> Stages {
    let runs = LastRuns::load(vault);
    let ran = |task: Task| (task.as_str(), Ran { at: runs.get(task), failed: runs.failed(task) });
    let spooled = vault.spool().read().ok().and_then(|spooled| spooled.hits.last().map(|hit| hit.at));
    let logged = || {
        let log = vault.meta::<AccessLog>().value?;
        let day = log.notes.values().filter_map(|days| days.keys().next_back()).max()?;
        Some(day.and_time(chrono::NaiveTime::MIN).and_utc().fixed_offset())
    };
    Stages { dream, consolidate: Task::ALL.into_iter().map(ran).collect(), recall: spooled.or_else(logged) }
}

fn page(w: &mut dyn Write, reply: &Reply, now: DateTime<Utc>) -> io::Result<()> {
    let mode = if reply.read_only { " (read-only)" } else { "" };
    writeln!(w, "{}{mode}", bold(reply.vault.display()))?;
    let total: usize = reply.notes.values().sum();
    writeln!(w, "\n{:<18} {total:>6}", "notes")?;
    reply.notes.iter().try_for_each(|(name, n)| writeln!(w, "  {name:<16} {n:>6}"))?;
    writeln!(w, "{:<18} {:>6}", "other files", reply.files)?;
    writeln!(w, "{:<18} {:>6}  {}", "links", reply.links, dim(format!("{} targets unresolved", reply.unresolved)))?;
    writeln!(w, "{:<18} {:>6}{}", "to dream", reply.pending, hint(reply.pending > 0, "`dormouse dream`"))?;
    writeln!(w, "{:<18} {:>6}", "communities", reply.communities)?;
    writeln!(w, "{:<18} {:>6}{}", "archived", reply.archived, hint(reply.archived > 0, "`dormouse archive list`"))?;

    writeln!(w, "\n{}", bold("Stages"))?;
    line(w, "dream", &when(reply.stages.dream, now), "")?;
    for task in Task::ALL {
        let ran = reply.stages.consolidate.get(task.as_str());
        let failed = ran.and_then(|r| r.failed).map(|at| format!("failed {}", when(Some(at), now)));
        line(w, task.as_str(), &when(ran.and_then(|r| r.at), now), &failed.unwrap_or_default())?;
    }
    line(w, "recall", &when(reply.stages.recall.map(|at| at.to_utc()), now), "")?;

    writeln!(w, "\n{}", bold("Signals"))?;
    for signal in &reply.signals {
        let state = match signal.state {
            Freshness::Fresh => "fresh",
            Freshness::Stale => "stale",
            Freshness::Missing => "missing",
            Freshness::Unreadable => "unreadable",
        };
        let said = match signal.state {
            Freshness::Fresh => when(signal.computed_at, now),
            Freshness::Missing if signal.file == "dreamed.json" => "`dormouse dream`".to_owned(),
            Freshness::Missing if signal.file == "cooldowns.json" => "nothing was split yet".to_owned(),
            Freshness::Missing => "`dormouse consolidate`".to_owned(),
            Freshness::Stale | Freshness::Unreadable => signal.reasons.join(", "),
        };
        line(w, &signal.file, state, &said)?;
    }

    writeln!(w, "\n{}", bold("Health"))?;
    for kind in SHOWN {
        let of = |c: &&KindCount| c.kind == kind;
        let count: usize = reply.health.counts.iter().filter(of).map(|c| c.count).sum();
        let severe =
            reply.health.counts.iter().any(|c| c.kind == kind && c.severity != dormouse_consolidate::Severity::Notice);
        writeln!(w, "  {:<26} {count:>6}{}", kind.name(), hint(severe, "`dormouse doctor`"))?;
    }
    for (path, reason) in reply.failed.iter().take(MOST_SHOWN) {
        writeln!(w, "\n{path} could not be dreamed: {reason}")?;
    }
    more(w, reply.failed_total, MOST_SHOWN)?;
    if !reply.problems.is_empty() {
        writeln!(w, "\n{}", bold("Problems"))?;
        reply.problems.iter().take(MOST_SHOWN).try_for_each(|p| writeln!(w, "  {}: {}", p.path, p.problem))?;
        more(w, reply.problems_total, MOST_SHOWN)?;
    }
    Ok(())
}

/// The kinds on the panel, in its order.
const SHOWN: [FindingKind; 13] = [
    FindingKind::BrokenProvenance,
    FindingKind::LinksLost,
    FindingKind::NoteGone,
    FindingKind::BrokenLink,
    FindingKind::MalformedFrontmatter,
    FindingKind::FileProblem,
    FindingKind::ConflictCopy,
    FindingKind::Oversize,
    FindingKind::Duplicates,
    FindingKind::Orphan,
    FindingKind::NoBucket,
    FindingKind::BucketImbalance,
    FindingKind::NoSource,
];

fn line(w: &mut dyn Write, name: &str, state: &str, said: &str) -> io::Result<()> {
    if said.is_empty() {
        writeln!(w, "  {name:<18} {state}")
    } else {
        writeln!(w, "  {name:<18} {state:<18} {}", dim(said))
    }
}

fn more(w: &mut dyn Write, total: usize, shown: usize) -> io::Result<()> {
    if total > shown { writeln!(w, "  and {} more", total - shown) } else { Ok(()) }
}

/// How long ago, or `never`.
fn when(at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> String {
    let Some(at) = at else {
        return "never".to_owned();
    };
    let age = now.signed_duration_since(at);
    match (age.num_days(), age.num_hours(), age.num_minutes()) {
        (_, _, ..0) => format!("ahead of the clock: {}", at.format("%Y-%m-%d")),
        (0, 0, 0) => "just now".to_owned(),
        (0, 0, minutes) => format!("{minutes} min ago"),
        (0 | 1, hours, _) => format!("{hours} h ago"),
        (days, ..) => format!("{days} days ago"),
    }
}

fn hint(wanted: bool, text: &str) -> String {
    if wanted { format!("  {}", dim(text)) } else { String::new() }
}
