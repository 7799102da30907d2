//! Finds topics in events.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use dormouse_vault::meta::{Topic, TopicEvidence, TopicKind, TopicState};
use dormouse_vault::text::{content_words, sentences};
use dormouse_vault::{Layer, NotePath, Snapshot};

use super::dates::named_day;
use super::says::{asks, ends_as_question, intends, is_done, is_standing, is_unsure};
use crate::extractive::turn;
use crate::markdown::{DERIVED_FROM, plain};
use crate::material::{Marker, Material};
use crate::withheld::is_secret;

/// Evidence that a topic keeps at most.
const EVIDENCE: usize = 5;

/// A digest that this many days led to is a recurring interest.
const RECURRING_DAYS: usize = 3;

/// Of the words of a topic, the share that a later sentence must hold to be about it.
const ABOUT: f64 = 0.5;

/// A topic with the words that tell what is about it.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) topic: Topic,
    /// The event that resolved it.
    pub(super) by: Option<NotePath>,
    words: BTreeSet<String>,
}

/// A sentence of an event.
struct Said {
    speaker: Option<String>,
    passage: usize,
    text: String,
    /// Whether it is the last of its passage.
    last: bool,
    words: BTreeSet<String>,
}

/// Topics of `events`, which come oldest first. Linear in the sentences, times the topics that are open
/// when they are read.
pub(super) fn of_events(events: &[Material]) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for event in events {
        let Some(day) = event.date else { continue };
        let said = sentences_of(event);
        for (n, sentence) in said.iter().enumerate() {
            settle(&mut found, event, day, sentence);
            if let Some(kind) = kind(&said, n, day) {
                note(&mut found, event, day, sentence, kind);
            }
        }
    }
    found
}

fn sentences_of(event: &Material) -> Vec<Said> {
    let mut out = Vec::new();
    for (passage, block) in event.passages.iter().enumerate().filter(|(_, block)| block.marker != Marker::Verbatim) {
        let (speaker, text) = match turn(&block.text) {
            Some((speaker, text)) => (Some(speaker.to_owned()), text),
            None => (None, block.text.as_str()),
        };
        let ranges = sentences(text);
        for (n, range) in ranges.iter().enumerate() {
            let Some(sentence) = text.get(range.clone()).map(str::trim) else { continue };
            let last = n + 1 == ranges.len();
            let words = content_words(&plain(sentence)).into_iter().collect();
            out.push(Said { speaker: speaker.clone(), passage, text: sentence.to_owned(), last, words });
        }
    }
    out
}

/// What the sentence at `n` begins, and the day that it names.
fn kind(said: &[Said], n: usize, day: NaiveDate) -> Option<(TopicKind, Option<NaiveDate>)> {
    let sentence = said.get(n)?;
    if sentence.words.len() < 2 || is_assistant(sentence) || is_secret(&sentence.text) {
        return None;
    }
    if !ends_as_question(&sentence.text)
        && intends(&sentence.text)
        && !is_standing(&sentence.text)
        && !is_done_before(sentence)
    {
        let due = named_day(&sentence.text, day).filter(|due| *due > day);
        if due.is_some() {
            return Some((TopicKind::FollowUp, due));
        }
    }
    (asks(&sentence.text) && is_left_open(said, n)).then_some((TopicKind::Question, None))
}

/// `decided to move on Friday` is done as little as what it speaks of is.
fn is_done_before(sentence: &Said) -> bool {
    is_done(&sentence.text) && !sentence.text.contains('，') && !sentence.text.contains(", ")
}

fn is_assistant(sentence: &Said) -> bool {
    let name = sentence.speaker.as_deref().unwrap_or_default().to_lowercase();
    ["assistant", "agent", "ai", "助手", "助理"].contains(&name.as_str())
}

/// Whether nothing behind a question answers it in the same event: in a conversation the turn of
/// somebody else, in prose what goes on in its block.
fn is_left_open(said: &[Said], n: usize) -> bool {
    let Some(question) = said.get(n) else { return false };
    let mut rest = said.get(n + 1..).unwrap_or_default().iter();
    if question.speaker.is_some() {
        let reply: Vec<&Said> = rest.skip_while(|s| s.speaker == question.speaker).collect();
        let first = reply.first().map(|s| s.passage);
        return reply.iter().filter(|s| Some(s.passage) == first).all(|s| is_unsure(&s.text) || asks(&s.text));
    }
    question.last || rest.by_ref().take_while(|s| s.passage == question.passage).all(|s| is_unsure(&s.text))
}

