//! Laws of parsing and editing, on any text.

use dormouse_vault::edit::{self, TextEdit};
use dormouse_vault::{BlockKind, Document};
use proptest::prelude::*;

/// Text in which everything that has a meaning is frequent.
fn markdownish() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "[",
        "[[",
        "]]",
        "]",
        "![[",
        "|",
        "\\",
        "`",
        "```",
        "~~~",
        "$",
        "$$",
        "%%",
        "<!--",
        "-->",
        "<div>",
        "(",
        ")",
        "](",
        "](a.md)",
        "#",
        "# ",
        "## ",
        "#t",
        "^id",
        " ^x",
        "- ",
        "1. ",
        "> ",
        "    ",
        "  ",
        "\t",
        " ",
        "\n",
        "\n\n",
        "\n",
        "\r\n",
        "\r",
        "---",
        "---\n",
        "===",
        "***",
        "a",
        "b c",
        "k:: ",
        "k: ",
        "k: \"[[x]]\"\n",
        "::",
        "| a |",
        "|---|",
        "[^1]: ",
        "é",
        "标签",
        "，",
        "🦀",
        "\u{feff}",
        "\u{a0}",
        "\u{3000}",
        "\0",
        "&amp;",
        "\">",
        "<a b=\"",
        "%20",
        "'",
        "\"",
        "*",
        "_",
        "==",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn any_text() -> impl Strategy<Value = String> {
    let headed = markdownish().prop_map(|text| format!("---\n{text}\n---\n{text}"));
    prop_oneof![4 => markdownish(), 2 => headed, 1 => any::<String>()]
}

fn slice(text: &str, span: &std::ops::Range<usize>) -> bool {
    text.get(span.clone()).is_some()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_span_is_a_slice_of_the_text(text in any_text()) {
        let doc = Document::parse(&text);
        prop_assert!(slice(&text, &doc.body));
        prop_assert!(doc.frontmatter.span.iter().all(|s| slice(&text, s)));
        prop_assert!(doc.headings.iter().all(|h| slice(&text, &h.span) && text[h.span.clone()].contains(&h.text)));
        prop_assert!(doc.blocks.iter().all(|b| slice(&text, &b.span) && b.lines.0 <= b.lines.1));
        prop_assert!(doc.fields.iter().all(|f| slice(&text, &f.span) && text[f.value_span.clone()].trim() == f.value));
        for link in &doc.links {
            prop_assert!(slice(&text, &link.span) && slice(&text, &link.target_span));
            prop_assert!(link.span.start <= link.target_span.start && link.target_span.end <= link.span.end);
            prop_assert!(link.line as usize <= text.lines().count().max(1));
            if link.kind == dormouse_vault::LinkKind::Wiki {
                let source = &text[link.span.clone()];
                prop_assert!(source.starts_with("[[") && source.ends_with("]]") && !source.contains('\n'), "{:?}", source);
            }
        }
        let canvas = Document::parse_canvas(&text);
        prop_assert!(canvas.links.iter().all(|link| slice(&text, &link.span) && slice(&text, &link.target_span)));
    }

    #[test]
    fn a_link_in_a_quoted_string_stands_where_its_text_is_written(text in markdownish()) {
        let json = serde_json::Value::from(text.as_str()).to_string();
        let canvas = format!("{{\"nodes\":[{{\"text\":{json}}}]}}");
        for link in Document::parse_canvas(&canvas).links {
            let written = &canvas[link.target_span.clone()];
            prop_assert!(link.target.is_empty() || !written.is_empty(), "{:?}", link);
            let meant: String = serde_json::from_str(&format!("\"{written}\"")).unwrap();
            prop_assert!(text.contains(&meant) && canvas[link.span.clone()].contains(written));
        }
        let note = format!("---\na: {}\nb: '{}'\n---\n", edit::yaml_quote(&text), text.replace(['\n', '\r', '\0'], "").replace('\'', "''"));
        for link in Document::parse(&note).links {
            prop_assert!(slice(&note, &link.span) && slice(&note, &link.target_span));
            prop_assert!(link.target.is_empty() || !link.target_span.is_empty(), "{:?} in {:?}", link, note);
        }
    }

    #[test]
    fn every_line_that_is_neither_blank_nor_heading_is_in_one_block(text in any_text()) {
        let doc = Document::parse(&text);
        let mut at = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let start = at;
            at += line.len();
            let content = line.trim_end_matches(['\n', '\r']);
            if start < doc.body.start && at <= doc.body.start {
                continue;
            }
            let number = u32::try_from(number).unwrap() + 1;
            let owners: Vec<_> = doc.blocks.iter().filter(|b| b.lines.0 <= number && number <= b.lines.1).collect();
            let in_heading = doc.headings.iter().any(|h| h.span.start < at && start < h.span.end.max(h.span.start + 1));
            if in_heading {
                prop_assert!(owners.is_empty(), "line {} is heading and block", number);
            } else if !content.trim().is_empty() && (start, content.trim()) != (0, "\u{feff}") {
                prop_assert_eq!(owners.len(), 1, "line {}", number);
                prop_assert!(owners[0].span.start <= start.max(doc.body.start) && start + content.trim_end().len() <= owners[0].span.end);
            }
        }
        prop_assert!(doc.blocks.is_sorted_by(|a, b| a.span.end <= b.span.start));
        prop_assert!(doc.blocks.iter().all(|b| b.kind == BlockKind::ListItem || b.depth == 0));
    }

    #[test]
    fn an_edit_touches_only_its_span(text in any_text(), from in any::<prop::sample::Index>(), len in 0_usize..20, with in ".{0,5}") {
        let start = from.index(text.len() + 1);
        let span = start..(start + len).min(text.len());
        match edit::apply(&text, &[TextEdit { span: span.clone(), with: with.clone() }]) {
            Ok(edited) => {
                prop_assert_eq!(&edited[..span.start], &text[..span.start]);
                prop_assert_eq!(&edited[span.start..span.start + with.len()], with.as_str());
                prop_assert_eq!(&edited[span.start + with.len()..], &text[span.end..]);
            }
            Err(_) => prop_assert!(!slice(&text, &span)),
        }
    }

    #[test]
    fn a_set_property_is_read_back_and_the_rest_is_kept(text in any_text(), value in "\\PC{0,12}") {
        let before = Document::parse(&text);
        if let Ok(edits) = edit::set_property(&text, &before, "status", &edit::yaml_quote(&value)) {
            let edited = edit::apply(&text, &edits).unwrap();
            let after = Document::parse(&edited);
            let read = after.frontmatter.properties.get("status").and_then(|v| v.as_str());
            prop_assert_eq!(read, Some(value.as_str()), "{:?}", edited);
            prop_assert_eq!(&edited[after.body], &text[before.body]);
        }
    }

    #[test]
    fn a_quoted_string_means_itself_in_a_list_too(value in any::<String>()) {
        let doc = Document::parse(&format!("---\na: {0}\nb: [{0}, x]\n---\n", edit::yaml_quote(&value)));
        prop_assert_eq!(doc.frontmatter.properties.get("a").and_then(|v| v.as_str()), Some(value.as_str()));
        prop_assert_eq!(doc.frontmatter.properties["b"][0].as_str(), Some(value.as_str()));
    }
}
