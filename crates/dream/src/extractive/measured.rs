//! Which sentences give a measured figure.

use dormouse_vault::text::is_cjk;

/// A decimal, a percentage, or a number with a unit; not a time of day, a date or a version.
pub(super) fn is_measured(sentence: &str) -> bool {
    let chars: Vec<char> = sentence.chars().collect();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        if !c.is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        let mut dots = 0;
        while let Some(&c) = chars.get(at) {
            let digit_next = chars.get(at + 1).is_some_and(char::is_ascii_digit);
            match c {
                '0'..='9' => {}
                '.' if digit_next => dots += 1,
                ',' if digit_next => {}
                _ => break,
            }
            at += 1;
        }
        let before = start.checked_sub(1).and_then(|i| chars.get(i)).copied().unwrap_or(' ');
        let rest: String = chars.iter().skip(at).take(12).collect();
        if before.is_alphabetic() && !is_cjk(before) || matches!(before, '-' | ':' | '/' | '_' | '^' | '`') {
            continue;
        }
        if dots == 1 && !rest.starts_with('.') || dots == 0 && has_unit(rest.trim_start()) {
            return true;
        }
    }
    false
}

#[rustfmt::skip]
const UNITS: &[&str] = &[
    "%", "％", "percent", "points", "point", "ms", "milliseconds", "seconds", "second", "mb", "gb", "kb", "tokens", "characters", "times", "x ",
    "倍", "秒", "毫秒", "兆", "分点", "个百分点", "词元", "字节", "天", "条",
];

fn has_unit(rest: &str) -> bool {
    let lower = rest.to_lowercase();
    UNITS.iter().any(|unit| {
        lower.strip_prefix(unit).is_some_and(|after| {
            !unit.is_ascii() || unit.len() == 1 || after.chars().next().is_none_or(|c| !c.is_alphanumeric())
        })
    })
}
