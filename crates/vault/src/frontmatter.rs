//! Frontmatter: read for meaning, kept byte for byte.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};

use crate::lines::{Lines, one_based};
use crate::packed;
use crate::problem::{Problem, ProblemKind};
use crate::tag;
use crate::yaml_plain;
use crate::yaml_spans::{self, Entry};
use crate::yaml_value::YamlValue;

/// A note's properties.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Frontmatter {
    /// The block in the source, from the first `---` to the end of the closing line; `None` when
    /// the note has no frontmatter.
    pub span: Option<Range<usize>>,
    /// The properties in order. Dates are strings as written. Empty when the YAML is malformed.
    #[serde(with = "packed::properties")]
    pub properties: serde_json::Map<String, Value>,
    /// Whether the YAML could be read. A write into malformed frontmatter is refused.
    pub well_formed: bool,
}

impl Frontmatter {
    /// A text property, trimmed; `None` for anything else.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.properties.get(key)?.as_str().map(str::trim).filter(|s| !s.is_empty())
    }

    /// Whether a property says yes: the YAML boolean `true`, or the text "true" in any case. Anything
    /// else, and a property that is not there, is no.
    #[must_use]
    pub fn is_true(&self, key: &str) -> bool {
        match self.properties.get(key) {
            Some(Value::Bool(yes)) => *yes,
            Some(Value::String(text)) => text.trim().eq_ignore_ascii_case("true"),
            _ => false,
        }
    }

    /// `aliases`, in any case of the key: trimmed, without blanks and what is no string. A bare
    /// string is one alias. They never resolve links.
    #[must_use]
    pub fn aliases(&self) -> Vec<String> {
        let strings = self.strings("aliases");
        strings.into_iter().map(str::trim).filter(|s| !s.is_empty()).map(ToOwned::to_owned).collect()
    }

    /// `tags`, in any case of the key, without `#`; what can't be a tag is left out.
    #[must_use]
    pub fn tags(&self) -> Vec<String> {
        self.strings("tags").into_iter().filter_map(tag::property).map(ToOwned::to_owned).collect()
    }

    /// The strings of a list property, or a text property as its only string.
    fn strings(&self, key: &str) -> Vec<&str> {
        let value = self.properties.iter().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, value)| value);
        match value {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }
}

/// How many YAML nodes all aliases of a block may stand for. A block with more can't be read.
const MAX_ALIASED: usize = 10_000;

/// What [`read`] finds.
pub(crate) struct Read {
    pub(crate) frontmatter: Frontmatter,
    /// Where each top-level property stands; empty when the block can't be read.
    pub(crate) entries: Vec<Entry>,
    /// Whether the properties are one `{ … }`.
    pub(crate) flow: bool,
    /// Where the body begins.
    pub(crate) body: usize,
    /// Where the part of the body ends that is a YAML list: invalid properties, whose text is read
    /// and whose links, fields and tags don't count.
    pub(crate) mute: usize,
    pub(crate) problems: Vec<Problem>,
}

/// Reads the frontmatter of `text`. A block that is no mapping is body, as is one that is never
/// closed; one that is meant as a mapping but can't be read is kept, with a problem.
pub(crate) fn read(text: &str, lines: &Lines<'_>) -> Read {
    let mark = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
    let mut read = Read {
        frontmatter: Frontmatter { well_formed: true, ..Frontmatter::default() },
        entries: Vec::new(),
        flow: false,
        body: mark,
        mute: 0,
        problems: Vec::new(),
    };
    let Some(close) = closing_line(lines, mark) else {
        return read;
    };
    let span = mark..lines.span(close).end;
    let yaml_start = if lines.count() > 1 {
        lines.span(1).start
    } else {
        return read;
    };
    let yaml = text.get(yaml_start..lines.span(close).start).unwrap_or("");
    let body = if close + 1 < lines.count() { lines.span(close + 1).start } else { text.len() };
    if let Some((properties, spans)) = yaml_plain::read(yaml, yaml_start).filter(|(found, _)| !found.is_empty()) {
        read.frontmatter.properties = properties;
        read.entries = spans.entries;
        read.frontmatter.span = Some(span);
        read.body = body;
        return read;
    }
    let has_content = yaml.lines().any(|l| !l.trim().is_empty() && !l.trim_start().starts_with('#'));
    let value = if has_content { careful(yaml) } else { Ok(Value::Null) };
    match value {
        Ok(Value::Object(properties)) => {
            let spans = yaml_spans::of(yaml, yaml_start);
            read.problems.extend(duplicates(&spans.entries, lines));
            read.frontmatter.properties = properties;
            read.entries = spans.entries;
            read.flow = spans.flow;
        }
        Ok(Value::Null) if !has_content => {}
        Err(error) if is_meant_as_mapping(yaml) => {
            let line = error.location().map_or(1, |at| at.line().max(1)) as usize;
            read.frontmatter.well_formed = false;
            read.problems.push(Problem {
                kind: ProblemKind::MalformedFrontmatter,
                line: Some(one_based(line.min(close))),
                message: "the properties can't be read as YAML; mend this line (the note's text is read all the same)"
                    .to_owned(),
            });
        }
        Ok(other) => {
            if other.is_array() {
                read.mute = body;
                read.problems.push(Problem {
                    kind: ProblemKind::MalformedFrontmatter,
                    line: Some(1),
                    message:
                        "the block at the top is a list, not properties; it is read as text, and its links don't count"
                            .to_owned(),
                });
            }
            return read;
        }
        Err(_) => return read,
    }
    read.frontmatter.span = Some(span);
    read.body = body;
    read
}

/// What the YAML library reads.
pub(crate) fn careful(yaml: &str) -> Result<Value, serde_saphyr::Error> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        ignore_binary_tag_for_string: true,
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        // A few bytes of nested aliases may stand for a million nodes.
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_ALIASED },
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options::<YamlValue>(yaml, options).map(|value| value.0)
}

/// The line that closes the block which line 1 opens.
fn closing_line(lines: &Lines<'_>, mark: usize) -> Option<usize> {
    let opens = lines.text(0).get(mark..) == Some("---");
    let is_close = |line: &usize| lines.text(*line).trim_end_matches([' ', '\t']) == "---";
    opens.then(|| (1..lines.count()).find(is_close)).flatten()
}

/// Whether a block that can't be read was meant to hold properties: a line begins with `key:`.
fn is_meant_as_mapping(yaml: &str) -> bool {
    yaml.lines().any(|line| {
        let key = line.find(':').and_then(|colon| line.split_at_checked(colon));
        key.is_some_and(|(key, rest)| {
            let value = rest.get(1..).unwrap_or("");
            !key.trim().is_empty()
                && !key.starts_with(['#', '-', '*', '>', '|'])
                && (value.is_empty() || value.starts_with([' ', '\t']))
        })
    })
}

fn duplicates(entries: &[Entry], lines: &Lines<'_>) -> Vec<Problem> {
    let mut seen = std::collections::HashMap::new();
    let mut problems = Vec::new();
    for entry in entries {
        let line = lines.number(entry.key_span.start);
        if let Some(first) = seen.insert(entry.key.as_str(), line) {
            problems.push(Problem {
                kind: ProblemKind::DuplicateKey,
                line: Some(line),
                message: format!("`{}` stands on line {first} too; the last one counts. Keep one", entry.key),
            });
        }
    }
    problems
}
