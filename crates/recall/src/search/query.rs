//! The query language. Everything that does not parse is text, so that every string is a query.

use std::str::FromStr;

use chrono::{Months, NaiveDate};
use dormouse_vault::text::truncate_chars;
use dormouse_vault::{Bucket, Layer};

use crate::filter::Filters;

/// Characters of a query that are read; a longer one is cut, and the reply says so.
const MAX_CHARS: usize = 4_000;

/// A query, read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Query {
    /// What is searched for, phrases included.
    pub(crate) text: String,
    /// Phrases that must stand in a block.
    pub(crate) phrases: Vec<String>,
    /// Words and phrases that must not stand in the note.
    pub(crate) without: Vec<String>,
    /// Conditions on the note.
    pub(crate) filters: Filters,
    /// How it was read, where that is not obvious.
    pub(crate) notices: Vec<String>,
}

impl Query {
    /// Reads a query. Linear.
    pub(crate) fn parse(raw: &str) -> Self {
        let mut query = Self::default();
        let cut = truncate_chars(raw, MAX_CHARS);
        if cut.len() < raw.len() {
            query.notices.push(format!("only the first {MAX_CHARS} characters of the query were read"));
        }
        let mut left_out = Vec::new();
        for piece in Pieces(cut) {
            query.take(piece, &mut left_out);
        }
        let only_negative = query.text.trim().is_empty() && query.filters.is_empty();
        if only_negative && !left_out.is_empty() {
            // Nothing is left to search for: a leading minus was meant as text, as in `-verify`.
            query.text = left_out.join(" ");
            query.notices.push("nothing but exclusions: searched as text".to_owned());
        } else {
            query.without = left_out;
        }
        query
    }

    fn take(&mut self, piece: Piece<'_>, left_out: &mut Vec<String>) {
        match piece {
            Piece::Phrase { text, negative: true } => left_out.push(text.to_owned()),
            Piece::Phrase { text, negative: false } => {
                self.phrases.push(text.to_owned());
                self.add(text);
            }
            Piece::Word(word) => {
                let excluded = word.strip_prefix('-').filter(|rest| rest.starts_with(char::is_alphanumeric));
                if let Some(rest) = excluded {
                    left_out.push(rest.to_owned());
                } else if !self.filter(word) {
                    self.doubt(word);
                    self.add(word);
                }
            }
        }
    }

    fn add(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(text);
    }

    /// Says what a word that looks like a condition and is none was taken for.
    fn doubt(&mut self, word: &str) {
        let Some((key, value)) = word.split_once(':').filter(|(_, value)| !value.is_empty()) else {
            return;
        };
        let expected = match key.to_lowercase().as_str() {
            "in" | "layer" => "daily, resource, digest or other",
            "bucket" => "procedure, personal or wiki",
            "date" => "a year, month or day such as 2026-11, or a range a..b",
            "prop" => "prop:key=value",
            _ => return,
        };
        self.notices.push(format!("{:?} is no {key} ({expected}): searched as text", truncate_chars(value, 40)));
    }

    /// Takes `word` as a condition, if it is one.
    fn filter(&mut self, word: &str) -> bool {
        let Some((key, value)) = word.split_once(':').filter(|(_, value)| !value.is_empty()) else {
            return false;
        };
        let filters = &mut self.filters;
        match key.to_lowercase().as_str() {
            "in" | "layer" => match layer(value) {
                Some(layer) => filters.layers.push(layer),
                None => return false,
            },
            "bucket" => match Bucket::ALL.into_iter().find(|b| b.as_str().eq_ignore_ascii_case(value)) {
                Some(bucket) => filters.buckets.push(bucket),
                None => return false,
            },
            "tag" => filters.tags.push(value.trim_start_matches('#').to_owned()),
            "folder" | "path" => filters.folder = Some(value.trim_matches('/').to_owned()),
            "prop" => match value.split_once('=') {
                Some((name, wanted)) if !name.is_empty() => {
                    filters.properties.insert(name.to_owned(), wanted.to_owned());
                }
                _ => return false,
            },
            "date" => match dates(value) {
                Some((from, until)) => {
                    filters.from = filters.from.max(from);
                    filters.until = until.or(filters.until);
                }
                None => return false,
            },
            _ => return false,
        }
        true
    }
}

fn layer(value: &str) -> Option<Layer> {
    [Layer::Daily, Layer::Resource, Layer::Digest, Layer::Other]
        .into_iter()
        .find(|layer| layer.as_str().eq_ignore_ascii_case(value))
}

