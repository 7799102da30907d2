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
        if dots == 1 && !rest.starts_with('.')
            || dots == 0 && [MEASURES, SHARES].iter().any(|units| has_unit(rest.trim_start(), units))
        {
            return true;
        }
    }
    false
}

/// Units of time and size: a statement that gives one stands for itself.
#[rustfmt::skip]
const MEASURES: &[&str] = &[
    "ms", "milliseconds", "s", "seconds", "second", "min", "minutes", "minute", "h", "hours", "hour", "days", "kb", "mb", "gb", "tb", "kib",
    "mib", "gib", "tokens", "characters", "bytes", "km", "kg", "毫秒", "秒", "分钟", "小时", "兆", "字节", "词元", "公里", "公斤",
];

/// What else makes a number a measured one.
#[rustfmt::skip]
const SHARES: &[&str] = &["%", "％", "percent", "points", "point", "times", "x ", "倍", "分点", "个百分点", "天", "条"];

fn has_unit(rest: &str, units: &[&str]) -> bool {
    let lower = rest.to_lowercase();
    units.iter().any(|unit| {
        lower.strip_prefix(unit).is_some_and(|after| {
            !unit.is_ascii() || *unit == "%" || after.chars().next().is_none_or(|c| !c.is_alphanumeric() || is_cjk(c))
        })
    })
}

/// Whether a sentence, in words between blanks, says how much one thing differs from another or from
/// before.
pub(super) fn compares(padded: &str) -> bool {
    let has = |cues: &[&str]| cues.iter().any(|cue| padded.contains(&format!(" {cue} ")));
    has(&["times", "percent", "twice", "half"])
        && has(&["faster", "slower", "smaller", "larger", "cheaper", "longer", "shorter", "more than", "less than"])
        || has(&["it doubled", "doubled in", "halved"]) && padded.contains(|c: char| c.is_ascii_digit())
        || has(&["keeps it under", "keeps it below", "went down to", "brought it down to"])
}

/// Whether the sentence says of something, in the present, how much of a unit of measure it is or
/// takes. A word that points back is no subject.
pub(super) fn states_figure(sentence: &str) -> bool {
    const ENGLISH: &[&str] =
        &[" takes ", " is ", " are ", " take ", " needs ", " uses ", " lasts ", " costs ", " holds "];
    const CHINESE: &[&str] = &["是", "为", "需要", "要", "占", "只要", "有"];
    const BACK: &[&str] =
        &["it", "this", "that", "these", "they", "he", "she", "there", "which", "这", "那", "它", "其"];
    let joints = ENGLISH.iter().chain(CHINESE).flat_map(|joint| sentence.match_indices(joint));
    joints.into_iter().any(|(at, joint)| {
        let subject = sentence.get(..at).unwrap_or("").trim();
        let rest = sentence.get(at + joint.len()..).unwrap_or("").trim_start();
        let rest = ["about ", "at most ", "at least ", "up to ", "only ", "大约", "约", "最多", "至少", "不到"]
            .iter()
            .find_map(|hedge| rest.strip_prefix(hedge))
            .unwrap_or(rest)
            .trim_start();
        let figure = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(rest.len());
        let unit = rest.get(figure..).unwrap_or("").trim_start();
        let lower = subject.to_lowercase();
        let named = subject.chars().filter(|c| c.is_alphabetic()).count() >= 2
            && !BACK.iter().any(|b| if b.is_ascii() { lower == *b } else { lower.starts_with(b) });
        figure > 0 && named && has_unit(unit, MEASURES)
    })
}
