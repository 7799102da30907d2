//! Weave: facts, provenance and links become the text of a note. Only adds; what stands in a note
//! stays where it is.

use chrono::NaiveDate;
use dormouse_vault::NotePath;

use crate::abstractor::{ComposeJob, Target};
use crate::config::DreamConfig;
use crate::decide::{Candidate, Flavour};
use crate::markdown::{
    balanced_ticks, fact_text, link, name_text, one_line, plain, provenance, without_subject, yaml_text,
};
use crate::material::{Language, Material};
use crate::stated::restates;

/// A fact ready to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WovenFact {
    /// The statement, one line.
    pub(crate) text: String,
    /// Its sources as links, at least one.
    pub(crate) sources: Vec<String>,
    /// Whether it is a numbered step.
    pub(crate) step: bool,
}

/// A sentence, or only a source, that is added to a block that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Amendment {
    /// Index into [`Candidate::blocks`].
    pub(crate) block: usize,
    /// The sentence with its date; empty to add the source alone.
    pub(crate) sentence: String,
    /// Its sources as links.
    pub(crate) sources: Vec<String>,
}

/// Everything that is added to a note.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Woven {
    /// New blocks.
    pub(crate) facts: Vec<WovenFact>,
    /// Additions to blocks that exist.
    pub(crate) amendments: Vec<Amendment>,
    /// Links to related notes, each a sentence with the link in it.
    pub(crate) related: Vec<String>,
}

impl WovenFact {
    fn line(&self, number: Option<usize>) -> String {
        let mark = number.map_or_else(|| "-".to_owned(), |n| format!("{n}."));
        let text = if self.text.trim().is_empty() { String::new() } else { format!("{} ", fact_text(&self.text)) };
        format!("{mark} {text}{}", fields(&self.sources))
    }
}

fn fields(sources: &[String]) -> String {
    sources.iter().map(|s| provenance(s)).collect::<Vec<_>>().join(" ")
}

/// The links to the passages that hold a fact's evidence; the note as a whole where no passage has
/// an id.
pub(crate) fn source_links(material: &Material, passages: &[usize]) -> Vec<String> {
    let shown = material.date.map_or_else(|| material.name.clone(), |d| d.to_string());
    let mut out: Vec<String> = Vec::new();
    for passage in passages.iter().filter_map(|i| material.passages.get(*i)) {
        let source = link(&material.path, passage.id.as_deref(), &shown);
        if !out.contains(&source) {
            out.push(source);
        }
    }
    // An anchored source makes the bare one redundant.
    if out.len() > 1 {
        let bare = link(&material.path, None, &shown);
        out.retain(|l| *l != bare);
    }
    out
}

/// The sentence that links to a related note: the given one with the link in it, else a plain one.
pub(crate) fn related_line(candidate: &Candidate, sentence: Option<&str>, language: Language) -> String {
    let target = link(&candidate.path, None, &candidate.name);
    if let Some(sentence) = sentence.map(one_line).filter(|s| !s.is_empty() && s.chars().count() <= 240) {
        let plain_name = name_text(&candidate.name);
        for place in ["{link}", plain_name.as_str()] {
            if !place.is_empty()
                && let Some((before, after)) = sentence.split_once(place)
            {
                return format!("{}{target}{}", fact_text(&strip_links(before)), strip_links(after));
            }
        }
        return format!("{target}: {}", fact_text(&strip_links(&sentence)));
    }
    match language {
        Language::Chinese => format!("参见{target}。"),
        Language::English => format!("See {target}."),
    }
}

fn strip_links(text: &str) -> String {
    plain(text).replace("[[", "").replace("]]", "").replace("::", ":")
}

/// A new note.
#[must_use]
pub(crate) fn new_note(name: &str, description: &str, created: NaiveDate, woven: &Woven, language: Language) -> String {
    let mut out = String::from("---\n");
    out.push_str(&format!("name: {}\n", yaml_text(name)));
    if !description.trim().is_empty() {
        out.push_str(&format!("description: {}\n", yaml_text(description)));
    }
    out.push_str(&format!("created: {created}\n---\n\n# {}\n\n", one_line(name)));
    let mut number = 0;
    let mut last_step = None;
    for fact in &woven.facts {
        if last_step.is_some_and(|was| was != fact.step) {
            out.push('\n');
        }
        last_step = Some(fact.step);
        number += usize::from(fact.step);
        out.push_str(&fact.line(fact.step.then_some(number)));
        out.push('\n');
    }
    if !woven.related.is_empty() {
        out.push_str(&format!("\n{}\n\n", related_heading(language)));
        for line in &woven.related {
            out.push_str(&format!("- {line}\n"));
        }
    }
    out
}

