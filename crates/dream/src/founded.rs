//! What a text may not make up: numbers, days and names that its grounds do not have.
//!
//! A check of form, not of truth: it sees a number that was changed, a person who was put in another's
//! place, a day that nobody named. What can't be told from a common word by its form (a name in lower
//! case, a capital at the start of a sentence without a verb that people do) passes.

use std::collections::BTreeSet;

use chrono::{Datelike, NaiveDate};
use dormouse_vault::text::{content_words, is_cjk};
use unicode_normalization::UnicodeNormalization;

use crate::gate::{figures, figures_in_order, numbers};
use crate::markdown::{folded, plain};
use crate::material::{Material, Passage};

/// The texts that a claim rests on, read once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grounds {
    /// Folded, for what is looked up as it stands.
    text: String,
    words: BTreeSet<String>,
    figures: BTreeSet<String>,
    days: BTreeSet<String>,
    /// The numbers of those days, which only a day may use.
    parts: BTreeSet<String>,
}

/// What is wrong with a claim, as the audit says it.
pub(crate) const NUMBER: &str = "a number that the material does not have";
pub(crate) const DAY: &str = "a day that the material does not have";
pub(crate) const NAME: &str = "a name that the material does not have";

impl Grounds {
    /// Everything that a material says, its name and its day included. Linear.
    pub(crate) fn of(material: &Material) -> Self {
        Self::over(material, material.passages.iter())
    }

    /// What the passages at `indices` say, with what holds for the whole material.
    pub(crate) fn cited(material: &Material, indices: &BTreeSet<usize>) -> Self {
        Self::over(material, indices.iter().filter_map(|i| material.passages.get(*i)))
    }

    fn over<'m>(material: &Material, passages: impl Iterator<Item = &'m Passage>) -> Self {
        let mut grounds = Self::default();
        for passage in passages {
            grounds.add(&passage.text);
            passage.heading.iter().for_each(|heading| grounds.add(heading));
        }
        grounds.add(&material.name);
        material.description.iter().for_each(|text| grounds.add(text));
        material.date.iter().for_each(|day| grounds.add_day(*day));
        grounds
    }

    /// One more text.
    pub(crate) fn add(&mut self, text: &str) {
        let text = plain(text);
        self.words.extend(content_words(&text).into_iter().map(|word| stem(&word)));
        self.figures.extend(figures(&text));
        self.figures.extend(spelled(&text));
        for day in days(&text) {
            self.parts.extend(day.split('-').map(|n| n.trim_start_matches('0').to_owned()));
            self.days.insert(day);
        }
        self.text.push_str(&folded(&text));
        self.text.push(' ');
    }

    fn add_day(&mut self, day: NaiveDate) {
        self.days.insert(day.to_string());
        self.parts.extend([day.year().to_string(), day.month().to_string(), day.day().to_string()]);
    }

    /// A number above twelve, in digits or words, that the grounds do not have.
    pub(crate) fn lacks_number(&self, text: &str) -> bool {
        let spelled = spelled(text).into_iter().filter(|n| n.parse::<u32>().is_ok_and(|n| n > 12));
        let dated = dated_in_words(text);
        let mut all = numbers(text).into_iter().chain(spelled);
        all.any(|n| !(self.figures.contains(&n) || dated && self.parts.contains(&n)))
    }

    /// A count up to twelve that the grounds do not have, while a number of theirs (`evidence`, as it
    /// stands) is missing: it took that one's place. A count alone may be counted.
    pub(crate) fn swaps_count(&self, text: &str, evidence: &str) -> bool {
        let said = figures(text);
        let new = said.iter().any(|n| !self.figures.contains(n) && n.parse::<u32>().is_ok_and(|n| n <= 12));
        new && !dated_in_words(text) && figures(evidence).iter().any(|n| !said.contains(n))
    }

    /// A day of the calendar that the grounds do not have, while one of theirs is missing. A day alone
    /// may be what “yesterday” came out as.
    pub(crate) fn lacks_day(&self, text: &str, cited: &str) -> bool {
        let said = days(text);
        said.iter().any(|day| !self.days.contains(day)) && days(cited).iter().any(|day| !said.contains(day))
    }

    /// A name of somebody or something that the grounds do not have.
    pub(crate) fn lacks_name(&self, text: &str) -> bool {
        latin_names(text).into_iter().any(|name| !self.has_word(&name))
            || chinese_names(text).into_iter().any(|name| !self.text.contains(&name))
    }

    fn has_word(&self, word: &str) -> bool {
        let word = folded(word);
        self.words.contains(&stem(&word)) || self.text.contains(&word)
    }

    /// Whether every number, day and name of `text` stands here.
    pub(crate) fn found(&self, text: &str) -> bool {
        !self.lacks_number(text) && !self.lacks_name(text) && days(text).iter().all(|day| self.days.contains(day))
    }

    /// A title without what it makes up: when a number or name of it is nowhere, the words that stand
    /// nowhere go. `None` when nothing is left.
    pub(crate) fn title(&self, title: &str) -> Option<String> {
        if self.found(title) {
            return Some(title.to_owned());
        }
        let known = |word: &&str| {
            let words: Vec<String> = content_words(word).into_iter().map(|w| stem(&w)).collect();
            if words.is_empty() {
                // A word without meaning of its own stays, a number does not.
                return figures(word).is_empty();
            }
            let some = words.iter().filter(|w| self.words.contains(*w)).count();
            self.found(word) && if word.chars().any(is_cjk) { some > 0 } else { some == words.len() }
        };
        let kept: Vec<&str> = title.split_whitespace().filter(known).collect();
        let says = kept.iter().any(|word| !content_words(word).is_empty());
        says.then(|| kept.join(" "))
    }
}

