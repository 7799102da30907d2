//! The embedded index at one moment: the engine's own top-k finds, and postings are read by seeking
//! to the notes that were found.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashSet};

use dormouse_vault::Version;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{BooleanQuery, BoostQuery, EnableScoring, FuzzyTermQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Searcher, SegmentReader, TERMINATED, Term};

use super::rows::Rows;
use super::tantivy_index::Columns;
use super::{Asked, Best, Field, Found, IndexError, IndexView, NoteKey, NoteTerms, Sought, Standing, UnitId, counted};

/// Up to this many places of a term in a segment with deletions are counted, beyond it is estimated.
const COUNTED: u32 = 4_096;

/// Segments with their columns.
pub(super) struct TantivyView {
    searcher: Searcher,
    rows: Vec<Rows>,
    columns: Columns,
}

impl std::fmt::Debug for TantivyView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TantivyView").field("units", &self.searcher.num_docs()).finish_non_exhaustive()
    }
}

/// A segment, its number, and its rows.
struct Segment<'a> {
    number: u32,
    reader: &'a SegmentReader,
    rows: &'a Rows,
}

impl Segment<'_> {
    fn is_alive(&self, doc: DocId) -> bool {
        self.reader.alive_bitset().is_none_or(|alive| alive.is_alive(doc))
    }

    fn postings(&self, term: &Term) -> Result<Option<SegmentPostings>, IndexError> {
        Ok(self.reader.inverted_index(term.field())?.read_postings(term, IndexRecordOption::WithFreqs)?)
    }

    /// The living documents with a term.
    fn docs(&self, term: &Term) -> Result<impl Iterator<Item = DocId>, IndexError> {
        let postings = self.reader.inverted_index(term.field())?.read_postings(term, IndexRecordOption::Basic)?;
        let mut postings = postings.unwrap_or_else(SegmentPostings::empty);
        let all = std::iter::from_fn(move || {
            let doc = postings.doc();
            postings.advance();
            (doc != TERMINATED).then_some(doc)
        });
        Ok(all.filter(|doc| self.is_alive(*doc)))
    }
}

impl TantivyView {
    pub(super) fn of(searcher: Searcher, columns: Columns) -> Result<Self, IndexError> {
        let rows = searcher.segment_readers().iter().map(Rows::of).collect::<Result<_, _>>()?;
        Ok(Self { searcher, rows, columns })
    }

    fn segments(&self) -> impl Iterator<Item = Segment<'_>> {
        let parts = self.searcher.segment_readers().iter().zip(&self.rows);
        (0_u32..).zip(parts).map(|(number, (reader, rows))| Segment { number, reader, rows })
    }

    fn term(&self, field: Field, text: &str) -> Term {
        Term::from_field_text(self.columns.text(field), text)
    }

    /// The documents of notes in a segment, in order, each with its place in `out`, which gets an
    /// entry for each.
    fn spans(&self, segment: &Segment<'_>, notes: &[Found], out: &mut Vec<NoteTerms>) -> Result<Vec<Span>, IndexError> {
        let mut spans = Vec::new();
        let mut add = |doc: DocId| {
            let (note, start, end) = segment.rows.of_note(doc);
            spans.push(Span { start, end, at: out.len() });
            let units = (start..end).map(|doc| segment.rows.whole(doc)).collect();
            out.push(NoteTerms { note, units, standing: Vec::new() });
        };
        for found in notes {
            match found.at.map(|at| (at >> 32, at & u64::from(u32::MAX))) {
                Some((number, doc)) if number == u64::from(segment.number) => {
                    add(DocId::try_from(doc).unwrap_or(0));
                }
                Some(_) => {}
                None => {
                    let key = Term::from_field_u64(self.columns.note, found.note.0);
                    if let Some(doc) = segment.docs(&key)?.next() {
                        add(doc);
                    }
                }
            }
        }
        spans.sort_unstable_by_key(|span| span.start);
        Ok(spans)
    }
}

/// The documents of a note.
struct Span {
    start: DocId,
    end: DocId,
    /// Where its terms are gathered.
    at: usize,
}

impl IndexView for TantivyView {
    fn versions(&self) -> Result<BTreeMap<NoteKey, Version>, IndexError> {
        let heads = Term::from_field_u64(self.columns.head, 1);
        let mut out = Vec::new();
        for segment in self.segments() {
            for doc in segment.docs(&heads)? {
                out.extend(segment.rows.version(doc).map(|version| (segment.rows.note(doc), version)));
            }
        }
        Ok(out.into_iter().collect())
    }

    fn unit_count(&self) -> Result<u64, IndexError> {
        Ok(self.searcher.num_docs())
    }

    fn frequency(&self, field: Field, term: &str) -> Result<u64, IndexError> {
        let term = self.term(field, term);
        let mut out = 0;
        for segment in self.segments() {
            let with = segment.reader.inverted_index(term.field())?.doc_freq(&term)?;
            out += if segment.reader.num_deleted_docs() == 0 {
                u64::from(with)
            } else if with <= COUNTED {
                segment.docs(&term)?.count() as u64
            } else {
                u64::from(with) * u64::from(segment.reader.num_docs()) / u64::from(segment.reader.max_doc().max(1))
            };
        }
        Ok(out)
    }

