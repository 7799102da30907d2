//! Lines of a text: where each starts, which one a byte lies in.

use std::ops::Range;

/// The line starts of one text. Built in linear time; a lookup is a binary search.
pub(crate) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    /// Finds the lines of `text`. A lone `\r` is no line end.
    pub(crate) fn new(text: &'t str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at + 1));
        if starts.last() == Some(&text.len()) && starts.len() > 1 {
            starts.pop();
        }
        Self { text, starts }
    }

    /// How many lines there are; an empty text has one.
    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    /// The 0-based line that `offset` lies in.
    pub(crate) fn at(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The 1-based line that `offset` lies in.
    pub(crate) fn number(&self, offset: usize) -> u32 {
        one_based(self.at(offset))
    }

    /// Bytes of the 0-based `line` without its line end.
    pub(crate) fn span(&self, line: usize) -> Range<usize> {
        let start = self.starts.get(line).copied().unwrap_or(self.text.len());
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        let content = self.text.get(start..end).unwrap_or("");
        let content = content.strip_suffix('\n').unwrap_or(content);
        let content = content.strip_suffix('\r').unwrap_or(content);
        start..start + content.len()
    }

    /// The 0-based `line` without its line end.
    pub(crate) fn text(&self, line: usize) -> &'t str {
        self.text.get(self.span(line)).unwrap_or("")
    }
}

/// A 0-based line index as the 1-based number that is shown.
pub(crate) fn one_based(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX - 1).saturating_add(1)
}
