//! The day that a sentence names, seen from the day of its note, in English and Chinese.

use chrono::{Datelike as _, Days, Months, NaiveDate, Weekday};

/// The first day in `text` that can be told: absolute (`2026-12-05`, `5 December`, `12月5日`) or relative to
/// `from` (`tomorrow`, `next Friday`, `in two weeks`, `下周三`, `三天后`). A weekday without `next` is the
/// first one behind `from`; a day of the year that is over this year is the next year's.
pub(super) fn named_day(text: &str, from: NaiveDate) -> Option<NaiveDate> {
    english(text, from).or_else(|| chinese(text, from))
}

fn english(text: &str, from: NaiveDate) -> Option<NaiveDate> {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).filter(|word| !word.is_empty()).collect();
    (0..words.len()).find_map(|at| {
        let word = *words.get(at)?;
        let before = at.checked_sub(1).and_then(|i| words.get(i)).copied().unwrap_or_default();
        let after = words.get(at + 1).copied().unwrap_or_default();
        if let Ok(day) = word.parse::<NaiveDate>() {
            return Some(day);
        }
        if let Some(weekday) = weekday(word) {
            return match before {
                "next" => in_next_week(weekday, from),
                "on" | "by" | "this" | "until" | "till" | "before" | "coming" | "due" => first_after(weekday, from),
                _ => None,
            };
        }
        if let Some(month) = month(word) {
            return day_number(after).or_else(|| day_number(before)).and_then(|day| of_year(month, day, from));
        }
        match (word, after) {
            ("tomorrow", _) => from.checked_add_days(Days::new(1)),
            ("today" | "tonight", _) => Some(from),
            ("next", "week") => in_next_week(Weekday::Mon, from),
            ("next", "month") => from.with_day(1)?.checked_add_months(Months::new(1)),
            ("in", number) => {
                let count = count(number)?;
                match words.get(at + 2)?.trim_end_matches('s') {
                    "day" => from.checked_add_days(Days::new(count)),
                    "week" => from.checked_add_days(Days::new(count * 7)),
                    "month" => from.checked_add_months(Months::new(u32::try_from(count).ok()?)),
                    _ => None,
                }
            }
            _ => None,
        }
    })
}

fn weekday(word: &str) -> Option<Weekday> {
    // Three letters alone are words of their own (`sun`, `sat`, `mon`).
    (word.len() > 3 && word.ends_with("day")).then(|| word.parse().ok()).flatten()
}

fn month(word: &str) -> Option<u32> {
    // `may` and `march` are verbs; a number beside them is asked for anyway.
    word.parse::<chrono::Month>().ok().map(|month| month.number_from_month())
}

fn day_number(word: &str) -> Option<u32> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ending = word.get(digits.len()..)?;
    let day: u32 = digits.parse().ok()?;
    (matches!(ending, "" | "st" | "nd" | "rd" | "th") && (1..=31).contains(&day)).then_some(day)
}

fn count(word: &str) -> Option<u64> {
    const WORDS: [&str; 11] = ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let number = match word {
        "a" | "an" => Some(1),
        _ => WORDS.iter().position(|w| *w == word && !w.is_empty()).and_then(|n| u64::try_from(n).ok()),
    };
    number.or_else(|| word.parse().ok()).filter(|n| (1..=366).contains(n))
}

fn chinese(text: &str, from: NaiveDate) -> Option<NaiveDate> {
    let days = |n: u64| from.checked_add_days(Days::new(n));
    let after = |cue: &str| text.split_once(cue).map(|(_, rest)| rest);
    if let Some(day) = month_and_day(text, from) {
        return Some(day);
    }
    for (cue, n) in [("大后天", 3), ("后天", 2), ("明天", 1), ("今晚", 0), ("今天", 0)] {
        if text.contains(cue) {
            return days(n);
        }
    }
    for week in ["周", "星期", "礼拜"] {
        if let Some(rest) = after(&format!("下{week}")).or_else(|| after(&format!("下个{week}"))) {
            // `下周的`, `下周第一件` say which week, not when.
            if rest.starts_with(['的', '第']) {
                continue;
            }
            return in_next_week(rest.chars().next().and_then(chinese_weekday).unwrap_or(Weekday::Mon), from);
        }
    }
    for week in ["周", "星期", "礼拜"] {
        let named = text.match_indices(week).find_map(|(at, _)| {
            let before = text.get(..at)?.chars().next_back();
            let day = chinese_weekday(text.get(at + week.len()..)?.chars().next()?)?;
            (!matches!(before, Some('上' | '每'))).then_some(day)
        });
        if let Some(day) = named {
            return first_after(day, from);
        }
    }
    if text.contains("下个月") || text.contains("下月") {
        return from.with_day(1)?.checked_add_months(Months::new(1));
    }
    for (unit, length) in [("天后", 1), ("天之后", 1), ("周后", 7), ("个星期后", 7), ("星期后", 7)] {
        if let Some((before, _)) = text.split_once(unit) {
            return chinese_number(before).and_then(|n| days(n * length));
        }
    }
    None
}

