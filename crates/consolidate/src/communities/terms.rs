//! Terms as a person writes them: the usual form of an English word, and whole Chinese words.

use std::collections::BTreeMap;

use dormouse_vault::text::is_cjk;

/// What words of one meaning have in common: an English word without its inflection. Other words
/// stay as they are.
pub(super) fn stem(word: &str) -> &str {
    if !word.is_ascii() {
        return word;
    }
    let mut root = word;
    for (ending, least) in [("ings", 4), ("ing", 4), ("ies", 3), ("ied", 3), ("ed", 4), ("es", 4), ("s", 3)] {
        if let Some(rest) = word.strip_suffix(ending).filter(|rest| rest.len() >= least && !rest.ends_with('s')) {
            // stopped, running
            let mut ends = rest.bytes().rev();
            let doubled = ending.len() > 1 && ends.next().zip(ends.next()).is_some_and(|(a, b)| a == b && a != b'l');
            root = if doubled { rest.get(..rest.len() - 1).unwrap_or(rest) } else { rest };
            break;
        }
    }
    // query and queries, make and making
    root.strip_suffix(['e', 'y', 'i']).filter(|rest| rest.len() >= 3).unwrap_or(root)
}

/// Whether a word can stand in a label: two letters at least, no fewer letters than digits, and more
/// than a denial.
pub(super) fn is_telling(word: &str) -> bool {
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    !is_denial(word)
        && letters >= 2
        && letters >= digits
        && !word.contains('_')
        && !word.chars().any(|c| PARTICLES.contains(c))
}

/// Whether a word says no and nothing else.
pub(super) fn is_denial(word: &str) -> bool {
    matches!(word, "not" | "no" | "nor" | "never" | "without" | "cannot")
}

/// Whether two terms of one label say nearly the same: one holds the other, or two Chinese ones
/// share a pair of characters.
pub(super) fn are_twins(a: &str, b: &str) -> bool {
    if !a.chars().any(is_cjk) || !b.chars().any(is_cjk) {
        let (a, b) = (a.to_lowercase(), b.to_lowercase());
        let (short, long) = if a.len() < b.len() { (&a, &b) } else { (&b, &a) };
        return stem(&a) == stem(&b) || (stem(short).len() >= 4 && long.starts_with(stem(short)));
    }
    let pairs =
        |s: &str| s.chars().zip(s.chars().skip(1)).map(|(x, y)| [x, y].iter().collect::<String>()).collect::<Vec<_>>();
    pairs(a).iter().any(|pair| b.contains(pair.as_str()))
}

/// `term`, a lower-case content word or a Chinese pair, as the texts have it; `None` when it is no
/// word: a pair that straddles two.
pub(super) fn as_written(term: &str, texts: &[String]) -> Option<String> {
    if term.chars().all(is_cjk) { whole_word(term, texts) } else { Some(usual_form(term, texts)) }
}

/// The most frequent form of the word: lower-case if it is ever written so, or stands in capitals
/// only where a sentence begins.
fn usual_form(term: &str, texts: &[String]) -> String {
    let root = stem(term);
    let mut forms: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
    let mut places = 0;
    for text in texts {
        if places >= PLACES {
            break;
        }
        let mut within = false;
        for word in text.split_inclusive(|c: char| (is_cjk(c) || !c.is_alphanumeric()) && c != '\'') {
            let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric() || is_cjk(c));
            let first = root.chars().next();
            let begins = bare.chars().next().is_some_and(|c| Some(c) == first || c.to_lowercase().next() == first);
            let lower = if begins { bare.to_lowercase() } else { String::new() };
            if begins && stem(&lower) == root && !is_denial(&lower) {
                let form = forms.entry(bare).or_insert((0, false));
                form.0 += 1;
                form.1 |= within;
                places += 1;
            }
            if !bare.is_empty() {
                within = word.ends_with([' ', ',']) && bare.chars().next().is_some_and(char::is_alphanumeric);
            }
        }
    }
    let lower = |form: &str| !form.chars().any(char::is_uppercase);
    let name = |form: &str, within: bool| within || form.chars().skip(1).any(char::is_uppercase);
    let any_lower = forms.keys().any(|form| lower(form));
    let fitting = forms.iter().filter(|(form, seen)| if any_lower { lower(form) } else { name(form, seen.1) });
    let best = fitting.max_by(|a, b| a.1.0.cmp(&b.1.0).then(b.0.len().cmp(&a.0.len())).then(b.0.cmp(a.0)));
    best.map_or_else(|| term.to_owned(), |(form, _)| (*form).to_owned())
}