    fn best(
        &self,
        terms: &[Sought<'_>],
        limit: usize,
        keep: &mut dyn FnMut(NoteKey) -> bool,
    ) -> Result<Best, IndexError> {
        let clause = |sought: &Sought<'_>| -> (Occur, Box<dyn Query>) {
            let term = TermQuery::new(self.term(sought.field, sought.term), IndexRecordOption::WithFreqs);
            (Occur::Should, Box::new(BoostQuery::new(Box::new(term), sought.weight as f32)))
        };
        let query = BooleanQuery::new(terms.iter().map(clause).collect());
        let weight = query.weight(EnableScoring::enabled_from_searcher(&self.searcher))?;
        let mut heap: BinaryHeap<Reverse<Place>> = BinaryHeap::new();
        for segment in self.segments() {
            let floor = |heap: &BinaryHeap<Reverse<Place>>| match heap.peek() {
                // What is as good is looked at: the newer one is taken.
                Some(Reverse(worst)) if heap.len() >= limit => worst.score.next_down(),
                _ => f32::MIN,
            };
            let start = floor(&heap);
            weight.for_each_pruning(start, segment.reader, &mut |doc, score| {
                let (day, note) = (segment.rows.day(doc), segment.rows.note(doc));
                let place = Place { score, day, note: Reverse(note), at: (segment.number, doc) };
                let worse = heap.len() >= limit && heap.peek().is_some_and(|Reverse(worst)| place <= *worst);
                if !worse && segment.is_alive(doc) && keep(note) {
                    heap.push(Reverse(place));
                    if heap.len() > limit {
                        heap.pop();
                    }
                }
                floor(&heap)
            })?;
        }
        let complete = heap.len() < limit;
        let mut seen = HashSet::new();
        let mut notes = Vec::new();
        for Reverse(Place { note: Reverse(note), at: (number, doc), .. }) in heap.into_sorted_vec() {
            if seen.insert(note) {
                notes.push(Found { note, at: Some(u64::from(number) << 32 | u64::from(doc)) });
            }
        }
        Ok(Best { notes, complete })
    }

    fn gather(&self, notes: &[Found], asked: Asked<'_>) -> Result<Vec<NoteTerms>, IndexError> {
        let mut out: Vec<NoteTerms> = Vec::with_capacity(notes.len());
        let fields = [(Field::Body, asked.terms), (Field::Header, asked.terms), (Field::Speaker, asked.speakers)];
        for segment in self.segments() {
            let spans = self.spans(&segment, notes, &mut out)?;
            if spans.is_empty() {
                continue;
            }
            for (field, terms) in fields {
                for (number, text) in (0_u16..).zip(terms) {
                    if let Some(postings) = segment.postings(&self.term(field, text))? {
                        stand(postings, &spans, field, number, &mut out);
                    }
                }
            }
        }
        out.sort_by_key(|terms| terms.note);
        out.iter_mut().for_each(|terms| terms.standing.sort_unstable());
        Ok(out)
    }

    fn first(&self, field: Field, term: &str, limit: usize) -> Result<Vec<(NoteKey, UnitId)>, IndexError> {
        let term = self.term(field, term);
        let mut out = Vec::new();
        for segment in self.segments() {
            let docs = segment.docs(&term)?.take(limit - out.len());
            out.extend(docs.map(|doc| (segment.rows.note(doc), segment.rows.unit(doc))));
        }
        Ok(out)
    }

    fn holders(&self, term: &str) -> Result<BTreeSet<NoteKey>, IndexError> {
        let mut out = HashSet::new();
        for field in [Field::Body, Field::Header] {
            let term = self.term(field, term);
            for segment in self.segments() {
                out.extend(segment.docs(&term)?.map(|doc| segment.rows.note(doc)));
            }
        }
        Ok(out.into_iter().collect())
    }

    fn similar(&self, term: &str) -> Result<Vec<(String, u64)>, IndexError> {
        let query = FuzzyTermQuery::new(self.term(Field::Body, term), 1, true);
        let mut found: BTreeSet<String> = BTreeSet::new();
        for segment in self.segments() {
            let inverted = segment.reader.inverted_index(self.columns.text(Field::Body))?;
            let mut terms = inverted.terms().search(query.automaton()?).into_stream()?;
            while terms.advance() {
                found.extend(std::str::from_utf8(terms.key()).ok().filter(|have| *have != term).map(str::to_owned));
            }
        }
        counted(self, found)
    }
}

/// Notes where a term stands in spans, which are in order.
fn stand(mut postings: SegmentPostings, spans: &[Span], field: Field, term: u16, out: &mut [NoteTerms]) {
    for span in spans {
        if postings.doc() < span.start {
            postings.seek(span.start);
        }
        let mut doc = postings.doc();
        if doc == TERMINATED {
            return;
        }
        while doc < span.end {
            if let Some(terms) = out.get_mut(span.at) {
                terms.standing.push(Standing { unit: doc - span.start, field, term, count: postings.term_freq() });
            }
            doc = postings.advance();
        }
    }
}

/// A document with its score. Of two equal ones the newer note is better, whatever the order in which
/// they were written.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    score: f32,
    day: u16,
    note: Reverse<NoteKey>,
    at: (u32, DocId),
}

impl Eq for Place {}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        let score = self.score.total_cmp(&other.score);
        score.then_with(|| (self.day, self.note, self.at).cmp(&(other.day, other.note, other.at)))
    }
}
