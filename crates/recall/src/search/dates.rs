//! Dates that a query names, as a soft preference for the notes of that time.

use chrono::{Datelike, Days, Months, NaiveDate};

use super::calendar::Stretch;
use super::relative::readings;

/// The time that a query prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preferred {
    /// A date that it names.
    Named(Span),
    /// Days that it names as seen from today.
    Relative(Stretch),
}

impl Preferred {
    /// How well a date fits: 1 in the span, falling to 0 around it. O(1).
    pub(crate) fn fits(self, date: NaiveDate) -> f64 {
        match self {
            Self::Named(span) => span.fits(date),
            Self::Relative(days) => fit(date, days),
        }
    }
}

/// The time that a query prefers, how its words were read, and the words that are left. With `today`
/// relative dates count too, are no words any more, and every reading is told. Linear.
pub(crate) fn preferred(query: &str, today: Option<NaiveDate>) -> (Vec<Preferred>, Vec<String>, String) {
    let Some(today) = today else {
        return (named(query).into_iter().map(Preferred::Named).collect(), Vec::new(), query.to_owned());
    };
    let mut out = Vec::new();
    let mut told = Vec::new();
    // What was read as seen from today names no other date.
    let mut rest = String::new();
    let mut end = 0;
    for reading in readings(query, today) {
        let (from, until) = reading.days;
        let words = query.get(reading.words.clone()).unwrap_or("");
        told.push(format!("{words:?} read as {from}..{until}"));
        out.push(Preferred::Relative(reading.days));
        rest.push_str(query.get(end..reading.words.start).unwrap_or(""));
        rest.push_str(" , ");
        end = reading.words.end;
    }
    rest.push_str(query.get(end..).unwrap_or(""));
    for span in named(&rest) {
        told.push(format!("notes of {} are preferred", span.shown()));
        out.push(Preferred::Named(span));
    }
    (out, told, rest)
}

/// A day, a month, or a year that a query names; a month or a day may leave the year open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    year: Option<i32>,
    month: Option<u32>,
    day: Option<u32>,
}

/// What is told on a later day is often told of an earlier one: a note counts in full in the span
/// and fades out over this many days after it, and over a third of them before it.
const FADES: i64 = 10;

#[rustfmt::skip]
pub(super) const MONTHS: [&str; 12] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
];

impl Span {
    /// How well a date fits: 1 in the span, falling to 0 around it. O(1).
    pub(crate) fn fits(self, date: NaiveDate) -> f64 {
        let years = match self.year {
            Some(year) => year..=year,
            // Of an open year the nearest one is meant.
            None => date.year().saturating_sub(1)..=date.year().saturating_add(1),
        };
        years.filter_map(|year| self.days(year)).map(|days| fit(date, days)).fold(0.0, f64::max)
    }

    /// First and last day, where the year is named.
    pub(crate) fn stretch(self) -> Option<Stretch> {
        self.days(self.year?)
    }

    /// `2026-11-30`, `2026-11`, `2026`; an open year as `any year`.
    fn shown(self) -> String {
        let year = self.year.map_or_else(|| "any year".to_owned(), |year| year.to_string());
        let rest = [self.month, self.day].into_iter().flatten().map(|n| format!("-{n:02}"));
        year + &rest.collect::<String>()
    }

    /// First and last day, in a year.
    fn days(self, year: i32) -> Option<(NaiveDate, NaiveDate)> {
        let Some(month) = self.month else {
            return Some((NaiveDate::from_ymd_opt(year, 1, 1)?, NaiveDate::from_ymd_opt(year, 12, 31)?));
        };
        if let Some(day) = self.day {
            let day = NaiveDate::from_ymd_opt(year, month, day)?;
            return Some((day, day));
        }
        let first = NaiveDate::from_ymd_opt(year, month, 1)?;
        Some((first, first.checked_add_months(Months::new(1))?.checked_sub_days(Days::new(1))?))
    }
}

fn fit(date: NaiveDate, (first, last): (NaiveDate, NaiveDate)) -> f64 {
    let (after, before) = ((date - last).num_days(), (first - date).num_days());
    let distance = if after > 0 { after } else { 3 * before.max(0) };
    (1.0 - distance as f64 / FADES as f64).max(0.0)
}

