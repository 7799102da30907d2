//! Subpaths: which line `#Heading`, `#A#B` or `#^block` means in a note.

use crate::block::Heading;
use crate::fold;
use crate::note::Document;

impl Document {
    /// The 1-based line of the heading or block that `subpath` names (`#` included), by Obsidian's
    /// rules: punctuation and case don't count in headings; of several parts each lies below the
    /// one before. An empty subpath is line 1. `None` when the anchor is broken, which does not
    /// break the link. Linear in the number of headings and blocks.
    #[must_use]
    pub fn anchor_line(&self, subpath: &str) -> Option<u32> {
        let parts: Vec<&str> = subpath.split('#').map(str::trim).filter(|part| !part.is_empty()).collect();
        let Some(last) = parts.last() else {
            return Some(1);
        };
        if let Some(id) = last.strip_prefix('^') {
            let named = |have: &str| have.eq_ignore_ascii_case(id);
            return self.blocks.iter().find(|b| b.id.as_deref().is_some_and(named)).map(|b| b.lines.0);
        }
        let mut wanted = parts.iter().map(|part| heading_key(part)).peekable();
        let mut above: Option<&Heading> = None;
        for heading in &self.headings {
            let deeper = above.is_none_or(|above| heading.level > above.level);
            if deeper && wanted.next_if(|want| *want == heading_key(&heading.text)).is_some() {
                above = Some(heading);
                if wanted.peek().is_none() {
                    return Some(heading.line);
                }
            }
        }
        None
    }
}

/// What is compared of a heading: most ASCII punctuation counts as a blank, runs of blanks as one;
/// hyphen, underscore and apostrophe stay; case does not count.
pub(crate) fn heading_key(text: &str) -> String {
    let blanked: String = text
        .chars()
        .map(|c| if c.is_ascii_punctuation() && !matches!(c, '-' | '_' | '\'') { ' ' } else { c })
        .collect();
    fold::case(&blanked.split_whitespace().collect::<Vec<_>>().join(" "))
}
