//! The loop without I/O: `next()` says what to do, `feed` tells how it went.

use std::collections::BTreeSet;

use dormouse_model::{FinishReason, Message, ModelError, Reply, Request, Role, ToolCall, ToolChoice, ToolSpec, Usage};

use super::calls::{PlannedCall, Read, read_calls};
use super::config::{LoopConfig, OnError, TextCalls};
use super::outcome::{LoopOutcome, StopReason};
use super::render::{as_text, canonical};
use super::repair::repair;
use super::text_calls::{manual, read_text_calls};
use crate::context::{cap_middle, message_tokens, trim_to};
use crate::tools::ToolOutput;

const CONTINUE: &str = "[continue] Your reply was cut off. Go on exactly where it stopped; do not repeat anything.";
const UNREADABLE: &str = "[tool call] A tool call in your reply could not be read. Write it as <TOOL_CALL>{\"name\": \"…\", \"arguments\": {…}}</TOOL_CALL> with valid JSON.";
const CUT: &str = "not run: the reply was cut off by the token limit before the call was complete";
const REPEATED: &str = "not run: the same calls were made several times in a row; use their results, or answer";
const LAST: &str = "not run: no more tool calls are possible in this run; answer with what you know";

/// What the driver is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Send this and feed the reply.
    Ask(Request),
    /// Run these and feed each result.
    Call(Vec<PlannedCall>),
    /// It is over.
    Done(Box<LoopOutcome>),
}

#[derive(Debug, Clone)]
enum State {
    Ready,
    Asked,
    Calling(Vec<Slot>),
    Done(Box<LoopOutcome>),
}

#[derive(Debug, Clone)]
struct Slot {
    id: String,
    call: Option<PlannedCall>,
    result: Option<ToolOutput>,
}

/// The state of a run. Plain data: cloned, it continues identically.
#[derive(Debug, Clone)]
pub struct LoopMachine {
    config: LoopConfig,
    specs: Vec<ToolSpec>,
    window: usize,
    native: bool,
    reference: Vec<String>,
    messages: Vec<Message>,
    iteration: usize,
    api_errors: usize,
    last_error: Option<ModelError>,
    /// Pieces of a reply that is being continued, and where in the messages it began.
    pieces: Vec<String>,
    pieces_from: usize,
    last_round: Vec<(String, String)>,
    rounds: usize,
    correction: bool,
    /// Halved each time that the server says the request is too large.
    budget_share: usize,
    usage: Usage,
    state: State,
}

impl LoopMachine {
    /// A run over `messages` for a model with a window of `window` tokens that does or does not take
    /// tools natively.
    #[must_use]
    pub fn new(config: LoopConfig, specs: Vec<ToolSpec>, window: usize, native: bool, messages: Vec<Message>) -> Self {
        Self {
            config,
            specs,
            window,
            native,
            reference: Vec::new(),
            messages: repair(messages),
            iteration: 0,
            api_errors: 0,
            last_error: None,
            pieces: Vec::new(),
            pieces_from: 0,
            last_round: Vec::new(),
            rounds: 0,
            correction: false,
            budget_share: 1,
            usage: Usage::default(),
            state: State::Ready,
        }
    }

    /// Replaces the reference material that goes with each request and never into the history.
    pub fn set_reference(&mut self, reference: Vec<String>) {
        self.reference = reference;
    }

    /// The conversation so far.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Model requests made so far, the one under way included.
    #[must_use]
    pub fn iteration(&self) -> usize {
        self.iteration
    }