/// Adds a topic, or another piece of evidence to the open one that says the same.
fn note(
    found: &mut Vec<Found>,
    event: &Material,
    day: NaiveDate,
    sentence: &Said,
    (kind, due): (TopicKind, Option<NaiveDate>),
) {
    let block = event.passages.get(sentence.passage).and_then(|passage| passage.id.clone());
    let evidence = TopicEvidence { note: event.path.clone(), block, quote: sentence.text.clone() };
    let same = found
        .iter_mut()
        .find(|f| f.by.is_none() && f.topic.kind == kind && f.topic.due == due && alike(&f.words, &sentence.words));
    if let Some(same) = same {
        same.topic.last_seen = day;
        if same.topic.evidence.len() < EVIDENCE {
            same.topic.evidence.push(evidence);
        }
        return;
    }
    let subject = plain(&sentence.text).trim().to_owned();
    let topic = Topic {
        id: id(kind, &subject, &event.path),
        kind,
        subject,
        due,
        first_seen: day,
        last_seen: day,
        evidence: vec![evidence],
        state: TopicState::Open,
    };
    found.push(Found { topic, by: None, words: sentence.words.clone() });
}

/// Resolves what a sentence answers or reports as done.
fn settle(found: &mut [Found], event: &Material, day: NaiveDate, sentence: &Said) {
    if asks(&sentence.text) || is_unsure(&sentence.text) {
        return;
    }
    let done = is_done(&sentence.text);
    for open in found.iter_mut().filter(|f| f.by.is_none()) {
        let later = open.topic.evidence.iter().all(|e| e.note != event.path) && day >= open.topic.first_seen;
        let fits = open.topic.kind == TopicKind::Question || done;
        if later && fits && is_about(&open.words, &sentence.words) {
            open.by = Some(event.path.clone());
        }
    }
}

fn is_about(topic: &BTreeSet<String>, words: &BTreeSet<String>) -> bool {
    let shared = topic.intersection(words).count();
    shared >= 2 && shared as f64 >= ABOUT * topic.len() as f64
}

/// Whether two sets of words are nearly one.
fn alike(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let shared = a.intersection(b).count();
    shared as f64 >= 0.8 * a.len().max(b.len()) as f64
}

/// Whether a topic says again what another one said.
pub(super) fn says_again(topic: &Topic, other: &Topic) -> bool {
    let words = |topic: &Topic| content_words(&topic.subject).into_iter().collect::<BTreeSet<_>>();
    topic.kind == other.kind && topic.due == other.due && alike(&words(topic), &words(other))
}

/// The subjects that came up on several of the days of `events`: the digests that they led to.
pub(super) fn interests(snapshot: &Snapshot, events: &[Material]) -> Vec<Topic> {
    let days: BTreeMap<&NotePath, NaiveDate> = events.iter().filter_map(|e| Some((&e.path, e.date?))).collect();
    let mut out = Vec::new();
    for note in snapshot.notes().filter(|note| note.layer == Layer::Digest && note.is_live()) {
        let mut sources: BTreeSet<(NaiveDate, NotePath, Option<String>)> = BTreeSet::new();
        for (link, resolution) in snapshot.links_of(note) {
            let is_source = link.predicate.as_deref().is_some_and(|p| p.eq_ignore_ascii_case(DERIVED_FROM));
            let Some(path) = resolution.path().filter(|_| is_source) else { continue };
            if let Some(day) = days.get(path) {
                sources.insert((*day, path.clone(), link.subpath.strip_prefix("#^").map(str::to_owned)));
            }
        }
        let seen: BTreeSet<NaiveDate> = sources.iter().map(|(day, ..)| *day).collect();
        let (Some(first), Some(last)) = (seen.first(), seen.last()) else { continue };
        if seen.len() < RECURRING_DAYS {
            continue;
        }
        let quote = |path: &NotePath, block: &Option<String>| {
            let passages = &events.iter().find(|e| e.path == *path)?.passages;
            passages.iter().find(|p| block.is_none() || p.id == *block).map(|p| p.text.clone())
        };
        let evidence: Vec<TopicEvidence> = sources
            .iter()
            .rev()
            .filter_map(|(_, note, block)| {
                let quote = quote(note, block).filter(|quote| !is_secret(quote))?;
                Some(TopicEvidence { note: note.clone(), block: block.clone(), quote })
            })
            .take(EVIDENCE)
            .collect();
        let subject = plain(&note.name);
        out.push(Topic {
            id: id(TopicKind::Interest, "", &note.path),
            kind: TopicKind::Interest,
            subject,
            due: None,
            first_seen: *first,
            last_seen: *last,
            evidence: evidence.into_iter().rev().collect(),
            state: TopicState::Open,
        });
    }
    out
}

fn id(kind: TopicKind, subject: &str, note: &NotePath) -> String {
    let text = format!("{kind:?}\n{subject}\n{note}");
    blake3::hash(text.as_bytes()).to_hex().chars().take(12).collect()
}
