//! The daily writer: an event becomes a note of its own and a line in the day's index.

mod body;

use chrono::{DateTime, FixedOffset, SecondsFormat};

use crate::change::{Change, ChangeSet, Writer};
use crate::conserve::Conservation;
use crate::error::{CommitError, VaultError};
use crate::layout::Layer;
use crate::path::NotePath;
use crate::snapshot::Snapshot;
use crate::text::slug;
use crate::vault::{Committed, Vault};

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DailyEvent {
    /// When; its local day names the folder.
    pub at: DateTime<FixedOffset>,
    /// The event's name: title, link text and slug.
    pub name: String,
    /// One sentence.
    pub description: String,
    /// More properties, written as quoted strings after ours (`session`, `source`, …).
    pub properties: Vec<(String, String)>,
    /// The body's blocks, Markdown each (a paragraph, a list item with its `- `, a heading line, a
    /// fenced code block). Each gets a block id `^b1`, `^b2`, … but for headings.
    pub blocks: Vec<String>,
}

/// Plans the event's note and its line in the index. A slug that is taken gets `-2`, `-3`, ….
/// Returns the note's path with the change set (writer `AutoMemory`, rule `Additive`).
///
/// A block with blank lines in it becomes several, so that each can be cited; an open code fence is
/// closed. Name, description and properties can hold anything: they are quoted, and a wikilink in
/// them is written as its text, so that no edge comes from a title.
#[must_use]
pub fn plan_event(event: &DailyEvent, snapshot: &Snapshot) -> (NotePath, ChangeSet) {
    let layout = snapshot.layout();
    let day = event.at.format("%Y-%m-%d").to_string();
    let name = match plain(&event.name) {
        name if name.is_empty() => "Untitled".to_owned(),
        name => name,
    };
    let path = free_path(&day, &slug(&name), snapshot);
    let index = layout.file(Layer::Daily, &format!("{day}.md"));
    let line = format!("- [[{}|{}]]\n", path.link_target(), shown(&name));
    let set = ChangeSet::new(Writer::AutoMemory, Conservation::Additive)
        .with(Change::Create { path: path.clone(), content: note(event, &name) })
        .with(Change::Append { path: index, header: format!("# {day}\n\n"), content: line });
    (path, set)
}

fn free_path(day: &str, slug: &str, snapshot: &Snapshot) -> NotePath {
    let file = |n: usize| {
        let suffix = if n == 1 { String::new() } else { format!("-{n}") };
        snapshot.layout().file(Layer::Daily, &format!("{day}/{slug}{suffix}.md"))
    };
    // There are more numbers than files.
    (1..).map(file).find(|path| !snapshot.exists(path)).unwrap_or_else(|| file(0))
}

/// How often a name that another process took in the same moment is looked for anew.
const NAME_TRIES: usize = 64;

impl Vault {
    /// Plans and commits an event. When another process takes the planned name in the same moment,
    /// the next free one is taken: no event is lost to another.
    ///
    /// # Errors
    /// As [`Vault::commit`].
    pub fn write_event(&self, event: &DailyEvent) -> Result<(NotePath, Committed), CommitError> {
        let mut tries = 0;
        loop {
            let (path, plan) = plan_event(event, &self.snapshot());
            match self.commit(&plan) {
                Ok(committed) => return Ok((path, committed)),
                Err(CommitError::Conflict(conflict)) if conflict.expected.is_none() && tries < NAME_TRIES => {
                    tries += 1;
                    // What took the name has to be seen before another is chosen.
                    if let Err(VaultError::Commit(error)) = self.refresh() {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
}

fn note(event: &DailyEvent, name: &str) -> String {
    let mut out = String::from("---\n");
    let date = event.at.to_rfc3339_opts(SecondsFormat::Secs, false);
    let ours = [("name", name.to_owned()), ("description", plain(&event.description)), ("date", date)];
    let mut keys: Vec<String> = Vec::new();
    let all = ours.into_iter().map(|(k, v)| (k.to_owned(), v));
    for (key, value) in all.chain(event.properties.iter().map(|(k, v)| (k.clone(), plain(v)))) {
        let key = key_of(&key);
        if !key.is_empty() && !keys.contains(&key) {
            let value = if key == "date" { value } else { quoted(&value) };
            out.push_str(&format!("{key}: {value}\n"));
            keys.push(key);
        }
    }
    out.push_str(&format!("---\n\n# {name}\n"));
    out.push_str(&body::with_ids(&event.blocks));
    out
}

/// A property key that YAML reads as text: letters, digits, `_` and `-`, anything else as `-`.
fn key_of(key: &str) -> String {
    let clean: String = key.trim().chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let clean = clean.trim_matches('-');
    if clean.chars().next().is_some_and(char::is_alphabetic) { clean.to_owned() } else { String::new() }
}

/// One line of text: blanks collapsed, wikilinks as the text that they show.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[[") {
        out.push_str(before);
        match after.split_once("]]") {
            Some((link, tail)) => {
                out.push_str(link.rsplit('|').next().unwrap_or(link));
                rest = tail;
            }
            None => rest = after,
        }
    }
    out.push_str(rest);
    let clean: String = out.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    clean.replace("]]", "").replace("[[", "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A name as the text of a link: without the characters that would end it.
fn shown(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            '|' => '¦',
            '[' => '(',
            ']' => ')',
            other => other,
        })
        .collect()
}

/// A double-quoted YAML scalar. JSON's escapes are YAML's; what YAML does not print is escaped too.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                out.push_str(&format!("\\u{:04X}", u32::from(c)));
            }
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
