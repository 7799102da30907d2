//! One pass over a note's text: from bytes to a [`Document`].

use std::collections::{HashMap, HashSet};

use crate::block::Block;
use crate::frontmatter::{self, Read};
use crate::inline::{self, Inline};
use crate::inline_field;
use crate::lines::Lines;
use crate::link::{Link, LinkKind};
use crate::note::Document;
use crate::path::NotePath;
use crate::problem::{Problem, ProblemKind};
use crate::structure;
use crate::yaml_spans::{Entry, Scalar};

impl Document {
    /// Reads a note. Never fails: what is wrong with it is in [`Document::problems`]. All spans are
    /// byte ranges of `text` on character borders; a byte-order mark and CRLF are understood.
    /// Linear in the length of `text`, whatever is in it.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let lines = Lines::new(text);
        let Read { frontmatter, entries, body, mut problems, .. } = frontmatter::read(text, &lines);
        let body = body..text.len();
        let structure = structure::scan(text, body.clone(), &lines);
        let mut found = Inline::default();
        for segment in &structure.segments {
            inline::scan(text, segment, &lines, &mut found);
        }
        found.fields.sort_by_key(|f| (f.span.start, std::cmp::Reverse(f.span.end)));
        inline_field::set_predicates(&found.fields, &mut found.links);

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

/// The links in the strings of one property.
fn property_links(text: &str, lines: &Lines<'_>, entry: &Entry) -> Vec<Link> {
    let mut links = Vec::new();
    for scalar in &entry.scalars {
        for mut link in scalar_links(text, lines, scalar) {
            link.kind = LinkKind::Frontmatter;
            link.predicate = Some(entry.key.clone());
            link.key = Some(scalar.path.clone());
            links.push(link);
        }
    }
    links
}

/// The links in a YAML string. Where the string is written with escapes, their spans are found by
/// looking for the written link, and are the whole string where that fails.
fn scalar_links(text: &str, lines: &Lines<'_>, scalar: &Scalar) -> Vec<Link> {
    let mut found = Inline::default();
    let source = text.get(scalar.span.clone()).unwrap_or("");
    if let Some(at) = source.find(&scalar.value).filter(|at| *at <= 1) {
        let start = scalar.span.start + at;
        inline::scan(text, &(start..start + scalar.value.len()), lines, &mut found);
        return found.links;
    }
    let value_lines = Lines::new(&scalar.value);
    inline::scan(&scalar.value, &(0..scalar.value.len()), &value_lines, &mut found);
    let mut cursor = 0;
    for link in &mut found.links {
        relocate(link, &scalar.value, source, scalar.span.start, &mut cursor);
        link.line = lines.number(link.span.start);
    }
    found.links
}

/// Moves a link that was read from `value` to where it is written in `source`, which begins at
/// byte `base` of the text. When it is not found there its span is all of `source` and its target
/// span is empty: such a link can't be rewritten in place.
pub(crate) fn relocate(link: &mut Link, value: &str, source: &str, base: usize, cursor: &mut usize) {
    let written = value.get(link.span.clone()).unwrap_or("");
    let found = source.get(*cursor..).and_then(|rest| rest.find(written)).filter(|_| !written.is_empty());
    match found {
        Some(at) => {
            let start = base + *cursor + at;
            let offset = link.target_span.start - link.span.start;
            let target = start + offset..start + offset + link.target_span.len();
            *cursor += at + written.len();
            link.span = start..start + written.len();
            link.target_span = target;
        }
        None => {
            link.span = base..base + source.len();
            link.target_span = base..base;
        }
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
