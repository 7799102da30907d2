//! Laws of editing properties.

use dormouse_vault::Document;
use dormouse_vault::edit;

/// The first line of `data` is a property's value, its first word the key, the rest a note. What is
/// set is read back, every other property and the body stay as they were, nothing outside the edit
/// changes, and a refusal changes nothing.
///
/// # Panics
/// When a law is broken.
pub fn frontmatter_edit(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Some((head, note)) = text.split_once('\n') else {
        return;
    };
    let (key, value) = head.split_once(' ').unwrap_or(("status", head));
    let before = Document::parse(note);
    for yaml in [edit::yaml_quote(value), value.to_owned()] {
        set(note, &before, key, value, &yaml);
    }
    quoted(value);
}

fn set(note: &str, before: &Document, key: &str, value: &str, yaml: &str) {
    let Ok(edits) = edit::set_property(note, before, key, yaml) else {
        return;
    };
    let edited = edit::apply(note, &edits).expect("planned edits fit the text they were planned from");
    let after = Document::parse(&edited);
    // What Obsidian reads in any case is set where it stands.
    let any_case = ["aliases", "tags", "cssclasses"].iter().any(|name| name.eq_ignore_ascii_case(key));
    let mut keys = before.frontmatter.properties.keys();
    let key = keys.find(|have| any_case && have.eq_ignore_ascii_case(key)).map_or(key, String::as_str);
    assert!(after.frontmatter.well_formed, "{edited:?}");
    let read = after.frontmatter.properties.get(key);
    if yaml == edit::yaml_quote(value) {
        assert_eq!(read.and_then(|v| v.as_str()), Some(value), "{edited:?}");
    }
    assert!(read.is_some(), "{edited:?}");
    for (other, was) in before.frontmatter.properties.iter().filter(|(other, _)| *other != key) {
        assert_eq!(after.frontmatter.properties.get(other), Some(was), "{other}: {edited:?}");
    }
    assert_eq!(edited[after.body.clone()], note[before.body.clone()], "the body changed");
    let [one] = edits.as_slice() else {
        panic!("one edit sets one property");
    };
    assert_eq!(edited[..one.span.start], note[..one.span.start]);
    assert_eq!(edited[one.span.start + one.with.len()..], note[one.span.end..]);
    // Setting the same again changes nothing.
    let again = edit::set_property(&edited, &after, key, yaml).and_then(|edits| edit::apply(&edited, &edits));
    assert_eq!(again.as_deref().ok(), Some(edited.as_str()));
}

fn quoted(value: &str) {
    let note = format!("---\na: {0}\nb: [{0}, x]\n---\n", edit::yaml_quote(value));
    let properties = Document::parse(&note).frontmatter.properties;
    assert_eq!(properties.get("a").and_then(|v| v.as_str()), Some(value), "{note:?}");
    assert_eq!(properties["b"][0].as_str(), Some(value), "{note:?}");
}
