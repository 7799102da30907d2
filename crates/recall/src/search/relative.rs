//! Days that words name as seen from another day: `last week`, `three days ago`, 上周三, 去年五月初.
//!
//! Weeks start on Monday, seasons are those of the northern hemisphere, and a name that comes round
//! every year or week means its last time that is over (`last May`) or has begun (`5月初`).

use std::ops::Range;

use chrono::{Datelike, NaiveDate, Weekday};

use super::calendar::{
    Part, Stretch, Unit, Yearly, latest, latest_weekend, of_week, part_of, week, week_before, weekend, year,
};
use super::dates::MONTHS;

/// Words that name days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Where they stand.
    pub(crate) words: Range<usize>,
    /// The days.
    pub(crate) days: Stretch,
}

/// The relative days that a text names, seen from `today`, in order and without overlap. Linear.
pub(crate) fn readings(text: &str, today: NaiveDate) -> Vec<Reading> {
    let tokens = tokens(text);
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(first) = tokens.get(at) {
        let rest = Run { tokens: tokens.get(at..).unwrap_or(&[]), before: before(&tokens, at) };
        match rest.english(today).or_else(|| rest.chinese(today)) {
            Some((used, days)) => {
                let last = tokens.get(at + used.max(1) - 1).unwrap_or(first);
                out.push(Reading { words: first.span.start..last.span.end, days });
                at += used.max(1);
            }
            None => at += 1,
        }
    }
    out
}

/// The days that a text names when it names nothing else: `yesterday`, `last-week`, `in May`, 上周,
/// and `7d`, `2w`, `3m`, `1y` for the time until today.
pub(crate) fn exactly(text: &str, today: NaiveDate) -> Option<Stretch> {
    let tokens = tokens(text);
    let run = |at: usize| Run { tokens: tokens.get(at..).unwrap_or(&[]), before: before(&tokens, at) };
    let whole = run(0);
    if let (Some(Token { name: Name::Number(n), .. }), Some(unit), None) =
        (tokens.first(), whole.unit(1).or_else(|| short_unit(whole.word(1))), tokens.get(2))
    {
        return unit.until(*n, today);
    }
    (0..2).find_map(|at| {
        let skipped = at == 0 || matches!(whole.word(0), "the" | "in" | "on" | "over" | "since");
        let (used, days) = run(at).english(today).or_else(|| run(at).chinese(today)).filter(|_| skipped)?;
        (at + used == tokens.len()).then_some(days)
    })
}

#[derive(Debug)]
struct Token {
    span: Range<usize>,
    name: Name,
}

#[derive(Debug)]
enum Name {
    /// Letters, in lower case.
    Word(String),
    Number(u32),
    /// One Chinese character.
    Sign(char),
}

fn tokens(text: &str) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, first)) = chars.next() {
        let mut end = start + first.len_utf8();
        let mut take = |goes_on: fn(char) -> bool| {
            while let Some((_, c)) = chars.next_if(|(_, c)| goes_on(*c)) {
                end += c.len_utf8();
            }
            text.get(start..end).unwrap_or("")
        };
        let name = if first.is_ascii_digit() {
            take(|c| c.is_ascii_digit()).parse().map_or(Name::Number(u32::MAX), Name::Number)
        } else if is_sign(first) {
            Name::Sign(first)
        } else if first.is_alphabetic() {
            Name::Word(take(|c| c.is_alphabetic() && !is_sign(c)).to_lowercase())
        } else {
            continue;
        };
        out.push(Token { span: start..end, name });
    }
    out
}

fn is_sign(c: char) -> bool {
    matches!(u32::from(c), 0x4E00..=0x9FFF)
}

fn before(tokens: &[Token], at: usize) -> Option<char> {
    match tokens.get(at.checked_sub(1)?)?.name {
        Name::Sign(c) => Some(c),
        Name::Number(_) => Some('1'),
        Name::Word(_) => None,
    }
}

