//! The stage on its own: consolidates a vault, without model, search or agent.
//!
//! `cargo run -p dormouse-consolidate --example consolidate -- VAULT 2026-11-30T22:00:00+08:00`
#![allow(clippy::print_stdout, reason = "a command for a terminal")]

use std::error::Error;

use dormouse_consolidate::{ConsolidateConfig, Progress, RunContext, Task, TaskState, run};
use dormouse_vault::{FixedClock, Vault};

/// Prints each task as it ends.
struct Print;

impl Progress for Print {
    fn end(&self, task: Task, state: &TaskState) {
        println!("{task}: {state:?}");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(root), Some(now)) = (args.next(), args.next()) else {
        return Err("usage: consolidate VAULT NOW (RFC 3339, with offset)".into());
    };
    let vault = Vault::open(root)?;
    let (config, _) = vault.settings().section::<ConsolidateConfig>("consolidate");
    let context = RunContext {
        vault: &vault,
        clock: &FixedClock::new(now.parse()?),
        config: &config,
        seed: 0,
        progress: &Print,
        cancel: &|| false,
    };
    let report = run(context, &[Task::Communities, Task::Time, Task::Duplicates, Task::Health])?;
    for theme in &report.communities {
        println!("theme {}: {} notes about {}, around {}", theme.id, theme.size, theme.label, theme.hub);
    }
    for pair in &report.duplicates {
        println!("look at {} and {}", pair.keep, pair.other);
    }
    for finding in report.health.iter().flat_map(|h| &h.findings) {
        let path = finding.path.as_ref().map_or("", |p| p.as_str());
        println!("{:?}: {path} {}", finding.severity, finding.message);
    }
    Ok(())
}
