//! What sounds like something to keep and is none: quoted words, guesses, jokes, what somebody always
//! says, plans that came to nothing, rules of games and stories, what is over tonight.

use super::cues::padded;
use crate::material::Material;

/// A sentence without what it quotes: spans of three words or five Chinese characters and more between
/// quotation marks. Short ones are names.
pub(super) fn unquoted(sentence: &str) -> String {
    let mut out = String::new();
    let mut rest = sentence;
    while let Some(at) = rest.find(['"', '“', '「']) {
        let open = rest.get(at..).and_then(|r| r.chars().next()).unwrap_or('"');
        let close = match open {
            '“' => '”',
            '「' => '」',
            _ => '"',
        };
        let inside = rest.get(at + open.len_utf8()..).unwrap_or("");
        // A quote that goes on in the next sentence ends with this one.
        let end = inside.find(close).unwrap_or(inside.len());
        let span = inside.get(..end).unwrap_or("");
        let long = span.split_whitespace().count() >= 3 || span.chars().filter(|c| !c.is_ascii()).count() >= 5;
        out.push_str(rest.get(..at).unwrap_or(""));
        if !long {
            out.push_str(span);
        }
        rest = inside.get(end..).map_or("", |r| r.strip_prefix(close).unwrap_or(r));
    }
    out.push_str(rest);
    out
}

#[rustfmt::skip]
const GUESS_EN: &[&str] = &[
    "maybe", "perhaps", "possibly", "no idea", "not sure", "hard to say", "i guess", "i suppose", "who knows", "one of these days", "should really", "someday",
    "some day", "if i ever", "if we ever", "haha", "lol", "just kidding", "said nobody", "one says", "the other says", "always said that", "always says that",
    "always say that", "always say", "somebody always", "then i didnt", "then we didnt", "but then i did not", "not to think about", "not think about", "what could go wrong",
];
#[rustfmt::skip]
const GUESS_ZH: &[&str] = &[
    "可能是", "也可能", "也许", "说不定", "不知道", "没查", "没想清楚", "还没定", "再看看", "以后再说", "明天再说", "要不要", "哈哈", "总说", "总是说",
    "评估一下", "没有结果", "没有结论", "后来也没", "后来没", "一个说",
];

/// Whether a sentence takes itself back, guesses, jokes or only repeats a saying.
pub(super) fn is_idle(sentence: &str) -> bool {
    let padded = padded(sentence);
    GUESS_EN.iter().any(|cue| padded.contains(&format!(" {cue} "))) || GUESS_ZH.iter().any(|cue| sentence.contains(cue))
}

/// Whether what was settled is over by tomorrow.
pub(super) fn is_over_soon(sentence: &str) -> bool {
    const ENGLISH: &[&str] =
        &["tonight", "for dinner", "for lunch", "this evening", "this afternoon", "today same time"];
    const CHINESE: &[&str] = &["今晚", "今天中午", "待会", "一会儿"];
    let padded = padded(sentence);
    ENGLISH.iter().any(|cue| padded.contains(&format!(" {cue} "))) || CHINESE.iter().any(|cue| sentence.contains(cue))
}

#[rustfmt::skip]
const STORY_EN: &[&str] = &[
    "dreamt", "i dreamed", "novel", "detective", "board game", "card game", "new game", "flyer", "advert", "advertisement", "commercial", "spam", "horoscope", "joke", "joked",
    "sarcasm", "movie", "film",
];
#[rustfmt::skip]
const STORY_ZH: &[&str] = &["梦见", "做梦", "小说", "主角", "广告", "桌游", "台词", "电视剧", "电影", "笑话", "段子", "玩笑", "星座"];

/// Whether rules in the passage at `index` belong to a story, a game or an advertisement: the event is
/// called so, or it was said up to there.
pub(super) fn is_story(material: &Material, index: usize) -> bool {
    let before = material.passages.iter().take(index + 1).rev().take(3).map(|p| p.text.as_str());
    before.chain([material.name.as_str()]).any(|text| {
        let padded = padded(text);
        STORY_EN.iter().any(|cue| padded.contains(&format!(" {cue} "))) || STORY_ZH.iter().any(|cue| text.contains(cue))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_at_length_is_not_said() {
        assert_eq!(unquoted("It read \"you must call us today\" in red."), "It read  in red.");
        assert_eq!(unquoted("Mark it as \"nit\" first."), "Mark it as nit first.");
        assert_eq!(unquoted("海报上写着“一定要喝某某茶”。"), "海报上写着。");
        assert_eq!(unquoted("\"Never do that."), "");
    }
}
