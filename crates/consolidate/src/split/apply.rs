//! Does a split: through the door, then the audit page and the cooldowns.

use std::collections::BTreeMap;
use std::fmt::Write;

use chrono::Duration;
use dormouse_vault::audit::{self, AuditEntry};
use dormouse_vault::meta::{Artefact, Cooldowns};
use dormouse_vault::{ChangeSet, Clock, CommitError, Committed, Conservation, Problem, ProblemKind, Vault, Writer};

use super::SplitPlan;
use crate::config::SplitConfig;
use crate::error::ConsolidateError;

/// What a split did.
#[derive(Debug, Clone)]
pub struct SplitApplied {
    /// What the door wrote: parent and children.
    pub committed: Committed,
    /// What could not be written beside the notes: cooldowns, audit page. The split itself stands;
    /// without its cooldown the next run may look at the notes again before two weeks are over.
    pub problems: Vec<Problem>,
}

/// Applies `plan` through the vault's door, then records it in `audit/<date>/split.md` and puts
/// parent and children on cooldown.
///
/// # Errors
/// [`ConsolidateError::Commit`]: `Conflict` when the parent changed since it was planned,
/// `Conservation` when the door finds something missing; the vault is then as it was.
pub fn apply(
    vault: &Vault,
    plan: &SplitPlan,
    config: &SplitConfig,
    clock: &dyn Clock,
) -> Result<SplitApplied, ConsolidateError> {
    let committed = vault.commit(&plan.change_set)?;
    let failed = |kind, what: &str, error: CommitError| Problem {
        kind,
        line: None,
        message: format!("{}: split, but {what} could not be written: {error}", plan.parent),
    };
    let cooled = cool_down(vault, plan, config, clock).map_err(|e| failed(ProblemKind::Meta, Cooldowns::FILE, e));
    let entry = audit_entry(plan, clock);
    let told = vault.commit(&audit::append(&[entry], vault.layout()));
    let told = told.map_err(|e| failed(ProblemKind::Unreadable, "the audit page", e));
    Ok(SplitApplied { committed, problems: cooled.err().into_iter().chain(told.err()).collect() })
}

fn cool_down(vault: &Vault, plan: &SplitPlan, config: &SplitConfig, clock: &dyn Clock) -> Result<(), CommitError> {
    let until = clock.now_utc() + Duration::days(i64::from(config.cooldown_days));
    let mut notes: BTreeMap<_, _> = vault.meta::<Cooldowns>().value.map(|c| c.notes).unwrap_or_default();
    notes.retain(|_, end| *end > clock.now_utc());
    notes.insert(plan.parent.clone(), until);
    notes.extend(plan.children.iter().map(|c| (c.path.clone(), until)));
    let cooldowns = Cooldowns { version: Cooldowns::VERSION, computed_at: clock.now_utc(), notes };
    let set = ChangeSet::new(Writer::Meta, Conservation::Additive).with(cooldowns.to_change(vault.layout()));
    vault.commit(&set).map(|_| ())
}

fn audit_entry(plan: &SplitPlan, clock: &dyn Clock) -> AuditEntry {
    let mut body = format!("Split [[{}]]: {}.\n\n", plan.parent.link_target(), plan.reason);
    for child in &plan.children {
        let _ = writeln!(
            body,
            "- [[{}|{}]] took over: {}",
            child.path.link_target(),
            child.name,
            child.headings.join(", ")
        );
    }
    AuditEntry { page: "split", at: clock.now(), title: format!("{} parts", plan.children.len()), body }
}