fn related_heading(language: Language) -> &'static str {
    match language {
        Language::English => "## Related",
        Language::Chinese => "## 相关",
    }
}

/// The subject's text with everything added. Line ends are the note's own. Linear.
#[must_use]
pub(crate) fn extend_note(subject: &Candidate, woven: &Woven, language: Language) -> String {
    let text = &subject.text;
    let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut insertions: Vec<(usize, String)> = Vec::new();
    for amendment in &woven.amendments {
        let Some(block) = subject.blocks.get(amendment.block).filter(|b| b.open) else {
            continue;
        };
        let sentence = if amendment.sentence.trim().is_empty() {
            String::new()
        } else {
            format!("{} ", one_line(&amendment.sentence))
        };
        let raw = text.get(block.span.clone()).unwrap_or("");
        let sentence = beside(raw, &sentence);
        let at = before_block_id(text, block.span.start, block.span.end);
        insertions.push((at, format!(" {sentence}{}", fields(&amendment.sources))));
    }
    let last_fact = subject.blocks.iter().rev().find(|b| !b.related);
    if !woven.facts.is_empty() {
        let related_start = subject.blocks.iter().find(|b| b.related).map(|b| heading_before(text, b.span.start));
        let (at, tight) = match last_fact {
            Some(block) if related_start.is_none_or(|r| block.span.end <= r) => {
                let raw = text.get(block.span.clone()).unwrap_or("");
                (block.span.end, raw.starts_with("- ") && !woven.facts.iter().any(|f| f.step))
            }
            _ => (related_start.unwrap_or(text.trim_end().len()), false),
        };
        let mut number = steps_before(subject, text);
        let mut out = String::new();
        for (i, fact) in woven.facts.iter().enumerate() {
            number += usize::from(fact.step);
            out.push_str(if i == 0 && !tight { eol } else { "" });
            out.push_str(eol);
            out.push_str(&fact.line(fact.step.then_some(number)));
        }
        insertions.push((at, out));
    }
    if !woven.related.is_empty() {
        let lines: Vec<String> = woven.related.iter().map(|l| format!("- {l}")).collect();
        match subject.blocks.iter().rev().find(|b| b.related) {
            Some(block) => insertions.push((block.span.end, format!("{eol}{}", lines.join(eol)))),
            None => {
                let end = text.trim_end().len();
                insertions.push((end, format!("{eol}{eol}{}{eol}{eol}{}", related_heading(language), lines.join(eol))));
            }
        }
    }
    // Stable: what was planned first at one place stands first.
    insertions.sort_by_key(|(at, _)| *at);
    let mut out = String::with_capacity(text.len() + insertions.iter().map(|(_, s)| s.len()).sum::<usize>());
    let mut from = 0;
    for (at, added) in insertions {
        out.push_str(text.get(from..at).unwrap_or(""));
        out.push_str(&added);
        from = at;
    }
    out.push_str(text.get(from..).unwrap_or(""));
    if !out.ends_with('\n') {
        out.push_str(eol);
    }
    out
}

/// A sentence that closes nothing which the block before it has left open.
fn beside(block: &str, sentence: &str) -> String {
    let mut out = sentence.to_owned();
    if !balanced_ticks(block) {
        out = out.replace('`', "'");
    }
    if block.contains('$') {
        out = out.replace('$', "＄");
    }
    out
}

/// Where a sentence can be added to the block: before its block id and blanks at its end.
fn before_block_id(text: &str, start: usize, end: usize) -> usize {
    let block = text.get(start..end).unwrap_or("").trim_end();
    let last_line = block.rfind('\n').map_or(0, |n| n + 1);
    let tail = block.get(last_line..).unwrap_or("");
    if let Some((head, id)) = tail.rsplit_once(" ^")
        && !id.is_empty()
        && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    {
        return start + last_line + head.trim_end().len();
    }
    start + block.len()
}

/// The end of what stands before the heading line above `at`.
fn heading_before(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or("").trim_end();
    let line = before.rfind('\n').map_or(0, |n| n + 1);
    text.get(..line).unwrap_or("").trim_end().len()
}

