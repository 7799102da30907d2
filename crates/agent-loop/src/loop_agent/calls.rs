//! A model's tool calls as they will be run: names resolved, arguments read and checked, or the
//! reason why not.

use std::collections::BTreeSet;

use dormouse_model::{SchemaMismatch, ToolCall, ToolSpec, check_value};
use serde_json::{Value, json};

use crate::context::cap_bytes;
use crate::tools::{ToolOutput, folded};

/// Longest error text that a model gets about a call, in bytes.
const MAX_ERROR: usize = 1_500;

/// A call that is ready to run.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedCall {
    /// Unique within the run.
    pub id: String,
    /// The tool's true name.
    pub name: String,
    /// An object that fits the tool's schema.
    pub arguments: Value,
}

/// A call of a reply: what goes into the history, and what to do.
#[derive(Debug, Clone)]
pub(crate) struct Read {
    /// With a unique id and arguments that are an object, so that it can be sent back.
    pub(crate) recorded: ToolCall,
    /// The call, or the error that the model gets.
    pub(crate) planned: Result<PlannedCall, ToolOutput>,
}

/// Reads the calls of a reply. Ids that are empty, repeated or in `used` are replaced.
pub(crate) fn read_calls(calls: Vec<ToolCall>, specs: &[ToolSpec], used: &BTreeSet<String>) -> Vec<Read> {
    let mut seen = used.clone();
    let mut next = used.len();
    calls
        .into_iter()
        .map(|call| {
            let mut id = call.id;
            while id.is_empty() || seen.contains(&id) {
                next += 1;
                id = format!("call_{next}");
            }
            seen.insert(id.clone());
            let (recorded, arguments) = match object(&call.arguments, specs, &call.name) {
                Ok(arguments) => (arguments.clone(), Ok(arguments)),
                Err(fault) => (json!({ "unreadable": preview(&call.arguments) }), Err(fault)),
            };
            let planned = plan(&id, &call.name, arguments, specs);
            let name = planned.as_ref().map_or_else(|_| recorded_name(&call.name, specs), |p| p.name.clone());
            Read { recorded: ToolCall { id, name, arguments: recorded }, planned }
        })
        .collect()
}

/// A name that every provider takes back: the tool's own, or the written one reduced to what a name
/// may hold.
fn recorded_name(written: &str, specs: &[ToolSpec]) -> String {
    if let Some(spec) = resolve(written, specs) {
        return spec.name.clone();
    }
    let clean: String =
        written.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).take(64).collect();
    if clean.is_empty() { "unknown".into() } else { clean }
}

fn plan(id: &str, name: &str, arguments: Result<Value, String>, specs: &[ToolSpec]) -> Result<PlannedCall, ToolOutput> {
    let spec = resolve(name, specs).ok_or_else(|| unknown(name, specs))?;
    let fault = |text: String| {
        ToolOutput::error(cap_bytes(&format!("{}: {text} Expected: {}", spec.name, signature(spec)), MAX_ERROR))
    };
    let arguments = arguments.map_err(fault)?;
    match check_value(&spec.parameters, &arguments) {
        // A tool's own broken schema is no fault of the model.
        Ok(()) | Err(SchemaMismatch::BadSchema) => {
            Ok(PlannedCall { id: id.to_owned(), name: spec.name.clone(), arguments })
        }
        Err(SchemaMismatch::Faults { faults }) => {
            let list: Vec<String> =
                faults.iter().map(|f| format!("{} {}", f.path, f.reason).trim().to_owned()).collect();
            Err(fault(format!("the arguments do not fit: {}.", list.join("; "))))
        }
        Err(_) => Err(fault("the arguments do not fit.".into())),
    }
}

/// The tool that a name means: the exact one, else the only one that differs in case and separators.
pub(crate) fn resolve<'a>(name: &str, specs: &'a [ToolSpec]) -> Option<&'a ToolSpec> {
    if let Some(exact) = specs.iter().find(|s| s.name == name) {
        return Some(exact);
    }
    let wanted = folded(name);
    let mut alike = specs.iter().filter(|s| !wanted.is_empty() && folded(&s.name) == wanted);
    alike.next().filter(|_| alike.next().is_none())
}

fn unknown(name: &str, specs: &[ToolSpec]) -> ToolOutput {
    let names: Vec<&str> = specs.iter().map(|s| s.name.as_str()).take(40).collect();
    let shown: String = name.chars().take(60).collect();
    ToolOutput::error(cap_bytes(&format!("no such tool: {shown}. The tools are: {}.", names.join(", ")), MAX_ERROR))
}

/// The arguments as an object, or what is wrong with them. Nothing is guessed: only a tool that
/// requires no argument takes absent ones.
fn object(arguments: &Value, specs: &[ToolSpec], name: &str) -> Result<Value, String> {
    let needs_none = || {
        resolve(name, specs)
            .is_some_and(|s| s.parameters.get("required").and_then(Value::as_array).is_none_or(Vec::is_empty))
    };
    let value = match arguments {
        Value::String(text) if text.trim().is_empty() => Value::Null,
        Value::String(text) => serde_json::from_str(text).map_err(|error| {
            format!("the arguments are no JSON object (column {}): {}.", error.column(), preview(arguments))
        })?,
        other => other.clone(),
    };
    match value {
        Value::Object(_) => Ok(value),
        Value::Null if needs_none() => Ok(json!({})),
        Value::Null => Err("the arguments are missing.".into()),
        _ => Err(format!("the arguments must be one JSON object, not {}.", preview(arguments))),
    }
}

fn preview(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let short: String = text.chars().take(120).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

/// The tool's arguments in one line: `path: string (required), limit: integer`.
fn signature(spec: &ToolSpec) -> String {
    let required: BTreeSet<&str> = spec
        .parameters
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let properties = spec.parameters.get("properties").and_then(Value::as_object);
    let parts: Vec<String> = properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| {
            let kind = schema.get("type").map_or_else(|| "any".to_owned(), |t| t.to_string().replace('"', ""));
            format!("{name}: {kind}{}", if required.contains(name.as_str()) { " (required)" } else { "" })
        })
        .collect();
    if parts.is_empty() { "a JSON object.".into() } else { format!("{}.", parts.join(", ")) }
}
