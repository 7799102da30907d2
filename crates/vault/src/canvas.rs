//! Canvas files: JSON whose `file` nodes name files and whose `text` nodes hold Markdown.

use std::collections::HashSet;

use serde_json::Value;

use crate::document;
use crate::lines::Lines;
use crate::link::{Link, LinkKind};
use crate::note::Document;
use crate::problem::{Problem, ProblemKind};

/// How many nodes may be looked for in vain before spans are no longer looked for. It bounds the
/// work on a canvas whose strings are written with unusual escapes.
const MAX_MISSES: usize = 16;

impl Document {
    /// Reads a canvas: the links of its file and text nodes in their order, and the tags of text
    /// nodes. A text that is no JSON gives a document with a problem. A link's spans are ranges of
    /// `text`; where the JSON string is written with escapes that hide the link, the target span
    /// is empty.
    #[must_use]
    pub fn parse_canvas(text: &str) -> Self {
        let mut doc = Self { body: 0..text.len(), ..Self::default() };
        doc.frontmatter.well_formed = true;
        let content = text.trim_start_matches('\u{FEFF}').trim();
        if content.is_empty() {
            return doc;
        }
        let parsed: Value = match serde_json::from_str(content) {
            Ok(parsed) => parsed,
            Err(error) => {
                doc.problems.push(Problem {
                    kind: ProblemKind::MalformedCanvas,
                    line: u32::try_from(error.line()).ok().filter(|line| *line > 0),
                    message: "the canvas is not JSON; open it in Obsidian and save it again".to_owned(),
                });
                return doc;
            }
        };
        let mut place = Place { text, lines: Lines::new(text), cursor: 0, misses: 0 };
        let mut seen = HashSet::new();
        for node in parsed.get("nodes").and_then(Value::as_array).into_iter().flatten() {
            if let Some(file) = node.get("file").and_then(Value::as_str).filter(|f| !f.is_empty()) {
                let subpath = node.get("subpath").and_then(Value::as_str).unwrap_or("");
                doc.links.push(place.file_link(file, subpath));
            } else if let Some(markdown) = node.get("text").and_then(Value::as_str) {
                let inner = Self::parse(markdown);
                let mut links = inner.links;
                place.relocate(markdown, &mut links);
                doc.links.append(&mut links);
                doc.tags.extend(inner.tags.into_iter().filter(|tag| seen.insert(tag.to_lowercase())));
            }
        }
        doc
    }
}

/// Where in the canvas the next node is looked for.
struct Place<'t> {
    text: &'t str,
    lines: Lines<'t>,
    cursor: usize,
    misses: usize,
}

impl Place<'_> {
    /// The bytes between the quotes of the next JSON string that stands for `value`.
    fn find(&mut self, value: &str) -> Option<std::ops::Range<usize>> {
        if self.misses >= MAX_MISSES {
            return None;
        }
        let written = Value::from(value).to_string();
        match self.text.get(self.cursor..).and_then(|rest| rest.find(&written)) {
            Some(at) => {
                let start = self.cursor + at;
                self.cursor = start + written.len();
                Some(start + 1..self.cursor - 1)
            }
            None => {
                self.misses += 1;
                None
            }
        }
    }

    fn file_link(&mut self, file: &str, subpath: &str) -> Link {
        let found = self.find(file);
        let span = found.clone().unwrap_or(0..self.text.len());
        Link {
            kind: LinkKind::Canvas,
            line: self.lines.number(span.start),
            target_span: found.unwrap_or(0..0),
            span,
            target: file.to_owned(),
            subpath: subpath.to_owned(),
            display: None,
            predicate: None,
            key: None,
        }
    }

    fn relocate(&mut self, markdown: &str, links: &mut [Link]) {
        if links.is_empty() {
            return;
        }
        let span = self.find(markdown).unwrap_or(0..0);
        let source = self.text.get(span.clone()).unwrap_or("");
        let mut cursor = 0;
        for link in links {
            document::relocate(link, markdown, source, span.start, &mut cursor);
            link.line = self.lines.number(link.span.start);
        }
    }
}
