//! What a first pass over a run of lines collects, so that the second one never searches in vain.

use std::collections::HashMap;
use std::ops::Range;

use crate::html_tag;

/// Positions in the source of one segment, all in order.
#[derive(Default)]
pub(crate) struct Marks {
    /// Code spans, HTML comments and HTML tags.
    pub(crate) opaque: Vec<Range<usize>>,
    /// Each `[[`, overlapping ones too.
    pub(crate) opens: Vec<usize>,
    /// Each `]]`.
    pub(crate) closes: Vec<usize>,
    pub(crate) line_ends: Vec<usize>,
    /// `$` that may end inline math, and `$$`.
    math: Vec<usize>,
    display_math: Vec<usize>,
    /// The bars of a table row that are borders of its cells.
    borders: Vec<usize>,
    /// Each `[` and `(` that is closed, with the place where.
    partners: Vec<(usize, usize)>,
}

/// The first of `positions` that is not before `at`.
pub(crate) fn next_from(positions: &[usize], at: usize) -> Option<usize> {
    positions.get(positions.partition_point(|p| *p < at)).copied()
}

/// Whether the backslash at `i` escapes the byte after it.
pub(crate) fn escapes(bytes: &[u8], i: usize) -> bool {
    bytes.get(i) == Some(&b'\\') && bytes.get(i + 1).is_some_and(u8::is_ascii_punctuation)
}

/// The bytes with a meaning inside a line.
const MARKED: [bool; 256] = {
    let mut marked = [false; 256];
    let bytes = b"\\`<[]()$!#";
    let mut at = 0;
    #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
    while at < bytes.len() {
        marked[bytes[at] as usize] = true;
        at += 1;
    }
    marked
};

/// The first byte from `i` on that has a meaning inside a line, or `end`, whichever comes first.
pub(crate) fn next_marked(bytes: &[u8], i: usize, end: usize) -> usize {
    let run = bytes.get(i..end.min(bytes.len())).unwrap_or_default();
    i + run.iter().position(|byte| MARKED.get(usize::from(*byte)) == Some(&true)).unwrap_or(run.len())
}

impl Marks {
    /// Collects the marks of `source`; in a table row nothing but a wikilink reaches over a border.
    /// Linear.
    pub(crate) fn of(source: &str, table: bool) -> Self {
        let bytes = source.as_bytes();
        let line_ends = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at).collect();
        let borders = if table { borders(bytes) } else { Vec::new() };
        let marks = Self { line_ends, borders, ..Self::default() };
        let runs = backtick_runs(bytes);
        let tags = html_tag::Budget::of(source);
        Collect { source, bytes, marks, runs, tags, comments_left: true, squares: Vec::new(), rounds: Vec::new() }.run()
    }

    /// The partner of the bracket at `open`.
    pub(crate) fn partner(&self, open: usize) -> Option<usize> {
        let at = self.partners.binary_search_by_key(&open, |(open, _)| *open).ok()?;
        self.partners.get(at).map(|(_, close)| *close)
    }

    /// The end of the line that `at` lies in, past every position when it is the last one.
    pub(crate) fn line_end(&self, at: usize) -> usize {
        next_from(&self.line_ends, at).unwrap_or(usize::MAX)
    }

    /// Where the `$` that closes the inline math which opens before `from` stands.
    pub(crate) fn math_end(&self, from: usize) -> Option<usize> {
        next_from(&self.math, from).filter(|end| !self.is_parted(from, *end))
    }

    /// The same for `$$`.
    pub(crate) fn display_math_end(&self, from: usize) -> Option<usize> {
        next_from(&self.display_math, from).filter(|end| !self.is_parted(from, *end))
    }

    /// Whether the border of a table cell stands between the two places.
    fn is_parted(&self, from: usize, to: usize) -> bool {
        next_from(&self.borders, from).is_some_and(|border| border < to)
    }

    /// Whether `at` lies in code, a comment or a tag.
    pub(crate) fn hides(&self, at: usize) -> bool {
        let after = self.opaque.partition_point(|o| o.end <= at);
        self.opaque.get(after).is_some_and(|o| o.start <= at)
    }
}

/// The pass.
struct Collect<'s> {
    source: &'s str,
    bytes: &'s [u8],
    marks: Marks,
    runs: HashMap<usize, Vec<usize>>,
    tags: html_tag::Budget,
    comments_left: bool,
    squares: Vec<usize>,
    rounds: Vec<usize>,
}

