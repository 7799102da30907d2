//! The query language. Everything that does not parse is text, so that every string is a query.
//! docs/query.md is its page, and a test runs each of that page's examples.

use std::borrow::Cow;
use std::str::FromStr;

use chrono::{Months, NaiveDate};
use dormouse_vault::text::truncate_chars;
use dormouse_vault::{Bucket, Layer};

use super::calendar::Stretch;
use super::dates::{Preferred, named, preferred};
use super::relative::exactly;
use crate::filter::{Condition, Filters, QUOTES, quotes_for};
use crate::text::analyze;

/// Characters of a query that are read; a longer one is cut, and the reply says so.
const MAX_CHARS: usize = 4_000;

/// The operators, as they stand before a colon.
const OPERATORS: [&str; 11] =
    ["in", "layer", "bucket", "tag", "folder", "path", "prop", "date", "links", "links-to", "linked-from"];
const IS: &str = "is";

/// A query, read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Query {
    /// What is searched for, phrases included.
    pub(crate) text: String,
    /// Of that, what is no relative date.
    pub(crate) words: String,
    /// Words that are searched as they are spelled, since they look like a condition.
    pub(crate) verbatim: Vec<String>,
    /// Phrases that must stand in a block.
    pub(crate) phrases: Vec<String>,
    /// Words and phrases that must not stand in the note.
    pub(crate) without: Vec<String>,
    /// Conditions on the note.
    pub(crate) filters: Filters,
    /// The time that it prefers.
    pub(crate) dates: Vec<Preferred>,
    /// How it was read, where that is not obvious.
    pub(crate) notices: Vec<String>,
}

impl Query {
    /// Reads a query asked on `today`, the dates that it prefers included: with `soft` relative ones
    /// too. Linear.
    pub(crate) fn read(raw: &str, today: Option<NaiveDate>, soft: bool) -> Self {
        let mut query = Self::parse(raw, today);
        let (dates, told, words) = preferred(&query.text, today.filter(|_| soft));
        query.dates = dates;
        query.words = words;
        query.notices.extend(told);
        query
    }

