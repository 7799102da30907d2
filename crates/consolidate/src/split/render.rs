//! The texts of a split: the overview and the children. Every byte of the old body goes, verbatim,
//! into exactly one of them.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

use dormouse_vault::text::{is_cjk, sentences, slug, truncate_chars};
use dormouse_vault::{Link, Note, NotePath, Snapshot};

use super::sections::Section;
use super::ties::Signpost;
use super::{PART_OF, SplitChild};

/// The new texts.
pub(super) struct Drawn {
    pub(super) parent: String,
    pub(super) children: Vec<(SplitChild, String)>,
}

/// The predicate of provenance.
const DERIVED_FROM: &str = "derived_from";
/// Longest name and longest description in characters.
const NAME: usize = 80;
const DESCRIPTION: usize = 160;

/// The parts of a body, and which of them leave.
pub(super) struct Parts<'a> {
    /// What stands before the first section.
    pub(super) lead: Range<usize>,
    pub(super) sections: &'a [Section],
    /// The sections that leave, one group a child.
    pub(super) groups: &'a [Vec<usize>],
    /// The headings that the parent keeps of them, in order.
    pub(super) signposts: &'a [Signpost],
}

/// Draws overview and children.
pub(super) fn draw(snapshot: &Snapshot, note: &Note, text: &str, parts: &Parts<'_>) -> Drawn {
    let Parts { sections, groups, .. } = *parts;
    let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let provenance = provenance(snapshot, note);
    // Names that differ in case alone can't lie side by side everywhere, and the door refuses them.
    let beside = snapshot.notes().filter(|other| other.path.folder() == note.path.folder());
    let mut taken: BTreeSet<String> = beside.map(|other| other.path.as_str().to_lowercase()).collect();
    let mut children = Vec::new();
    for group in groups {
        let own: Vec<&Section> = group.iter().filter_map(|&i| sections.get(i)).collect();
        let child = name_child(snapshot, note, &own, &mut taken);
        let content = draw_child(note, text, &child, &own, &provenance, eol);
        children.push((child, content));
    }
    let parent = draw_parent(note, text, parts, &children, &provenance, eol);
    Drawn { parent, children }
}

/// A link that names a source: where it stands, and as it is written between the brackets.
struct Source {
    span: Range<usize>,
    written: String,
}

/// The note's provenance, each source once.
fn provenance(snapshot: &Snapshot, note: &Note) -> Vec<Source> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for link in note.doc().links.iter().filter(|l| is_provenance(l)) {
        let Some(target) = snapshot.resolve(&note.path, &link.target).path().cloned() else {
            continue;
        };
        let written = format!("{}{}", target.link_target(), link.subpath);
        let in_body = link.span.start >= note.doc().body.start;
        if seen.insert(written.clone()) || in_body {
            out.push(Source { span: link.span.clone(), written });
        }
    }
    out
}

fn is_provenance(link: &Link) -> bool {
    link.predicate.as_deref().is_some_and(|p| p.eq_ignore_ascii_case(DERIVED_FROM))
}

fn name_child(snapshot: &Snapshot, note: &Note, parts: &[&Section], taken: &mut BTreeSet<String>) -> SplitChild {
    let headings: Vec<String> = parts.iter().map(|s| s.heading.trim().to_owned()).collect();
    let first = headings.iter().map(|h| clean(h)).find(|h| !h.is_empty()).unwrap_or_else(|| "part".to_owned());
    let parent = clean(&note.name);
    let joint = if parent.chars().next_back().is_some_and(is_cjk) { "：" } else { ": " };
    let name =
        if first.to_lowercase().contains(&parent.to_lowercase()) { first } else { format!("{parent}{joint}{first}") };
    let name = shorten(&name, NAME);
    let folder = note.path.folder();
    let stem = slug(&name);
    let path = (1..1000).find_map(|n| {
        let file = if n == 1 { format!("{stem}.md") } else { format!("{stem}-{n}.md") };
        let path = NotePath::new(&if folder.is_empty() { file } else { format!("{folder}/{file}") }).ok()?;
        (!snapshot.exists(&path) && taken.insert(path.as_str().to_lowercase())).then_some(path)
    });
    SplitChild { path: path.unwrap_or_else(|| note.path.clone()), name, headings }
}