/// `2026`, `2026-11`, `2026-11-30`, and ranges `a..b`, `a..`, `..b`; both ends are included.
fn dates(value: &str) -> Option<(Option<NaiveDate>, Option<NaiveDate>)> {
    let (from, until) = value.split_once("..").unwrap_or((value, value));
    let from = if from.is_empty() { None } else { Some(span(from)?.0) };
    let until = if until.is_empty() { None } else { Some(span(until)?.1) };
    (from.is_some() || until.is_some()).then_some((from, until))
}

/// The first and last day of a year, month or day.
fn span(text: &str) -> Option<(NaiveDate, NaiveDate)> {
    let numbers: Vec<u32> = text.split('-').map(u32::from_str).collect::<Result<_, _>>().ok()?;
    let day = |y: u32, m, d| NaiveDate::from_ymd_opt(i32::try_from(y).ok()?, m, d);
    match *numbers.as_slice() {
        [year] if text.len() == 4 => Some((day(year, 1, 1)?, day(year, 12, 31)?)),
        [year, month] => {
            let first = day(year, month, 1)?;
            Some((first, first.checked_add_months(Months::new(1))?.pred_opt()?))
        }
        [year, month, date] => {
            let day = day(year, month, date)?;
            Some((day, day))
        }
        _ => None,
    }
}

enum Piece<'a> {
    Word(&'a str),
    Phrase { text: &'a str, negative: bool },
}

/// Words and quoted phrases. A quote opens a phrase only at the start of a word and when another
/// one closes it.
struct Pieces<'a>(&'a str);

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        self.0 = self.0.trim_start();
        if self.0.is_empty() {
            return None;
        }
        for (prefix, close, negative) in [("\"", '"', false), ("-\"", '"', true), ("“", '”', false), ("-“", '”', true)]
        {
            if let Some(inside) = self.0.strip_prefix(prefix)
                && let Some((text, rest)) = inside.split_once(close)
            {
                self.0 = rest;
                return Some(Piece::Phrase { text, negative });
            }
        }
        let end = self.0.find(char::is_whitespace).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at_checked(end)?;
        self.0 = rest;
        Some(Piece::Word(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(raw: &str, expected: Expect) {
        let Query { text, phrases, without, filters, notices } = Query::parse(raw);
        let mut got = format!("text {text:?}");
        for (name, list) in [("phrases", phrases), ("without", without), ("notices", notices)] {
            if !list.is_empty() {
                got.push_str(&format!("; {name} {list:?}"));
            }
        }
        if !filters.is_empty() {
            let mut filters = serde_json::to_value(filters).unwrap();
            filters
                .as_object_mut()
                .unwrap()
                .retain(|_, v| !v.is_null() && v != &serde_json::json!([]) && v != &serde_json::json!({}));
            got.push_str(&format!("; filters {filters}"));
        }
        expected.assert_eq(&got);
    }

    #[test]
    fn operators_mean_what_they_say() {
        check("in:digest tag:#x bm25", expect![[r#"text "bm25"; filters {"layers":["digest"],"tags":["x"]}"#]]);
        check("date:2026-11.. cake -tea", expect![[r#"text "cake"; without ["tea"]; filters {"from":"2026-11-01"}"#]]);
        check(
            "date:2026-02 \"exact phrase\" bucket:wiki",
            expect![[
                r#"text "exact phrase"; phrases ["exact phrase"]; filters {"buckets":["wiki"],"from":"2026-02-01","until":"2026-02-28"}"#
            ]],
        );
        check("prop:conv=conv-26 who", expect![[r#"text "who"; filters {"properties":{"conv":"conv-26"}}"#]]);
    }

    #[test]
    fn a_condition_that_is_none_is_text_and_said() {
        for (query, said) in [
            ("in:nonsense", "\"nonsense\" is no in (daily, resource, digest or other): searched as text"),
            ("layer:nonsense", "\"nonsense\" is no layer (daily, resource, digest or other): searched as text"),
            ("bucket:x", "\"x\" is no bucket (procedure, personal or wiki): searched as text"),
            (
                "date:soon",
                "\"soon\" is no date (a year, month or day such as 2026-11, or a range a..b): searched as text",
            ),
            ("prop:conv", "\"conv\" is no prop (prop:key=value): searched as text"),
        ] {
            let read = Query::parse(query);
            assert_eq!((read.text.as_str(), read.notices), (query, vec![said.to_owned()]));
        }
    }

    #[test]
    fn what_does_not_parse_is_text() {
        check("cache:warm title:", expect![[r#"text "cache:warm title:""#]]);
        check("he said \"go", expect![[r#"text "he said \"go""#]]);
        check("-verify", expect![[r#"text "verify"; notices ["nothing but exclusions: searched as text"]"#]]);
        check("\"\" - -- a-b", expect![[r#"text "- -- a-b"; phrases [""]"#]]);
        check("\n", expect![[r#"text """#]]);
    }
}
