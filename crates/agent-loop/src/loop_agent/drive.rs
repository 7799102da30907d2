//! The driver: waits for the model and the tools, and asks the hooks.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use dormouse_model::{LanguageModel, Message};
use futures::FutureExt;
use serde_json::{Value, json};
use tracing::Instrument;

use super::config::LoopConfig;
use super::execute::Executor;
use super::machine::{LoopMachine, Step};
use super::outcome::{LoopOutcome, StopReason};
use crate::agent::{Agent, AgentInfo, Outcome, Record, RunContext};
use crate::background::BackgroundJobs;
use crate::error::AgentError;
use crate::hooks::{Hooks, LoopEvent};
use crate::tools::ToolSet;

/// An agent that loops over a model and tools.
pub struct LoopAgent {
    info: AgentInfo,
    model: Arc<dyn LanguageModel>,
    tools: ToolSet,
    config: LoopConfig,
    hooks: Hooks,
    jobs: BackgroundJobs,
}

impl LoopAgent {
    /// An agent called `name`.
    #[must_use]
    pub fn new(name: impl Into<String>, model: Arc<dyn LanguageModel>, tools: ToolSet, config: LoopConfig) -> Self {
        let message = json!({"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}});
        Self {
            info: AgentInfo {
                name: name.into(),
                description: "Answers a message, with tools where they help.".into(),
                input_schema: Some(message.clone()),
                output_schema: Some(message),
            },
            model,
            tools,
            config,
            hooks: Hooks::default(),
            jobs: BackgroundJobs::new(),
        }
    }

    /// With hooks.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// With background jobs that are shared with others; its own by default.
    #[must_use]
    pub fn with_jobs(mut self, jobs: BackgroundJobs) -> Self {
        self.jobs = jobs;
        self
    }

    /// The background jobs, to drain at exit.
    #[must_use]
    pub fn jobs(&self) -> &BackgroundJobs {
        &self.jobs
    }

    /// Runs over a conversation until an answer. Never fails: how it ended is in the outcome.
    /// Work after the loop is submitted to [`LoopAgent::jobs`] and not waited for.
    pub async fn run(&self, messages: Vec<Message>, cx: &RunContext) -> LoopOutcome {
        let span = tracing::info_span!("agent_loop", agent = %self.info.name, model = %self.model.name());
        self.looped(messages, cx).instrument(span).await
    }

    async fn looped(&self, messages: Vec<Message>, cx: &RunContext) -> LoopOutcome {
        let executor = Executor { tools: &self.tools, hooks: &self.hooks, config: &self.config, cx };
        executor.emit(&LoopEvent::LoopStarted);
        let outcome = match self.blocked(&messages, cx).await {
            Some(reason) => LoopOutcome {
                text: String::new(),
                stop: StopReason::Blocked,
                messages,
                iterations: 0,
                usage: Default::default(),
                error: None,
                detail: Some(reason),
            },
            None => self.drive(messages, &executor).await,
        };
        tracing::info!(stop = %outcome.stop, iterations = outcome.iterations, input_tokens = outcome.usage.input_tokens, output_tokens = outcome.usage.output_tokens, "run ended");
        executor.emit(&LoopEvent::LoopFinished { stop: outcome.stop, usage: outcome.usage });
        if outcome.stop.has_answer() && !self.hooks.after_loop.is_empty() {
            let shared = Arc::new(outcome.clone());
            for hook in &self.hooks.after_loop {
                let (hook, session, outcome) = (Arc::clone(hook), cx.session.clone(), Arc::clone(&shared));
                let key = format!("{}/{}", cx.session, hook.name());
                self.jobs.submit(key, async move { hook.run(session, outcome).await });
            }
        }
        outcome
    }

    async fn drive(&self, messages: Vec<Message>, executor: &Executor<'_>) -> LoopOutcome {
        let cx = executor.cx;
        let fixed = self.contributions(&messages, cx).await;
        let mut machine = LoopMachine::new(
            self.config.clone(),
            self.tools.specs(),
            self.model.context_tokens(),
            self.model.native_tools(),
            messages,
        );
        machine.set_reference(fixed.clone());
        loop {
            if cx.cancel.is_cancelled() {
                machine.cancel("cancelled before it started; it had no effect");
            }
            match machine.next() {
                Step::Done(outcome) => return *outcome,
                Step::Ask(request) => {
                    let iteration = machine.iteration();
                    let more = self.for_iteration(iteration, machine.messages(), cx).await;
                    let request = if more.is_empty() {
                        request
                    } else {
                        machine.set_reference(fixed.iter().cloned().chain(more).collect());
                        let step = machine.next();
                        machine.set_reference(fixed.clone());
                        let Step::Ask(request) = step else { continue };
                        request
                    };
                    executor.emit(&LoopEvent::IterationStarted {
                        iteration,
                        tools: !machine.is_last() && !self.tools.specs().is_empty(),
                    });
                    let reply = tokio::select! {
                        biased;
                        () = cx.cancel.cancelled() => continue,
                        reply = self.model.complete(request) => reply,
                    };
                    match &reply {
                        Ok(reply) => executor.emit(&LoopEvent::Replied {
                            finish: reply.finish,
                            usage: reply.usage,
                            calls: reply.tool_calls.len(),
                        }),
                        Err(error) => executor.emit(&LoopEvent::ModelFailed { error }),
                    }
                    machine.feed_reply(reply);
                    if !matches!(machine.next(), Step::Call(_)) {
                        executor.emit(&LoopEvent::IterationFinished { iteration });
                    }
                }
                Step::Call(calls) => {
                    for (id, output) in executor.run(calls).await {
                        machine.feed_result(&id, output);
                    }
                    executor.emit(&LoopEvent::IterationFinished { iteration: machine.iteration() });
                }
            }
        }
    }

    async fn blocked(&self, messages: &[Message], cx: &RunContext) -> Option<String> {
        for gate in &self.hooks.gates {
            let asked = AssertUnwindSafe(gate.before_loop(messages, cx)).catch_unwind();
            match tokio::time::timeout(self.config.hook_timeout, asked).await {
                Ok(Ok(Ok(()))) => {}
                Ok(Ok(Err(error))) => return Some(error.to_string()),
                Ok(Err(_)) => return Some("the gate failed".into()),
                Err(_) => return Some("the gate did not answer in time".into()),
            }
        }
        None
    }

    async fn contributions(&self, messages: &[Message], cx: &RunContext) -> Vec<String> {
        let mut out = Vec::new();
        for contributor in &self.hooks.contributors {
            let asked = AssertUnwindSafe(contributor.before_loop(messages, cx)).catch_unwind();
            match tokio::time::timeout(self.config.hook_timeout, asked).await {
                Ok(Ok(text)) => out.extend(text),
                _ => tracing::warn!("a contributor failed; the run goes on without it"),
            }
        }
        out
    }

    async fn for_iteration(&self, iteration: usize, messages: &[Message], cx: &RunContext) -> Vec<String> {
        let mut out = Vec::new();
        for contributor in &self.hooks.contributors {
            let asked = AssertUnwindSafe(contributor.before_iteration(iteration, messages, cx)).catch_unwind();
            match tokio::time::timeout(self.config.hook_timeout, asked).await {
                Ok(Ok(text)) => out.extend(text),
                _ => tracing::warn!("a contributor failed; the run goes on without it"),
            }
        }
        out
    }
}

#[async_trait]
impl Agent for LoopAgent {
    fn info(&self) -> &AgentInfo {
        &self.info
    }

    async fn process(&self, input: Record, cx: &RunContext) -> Result<Outcome, AgentError> {
        let message = input.get("message").and_then(Value::as_str).unwrap_or_default();
        let outcome = self.run(vec![Message::user(message)], cx).await;
        match (outcome.stop, outcome.error) {
            (StopReason::Cancelled, _) => Err(AgentError::Cancelled),
            (StopReason::Blocked, _) => Err(AgentError::Blocked { reason: outcome.detail.unwrap_or_default() }),
            (StopReason::ApiError, Some(error)) => Err(error.into()),
            (stop, _) if stop.has_answer() => {
                let mut record = Record::new();
                record.insert("message".into(), Value::String(outcome.text));
                record.insert("stop".into(), json!(stop));
                Ok(Outcome::Record(record))
            }
            (stop, _) => Err(AgentError::NoAnswer { stop }),
        }
    }
}
