//! Replaying a recorded conversation: the words of the transcript, the tools of today.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use dormouse_model::{FinishReason, LanguageModel, Message, ModelError, Reply, Request, Role, Usage};
use std::sync::Arc;

use crate::agent::RunContext;
use crate::hooks::Hooks;
use crate::loop_agent::{LoopAgent, LoopConfig, LoopOutcome, StopReason, TextCalls};
use crate::tools::ToolSet;

/// A double that answers with the assistant's turns of a transcript, in order. It is a replay: it
/// reads no request, and what tools find today does not change what it says.
#[derive(Debug)]
pub struct TranscriptModel {
    turns: Mutex<VecDeque<Message>>,
}

impl TranscriptModel {
    /// Answers with the assistant messages among `messages`.
    #[must_use]
    pub fn new(messages: &[Message]) -> Self {
        Self { turns: Mutex::new(messages.iter().filter(|m| m.role == Role::Assistant).cloned().collect()) }
    }
}

#[async_trait]
impl LanguageModel for TranscriptModel {
    fn name(&self) -> &str {
        "transcript (replay)"
    }

    fn context_tokens(&self) -> usize {
        1_000_000
    }

    async fn complete(&self, _: Request) -> Result<Reply, ModelError> {
        let next = self.turns.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let usage = Usage { calls: 1, ..Usage::default() };
        // A transcript that ends with a tool call has nothing more to say.
        let Some(turn) = next else {
            return Ok(Reply { usage, ..Reply::text("") });
        };
        let finish = if turn.tool_calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        Ok(Reply { text: turn.content, tool_calls: turn.tool_calls, finish, usage })
    }
}

/// What a replay did.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// The conversation as it was lived: the transcript's words, today's tool results.
    pub messages: Vec<Message>,
    /// Runs of the loop: one for each turn of the user that was answered.
    pub runs: usize,
    /// Tool calls that were executed, and how many of them failed.
    pub tool_calls: usize,
    /// Those that failed.
    pub tool_errors: usize,
    /// How the last run ended; `None` when there was none.
    pub stop: Option<StopReason>,
}

/// Lives through a recorded conversation with the real loop: each turn of the user is a run, the
/// transcript's assistant turns are the model, and the tools that they call are really executed.
/// Recorded tool results are not used.
pub async fn replay(transcript: &[Message], tools: &ToolSet, hooks: &Hooks, cx: &RunContext) -> Replay {
    let config = LoopConfig { text_calls: TextCalls::Off, max_identical_rounds: usize::MAX, ..LoopConfig::default() };
    let mut done = Replay { messages: Vec::new(), runs: 0, tool_calls: 0, tool_errors: 0, stop: None };
    let mut at = 0;
    while at < transcript.len() {
        let rest = transcript.get(at..).unwrap_or_default();
        let asked = rest.iter().take_while(|m| m.role == Role::User || m.role == Role::System).count();
        let answered = rest.iter().skip(asked).take_while(|m| m.role != Role::User && m.role != Role::System).count();
        done.messages.extend(rest.iter().take(asked).cloned());
        let turns: Vec<Message> = rest.iter().skip(asked).take(answered).cloned().collect();
        at += (asked + answered).max(1);
        if !turns.iter().any(|m| m.role == Role::Assistant) || cx.cancel.is_cancelled() {
            continue;
        }
        // One model for each stretch: several assistant turns in a row are runs of their own.
        let mut left: VecDeque<Message> = turns.into_iter().filter(|m| m.role == Role::Assistant).collect();
        while !left.is_empty() {
            let mut stretch = Vec::new();
            while let Some(turn) = left.pop_front() {
                let ends = turn.tool_calls.is_empty();
                stretch.push(turn);
                if ends {
                    break;
                }
            }
            let before = done.messages.len();
            let agent =
                LoopAgent::new("replay", Arc::new(TranscriptModel::new(&stretch)), tools.clone(), config.clone())
                    .with_hooks(hooks.clone());
            let outcome: LoopOutcome = agent.run(std::mem::take(&mut done.messages), cx).await;
            let new = outcome.messages.get(before..).unwrap_or_default();
            done.tool_calls += new.iter().filter(|m| m.role == Role::Tool).count();
            done.tool_errors += new.iter().filter(|m| m.role == Role::Tool && m.is_error).count();
            done.runs += 1;
            done.stop = Some(outcome.stop);
            done.messages = outcome.messages;
        }
    }
    done
}
