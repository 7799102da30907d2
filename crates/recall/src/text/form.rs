//! What the form of a block says: who speaks, whether it asks, whether it names things, times and
//! places.

use super::fold::fold;
use crate::index::Marks;

impl Marks {
    /// It ends with a question mark.
    pub const QUESTION: u16 = 1;
    /// It has a time word.
    pub const TIME: u16 = 1 << 1;
    /// It has a preposition of place with a name.
    pub const PLACE: u16 = 1 << 2;
    const ENTITY_SHIFT: u16 = 3;
    /// It is a turn of a dialogue: somebody is said to say it.
    pub const TURN: u16 = 1 << 5;

    /// With one of the constants set.
    #[must_use]
    pub(crate) fn with(self, mark: u16) -> Self {
        Self(self.0 | mark)
    }

    /// Whether one of the constants is set.
    #[must_use]
    pub fn has(self, mark: u16) -> bool {
        self.0 & mark != 0
    }

    /// Names, quoted titles and numbers in it: 0 to 3, where 3 means three or more.
    #[must_use]
    pub fn entities(self) -> u16 {
        self.0 >> Self::ENTITY_SHIFT & 3
    }
}

/// The marks of a block's text: of what is said, without the label of who says it. Linear.
pub(crate) fn marks(text: &str) -> Marks {
    let text = said(text);
    let mut bits = 0;
    if asks(text) {
        bits |= Marks::QUESTION;
    }
    let mut entities = titles(text);
    let mut starts = true;
    let mut place = false;
    for token in tokens(text) {
        let Token::Word(word) = token else {
            starts = true;
            continue;
        };
        let capital = word.chars().next().is_some_and(char::is_uppercase);
        let numeric = word.chars().next().is_some_and(|c| c.is_ascii_digit());
        if numeric || (capital && !starts && !is_first_person(word)) {
            entities += 1;
        }
        if is_time_word(word) {
            bits |= Marks::TIME;
        }
        if capital && place {
            bits |= Marks::PLACE;
        }
        place = matches!(word, "in" | "at" | "to" | "from" | "near") || (place && word == "the");
        starts = false;
    }
    if CHINESE_TIMES.iter().any(|time| text.contains(time)) || has_chinese_date(text) {
        bits |= Marks::TIME;
    }
    if CHINESE_PLACES.iter().any(|place| text.contains(place)) {
        bits |= Marks::PLACE;
    }
    Marks(bits | u16::try_from(entities.min(3)).unwrap_or(3) << Marks::ENTITY_SHIFT)
}

/// A turn without the label of its speaker.
fn said(text: &str) -> &str {
    let label = speaker(text).and_then(|name| text.split_once(name));
    label.map_or(text, |(_, after)| after.trim_start_matches([':', '：', '*', ' ']))
}

/// Whether a text ends with a question; what stands behind it in brackets is no part of it.
fn asks(text: &str) -> bool {
    let mut rest = text.trim_end();
    if let Some(open) = rest.ends_with(']').then(|| rest.rfind('[')).flatten() {
        rest = rest.get(..open).unwrap_or(rest);
    }
    rest.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '”' | '*' | '_' | ')'))
        .ends_with(['?', '？'])
}

/// Titles in quotes: pairs of straight ones, and the openings of the others.
fn titles(text: &str) -> usize {
    text.matches('"').count() / 2 + text.matches(['《', '「', '“']).count()
}

fn is_first_person(word: &str) -> bool {
    word == "I" || word.starts_with("I'") || word.starts_with("I’")
}

enum Token<'a> {
    Word(&'a str),
    /// What a sentence ends with.
    Stop,
}

/// The words of a text with the ends of its sentences.
fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let first = rest.chars().next()?;
            if first.is_alphanumeric() {
                let end = rest.find(|c| !inside(c)).unwrap_or(rest.len());
                let (word, after) = rest.split_at_checked(end)?;
                rest = after;
                return Some(Token::Word(word));
            }
            rest = rest.get(first.len_utf8()..)?;
            if matches!(first, '.' | '!' | '?' | ':' | '…' | '\n' | '"' | '“' | '”') {
                return Some(Token::Stop);
            }
        }
    })
}

