//! A note's text as a person reads it: links by what they show, provenance and other typed links
//! gone. What the tasks compare, count and label.

use std::ops::Range;

use dormouse_vault::{Block, Document};

/// A document with its text, and what is to be replaced in it.
pub(crate) struct Reading<'a> {
    doc: &'a Document,
    text: &'a str,
    /// By start, the longer first.
    cuts: Vec<Cut>,
}

/// Headings over lists of other notes.
const RELATED: [&str; 6] = ["related", "see also", "sources", "相关", "参见", "来源"];

struct Cut {
    span: Range<usize>,
    shown: String,
}

impl<'a> Reading<'a> {
    /// Prepares a document. O(n log n) in its links and fields.
    pub(crate) fn of(doc: &'a Document, text: &'a str) -> Self {
        let mut starts: Vec<Range<usize>> = doc.links.iter().map(|l| l.span.clone()).collect();
        starts.sort_by_key(|s| s.start);
        let holds_link = |field: &Range<usize>| {
            let first = starts.partition_point(|s| s.start < field.start);
            starts.get(first).is_some_and(|s| s.end <= field.end)
        };
        let fields = doc.fields.iter().map(|f| f.span.clone()).filter(holds_link);
        let fields = fields.map(|span| Cut { span, shown: String::new() });
        let links = doc.links.iter().map(|link| {
            let shown = link.display.clone().unwrap_or_else(|| last_segment(&link.target).to_owned());
            Cut { span: link.span.clone(), shown }
        });
        let mut cuts: Vec<Cut> = fields.chain(links).collect();
        cuts.sort_by(|a, b| a.span.start.cmp(&b.span.start).then(b.span.end.cmp(&a.span.end)));
        Self { doc, text, cuts }
    }

    /// What the note states: its blocks without headings. Blocks that are nothing but links
    /// (related notes, sources) state nothing and are left out. Linear.
    pub(crate) fn statement(&self) -> String {
        self.statement_in(self.doc.body.clone())
    }

    /// [`Reading::statement`] of the blocks within `span`.
    pub(crate) fn statement_in(&self, span: Range<usize>) -> String {
        let mut out = String::new();
        let first = self.doc.blocks.partition_point(|b| b.span.start < span.start);
        for block in self.doc.blocks.iter().skip(first).take_while(|b| b.span.end <= span.end) {
            if let Some(part) = self.block(block) {
                out.push_str(&part);
                out.push('\n');
            }
        }
        out
    }

    /// One block, trimmed, without its id; `None` when nothing but links is in it, or it stands in
    /// a list of related notes, whose words are theirs.
    fn block(&self, block: &Block) -> Option<String> {
        let heading = block.heading.and_then(|h| self.doc.headings.get(h as usize));
        if heading.is_some_and(|h| RELATED.contains(&h.text.trim().to_lowercase().as_str())) {
            return None;
        }
        let mut span = block.span.clone();
        let whole = self.text.get(span.clone())?.trim_end();
        if let Some(id) = &block.id
            && let Some(head) = whole.strip_suffix(id.as_str()).and_then(|w| w.strip_suffix('^'))
        {
            span.end = span.start + head.len();
        }
        let (mut out, mut rest) = (String::new(), false);
        let mut keep = |text: &str, shown: &str| {
            rest |= text.chars().any(char::is_alphanumeric);
            out.push_str(text);
            out.push_str(shown);
        };
        let mut at = span.start;
        let first = self.cuts.partition_point(|c| c.span.start < span.start);
        for cut in self.cuts.iter().skip(first).take_while(|c| c.span.start < span.end) {
            if cut.span.start >= at {
                keep(self.text.get(at..cut.span.start)?, &cut.shown);
                at = cut.span.end;
            }
        }
        keep(self.text.get(at..span.end).unwrap_or(""), "");
        rest.then(|| out.trim().to_owned())
    }
}

fn last_segment(target: &str) -> &str {
    let name = target.rsplit('/').next().unwrap_or(target);
    name.strip_suffix(".md").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: Expect) {
        expected.assert_eq(&Reading::of(&Document::parse(text), text).statement());
    }

    #[test]
    fn links_read_as_what_they_show_and_provenance_is_gone() {
        check(
            "---\nname: x\n---\n# Title\n\nScores are [[digest/wiki/fusion|fused]], see [[digest/wiki/bm25]]. \
             (derived_from:: [[daily/2026-11-09/e#^b1|2026-11-09]]) ^b1\n\n- one (why:: because)\n\n\
             derived_from:: [[daily/2026-11-09/e]]\n\n## Related\n\n- See [[a]]: what a says.\n\n## Links\n\n- [[a]]\n- [[b|B]]\n",
            expect![[r#"
                Scores are fused, see bm25.
                - one (why:: because)
            "#]],
        );
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "(\\[\\[|\\]\\]|::|[a-z一]{1,3}|\\(|\\)|\\||\n| |`|- |\\^a|%%){0,60}") {
            let doc = Document::parse(&text);
            let _ = Reading::of(&doc, &text).statement();
        }
    }
}