impl Collect<'_> {
    fn at(&self, i: usize) -> u8 {
        self.bytes.get(i).copied().unwrap_or(b'\n')
    }

    fn run(mut self) -> Marks {
        let mut borders = std::mem::take(&mut self.marks.borders).into_iter().peekable();
        let mut passed = Vec::new();
        let mut i = 0;
        while i < self.bytes.len() {
            i = next_marked(self.bytes, i, borders.peek().copied().unwrap_or(usize::MAX));
            while let Some(border) = borders.next_if(|border| *border <= i) {
                passed.push(border);
                self.squares.clear();
                self.rounds.clear();
            }
            let cell_end = borders.peek().copied().unwrap_or(usize::MAX);
            i = self.step(i, cell_end);
        }
        passed.extend(borders);
        self.marks.borders = passed;
        self.marks.partners.sort_unstable();
        self.marks
    }

    /// Reads what stands at `i`: where to go on.
    fn step(&mut self, i: usize, cell_end: usize) -> usize {
        match self.at(i) {
            b'\\' if escapes(self.bytes, i) => {
                // An escaped bracket still closes a wikilink that a doubled one would.
                if self.at(i + 1) == b']' && self.at(i + 2) == b']' {
                    self.marks.closes.push(i + 1);
                }
                return i + 2;
            }
            b'`' => return self.code(i, cell_end),
            b'<' => {
                if let Some(end) = self.html(i).filter(|end| *end <= cell_end) {
                    self.marks.opaque.push(i..end);
                    return end;
                }
            }
            b'[' => {
                if self.at(i + 1) == b'[' {
                    self.marks.opens.push(i);
                }
                self.squares.push(i);
            }
            b']' => {
                if self.at(i + 1) == b']' {
                    self.marks.closes.push(i);
                }
                self.marks.partners.extend(self.squares.pop().map(|open| (open, i)));
            }
            b'(' => self.rounds.push(i),
            b')' => self.marks.partners.extend(self.rounds.pop().map(|open| (open, i))),
            b'$' if self.at(i + 1) == b'$' => {
                self.marks.display_math.push(i);
                return i + 2;
            }
            b'$' => {
                let tight = i > 0 && !self.at(i - 1).is_ascii_whitespace();
                if tight && !self.at(i + 1).is_ascii_digit() {
                    self.marks.math.push(i);
                }
            }
            _ => {}
        }
        i + 1
    }

    /// The code span whose backticks begin at `i`, or the backticks alone.
    fn code(&mut self, i: usize, cell_end: usize) -> usize {
        let len = self.bytes.iter().skip(i).take_while(|b| **b == b'`').count();
        let close = self.runs.get(&len).and_then(|starts| next_from(starts, i + len));
        match close.filter(|close| *close < cell_end) {
            Some(close) => {
                self.marks.opaque.push(i..close + len);
                close + len
            }
            None => i + len,
        }
    }

    /// The end of the HTML comment or tag that opens at `i`.
    fn html(&mut self, i: usize) -> Option<usize> {
        if self.source.get(i..)?.starts_with("<!--") {
            let end = self.source.get(i + 4..).filter(|_| self.comments_left).and_then(|s| s.find("-->"));
            self.comments_left = end.is_some();
            return end.map(|len| i + 4 + len + 3);
        }
        self.tags.end_of(self.bytes, i)
    }
}

/// The bars of a table row that are not escaped.
fn borders(bytes: &[u8]) -> Vec<usize> {
    let escaped = |at: usize| at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'\\');
    let bars = bytes.iter().enumerate().filter(|(at, b)| **b == b'|' && !escaped(*at));
    bars.map(|(at, _)| at).collect()
}

/// The starts of backtick runs by their length.
fn backtick_runs(bytes: &[u8]) -> HashMap<usize, Vec<usize>> {
    let mut runs: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut i = 0;
    while let Some(skip) = bytes.get(i..).and_then(|rest| rest.iter().position(|b| *b == b'`')) {
        i += skip;
        let len = bytes.iter().skip(i).take_while(|b| **b == b'`').count();
        runs.entry(len).or_default().push(i);
        i += len;
    }
    runs
}