/// Characters that join Chinese words and belong to none.
pub(super) const PARTICLES: &str =
    "的了是在和与也就都而及或我你他她它谁这那有不把被让给对从到为以着过里个们之其于等每很再还又并但若如所将会能要";
/// Common words with such a character in them: beside it the other one is a piece of this word, and of
/// no other.
const JOINED: &[&str] = &[
    "要求", "需要", "重要", "主要", "必要", "简要", "摘要", "概要", "纪要", "要点", "要素", "能力", "能够", "功能",
    "性能", "可能", "智能", "会议", "会话", "会员", "社会", "机会", "对象", "对比", "对话", "对应", "针对", "校对",
    "反对", "核对", "可以", "所以", "以及", "以后", "以前", "目的", "了解", "其他", "其中", "过程", "过去", "过期",
    "过滤", "通过", "超过", "为了", "认为", "行为", "作为", "成为", "因为", "从而", "和平", "与其", "参与", "被动",
    "让步", "给予", "到达", "达到", "得到", "收到", "里程", "之前", "之后", "等待", "等级", "等于", "平等", "再次",
    "还原", "归还", "个人", "整个", "各个", "所有", "场所", "或者", "在线", "存在", "现在", "正在", "是否", "但是",
    "就绪", "成就", "有效", "没有", "只有", "具有", "不同", "不断", "不足", "不变", "把握", "着手", "由于", "关于",
    "对于", "用于", "基于", "而且", "然而", "及时", "涉及", "如果", "例如", "并行", "合并", "并发", "并且", "我们",
    "你们", "他们", "将来", "即将", "每天", "每次", "每周", "很多", "这样", "这里", "那么", "那里", "也许", "都市",
];
/// The longest word that a pair grows to, in characters.
const LONGEST: usize = 6;
/// Places that are looked at.
const PLACES: usize = 300;
/// How often the longer word has to occur where the pair does, and how often the same neighbour may
/// stand beside a whole word.
const SHARE: f64 = 0.6;

/// A window around a pair, wherever it stands.
#[derive(Default)]
struct Window {
    places: usize,
    before: BTreeMap<char, usize>,
    after: BTreeMap<char, usize>,
}

