//! Numbers and days of a text: what tells one record of a form from the next.

use std::collections::BTreeSet;

/// Names of days and months that are nothing else. (`may` and `march` are verbs as well.)
#[rustfmt::skip]
const NAMES: [&str; 17] = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "april", "june",
    "july", "august", "september", "october", "november", "december",
];
const DIGITS: [char; 12] = ['一', '二', '三', '四', '五', '六', '七', '八', '九', '十', '日', '天'];

/// Numbers, dates, versions and names of days: runs of digits with inner `.`, `-`, `:`, `/`;
/// weekdays and months in English and Chinese. Linear.
pub(super) fn numbers(text: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let mut run = String::new();
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_numeric() || (!run.is_empty() && matches!(c, '.' | '-' | ':' | '/')) {
            run.push(c);
        } else if !run.is_empty() {
            out.insert(run.trim_end_matches(['.', '-', ':', '/']).to_owned());
            run.clear();
        }
        if c.is_ascii_alphabetic() {
            word.push(c.to_ascii_lowercase());
        } else if !word.is_empty() {
            if is_name(&word) {
                out.insert(word.clone());
            }
            word.clear();
        }
    }
    out.extend(chinese_days(text));
    out
}

/// Whether a word names a day of the week or a month.
pub(super) fn is_name(word: &str) -> bool {
    NAMES.contains(&word)
}

/// Of [`numbers`], those that name a day or a month: `2026-02`, `2026/2/1`, `1.2.2026`, `20260201`,
/// `friday`, `周五`.
pub(super) fn days(numbers: &BTreeSet<String>) -> BTreeSet<String> {
    numbers.iter().filter_map(|n| day(n)).collect()
}

fn day(number: &str) -> Option<String> {
    if !number.starts_with(|c: char| c.is_numeric()) {
        return Some(number.to_owned());
    }
    let parts: Vec<&str> = number.split(['-', '/', '.']).collect();
    let is_year = |s: &str| s.len() == 4 && (s.starts_with("19") || s.starts_with("20"));
    let is_month = |s: &str| s.len() <= 2 && s.parse::<u8>().is_ok_and(|n| (1..=12).contains(&n));
    let is_day = |s: &str| s.len() <= 2 && s.parse::<u8>().is_ok_and(|n| (1..=31).contains(&n));
    match parts.as_slice() {
        [y, m, d, ..] if is_year(y) && is_month(m) && is_day(d) => Some(format!("{y}-{m:0>2}-{d:0>2}")),
        [y, m, ..] if is_year(y) && is_month(m) => Some(format!("{y}-{m:0>2}")),
        [d, m, y, ..] if is_year(y) && is_month(m) && is_day(d) => Some(format!("{y}-{m:0>2}-{d:0>2}")),
        [one] if one.len() == 8 && one.is_ascii() => {
            let (y, rest) = one.split_at_checked(4)?;
            let (m, d) = rest.split_at_checked(2)?;
            (is_year(y) && is_month(m) && is_day(d)).then(|| format!("{y}-{m}-{d}"))
        }
        _ => None,
    }
}

/// `周五`, `星期五`, `二月`, `三日`, `十二号` in Chinese digits.
fn chinese_days(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let digit = |c: Option<&char>| c.is_some_and(|c| DIGITS.contains(c));
    let mut out = Vec::new();
    for (at, c) in chars.iter().enumerate() {
        match c {
            '周' | '期' if digit(chars.get(at + 1)) && (*c == '周' || at > 0 && chars.get(at - 1) == Some(&'星')) =>
            {
                out.extend(chars.get(at + 1).map(|day| format!("周{day}")));
            }
            '月' | '号' | '日' => {
                let from = (at.saturating_sub(3)..at).rev().take_while(|i| chars.get(*i).is_some_and(is_digit)).last();
                if let Some(run) = from.and_then(|from| chars.get(from..=at)) {
                    out.push(run.iter().collect());
                }
            }
            _ => {}
        }
    }
    out
}

fn is_digit(c: &char) -> bool {
    DIGITS.get(..10).is_some_and(|digits| digits.contains(c))
}

/// Each has one that the other lacks: two records of one form, not one thing twice. More detail is
/// no contradiction.
pub(super) fn contradict(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    !a.is_subset(b) && !b.is_subset(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_with_their_inner_marks() {
        let got: Vec<_> =
            numbers("1.2 bar, on 2026-01-10. At 10:30 on Friday, v1.2.3. 周五，十二月三日").into_iter().collect();
        assert_eq!(got, ["1.2", "1.2.3", "10:30", "2026-01-10", "friday", "三日", "十二月", "周五"]);
    }

    #[test]
    fn days_are_told_from_other_numbers() {
        let got = |text: &str| days(&numbers(text)).into_iter().collect::<Vec<_>>();
        assert_eq!(got("2026-1-3 20260103 3.1.2026 2026/01"), ["2026-01", "2026-01-03"]);
        assert_eq!(got("note 0412 v1.2.3 12345678 2026"), Vec::<String>::new());
    }

    #[test]
    fn more_detail_is_no_contradiction() {
        let set = |s: &str| numbers(s);
        assert!(contradict(&set("1.2"), &set("1.7")));
        assert!(!contradict(&set("1.2"), &set("1.2 and 7")));
        assert!(!contradict(&set(""), &set("7")));
    }
}
