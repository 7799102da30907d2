//! The properties of the note that stays, with the aliases and tags of the other.

use crate::edit::{EditError, add_to_list, apply, set_property, yaml_quote};
use crate::note::Document;
use crate::path::NotePath;

use super::Report;

/// Properties of the other note that are taken over or say nothing afterwards.
const TAKEN: [&str; 6] = ["name", "alias", "aliases", "tag", "tags", "description"];

/// `text` with the aliases and tags of both notes, and the name that it had.
pub(super) fn joined(
    text: &str,
    (keep, stays): (&NotePath, &Document),
    (drop, goes): (&NotePath, &Document),
    report: &mut Report,
) -> Result<String, EditError> {
    let mut text = text.to_owned();
    let name = stays.name(keep).to_owned();
    let known = |have: &[String], value: &str| have.iter().any(|have| have.trim().eq_ignore_ascii_case(value.trim()));
    let gone = goes.name(drop).trim().to_owned();
    let own = stays.frontmatter.aliases();
    let aliases = goes.frontmatter.aliases();
    let mut wanted: Vec<String> = Vec::new();
    for alias in std::iter::once(gone).filter(|gone| !gone.eq_ignore_ascii_case(&name)).chain(aliases) {
        // An alias that the other note spells just so stays spelled so.
        let have = own.iter().chain(&wanted).any(|have| have.trim() == alias.trim());
        if !have && !alias.trim().is_empty() {
            wanted.push(alias.trim().to_owned());
        }
    }
    for alias in &wanted {
        let edits = add_to_list(&text, &Document::parse(&text), "aliases", alias)?;
        text = apply(&text, &edits)?;
    }
    let mut tags: Vec<String> = Vec::new();
    for tag in goes.frontmatter.tags() {
        if !known(&stays.frontmatter.tags(), &tag) && !known(&tags, &tag) {
            tags.push(tag);
        }
    }
    for tag in &tags {
        let edits = add_to_list(&text, &Document::parse(&text), "tags", tag)?;
        text = apply(&text, &edits)?;
    }
    let doc = Document::parse(&text);
    if doc.name(keep) != name {
        let edits = set_property(&text, &doc, "name", &yaml_quote(&name))?;
        text = apply(&text, &edits)?;
    }
    report.aliases = wanted;
    report.tags = tags;
    let left = goes.frontmatter.properties.iter().filter(|(key, value)| {
        let same = stays.frontmatter.properties.get(*key) == Some(value);
        !TAKEN.contains(&key.to_lowercase().as_str()) && !same
    });
    report.properties_left = left.map(|(key, _)| key.clone()).collect();
    Ok(text)
}