#[rustfmt::skip]
const TIMES: &[&str] = &[
    "ago", "april", "august", "autumn", "day", "days", "december", "evening", "fall", "february", "friday", "hours", "january",
    "july", "june", "last", "march", "may", "minutes", "monday", "month", "months", "morning", "next", "november", "october",
    "recently", "saturday", "september", "since", "spring", "summer", "sunday", "thursday", "today", "tomorrow", "tonight",
    "tuesday", "wednesday", "week", "weekend", "weeks", "winter", "year", "years", "yesterday",
];
const CHINESE_TIMES: &[&str] = &[
    "昨天",
    "今天",
    "明天",
    "前天",
    "上周",
    "下周",
    "星期",
    "周末",
    "小时",
    "分钟",
    "上个月",
    "下个月",
    "去年",
    "今年",
    "明年",
];
/// 在 and 于 alone stand in every other sentence.
const CHINESE_PLACES: &[&str] = &["位于", "地处", "坐落", "住在", "来自", "前往", "抵达", "出生于", "设于", "建于"];

/// A number before 年, 月, 日 or 号.
fn has_chinese_date(text: &str) -> bool {
    let mut before = ' ';
    text.chars().any(|c| {
        let counted = before.is_ascii_digit() || "零〇一二三四五六七八九十".contains(before);
        before = c;
        counted && matches!(c, '年' | '月' | '日' | '号')
    })
}

/// Whether a word says when: a year, a month, a day of the week, `last`, `ago`.
pub(crate) fn is_time_word(word: &str) -> bool {
    let year = word.len() == 4
        && (word.starts_with("19") || word.starts_with("20"))
        && word.bytes().all(|b| b.is_ascii_digit());
    year || TIMES.binary_search(&word.to_lowercase().as_str()).is_ok()
}

/// Whether a question asks for a time.
pub(crate) fn asks_when(query: &str) -> bool {
    let query = fold(query);
    let words: Vec<&str> = query.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let pair = |a: &str, b: &[&str]| {
        words.windows(2).any(|w| w.first() == Some(&a) && w.get(1).is_some_and(|x| b.contains(x)))
    };
    words.contains(&"when")
        || pair("how", &["long", "often"])
        || pair("what", &["date", "day", "year", "month", "time"])
        || pair("which", &["date", "day", "year", "month"])
        || ["什么时候", "何时", "多久", "哪天", "哪年", "哪一年", "哪一天", "几号", "几月"]
            .iter()
            .any(|ask| query.contains(ask))
}

/// Whether a question asks for a place.
pub(crate) fn asks_where(query: &str) -> bool {
    let query = fold(query);
    query.split(|c: char| !c.is_alphanumeric()).any(|word| word == "where")
        || ["哪里", "哪儿", "在哪", "何处", "什么地方", "何地"].iter().any(|ask| query.contains(ask))
}

/// The speaker of a dialogue turn: `**Name**: …` or `**Name:** …`, at most 40 characters.
pub(crate) fn speaker(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(['-', '>', ' ', '*']);
    if !text.trim_start_matches(['-', '>', ' ']).starts_with("**") {
        return None;
    }
    let (name, after) = rest.split_once("**")?;
    let inner = name.strip_suffix([':', '：']);
    let speaks = inner.is_some() || after.starts_with([':', '：']);
    let name = inner.unwrap_or(name).trim();
    (speaks && !name.is_empty() && !name.contains('\n') && name.chars().count() <= 40).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_block_is_read() {
        assert!(marks("Did you go? ").has(Marks::QUESTION));
        assert!(marks("你去了吗？").has(Marks::QUESTION));
        assert!(marks("We met in Paris last week.").has(Marks::PLACE));
        assert!(marks("We met in Paris last week.").has(Marks::TIME));
        assert_eq!(marks("It was Harry Potter, 3 times, by Rowling.").entities(), 3);
        assert_eq!(marks("It was fine.").entities(), 0);
        assert!(
            marks("位于日本北部，2003年建成").has(Marks::PLACE) && marks("位于日本北部，2003年建成").has(Marks::TIME)
        );
        assert_eq!(marks("在日本也很常见"), Marks::default());
        assert!(TIMES.is_sorted());
    }

    #[test]
    fn speakers_are_bold_names_before_a_colon() {
        assert_eq!(speaker("**Nate**: Hey"), Some("Nate"));
        assert_eq!(speaker("- **Ann Lee:** hi"), Some("Ann Lee"));
        assert_eq!(speaker("plain: text"), None);
        assert_eq!(speaker("**bold** word"), None);
    }
}
