//! A conversation within a token budget: cut only between whole groups.
//!
//! A group is an assistant message with its calls and all their results, or any other single
//! message. System messages at the front, the newest request of the user and the newest group stay.

use std::ops::Range;

use dormouse_model::{Message, Role};
use dormouse_vault::text::estimate_tokens;

use super::cap::cap_middle;

/// What a message takes beside its text.
const MESSAGE_OVERHEAD: usize = 4;

/// What can't be trimmed away is larger than the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the context does not fit: {system} tokens of instructions and {last} of the newest messages, {budget} are there"
)]
pub struct TrimError {
    /// Tokens of the system messages.
    pub system: usize,
    /// Tokens of the newest request and group.
    pub last: usize,
    /// Tokens that are there.
    pub budget: usize,
}

/// An estimate of the tokens that a message takes.
#[must_use]
pub fn message_tokens(message: &Message) -> usize {
    let calls: usize = message
        .tool_calls
        .iter()
        .map(|call| MESSAGE_OVERHEAD + estimate_tokens(&call.name) + estimate_tokens(&call.arguments.to_string()))
        .sum();
    MESSAGE_OVERHEAD + estimate_tokens(&message.content) + calls
}

/// The messages within `budget` tokens. When they don't fit, the oldest groups are left out down to
/// three quarters of the budget, so that the next request does not cut again, and one message says
/// how many are missing; then results of the newest group are shortened. Linear.
///
/// # Errors
/// [`TrimError`] when what must stay does not fit.
pub fn trim_to(messages: &[Message], budget: usize) -> Result<Vec<Message>, TrimError> {
    let total: usize = messages.iter().map(message_tokens).sum();
    if total <= budget {
        return Ok(messages.to_vec());
    }
    let kept = select(messages, |sizes, pinned| {
        let target = budget - budget / 4;
        let mut spent: usize =
            sizes.iter().zip(pinned).filter(|(_, p)| **p).map(|(s, _)| s).sum::<usize>() + MARK_TOKENS;
        let mut keep = pinned.to_vec();
        // From the newest back, without gaps.
        for (at, size) in sizes.iter().enumerate().rev() {
            if pinned.get(at) == Some(&true) {
                continue;
            }
            if spent + size > target {
                break;
            }
            spent += size;
            if let Some(flag) = keep.get_mut(at) {
                *flag = true;
            }
        }
        keep
    });
    let over = kept.iter().map(message_tokens).sum::<usize>().saturating_sub(budget);
    if over == 0 { Ok(kept) } else { shorten(kept, budget) }
}

/// The last `count` messages, widened to whole groups, with what must stay.
#[must_use]
pub fn keep_last(messages: &[Message], count: usize) -> Vec<Message> {
    let groups = groups(messages);
    let first = messages.len().saturating_sub(count);
    let pinned = pinned(messages, &groups);
    let keep: Vec<bool> = groups.iter().zip(&pinned).map(|(g, pin)| *pin || g.end > first).collect();
    assemble(messages, &groups, &keep)
}

const MARK_TOKENS: usize = 24;

fn select(messages: &[Message], choose: impl Fn(&[usize], &[bool]) -> Vec<bool>) -> Vec<Message> {
    let groups = groups(messages);
    let pinned = pinned(messages, &groups);
    let sizes: Vec<usize> =
        groups.iter().map(|g| messages.get(g.clone()).unwrap_or_default().iter().map(message_tokens).sum()).collect();
    let keep = choose(&sizes, &pinned);
    assemble(messages, &groups, &keep)
}

fn groups(messages: &[Message]) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match out.last_mut() {
            Some(group) if message.role == Role::Tool => group.end = at + 1,
            _ => out.push(at..at + 1),
        }
    }
    out
}

fn pinned(messages: &[Message], groups: &[Range<usize>]) -> Vec<bool> {
    let role = |group: &Range<usize>| messages.get(group.start).map(|m| m.role);
    let newest_request = groups.iter().rposition(|g| role(g) == Some(Role::User));
    groups
        .iter()
        .enumerate()
        .map(|(at, g)| role(g) == Some(Role::System) || Some(at) == newest_request || at + 1 == groups.len())
        .collect()
}

fn assemble(messages: &[Message], groups: &[Range<usize>], keep: &[bool]) -> Vec<Message> {
    let missing: usize = groups.iter().zip(keep).filter(|(_, keep)| !**keep).map(|(g, _)| g.len()).sum();
    let mut out = Vec::new();
    let mut marked = missing == 0;
    for (group, keep) in groups.iter().zip(keep) {
        let part = messages.get(group.clone()).unwrap_or_default();
        if !marked && part.first().is_some_and(|m| m.role != Role::System) {
            out.push(Message::user(format!(
                "[Earlier in this conversation: {missing} message(s), left out to fit the window.]"
            )));
            marked = true;
        }
        if *keep {
            out.extend_from_slice(part);
        }
    }
    out
}

/// Shortens the longest tool results until the messages fit.
fn shorten(mut messages: Vec<Message>, budget: usize) -> Result<Vec<Message>, TrimError> {
    let total = |messages: &[Message]| messages.iter().map(message_tokens).sum::<usize>();
    let results: Vec<usize> =
        messages.iter().enumerate().filter(|(_, m)| m.role == Role::Tool).map(|(at, _)| at).collect();
    let fixed: usize =
        messages.iter().filter(|m| m.role != Role::Tool).map(message_tokens).sum::<usize>() + results.len() * 32;
    if !results.is_empty() && fixed < budget {
        // A CJK character of three bytes is a token, so three bytes a token never exceeds the share.
        let share = (budget - fixed) / results.len();
        for at in results {
            if let Some(message) = messages.get_mut(at)
                && estimate_tokens(&message.content) > share
            {
                message.content = cap_middle(&message.content, share * 3);
            }
        }
    }
    if total(&messages) <= budget {
        return Ok(messages);
    }
    let (system, rest): (Vec<_>, Vec<_>) = messages.iter().partition(|m| m.role == Role::System);
    let sum = |part: Vec<&Message>| part.into_iter().map(message_tokens).sum();
    Err(TrimError { system: sum(system), last: sum(rest), budget })
}