/// A crude stem: the first six letters of a Latin word. Lets `measured` support `measurement`, though
/// not `decided` support `decision`.
pub(crate) fn stem(word: &str) -> String {
    if word.is_ascii() { word.chars().take(6).collect() } else { word.to_owned() }
}

/// Words that leave a number open.
const VAGUE: &[&str] = &["several", "some", "many", "few", "various", "numerous", "certain", "multiple"];
const VAGUE_ZH: &[&str] = &["若干", "一些", "多少", "许多", "几个", "几天", "数个", "不少"];

/// Whether `text` leaves open what `evidence` has a number for. Linear.
pub(crate) fn is_vaguer(text: &str, evidence: &str) -> bool {
    let (said, told) = (figures(text), figures(evidence));
    let words = |text: &str| {
        text.to_lowercase().split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let (mine, theirs) = (words(text), words(evidence));
    let vague = VAGUE.iter().any(|w| mine.contains(*w) && !theirs.contains(*w))
        || VAGUE_ZH.iter().any(|w| text.contains(w) && !evidence.contains(w));
    vague && (told.iter().any(|n| !said.contains(n)) || !days(evidence).is_subset(&days(text)))
}

/// Whether a number stands more often in `text` than in `evidence`, of which another one is missing.
pub(crate) fn doubles_number(text: &str, evidence: &str) -> bool {
    let (said, told) = (figures_in_order(text), figures_in_order(evidence));
    let count = |of: &[String], n: &String| of.iter().filter(|have| *have == n).count();
    let doubled = said.iter().any(|n| count(&told, n) > 0 && count(&said, n) > count(&told, n));
    doubled && told.iter().any(|n| !said.contains(n))
}

/// Days as `2026-11-30`, whatever the width of the digits.
fn days(text: &str) -> BTreeSet<String> {
    let text: String = text.nfkc().collect();
    let is_day = |run: &&str| run.len() == 10 && run.parse::<NaiveDate>().is_ok();
    text.split(|c: char| !(c.is_ascii_digit() || c == '-')).filter(is_day).map(str::to_owned).collect()
}

/// Whether a number stands beside the name of a month or day, or before `月`, `日`, `号`, `点`.
fn dated_in_words(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let number =
        |at: Option<usize>| at.and_then(|i| words.get(i)).is_some_and(|w| w.starts_with(|c: char| c.is_ascii_digit()));
    let named = words.iter().enumerate().filter(|(_, word)| MONTHS.contains(word));
    let mut beside = named.map(|(i, _)| number(Some(i + 1)) || number(i.checked_sub(1)) || number(i.checked_sub(2)));
    let counted = ['月', '日', '号', '点'].iter().any(|mark| {
        text.match_indices(*mark).any(|(at, _)| {
            text.get(..at).is_some_and(|before| before.trim_end().ends_with(|c: char| c.is_ascii_digit()))
        })
    });
    counted || beside.any(|beside| beside)
}

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// Numbers that are written in words, from 1: `ninety-nine`, `三十五`. Hundreds and more only in
/// Chinese, and nothing with `万`.
fn spelled(text: &str) -> BTreeSet<String> {
    const ONES: &[&str] = &[
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: &[&str] = &["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let mut out = BTreeSet::new();
    let lower = text.to_lowercase();
    let mut tens: Option<usize> = None;
    for word in lower.split(|c: char| !c.is_alphanumeric()) {
        if let Some(n) = TENS.iter().position(|t| *t == word) {
            out.extend(tens.replace(20 + 10 * n).map(|n| n.to_string()));
        } else if let Some(n) = ONES.iter().position(|o| *o == word) {
            let base = tens.take();
            out.insert(base.filter(|_| n < 10).map_or(n, |tens| tens + n).to_string());
            out.extend(base.filter(|_| n >= 10).map(|n| n.to_string()));
        } else {
            out.extend(tens.take().map(|n| n.to_string()));
        }
    }
    out.extend(tens.map(|n| n.to_string()));
    for run in text.split(|c: char| !"零一二两三四五六七八九十百千万亿".contains(c)) {
        out.extend(chinese_number(run).map(|n| n.to_string()));
    }
    out
}

fn chinese_number(run: &str) -> Option<usize> {
    let (mut sum, mut digit) = (0, None);
    for c in run.chars() {
        let unit = match c {
            '十' => 10,
            '百' => 100,
            '千' => 1000,
            '万' | '亿' => return None,
            c => {
                // Digit after digit is a year or a code.
                if digit.filter(|d| *d != 0).is_some() {
                    return None;
                }
                digit = Some("零一二三四五六七八九".chars().position(|d| d == c).unwrap_or(2));
                continue;
            }
        };
        sum += digit.take().filter(|d| *d != 0).unwrap_or(1) * unit;
    }
    (!run.is_empty()).then_some(sum + digit.unwrap_or(0))
}

/// What people do, behind a name that begins a sentence.
const DOES: &[&str] = &[
    "set",
    "sets",
    "said",
    "says",
    "decided",
    "decides",
    "proposed",
    "proposes",
    "prefers",
    "preferred",
    "wants",
    "wanted",
    "likes",
    "liked",
    "changed",
    "changes",
    "asked",
    "asks",
    "told",
    "tells",
    "signs",
    "signed",
    "agreed",
    "agrees",
    "moved",
    "owns",
    "owned",
    "leads",
    "led",
    "wrote",
    "writes",
    "made",
    "recommended",
    "recommends",
    "suggested",
    "suggests",
    "chose",
    "chooses",
    "lives",
    "lived",
    "bought",
    "works",
    "worked",
    "thinks",
    "thought",
    "believes",
    "approved",
    "approves",
    "confirmed",
    "confirms",
    "reported",
    "reports",
    "insists",
    "insisted",
];

/// Words with a capital that name nobody.
const NOBODY: &[&str] = &["i", "user", "users", "agent", "assistant", "speaker", "superseded", "ok"];

/// Words with a capital inside of a sentence, and those at its start behind which stands what people
/// do. A text in which most words have a capital is a title, and names nobody for certain.
fn latin_names(text: &str) -> Vec<String> {
    let text = plain(text);
    let words: Vec<(bool, &str)> = sentence_words(&text);
    let capital = |word: &str| {
        let mut chars = word.chars();
        chars.next().is_some_and(char::is_uppercase) && chars.any(char::is_lowercase) && !word.chars().any(is_cjk)
    };
    let latin = words.iter().filter(|(_, w)| w.chars().count() > 3 && !w.chars().any(is_cjk));
    let (all, with) = latin.fold((0, 0), |(all, with), (_, w)| (all + 1, with + usize::from(capital(w))));
    let chinese = text.chars().any(is_cjk);
    if !chinese && with * 3 > all * 2 {
        return Vec::new();
    }
    let mut out = Vec::new();
    for (i, (starts, word)) in words.iter().enumerate() {
        let bare = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        let lower = bare.to_lowercase();
        if !capital(bare) || NOBODY.contains(&lower.as_str()) || MONTHS.contains(&lower.as_str()) {
            continue;
        }
        let does = words.get(i + 1).is_some_and(|(starts, next)| !starts && DOES.contains(next));
        if (!starts || does && !content_words(bare).is_empty()) && bare.chars().count() > 1 {
            out.push(bare.to_owned());
        }
    }
    out
}

/// The words of a text, each with whether a sentence or a quotation begins with it.
fn sentence_words(text: &str) -> Vec<(bool, &str)> {
    let mut out = Vec::new();
    let mut starts = true;
    let tokens: Vec<&str> = text.split_whitespace().collect();
    for (i, token) in tokens.iter().enumerate() {
        for word in token.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’' | '_'))) {
            let word = word.trim_matches(['\'', '’']);
            if word.is_empty() {
                continue;
            }
            out.push((starts, word));
            starts = false;
        }
        let ends =
            token.ends_with(['.', '!', '?', ':', ';', '。', '！', '？', '：', '；', '"', '”', '(', '—', '/', '-']);
        let quoted =
            tokens.get(i + 1).is_some_and(|next| next.starts_with(['"', '“', '(', '[', '‘', '\'', '`', '*', '「']));
        starts = ends || quoted || token.chars().all(|c| !c.is_alphanumeric());
    }
    out
}

/// Family names that seldom begin another word, the most frequent of the census.
const FAMILIES: &str = "王李张刘陈杨赵黄吴徐孙胡朱郭何罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁沈任姚卢姜崔钟谭陆汪范石廖贾韦付邹熊孟秦阎薛侯雷龙史陶黎贺顾毛郝龚邵钱严覃武戴莫孔向汤林周马高";

/// What stands before a name, and behind it.
const BEFORE: &str = "由和跟与同给让请找问被向是叫，。、；：！？“”（） ,.:;()\"";
const BEHIND: &[&str] = &[
    "把",
    "说",
    "负责",
    "的建议",
    "的意见",
    "的提议",
    "的要求",
    "提出",
    "提议",
    "建议",
    "补充",
    "改的",
    "改成",
    "决定",
    "认为",
    "希望",
    "喜欢",
    "偏好",
    "要求",
    "评审",
    "讨论",
    "主张",
    "确认",
    "担任",
    "主持",
    "告诉",
    "表示",
    "签字",
    "同意",
    "批准",
];

/// Chinese names of two or three characters, where what stands around them says that they are.
fn chinese_names(text: &str) -> Vec<String> {
    let text: Vec<char> = plain(text).chars().collect();
    let mut out = Vec::new();
    for (at, c) in text.iter().enumerate() {
        let opens = at.checked_sub(1).and_then(|i| text.get(i)).is_none_or(|before| BEFORE.contains(*before));
        if !FAMILIES.contains(*c) || !opens {
            continue;
        }
        for len in [3, 2] {
            let Some(name) = text.get(at..at + len).filter(|name| name.iter().all(|c| is_cjk(*c))) else { continue };
            let rest: String = text.iter().skip(at + len).take(4).collect();
            if BEHIND.iter().any(|what| rest.starts_with(what)) {
                out.push(folded(&name.iter().collect::<String>()));
                break;
            }
        }
    }
    out
}
