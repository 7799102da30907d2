//! Living: day by day, arrival by arrival, with the witness looking on after every step.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, NaiveTime, Weekday};
use dormouse_agent_loop::{
    Conversation, CycleConfig, CycleReport, Hooks, MemoryCycle, MemoryTools, RecallBefore, RunContext, ToolSet,
    memory_tools, replay,
};
use dormouse_consolidate::{ConsolidateReport, Task, TaskState};
use dormouse_dream::{Abstractor, MaterialState};
use dormouse_fixtures::{Session, SessionMessage};
use dormouse_model::{Message, Role, ToolCall};
use dormouse_recall::{Recall, RecallConfig};
use dormouse_vault::material::is_day_note;
use dormouse_vault::{FixedClock, Layer, NotePath, Vault};
use indicatif::ProgressBar;
use tokio_util::sync::CancellationToken;

use super::report::{Counts, Theme};
use super::story::{Arrival, Story};
use super::witness::{Step, Witness};

/// A life in a vault: the cycle, its clock, and what has happened so far.
pub(crate) struct Life {
    pub(crate) vault: Arc<Vault>,
    pub(crate) clock: FixedClock,
    cycle: Arc<MemoryCycle>,
    tools: ToolSet,
    day_notes: BTreeSet<NotePath>,
    pub(crate) witness: Witness,
    pub(crate) counts: Counts,
    pub(crate) themes: Vec<Theme>,
    pub(crate) timings: BTreeMap<String, Duration>,
}

impl Life {
    /// Opens the vault at `root`, where the story's first files lie already.
    pub(crate) fn open(root: &Path, abstractor: Arc<dyn Abstractor>, start: DateTime<FixedOffset>) -> Result<Self> {
        let started = Instant::now();
        let vault = Arc::new(Vault::open(root)?);
        let clock = FixedClock::new(start);
        let shared: Arc<dyn dormouse_vault::Clock> = Arc::new(clock.clone());
        let recall =
            Arc::new(Recall::open(Arc::clone(&vault), RecallConfig::default())?.with_clock(Arc::clone(&shared)));
        recall.sync()?;
        let (config, problems) = CycleConfig::from_vault(&vault);
        problems.iter().for_each(|problem| anstream::eprintln!("{problem}"));
        let cycle = Arc::new(MemoryCycle::new(Arc::clone(&recall), abstractor, Arc::clone(&shared), config));
        let tools = memory_tools(&MemoryTools::new(recall, shared))?;
        let mut life = Self {
            vault,
            clock,
            cycle,
            tools,
            day_notes: BTreeSet::new(),
            witness: Witness::default(),
            counts: Counts::default(),
            themes: Vec::new(),
            timings: BTreeMap::new(),
        };
        life.spent("open", started);
        life.witness.look(&life.vault, Step::Arrive)?;
        Ok(life)
    }

    /// Lives through the whole story.
    pub(crate) async fn live(&mut self, story: Story, bar: &ProgressBar) -> Result<()> {
        self.counts.days = story.days.len();
        self.counts.user_notes = story.base.len();
        let last = story.days.keys().next_back().copied();
        for (day, arrivals) in story.days {
            bar.set_message(day.to_string());
            let mut evening = DateTime::<FixedOffset>::MIN_UTC.fixed_offset();
            for (at, arrival) in arrivals {
                evening = evening.max(at);
                self.clock.set(at);
                self.arrive(at, arrival).await?;
                bar.inc(1);
            }
            self.sleep(day, evening, last == Some(day)).await?;
        }
        Ok(())
    }

    async fn arrive(&mut self, at: DateTime<FixedOffset>, arrival: Arrival) -> Result<()> {
        match arrival {
            Arrival::File { from, path } => {
                place(&from, self.vault.root(), &path)?;
                self.vault.refresh()?;
                self.witness.look(&self.vault, Step::Arrive)?;
                self.experience(&path).await
            }
            Arrival::Event(event) => {
                let (path, _) = self.vault.write_event(&event)?;
                self.witness.look(&self.vault, Step::Live)?;
                self.experience(&path).await
            }
            Arrival::Conversation(session) => self.converse(at, session).await,
        }
    }

    /// Dreams over what arrived, and counts it unless dream says that it is no material.
    async fn experience(&mut self, path: &NotePath) -> Result<()> {
        let layer = self.vault.layout().layer(path);
        if !matches!(layer, Layer::Daily | Layer::Resource) {
            return Ok(());
        }
        if is_day_note(&self.vault.snapshot(), path) {
            // A day is over in the evening; only then is it known what its note is.
            self.day_notes.insert(path.clone());
            return Ok(());
        }
        let is_material = self.dream(path).await?;
        match layer {
            Layer::Resource => self.counts.resources += 1,
            _ if is_material => self.counts.events += 1,
            _ => {}
        }
        Ok(())
    }

    /// Dreams over one path; says whether it was material.
    async fn dream(&mut self, path: &NotePath) -> Result<bool> {
        let started = Instant::now();
        let report = self.cycle.observe_event(path).await;
        self.spent("dream", started);
        let materials = report.dream.iter().flat_map(|d| &d.materials);
        let skipped = materials.filter(|m| matches!(m.state, MaterialState::Skipped { .. })).count() > 0;
        self.take(report);
        self.witness.look(&self.vault, Step::Dream)?;
        Ok(!skipped)
    }

