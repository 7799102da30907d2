//! What holds sections together: a footnote or link reference that is defined in one and used in
//! another works only as long as both stand in one note.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_vault::NotePath;

use super::sections::Section;

/// Longest label in bytes.
const LABEL: usize = 1000;

/// Sets of parts of a note that must stay together; `None` is the text before the first section.
/// Linear.
pub(super) fn ties(text: &str, lead: &std::ops::Range<usize>, sections: &[Section]) -> Vec<BTreeSet<Option<usize>>> {
    let mut labels: BTreeMap<String, (bool, BTreeSet<Option<usize>>)> = BTreeMap::new();
    let parts = std::iter::once((None, lead)).chain(sections.iter().enumerate().map(|(i, s)| (Some(i), &s.span)));
    for (part, span) in parts {
        for (label, defines) in brackets(text.get(span.clone()).unwrap_or("")) {
            let entry = labels.entry(label).or_default();
            entry.0 |= defines;
            entry.1.insert(part);
        }
    }
    labels.into_values().filter(|(defined, parts)| *defined && parts.len() > 1).map(|(_, parts)| parts).collect()
}

/// What stands in single brackets, and whether it is defined there. Code is not told apart: what
/// only looks like a label holds together too much, never too little.
fn brackets(text: &str) -> Vec<(String, bool)> {
    let mut out = Vec::new();
    let mut open = None;
    for (at, c) in text.char_indices() {
        match c {
            '[' => open = Some(at),
            ']' => {
                let Some(start) = open.take().filter(|start| at - start <= LABEL) else { continue };
                let label = text.get(start + 1..at).unwrap_or("");
                let label = label.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
                let line = text.get(..start).and_then(|before| before.rsplit('\n').next()).unwrap_or("");
                let leads = line.chars().all(|c| {
                    c.is_whitespace() || matches!(c, '>' | '-' | '*' | '+' | '\u{feff}' | '0'..='9' | '.' | ')')
                });
                out.push((label, leads && text.get(at + 1..).is_some_and(|rest| rest.starts_with(':'))));
            }
            _ => {}
        }
    }
    out
}

/// For each section the first of those that it is tied to, and which are tied to what stays.
pub(super) fn settle(ties: &[BTreeSet<Option<usize>>], fixed: &mut BTreeSet<usize>, count: usize) -> Vec<usize> {
    let mut group: Vec<usize> = (0..count).collect();
    for tie in ties {
        let members: Vec<usize> = tie.iter().flatten().filter_map(|i| group.get(*i)).copied().collect();
        if let Some(first) = members.iter().min() {
            group.iter_mut().filter(|g| members.contains(g)).for_each(|g| *g = *first);
        }
    }
    let with_lead = ties.iter().filter(|tie| tie.contains(&None)).flat_map(|tie| tie.iter().flatten());
    fixed.extend(with_lead.copied());
    let staying: BTreeSet<usize> = fixed.iter().filter_map(|i| group.get(*i)).copied().collect();
    fixed.extend((0..count).filter(|i| group.get(*i).is_some_and(|g| staying.contains(g))));
    group
}

/// A heading of a section that some other note links to: the note that stays keeps it, with the way
/// to the child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Signpost {
    pub(super) section: usize,
    /// Index into the document's headings.
    pub(super) heading: usize,
}

/// What the links of other notes hold in the note.
#[derive(Debug, Clone, Default)]
pub(super) struct Inbound {
    /// Sections that must stay: a block's id can stand in one place only, and a link of the note to
    /// itself would mean the child.
    pub(super) fixed: BTreeSet<usize>,
    pub(super) signposts: BTreeSet<Signpost>,
    /// The subpaths that must lead somewhere afterwards, with who links.
    pub(super) subpaths: BTreeSet<(String, NotePath)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_found_with_their_definitions() {
        let got = brackets("a [Ref  One] b[^1]\n\n[^1]: x\n> [ref one]: y\n[[note]] [t](u) c [x]: no");
        let defined: Vec<_> = got.iter().filter(|(_, d)| *d).map(|(l, _)| l.as_str()).collect();
        assert_eq!(defined, ["^1", "ref one"]);
        assert_eq!(got.iter().filter(|(l, _)| l == "ref one").count(), 2);
    }

    #[test]
    fn what_is_tied_to_something_that_stays_stays() {
        let tie = |parts: &[Option<usize>]| parts.iter().copied().collect::<BTreeSet<_>>();
        let mut fixed = BTreeSet::new();
        let group = settle(&[tie(&[Some(0), Some(2)]), tie(&[Some(2), Some(3)]), tie(&[None, Some(1)])], &mut fixed, 5);
        assert_eq!(group, [0, 1, 0, 0, 4]);
        assert_eq!(fixed, [1].into());
    }
}
