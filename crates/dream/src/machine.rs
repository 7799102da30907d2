//! The dialogue with a model as a machine without I/O: ask, hear, ask once more, done.

use dormouse_model::{FinishReason, Message, Reply, Request, Usage};
use dormouse_vault::text::truncate_chars;

use crate::error::ReplyFault;
use crate::material::Language;
use crate::prompts;

/// Something that is asked of a model, and how its reply is read.
pub(crate) trait Question {
    /// What a reply yields.
    type Answer;

    /// The first request.
    fn request(&self) -> Request;

    /// Reads a complete reply. Items are judged each alone: bad ones are rejected with a reason,
    /// good ones go on.
    fn read(&self, text: &str) -> Result<Reading<Self::Answer>, ReplyFault>;

    /// The answer of a first reply together with what a second one mended.
    fn join(&self, first: Self::Answer, second: Self::Answer) -> Self::Answer;

    /// The language that the model is spoken to in.
    fn language(&self) -> Language;
}

/// What a reply said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading<A> {
    /// From the items that are valid.
    pub(crate) answer: A,
    /// The other items, each named, with the reason.
    pub(crate) rejected: Vec<String>,
}

/// What the driver has to do next.
#[derive(Debug)]
pub(crate) enum Step<A> {
    /// Ask this, and feed the reply.
    Ask(Box<Request>),
    /// Nothing more.
    Done(Result<Reading<A>, ReplyFault>),
}

/// One question, asked at most twice.
#[derive(Debug)]
pub(crate) struct Dialogue<Q: Question> {
    question: Q,
    state: State<Q::Answer>,
    usage: Usage,
}

#[derive(Debug)]
enum State<A> {
    First(Box<Request>),
    Again(Box<Request>, Option<Reading<A>>),
    Done(Result<Reading<A>, ReplyFault>),
    Over,
}

impl<Q: Question> Dialogue<Q> {
    pub(crate) fn new(question: Q) -> Self {
        let request = Box::new(question.request());
        Self { question, state: State::First(request), usage: Usage::default() }
    }

    /// What to do next. After `Done` was handed out there is nothing: `None`.
    pub(crate) fn next(&mut self) -> Option<Step<Q::Answer>> {
        match &self.state {
            State::First(request) | State::Again(request, _) => Some(Step::Ask(request.clone())),
            State::Done(_) => match std::mem::replace(&mut self.state, State::Over) {
                State::Done(result) => Some(Step::Done(result)),
                _ => None,
            },
            State::Over => None,
        }
    }

    /// Takes a reply in.
    pub(crate) fn feed(&mut self, reply: &Reply) {
        let mut usage = reply.usage;
        usage.calls = usage.calls.max(1);
        self.usage += usage;
        let reading = self.judge(reply);
        self.state = match std::mem::replace(&mut self.state, State::Over) {
            State::First(request) => self.after_first(*request, reply, reading),
            State::Again(_, first) => State::Done(self.after_second(first, reading)),
            done => done,
        };
    }

    /// The second asking got no reply: what the first one gave stands.
    pub(crate) fn give_up(&mut self) -> bool {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Again(_, Some(first)) => {
                self.state = State::Done(Ok(first));
                true
            }
            other => {
                self.state = other;
                false
            }
        }
    }

    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }

    fn judge(&self, reply: &Reply) -> Result<Reading<Q::Answer>, ReplyFault> {
        match reply.finish {
            FinishReason::Length => Err(ReplyFault::Truncated),
            FinishReason::ContentFilter => Err(ReplyFault::Withheld),
            _ => self.question.read(&reply.text),
        }
    }

    fn after_first(
        &self,
        request: Request,
        reply: &Reply,
        reading: Result<Reading<Q::Answer>, ReplyFault>,
    ) -> State<Q::Answer> {
        let (complaint, first) = match reading {
            Ok(reading) if reading.rejected.is_empty() => return State::Done(Ok(reading)),
            Ok(reading) => (prompts::mend_items(&reading.rejected, self.question.language()), Some(reading)),
            Err(fault) => (prompts::mend_reply(fault, self.question.language()), None),
        };
        let mut again = request;
        if matches!(reply.finish, FinishReason::Length) {
            again.max_output_tokens = again.max_output_tokens.map(|n| n.saturating_mul(2));
        }
        let said = truncate_chars(&reply.text, 4_000);
        if !said.trim().is_empty() {
            again.messages.push(Message::assistant(said));
        }
        again.messages.push(Message::user(complaint));
        State::Again(Box::new(again), first)
    }

    fn after_second(
        &self,
        first: Option<Reading<Q::Answer>>,
        second: Result<Reading<Q::Answer>, ReplyFault>,
    ) -> Result<Reading<Q::Answer>, ReplyFault> {
        match (first, second) {
            (None, second) => second,
            (Some(first), Err(_)) => Ok(first),
            (Some(first), Ok(second)) => {
                let rejected = if second.rejected.is_empty() { Vec::new() } else { second.rejected };
                Ok(Reading { answer: self.question.join(first.answer, second.answer), rejected })
            }
        }
    }
}
