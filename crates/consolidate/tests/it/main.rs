//! A whole vault in a string, a run, and what it wrote.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test stops at the first thing that is not as expected"
)]

mod boundary;
mod cases;
mod communities;
mod cost;
mod duplicates;
mod health;
mod runs;
mod split;
mod time;
mod year;

use dormouse_consolidate::{ConsolidateConfig, ConsolidateReport, RunContext, Silent, Task, run};
use dormouse_fixtures::TempVault;
use dormouse_vault::meta::{Artefact, Communities};
use dormouse_vault::{FixedClock, Vault};

pub(crate) fn clock(now: &str) -> FixedClock {
    FixedClock::new(now.parse().expect("RFC 3339"))
}

/// Opens the vault anew, as another process would, and runs `tasks` at `now`.
pub(crate) fn consolidate(vault: &TempVault, now: &str, tasks: &[Task]) -> ConsolidateReport {
    consolidate_with(vault, now, tasks, &ConsolidateConfig::default())
}

pub(crate) fn consolidate_with(
    vault: &TempVault,
    now: &str,
    tasks: &[Task],
    config: &ConsolidateConfig,
) -> ConsolidateReport {
    let open = Vault::open(vault.path()).expect("a vault");
    let context =
        RunContext { vault: &open, clock: &clock(now), config, seed: 0, progress: &Silent, cancel: &|| false };
    run(context, tasks).expect("a run")
}

/// A derived file as it stands.
pub(crate) fn meta<T: Artefact>(vault: &TempVault) -> T {
    let open = Vault::open(vault.path()).expect("a vault");
    open.meta::<T>().value.unwrap_or_else(|| panic!("{} is not there", T::FILE))
}

/// The communities, one line each: members by file stem.
pub(crate) fn groups(vault: &TempVault) -> String {
    let mut lines: Vec<String> = meta::<Communities>(vault)
        .communities
        .iter()
        .map(|c| {
            let members: Vec<_> = c.members.iter().map(|m| m.stem().to_owned()).collect();
            format!("{} {}\n", c.id, members.join(" "))
        })
        .collect();
    lines.sort();
    lines.concat()
}

/// A digest note with its body.
pub(crate) fn digest(stem: &str, body: &str) -> String {
    format!("=== digest/wiki/{stem}.md\n---\nname: {stem}\n---\n{body}\n")
}

/// Everything that a person wrote: all files but `meta/` and `audit/`.
pub(crate) fn notes(vault: &TempVault) -> String {
    vault.dump_if(|path| !path.starts_with("meta/") && !path.starts_with("audit/"))
}

pub(crate) const NOON: &str = "2026-11-30T12:00:00+08:00";
