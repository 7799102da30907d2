//! What is lived through: files that are there from the start, and what arrives on which day.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use chrono::{DateTime, FixedOffset, NaiveDate, NaiveTime};
use dormouse_fixtures::Session;
use dormouse_vault::daily::DailyEvent;
use dormouse_vault::{Document, Layer, NotePath, Settings};

/// Something that happens at a moment.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// A file that somebody else puts into the vault, as it is.
    File {
        /// Where it comes from.
        from: PathBuf,
        /// Where it goes, vault-relative.
        path: NotePath,
    },
    /// A conversation that the agent loop lives through.
    Conversation(Session),
    /// An event that is written by the daily writer.
    Event(DailyEvent),
}

/// The whole story, in order.
#[derive(Debug, Default)]
pub(crate) struct Story {
    /// What it is, for the report.
    pub(crate) name: String,
    /// There before the first day.
    pub(crate) base: Vec<(PathBuf, NotePath)>,
    /// Per day, what arrives, in order of time.
    pub(crate) days: BTreeMap<NaiveDate, Vec<(DateTime<FixedOffset>, Arrival)>>,
}

impl Story {
    /// Adds an arrival on its own day.
    pub(crate) fn arrive(&mut self, at: DateTime<FixedOffset>, arrival: Arrival) {
        self.days.entry(at.date_naive()).or_default().push((at, arrival));
    }

    /// Brings each day's arrivals into order of time; files before what refers to them.
    pub(crate) fn sort(&mut self) {
        for arrivals in self.days.values_mut() {
            arrivals.sort_by_key(|(at, _)| *at);
        }
    }

    /// How many things arrive.
    pub(crate) fn arrivals(&self) -> usize {
        self.days.values().map(Vec::len).sum()
    }
}

/// The story of an existing vault: its daily events and resources arrive on their days, all else is
/// there from the start. Files without a date are there from the start too.
pub(crate) fn of_vault(root: &Path, sessions: Vec<Session>) -> Result<Story> {
    let settings =
        fs::read_to_string(root.join("dormouse.toml")).map_or_else(|_| Settings::default(), |t| Settings::parse(&t).0);
    let mut story =
        Story { name: root.file_name().unwrap_or_default().to_string_lossy().into_owned(), ..Story::default() };
    let mut files = Vec::new();
    walk(root, root, &mut files)?;
    files.sort();
    for (from, path) in files {
        let layer = settings.layout.layer(&path);
        let arrives = matches!(layer, Layer::Daily | Layer::Resource);
        match path.date().filter(|_| arrives) {
            Some(day) => {
                let at = moment(&from, &path, day, layer);
                story.arrive(at, Arrival::File { from, path });
            }
            None => story.base.push((from, path)),
        }
    }
    for session in sessions {
        let at = DateTime::parse_from_rfc3339(&session.started_at)
            .with_context(|| format!("{}: started_at is no RFC 3339 time", session.session))?;
        story.arrive(at, Arrival::Conversation(session));
    }
    story.sort();
    Ok(story)
}

/// When a file arrives: the time in its frontmatter; else resources and the day's index come in the
/// morning and events at noon.
fn moment(from: &Path, path: &NotePath, day: NaiveDate, layer: Layer) -> DateTime<FixedOffset> {
    let stated = fs::read_to_string(from).ok().filter(|_| path.is_markdown()).and_then(|text| {
        let doc = Document::parse(&text);
        DateTime::parse_from_rfc3339(doc.frontmatter.text("date")?).ok()
    });
    let is_index = layer == Layer::Daily && path.stem() == day.to_string();
    let hour = if layer == Layer::Resource || is_index { 6 } else { 12 };
    stated.filter(|at| at.date_naive() == day && !is_index).unwrap_or_else(|| at_hour(day, hour))
}

/// `day` at a full hour, in UTC.
pub(crate) fn at_hour(day: NaiveDate, hour: u32) -> DateTime<FixedOffset> {
    let time = NaiveTime::from_hms_opt(hour, 0, 0).unwrap_or_default();
    day.and_time(time).and_utc().fixed_offset()
}

fn walk(root: &Path, dir: &Path, files: &mut Vec<(PathBuf, NotePath)>) -> Result<()> {
    for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let hidden = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.') && n != ".obsidian");
        // A link may lead out of the vault or round in a circle; the copy does without.
        if hidden || kind.is_symlink() {
            continue;
        }
        if kind.is_dir() {
            walk(root, &path, files)?;
        } else if kind.is_file() {
            let relative = path.strip_prefix(root).unwrap_or(&path);
            if let Some(note) = relative.to_str().and_then(|r| NotePath::new(&r.replace('\\', "/")).ok()) {
                files.push((path, note));
            }
        }
    }
    Ok(())
}
