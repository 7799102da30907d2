//! The numbers of the loop.

use std::time::Duration;

/// What to do when a model call fails for a reason that may pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnError {
    /// Ask again in the next iteration.
    #[default]
    Retry,
    /// End the run.
    Abort,
}

/// Whether tool calls that are written as text count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextCalls {
    /// For a model without native calls: tags, fenced and bare JSON. For one with native calls: only
    /// a reply that is nothing but a call.
    #[default]
    Auto,
    /// Tags, fenced and bare JSON, and the tools are described in the instructions.
    On,
    /// Never.
    Off,
}

/// Settings of a loop. Plain data; every field has a default.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopConfig {
    /// The instructions. Default empty.
    pub instructions: String,
    /// Model requests of a run, failed ones and continuations included; the last one is sent
    /// without tools. Default 100.
    pub max_iterations: usize,
    /// Failed model calls in a row that end a run. Default 2.
    pub max_api_errors: usize,
    /// What a failed model call does. Default retry.
    pub on_error: OnError,
    /// Tools that run side by side. Default 10.
    pub max_parallel: usize,
    /// Continuations of a cut reply in a row. Default 3.
    pub max_continuations: usize,
    /// Rounds of the same calls that are run; after that they are refused once, then the run ends.
    /// Default 3.
    pub max_identical_rounds: usize,
    /// Tokens of the window kept for the reply; default: `max_output_tokens`, else a fifth of the
    /// window, at most 20,000.
    pub reserve_tokens: Option<usize>,
    /// Bytes of a tool result that the model sees; the lesser of this and a quarter of the input
    /// budget (three bytes a token) holds. Default 64 KiB.
    pub max_result_bytes: usize,
    /// How long one tool may take. Default 120 s.
    pub tool_timeout: Duration,
    /// How long a gate or a contributor may take. Default 10 s.
    pub hook_timeout: Duration,
    /// Whether calls written as text count. Default auto.
    pub text_calls: TextCalls,
    /// Passed on with each request. Default `None`.
    pub max_output_tokens: Option<u32>,
    /// Passed on with each request. Default `None`.
    pub temperature: Option<f64>,
    /// Passed on with each request. Default `None`.
    pub seed: Option<u64>,
    /// Time limit of each request. Default: the provider's.
    pub request_timeout: Option<Duration>,
}

impl Default for LoopConfig {
    fn default() -> Self {
        Self {
            instructions: String::new(),
            max_iterations: 100,
            max_api_errors: 2,
            on_error: OnError::Retry,
            max_parallel: 10,
            max_continuations: 3,
            max_identical_rounds: 3,
            reserve_tokens: None,
            max_result_bytes: 64 * 1024,
            tool_timeout: Duration::from_secs(120),
            hook_timeout: Duration::from_secs(10),
            text_calls: TextCalls::Auto,
            max_output_tokens: None,
            temperature: None,
            seed: None,
            request_timeout: None,
        }
    }
}

impl LoopConfig {
    /// Tokens that a request may take in a window of `window` tokens.
    #[must_use]
    pub fn input_budget(&self, window: usize) -> usize {
        let reserve = self
            .reserve_tokens
            .or_else(|| self.max_output_tokens.and_then(|t| usize::try_from(t).ok()))
            .unwrap_or((window / 5).min(20_000));
        window.saturating_sub(reserve)
    }
}