/// `12月5日`, `12月5号`.
fn month_and_day(text: &str, from: NaiveDate) -> Option<NaiveDate> {
    let (before, rest) = text.split_once('月')?;
    let month = u32::try_from(chinese_number(before)?).ok()?;
    let digits: String =
        rest.chars().take_while(|c| c.is_ascii_digit() || "一二三四五六七八九十".contains(*c)).collect();
    let ends = rest.get(digits.len()..)?.starts_with(['日', '号']);
    let day = u32::try_from(chinese_number(&digits)?).ok()?;
    ends.then(|| of_year(month, day, from)).flatten()
}

/// The number at the end of `text`, in digits or up to ninety-nine in words.
fn chinese_number(text: &str) -> Option<u64> {
    let tail: String = {
        let reversed: String =
            text.chars().rev().take_while(|c| c.is_ascii_digit() || "一二两三四五六七八九十".contains(*c)).collect();
        reversed.chars().rev().collect()
    };
    if let Ok(number) = tail.parse::<u64>() {
        return Some(number).filter(|n| (1..=366).contains(n));
    }
    let digit = |c: char| match c {
        '两' => Some(2),
        c => "一二三四五六七八九".chars().position(|d| d == c).and_then(|n| u64::try_from(n + 1).ok()),
    };
    match tail.split_once('十') {
        None => (tail.chars().count() == 1).then(|| tail.chars().next().and_then(digit)).flatten(),
        Some((tens, ones)) => {
            let tens = if tens.is_empty() { 1 } else { digit(tens.chars().next()?)? };
            let ones = if ones.is_empty() { 0 } else { digit(ones.chars().next()?)? };
            Some(tens * 10 + ones)
        }
    }
}

fn chinese_weekday(c: char) -> Option<Weekday> {
    Some(match c {
        '一' => Weekday::Mon,
        '二' => Weekday::Tue,
        '三' => Weekday::Wed,
        '四' => Weekday::Thu,
        '五' => Weekday::Fri,
        '六' => Weekday::Sat,
        '日' | '天' => Weekday::Sun,
        _ => return None,
    })
}

fn in_next_week(weekday: Weekday, from: NaiveDate) -> Option<NaiveDate> {
    let monday = u64::from(7 - from.weekday().num_days_from_monday());
    from.checked_add_days(Days::new(monday + u64::from(weekday.num_days_from_monday())))
}

fn first_after(weekday: Weekday, from: NaiveDate) -> Option<NaiveDate> {
    let ahead = (weekday.num_days_from_monday() + 7 - from.weekday().num_days_from_monday()) % 7;
    from.checked_add_days(Days::new(if ahead == 0 { 7 } else { u64::from(ahead) }))
}

fn of_year(month: u32, day: u32, from: NaiveDate) -> Option<NaiveDate> {
    let this = NaiveDate::from_ymd_opt(from.year(), month, day)?;
    if this >= from { Some(this) } else { NaiveDate::from_ymd_opt(from.year().checked_add(1)?, month, day) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_told_from_the_day_of_the_note() {
        // A Monday.
        let from: NaiveDate = "2026-11-30".parse().unwrap();
        for (text, day) in [
            ("The report is due 2026-12-24.", "2026-12-24"),
            ("Call Ana tomorrow.", "2026-12-01"),
            ("Send it by Friday.", "2026-12-04"),
            ("We meet next Friday.", "2026-12-11"),
            ("Ask again on Monday.", "2026-12-07"),
            ("Renew it in two weeks.", "2026-12-14"),
            ("The lease ends on 5 March.", "2027-03-05"),
            ("December 12th is the deadline.", "2026-12-12"),
            ("下周三要交报告。", "2026-12-09"),
            ("周五之前给妈妈打电话。", "2026-12-04"),
            ("三天后复查。", "2026-12-03"),
            ("十二月五号到期。", "2026-12-05"),
            ("12月24日要续费。", "2026-12-24"),
            ("后天去拿包裹。", "2026-12-02"),
        ] {
            assert_eq!(named_day(text, from).map(|d| d.to_string()).as_deref(), Some(day), "{text}");
        }
        for text in [
            "Mondays are busy.",
            "It may rain.",
            "The sun is out.",
            "每周五开会。",
            "写下周第一件要做的事。",
            "上周三交了。",
            "a month in the country",
        ] {
            assert_eq!(named_day(text, from), None, "{text}");
        }
    }
}