/// What is left of the tokens, from one on.
struct Run<'a> {
    tokens: &'a [Token],
    /// The Chinese character before, `1` for a digit.
    before: Option<char>,
}

impl Run<'_> {
    fn word(&self, at: usize) -> &str {
        match self.tokens.get(at) {
            Some(Token { name: Name::Word(word), .. }) => word,
            _ => "",
        }
    }

    fn sign(&self, at: usize) -> Option<char> {
        match self.tokens.get(at)?.name {
            Name::Sign(c) => Some(c),
            _ => None,
        }
    }

    fn digits(&self, at: usize) -> Option<u32> {
        match self.tokens.get(at)?.name {
            Name::Number(n) => Some(n),
            _ => None,
        }
    }

    /// Whether `signs` stand from `at` on: the place behind them.
    fn signs(&self, at: usize, signs: &str) -> Option<usize> {
        let mut end = at;
        for sign in signs.chars() {
            self.sign(end).filter(|c| *c == sign)?;
            end += 1;
        }
        Some(end)
    }

    fn any<T: Copy>(&self, at: usize, words: &[(&str, T)]) -> Option<(usize, T)> {
        words.iter().find_map(|(signs, value)| Some((self.signs(at, signs)?, *value)))
    }

    fn english(&self, today: NaiveDate) -> Option<(usize, Stretch)> {
        let day = |by: i32, used: usize| Some((used, Unit::Day.shifted(by, today)?));
        match (self.word(0), self.word(1), self.word(2)) {
            ("today" | "tonight", ..) => day(0, 1),
            ("yesterday", ..) => day(-1, 1),
            ("tomorrow", ..) => day(1, 1),
            ("last", "night", _) => day(-1, 2),
            ("this", "morning" | "afternoon" | "evening", _) => day(0, 2),
            ("day", "before", "yesterday") => day(-2, 3),
            ("day", "after", "tomorrow") => day(2, 3),
            (unit, "before", "last") => Some((3, self::unit(unit)?.shifted(-2, today)?)),
            ("last" | "past" | "previous", ..) => self.last(today),
            ("this", name, _) => Some((2, this(name, today)?)),
            ("next", name, _) => Some((2, self::unit(name)?.shifted(1, today)?)),
            ("over" | "at" | "on" | "during", "the", "weekend") => Some((3, latest_weekend(today)?)),
            ("on", name, _) if name.ends_with("day") => Some((2, latest(weekday(name)?, today, true)?)),
            ("early" | "mid" | "late", ..) => self.part_of_month(today),
            _ => self.ago(today),
        }
    }

    /// `last week`, `past two weeks`, `last 7 days`, `last Tuesday`, `last summer`.
    fn last(&self, today: NaiveDate) -> Option<(usize, Stretch)> {
        if let Some((n, used)) = self.count(1).filter(|_| self.word(1) != "a")
            && let Some(unit) = self.unit(1 + used)
        {
            return Some((2 + used, unit.until(n, today)?));
        }
        let name = self.word(1);
        let days = match (unit(name), name) {
            (Some(unit), _) if self.word(0) == "past" => unit.until(1, today),
            (Some(unit), _) => unit.shifted(-1, today),
            (None, "weekend") => {
                weekend(today).filter(|(_, sunday)| *sunday < today).or_else(|| weekend(week_before(today)?))
            }
            (None, name) => match (weekday(name), yearly(name)) {
                (Some(weekday), _) => latest(weekday, today, false),
                (None, yearly) => yearly?.last(today, |(_, last)| last < today),
            },
        };
        Some((2, days?))
    }

    /// `three days ago`, `a couple of weeks ago`, `a few months ago`.
    fn ago(&self, today: NaiveDate) -> Option<(usize, Stretch)> {
        let few = usize::from(self.word(0) == "a") + 1;
        if self.word(few - 1) == "few" && self.word(few + 1) == "ago" {
            let unit = self.unit(few)?;
            return Some((few + 2, (unit.ago(5, today)?.0, unit.ago(2, today)?.1)));
        }
        let (n, used) = self.count(0)?;
        let unit = self.unit(used).filter(|_| self.word(used + 1) == "ago")?;
        Some((used + 2, unit.ago(n, today)?))
    }

    /// `early May 2023`; without a year its last one that has begun.
    fn part_of_month(&self, today: NaiveDate) -> Option<(usize, Stretch)> {
        let part = match self.word(0) {
            "early" => Part::First,
            "mid" => Part::Middle,
            _ => Part::Last,
        };
        let at = 1 + usize::from(self.word(1) == "in");
        let Yearly::Month(number, _) = yearly(self.word(at))? else {
            return None;
        };
        let month = Yearly::Month(number, Some(part));
        match self.digits(at + 1).filter(|n| (1900..2100).contains(n)) {
            Some(year) => Some((at + 2, month.of(i32::try_from(year).ok()?)?)),
            None => Some((at + 1, month.last(today, |(first, _)| first <= today)?)),
        }
    }

    /// A number in English and how many tokens it takes.
    fn count(&self, at: usize) -> Option<(u32, usize)> {
        if let Some(n) = self.digits(at) {
            return Some((n, 1));
        }
        let couple = at + usize::from(self.word(at) == "a");
        if self.word(couple) == "couple" {
            return Some((2, couple - at + 1 + usize::from(self.word(couple + 1) == "of")));
        }
        let n = NUMBERS.iter().position(|number| *number == self.word(at))?;
        Some((u32::try_from(n).ok()?.max(1), 1))
    }

    fn unit(&self, at: usize) -> Option<Unit> {
        unit(self.word(at)).or_else(|| self.any(at, UNITS).map(|(_, unit)| unit))
    }

    fn chinese(&self, today: NaiveDate) -> Option<(usize, Stretch)> {
        if self.sign(0).is_none() && self.digits(0).is_none() {
            return None;
        }
        if let Some((used, by)) = self.any(0, DAYS) {
            return Some((used, Unit::Day.shifted(by, today)?));
        }
        if let Some((at, by)) = self.any(0, YEARS) {
            return self.in_year(at, today.year().checked_add(by)?);
        }
        if let Some((at, by)) = self.any(0, WHICH)
            && let Some(found) = self.which(at, by, today)
        {
            return Some(found);
        }
        if let Some((at, ())) = self.any(0, &[("过去", ()), ("最近", ()), ("近", ())]) {
            let at = self.signs(at, "的").unwrap_or(at);
            let (n, at) = self.number(at)?;
            let (at, unit) = self.measure(at)?;
            return Some((at, unit.until(n, today)?));
        }
        if let Some(at) = self.signs(0, "周末") {
            return Some((at, latest_weekend(today)?));
        }
        self.chinese_ago(today).or_else(|| self.chinese_month(today)).or_else(|| {
            let counted = self.before.is_some_and(|c| c == '每' || c.is_ascii_digit() || numeral(c).is_some());
            let (at, ()) = self.any(0, WEEK).filter(|_| !counted)?;
            let (at, weekday) = self.weekday(at)?;
            Some((at, latest(weekday, today, true)?))
        })
    }

    /// What follows 上, 这 or 下: a week, a day or the end of it, a month or a part of it.
    fn which(&self, at: usize, by: i32, today: NaiveDate) -> Option<(usize, Stretch)> {
        if let Some((at, ())) = self.any(at, WEEK) {
            let day = Unit::Week.shifted(by, today)?.0;
            if let Some(at) = self.signs(at, "末") {
                return Some((at, weekend(day)?));
            }
            return match self.weekday(at) {
                Some((at, weekday)) => Some((at, of_week(weekday, day)?)),
                None => Some((at, week(day)?)),
            };
        }
        let at = self.signs(at, "月")?;
        let (at, part) = self.part(at);
        Some((at, part_of(Unit::Month.shifted(by, today)?, part)?))
    }

    /// What follows a year: a month, a season, its start, middle or end, or nothing.
    fn in_year(&self, at: usize, of: i32) -> Option<(usize, Stretch)> {
        let from = self.signs(at, "的").unwrap_or(at);
        if let Some((n, at)) = self.number(from)
            && let Some(at) = self.signs(at, "月")
        {
            let at = self.signs(at, "份").unwrap_or(at);
            let (at, part) = self.part(at);
            return Some((at, Yearly::Month(n, part).of(of)?));
        }
        if let Some((at, first)) = self.any(from, SEASONS) {
            let at = self.any(at, &[("天", ()), ("季", ())]).map_or(at, |(at, ())| at);
            return Some((at, Yearly::Season(first).of(of)?));
        }
        let from = self.signs(from, "年").unwrap_or(from);
        if let Some((at, (first, last))) =
            self.any(from, &[("初", (1, 2)), ("中", (6, 7)), ("底", (12, 12)), ("末", (12, 12))])
        {
            return Some((at, (Yearly::Month(first, None).of(of)?.0, Yearly::Month(last, None).of(of)?.1)));
        }
        Some((at, year(of)?))
    }

    /// 三天前, 两个星期前, 半年前, 几天前.
    fn chinese_ago(&self, today: NaiveDate) -> Option<(usize, Stretch)> {
        let ago = |at| self.any(at, &[("之前", ()), ("以前", ()), ("前", ())]).map(|(at, ())| at);
        if let Some(at) = self.signs(0, "半年").and_then(ago) {
            return Some((at, Unit::Month.ago(6, today)?));
        }
        if let Some((at, unit)) = self.signs(0, "几").and_then(|at| self.measure(at)) {
            return Some((ago(at)?, (unit.ago(9, today)?.0, unit.ago(2, today)?.1)));
        }
        let (n, at) = self.number(0)?;
        let (at, unit) = self.measure(at)?;
        Some((ago(at)?, unit.ago(n, today)?))
    }

    /// 5月初, 2023年五月底: a month without a part is an absolute date and read elsewhere.
    fn chinese_month(&self, today: NaiveDate) -> Option<(usize, Stretch)> {
        let (year, at) = match self.digits(0).filter(|n| (1900..2100).contains(n)).zip(self.signs(1, "年")) {
            Some((year, at)) => (Some(i32::try_from(year).ok()?), at),
            None => (None, 0),
        };
        let (n, at) = self.number(at)?;
        let at = self.signs(at, "月")?;
        let written = self.digits(at.checked_sub(2)?).is_none();
        let (at, part) = self.part(at);
        // A day in digits makes it an absolute date.
        let part = part.filter(|part| written || !matches!(part, Part::Day(_)));
        let month = Yearly::Month(n, part);
        match year {
            Some(year) if part.is_some() || written => Some((at, month.of(year)?)),
            None if matches!(part, Some(Part::First | Part::Middle | Part::Last)) => {
                Some((at, month.last(today, |(first, _)| first <= today)?))
            }
            _ => None,
        }
    }

    /// The part of a month that stands at `at`.
    fn part(&self, at: usize) -> (usize, Option<Part>) {
        if let Some((at, part)) = self.any(at, PARTS) {
            return (at, Some(part));
        }
        let day = self.number(at).and_then(|(n, at)| {
            let (at, ()) = self.any(at, &[("日", ()), ("号", ())])?;
            Some((at, Some(Part::Day(n))))
        });
        day.unwrap_or((at, None))
    }

    /// A number in digits or Chinese numerals, up to 99, and the place behind it.
    fn number(&self, at: usize) -> Option<(u32, usize)> {
        if let Some(n) = self.digits(at) {
            return Some((n, at + 1));
        }
        let numerals: Vec<u32> = (at..at + 3).map_while(|at| self.sign(at).and_then(numeral)).collect();
        let (n, used) = match *numerals.as_slice() {
            [tens, 10, ones] if tens < 10 && ones < 10 => (tens * 10 + ones, 3),
            [tens, 10, ..] if tens < 10 => (tens * 10, 2),
            [10, ones, ..] if ones < 10 => (10 + ones, 2),
            [n, ..] => (n, 1),
            [] => return None,
        };
        Some((n, at + used))
    }

    /// A unit of time behind a number, 个 or not.
    fn measure(&self, at: usize) -> Option<(usize, Unit)> {
        self.any(self.signs(at, "个").unwrap_or(at), UNITS)
    }

    /// A day of the week behind 周 or 星期, unless it counts something.
    fn weekday(&self, at: usize) -> Option<(usize, Weekday)> {
        let sign = self.sign(at)?;
        let counts = self.sign(at + 1).is_some_and(|next| "个次位名条件年".contains(next) && sign != '日');
        let number =
            "一二三四五六日".chars().position(|c| c == sign || (sign == '天' && c == '日')).filter(|_| !counts)?;
        Some((at + 1, Weekday::try_from(u8::try_from(number).ok()?).ok()?))
    }
}

