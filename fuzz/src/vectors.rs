//! Vectors of Obsidian's link rules: small vaults, and what the links of one file in them are.
//!
//! A vector has `files` (path → content), a `source`, and in `expect` all links of the source in
//! document order; a name in it that is not asked for is not compared. Behind the links stand its
//! tags, aliases and fields, complete when the id says so (`tag-`, `ali-`, `fld-`).

use std::collections::BTreeMap;

use dormouse_fixtures::temp_vault;
use dormouse_vault::{Document, LinkKind, NotePath, Resolution, Snapshot, Vault};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use unicode_normalization::UnicodeNormalization;

/// One vector.
#[derive(Debug, Clone, Deserialize)]
pub struct Vector {
    /// Its name.
    pub id: String,
    /// The vault: path → content.
    pub files: BTreeMap<String, String>,
    /// The file whose links are asked for.
    pub source: String,
    /// What is expected, in order.
    pub expect: Vec<Map<String, Value>>,
    /// The reason, for a person.
    #[serde(default)]
    pub why: String,
}

/// A vector that did not come out as it says.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The vector's id.
    pub id: String,
    /// What it says.
    pub expected: Vec<Value>,
    /// What is read, each row cut down to what the vector asks for where both have one.
    pub actual: Vec<Value>,
    /// Its reason.
    pub why: String,
}

/// Why a file of vectors can't be run.
#[derive(Debug)]
pub enum VectorError {
    /// The text is no JSON list.
    Json(serde_json::Error),
    /// One entry is no vector: its id, or its place in the list from 1.
    Entry(String, serde_json::Error),
    /// A file of a vector can't be made, or its source is not among its files.
    Vault(String, String),
}

impl std::fmt::Display for VectorError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Json(error) => write!(f, "not a JSON list of vectors: {error}"),
            Self::Entry(id, error) => write!(f, "{id}: not a vector: {error}"),
            Self::Vault(id, reason) => write!(f, "{id}: {reason}"),
        }
    }
}

impl std::error::Error for VectorError {}

/// Reads a file of vectors: a JSON list, or an object whose `vectors` is one.
///
/// # Errors
/// [`VectorError::Json`] and [`VectorError::Entry`].
pub fn parse(text: &str) -> Result<Vec<Vector>, VectorError> {
    let text = text.trim_start_matches('\u{FEFF}');
    let list: Value = serde_json::from_str(text).map_err(VectorError::Json)?;
    let list = match list {
        Value::Object(mut fields) => fields.remove("vectors").unwrap_or(Value::Null),
        list => list,
    };
    let list: Vec<Value> = serde_json::from_value(list).map_err(VectorError::Json)?;
    let mut vectors = Vec::with_capacity(list.len());
    for (index, entry) in list.into_iter().enumerate() {
        let id = entry.get("id").and_then(Value::as_str).map_or_else(|| format!("entry {}", index + 1), str::to_owned);
        vectors.push(serde_json::from_value(entry).map_err(|error| VectorError::Entry(id, error))?);
    }
    Ok(vectors)
}

