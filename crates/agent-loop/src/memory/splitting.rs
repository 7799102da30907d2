//! The split rule, asked about one subject right after a dream wrote it.

use dormouse_consolidate::{SplitConfig, SplitDone, split};
use dormouse_vault::meta::Cooldowns;
use dormouse_vault::{Clock, NotePath, Vault};

use super::cycle::CycleProblem;

/// Asks whether `path` has outgrown its subject and splits it if so; `None` when it stays whole.
///
/// # Errors
/// A [`CycleProblem`] of the step `split`; the note is then as it was, or the split is done and only
/// its cooldown or audit line could not be kept.
pub fn split_subject(
    vault: &Vault,
    path: &NotePath,
    config: &SplitConfig,
    clock: &dyn Clock,
) -> Result<Option<SplitDone>, CycleProblem> {
    let failed = |error: &dyn std::fmt::Display| CycleProblem { step: "split", reason: error.to_string() };
    let text = vault.read(path).map_err(|e| failed(&e))?;
    let cooldowns = vault.meta::<Cooldowns>().value;
    let decision = split::plan(&vault.snapshot(), &text, cooldowns.as_ref(), config, clock.now());
    let split::SplitDecision::Split(plan) = decision else {
        return Ok(None);
    };
    let applied = split::apply(vault, &plan, config, clock).map_err(|e| failed(&e))?;
    if let Some(problem) = applied.problems.first() {
        return Err(failed(problem));
    }
    Ok(Some(SplitDone {
        parent: plan.parent.clone(),
        children: plan.children.iter().map(|c| c.path.clone()).collect(),
        reason: plan.reason.clone(),
    }))
}
