//! Canvas files: JSON whose nodes name files and hold Markdown.
//!
//! What counts, by our decision where Obsidian does not say: the file of a `file` node, the links of
//! a `text` node, the background picture of a group. A group's label and the URL of a `link` node
//! are no links, and the lines between nodes (`edges`) are drawing: they type and make no link.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use serde::de::IgnoredAny;

use crate::document::Written;
use crate::json_strings::{self, JsonString};
use crate::lines::Lines;
use crate::link::{Link, LinkKind};
use crate::note::Document;
use crate::problem::{Problem, ProblemKind};
use crate::quoting::{Alignment, Quoting};

impl Document {
    /// Reads a canvas: the links of its nodes in their order, and the tags of text nodes. A text
    /// that is no JSON gives a document with a problem. A link's spans are ranges of `text`, in
    /// which it is written as [`Quoting::Json`] asks. Linear, however deep the JSON is nested.
    #[must_use]
    pub fn parse_canvas(text: &str) -> Self {
        let mut doc = Self { body: 0..text.len(), ..Self::default() };
        doc.frontmatter.well_formed = true;
        let content = text.trim_start_matches('\u{FEFF}').trim();
        if content.is_empty() {
            return doc;
        }
        if let Err(error) = serde_json::from_str::<IgnoredAny>(content) {
            doc.problems.push(Problem {
                kind: ProblemKind::MalformedCanvas,
                line: u32::try_from(error.line()).ok().filter(|line| *line > 0),
                message: "the canvas is not JSON; open it in Obsidian and save it again".to_owned(),
            });
            return doc;
        }
        let canvas = Canvas { text, lines: Lines::new(text) };
        let mut seen = HashSet::new();
        for node in canvas.nodes() {
            match node.kind() {
                Kind::File => doc.links.extend(canvas.file_link(&node, "file")),
                Kind::Group => doc.links.extend(canvas.file_link(&node, "background")),
                Kind::Text => {
                    let (links, tags) = canvas.text_links(&node);
                    doc.links.extend(links);
                    doc.tags.extend(tags.into_iter().filter(|tag| seen.insert(tag.to_lowercase())));
                }
                Kind::Other => {}
            }
        }
        doc
    }
}

/// What a node is.
enum Kind {
    File,
    Text,
    Group,
    Other,
}

/// The string members of one node: what each means, and its bytes between the quotes.
#[derive(Default)]
struct Node(BTreeMap<String, (String, Range<usize>)>);

impl Node {
    fn value(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|(value, _)| value.as_str())
    }

    /// By `type`, and by what it holds where that is missing.
    fn kind(&self) -> Kind {
        match self.value("type") {
            Some("file") => Kind::File,
            Some("text") => Kind::Text,
            Some("group") => Kind::Group,
            Some(_) => Kind::Other,
            None if self.0.contains_key("file") => Kind::File,
            None if self.0.contains_key("text") => Kind::Text,
            None => Kind::Other,
        }
    }
}

struct Canvas<'t> {
    text: &'t str,
    lines: Lines<'t>,
}

impl Canvas<'_> {
    fn nodes(&self) -> Vec<Node> {
        let mut nodes = Vec::new();
        let (mut number, mut asked, mut is_nodes) = (None, 0..0, false);
        for JsonString { node, list, key, span } in json_strings::of_nodes(self.text) {
            if asked != list {
                is_nodes = self.meant(&list).as_deref() == Some("nodes");
                asked = list;
            }
            if !is_nodes {
                continue;
            }
            if number != Some(node) {
                number = Some(node);
                nodes.push(Node::default());
            }
            if let (Some(last), Some(key), Some(value)) = (nodes.last_mut(), self.meant(&key), self.meant(&span)) {
                last.0.insert(key, (value, span));
            }
        }
        nodes
    }

    /// The string that is written in `span`.
    fn meant(&self, span: &Range<usize>) -> Option<String> {
        let quoted = self.text.get(span.start.checked_sub(1)?..span.end + 1)?;
        serde_json::from_str(quoted).ok()
    }

    fn file_link(&self, node: &Node, key: &str) -> Option<Link> {
        let (file, span) = node.0.get(key).filter(|(file, _)| !file.is_empty())?;
        Some(Link {
            kind: LinkKind::Canvas,
            line: self.lines.number(span.start),
            target_span: span.clone(),
            span: span.clone(),
            target: file.clone(),
            subpath: node.value("subpath").filter(|_| key == "file").unwrap_or("").to_owned(),
            display: None,
            predicate: None,
            key: None,
            quoting: Quoting::Json,
        })
    }

    fn text_links(&self, node: &Node) -> (Vec<Link>, Vec<String>) {
        let Some((markdown, span)) = node.0.get("text") else {
            return (Vec::new(), Vec::new());
        };
        let (mut links, tags) = Document::parse_text(markdown);
        let source = self.text.get(span.clone()).unwrap_or("");
        let written = Written {
            alignment: Alignment::of(source, markdown, Quoting::Json, 0).filter(|_| !links.is_empty()),
            base: span.start,
            whole: span.clone(),
            quoting: Quoting::Json,
        };
        for link in &mut links {
            link.predicate = None;
            written.place(link, &self.lines);
        }
        (links, tags)
    }
}