/// A heading or name without what would break a link or a YAML string.
fn clean(text: &str) -> String {
    let text: String = text
        .chars()
        .filter(|c| !matches!(c, '[' | ']' | '|' | '`' | '*' | '^' | '#' | '"' | '\\') && !c.is_control())
        .collect();
    text.trim_end_matches([':', '：', ' ']).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most `max` characters; what is cut ends at a word, with an ellipsis.
fn shorten(text: &str, max: usize) -> String {
    let cut = truncate_chars(text, max);
    if cut.len() == text.len() {
        return text.to_owned();
    }
    let whole = cut.rsplit_once(' ').map_or(cut, |(head, _)| head);
    format!("{}…", whole.trim_end_matches([',', ';', '，', '；', ' ']))
}

fn draw_child(
    note: &Note,
    text: &str,
    child: &SplitChild,
    parts: &[&Section],
    provenance: &[Source],
    eol: &str,
) -> String {
    let mut out = String::new();
    let mut line = |content: &str| {
        out.push_str(content);
        out.push_str(eol);
    };
    line("---");
    line(&format!("name: {}", quoted(&child.name)));
    line(&format!("description: {}", quoted(&describe(child, parts))));
    let own = provenance.iter().any(|s| parts.iter().any(|p| p.span.contains(&s.span.start)));
    if !own && !provenance.is_empty() {
        line(&format!("{DERIVED_FROM}:"));
        let mut seen = BTreeSet::new();
        for source in provenance.iter().filter(|s| seen.insert(s.written.as_str())) {
            line(&format!("  - {}", quoted(&format!("[[{}]]", source.written))));
        }
    }
    line("---");
    line("");
    line(&format!("{PART_OF}:: [[{}|{}]]", note.path.link_target(), clean(&note.name)));
    line("");
    for part in parts {
        out.push_str(text.get(part.span.clone()).unwrap_or(""));
    }
    if !out.ends_with('\n') {
        out.push_str(eol);
    }
    out
}

/// The first sentence of what the child says.
fn describe(child: &SplitChild, parts: &[&Section]) -> String {
    let first = parts.iter().find_map(|part| {
        let range = sentences(&part.statement).into_iter().next()?;
        let sentence = clean(part.statement.get(range)?.trim_start_matches(['-', '+', ' ', '>']));
        (!sentence.is_empty()).then_some(sentence)
    });
    shorten(&first.unwrap_or_else(|| child.name.clone()), DESCRIPTION)
}

fn draw_parent(
    note: &Note,
    text: &str,
    parts: &Parts<'_>,
    children: &[(SplitChild, String)],
    provenance: &[Source],
    eol: &str,
) -> String {
    let Parts { lead, sections, groups, signposts } = parts;
    let leaving: BTreeSet<usize> = groups.iter().flatten().copied().collect();
    let mut out = String::from(text.get(..lead.end).unwrap_or(""));
    end_paragraph(&mut out, eol);
    let chinese = note.name.chars().any(is_cjk) || children.iter().any(|(c, _)| c.name.chars().any(is_cjk));
    let _ = write!(out, "{}{eol}{eol}", if chinese { "这则笔记的各部分：" } else { "The parts of this note:" });
    for (child, _) in children {
        let _ = write!(out, "- [[{}|{}]]{eol}", child.path.link_target(), child.name);
    }
    let stays = |at: usize| {
        at < lead.end || sections.iter().enumerate().any(|(i, s)| !leaving.contains(&i) && s.span.contains(&at))
    };
    if !provenance.is_empty() && !provenance.iter().any(|s| stays(s.span.start)) {
        // In a sentence, so that it is no second copy of a block that a child took over.
        let mut seen = BTreeSet::new();
        let sources = provenance.iter().filter(|s| seen.insert(s.written.as_str()));
        let fields: Vec<_> = sources.map(|s| format!("({DERIVED_FROM}:: [[{}]])", s.written)).collect();
        let (head, joint) = if chinese { ("来源：", "、") } else { ("Drawn from ", ", ") };
        let _ = write!(out, "{eol}{head}{}{eol}", fields.join(joint));
    }
    let kept = |i: &usize| !leaving.contains(i) || signposts.iter().any(|s| s.section == *i);
    let kept: Vec<usize> = (0..sections.len()).filter(kept).collect();
    if !kept.is_empty() {
        out.push_str(eol);
    }
    for at in kept {
        let Some(section) = sections.get(at) else { continue };
        let child = groups.iter().position(|group| group.contains(&at)).and_then(|group| children.get(group));
        let Some((child, _)) = child else {
            out.push_str(text.get(section.span.clone()).unwrap_or(""));
            continue;
        };
        // Whoever follows a link to the heading finds it here, with the way on.
        end_paragraph(&mut out, eol);
        for signpost in signposts.iter().filter(|s| s.section == at) {
            let heading = note.doc().headings.get(signpost.heading).and_then(|h| text.get(h.span.clone()));
            let (target, name) = (child.path.link_target(), &child.name);
            let way = if chinese { format!("见 [[{target}|{name}]]。") } else { format!("See [[{target}|{name}]].") };
            let _ = write!(out, "{}{eol}{eol}{way}{eol}{eol}", heading.unwrap_or("").trim_start());
        }
    }
    out
}

/// Ends the last line and leaves one blank line.
fn end_paragraph(out: &mut String, eol: &str) {
    if out.trim_start_matches('\u{feff}').is_empty() {
        return;
    }
    if !out.is_empty() && !out.ends_with('\n') {
        out.push_str(eol);
    }
    if !out.is_empty() && !out.ends_with("\n\n") && !out.ends_with("\r\n\r\n") {
        out.push_str(eol);
    }
}

/// A double-quoted YAML string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
