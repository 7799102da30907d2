//! The cycle as hooks of a loop: recall before it, memory after it.

use std::sync::Arc;

use async_trait::async_trait;
use dormouse_model::Message;

use super::auto_memory::Conversation;
use super::cycle::MemoryCycle;
use crate::agent::RunContext;
use crate::hooks::{AfterLoop, Contributor};
use crate::loop_agent::LoopOutcome;

/// Puts what the vault knows into each run, as reference material.
#[derive(Debug, Clone)]
pub struct RecallBefore(pub Arc<MemoryCycle>);

#[async_trait]
impl Contributor for RecallBefore {
    async fn before_loop(&self, messages: &[Message], _: &RunContext) -> Option<String> {
        let (cycle, messages) = (Arc::clone(&self.0), messages.to_vec());
        tokio::task::spawn_blocking(move || cycle.recall_before(&messages)).await.ok().flatten()
    }
}

/// Remembers each run that had an answer, in the background.
#[derive(Debug, Clone)]
pub struct RememberAfter(pub Arc<MemoryCycle>);

#[async_trait]
impl AfterLoop for RememberAfter {
    fn name(&self) -> &str {
        "remember"
    }

    async fn run(&self, session: String, outcome: Arc<LoopOutcome>) {
        let at = self.0.clock().now();
        let report = self.0.after(&Conversation { session, at, messages: outcome.messages.clone() }).await;
        tracing::info!(events = report.events.len(), problems = report.problems.len(), "remembered");
    }
}