fn steps_before(subject: &Candidate, text: &str) -> usize {
    let last = subject.blocks.iter().rev().find(|b| !b.related).and_then(|b| text.get(b.span.clone()));
    last.and_then(|raw| raw.split_once(". ")).and_then(|(n, _)| n.trim().parse().ok()).unwrap_or(0)
}

/// The text of the job's note from what is to be added: what both abstractors end with.
pub(crate) fn weave(job: &ComposeJob<'_>, description: &str, woven: &Woven) -> String {
    match job.target {
        Target::Create => new_note(job.name, description, job.today, woven, job.language),
        Target::Update { subject, .. } => extend_note(subject, woven, job.language),
    }
}

/// The related notes of a job as lines; those that an updated note links to already are left out.
pub(crate) fn related_lines(job: &ComposeJob<'_>) -> Vec<String> {
    let have = |path: &NotePath| match job.target {
        Target::Create => false,
        Target::Update { subject, .. } => subject.links.contains(path) || subject.path == *path,
    };
    job.related
        .iter()
        .filter(|(c, _)| !have(&c.path))
        .map(|(c, s)| related_line(c, s.as_deref(), job.language))
        .collect()
}

/// The dated sentence that narrows or contradicts a block in place.
pub(crate) fn dated(flavour: Flavour, date: NaiveDate, text: &str, language: Language) -> String {
    let text = fact_text(text);
    match (flavour, language) {
        (Flavour::Correct, Language::English) => format!("**Superseded {date}:** {text}"),
        (Flavour::Correct, Language::Chinese) => format!("**{date} 更正:** {text}"),
        (_, Language::English) => format!("**More precisely, {date}:** {text}"),
        (_, Language::Chinese) => format!("**{date} 补充:** {text}"),
    }
}

