//! `dormouse status`: the health panel of the cycle.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use chrono::{DateTime, Utc};
use dormouse_recall::RecallConfig;
use dormouse_vault::meta::{AccessLog, Archived, Artefact, Communities, DreamLedger, DreamOutcome, Recency};
use dormouse_vault::{Layer, Problem, Vault};
use serde::Serialize;

use super::Scene;
use crate::output::{Output, bold, dim};

#[derive(Debug, Serialize)]
struct Reply {
    vault: PathBuf,
    read_only: bool,
    notes: BTreeMap<String, usize>,
    files: usize,
    links: usize,
    unresolved: usize,
    /// Material that waits for a dream.
    pending: usize,
    /// Material whose last dream failed, with the reason.
    failed: BTreeMap<String, String>,
    communities: usize,
    archived: usize,
    signals: Vec<Signal>,
    problems: Vec<FileProblem>,
}

#[derive(Debug, Serialize)]
struct Signal {
    name: &'static str,
    /// `fresh`, `stale` (too old for recall), `missing` or `unreadable`.
    state: &'static str,
    computed_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Serialize)]
struct FileProblem {
    path: String,
    #[serde(flatten)]
    problem: Problem,
}

pub(crate) fn run(scene: &Scene, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    let reply = look(&vault, scene.clock().now_utc());
    out.emit(&reply, |w| page(w, &reply))?;
    Ok(0)
}

fn look(vault: &Vault, now: DateTime<Utc>) -> Reply {
    let stale_after = chrono::Duration::days(RecallConfig::default().stale_after_days);
    let snapshot = vault.snapshot();
    let mut notes: BTreeMap<String, usize> = BTreeMap::new();
    for note in snapshot.notes() {
        let name = note.bucket.map_or_else(|| note.layer.to_string(), |b| format!("{}/{b}", Layer::Digest));
        *notes.entry(name).or_default() += 1;
    }
    let mut problems: Vec<FileProblem> = Vec::new();
    let mut signals = Vec::new();
    let mut signal = |name, loaded: (Option<DateTime<Utc>>, Option<Problem>)| {
        let state = match &loaded {
            (Some(at), _) if now.signed_duration_since(at) > stale_after => "stale",
            (Some(_), _) => "fresh",
            (None, None) => "missing",
            (None, Some(_)) => "unreadable",
        };
        problems
            .extend(loaded.1.map(|problem| FileProblem { path: format!("{}/{name}", vault.layout().meta), problem }));
        signals.push(Signal { name, state, computed_at: loaded.0 });
    };
    let communities = vault.meta::<Communities>();
    let recency = vault.meta::<Recency>();
    let archived = vault.meta::<Archived>();
    let access = vault.meta::<AccessLog>();
    let ledger = vault.meta::<DreamLedger>();
    signal(Communities::FILE, (communities.value.as_ref().map(|v| v.computed_at), communities.problem));
    signal(Recency::FILE, (recency.value.map(|v| v.computed_at), recency.problem));
    signal(Archived::FILE, (archived.value.as_ref().map(|v| v.computed_at), archived.problem));
    signal(AccessLog::FILE, (access.value.map(|v| v.computed_at), access.problem));
    signal(DreamLedger::FILE, (ledger.value.as_ref().map(|v| v.computed_at), ledger.problem));
    let empty =
        DreamLedger { version: DreamLedger::VERSION, computed_at: DateTime::UNIX_EPOCH, materials: BTreeMap::new() };
    let ledger = ledger.value.unwrap_or(empty);
    let failed = ledger.materials.iter().filter_map(|(path, d)| match &d.outcome {
        DreamOutcome::Pending { reason, .. } => Some((path.to_string(), reason.clone())),
        DreamOutcome::Done { .. } => None,
    });
    problems.extend(vault.problems().iter().map(|p| FileProblem { path: ".".into(), problem: p.clone() }));
    problems.extend(snapshot.problems().into_iter().map(|(path, problem)| FileProblem { path, problem }));
    Reply {
        vault: vault.root().to_path_buf(),
        read_only: vault.is_read_only(),
        files: snapshot.files().count(),
        links: snapshot.graph().edge_count(),
        unresolved: snapshot.unresolved().len(),
        pending: dormouse_vault::material::pending(&snapshot, Some(&ledger)).len(),
        failed: failed.collect(),
        communities: communities.value.map_or(0, |c| c.communities.len()),
        archived: archived.value.map_or(0, |a| a.notes.len()),
        notes,
        signals,
        problems,
    }
}

fn page(w: &mut dyn Write, reply: &Reply) -> io::Result<()> {
    let mode = if reply.read_only { " (read-only)" } else { "" };
    writeln!(w, "{}{mode}", bold(reply.vault.display()))?;
    let total: usize = reply.notes.values().sum();
    writeln!(w, "\n{:<18} {total:>6}", "notes")?;
    reply.notes.iter().try_for_each(|(name, n)| writeln!(w, "  {name:<16} {n:>6}"))?;
    writeln!(w, "{:<18} {:>6}", "other files", reply.files)?;
    writeln!(w, "{:<18} {:>6}  {}", "links", reply.links, dim(format!("{} targets unresolved", reply.unresolved)))?;
    writeln!(w, "{:<18} {:>6}  {}", "to dream", reply.pending, hint(reply.pending > 0, "`dormouse dream`"))?;
    writeln!(w, "{:<18} {:>6}", "communities", reply.communities)?;
    writeln!(w, "{:<18} {:>6}\n", "archived", reply.archived)?;
    for signal in &reply.signals {
        let when = signal.computed_at.map_or_else(
            || hint(true, if signal.name == DreamLedger::FILE { "`dormouse dream`" } else { "`dormouse consolidate`" }),
            |at| dim(at.format("%Y-%m-%d %H:%M UTC")),
        );
        writeln!(w, "{:<18} {:<10} {when}", signal.name, signal.state)?;
    }
    for (path, reason) in &reply.failed {
        writeln!(w, "\n{path} could not be dreamed: {reason}")?;
    }
    if !reply.problems.is_empty() {
        writeln!(w, "\n{}", bold("Problems"))?;
        reply.problems.iter().try_for_each(|p| writeln!(w, "  {}: {}", p.path, p.problem))?;
    }
    Ok(())
}

fn hint(wanted: bool, text: &str) -> String {
    if wanted { dim(text) } else { String::new() }
}