    /// Whether the request under way is the last allowed one.
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.iteration >= self.config.max_iterations
    }

    /// What to do now. Asking twice without feeding gives the same step.
    #[expect(clippy::should_implement_trait, reason = "a machine is no iterator: it is fed between two steps")]
    pub fn next(&mut self) -> Step {
        loop {
            match &self.state {
                State::Done(outcome) => return Step::Done(outcome.clone()),
                State::Asked => match self.request() {
                    Ok(request) => return Step::Ask(request),
                    Err(detail) => self.overflow(detail),
                },
                State::Ready if self.is_last() => self.finish(StopReason::MaxIterations, String::new(), None),
                State::Ready => {
                    self.iteration += 1;
                    self.state = State::Asked;
                }
                State::Calling(slots) => {
                    let open: Vec<PlannedCall> =
                        slots.iter().filter(|s| s.result.is_none()).filter_map(|s| s.call.clone()).collect();
                    if !open.is_empty() {
                        return Step::Call(open);
                    }
                    self.take_results();
                }
            }
        }
    }

    /// How the model call went. Ignored when none is under way.
    pub fn feed_reply(&mut self, reply: Result<Reply, ModelError>) {
        if !matches!(self.state, State::Asked) {
            return;
        }
        self.state = State::Ready;
        match reply {
            Ok(reply) => self.accept(reply),
            Err(error) => self.failed(error),
        }
    }

    /// The result of one call; results may come in any order. An unknown id is ignored.
    pub fn feed_result(&mut self, id: &str, output: ToolOutput) {
        let max = self.max_result_bytes();
        if let State::Calling(slots) = &mut self.state
            && let Some(slot) = slots.iter_mut().find(|s| s.id == id && s.result.is_none())
        {
            slot.result = Some(ToolOutput { text: cap_middle(&output.text, max), ..output });
        }
    }

    /// Ends the run. Calls without a result get `unfinished`; the history stays well-formed.
    pub fn cancel(&mut self, unfinished: &str) {
        if let State::Calling(slots) = &mut self.state {
            for slot in slots.iter_mut().filter(|s| s.result.is_none()) {
                slot.result = Some(ToolOutput::error(unfinished));
            }
            self.take_results();
        }
        if !matches!(self.state, State::Done(_)) {
            self.finish(StopReason::Cancelled, String::new(), None);
        }
    }

    fn max_result_bytes(&self) -> usize {
        self.config.max_result_bytes.min(self.config.input_budget(self.window) / 4 * 3)
    }

    fn text_mode(&self) -> bool {
        match self.config.text_calls {
            TextCalls::On => true,
            TextCalls::Auto => !self.native,
            TextCalls::Off => false,
        }
    }

    /// The request for the current iteration.
    fn request(&self) -> Result<Request, String> {
        let offered: &[ToolSpec] = if self.is_last() { &[] } else { &self.specs };
        let mut system = self.config.instructions.clone();
        let mut add = |part: &str| {
            if !part.trim().is_empty() {
                if !system.is_empty() {
                    system.push_str("\n\n");
                }
                system.push_str(part);
            }
        };
        let leading = self.messages.iter().take_while(|m| m.role == Role::System).count();
        let (head, rest) = self.messages.split_at_checked(leading).unwrap_or((&[], &self.messages));
        head.iter().for_each(|m| add(&m.content));
        if self.text_mode() && !offered.is_empty() {
            add(&manual(offered));
        }
        self.reference.iter().for_each(|part| add(part));
        let mut messages: Vec<Message> = (!system.is_empty()).then(|| Message::system(system)).into_iter().collect();
        messages.extend_from_slice(rest);
        if self.text_mode() {
            messages = as_text(messages);
        }
        let native_tools = if self.text_mode() { Vec::new() } else { offered.to_vec() };
        let tool_tokens: usize = native_tools
            .iter()
            .map(|t| message_tokens(&Message::system(format!("{} {} {}", t.name, t.description, t.parameters))))
            .sum();
        let budget = (self.config.input_budget(self.window) / self.budget_share).saturating_sub(tool_tokens);
        let messages = trim_to(&messages, budget).map_err(|e| e.to_string())?;
        Ok(Request {
            messages,
            tool_choice: if native_tools.is_empty() { ToolChoice::None } else { ToolChoice::Auto },
            tools: native_tools,
            schema: None,
            max_output_tokens: self.config.max_output_tokens,
            temperature: self.config.temperature,
            seed: self.config.seed,
            timeout: self.config.request_timeout,
        })
    }

    fn failed(&mut self, error: ModelError) {
        self.api_errors += 1;
        self.usage.calls += 1;
        let may_pass = error.is_transient() || matches!(error, ModelError::Malformed | ModelError::ContextOverflow);
        if matches!(error, ModelError::ContextOverflow) {
            self.budget_share *= 2;
        }
        let stop = if matches!(error, ModelError::ContextOverflow) {
            StopReason::ContextOverflow
        } else {
            StopReason::ApiError
        };
        self.last_error = Some(error);
        if !may_pass || self.config.on_error == OnError::Abort || self.api_errors >= self.config.max_api_errors {
            self.finish(stop, String::new(), None);
        }
    }

    fn accept(&mut self, reply: Reply) {
        self.usage += reply.usage;
        self.api_errors = 0;
        self.last_error = None;
        if reply.finish == FinishReason::ContentFilter {
            self.finish(StopReason::Withheld, reply.text, None);
        } else if reply.finish == FinishReason::Length {
            self.cut_off(reply);
        } else {
            self.complete(reply);
        }
    }

    fn cut_off(&mut self, reply: Reply) {
        if !reply.tool_calls.is_empty() {
            let slots = self.record(reply.text, reply.tool_calls);
            self.answer_all(slots, CUT);
            return;
        }
        if self.pieces.is_empty() {
            self.pieces_from = self.messages.len();
        }
        self.pieces.push(reply.text.clone());
        if self.pieces.len() > self.config.max_continuations || self.is_last() {
            let text = self.join(String::new());
            self.push_assistant(&text);
            self.finish(StopReason::Truncated, text, None);
            return;
        }
        self.push_assistant(&reply.text);
        self.messages.push(Message::user(CONTINUE));
    }

    /// The pieces and `last` as one text; the history forgets how it was pieced together.
    fn join(&mut self, last: String) -> String {
        if self.pieces.is_empty() {
            return last;
        }
        self.messages.truncate(self.pieces_from);
        let mut text = std::mem::take(&mut self.pieces).concat();
        text.push_str(&last);
        text
    }

    fn complete(&mut self, reply: Reply) {
        let text = self.join(reply.text);
        let (text, calls, malformed) = if reply.tool_calls.is_empty() && self.config.text_calls != TextCalls::Off {
            let read = read_text_calls(&text, &self.specs, self.text_mode());
            // Tags in the text of a model that calls natively are text.
            if self.text_mode() || read.malformed == 0 {
                (read.text, read.calls, read.malformed)
            } else {
                (text, Vec::new(), 0)
            }
        } else {
            (text, reply.tool_calls, 0)
        };
        self.correction = malformed > 0;
        if calls.is_empty() {
            self.push_assistant(&text);
            if malformed > 0 && !self.is_last() {
                self.correct();
                return;
            }
            let stop = if self.is_last() && !self.specs.is_empty() {
                StopReason::MaxIterations
            } else {
                StopReason::FinalAnswer
            };
            self.finish(stop, text, None);
            return;
        }
        if self.is_last() {
            let slots = self.record(text.clone(), calls);
            self.answer_all(slots, LAST);
            self.finish(StopReason::MaxIterations, text, None);
            return;
        }
        self.run_round(text, calls);
    }

    fn run_round(&mut self, text: String, calls: Vec<ToolCall>) {
        let slots = self.record(text.clone(), calls);
        // As they were read: neither the order of arguments nor the spelling of a name makes a new call.
        let recorded = self.messages.last().into_iter().flat_map(|m| &m.tool_calls);
        let round: Vec<(String, String)> = recorded.map(|c| (c.name.clone(), canonical(&c.arguments))).collect();
        self.rounds = if round == self.last_round { self.rounds + 1 } else { 1 };
        self.last_round = round;
        if self.rounds > self.config.max_identical_rounds {
            self.answer_all(slots, REPEATED);
            if self.rounds > self.config.max_identical_rounds + 1 {
                self.finish(StopReason::RepeatedCall, text, None);
            }
            return;
        }
        self.state = State::Calling(slots);
    }

    /// Records an assistant message with calls and gives the slots for their results.
    fn record(&mut self, text: String, calls: Vec<ToolCall>) -> Vec<Slot> {
        let used: BTreeSet<String> = self.messages.iter().flat_map(|m| &m.tool_calls).map(|c| c.id.clone()).collect();
        let read: Vec<Read> = read_calls(calls, &self.specs, &used);
        let tool_calls = read.iter().map(|r| r.recorded.clone()).collect();
        self.messages.push(Message { tool_calls, ..Message::assistant(text) });
        read.into_iter()
            .map(|r| match r.planned {
                Ok(call) => Slot { id: r.recorded.id, call: Some(call), result: None },
                Err(output) => Slot { id: r.recorded.id, call: None, result: Some(output) },
            })
            .collect()
    }

    fn answer_all(&mut self, mut slots: Vec<Slot>, why: &str) {
        for slot in &mut slots {
            slot.result = Some(ToolOutput::error(why));
        }
        self.state = State::Calling(slots);
        self.take_results();
    }

    /// Results enter the history in call order.
    fn take_results(&mut self) {
        let State::Calling(slots) = std::mem::replace(&mut self.state, State::Ready) else {
            return;
        };
        for slot in slots {
            let output = slot.result.unwrap_or_else(|| ToolOutput::error(CUT));
            self.messages.push(Message { is_error: output.is_error, ..Message::tool(slot.id, output.text) });
        }
        if std::mem::take(&mut self.correction) {
            self.correct();
        }
    }

    fn correct(&mut self) {
        self.correction = false;
        self.messages.push(Message::user(UNREADABLE));
    }

    fn push_assistant(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.messages.push(Message::assistant(text));
        }
    }

    fn overflow(&mut self, detail: String) {
        // The request was never sent.
        self.iteration -= 1;
        self.finish(StopReason::ContextOverflow, String::new(), Some(detail));
    }

    fn finish(&mut self, stop: StopReason, text: String, detail: Option<String>) {
        self.state = State::Done(Box::new(LoopOutcome {
            text,
            stop,
            messages: repair(self.messages.clone()),
            iterations: self.iteration,
            usage: self.usage,
            error: self.last_error.clone(),
            detail,
        }));
    }
}
