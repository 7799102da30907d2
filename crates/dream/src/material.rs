//! Material: the experience that is dreamed, cut into passages that can be cited.

use chrono::NaiveDate;
use dormouse_vault::material::day;
use dormouse_vault::text::is_cjk;
use dormouse_vault::{BlockKind, Layer, Note, NotePath, Resolution, Snapshot, Vault, VaultError, Version};

use crate::config::DreamConfig;
use crate::markdown::{link, one_line, spoken};

/// The language that digests of a material are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// English, and whatever is not Chinese.
    English,
    /// Chinese.
    Chinese,
}

impl Language {
    /// Chinese when at least a fifth of the letters are CJK.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let (cjk, letters) = text.chars().fold((0_usize, 0_usize), |(cjk, letters), c| {
            (cjk + usize::from(is_cjk(c)), letters + usize::from(c.is_alphabetic()))
        });
        if cjk * 5 >= letters && cjk > 0 { Self::Chinese } else { Self::English }
    }
}

/// How a passage is marked in its note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// A paragraph or quote.
    Plain,
    /// A bullet or task.
    Bullet,
    /// A numbered item.
    Number,
    /// A table, code, math, HTML: shown to a model, never taken as a sentence.
    Verbatim,
}

/// One block of a material.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Its text: one line without marker and block id, links with their full path; as it stands
    /// for [`Marker::Verbatim`].
    pub text: String,
    /// The headings that it stands under, outermost first.
    pub heading: Vec<String>,
    /// How it is marked.
    pub marker: Marker,
    /// Its block id, without `^`.
    pub id: Option<String>,
}

/// How a material came to be, where that says how to read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Origin {
    /// Something that happened, or a text.
    #[default]
    Experience,
    /// It was given to be remembered (`source: remember`): each plain statement of it counts.
    Remembered,
    /// A commit of a repository (it has a property `commit`).
    Commit,
}

impl Origin {
    fn of(note: &Note) -> Self {
        let text = |key: &str| note.doc().frontmatter.properties.get(key).and_then(|v| v.as_str());
        if note.doc().frontmatter.properties.contains_key("commit") {
            Self::Commit
        } else if matches!(text("source"), Some("remember" | "remembered")) {
            Self::Remembered
        } else {
            Self::Experience
        }
    }
}

/// A daily event or a text file of the resource layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Material {
    /// Where it lies.
    pub path: NotePath,
    /// The version of the bytes that were read.
    pub version: Version,
    /// Its name.
    pub name: String,
    /// Its description, when it has one.
    pub description: Option<String>,
    /// Its day.
    pub date: Option<NaiveDate>,
    /// How it came to be.
    pub origin: Origin,
    /// The language of its text.
    pub language: Language,
    /// Its blocks in order.
    pub passages: Vec<Passage>,
    /// Existing files that it links to, in order, each once.
    pub links: Vec<NotePath>,
}

