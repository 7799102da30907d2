//! A model that answers from a script: for tests, examples and offline replays.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

use crate::error::ModelError;
use crate::model::LanguageModel;
use crate::reply::Reply;
use crate::request::Request;

type Rule = Box<dyn Fn(&Request) -> Result<Reply, ModelError> + Send + Sync>;

/// A double that answers in order from a list, then by its rule if it has one, and remembers what
/// it was asked. Out of answers it fails with [`ModelError::NoScript`].
pub struct ScriptedModel {
    name: String,
    context_tokens: usize,
    native_tools: bool,
    state: Mutex<State>,
    rule: Option<Rule>,
}

#[derive(Default)]
struct State {
    script: VecDeque<Result<Reply, ModelError>>,
    requests: Vec<Request>,
}

impl ScriptedModel {
    /// Answers with `replies`, one a request.
    #[must_use]
    pub fn new(replies: Vec<Reply>) -> Self {
        Self::with_results(replies.into_iter().map(Ok).collect())
    }

    /// Answers with `results`, one a request; errors are returned as they are.
    #[must_use]
    pub fn with_results(results: Vec<Result<Reply, ModelError>>) -> Self {
        Self {
            name: "scripted".into(),
            context_tokens: 8_192,
            native_tools: true,
            state: Mutex::new(State { script: results.into(), requests: Vec::new() }),
            rule: None,
        }
    }

    /// Answers every request by `rule`.
    #[must_use]
    pub fn from_rule(rule: impl Fn(&Request) -> Result<Reply, ModelError> + Send + Sync + 'static) -> Self {
        Self { rule: Some(Box::new(rule)), ..Self::new(Vec::new()) }
    }

    /// The name that it goes by; `scripted` by default.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The window that it claims, in tokens; 8,192 by default.
    #[must_use]
    pub fn with_context_tokens(mut self, tokens: usize) -> Self {
        self.context_tokens = tokens;
        self
    }

    /// Whether it claims native tool calls; true by default.
    #[must_use]
    pub fn with_native_tools(mut self, native: bool) -> Self {
        self.native_tools = native;
        self
    }

    /// What it was asked so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.lock().requests.clone()
    }

    /// How many scripted answers are left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.lock().script.len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel")
            .field("name", &self.name)
            .field("remaining", &self.remaining())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl LanguageModel for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn context_tokens(&self) -> usize {
        self.context_tokens
    }

    fn native_tools(&self) -> bool {
        self.native_tools
    }

    async fn complete(&self, request: Request) -> Result<Reply, ModelError> {
        let scripted = {
            let mut state = self.lock();
            state.requests.push(request.clone());
            state.script.pop_front()
        };
        let mut reply = match (scripted, &self.rule) {
            (Some(result), _) => result?,
            (None, Some(rule)) => rule(&request)?,
            (None, None) => return Err(ModelError::NoScript),
        };
        reply.usage.calls = reply.usage.calls.max(1);
        Ok(reply)
    }
}
