//! Tools over memory: `search`, `list`, `traverse`, `read`, `remember`. None of them can write a
//! digest. What comes back from notes is fenced and labelled as data.

use std::fmt::Write;
use std::sync::Arc;

use async_trait::async_trait;
use dormouse_model::{ToolSpec, check_value};
use dormouse_recall::{Direction, Recall, SearchReply, SearchRequest, TraverseRequest};
use dormouse_vault::daily::DailyEvent;
use dormouse_vault::text::{sentences, truncate_chars};
use dormouse_vault::{Clock, Layer, NotePath, VaultError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::listing::{self, ListArguments, refused};
use super::{Access, Tool, ToolOutput, ToolSet};
use crate::agent::RunContext;
use crate::context::{DATA_NOTICE, cap_bytes, fenced};
use crate::error::AgentError;

/// The property that names the conversation in which an event was remembered by the agent itself.
pub(crate) const REMEMBERED_IN: &str = "remembered_in";

/// What the memory tools work on.
#[derive(Clone)]
pub struct MemoryTools {
    /// Recall, and with it the vault.
    pub recall: Arc<Recall>,
    /// Dates what is remembered.
    pub clock: Arc<dyn Clock>,
    /// Bytes of a note that `read` shows. Default 24 KiB.
    pub max_read_bytes: usize,
}

impl MemoryTools {
    /// Over `recall`.
    #[must_use]
    pub fn new(recall: Arc<Recall>, clock: Arc<dyn Clock>) -> Self {
        Self { recall, clock, max_read_bytes: 24 * 1024 }
    }
}

/// The memory tools.
///
/// # Errors
/// None; the names are fixed. The signature is that of [`ToolSet::new`].
pub fn memory_tools(memory: &MemoryTools) -> Result<ToolSet, AgentError> {
    ToolSet::new(Verb::ALL.map(|verb| {
        let tool: Arc<dyn Tool> = Arc::new(MemoryTool { verb, spec: verb.spec(), memory: memory.clone() });
        tool
    }))
}

#[derive(Debug, Clone, Copy)]
enum Verb {
    Search,
    List,
    Traverse,
    Read,
    Remember,
}

struct MemoryTool {
    verb: Verb,
    spec: ToolSpec,
    memory: MemoryTools,
}

impl Verb {
    const ALL: [Self; 5] = [Self::Search, Self::List, Self::Traverse, Self::Read, Self::Remember];

    fn spec(self) -> ToolSpec {
        let (name, description, properties, required) = match self {
            Self::Search => (
                "search",
                "Finds notes by meaning. Start here. The query may hold in:digest, tag:x, date:2026-11.. and \"exact phrases\".",
                json!({"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 1, "maximum": 50}}),
                json!(["query"]),
            ),
            Self::List => (
                "list",
                "Lists notes by conditions, without ranking; all that are given must hold.",
                listing::properties(),
                json!([]),
            ),
            Self::Traverse => (
                "traverse",
                "Follows links from a note. It is named by its path, its file name, or a wikilink to it, not by its title.",
                json!({"from": {"type": "string"}, "direction": {"enum": ["out", "in", "both"]}, "depth": {"type": "integer", "minimum": 1, "maximum": 5}, "predicate": {"type": "string"}}),
                json!(["from"]),
            ),
            Self::Read => (
                "read",
                "Reads one note. It is named by its path, its file name, or a wikilink to it, not by its title.",
                json!({"path": {"type": "string"}}),
                json!(["path"]),
            ),
            Self::Remember => (
                "remember",
                "Writes something down for good: a decision, a preference, a lesson. It becomes an event of today.",
                json!({"title": {"type": "string", "minLength": 1}, "text": {"type": "string", "minLength": 1}}),
                json!(["title", "text"]),
            ),
        };
        ToolSpec {
            name: name.into(),
            description: description.into(),
            parameters: json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            }),
        }
    }
}

#[async_trait]
impl Tool for MemoryTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, _: &Value) -> Access {
        match self.verb {
            Verb::Remember => Access::Write(vec!["vault".into()]),
            _ => Access::Read(vec!["vault".into()]),
        }
    }

    async fn call(&self, arguments: Value, cx: &RunContext) -> ToolOutput {
        // A loop has checked this before; other callers have not.
        if let Err(mismatch) = check_value(&self.spec.parameters, &arguments) {
            let error = AgentError::Input { agent: self.spec.name.clone(), mismatch };
            return ToolOutput::error(error.to_string());
        }
        let (verb, memory, session) = (self.verb, self.memory.clone(), cx.session.clone());
        // Search and commit are work for a thread of their own.
        let work = tokio::task::spawn_blocking(move || match verb {
            Verb::Search => memory.search(arguments),
            Verb::List => memory.list(arguments),
            Verb::Traverse => memory.traverse(arguments),
            Verb::Read => memory.read(arguments),
            Verb::Remember => memory.remember(arguments, &session),
        });
        match work.await {
            Ok(Ok(text)) => ToolOutput::ok(text),
            Ok(Err(error)) if is_no_note(&error) => {
                ToolOutput::error(format!("{error}; `search` finds a note by its title or its words"))
            }
            Ok(Err(error)) => ToolOutput::error(error.to_string()),
            Err(_) => ToolOutput::error("the tool crashed"),
        }
    }
}

#[derive(Deserialize)]
struct SearchArguments {
    query: String,
    limit: Option<usize>,
}

#[derive(Deserialize)]
struct TraverseArguments {
    from: String,
    direction: Option<Direction>,
    depth: Option<usize>,
    predicate: Option<String>,
}

#[derive(Deserialize)]
struct ReadArguments {
    path: String,
}