/// The dates that a query names: `9 November 2022`, `Nov 9`, `in May 2023`, `2022-11-09`, `2022-11`,
/// `2022年11月9日`, `11月9日`; a year alone only when nothing else is named. Linear.
pub(crate) fn named(query: &str) -> Vec<Span> {
    let lower = query.to_lowercase();
    let tokens: Vec<&str> = tokens(&lower);
    let mut out: Vec<Span> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let before = |by: usize| at.checked_sub(by).and_then(|at| tokens.get(at)).copied();
        let after = |by: usize| tokens.get(at + by).copied();
        if let Some(span) = numeric(token) {
            out.push(span);
        } else if let Some(month) = month(token) {
            let of = usize::from(before(1) == Some("of"));
            let leading = before(1 + of).and_then(day);
            let trailing = after(1).and_then(day);
            let behind = 1 + usize::from(trailing.is_some());
            let year = after(behind).and_then(year);
            // `may` and `march` are verbs too.
            let dated = leading.is_some()
                || trailing.is_some()
                || year.is_some()
                || matches!(before(1), Some("in" | "of" | "since" | "last"));
            if dated || !matches!(*token, "may" | "mar" | "march") {
                out.push(Span { year, month: Some(month), day: leading.or(trailing) });
            }
        } else if let (Some(month), Some("月")) = (number(token, 1..=12), after(1)) {
            let year = (before(1) == Some("年")).then(|| before(2).and_then(year)).flatten();
            let day = after(2).and_then(day).filter(|_| matches!(after(3), Some("日" | "号")));
            out.push(Span { year, month: Some(month), day });
        }
    }
    if out.is_empty() {
        let years = tokens.iter().filter_map(|token| year(token));
        out.extend(years.map(|year| Span { year: Some(year), month: None, day: None }));
    }
    out
}

/// Runs of digits, with `-` inside a date, runs of other letters, and the Chinese signs of a date.
fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if first.is_ascii_digit() {
            rest.find(|c: char| !c.is_ascii_digit() && c != '-')
        } else if matches!(first, '年' | '月' | '日' | '号') {
            Some(first.len_utf8())
        } else if first.is_alphabetic() {
            rest.find(|c: char| !c.is_alphabetic() || matches!(c, '年' | '月' | '日' | '号'))
        } else {
            rest = rest.get(first.len_utf8()..).unwrap_or("");
            continue;
        };
        let Some((token, after)) = rest.split_at_checked(end.unwrap_or(rest.len())) else {
            break;
        };
        // `9th` is one token of two runs.
        if !(out.last().is_some_and(|last: &&str| last.ends_with(|c: char| c.is_ascii_digit()))
            && matches!(token, "st" | "nd" | "rd" | "th"))
        {
            out.push(token);
        }
        rest = after;
    }
    out
}

fn number(token: &str, range: std::ops::RangeInclusive<u32>) -> Option<u32> {
    (token.len() <= 4).then(|| token.parse().ok()).flatten().filter(|n| range.contains(n))
}

fn day(token: &str) -> Option<u32> {
    (token.len() <= 2).then(|| number(token, 1..=31)).flatten()
}

fn year(token: &str) -> Option<i32> {
    (token.len() == 4).then(|| number(token, 1900..=2099)).flatten().and_then(|n| i32::try_from(n).ok())
}

fn month(token: &str) -> Option<u32> {
    let at = MONTHS.iter().position(|month| *month == token || month.get(..3) == Some(token))?;
    u32::try_from(at + 1).ok()
}

/// `2022-11-09` and `2022-11`.
fn numeric(token: &str) -> Option<Span> {
    let mut parts = token.trim_end_matches('-').split('-');
    let year = parts.next().and_then(year)?;
    let month = number(parts.next()?, 1..=12)?;
    let day = match parts.next() {
        Some(part) => Some(day(part)?),
        None => None,
    };
    parts.next().is_none().then_some(Span { year: Some(year), month: Some(month), day })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(query: &str, expected: Expect) {
        let part = |n: Option<i64>| n.map_or("_".to_owned(), |n| n.to_string());
        let spans = named(query);
        let shown = spans.iter().map(|span| {
            let (month, day) = (span.month.map(i64::from), span.day.map(i64::from));
            format!("{}-{}-{}", part(span.year.map(i64::from)), part(month), part(day))
        });
        expected.assert_eq(&shown.collect::<Vec<_>>().join(" "));
    }

    #[test]
    fn days_months_and_years_are_read_in_both_languages() {
        check("What did Nate cook on 9 November, 2022?", expect!["2022-11-9"]);
        check("between August 11 and August 15th 2023", expect!["_-8-11 2023-8-15"]);
        check("the 3rd of May", expect!["_-5-3"]);
        check("in May 2023, and in June", expect!["2023-5-_ _-6-_"]);
        check("what may march on in 2022", expect!["2022-_-_"]);
        check("2022-11-09 or 2022-11", expect!["2022-11-9 2022-11-_"]);
        check("2022年11月9日做了什么，12月呢", expect!["2022-11-9 _-12-_"]);
        check("issue 2022-13, room 12, 1-2-3, ²", expect![""]);
    }

    #[test]
    fn a_date_fits_in_its_span_and_fades_around_it() {
        let fits =
            |query: &str, date: &str| named(query).iter().map(|s| s.fits(date.parse().unwrap())).fold(0.0, f64::max);
        assert_eq!(fits("in May 2023", "2023-05-31"), 1.0);
        assert_eq!(fits("on 1 May", "2022-05-02"), 0.9);
        assert_eq!(fits("on 1 January", "2022-12-31"), 0.7);
        assert_eq!(fits("on 1 May 2023", "2022-05-01"), 0.0);
        assert_eq!(fits("on 30 February", "2022-02-28"), 0.0);
    }
}
