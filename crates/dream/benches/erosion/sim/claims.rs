//! A digest read as claims: what is said, and the sources that stand behind it.

use std::collections::BTreeSet;

use dormouse_vault::{Note, NotePath, Snapshot};

use super::words::{PEOPLE, SPELLED, STRANGERS};

/// Something that a digest says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Claim {
    /// The words, without the day of a correction.
    pub(crate) said: String,
    /// As they stand.
    pub(crate) raw: String,
    /// Behind them: the note, and its block.
    pub(crate) sources: Vec<(NotePath, Option<String>)>,
}

/// The title, the description, and each sentence with what stands behind it. A source without a
/// sentence belongs to the sentence before.
pub(crate) fn claims(note: &Note, text: &str, snapshot: &Snapshot) -> Vec<Claim> {
    let mut out = vec![Claim { said: note.name.to_string(), raw: note.name.to_string(), sources: Vec::new() }];
    if let Some(description) = &note.description {
        out.push(Claim { said: description.to_string(), raw: description.to_string(), sources: Vec::new() });
    }
    for heading in &note.doc().headings {
        out.push(Claim { said: heading.text.clone(), raw: heading.text.clone(), sources: Vec::new() });
    }
    for block in &note.doc().blocks {
        let raw = text.get(block.span.clone()).unwrap_or("");
        let mut claim: Option<Claim> = None;
        for part in raw.split_inclusive("]])") {
            let (said, field) = part.split_once("(derived_from:: [[").unwrap_or((part, ""));
            let words = undated(&without_links(&without_ids(said)));
            if words.chars().any(char::is_alphanumeric) {
                out.extend(claim.take());
                claim = Some(Claim { said: words, raw: raw.to_owned(), sources: Vec::new() });
            }
            let target = field.split(['|', ']']).next().unwrap_or("");
            let (path, anchor) = target.split_once("#^").map_or((target, None), |(p, a)| (p, Some(a.to_owned())));
            if !path.is_empty()
                && let Some(path) = snapshot.resolve(&note.path, path).path()
            {
                claim.get_or_insert_default().sources.push((path.clone(), anchor));
            }
        }
        out.extend(claim);
    }
    out
}

/// A block without its id: a sentence is added before it.
pub(crate) fn without_ids(block: &str) -> String {
    match block.trim_end().rsplit_once(" ^") {
        Some((text, id)) if !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') => {
            text.to_owned()
        }
        _ => block.trim_end().to_owned(),
    }
}

/// Without list mark and the mark of a correction.
fn undated(said: &str) -> String {
    let said = said.trim();
    let numbered = said.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(". ");
    let said = numbered.filter(|_| said.starts_with(|c: char| c.is_ascii_digit())).unwrap_or(said);
    let said = said.strip_prefix("- ").unwrap_or(said);
    match said.strip_prefix("**").and_then(|rest| rest.split_once(":**")) {
        Some((_, rest)) => rest.trim().to_owned(),
        None => said.to_owned(),
    }
}

/// Links as the words that they show.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[[") {
        out.push_str(before);
        let Some((inner, tail)) = after.split_once("]]") else {
            rest = after;
            break;
        };
        out.push_str(inner.split_once('|').map_or(inner, |(_, shown)| shown));
        rest = tail;
    }
    out + rest
}

/// All runs of digits, whatever their width.
pub(crate) fn digits(text: &str) -> BTreeSet<String> {
    let narrow = |c: char| char::from_u32(u32::from(c).wrapping_sub(0xFEE0)).filter(char::is_ascii_digit).unwrap_or(c);
    let text: String = text.chars().map(narrow).collect();
    text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty()).map(str::to_owned).collect()
}

/// A number in words that `text` does not have.
pub(crate) fn spoken_digits(said: &str, text: &str) -> Option<String> {
    SPELLED
        .iter()
        .flat_map(|list| list.iter())
        .find(|n| said.contains(**n) && !text.contains(**n))
        .map(|n| (*n).to_owned())
}

/// The people that a text names.
pub(crate) fn names(text: &str) -> Vec<&'static str> {
    let all = PEOPLE.iter().chain(STRANGERS.iter()).flat_map(|list| list.iter());
    all.filter(|name| text.contains(**name)).copied().collect()
}
