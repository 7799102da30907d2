//! `meta/topics.json`: made anew from the events of the last weeks, with what was raised or resolved kept.

use std::thread;
use std::time::Duration;

use chrono::{Days, NaiveDate};
use dormouse_vault::material::{day, is_day_note, materials};
use dormouse_vault::meta::{Artefact, Topic, TopicKind, TopicState, Topics};
use dormouse_vault::{ChangeSet, Clock, CommitError, Conservation, Layer, Stage, StageLock, Vault, Writer};

use super::find::{interests, of_events, says_again};
use crate::config::DreamConfig;
use crate::error::DreamError;
use crate::material::{Material, Read, read};

/// Events of so many days are looked at.
const WINDOW_DAYS: u64 = 60;
/// So many topics are open at the same time.
const OPEN: usize = 50;
/// A follow-up is raised until so many days behind its day.
const OVERDUE_DAYS: u64 = 30;
/// How often, and how long apart, a lock that somebody else holds is asked for again.
const PATIENCE: (u32, Duration) = (20, Duration::from_millis(50));

/// What is said of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TopicMark {
    /// A host has raised it, or a person puts it aside.
    Raised,
    /// It is answered or done.
    Resolved,
    /// It may be raised again.
    Open,
}

/// Finds the topics of the last sixty days anew and stores them, when they are other than those that
/// are stored. What was raised or resolved stays so. A file that can't be read is set aside for the
/// new one; the text says so.
///
/// # Errors
/// [`DreamError::Vault`], or [`DreamError::Commit`] when the file can't be written.
pub fn refresh_topics(
    vault: &Vault,
    clock: &dyn Clock,
    config: &DreamConfig,
) -> Result<(Topics, Option<String>), DreamError> {
    let _lock = lock(vault)?;
    let loaded = vault.meta::<Topics>();
    let problem = loaded.problem.as_ref().map(|problem| format!("the topics can't be read: {problem}"));
    let before = loaded.value.map(|topics| topics.topics).unwrap_or_default();
    let is_new = problem.is_some() || vault.meta::<Topics>().value.is_none();
    let today = clock.today();
    let topics = merged(found(vault, today, clock, config)?, &before, today);
    let out = Topics { version: Topics::VERSION, computed_at: clock.now_utc(), topics };
    // No file for a vault that has nothing to say.
    if out.topics != before || (is_new && !out.topics.is_empty()) {
        store(vault, &out)?;
    }
    Ok((out, problem))
}

/// Marks a topic. False when it was so already.
///
/// # Errors
/// [`DreamError::NoSuchTopic`], [`DreamError::TopicsUnreadable`] (nothing is written over them), or
/// [`DreamError::Commit`].
pub fn mark_topic(vault: &Vault, id: &str, mark: TopicMark, clock: &dyn Clock) -> Result<bool, DreamError> {
    let _lock = lock(vault)?;
    let loaded = vault.meta::<Topics>();
    if let Some(problem) = loaded.problem {
        return Err(DreamError::TopicsUnreadable { problem: Box::new(problem) });
    }
    let no_such = || DreamError::NoSuchTopic { id: id.to_owned() };
    let mut topics = loaded.value.ok_or_else(no_such)?;
    // The beginning of an id is enough where only one begins so.
    let mut fitting =
        topics.topics.iter_mut().filter(|topic| topic.id == id || (id.len() >= 4 && topic.id.starts_with(id)));
    let topic = fitting.next().ok_or_else(no_such)?;
    if fitting.next().is_some() {
        return Err(no_such());
    }
    let at = clock.now_utc();
    let is_so = matches!(
        (&topic.state, mark),
        (TopicState::Open, TopicMark::Open)
            | (TopicState::Raised { .. }, TopicMark::Raised)
            | (TopicState::Resolved { .. }, TopicMark::Resolved)
    );
    if is_so {
        return Ok(false);
    }
    topic.state = match mark {
        TopicMark::Raised => TopicState::Raised { at },
        TopicMark::Resolved => TopicState::Resolved { at, by: None },
        TopicMark::Open => TopicState::Open,
    };
    topics.topics.sort_by(order);
    topics.computed_at = at;
    store(vault, &topics)?;
    Ok(true)
}