/// What reading a material gave.
pub(crate) enum Read {
    /// It can be dreamed.
    Material(Box<Material>),
    /// It can't, and why.
    Not(&'static str),
    /// It is another one by now than the snapshot has.
    Changed,
}

/// Reads a material at its current version.
pub(crate) fn read(
    vault: &Vault,
    snapshot: &Snapshot,
    path: &NotePath,
    config: &DreamConfig,
) -> Result<Read, VaultError> {
    if path.link_target().contains(['#', '^', '[', ']', '|']) {
        return Ok(Read::Not("its name can't be linked to: rename it"));
    }
    let text = vault.read(path)?;
    if !text.utf8 {
        return Ok(Read::Not("not UTF-8"));
    }
    if text.text.len() as u64 > config.max_material_bytes {
        return Ok(Read::Not("larger than `dream.max_material_bytes`"));
    }
    let date = day(snapshot, path);
    let material = match snapshot.note(path) {
        Some(note) if note.version == text.version => from_note(note, &text.text, snapshot, date),
        Some(_) => return Ok(Read::Changed),
        None => from_plain(path, &text.text, text.version, date),
    };
    Ok(Read::Material(Box::new(material)))
}

fn from_note(note: &Note, text: &str, snapshot: &Snapshot, date: Option<NaiveDate>) -> Material {
    let mut links: Vec<NotePath> = Vec::new();
    for (_, resolution) in snapshot.links_of(note) {
        if let Some(path) = resolution.path()
            && *path != note.path
            && !links.contains(path)
        {
            links.push(path.clone());
        }
    }
    let passages: Vec<Passage> = note
        .doc()
        .blocks
        .iter()
        .filter_map(|block| passage(note, text, snapshot, block))
        .filter(|p| !p.text.is_empty())
        .collect();
    let sample: String = passages.iter().filter(|p| p.marker != Marker::Verbatim).map(|p| p.text.as_str()).collect();
    Material {
        path: note.path.clone(),
        version: note.version,
        name: one_line(&note.name),
        description: note.description.as_deref().map(one_line),
        date,
        origin: Origin::of(note),
        language: Language::of(if sample.is_empty() { text } else { &sample }),
        passages,
        links,
    }
}

fn passage(note: &Note, text: &str, snapshot: &Snapshot, block: &dormouse_vault::Block) -> Option<Passage> {
    let raw = text.get(block.span.clone())?;
    let heading = heading_path(note, block.heading);
    let marker = match block.kind {
        BlockKind::Paragraph | BlockKind::Quote | BlockKind::Footnote => Marker::Plain,
        BlockKind::ListItem => {
            if raw.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
                Marker::Number
            } else {
                Marker::Bullet
            }
        }
        BlockKind::Code | BlockKind::Table | BlockKind::Math => Marker::Verbatim,
        BlockKind::Html | BlockKind::Comment | BlockKind::Rule => return None,
    };
    if marker == Marker::Verbatim {
        return Some(Passage { text: raw.to_owned(), heading, marker, id: block.id.clone() });
    }
    let linked = relink(note, text, snapshot, block.span.clone());
    let without_id = match &block.id {
        Some(id) => {
            linked.trim_end().strip_suffix(id.as_str()).and_then(|s| s.strip_suffix('^')).unwrap_or(&linked).to_owned()
        }
        None => linked,
    };
    Some(Passage { text: one_line(strip_marker(&without_id)), heading, marker, id: block.id.clone() })
}

/// The span's text with each link as we would write it: full path, or the mere words when it
/// resolves to nothing that a digest may point to.
fn relink(note: &Note, text: &str, snapshot: &Snapshot, span: std::ops::Range<usize>) -> String {
    let mut out = String::new();
    let mut at = span.start;
    for l in note.doc().links.iter().filter(|l| l.key.is_none() && l.span.start >= span.start && l.span.end <= span.end)
    {
        if l.span.start < at {
            continue;
        }
        let resolution = snapshot.resolve(&note.path, &l.target);
        if resolution == Resolution::External {
            continue;
        }
        out.push_str(text.get(at..l.span.start).unwrap_or("").trim_end_matches('!'));
        let words = spoken(&l.target, l.display.as_deref());
        match resolution.path().filter(|p| !matches!(snapshot.layout().layer(p), Layer::Meta | Layer::Audit)) {
            Some(path) => {
                let named =
                    l.display.clone().or_else(|| snapshot.note(path).map(|n| n.name.to_string())).unwrap_or(words);
                out.push_str(&link(path, None, &named));
            }
            None => out.push_str(&words),
        }
        at = l.span.end;
    }
    out.push_str(text.get(at..span.end).unwrap_or(""));
    out
}

fn heading_path(note: &Note, index: Option<u32>) -> Vec<String> {
    let mut path: Vec<(u8, String)> = Vec::new();
    let Some(index) = index else {
        return Vec::new();
    };
    for heading in note.doc().headings.iter().take(index as usize + 1) {
        path.retain(|(level, _)| *level < heading.level);
        path.push((heading.level, one_line(&heading.text)));
    }
    path.into_iter().filter(|(level, text)| !(*level == 1 && **text == *note.name)).map(|(_, text)| text).collect()
}