/// Runs one vector: `None` when it comes out as it says.
///
/// # Errors
/// [`VectorError::Vault`] when its vault can't be made.
pub fn run(vector: &Vector) -> Result<Option<Failure>, VectorError> {
    let fault = |reason: String| VectorError::Vault(vector.id.clone(), reason);
    let text = vector.files.get(&vector.source);
    let text = text.ok_or_else(|| fault(format!("the source {:?} is not among the files", vector.source)))?;
    let source = NotePath::new(&vector.source).map_err(|e| fault(format!("{:?}: {e}", vector.source)))?;
    let folder = temp_vault("");
    for (path, content) in &vector.files {
        let file = folder.path().join(path);
        if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(fault(format!("{path:?} is no path in a vault")));
        }
        let made = file.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&file, content));
        made.map_err(|error| fault(format!("{path:?} can't be written: {error}")))?;
    }
    let vault = Vault::open(folder.path()).map_err(|error| fault(error.to_string()))?;
    let snapshot = vault.snapshot();
    let doc = match snapshot.note(&source) {
        Some(note) => note.doc().clone(),
        // A canvas is no note: its links are read on demand.
        None => Document::parse_canvas(text),
    };
    let mut actual: Vec<Value> = doc.links.iter().map(|link| row(&snapshot, &source, text, link)).collect();
    if vector.id.contains("tag-") {
        actual.extend(doc.tags.iter().map(|tag| json!({"kind": "tag", "tag": tag})));
    }
    if vector.id.contains("ali-") {
        actual.extend(doc.frontmatter.aliases().iter().map(|alias| json!({"kind": "alias", "alias": alias})));
    }
    if vector.id.contains("fld-") {
        let field = |f: &dormouse_vault::InlineField| json!({"kind": "field", "key": f.lookup_key(), "value": f.value});
        actual.extend(doc.fields.iter().map(field));
    }
    let same = vector.expect.len() == actual.len() && vector.expect.iter().zip(&actual).all(|(w, got)| fits(w, got));
    Ok((!same).then(|| Failure {
        id: vector.id.clone(),
        expected: vector.expect.iter().cloned().map(Value::Object).collect(),
        actual: actual.into_iter().enumerate().map(|(at, got)| shown(got, vector.expect.get(at))).collect(),
        why: vector.why.clone(),
    }))
}

fn row(snapshot: &Snapshot, source: &NotePath, text: &str, link: &dormouse_vault::Link) -> Value {
    let kind = match link.kind {
        LinkKind::Wiki => "wiki",
        LinkKind::Embed => "embed",
        LinkKind::Markdown => "md",
        LinkKind::MarkdownEmbed => "md_embed",
        LinkKind::Frontmatter => "frontmatter",
        LinkKind::Canvas => "canvas_file",
    };
    let resolution = snapshot.resolve_link(source, link);
    let ambiguous = matches!(resolution, Resolution::File { ambiguous: true, .. });
    let path = resolution.path();
    // Vectors count lines from 0.
    let anchor = path.and_then(|p| snapshot.anchor_line(p, &link.subpath)).map(|line| line - 1);
    json!({
        "kind": kind, "target": link.target, "subpath": link.subpath, "display": link.display, "key": link.key,
        "resolves": path.map(NotePath::as_disk), "ambiguous": ambiguous, "anchor_line": anchor,
        "byte_start": link.span.start, "utf16_start": text[..link.span.start].encode_utf16().count(),
    })
}

/// Whether a row says all that is wanted of it.
fn fits(wanted: &Map<String, Value>, got: &Value) -> bool {
    wanted.iter().all(|(key, value)| match key.as_str() {
        "one_of" => value.as_array().is_some_and(|list| list.iter().any(|one| same_path(one, &got["resolves"]))),
        "resolves" if wanted.contains_key("one_of") => true,
        "resolves" => same_path(value, &got["resolves"]),
        "why" | "note" => true,
        key => got.get(key).unwrap_or(&Value::Null) == value,
    })
}

/// Whether two paths name one file: they are compared in NFC.
fn same_path(a: &Value, b: &Value) -> bool {
    match (a.as_str(), b.as_str()) {
        (Some(a), Some(b)) => a.nfc().eq(b.nfc()),
        _ => a == b,
    }
}

/// A row without what was not asked for.
fn shown(got: Value, wanted: Option<&Map<String, Value>>) -> Value {
    let (Some(wanted), Value::Object(fields)) = (wanted, &got) else {
        return got;
    };
    let asked =
        |key: &str| wanted.contains_key(key) || key == "kind" || (key == "resolves" && wanted.contains_key("one_of"));
    Value::Object(fields.iter().filter(|(key, _)| asked(key)).map(|(k, v)| (k.clone(), v.clone())).collect())
}