#[derive(Deserialize)]
struct RememberArguments {
    title: String,
    text: String,
}

fn is_no_note(error: &AgentError) -> bool {
    matches!(error, AgentError::Vault(VaultError::NotFound { .. }))
}

/// The arguments, which were checked against the schema.
fn parsed<T: serde::de::DeserializeOwned>(arguments: Value) -> Result<T, AgentError> {
    serde_json::from_value(arguments).map_err(|_| AgentError::Model(dormouse_model::ModelError::Malformed))
}

impl MemoryTools {
    fn search(&self, arguments: Value) -> Result<String, AgentError> {
        let arguments: SearchArguments = parsed(arguments)?;
        let limit = arguments.limit.unwrap_or(8);
        let request = SearchRequest { limit, soft_dates: true, ..SearchRequest::new(arguments.query) };
        Ok(shown(&self.recall.search(&request)?))
    }

    fn list(&self, arguments: Value) -> Result<String, AgentError> {
        let arguments: ListArguments = parsed(arguments)?;
        let request = arguments.request()?;
        let reply = self.recall.list(&request)?;
        let mut out = format!("{} note(s)\n", reply.total);
        for note in &reply.notes {
            let date = note.date.map(|d| format!(" ({d})")).unwrap_or_default();
            let _ = writeln!(out, "- {}{date}: {}", note.path, note.name);
        }
        for warning in &reply.warnings {
            let _ = writeln!(out, "({warning})");
        }
        Ok(labelled(&out))
    }

    fn traverse(&self, arguments: Value) -> Result<String, AgentError> {
        let arguments: TraverseArguments = parsed(arguments)?;
        let request = TraverseRequest {
            from: arguments.from,
            direction: arguments.direction.unwrap_or_default(),
            depth: arguments.depth.unwrap_or(1),
            predicate: arguments.predicate,
            ..TraverseRequest::default()
        };
        let reply = self.recall.traverse(&request)?;
        let mut out = format!("{} note(s)\n", reply.total);
        for note in &reply.notes {
            let via = note.via.as_ref().map(|via| {
                let arrow = if via.direction == Direction::In { "<-" } else { "->" };
                let predicate = via.predicate.as_deref().map(|p| format!(" {p}")).unwrap_or_default();
                format!("  ({} {arrow}{predicate})", via.from)
            });
            let _ = writeln!(out, "- {}: {}{}", note.path, note.name, via.unwrap_or_default());
        }
        Ok(labelled(&out))
    }

    fn read(&self, arguments: Value) -> Result<String, AgentError> {
        let arguments: ReadArguments = parsed(arguments)?;
        let vault = self.recall.vault();
        let path = match vault.snapshot().find(&arguments.path) {
            Some(note) => note.path.clone(),
            None => NotePath::new(&arguments.path)
                .map_err(|source| VaultError::Path { given: arguments.path.clone().into(), source })?,
        };
        let layer = vault.layout().layer(&path);
        if matches!(layer, Layer::Meta | Layer::Audit) {
            return Err(VaultError::NotFound { path }.into());
        }
        let read = vault.read(&path)?;
        self.recall.mark_read(std::slice::from_ref(&path));
        let text = cap_bytes(&read.text, self.max_read_bytes);
        let version = read.version.to_string();
        Ok(format!("{DATA_NOTICE}\n\n{}", fenced(&[("path", path.as_str()), ("version", &version)], &text)))
    }

    fn remember(&self, arguments: Value, session: &str) -> Result<String, AgentError> {
        let arguments: RememberArguments = parsed(arguments)?;
        if arguments.text.trim().is_empty() {
            return Err(refused("text", &arguments.text, "what to remember, in words"));
        }
        let vault = self.recall.vault();
        let first = sentences(&arguments.text)
            .into_iter()
            .next()
            .and_then(|r| arguments.text.get(r))
            .unwrap_or(&arguments.text);
        let event = DailyEvent {
            at: self.clock.now(),
            name: truncate_chars(&arguments.title, 120).to_owned(),
            description: truncate_chars(first, 200).to_owned(),
            properties: vec![("source".into(), "remembered".into()), (REMEMBERED_IN.into(), session.into())],
            // The daily writer cuts it, and leaves code whole.
            blocks: vec![arguments.text],
        };
        let (path, _) = vault.write_event(&event)?;
        Ok(format!("remembered: {path}"))
    }
}

fn labelled(text: &str) -> String {
    fenced(&[("source", "listing")], text)
}

fn shown(reply: &SearchReply) -> String {
    if reply.hits.is_empty() {
        return "no note answers this; try other words".into();
    }
    let mut out = format!("{DATA_NOTICE}\n");
    for (at, hit) in reply.hits.iter().enumerate() {
        let date = hit.date.map(|d| d.to_string()).unwrap_or_default();
        let mut text = format!("{}. {}\n", at + 1, hit.name);
        for passage in &hit.passages {
            let place = if passage.heading_path.is_empty() {
                String::new()
            } else {
                format!("[{}] ", passage.heading_path.join(" > "))
            };
            let id = passage.block_id.as_deref().map(|id| format!(" ^{id}")).unwrap_or_default();
            let _ = writeln!(
                text,
                "lines {}-{}: {place}{}{id}",
                passage.lines.0,
                passage.lines.1,
                truncate_chars(&passage.text, 1_000)
            );
        }
        let _ = write!(
            out,
            "\n{}",
            fenced(&[("path", hit.path.as_str()), ("layer", hit.layer.as_str()), ("date", &date)], &text)
        );
    }
    for notice in &reply.notices {
        let _ = write!(out, "\n({notice})");
    }
    out
}
