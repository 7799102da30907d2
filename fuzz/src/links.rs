//! Laws of reading a note or a canvas.

use std::ops::Range;

use dormouse_vault::edit::{self, TextEdit};
use dormouse_vault::{Document, Link, LinkKind, Quoting};

/// Reads `data` as a note and as a canvas. Every span slices the text; a link that is cut out of it
/// reads as the same link; reading twice gives the same; and another target, written in the form
/// and with the escapes of a link, changes that link alone and is undone by writing the old one,
/// where no bracket stands in the target and no other link's target overlaps it.
///
/// # Panics
/// When a law is broken.
pub fn links(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    check(text, &Document::parse(text), Document::parse);
    check(text, &Document::parse_canvas(text), Document::parse_canvas);
}

fn check(text: &str, doc: &Document, read: fn(&str) -> Document) {
    assert_eq!(*doc, read(text), "reading is a function of the text");
    spans(text, doc);
    for link in &doc.links {
        reads_as_itself(text, link);
    }
    for (index, link) in doc.links.iter().enumerate().take(8) {
        retarget(text, doc, index, link, read);
    }
}

fn spans(text: &str, doc: &Document) {
    let slice =
        |span: &std::ops::Range<usize>| text.get(span.clone()).unwrap_or_else(|| panic!("{span:?} is no slice"));
    slice(&doc.body);
    doc.frontmatter
        .span
        .iter()
        .for_each(|span| assert!(slice(span).ends_with("---") || slice(span).ends_with([' ', '\t'])));
    for heading in &doc.headings {
        assert!(slice(&heading.span).contains(&heading.text), "{heading:?}");
    }
    for block in &doc.blocks {
        slice(&block.span);
        assert!(block.lines.0 <= block.lines.1 && !block.span.is_empty(), "{block:?}");
    }
    assert!(doc.blocks.is_sorted_by(|a, b| a.span.end <= b.span.start), "blocks overlap");
    for field in &doc.fields {
        slice(&field.span);
        assert_eq!(slice(&field.value_span).trim(), field.value);
    }
    for link in &doc.links {
        slice(&link.span);
        slice(&link.target_span);
        assert!(link.span.start <= link.target_span.start && link.target_span.end <= link.span.end, "{link:?}");
        let line = 1 + text.get(..link.span.start).unwrap_or("").bytes().filter(|b| *b == b'\n').count();
        assert_eq!(link.line as usize, line, "{link:?}");
        // UTF-16 positions are counted from the bytes before.
        assert!(text.is_char_boundary(link.span.start));
    }
    assert!(doc.blocks.is_empty() || !doc.body.is_empty());
}

/// What a link says, wherever it stands.
fn meaning(link: &Link) -> (&str, &str, Option<&str>) {
    (&link.target, &link.subpath, link.display.as_deref())
}

fn reads_as_itself(text: &str, link: &Link) {
    let source = &text[link.span.clone()];
    let form = match link.kind {
        LinkKind::Wiki => "[[",
        LinkKind::Embed => "![[",
        LinkKind::Markdown => "[",
        LinkKind::MarkdownEmbed => "![",
        LinkKind::Frontmatter | LinkKind::Canvas => return,
    };
    // In a string of another language the link is written with its escapes.
    if link.quoting != Quoting::None {
        return;
    }
    assert!(source.starts_with(form), "{source:?} is no {form}");
    // A quote mark or the indentation of a list may stand inside a link over two lines.
    if source.contains('\n') {
        return;
    }
    // A dollar's other half may stand before the link.
    if source.contains('$') {
        return;
    }
    let alone = Document::parse(source);
    let again = alone.links.iter().find(|found| found.span == (0..source.len()));
    let again = again.unwrap_or_else(|| panic!("{source:?} is no link when it stands alone: {:?}", alone.links));
    assert_eq!((meaning(again), again.kind), (meaning(link), link.kind), "{source:?}");
}

/// A target with something for every kind of escape.
const NEW: &str = "Neuer \"Ort\" it's é🦀";

fn retarget(text: &str, doc: &Document, index: usize, link: &Link, read: fn(&str) -> Document) {
    if link.target_span.is_empty() || text[link.span.clone()].contains('\n') {
        return;
    }
    // A bracket or quote in a target may be one of a pair with another outside of it, and what opens
    // outside is then closed by something else. A rename is held to the meaning of all links at the door.
    if text[link.target_span.clone()].contains(['[', ']', '(', ')', '<', '>', '"', '\'', '`', '$', '%']) {
        return;
    }
    // Of two links that overlap by a part, a new target of one may be read as a part of the other.
    let parted = |a: &Range<usize>, b: &Range<usize>| a.start < b.start && b.start < a.end && a.end < b.end;
    let overlaps = |other: &Link| parted(&link.span, &other.span) || parted(&other.span, &link.span);
    if doc.links.iter().any(overlaps) {
        return;
    }
    let before = &text[link.span.start..link.target_span.start];
    let is_markdown = match link.kind {
        LinkKind::Markdown | LinkKind::MarkdownEmbed => true,
        LinkKind::Frontmatter => before.contains("]("),
        LinkKind::Wiki | LinkKind::Embed | LinkKind::Canvas => false,
    };
    // The marks themselves may be written with escapes.
    if link.kind == LinkKind::Frontmatter && before.contains('\\') {
        return;
    }
    let plain =
        if is_markdown { NEW.replace('"', "%22").replace(' ', "%20").replace('\'', "%27") } else { NEW.to_owned() };
    let Some(written) = link.quoting.escape(&plain) else {
        return;
    };
    let old = &text[link.target_span.clone()];
    let edited = edit::apply(text, &[TextEdit { span: link.target_span.clone(), with: written.clone() }]).unwrap();
    let after = read(&edited);
    assert_eq!(after.links.len(), doc.links.len(), "{old:?} → {written:?} changed the number of links: {edited:?}");
    for (at, (before, now)) in doc.links.iter().zip(&after.links).enumerate() {
        if at == index {
            assert_eq!(now.target, NEW, "{old:?} in {text:?}");
            assert_eq!((&now.subpath, now.kind), (&before.subpath, before.kind));
        } else {
            assert_eq!(
                (&now.target, &now.subpath, now.kind),
                (&before.target, &before.subpath, before.kind),
                "{text:?}"
            );
        }
    }
    let start = link.target_span.start;
    let back = edit::apply(&edited, &[TextEdit { span: start..start + written.len(), with: old.to_owned() }]).unwrap();
    assert_eq!(back, text);
}