/// Drops quote marks, list markers and task boxes in front of each line.
fn strip_marker(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let before = rest;
        rest = rest.strip_prefix("> ").or_else(|| rest.strip_prefix('>')).unwrap_or(rest).trim_start();
        for bullet in ["- ", "* ", "+ "] {
            rest = rest.strip_prefix(bullet).unwrap_or(rest).trim_start();
        }
        for task in ["[ ] ", "[x] ", "[X] "] {
            rest = rest.strip_prefix(task).unwrap_or(rest);
        }
        let digits = rest.chars().take_while(char::is_ascii_digit).count();
        if (1..=3).contains(&digits)
            && let Some(after) = rest.get(digits..)
            && let Some(after) = after.strip_prefix(". ").or_else(|| after.strip_prefix(") "))
        {
            return after.trim_start();
        }
        if rest == before {
            return rest;
        }
    }
}

/// A resource that is no Markdown: paragraphs of prose between blank lines for `txt` and the like,
/// verbatim lines for data.
fn from_plain(path: &NotePath, text: &str, version: Version, date: Option<NaiveDate>) -> Material {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let prose = matches!(path.extension().to_ascii_lowercase().as_str(), "txt" | "text" | "org" | "rst");
    let mut passages = Vec::new();
    let mut run = String::new();
    let flush = |run: &mut String, passages: &mut Vec<Passage>| {
        let body = std::mem::take(run);
        if body.trim().is_empty() {
            return;
        }
        let (text, marker) =
            if prose { (one_line(&body), Marker::Plain) } else { (body.trim_end().to_owned(), Marker::Verbatim) };
        passages.push(Passage { text, heading: Vec::new(), marker, id: None });
    };
    for line in text.lines() {
        let trimmed = line.trim_start();
        let item = prose && ["- ", "* ", "• "].iter().any(|b| trimmed.starts_with(b));
        if trimmed.is_empty() || item || run.len() > 2_000 {
            flush(&mut run, &mut passages);
        }
        if item {
            passages.push(Passage {
                text: one_line(strip_marker(trimmed)),
                heading: Vec::new(),
                marker: Marker::Bullet,
                id: None,
            });
        } else if !trimmed.is_empty() {
            run.push_str(line);
            run.push('\n');
        }
    }
    flush(&mut run, &mut passages);
    Material {
        path: path.clone(),
        version,
        name: path.stem().to_owned(),
        description: None,
        date,
        origin: Origin::Experience,
        language: Language::of(text),
        passages,
        links: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_is_that_of_most_of_the_letters() {
        assert_eq!(Language::of("The cause was `页面`."), Language::English);
        assert_eq!(Language::of("用 BM25 检索记忆"), Language::Chinese);
        assert_eq!(Language::of(""), Language::English);
    }

    #[test]
    fn markers_are_no_part_of_a_passage() {
        assert_eq!(strip_marker("- [x] done"), "done");
        assert_eq!(strip_marker("12. Twelfth"), "Twelfth");
        assert_eq!(strip_marker("> - quoted item"), "quoted item");
        assert_eq!(strip_marker("2026. A year"), "2026. A year");
    }

    #[test]
    fn prose_is_cut_at_blank_lines_and_data_is_verbatim() {
        let path = NotePath::new("resource/2026-11-17/list.txt").unwrap();
        let got = from_plain(&path, "One\ntwo.\n\n- three\n- four\n", Version::of(b""), None);
        let texts: Vec<_> = got.passages.iter().map(|p| (p.text.as_str(), p.marker)).collect();
        assert_eq!(texts, [("One two.", Marker::Plain), ("three", Marker::Bullet), ("four", Marker::Bullet)]);
        let path = NotePath::new("resource/2026-11-17/a.csv").unwrap();
        assert_eq!(from_plain(&path, "a,b\n1,2\n", Version::of(b""), None).passages[0].marker, Marker::Verbatim);
    }
}
