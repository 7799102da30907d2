//! The vaults that are asked: without digests, with them, and with nothing of them but their links.
#![expect(
    clippy::disallowed_methods,
    reason = "it builds throw-away copies, and never writes to a vault that it was given"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use dormouse_vault::{Layer, Vault};
use serde_json::Value;

/// A question, as far as the arms look at it.
pub(crate) struct Question {
    /// The places of its evidence: note and block.
    pub(crate) evidence: Vec<(String, Option<String>)>,
}

/// Copies a vault without what is derived: digests, signals, audit pages, cache. With `only`, without
/// notes of other conversations.
pub(crate) fn copy_sources(from: &Path, to: &Path, only: &[String]) -> Result<()> {
    dormouse_fixtures::copy_tree_without(from, to, &["digest", "meta", "audit", ".dormouse"]);
    if only.is_empty() {
        return Ok(());
    }
    let vault = Vault::open(to)?;
    for note in vault.snapshot().notes() {
        let conversation = note.doc().frontmatter.properties.get("conv").and_then(|value| value.as_str());
        if conversation.is_some_and(|conversation| !only.iter().any(|one| one == conversation)) {
            fs::remove_file(to.join(note.path.as_disk()))?;
        }
    }
    drop(vault);
    fs::remove_dir_all(to.join(".dormouse")).context("the copy's cache")
}

/// Copies the questions, with `only` those of these conversations.
pub(crate) fn questions(from: &Path, to: &Path, only: &[String]) -> Result<Vec<Question>> {
    let text = fs::read_to_string(from).with_context(|| from.display().to_string())?;
    let mut kept = String::new();
    let mut out = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let value: Value = serde_json::from_str(line).with_context(|| format!("{}:{}", from.display(), number + 1))?;
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        if !only.is_empty() && !text(&value, "conv").is_some_and(|conversation| only.contains(&conversation)) {
            continue;
        }
        let evidence = value.get("evidence").and_then(Value::as_array).into_iter().flatten();
        let evidence = evidence.filter_map(|place| Some((text(place, "note")?, text(place, "block"))));
        out.push(Question { evidence: evidence.collect() });
        kept.push_str(line);
        kept.push('\n');
    }
    fs::write(to, kept)?;
    Ok(out)
}

/// Copies a dreamed vault; of each digest nothing is left but its links, a block each as before.
pub(crate) fn control(vault: &Vault, to: &Path) -> Result<()> {
    dormouse_fixtures::copy_tree_without(vault.root(), to, &[".dormouse", "audit"]);
    let snapshot = vault.snapshot();
    for (number, note) in snapshot.notes().filter(|note| note.layer == Layer::Digest).enumerate() {
        let mut lines: Vec<String> = Vec::new();
        for block in &note.doc().blocks {
            let links: BTreeSet<String> = snapshot
                .links_of(note)
                .into_iter()
                .filter(|(link, _)| block.span.contains(&link.span.start))
                .filter_map(|(link, resolution)| {
                    let target = format!("[[{}{}|.]]", resolution.path()?.link_target(), link.subpath);
                    Some(match &link.predicate {
                        Some(predicate) => format!("({predicate}:: {target})"),
                        None => target,
                    })
                })
                .collect();
            if !links.is_empty() {
                lines.push(format!("- {}\n", links.into_iter().collect::<Vec<_>>().join(" ")));
            }
        }
        let text = format!("---\nname: \"{number}\"\n---\n\n{}", lines.concat());
        fs::write(to.join(note.path.as_disk()), text)?;
    }
    Ok(())
}
