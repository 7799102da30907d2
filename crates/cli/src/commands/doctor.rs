//! `dormouse doctor`: what a person must act on, and how. It only looks.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use dormouse_consolidate::{
    ConsolidateConfig, Finding, FindingKind, HealthReport, KindCount, LastRuns, Severity, Task, examine,
};
use dormouse_vault::Vault;
use serde::Serialize;

use super::{Scene, warn};
use crate::args::DoctorArgs;
use crate::output::{Output, bold, dim};

/// A person must act.
const ACT: u8 = 1;

#[derive(Debug, Serialize)]
struct Reply {
    vault: PathBuf,
    /// Whether nothing has to be done.
    healthy: bool,
    /// How many things have to be done: severe findings, warnings, and troubles.
    act: usize,
    severe: usize,
    warnings: usize,
    /// What is good to know and needs no act, by kind.
    notices: Vec<KindCount>,
    /// Of the vault as a whole: settings that can't be read, a task that fails, bytes that were
    /// displaced.
    troubles: Vec<Trouble>,
    /// What has to be acted on, by kind, the most severe first.
    kinds: Vec<Kind>,
}

#[derive(Debug, Serialize)]
struct Trouble {
    what: String,
    /// What to do next.
    next: String,
}

#[derive(Debug, Serialize)]
struct Kind {
    kind: FindingKind,
    name: &'static str,
    severity: Severity,
    count: usize,
    /// What to do next.
    next: &'static str,
    /// The first of them.
    findings: Vec<Finding>,
}

pub(crate) fn run(scene: &Scene, args: &DoctorArgs, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    let (config, problems) = vault.settings().section::<ConsolidateConfig>("consolidate");
    warn(&problems);
    let health = examine(&vault, &config, scene.clock().now(), &|| false)?;
    let reply = reply(&vault, health, args.limit as usize);
    out.emit(&reply, |w| page(w, &reply))?;
    Ok(if reply.healthy { 0 } else { ACT })
}

fn reply(vault: &Vault, health: HealthReport, limit: usize) -> Reply {
    let troubles = troubles(vault);
    let of = |count: &KindCount| Kind {
        kind: count.kind,
        name: count.kind.name(),
        severity: count.severity,
        count: count.count,
        next: count.kind.advice(),
        findings: health
            .findings
            .iter()
            .filter(|f| (f.severity, f.kind) == (count.severity, count.kind))
            .take(limit)
            .cloned()
            .collect(),
    };
    let (notices, kinds): (Vec<KindCount>, Vec<KindCount>) =
        health.counts.iter().copied().partition(|c| c.severity == Severity::Notice);
    let act = health.to_act_on() + troubles.len();
    Reply {
        vault: vault.root().to_path_buf(),
        healthy: act == 0,
        act,
        severe: health.severe,
        warnings: health.warnings,
        notices,
        kinds: kinds.iter().map(of).collect(),
        troubles,
    }
}

/// What is wrong with the vault as a whole.
fn troubles(vault: &Vault) -> Vec<Trouble> {
    let mut out: Vec<Trouble> = vault
        .problems()
        .iter()
        .map(|problem| Trouble { what: problem.to_string(), next: "mend it where it says".to_owned() })
        .collect();
    let runs = LastRuns::load(vault);
    for task in Task::ALL {
        if let Some(at) = runs.failed(task) {
            let what = format!("{task} failed at its last run, {} UTC", at.format("%Y-%m-%d %H:%M"));
            let next = format!("`dormouse consolidate --task {task}` shows why");
            out.push(Trouble { what, next });
        }
    }
    out
}

fn page(w: &mut dyn Write, reply: &Reply) -> io::Result<()> {
    for trouble in &reply.troubles {
        writeln!(w, "{}\n  → {}\n", bold(&trouble.what), trouble.next)?;
    }
    for kind in &reply.kinds {
        let severity = if kind.severity == Severity::Severe { "severe" } else { "warning" };
        writeln!(w, "{} {}", bold(format!("{}: {}", kind.name, kind.count)), dim(severity))?;
        for finding in &kind.findings {
            let line = finding.line.map(|n| format!(":{n}")).unwrap_or_default();
            let path = finding.path.as_ref().map(|p| format!("{p}{line}: ")).unwrap_or_default();
            writeln!(w, "  {path}{}", finding.message.replace(['\n', '\r'], " "))?;
        }
        if kind.count > kind.findings.len() {
            writeln!(w, "  and {} more", kind.count - kind.findings.len())?;
        }
        writeln!(w, "  → {}\n", kind.next)?;
    }
    let notices: Vec<String> = reply.notices.iter().map(|n| format!("{} {}", n.kind.name(), n.count)).collect();
    if !notices.is_empty() {
        writeln!(w, "{}", dim(format!("good to know: {}", notices.join(" · "))))?;
    }
    match reply.act {
        0 => writeln!(w, "Nothing needs you."),
        1 => writeln!(w, "One thing needs you."),
        n => writeln!(w, "{n} things need you."),
    }
}
