//! `dormouse edit`: one place of a note is changed, and nothing outside of it.

use std::io::{IsTerminal, Read};
use std::ops::Range;

use anyhow::{Context, Result};
use dormouse_vault::edit::{self, EditError, TextEdit};
use dormouse_vault::{Change, Document, FileDiff, NotePath, Vault, Version};
use serde::Serialize;

use super::{Scene, find_note, patient};
use crate::args::{EditArgs, PlaceArg};
use crate::failure::refuse;
use crate::output::{Output, bold, dim, styled};

/// The largest text that is put into a note, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Debug, Serialize)]
struct Reply {
    path: NotePath,
    written: bool,
    /// The version that the edit was made from.
    before: Version,
    /// The version that the note has after it; of a dry run, would have.
    version: Version,
    diff: Vec<FileDiff>,
}

pub(crate) fn run(scene: &Scene, args: &EditArgs, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    let path = find_note(&vault, &args.note)?;
    if !path.is_markdown() {
        return Err(EditError::NotANote { path }.into());
    }
    let text = args.takes_text().then(|| text(args)).transpose()?.unwrap_or_default();
    // A version that the caller names is not planned anew, nor are bytes that were counted in another text.
    let once = args.dry_run || args.if_version.is_some() || args.range.is_some();
    let reply = patient(once, |_| made(&vault, &path, args, &text))?;
    out.emit(&reply, |w| {
        for line in reply.diff.iter().flat_map(|diff| diff.diff.lines()) {
            writeln!(w, "{}", coloured(line))?;
        }
        let done = match (reply.diff.is_empty(), reply.written) {
            (true, _) => "unchanged",
            (false, true) => "written",
            (false, false) => "dry run, nothing written",
        };
        writeln!(w, "{}", dim(format!("── {} · version {} · {done}", reply.path, reply.version)))
    })?;
    Ok(0)
}

/// One attempt, from the note as it stands now.
fn made(vault: &Vault, path: &NotePath, args: &EditArgs, text: &str) -> Result<Reply> {
    let read = vault.read(path)?;
    let content = edited(&read.text, args, text)?;
    let whole = TextEdit { span: 0..read.text.len(), with: content };
    let mut set = edit::plan(&read, &[whole])?;
    for change in &mut set.changes {
        if let (Change::Replace { expected, .. }, Some(version)) = (change, args.if_version) {
            *expected = version;
        }
    }
    let diff = vault.preview(&set)?;
    if !args.dry_run {
        vault.commit(&set)?;
    }
    let version = diff.first().map_or(read.version, |diff| diff.after);
    Ok(Reply { path: path.clone(), written: !args.dry_run && !diff.is_empty(), before: read.version, version, diff })
}

fn coloured(line: &str) -> String {
    if line.starts_with("+++") || line.starts_with("---") {
        bold(line)
    } else if line.starts_with('+') {
        styled("32", line)
    } else if line.starts_with('-') {
        styled("31", line)
    } else {
        line.to_owned()
    }
}

/// The text that is put in: `--text`, else standard input. An empty one must be said.
fn text(args: &EditArgs) -> Result<String> {
    if let Some(text) = &args.text {
        return Ok(text.clone());
    }
    let missing =
        || refuse("usage", "there is no text", "give it with --text or on standard input; `--text ''` empties");
    let mut text = String::new();
    if std::io::stdin().is_terminal() {
        return Err(missing());
    }
    let read = std::io::stdin().take(MAX_BYTES + 1).read_to_string(&mut text);
    read.context("standard input is no UTF-8 text")?;
    if text.len() as u64 > MAX_BYTES {
        return Err(refuse("usage", format!("more than {MAX_BYTES} bytes"), "put the text into a file of its own"));
    }
    if text.is_empty() { Err(missing()) } else { Ok(text) }
}

/// The whole new text of the note.
fn edited(text: &str, args: &EditArgs, new: &str) -> Result<String> {
    let doc = Document::parse(text);
    let place = args.place();
    let edit = if let Some(subpath) = &args.heading {
        let section = edit::section(text, &doc, subpath, args.occurrence)?;
        match place {
            None => edit::replace_section(text, &section, new),
            Some(PlaceArg::End) => edit::append_to_section(text, &section, new)?,
            Some(PlaceArg::Before) => edit::insert_before_section(text, &section, new),
            Some(PlaceArg::After) => edit::insert_after_section(text, &section, new)?,
        }
    } else if let Some(id) = &args.block {
        let block = edit::block(text, &doc, id, args.occurrence)?;
        match place {
            None => edit::replace_block(text, &block, new),
            Some(PlaceArg::End | PlaceArg::After) => edit::append_after_block(text, &block, new)?,
            Some(PlaceArg::Before) => {
                return Err(refuse("usage", "text is put behind a block, not before it", "use --insert after"));
            }
        }
    } else if let Some(range) = &args.range {
        edit::replace_range(text, inserted_at(range.clone(), place), new)?
    } else {
        return properties(text.to_owned(), args);
    };
    Ok(edit::apply(text, &[edit])?)
}

/// A range, or the place before or behind it.
fn inserted_at(range: Range<usize>, place: Option<PlaceArg>) -> Range<usize> {
    match place {
        None => range,
        Some(PlaceArg::Before) => range.start..range.start,
        Some(PlaceArg::End | PlaceArg::After) => range.end..range.end,
    }
}

/// All changes of properties, one after the other.
fn properties(mut text: String, args: &EditArgs) -> Result<String> {
    for pair in &args.set {
        let (key, value) = key_and_value(pair)?;
        text = edit::apply(&text, &set(&text, key, value)?)?;
    }
    for key in &args.unset {
        text = edit::apply(&text, &edit::remove_property(&text, key)?)?;
    }
    for pair in &args.add {
        let (key, value) = key_and_value(pair)?;
        text = edit::apply(&text, &edit::add_to_list(&text, &Document::parse(&text), key, value)?)?;
    }
    for pair in &args.remove {
        let (key, value) = key_and_value(pair)?;
        text = edit::apply(&text, &edit::remove_from_list(&text, key, value)?)?;
    }
    Ok(text)
}

/// The value as YAML where it is a number, a date, a list or the like; text otherwise.
fn set(text: &str, key: &str, value: &str) -> Result<Vec<TextEdit>, EditError> {
    let doc = Document::parse(text);
    let value = value.trim();
    let is_text = value.contains("[[")
        || value.contains(" #")
        || value.starts_with(['&', '*', '!', '|', '>', '%', '@', '#', '`']);
    let quoted = value.starts_with(['"', '\'']);
    if is_text && !quoted {
        return edit::set_property(text, &doc, key, &edit::yaml_quote(value));
    }
    match edit::set_property(text, &doc, key, value) {
        Err(EditError::BadYaml) => edit::set_property(text, &doc, key, &edit::yaml_quote(value)),
        done => done,
    }
}

fn key_and_value(pair: &str) -> Result<(&str, &str)> {
    let split = pair.split_once('=').map(|(key, value)| (key.trim(), value));
    split
        .filter(|(key, _)| !key.is_empty())
        .ok_or_else(|| refuse("usage", format!("{pair:?} is no KEY=VALUE"), "as in `--set status=final`"))
}