    /// A conversation: recall before each run, real tool calls, auto-memory and a dream after it.
    async fn converse(&mut self, at: DateTime<FixedOffset>, session: Session) -> Result<()> {
        let started = Instant::now();
        let transcript: Vec<Message> = session.messages.into_iter().map(message).collect::<Result<_>>()?;
        let hooks = Hooks { contributors: vec![Arc::new(RecallBefore(Arc::clone(&self.cycle)))], ..Hooks::default() };
        let lived = replay(&transcript, &self.tools, &hooks, &RunContext::new(&session.session)).await;
        self.spent("agent loop", started);
        let started = Instant::now();
        let conversation = Conversation { session: session.session.clone(), at, messages: lived.messages };
        let report = self.cycle.after(&conversation).await;
        self.spent("auto-memory and dream", started);
        self.counts.conversations += 1;
        self.counts.events_from_conversations += report.events.len();
        self.witness.check(lived.runs > 0, "a conversation is lived through", &session.session);
        self.take(report);
        self.witness.look(&self.vault, Step::Live)
    }

    /// The night: time and health each day, the whole network at the end of a week.
    async fn sleep(&mut self, day: NaiveDate, evening: DateTime<FixedOffset>, last: bool) -> Result<()> {
        let night = day.and_time(NaiveTime::from_hms_opt(23, 30, 0).unwrap_or_default());
        let night = night.and_local_timezone(*evening.offset()).single().unwrap_or(evening);
        self.clock.set(night.max(evening));
        for path in std::mem::take(&mut self.day_notes) {
            if self.dream(&path).await? {
                self.counts.events += 1;
            }
        }
        let mut tasks = vec![Task::Time, Task::Health];
        if last || day.weekday() == Weekday::Sun {
            tasks = Task::ALL.to_vec();
        }
        let started = Instant::now();
        let report = self.cycle.consolidate(&tasks, &CancellationToken::new()).await?;
        self.spent("consolidate", started);
        self.slept(report);
        self.witness.look(&self.vault, Step::Consolidate)
    }

    fn slept(&mut self, report: ConsolidateReport) {
        for task in &report.tasks {
            self.witness.check(
                task.state == TaskState::Done,
                "every task of consolidate ends well",
                format_args!("{}: {:?}", task.task, task.state),
            );
            if task.task == Task::Communities {
                self.counts.communities = report.communities.len();
                self.themes = report
                    .communities
                    .iter()
                    .map(|t| Theme { label: t.label.clone(), notes: t.size, hub: t.hub.to_string() })
                    .collect();
            }
            if task.task == Task::Duplicates {
                self.counts.duplicates = report.duplicates.len();
            }
        }
        self.counts.splits += report.splits.len();
        if let Some(health) = &report.health {
            (self.counts.health_severe, self.counts.health_warnings) = (health.severe, health.warnings);
        }
    }

    fn take(&mut self, report: CycleReport) {
        for problem in &report.problems {
            self.witness
                .violation("the cycle has no failing step", format_args!("{}: {}", problem.step, problem.reason));
        }
        self.counts.splits += report.splits.len();
        let Some(dream) = report.dream else { return };
        for material in &dream.materials {
            if let MaterialState::Pending { reason } = &material.state {
                self.counts.failed_dreams += 1;
                anstream::eprintln!("{} could not be dreamed and stays pending: {reason}", material.path);
            }
        }
        let t = dream.totals;
        self.counts.units_kept += t.units_kept;
        self.counts.units_known += t.units_known;
        self.counts.units_dropped += t.units_dropped;
        self.counts.facts_dropped += t.facts_dropped;
        self.counts.created += t.created;
        self.counts.corroborated += t.corroborated;
        self.counts.refined += t.refined;
        self.counts.corrected += t.corrected;
        self.counts.model_calls += dream.usage.calls;
    }

    /// Adds to a stage's time.
    pub(crate) fn spent(&mut self, stage: &str, since: Instant) {
        *self.timings.entry(stage.to_owned()).or_default() += since.elapsed();
    }
}

/// Copies one file of the story into the vault, as a sync tool would: under a hidden name first, so
/// that nobody ever sees half of it.
pub(crate) fn place(from: &Path, root: &Path, path: &NotePath) -> Result<()> {
    let to = root.join(path.as_disk());
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let half = to.with_file_name(".arriving");
    let copied = fs::copy(from, &half).and_then(|_| fs::rename(&half, &to));
    copied.with_context(|| format!("{} → {}", from.display(), to.display()))
}

fn message(recorded: SessionMessage) -> Result<Message> {
    let role = match recorded.role.as_str() {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        other => anyhow::bail!("a transcript has no role {other:?}"),
    };
    let tool_calls = recorded.tool_calls.into_iter().map(serde_json::from_value::<ToolCall>).collect::<Result<_, _>>();
    Ok(Message {
        tool_calls: tool_calls.context("a tool call of a transcript is {id, name, arguments}")?,
        tool_call_id: recorded.tool_call_id,
        ..Message::new(role, recorded.content)
    })
}