/// The word that a pair of characters is a part of: the longest stretch around it that occurs
/// almost as often as the pair itself and whose neighbours on both sides vary (boundary entropy, in
/// its simplest form: no neighbour stands there in more than three of five places).
fn whole_word(pair: &str, texts: &[String]) -> Option<String> {
    let mut windows: BTreeMap<String, Window> = BTreeMap::new();
    let mut places = 0;
    let inside = |c: char| is_cjk(c) && !PARTICLES.contains(c);
    let joined = |a: char, b: char| JOINED.contains(&[a, b].iter().collect::<String>().as_str());
    for text in texts {
        for (at, found) in text.match_indices(pair) {
            places += 1;
            if places > PLACES {
                break;
            }
            let (head, tail) = (text.get(..at)?, text.get(at + found.len()..)?);
            let piece = |a: Option<char>, b: Option<char>| a.zip(b).is_some_and(|(a, b)| joined(a, b));
            if piece(head.chars().next_back(), found.chars().next())
                || piece(found.chars().next_back(), tail.chars().next())
            {
                continue;
            }
            let before: Vec<char> = head
                .chars()
                .rev()
                .zip(head.chars().rev().skip(1).map(Some).chain([None]))
                .take(LONGEST)
                .take_while(|(c, outer)| inside(*c) && !outer.is_some_and(|outer| !inside(outer) && joined(outer, *c)))
                .map(|(c, _)| c)
                .collect();
            let after: Vec<char> = tail
                .chars()
                .zip(tail.chars().skip(1).map(Some).chain([None]))
                .take(LONGEST)
                .take_while(|(c, outer)| inside(*c) && !outer.is_some_and(|outer| !inside(outer) && joined(*c, outer)))
                .map(|(c, _)| c)
                .collect();
            let spare = LONGEST.saturating_sub(pair.chars().count());
            for left in 0..=before.len().min(spare) {
                for right in 0..=after.len().min(spare - left) {
                    let head = before.iter().take(left).rev();
                    let word: String =
                        head.copied().chain(found.chars()).chain(after.iter().take(right).copied()).collect();
                    let window = windows.entry(word).or_default();
                    window.places += 1;
                    if let Some(c) = before.get(left) {
                        *window.before.entry(*c).or_insert(0) += 1;
                    }
                    if let Some(c) = after.get(right) {
                        *window.after.entry(*c).or_insert(0) += 1;
                    }
                }
            }
        }
    }
    let places = places.min(PLACES) as f64;
    let varied = |side: &BTreeMap<char, usize>, all: usize| side.values().all(|n| *n as f64 <= SHARE * all as f64);
    let words = windows.into_iter().filter(|(word, window)| {
        // What stands there once is no more than what happens to stand there.
        (window.places > 1 || pair.chars().count() == word.chars().count())
            && window.places as f64 >= SHARE * places
            && varied(&window.before, window.places)
            && varied(&window.after, window.places)
    });
    words.map(|(word, _)| word).max_by(|a, b| a.chars().count().cmp(&b.chars().count()).then(b.cmp(a)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(term: &str, text: &str) -> String {
        as_written(term, &[text.to_owned()]).unwrap_or_else(|| "–".to_owned())
    }

    #[test]
    fn chinese_pairs_grow_to_the_word_that_they_are_a_part_of() {
        let text = "审计页要短。审计页在手机上。编辑器里的审计页。新审计页";
        assert_eq!(written("计页", text), "审计页");
        assert_eq!(written("审计", text), "审计页");
        assert_eq!(written("手机", text), "–");
        assert_eq!(written("手机", &format!("{text}，手机。")), "手机");
    }

    #[test]
    fn a_pair_that_straddles_two_words_is_none() {
        let text = "全文检索慢。检索要快，索引要小。全文索引，检索引擎。检索索引。向量检索，倒排索引。";
        assert_eq!(written("检索", text), "检索");
        assert_eq!(written("索引", text), "索引");
        assert_eq!(written("文检", text), "–");
        assert_eq!(written("索索", text), "–");
    }

    #[test]
    fn a_piece_of_a_word_that_is_none_itself_is_cut_off() {
        let text = "团队要求审计页短小。客户要求审计页清楚。";
        assert_eq!(written("审计", text), "审计页");
        assert_eq!(written("求审", text), "–");
        let text = "备份需要验证。恢复备份需要时间。";
        assert_eq!(written("备份", text), "备份");
        assert_eq!(written("份需", text), "–");
        assert_eq!(written("记录", "会议记录归档。会议记录公开。"), "记录");
    }

    #[test]
    fn english_words_stand_in_their_usual_form() {
        assert_eq!(written("deploy", "Deploys fail. Deploys again, deploy"), "deploy");
        assert_eq!(written("deploy", "Deploys fail when deploys run"), "deploys");
        assert_eq!(written("bm25", "BM25 wins. We chose BM25."), "BM25");
        assert_eq!(written("dormouse", "We build Dormouse for agents."), "Dormouse");
        assert_eq!(written("fusion", "Fusion by rank."), "fusion");
        assert_eq!(written("kubernete", "on kubernetes"), "kubernetes");
    }

    #[test]
    fn near_twins_are_told() {
        for (a, b) in [("deploy", "deploys"), ("deploy", "deployment"), ("审计页", "审计"), ("ranking", "ranked")]
        {
            assert!(are_twins(a, b), "{a} {b}");
        }
        assert!(!are_twins("检索", "索引") && !are_twins("split", "lit") && !are_twins("car", "cargo"));
    }
}
