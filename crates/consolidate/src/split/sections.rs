//! The top-level sections of a body, and which of them are one theme.

use std::collections::BTreeMap;
use std::ops::Range;

use dormouse_vault::Document;
use dormouse_vault::text::{content_words, estimate_tokens};

use crate::reading::Reading;

/// A section: from its heading to the next one of the same level.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Section {
    /// The heading's text as written.
    pub(super) heading: String,
    /// Heading and content, up to the next section; line ends included.
    pub(super) span: Range<usize>,
    /// What it says.
    pub(super) statement: String,
    /// Estimated tokens of `span`.
    pub(super) tokens: usize,
}

/// The body up to the first section, and the sections. Lead and sections joined are the body.
///
/// Sections begin at the headings of the highest level, a lone title before everything else not
/// counted. Headings come from the parser, so that a `#` in a code block is none.
pub(super) fn sections(doc: &Document, text: &str) -> (Range<usize>, Vec<Section>) {
    let body = doc.body.clone();
    let reading = Reading::of(doc, text);
    let headings: Vec<_> = doc.headings.iter().filter(|h| h.span.start >= body.start).collect();
    let inside_block = |at: usize| {
        let after = doc.blocks.partition_point(|b| b.span.start < at);
        let before = after.checked_sub(1).and_then(|i| doc.blocks.get(i));
        before.is_some_and(|b| at < b.span.end)
    };
    let title = match headings.split_first() {
        Some((first, rest)) if first.level == 1 => {
            let only = rest.iter().all(|h| h.level > 1);
            let leads = doc.blocks.iter().all(|b| b.span.start > first.span.start);
            only && leads
        }
        _ => false,
    };
    let candidates = headings.iter().skip(usize::from(title)).filter(|h| !inside_block(h.span.start));
    let candidates: Vec<_> = candidates.collect();
    let Some(level) = candidates.iter().map(|h| h.level).min() else {
        return (body, Vec::new());
    };
    let tops: Vec<_> = candidates.into_iter().filter(|h| h.level == level).collect();
    let starts: Vec<usize> = tops.iter().map(|h| line_start(text, h.span.start).max(body.start)).collect();
    let mut out = Vec::new();
    for (i, heading) in tops.iter().enumerate() {
        let Some(&start) = starts.get(i) else {
            continue;
        };
        let end = starts.get(i + 1).copied().unwrap_or(body.end);
        let span = start..end;
        let statement = reading.statement_in(span.clone());
        let tokens = estimate_tokens(text.get(span.clone()).unwrap_or(""));
        out.push(Section { heading: heading.text.clone(), span, statement, tokens });
    }
    let lead = body.start..starts.first().copied().unwrap_or(body.end);
    (lead, out)
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|t| t.rfind('\n')).map_or(0, |n| n + 1)
}

/// Groups of sections that speak of the same, each in order, by their first section. Two sections
/// whose words are alike by at least `cohesion` are one theme, and so is what they join; `tied` has
/// the first of those that each one is tied to.
pub(super) fn themes(sections: &[Section], cohesion: f64, tied: &[usize]) -> Vec<Vec<usize>> {
    let vectors: Vec<BTreeMap<String, f64>> = sections.iter().map(|s| counts(&s.heading, &s.statement)).collect();
    let mut group: Vec<usize> = (0..sections.len()).map(|i| tied.get(i).copied().unwrap_or(i)).collect();
    for (i, a) in vectors.iter().enumerate() {
        for (j, b) in vectors.iter().enumerate().skip(i + 1) {
            if cosine(a, b) >= cohesion {
                let (keep, drop) = match (group.get(i), group.get(j)) {
                    (Some(&x), Some(&y)) => (x.min(y), x.max(y)),
                    _ => continue,
                };
                group.iter_mut().filter(|g| **g == drop).for_each(|g| *g = keep);
            }
        }
    }
    let mut out: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (i, g) in group.into_iter().enumerate() {
        out.entry(g).or_default().push(i);
    }
    out.into_values().collect()
}

/// The largest likeness between sections of different themes.
pub(super) fn likeness_across(sections: &[Section], themes: &[Vec<usize>]) -> f64 {
    let vectors: Vec<BTreeMap<String, f64>> = sections.iter().map(|s| counts(&s.heading, &s.statement)).collect();
    let mut largest = 0.0_f64;
    for (t, theme) in themes.iter().enumerate() {
        for other in themes.iter().skip(t + 1) {
            for (a, b) in theme.iter().flat_map(|i| other.iter().map(move |j| (*i, *j))) {
                if let (Some(a), Some(b)) = (vectors.get(a), vectors.get(b)) {
                    largest = largest.max(cosine(a, b));
                }
            }
        }
    }
    largest
}

fn counts(heading: &str, statement: &str) -> BTreeMap<String, f64> {
    let mut out = BTreeMap::new();
    for word in content_words(heading).into_iter().chain(content_words(statement)) {
        *out.entry(word).or_insert(0.0) += 1.0;
    }
    out
}

/// Cosine of two bags of words; 0 when one is empty.
fn cosine(a: &BTreeMap<String, f64>, b: &BTreeMap<String, f64>) -> f64 {
    let dot: f64 = a.iter().filter_map(|(word, x)| b.get(word).map(|y| x * y)).sum();
    let norm = |v: &BTreeMap<String, f64>| v.values().map(|x| x * x).sum::<f64>().sqrt();
    let both = norm(a) * norm(b);
    if both > 0.0 { dot / both } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let headings: Vec<_> = sections(&Document::parse(text), text).1.into_iter().map(|s| s.heading).collect();
        assert_eq!(headings, expected);
    }

    #[test]
    fn sections_begin_at_the_highest_level_below_a_lone_title() {
        check("# T\n\n## A\nx\n### A1\ny\n## B\nz\n", &["A", "B"]);
        check("# A\nx\n# B\ny\n", &["A", "B"]);
        check("lead\n\n# A\nx\n## A1\ny\n", &["A"]);
        check("A\n===\nx\n\nB\n===\ny\n", &["A", "B"]);
        check("plain\n", &[]);
        check("", &[]);
    }

    #[test]
    fn con_05_headings_in_code_and_quotes_are_none() {
        check("## A\n```\n## no\n```\n~~~\n# no\n~~~\n## B\n    ## no\n%%\n## no\n%%\n", &["A", "B"]);
    }

    fn rejoined(text: &str) -> String {
        let doc = Document::parse(text);
        let (lead, sections) = sections(&doc, text);
        let spans = [lead].into_iter().chain(sections.into_iter().map(|s| s.span));
        spans.map(|span| text.get(span).expect("on character boundaries")).collect()
    }

    proptest! {
        #[test]
        fn con_05_lead_and_sections_joined_are_the_body(text in "(#{1,3} [a一]{1,3}|```|~~~|- a|> # q|a\n===|%%|\\$\\$|---|a: b|\r|\t|\n){0,30}") {
            let body = Document::parse(&text).body;
            prop_assert_eq!(rejoined(&text), &text[body]);
        }

        #[test]
        fn any_text_can_be_cut(text in "\\PC{0,80}") {
            let body = Document::parse(&text).body;
            prop_assert_eq!(rejoined(&text), &text[body]);
        }
    }
}