#[rustfmt::skip]
const NUMBERS: [&str; 13] =
    ["a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
#[rustfmt::skip]
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
#[rustfmt::skip]
const DAYS: &[(&str, i32)] = &[
    ("大前天", -3), ("前天", -2), ("昨天", -1), ("昨日", -1), ("昨晚", -1), ("昨夜", -1), ("今天", 0), ("今日", 0),
    ("今晚", 0), ("今早", 0), ("明天", 1), ("明日", 1), ("后天", 2),
];
#[rustfmt::skip]
const YEARS: &[(&str, i32)] = &[("大前年", -3), ("前年", -2), ("去年", -1), ("今年", 0), ("明年", 1)];
#[rustfmt::skip]
const WHICH: &[(&str, i32)] = &[
    ("上上个", -2), ("上上", -2), ("上一个", -1), ("上个", -1), ("上一", -1), ("上", -1), ("这一个", 0), ("这个", 0), ("这一", 0),
    ("这", 0), ("本", 0), ("当", 0), ("下一个", 1), ("下个", 1), ("下一", 1), ("下", 1),
];
const WEEK: &[(&str, ())] = &[("星期", ()), ("礼拜", ()), ("周", ())];
#[rustfmt::skip]
const UNITS: &[(&str, Unit)] = &[
    ("天", Unit::Day), ("日", Unit::Day), ("星期", Unit::Week), ("礼拜", Unit::Week), ("周", Unit::Week), ("月", Unit::Month), ("年", Unit::Year),
];
const SEASONS: &[(&str, u32)] = &[("春", 3), ("夏", 6), ("秋", 9), ("冬", 12)];
#[rustfmt::skip]
const PARTS: &[(&str, Part)] = &[
    ("上旬", Part::First), ("初", Part::First), ("中旬", Part::Middle), ("中", Part::Middle), ("下旬", Part::Last), ("底", Part::Last), ("末", Part::Last),
];

fn numeral(c: char) -> Option<u32> {
    let n = "一二三四五六七八九十".chars().position(|numeral| numeral == if c == '两' { '二' } else { c })?;
    u32::try_from(n + 1).ok()
}

fn unit(word: &str) -> Option<Unit> {
    match word.strip_suffix('s').unwrap_or(word) {
        "day" => Some(Unit::Day),
        "week" => Some(Unit::Week),
        "month" => Some(Unit::Month),
        "year" => Some(Unit::Year),
        _ => None,
    }
}

fn short_unit(word: &str) -> Option<Unit> {
    match word {
        "d" => Some(Unit::Day),
        "w" => Some(Unit::Week),
        "m" => Some(Unit::Month),
        "y" => Some(Unit::Year),
        _ => None,
    }
}

/// `this week`, `this May`, `this weekend`.
fn this(name: &str, today: NaiveDate) -> Option<Stretch> {
    if let Some(unit) = unit(name) {
        return unit.shifted(0, today);
    }
    if name == "weekend" {
        return weekend(today);
    }
    match weekday(name) {
        Some(weekday) => of_week(weekday, today),
        None => yearly(name)?.of(today.year()),
    }
}

/// A weekday by its name or the first letters of it, three at least.
fn weekday(word: &str) -> Option<Weekday> {
    let at = WEEKDAYS.iter().position(|day| word.len() >= 3 && day.starts_with(word))?;
    Weekday::try_from(u8::try_from(at).ok()?).ok()
}

fn yearly(word: &str) -> Option<Yearly> {
    let first = match word {
        "spring" => 3,
        "summer" => 6,
        "autumn" | "fall" => 9,
        "winter" => 12,
        _ => {
            let at = MONTHS.iter().position(|month| word.len() >= 3 && month.starts_with(word))?;
            return Some(Yearly::Month(u32::try_from(at + 1).ok()?, None));
        }
    };
    Some(Yearly::Season(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    /// A Wednesday.
    fn today() -> NaiveDate {
        "2026-11-25".parse().unwrap()
    }

    fn shown((from, until): Stretch) -> String {
        if from == until { from.to_string() } else { format!("{from}..{until}") }
    }

    fn check(texts: &[&str], expected: Expect) {
        let lines = texts.iter().map(|text| {
            let read = readings(text, today());
            let read: Vec<String> =
                read.iter().map(|r| format!("{:?} {}", &text[r.words.clone()], shown(r.days))).collect();
            format!("{text}: {}\n", if read.is_empty() { "-".to_owned() } else { read.join(", ") })
        });
        expected.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn english_words_name_days_as_seen_from_today() {
        check(
            &[
                "what did we decide last week",
                "yesterday's meeting, and the day before yesterday",
                "three days ago or 10 days ago",
                "two weeks ago",
                "a couple of months ago",
                "last Tuesday",
                "last Wednesday",
                "on Monday, not on Mondays",
                "this month and last month",
                "last summer",
                "last May, last December",
                "over the weekend",
                "last weekend",
                "in the past two weeks",
                "the year before last",
                "early May, late November 2024",
                "a few days ago",
                "it will last a week, may march on, one day",
            ],
            expect![[r#"
                what did we decide last week: "last week" 2026-11-16..2026-11-22
                yesterday's meeting, and the day before yesterday: "yesterday" 2026-11-24, "day before yesterday" 2026-11-23
                three days ago or 10 days ago: "three days ago" 2026-11-22, "10 days ago" 2026-11-15
                two weeks ago: "two weeks ago" 2026-11-09..2026-11-15
                a couple of months ago: "a couple of months ago" 2026-09-01..2026-09-30
                last Tuesday: "last Tuesday" 2026-11-24
                last Wednesday: "last Wednesday" 2026-11-18
                on Monday, not on Mondays: "on Monday" 2026-11-23
                this month and last month: "this month" 2026-11-01..2026-11-30, "last month" 2026-10-01..2026-10-31
                last summer: "last summer" 2026-06-01..2026-08-31
                last May, last December: "last May" 2026-05-01..2026-05-31, "last December" 2025-12-01..2025-12-31
                over the weekend: "over the weekend" 2026-11-21..2026-11-22
                last weekend: "last weekend" 2026-11-21..2026-11-22
                in the past two weeks: "past two weeks" 2026-11-11..2026-11-25
                the year before last: "year before last" 2024-01-01..2024-12-31
                early May, late November 2024: "early May" 2026-05-01..2026-05-10, "late November 2024" 2024-11-21..2024-11-30
                a few days ago: "a few days ago" 2026-11-20..2026-11-23
                it will last a week, may march on, one day: -
            "#]],
        );
    }

    #[test]
    fn chinese_words_name_days_as_seen_from_today() {
        check(
            &[
                "上周三我们决定了什么",
                "昨天和前天还有大前天",
                "上个月",
                "去年五月",
                "三天前、两个星期前",
                "本周",
                "5月初的会",
                "2023年5月初",
                "2023年五月",
                "上上周",
                "上个月3号",
                "去年夏天",
                "去年年底",
                "这周末",
                "周末去了哪里",
                "最近三个月",
                "每周一开会，一周三次",
                "星期五",
                "十二年前",
                "几天前",
                "十一月底",
                "上周三个人来了",
                "2023年5月",
                "周围上下",
            ],
            expect![[r#"
                上周三我们决定了什么: "上周三" 2026-11-18
                昨天和前天还有大前天: "昨天" 2026-11-24, "前天" 2026-11-23, "大前天" 2026-11-22
                上个月: "上个月" 2026-10-01..2026-10-31
                去年五月: "去年五月" 2025-05-01..2025-05-31
                三天前、两个星期前: "三天前" 2026-11-22, "两个星期前" 2026-11-09..2026-11-15
                本周: "本周" 2026-11-23..2026-11-29
                5月初的会: "5月初" 2026-05-01..2026-05-10
                2023年5月初: "2023年5月初" 2023-05-01..2023-05-10
                2023年五月: "2023年五月" 2023-05-01..2023-05-31
                上上周: "上上周" 2026-11-09..2026-11-15
                上个月3号: "上个月3号" 2026-10-03
                去年夏天: "去年夏天" 2025-06-01..2025-08-31
                去年年底: "去年年底" 2025-12-01..2025-12-31
                这周末: "这周末" 2026-11-28..2026-11-29
                周末去了哪里: "周末" 2026-11-21..2026-11-22
                最近三个月: "最近三个月" 2026-08-25..2026-11-25
                每周一开会，一周三次: -
                星期五: "星期五" 2026-11-20
                十二年前: "十二年前" 2014-01-01..2014-12-31
                几天前: "几天前" 2026-11-16..2026-11-23
                十一月底: "十一月底" 2026-11-21..2026-11-30
                上周三个人来了: "上周" 2026-11-16..2026-11-22
                2023年5月: -
                周围上下: -
            "#]],
        );
    }

    #[test]
    fn a_condition_is_all_of_its_text() {
        let check = |text: &str| exactly(text, today()).map(shown);
        for (text, expected) in [
            ("yesterday", Some("2026-11-24")),
            ("last-week", Some("2026-11-16..2026-11-22")),
            ("last_week", Some("2026-11-16..2026-11-22")),
            ("上周", Some("2026-11-16..2026-11-22")),
            ("7d", Some("2026-11-18..2026-11-25")),
            ("2w", Some("2026-11-11..2026-11-25")),
            ("3天", Some("2026-11-22..2026-11-25")),
            ("the-day-before-yesterday", Some("2026-11-23")),
            ("soon", None),
            ("yesterday or so", None),
            ("", None),
            ("99999999999d", None),
        ] {
            assert_eq!(check(text).as_deref(), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_on_any_day_is_read(text in "\\PC{0,60}", words in proptest::collection::vec(
            proptest::sample::select(vec!["last ", "week", " ago", "three ", "上", "周", "三", "个", "月", "前", "99999 ", "days ", "2023", "年", "初", "the "]), 0..12),
            day in -262_000i32..262_000) {
            let today = NaiveDate::from_ymd_opt(day, 12, 31).unwrap();
            for text in [text, words.concat()] {
                let read = readings(&text, today);
                for pair in read.windows(2) {
                    prop_assert!(pair[0].words.end <= pair[1].words.start);
                }
                for reading in &read {
                    prop_assert!(text.get(reading.words.clone()).is_some());
                    prop_assert!(reading.days.0 <= reading.days.1);
                }
            }
        }
    }
}
