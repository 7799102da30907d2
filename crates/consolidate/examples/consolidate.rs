//! The stage on its own: consolidates a vault, without model, search or agent.
//!
//! `cargo run -p dormouse-consolidate --example consolidate -- VAULT 2026-11-30T22:00:00+08:00`;
//! without arguments it consolidates a small vault of its own.
#![allow(clippy::print_stdout, reason = "a command for a terminal")]

use std::error::Error;
use std::path::PathBuf;

use dormouse_consolidate::{ConsolidateConfig, Progress, RunContext, Task, TaskState, run};
use dormouse_vault::{FixedClock, Vault};

/// Two themes, and two notes that say the same.
const SMALL: &str = "\
=== daily/2026-11-02/talk.md
# Talk

What was said. ^b1
=== digest/wiki/rank-fusion.md
# Rank fusion

Fusion by rank lost six points against a sum of scores. (derived_from:: [[daily/2026-11-02/talk#^b1]])

See [[digest/wiki/score-sum|Score sum]].
=== digest/wiki/score-sum.md
# Score sum

Scores are divided by their maximum and added. (derived_from:: [[daily/2026-11-02/talk#^b1]])

See [[digest/wiki/rank-fusion|Rank fusion]].
=== digest/procedure/backup.md
# Backup

1. Stop the watcher. (derived_from:: [[daily/2026-11-02/talk#^b1]])
2. Copy the vault, then check it by [[digest/procedure/restore|Restore]].
=== digest/procedure/restore.md
# Restore

1. Copy it back. (derived_from:: [[daily/2026-11-02/talk#^b1]])
2. Compare it with the [[digest/procedure/backup|Backup]].
";

/// Prints each task as it ends.
struct Print;

impl Progress for Print {
    fn end(&self, task: Task, state: &TaskState) {
        println!("{task}: {state:?}");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let small = dormouse_fixtures::temp_vault(SMALL);
    let root = args.next().map_or_else(|| small.path().to_owned(), PathBuf::from);
    let now = args.next().unwrap_or_else(|| "2026-11-30T22:00:00+00:00".to_owned());
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