/// Puts each fact of a job where it belongs: a block that says the same gets the source added, a
/// block that a fact changes (`changes`: fact and block) gets a dated sentence, everything else
/// becomes a block of its own.
pub(crate) fn place(job: &ComposeJob<'_>, changes: &[(usize, usize)], config: &DreamConfig) -> Woven {
    let mut woven = Woven::default();
    for (i, fact) in job.unit.facts.iter().enumerate() {
        let sources = source_links(job.material, &fact.passages);
        let text = without_subject(&fact.text, job.name).to_owned();
        let Target::Update { subject, flavour } = job.target else {
            woven.facts.push(WovenFact { text, sources, step: fact.step });
            continue;
        };
        let said = plain(&text);
        let twin = subject.blocks.iter().position(|b| b.open && !b.related && restates(&said, &b.text));
        if let Some(block) = twin {
            let have = subject.blocks.get(block).map_or(0, |b| b.sources.len());
            if have < config.max_sources {
                woven.amendments.push(Amendment { block, sentence: String::new(), sources });
            }
            continue;
        }
        match changes.iter().find(|(fact, _)| *fact == i) {
            Some((_, block)) => {
                // A source that was itself changed says so on the day that it is found.
                let source = subject.blocks.get(*block).map(|b| &b.sources);
                let changed = source.is_some_and(|s| s.iter().any(|(path, _)| *path == job.material.path));
                let day = job.material.date.filter(|_| !changed).unwrap_or(job.today);
                woven.amendments.push(Amendment {
                    block: *block,
                    sentence: dated(flavour, day, &text, job.language),
                    sources,
                });
            }
            None => woven.facts.push(WovenFact { text, sources, step: fact.step }),
        }
    }
    woven
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use dormouse_vault::{BlockKind, Document, Version};
    use proptest::prelude::*;

    use super::*;
    use crate::decide::{CandidateBlock, RELATED};
    use crate::plan;

    fn subject(text: &str) -> Candidate {
        let doc = Document::parse(text);
        let related = |h: Option<u32>| {
            h.and_then(|h| doc.headings.get(h as usize)).is_some_and(|h| RELATED.contains(&h.text.as_str()))
        };
        let blocks = doc
            .blocks
            .iter()
            .map(|b| CandidateBlock {
                span: b.span.clone(),
                open: matches!(b.kind, BlockKind::Paragraph | BlockKind::ListItem),
                related: related(b.heading),
                text: plain(&text[b.span.clone()]),
                sources: vec![],
            })
            .collect();
        Candidate {
            path: NotePath::new("digest/wiki/subject.md").unwrap(),
            version: Version::of(text.as_bytes()),
            name: "Subject".into(),
            description: None,
            bucket: None,
            score: 1.0,
            text: text.to_owned(),
            blocks,
            sources: BTreeSet::new(),
            links: BTreeSet::new(),
            locked: false,
        }
    }

    fn edges(text: &str) -> BTreeSet<(String, Option<String>)> {
        Document::parse(text).links.into_iter().map(|l| (l.target, l.predicate)).collect()
    }

    /// Lines that a digest may consist of; each closes what it opens.
    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("# Subject".to_owned()),
            Just("## Related".to_owned()),
            Just("## 相关".to_owned()),
            Just("- an item with [[a/b|a link]] ^id1".to_owned()),
            Just("1. a step (derived_from:: [[daily/x#^b1|2026]])".to_owned()),
            Just("  - nested [[c]]".to_owned()),
            Just("uses:: [[tool]]".to_owned()),
            Just("> quote of [[d]]".to_owned()),
            Just("```\n[[no link]]\n```".to_owned()),
            Just("| t | u |\n| - | - |\n| [[e]] | 2 |".to_owned()),
            Just("事实一条，见[[f|那里]]。 ^zh-1".to_owned()),
            Just(String::new()),
            "[a-z `$*]{0,12}",
        ]
    }

    fn fact() -> impl Strategy<Value = String> {
        prop_oneof!["\\PC{0,40}", "[`$%:<>!#*\\-\\[\\]() ^a-z0-9]{0,30}", Just("a fact with [[g|its link]]".to_owned())]
    }

    fn sources() -> Vec<String> {
        vec!["[[daily/2026-11-30/event#^b3|2026-11-30]]".to_owned()]
    }

    #[test]
    fn a_dollar_behind_a_block_that_has_one_opens_no_formula() {
        assert_eq!(beside("$ $a", "$'$ more "), "＄'＄ more ");
        assert_eq!(beside("no sign", "costs $5 "), "costs $5 ");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// E-1, and the same for blocks: whatever is added, no edge and no block is lost.
        #[test]
        fn adding_loses_no_edge_and_no_block(
            lines in prop::collection::vec(line(), 0..12),
            facts in prop::collection::vec((fact(), any::<bool>()), 0..4),
            amended in prop::collection::vec((0_usize..12, fact()), 0..4),
            related in prop::collection::vec(Just("See [[digest/wiki/other|Other]].".to_owned()), 0..2),
            crlf in any::<bool>(),
        ) {
            let eol = if crlf { "\r\n" } else { "\n" };
            let text = format!("---\nname: S\n---\n{}\n", lines.join("\n")).replace('\n', eol);
            let subject = subject(&text);
            let woven = Woven {
                facts: facts.into_iter().map(|(text, step)| WovenFact { text, sources: sources(), step }).collect(),
                amendments: amended
                    .into_iter()
                    .map(|(block, text)| Amendment { block, sentence: fact_text(&text), sources: sources() })
                    .collect(),
                related,
            };
            let new = extend_note(&subject, &woven, Language::English);
            prop_assert!(plan::compare(&subject, &new).is_ok(), "{text:?}\n{new:?}");
            let (before, after) = (edges(&text), edges(&new));
            let lost: Vec<_> = before.difference(&after).collect();
            prop_assert!(lost.is_empty(), "{lost:?}\n{text}\n---\n{new}");
            if !crlf {
                prop_assert!(!new.contains('\r'));
            }
        }

        /// A new note names its source in each fact, whatever the fact is.
        #[test]
        fn every_fact_of_a_new_note_has_its_source(texts in prop::collection::vec((fact(), any::<bool>()), 1..5), name in "\\PC{0,30}") {
            let count = texts.len();
            let woven = Woven {
                facts: texts.into_iter().map(|(text, step)| WovenFact { text, sources: sources(), step }).collect(),
                ..Woven::default()
            };
            let note = new_note(&name_text(&name), &name, NaiveDate::default(), &woven, Language::Chinese);
            let derived = Document::parse(&note).links.into_iter().filter(|l| l.predicate.as_deref() == Some("derived_from")).count();
            prop_assert_eq!(derived, count, "{}", note);
        }
    }
}
