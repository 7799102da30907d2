//! How much speaks for a sentence to hold beyond its day, where neither a cue word nor its form says so:
//! signs are added and taken away. What compares, sets a bound, names a fault, tells why, or says how
//! things are in general weighs; what is of this day, of a mood, or unsure takes away.

use dormouse_vault::text::is_cjk;

use super::acts::is_past;
use super::cues::padded;
use super::measured::is_measured;
use super::persons::of_household;
use crate::material::Language;

/// So much must speak for a sentence. More in Chinese, where no tense takes away.
const ENOUGH: i32 = 3;
const ENOUGH_OF_CHINESE: i32 = 4;

/// Whether enough speaks for a sentence to be kept for its own sake.
pub(super) fn is_durable(sentence: &str) -> bool {
    weight(sentence) >= if Language::of(sentence) == Language::Chinese { ENOUGH_OF_CHINESE } else { ENOUGH }
}

/// Signs with their weight: each group counts once, whichever of its words stand there.
type Signs = &'static [(i32, &'static [&'static str])];

#[rustfmt::skip]
const ENGLISH: Signs = &[
    // Compares, or says what is the better of two.
    (2, &[
        "more than", "less than", "better", "worse", "best", "worst", "faster", "slower", "fewer", "matters more", "instead", "rather than", "not the", "but not", "even the",
        "twice", "times as",
    ]),
    // Sets a bound or a rule.
    (2, &[
        "must", "has to", "have to", "never", "always", "only", "at most", "at least", "no more than", "limit", "every", "each", "no longer", "any more", "anymore", "needs",
        "need", "requires", "require", "allowed", "once a day", "once a week", "once a month", "twice a week", "from then on", "everything", "anything",
    ]),
    // A condition, under which something is so.
    (1, &["when", "if", "whenever", "unless", "without", "whatever", "until", "as long as", "after opening", "wherever", "while"]),
    // Why, and what follows.
    (2, &["because", "therefore", "so that", "that is why", "thats why", "which is why", "due to", "led to", "leads to", "caused", "causes", "made it", "means"]),
    // Something was wrong, and is not now.
    (2, &[
        "fail", "fails", "failed", "crash", "crashes", "crashed", "broke", "breaks", "stuck", "hangs", "hung", "refused", "refuses", "blocked", "blocks", "could not", "couldnt",
        "cannot", "cant", "ignored", "ignores", "mixed up", "overwritten", "swapped", "expired", "run out", "ran out", "was missing", "were missing", "was empty", "wrong", "broken", "corrupt", "leak", "leaked", "overflow", "deadlock", "duplicate",
        "duplicates", "stale", "outdated", "forgot", "forgotten", "misconfigured", "unused", "collided", "too small",
        "too large", "too long", "too short", "too hot", "too cold", "too old", "wears out",
    ]),
    (2, &[
        "from here on", "from then on", "since then", "ever since", "replaced", "switched", "moved to", "mended", "repaired", "solved", "solves", "cured", "is now", "are now", "helped", "helps", "works", "worked", "fixes", "went away", "disappeared", "stopped happening",
    ]),
    // How it had been before, and what differs from it: the tense of an explanation.
    (2, &["had been", "had never", "had not", "hadnt", "had already", "was still", "were still", "is called", "are called", "stands for"]),
    (1, &["dont", "do not", "doesnt", "does not", "didnt", "did not", "isnt", "is not", "arent", "are not"]),
    // Of a person and their ways.
    (2, &["for me", "im", "i am", "i have", "my wife", "my husband", "allergy", "vegetarian", "vegan", "birthday", "afraid of", "hates", "loves", "likes", "dislikes", "used to", "favourite", "favorite"]),
    // Of this day, of a mood, or unsure.
    (-3, &[
        "today", "tonight", "tomorrow", "yesterday", "this morning", "this evening", "this afternoon", "this week", "next week", "monday", "tuesday", "wednesday", "thursday",
        "friday", "saturday", "sunday", "at noon", "o clock", "in the evening", "in the morning", "for now", "so far", "next one",
    ]),
    (-3, &[
        "maybe", "perhaps", "probably", "might", "somebody", "someone", "i think", "i hope", "i wish", "i wonder", "we will see", "well see", "nobody knows", "unclear", "not yet",
        "no result", "undecided", "funny", "boring", "tired", "nice", "lovely", "sweet", "bored", "annoying", "rumour", "rumor", "heard that",
    ]),
];

#[rustfmt::skip]
const CHINESE: Signs = &[
    (2, &["比", "更", "不如", "而不是", "重要", "最好", "宁可", "反而"]),
    (2, &["必须", "只能", "最多", "至少", "不超过", "一律", "每次", "总要", "就行", "不能", "不要", "都按", "一次", "以内", "需要", "得先"]),
    (1, &["时，", "如果", "只要", "的时候", "之后", "以后", "之前", "除非", "否则", "要是"]),
    (2, &["因为", "所以", "导致", "由于", "因此", "于是", "害得", "造成", "才会",]),
    (2, &["失败", "出错", "卡住", "崩了", "连不上", "打不开", "丢失", "堵", "反了", "覆盖", "过期", "重复", "丢了", "漏了", "错了", "失效", "满了", "空了", "坏了", "太小", "太大", "太长", "太短", "太烫", "太冷", "忘了", "泄漏", "冲突"]),
    (2, &["就好了", "就没事", "解决", "有效", "管用", "改成", "换成", "统一", "去掉", "正常", "恢复了", "修好", "转到", "加上", "换了", "改了", "移到", "挪到"]),
    (2, &["原来", "本来", "一直没", "其实", "叫做", "改名"]),
    (1, &["不再", "，不"]),
    (2, &["我是", "我有", "分不清", "看不清", "听不清", "过敏", "吃素", "害怕", "习惯", "爱吃", "不疼", "搬去", "搬到", "生日"]),
    (-2, &["今天", "今晚", "明天", "昨天", "早上", "晚上", "下午", "中午", "周一", "周二", "周三", "周四", "周五", "周六", "周日", "星期", "下周"]),
    (-3, &["也许", "可能", "大概", "好像", "听说", "不一定", "再看", "还行", "有点", "烦", "无聊", "开心", "挺好", "哈"]),
];

/// What speaks for a sentence, less what speaks against it.
fn weight(sentence: &str) -> i32 {
    let chinese = Language::of(sentence) == Language::Chinese;
    let padded = padded(sentence);
    let sum: i32 = if chinese {
        CHINESE.iter().filter(|(_, cues)| cues.iter().any(|cue| sentence.contains(cue))).map(|(n, _)| n).sum()
    } else {
        let has = |cues: &[&str]| cues.iter().any(|cue| padded.contains(&format!(" {cue} ")));
        ENGLISH.iter().filter(|(_, cues)| has(cues)).map(|(n, _)| n).sum()
    };
    let measured = i32::from(is_measured(sentence) || is_count_of(sentence));
    // "…: …", "…; …": one clause says of the other why or how.
    let joined = i32::from(sentence.trim_end_matches([':', '：', ';', '；', ' ']).contains([':', ';', '：', '；']));
    let clock = sentence.match_indices(':').any(|(at, _)| {
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        digit(sentence.get(..at).and_then(|s| s.chars().last()))
            && digit(sentence.get(at + 1..).and_then(|s| s.chars().next()))
    });
    sum + measured + joined - if clock { 3 } else { 0 }
        + if chinese { of_chinese(sentence) } else { of_english(&padded) }
}

/// Tense, subject and length of an English sentence.
fn of_english(padded: &str) -> i32 {
    let words: Vec<&str> = padded.split_whitespace().collect();
    let first = words.first().copied().unwrap_or("");
    let past = words.iter().any(|w| is_past(w));
    let of_them = !past && words.len() > 4 && of_household(padded);
    let myself = matches!(first, "i" | "we" | "he" | "she" | "they" | "it" | "you" | "this" | "that");
    let general = !past && !myself;
    let short = match words.len() {
        0..=4 => -3,
        5..=7 => -1,
        _ => 0,
    };
    let named = matches!(first, "the" | "a" | "an" | "our" | "my" | "its" | "in" | "with" | "for" | "at" | "without");
    short + if of_them { 1 } else { 0 } + if general { 2 } else { 0 } + i32::from(named)
        - if past && (first == "i" || is_past(first)) { 2 } else { 0 }
}

/// Subject and length of a Chinese sentence.
fn of_chinese(sentence: &str) -> i32 {
    let length = sentence.chars().filter(|c| is_cjk(*c)).count();
    let short = match length {
        0..=5 => -3,
        6..=9 => -1,
        _ => 1,
    };
    let told = ["我们", "他", "她", "大家"].iter().any(|w| sentence.starts_with(w));
    let clauses = sentence.split(['，', '；']).filter(|c| c.chars().count() > 3).count();
    let of_them = of_household(sentence) && !sentence.contains(['了', '过']);
    short + i32::from(of_them) - i32::from(told) + i32::from(clauses >= 2)
}

/// Spelled numbers of hours, days, weeks, degrees and the like.
fn is_count_of(sentence: &str) -> bool {
    const COUNTS: &[&str] =
        &["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twenty", "thirty", "half"];
    const UNITS: &[&str] =
        &["seconds", "minutes", "hours", "hour", "days", "weeks", "months", "degrees", "percent", "metres", "grams"];
    let padded = padded(sentence);
    let words: Vec<&str> = padded.split_whitespace().collect();
    let english = words.windows(2).any(|w| matches!(w, [n, unit] if (COUNTS.contains(n) || n.chars().all(|c| c.is_ascii_digit())) && UNITS.contains(unit)));
    english
        || ["秒", "分钟", "小时", "天", "周", "个月", "度", "倍"].iter().any(|unit| {
            sentence.match_indices(unit).any(|(at, _)| {
                sentence
                    .get(..at)
                    .and_then(|s| s.chars().last())
                    .is_some_and(|c| "一二三四五六七八九十百两半".contains(c))
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_beyond_its_day_weighs_more_than_what_happened_on_it() {
        for sentence in [
            "The lens fogs up when it comes from the cold, so it must warm up for ten minutes.",
            "Screws of brass are better than screws of steel in oak; steel turns the wood black.",
            "相机从冷处拿进来要放十分钟，否则镜头会起雾，因为温差太大。",
        ] {
            assert!(is_durable(sentence), "{sentence}: {}", weight(sentence));
        }
        for sentence in [
            "We had soup today and it was nice.",
            "I went to the market and bought a lamp.",
            "Somebody said that the shop might close.",
            "今天去了趟市场，什么也没买。",
            "听说那家店可能要关门。",
        ] {
            assert!(!is_durable(sentence), "{sentence}: {}", weight(sentence));
        }
    }
}