    /// Reads a query's words and conditions. Linear.
    pub(crate) fn parse(raw: &str, today: Option<NaiveDate>) -> Self {
        let mut query = Self::default();
        let cut = truncate_chars(raw, MAX_CHARS);
        if cut.len() < raw.len() {
            query.notices.push(format!("only the first {MAX_CHARS} characters of the query were read"));
        }
        let mut left_out = Vec::new();
        let mut conditions = Vec::new();
        for piece in Pieces::of(cut) {
            query.take(piece, today, &mut left_out, &mut conditions);
        }
        query.filters.any_of = grouped(conditions);
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

    fn take(
        &mut self,
        piece: Piece<'_>,
        today: Option<NaiveDate>,
        left_out: &mut Vec<String>,
        conditions: &mut Vec<Condition>,
    ) {
        match piece {
            Piece::Phrase { text, .. } if text.trim().is_empty() => {}
            Piece::Phrase { text, negative: true } => left_out.push(text.to_owned()),
            Piece::Phrase { text, negative: false } => {
                self.phrases.push(text.to_owned());
                self.add(text);
            }
            Piece::Condition { negative, key, value, word } => match condition(&key, &value, today) {
                Some(condition) if negative => self.filters.none_of.push(condition),
                Some(condition) => conditions.push(condition),
                None => {
                    self.doubt(&key, &value, today);
                    if negative {
                        left_out.push(word.to_owned());
                    } else {
                        self.verbatim.extend(analyze(word).into_iter().map(|word| word.surface));
                        self.add(word);
                    }
                }
            },
            Piece::Word(word) => {
                let excluded = word.strip_prefix(MINUS).filter(|rest| rest.starts_with(char::is_alphanumeric));
                match excluded {
                    Some(rest) => left_out.push(rest.to_owned()),
                    None => self.add(word),
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
    fn doubt(&mut self, key: &str, value: &str, today: Option<NaiveDate>) {
        let expected = match key {
            "in" | "layer" => "daily, resource, digest or other",
            "bucket" => "procedure, personal or wiki",
            "date" if today.is_none() => {
                "a year, month or day such as 2026-11, or a range a..b; no clock says what today is"
            }
            "date" => "a year, month or day such as 2026-11, a range a..b, yesterday, last-week or 7d",
            IS => "archived or pending",
            _ => "a name",
        };
        let told = format!("{:?} is no {key} ({expected}): searched as text", truncate_chars(value, 40));
        if !self.notices.contains(&told) {
            self.notices.push(told);
        }
    }
}

/// Several values of what a note has one of (layer, bucket, folder, date) are alternatives, of what
/// it has many of (tags, properties, links) each must hold; dates that are open at an end bound the
/// others.
fn grouped(conditions: Vec<Condition>) -> Vec<Vec<Condition>> {
    let mut alternatives: [Vec<Condition>; 4] = Default::default();
    let mut each = Vec::new();
    let [layers, buckets, folders, dates] = &mut alternatives;
    for condition in conditions {
        match condition {
            Condition::Layer(_) => layers.push(condition),
            Condition::Bucket(_) => buckets.push(condition),
            Condition::Folder(_) => folders.push(condition),
            Condition::Dated { from: Some(_), until: Some(_) } => dates.push(condition),
            _ => each.push(vec![condition]),
        }
    }
    alternatives.into_iter().filter(|group| !group.is_empty()).chain(each).collect()
}

/// The condition that an operator with a value is; `None` when the value is none of its.
fn condition(key: &str, value: &str, today: Option<NaiveDate>) -> Option<Condition> {
    let name = || Some(value.trim().to_owned()).filter(|name| !name.is_empty());
    match key {
        "in" | "layer" => [Layer::Daily, Layer::Resource, Layer::Digest, Layer::Other]
            .into_iter()
            .find(|layer| layer.as_str().eq_ignore_ascii_case(value))
            .map(Condition::Layer),
        "bucket" => Bucket::ALL.into_iter().find(|b| b.as_str().eq_ignore_ascii_case(value)).map(Condition::Bucket),
        "tag" => {
            let tag = value.trim().trim_start_matches('#').trim_end_matches('/');
            (!tag.is_empty()).then(|| Condition::Tag(tag.to_owned()))
        }
        "folder" | "path" => {
            let folder = value.trim().trim_matches('/');
            Some(Condition::Folder(if folder.is_empty() { "/" } else { folder }.to_owned()))
        }
        "prop" => {
            let (key, wanted) = value.split_once('=').map_or((value, None), |(key, value)| (key, Some(value)));
            let value = wanted.map(str::to_owned);
            (!key.trim().is_empty()).then(|| Condition::Property { key: key.to_owned(), value })
        }
        "date" => dates(value, today).map(|(from, until)| Condition::Dated { from, until }),
        "links" => name().map(Condition::Links),
        "links-to" => name().map(Condition::LinksTo),
        "linked-from" => name().map(Condition::LinkedFrom),
        IS if value.eq_ignore_ascii_case("archived") => Some(Condition::Archived),
        IS if value.eq_ignore_ascii_case("pending") => Some(Condition::Pending),
        _ => None,
    }
}

/// `2026`, `2026-11`, `2026-11-30`, what names days as seen from today, and ranges `a..b`, `a..`,
/// `..b`; both ends are included.
fn dates(value: &str, today: Option<NaiveDate>) -> Option<(Option<NaiveDate>, Option<NaiveDate>)> {
    let (from, until) = value.split_once("..").unwrap_or((value, value));
    let from = if from.is_empty() { None } else { Some(stretch(from, today)?.0) };
    let until = if until.is_empty() { None } else { Some(stretch(until, today)?.1) };
    (from.is_some() || until.is_some()).then_some((from, until))
}

fn stretch(text: &str, today: Option<NaiveDate>) -> Option<Stretch> {
    let written = || match named(text).as_slice() {
        [date] if text.split_whitespace().count() <= 3 => date.stretch(),
        _ => None,
    };
    numeric(text).or_else(|| exactly(text, today?)).or_else(written)
}

/// The first and last day of a year, month or day.
fn numeric(text: &str) -> Option<Stretch> {
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
    Phrase {
        text: &'a str,
        negative: bool,
    },
    Condition {
        negative: bool,
        key: String,
        value: Cow<'a, str>,
        /// As it is written, without the minus.
        word: &'a str,
    },
}

const MINUS: [char; 2] = ['-', '－'];
const COLONS: [char; 2] = [':', '：'];

/// Words, quoted phrases, and operators with their values. A quote opens a phrase or a value only at
/// its start, and when another one closes it.
struct Pieces<'a> {
    rest: &'a str,
    /// Whether quotes of a kind may still be closed; looked for to the end once at most.
    open: [bool; QUOTES.len()],
}

impl<'a> Pieces<'a> {
    fn of(text: &'a str) -> Self {
        Self { rest: text, open: [true; QUOTES.len()] }
    }

    /// What stands in quotes at the start of `text`, and what is behind them.
    fn quoted(&mut self, text: &'a str) -> Option<(&'a str, &'a str)> {
        let first = text.chars().next()?;
        let ((open, close), may) = QUOTES.iter().zip(&mut self.open).find(|((open, _), _)| *open == first)?;
        let found = text.strip_prefix(*open).filter(|_| *may).and_then(|inside| inside.split_once(*close));
        *may = *may && found.is_some();
        found
    }

    /// An operator with its value at the start of `text`, and what is behind it.
    fn condition(&mut self, text: &'a str, negative: bool) -> Option<(Piece<'a>, &'a str)> {
        let letters = text.find(|c: char| !c.is_ascii_alphabetic() && c != '-')?;
        let (key, value) = text.split_at_checked(letters)?;
        let key = key.to_ascii_lowercase();
        if !OPERATORS.contains(&key.as_str()) && key != IS {
            return None;
        }
        let value = value.strip_prefix(COLONS)?;
        let (read, rest) = match self.quoted(value) {
            Some((inside, rest)) => (Cow::Borrowed(inside), rest),
            None => self.unquoted(value, key == "prop")?,
        };
        let word = text.get(..text.len().checked_sub(rest.len())?)?;
        // A value that no quotes can hold could not be written again.
        let usable = !read.trim().is_empty() && quotes_for(&read).is_some();
        usable.then_some((Piece::Condition { negative, key, value: read, word }, rest))
    }

    /// A value up to the next blank; that of a property may be in quotes, as in `key="a b"`.
    fn unquoted(&mut self, value: &'a str, property: bool) -> Option<(Cow<'a, str>, &'a str)> {
        let end = value.find(char::is_whitespace).unwrap_or(value.len());
        let (plain, rest) = value.split_at_checked(end)?;
        if let Some((name, _)) = plain.split_once('=').filter(|_| property)
            && let Some(behind) = value.get(name.len() + 1..)
            && let Some((inside, rest)) = self.quoted(behind)
        {
            return Some((Cow::Owned(format!("{name}={inside}")), rest));
        }
        Some((Cow::Borrowed(plain), rest))
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        self.rest = self.rest.trim_start();
        if self.rest.is_empty() {
            return None;
        }
        let (body, negative) = match self.rest.strip_prefix(MINUS) {
            Some(body) => (body, true),
            None => (self.rest, false),
        };
        if let Some((text, rest)) = self.quoted(body) {
            self.rest = rest;
            return Some(Piece::Phrase { text, negative });
        }
        if let Some((piece, rest)) = self.condition(body, negative) {
            self.rest = rest;
            return Some(piece);
        }
        let end = self.rest.find(char::is_whitespace).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(Piece::Word(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    fn today() -> Option<NaiveDate> {
        NaiveDate::from_ymd_opt(2026, 11, 25)
    }

    fn printed(filters: &Filters) -> String {
        let held = filters.any_of.iter().map(|group| {
            let group: Vec<String> = group.iter().map(ToString::to_string).collect();
            group.join(" ")
        });
        held.chain(filters.none_of.iter().map(|condition| format!("-{condition}"))).collect::<Vec<_>>().join(" ")
    }

    fn check(raw: &str, expected: Expect) {
        let Query { text, phrases, without, filters, notices, .. } = Query::parse(raw, today());
        let mut got = format!("text {text:?}");
        for (name, list) in [("phrases", phrases), ("without", without), ("notices", notices)] {
            if !list.is_empty() {
                got.push_str(&format!("; {name} {list:?}"));
            }
        }
        if !filters.is_empty() {
            got.push_str(&format!("; {}", printed(&filters)));
        }
        expected.assert_eq(&got);
    }

    #[test]
    fn operators_mean_what_they_say() {
        check("in:digest tag:#x bm25", expect![[r#"text "bm25"; in:digest tag:x"#]]);
        check("date:2026-11.. cake -tea", expect![[r#"text "cake"; without ["tea"]; date:2026-11-01.."#]]);
        check(
            "date:2026-02 \"exact phrase\" bucket:wiki",
            expect![[r#"text "exact phrase"; phrases ["exact phrase"]; bucket:wiki date:2026-02-01..2026-02-28"#]],
        );
        check("prop:conv=conv-26 who", expect![[r#"text "who"; prop:conv=conv-26"#]]);
    }

    #[test]
    fn values_may_be_quoted_and_conditions_negated() {
        check(r#"tag:"a b" folder:"My notes/a" x"#, expect![[r#"text "x"; folder:"My notes/a" tag:"a b""#]]);
        check(
            r#"links:"my note" links-to:[[B]] -linked-from:c -tag:y -in:digest -folder:z -bucket:wiki"#,
            expect![[
                r#"text ""; links:"my note" links-to:[[B]] -linked-from:c -tag:y -in:digest -folder:z -bucket:wiki"#
            ]],
        );
        check(
            r#"prop:key prop:a="b c" prop:"d e=f" is:archived -is:pending"#,
            expect![[r#"text ""; prop:key prop:"a=b c" prop:"d e=f" is:archived -is:pending"#]],
        );
        check(
            "in:daily in:digest tag:a tag:b date:2024 date:2025 date:..2026",
            expect![[
                r#"text ""; in:daily in:digest date:2024-01-01..2024-12-31 date:2025-01-01..2025-12-31 tag:a tag:b date:..2026-12-31"#
            ]],
        );
    }

    #[test]
    fn full_width_signs_and_chinese_quotes_are_signs() {
        check(
            "tag：记忆 －标签 「缓存 策略」 -“写穿”",
            expect![[r#"text "缓存 策略"; phrases ["缓存 策略"]; without ["标签", "写穿"]; tag:记忆"#]],
        );
        check("标签：记忆", expect![[r#"text "标签：记忆""#]]);
        check(
            "folder：「我的 笔记」　date:上周",
            expect![[r#"text ""; folder:"我的 笔记" date:2026-11-16..2026-11-22"#]],
        );
    }

    #[test]
    fn days_may_be_named_as_seen_from_today() {
        check(
            "date:yesterday.. date:last-week date:7d date:2023年5月 date:\"May 2023\"",
            expect![[
                r#"text ""; date:2026-11-16..2026-11-22 date:2026-11-18..2026-11-25 date:2023-05-01..2023-05-31 date:2023-05-01..2023-05-31 date:2026-11-24.."#
            ]],
        );
        let unknown = Query::parse("date:yesterday", None);
        assert_eq!((unknown.text.as_str(), unknown.notices.len()), ("date:yesterday", 1));
    }

    #[test]
    fn a_condition_that_is_none_is_text_and_said() {
        for (query, said) in [
            ("in:nonsense", "\"nonsense\" is no in (daily, resource, digest or other): searched as text"),
            ("layer:nonsense", "\"nonsense\" is no layer (daily, resource, digest or other): searched as text"),
            ("bucket:x", "\"x\" is no bucket (procedure, personal or wiki): searched as text"),
            ("is:blue", "\"blue\" is no is (archived or pending): searched as text"),
            (
                "date:soon",
                "\"soon\" is no date (a year, month or day such as 2026-11, a range a..b, yesterday, last-week or 7d): searched as text",
            ),
        ] {
            let read = Query::parse(query, today());
            assert_eq!((read.text.as_str(), read.notices), (query, vec![said.to_owned()]));
        }
    }

    #[test]
    fn what_does_not_parse_is_text() {
        check("cache:warm title:", expect![[r#"text "cache:warm title:""#]]);
        check("he said \"go", expect![[r#"text "he said \"go""#]]);
        check("-verify", expect![[r#"text "verify"; notices ["nothing but exclusions: searched as text"]"#]]);
        check("\"\" - -- a-b", expect![[r#"text "- -- a-b""#]]);
        check("in: tag:\"\" tag:\"x prop:", expect![[r#"text "in: tag:\"\" prop:"; tag:“"x”"#]]);
        check("\n", expect![[r#"text """#]]);
    }

    #[test]
    fn relative_dates_are_preferred_on_request_alone() {
        let read = |soft| Query::read("what did we do last week and in May 2023", today(), soft);
        assert_eq!(read(false).dates.len(), 1);
        assert!(read(false).notices.is_empty());
        assert_eq!(
            read(true).notices,
            ["\"last week\" read as 2026-11-16..2026-11-22", "notes of 2023-05 are preferred"]
        );
        assert_eq!(Query::read("last week", None, true).dates, []);
    }

    /// Strings that look like queries.
    fn queries() -> impl Strategy<Value = String> {
        let words = vec![
            "tag",
            "in",
            "folder",
            "prop",
            "date",
            "links",
            "links-to",
            "linked-from",
            "is",
            "bucket",
            ":",
            "：",
            "-",
            "－",
            "\"",
            "“",
            "”",
            "「",
            "」",
            "=",
            " ",
            "　",
            "a",
            "b/c",
            "digest",
            "wiki",
            "2026",
            "..",
            "yesterday",
            "上周",
            "archived",
            "#",
            "/",
            "🙂",
            "\n",
        ];
        prop_oneof![
            "\\PC{0,40}",
            proptest::collection::vec(proptest::sample::select(words), 0..40).prop_map(|w| w.concat())
        ]
    }

    proptest! {
        #[test]
        fn any_string_is_a_query_and_its_conditions_print_as_they_are_read(raw in queries()) {
            let first = Query::read(&raw, today(), true);
            let again = Query::parse(&printed(&first.filters), today());
            prop_assert_eq!(&again.filters, &first.filters);
            prop_assert_eq!(again.text, "");
            prop_assert!(again.notices.is_empty());
        }
    }

    #[test]
    fn reading_takes_linear_time() {
        for unit in ["“", "「x ", "tag:“", "-\"", "prop:a=“", "1上", "\" ", "last 9 "] {
            let long = unit.repeat(200_000);
            let started = std::time::Instant::now();
            Query::read(&long, today(), true);
            assert!(started.elapsed() < std::time::Duration::from_secs(1), "{unit}");
        }
    }
}
