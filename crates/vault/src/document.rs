//! One pass over a note's text: from bytes to a [`Document`].

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::block::Block;
use crate::frontmatter::{self, Read};
use crate::inline::{self, Inline};
use crate::lines::Lines;
use crate::link::{Link, LinkKind};
use crate::note::Document;
use crate::path::NotePath;
use crate::problem::{Problem, ProblemKind};
use crate::quoting::{Alignment, Quoting};
use crate::structure::{self, Segment};
use crate::yaml_spans::{Entry, Scalar};

impl Document {
    /// Reads a note. Never fails: what is wrong with it is in [`Document::problems`]. All spans are
    /// byte ranges of `text` on character borders; a byte-order mark and CRLF are understood.
    /// Linear in the length of `text`, whatever is in it.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let lines = Lines::new(text);
        let Read { frontmatter, entries, body, mute, mut problems, .. } = frontmatter::read(text, &lines);
        let body = body..text.len();
        let structure = structure::scan(text, body.clone(), &lines);
        let mut found = Inline::default();
        for segment in structure.segments.iter().filter(|segment| segment.span.start >= mute) {
            inline::scan(text, segment, &lines, &mut found);
        }
        found.finish();

        let mut links = Vec::new();
        if !problems.iter().any(|p| p.kind == ProblemKind::DuplicateKey) {
            links.extend(entries.iter().flat_map(|entry| property_links(text, &lines, entry)));
        }
        links.append(&mut found.links);
        let mut seen = HashSet::new();
        let tags = frontmatter.tags().into_iter().chain(found.tags);
        let tags = tags.filter(|tag| seen.insert(tag.to_lowercase())).collect();
        problems.extend(duplicate_ids(&structure.blocks));
        Self {
            frontmatter,
            body,
            headings: structure.headings,
            blocks: structure.blocks,
            links,
            fields: found.fields,
            tags,
            problems,
        }
    }

    /// The links and tags of `text`, a Markdown text that has no properties.
    pub(crate) fn parse_text(text: &str) -> (Vec<Link>, Vec<String>) {
        let lines = Lines::new(text);
        let mut found = Inline::default();
        for segment in &structure::scan(text, 0..text.len(), &lines).segments {
            inline::scan(text, segment, &lines, &mut found);
        }
        found.finish();
        (found.links, found.tags)
    }

    /// The note's name: `name` of the frontmatter, else its first level-1 heading, else the stem
    /// of `path`.
    #[must_use]
    pub fn name<'a>(&'a self, path: &'a NotePath) -> &'a str {
        let heading = || self.headings.iter().find(|h| h.level == 1 && !h.text.is_empty()).map(|h| h.text.as_str());
        self.frontmatter.text("name").or_else(heading).unwrap_or_else(|| path.stem())
    }

    /// `description` of the frontmatter, trimmed.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.frontmatter.text("description")
    }
}

/// How long the key of a property may be, in bytes, for its strings to be read: each link carries it.
const MAX_KEY: usize = 1024;

/// The links in the strings of one property.
fn property_links(text: &str, lines: &Lines<'_>, entry: &Entry) -> Vec<Link> {
    let mut links = Vec::new();
    for scalar in entry.scalars.iter().filter(|scalar| scalar.path.len() <= MAX_KEY) {
        for mut link in scalar_links(text, lines, scalar) {
            link.kind = LinkKind::Frontmatter;
            link.predicate = Some(entry.key.clone());
            link.key = Some(scalar.path.clone());
            links.push(link);
        }
    }
    links
}

/// The links in a YAML string, where they stand in the source.
fn scalar_links(text: &str, lines: &Lines<'_>, scalar: &Scalar) -> Vec<Link> {
    let source = text.get(scalar.span.clone()).unwrap_or("");
    let quoting = scalar.quoting;
    let inner = match quoting {
        Quoting::YamlSingle | Quoting::YamlDouble => 1..source.len().saturating_sub(1),
        _ => 0..source.len(),
    };
    let before = text.get(..scalar.span.start).unwrap_or("");
    let indent = before.len() - before.trim_end_matches(' ').len();
    let mut links = inline_links(&scalar.value);
    let written = Written {
        alignment: Alignment::of(source.get(inner.clone()).unwrap_or(""), &scalar.value, quoting, indent),
        base: scalar.span.start + inner.start,
        whole: scalar.span.clone(),
        quoting,
    };
    for link in &mut links {
        written.place(link, lines);
    }
    links
}

fn inline_links(value: &str) -> Vec<Link> {
    let mut found = Inline::default();
    let segment = Segment { span: 0..value.len(), table: false };
    inline::scan(value, &segment, &Lines::new(value), &mut found);
    found.links
}

/// A string inside another language: where its text stands in the source.
pub(crate) struct Written {
    /// `None` where the string could not be followed: its links can't be rewritten in place.
    pub(crate) alignment: Option<Alignment>,
    /// Where the string begins in the source.
    pub(crate) base: usize,
    /// All of it, quotes included.
    pub(crate) whole: Range<usize>,
    pub(crate) quoting: Quoting,
}

impl Written {
    /// Moves a link that was read from the string to where it is written.
    pub(crate) fn place(&self, link: &mut Link, lines: &Lines<'_>) {
        let at = |range: &Range<usize>| {
            let span = self.alignment.as_ref()?.span(range)?;
            Some(self.base + span.start..self.base + span.end)
        };
        match (at(&link.span), at(&link.target_span)) {
            (Some(span), Some(target)) => {
                link.span = span;
                link.target_span = target;
            }
            _ => {
                link.span = self.whole.clone();
                link.target_span = self.whole.start..self.whole.start;
            }
        }
        link.quoting = self.quoting;
        link.line = lines.number(link.span.start);
    }
}

fn duplicate_ids(blocks: &[Block]) -> Vec<Problem> {
    let mut seen: HashMap<String, u32> = HashMap::new();
    let mut problems = Vec::new();
    for block in blocks {
        let Some(id) = &block.id else { continue };
        if let Some(first) = seen.insert(id.to_ascii_lowercase(), block.lines.0) {
            problems.push(Problem {
                kind: ProblemKind::DuplicateBlockId,
                line: Some(block.lines.1),
                message: format!("the block id ^{id} is on line {first} too; a link to it means the first"),
            });
        }
    }
    problems
}
