//! A language model that answers what dream really asks, rightly most of the time.
//!
//! It has no channel but the request: it reads the fenced text and the numbered lists, and knows
//! how statements of its world are worded.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use dormouse_model::{FinishReason, LanguageModel, ModelError, Reply, Request, Role};
use serde_json::Value;

use super::answers::{changes, units, verdicts};
use super::faults::{Asked, Fault, rates};
use super::random::{Random, hashed};

/// The model. The same requests in the same order get the same replies.
pub(crate) struct Adversary {
    seed: u64,
    /// Whether nobody answers.
    down: AtomicBool,
    /// Whether it does its best.
    sober: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How often each request came, by its hash: the same question gets another answer next time.
    asked: BTreeMap<u64, u64>,
    requests: usize,
    faults: BTreeMap<Fault, usize>,
}

impl Adversary {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, down: AtomicBool::new(false), sober: AtomicBool::new(false), state: Mutex::default() }
    }

    pub(crate) fn set_down(&self, down: bool) {
        self.down.store(down, Ordering::Relaxed);
    }

    pub(crate) fn set_sober(&self, sober: bool) {
        self.sober.store(sober, Ordering::Relaxed);
    }

    pub(crate) fn requests(&self) -> usize {
        self.state().requests
    }

    /// How often each fault happened.
    pub(crate) fn faults(&self) -> BTreeMap<Fault, usize> {
        self.state().faults.clone()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn random(&self, request: &Request) -> Random {
        let text: String = request.messages.iter().map(|m| m.content.as_str()).collect();
        let hash = hashed(&text);
        let mut state = self.state();
        state.requests += 1;
        let times = state.asked.entry(hash).or_default();
        *times += 1;
        Random::new(hash ^ self.seed.rotate_left(32) ^ *times)
    }

    fn fault(&self, asked: Asked, random: &mut Random) -> Option<Fault> {
        if self.sober.load(Ordering::Relaxed) {
            return None;
        }
        let mut at = random.below(1000);
        for (fault, rate) in rates(asked) {
            if at < *rate {
                *self.state().faults.entry(*fault).or_default() += 1;
                return Some(*fault);
            }
            at -= rate;
        }
        None
    }
}

#[async_trait]
impl LanguageModel for Adversary {
    fn name(&self) -> &str {
        "adversary"
    }

    fn context_tokens(&self) -> usize {
        8_192
    }

    fn native_tools(&self) -> bool {
        false
    }

    async fn complete(&self, request: Request) -> Result<Reply, ModelError> {
        let mut random = self.random(&request);
        if self.down.load(Ordering::Relaxed) {
            return Err(ModelError::Unreachable);
        }
        let asked = match request.schema.as_ref().map(|s| s.name.as_str()) {
            Some("dream_units") => Asked::Units,
            Some("dream_verdicts") => Asked::Verdicts,
            Some("dream_changes") => Asked::Changes,
            _ => return Err(ModelError::NoScript),
        };
        let question = request.messages.iter().find(|m| m.role == Role::User).map_or("", |m| m.content.as_str());
        let shown = fenced(question);
        let fault = self.fault(asked, &mut random);
        let answer = match asked {
            Asked::Units => units(shown, fault, &mut random),
            Asked::Verdicts => verdicts(shown, fault, &mut random),
            Asked::Changes => changes(shown, fault, &mut random),
        };
        spoken(&answer, fault, &mut random)
    }
}

/// What stands between the marks of the note.
fn fenced(question: &str) -> &str {
    let after = question.split_once("<<<note ").and_then(|(_, rest)| rest.split_once('\n'));
    after.and_then(|(_, rest)| rest.rsplit_once('\n')).map_or("", |(text, _)| text)
}

/// The answer in the form that a model gives it.
fn spoken(answer: &Value, fault: Option<Fault>, random: &mut Random) -> Result<Reply, ModelError> {
    let json = answer.to_string();
    let cut = |random: &mut Random| {
        let at = json.chars().count() / 4 + random.below(json.chars().count() / 2 + 1);
        json.chars().take(at).collect::<String>()
    };
    Ok(match fault {
        Some(Fault::Timeout) => return Err(ModelError::Timeout(Duration::from_secs(60))),
        Some(Fault::Empty) => Reply::text(random.pick(&["", " \n", "<think>Well, the note says {\"units\": [", "{}"])),
        Some(Fault::Refusal) => Reply::text("I'm sorry, but I can't help with that."),
        Some(Fault::Truncated) => Reply::text(cut(random)),
        Some(Fault::CutByLength) => Reply { finish: FinishReason::Length, ..Reply::text(cut(random)) },
        Some(Fault::Wrapped) => Reply::text(match random.below(3) {
            0 => format!("Sure {{here it is}}:\n```json\n{json}\n```\nAnything else?"),
            1 => format!("<think>maybe {{\"units\": [], \"verdicts\": []}}?</think>{json}"),
            _ => format!("so I answer</think>\n{json}"),
        }),
        Some(Fault::RepeatedKeys) => Reply::text(json.replacen('{', "{\"units\": [], \"verdicts\": [], ", 1)),
        _ => Reply::text(json),
    })
}
