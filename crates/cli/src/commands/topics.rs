//! `dormouse topics`: what a host might raise with the user today.

use std::io::{self, Write};

use anyhow::Result;
use chrono::NaiveDate;
use dormouse_dream::{DreamConfig, TopicMark, mark_topic, refresh_topics};
use dormouse_vault::meta::{Topic, TopicKind, TopicState};
use serde::Serialize;

use super::{Scene, warn};
use crate::args::{TopicsAct, TopicsArgs};
use crate::output::{Output, bold, dim};

/// Topics, and the day that they are looked at.
#[derive(Debug, Serialize)]
struct List {
    today: NaiveDate,
    topics: Vec<Shown>,
    /// What is not shown: raised or resolved before.
    settled: usize,
    problems: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    topic: Topic,
    /// Whether the day of a follow-up is over.
    overdue: bool,
}

#[derive(Debug, Serialize)]
struct Marked {
    id: String,
    state: &'static str,
    /// Whether that is new.
    changed: bool,
}

pub(crate) fn run(scene: &Scene, args: &TopicsArgs, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    let clock = scene.clock();
    if let Some(act) = &args.act {
        let (id, mark, state) = match act {
            TopicsAct::Raised { id } => (id, TopicMark::Raised, "raised"),
            TopicsAct::Resolved { id } => (id, TopicMark::Resolved, "resolved"),
            TopicsAct::Reopen { id } => (id, TopicMark::Open, "open"),
        };
        let changed = mark_topic(&vault, id, mark, clock.as_ref())?;
        let reply = Marked { id: id.clone(), state, changed };
        out.emit(&reply, |w| {
            let already = if reply.changed { "" } else { " already" };
            writeln!(w, "{} is {}{already}", reply.id, reply.state)
        })?;
        return Ok(0);
    }
    let (config, problems) = vault.settings().section::<DreamConfig>("dream");
    warn(&problems);
    let (topics, problem) = refresh_topics(&vault, clock.as_ref(), &config)?;
    let today = clock.today();
    let total = topics.topics.len();
    let shown: Vec<Shown> = topics
        .topics
        .into_iter()
        .filter(|topic| args.all || topic.state == TopicState::Open)
        .map(|topic| Shown { overdue: topic.due.is_some_and(|due| due < today), topic })
        .collect();
    let list = List { today, settled: total - shown.len(), topics: shown, problems: problem.into_iter().collect() };
    out.emit(&list, |w| page(w, &list))?;
    Ok(0)
}

fn page(w: &mut dyn Write, list: &List) -> io::Result<()> {
    list.problems.iter().try_for_each(|problem| writeln!(w, "{problem}"))?;
    if list.topics.is_empty() {
        writeln!(w, "Nothing to raise.")?;
    }
    for Shown { topic, overdue } in &list.topics {
        let kind = match topic.kind {
            TopicKind::FollowUp => "follow-up",
            TopicKind::Question => "question",
            TopicKind::Interest => "interest",
        };
        let due = topic.due.map(|due| format!("  {}{due}", if *overdue { "overdue since " } else { "by " }));
        let state = match &topic.state {
            TopicState::Open => "",
            TopicState::Raised { .. } => "  raised",
            TopicState::Resolved { .. } => "  resolved",
        };
        let due = due.unwrap_or_default();
        writeln!(w, "{}  {kind:<9}  {}{due}{}", dim(&topic.id), bold(&topic.subject), dim(state))?;
        for evidence in &topic.evidence {
            let block = evidence.block.as_ref().map(|block| format!("#^{block}")).unwrap_or_default();
            writeln!(w, "{}", dim(format!("              {}{block}", evidence.note)))?;
        }
    }
    if list.settled > 0 {
        writeln!(w, "{}", dim(format!("{} raised or resolved before (--all shows them)", list.settled)))?;
    }
    Ok(())
}