fn found(vault: &Vault, today: NaiveDate, clock: &dyn Clock, config: &DreamConfig) -> Result<Vec<Topic>, DreamError> {
    let snapshot = vault.snapshot();
    let from = today.checked_sub_days(Days::new(WINDOW_DAYS)).unwrap_or(today);
    let mut events: Vec<Material> = Vec::new();
    for path in materials(&snapshot) {
        let within = day(&snapshot, &path).is_some_and(|day| day >= from && day <= today);
        if !within || vault.layout().layer(&path) != Layer::Daily || is_day_note(&snapshot, &path) {
            continue;
        }
        // An event that can't be read now says nothing this time.
        if let Ok(Read::Material(event)) = read(vault, &snapshot, &path, config) {
            events.push(*event);
        }
    }
    events.sort_by(|a, b| (a.date, &a.path).cmp(&(b.date, &b.path)));
    let at = clock.now_utc();
    let mut out: Vec<Topic> = of_events(&events)
        .into_iter()
        .map(|found| match found.by {
            Some(by) => Topic { state: TopicState::Resolved { at, by: Some(by) }, ..found.topic },
            None => found.topic,
        })
        .collect();
    out.extend(interests(&snapshot, &events));
    Ok(out)
}

/// What was found, with what is known of it. Bounded: the latest and nearest fifty are open, and what
/// is settled is forgotten when its events are twice out of sight.
fn merged(found: Vec<Topic>, before: &[Topic], today: NaiveDate) -> Vec<Topic> {
    let is_settled = |topic: &&Topic| topic.state != TopicState::Open;
    let since = |days: u64| today.checked_sub_days(Days::new(days)).unwrap_or(today);
    let mut out: Vec<Topic> = Vec::new();
    for mut topic in found {
        let known = before.iter().find(|b| b.id == topic.id);
        match known.filter(is_settled) {
            Some(known) => topic.state = known.state.clone(),
            // Told anew what was raised or settled under other words.
            None if before.iter().filter(is_settled).any(|b| says_again(&topic, b)) => continue,
            None => {}
        }
        let is_past = topic.due.is_some_and(|due| due < since(OVERDUE_DAYS));
        // What is resolved before anybody could raise it is no topic.
        let unborn = known.is_none() && topic.state != TopicState::Open;
        let is_over = topic.state == TopicState::Open && is_past;
        if !unborn && !is_over {
            out.push(topic);
        }
    }
    let gone = before.iter().filter(is_settled).filter(|b| b.last_seen >= since(2 * WINDOW_DAYS));
    let gone: Vec<Topic> = gone.filter(|b| out.iter().all(|topic| topic.id != b.id)).cloned().collect();
    out.extend(gone);
    out.sort_by(order);
    let mut open = 0;
    out.retain(|topic| {
        open += usize::from(topic.state == TopicState::Open);
        topic.state != TopicState::Open || open <= OPEN
    });
    out
}

/// Open ones first: with a day by that day, then questions and interests, the latest first.
fn order(a: &Topic, b: &Topic) -> std::cmp::Ordering {
    let settled = |topic: &Topic| topic.state != TopicState::Open;
    let rank = |topic: &Topic| (settled(topic), topic.due.is_none(), topic.due, topic.kind == TopicKind::Interest);
    rank(a).cmp(&rank(b)).then(b.last_seen.cmp(&a.last_seen)).then(a.id.cmp(&b.id))
}

fn store(vault: &Vault, topics: &Topics) -> Result<(), DreamError> {
    let set = ChangeSet::new(Writer::Meta, Conservation::Additive).with(topics.to_change(vault.layout()));
    vault.commit(&set)?;
    Ok(())
}

fn lock(vault: &Vault) -> Result<StageLock, CommitError> {
    for _ in 0..PATIENCE.0 {
        match vault.lock_stage(Stage::Topics) {
            Err(CommitError::Locked { .. }) => thread::sleep(PATIENCE.1),
            ended => return ended,
        }
    }
    vault.lock_stage(Stage::Topics)
}
