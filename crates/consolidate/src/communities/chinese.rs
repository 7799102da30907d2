//! Whole Chinese words without a dictionary: by what stands beside them in the texts.

use std::collections::BTreeMap;

use dormouse_vault::text::is_cjk;

use super::terms::{PLACES, Written};

/// Characters that join words and hardly ever are a part of one: beside them a word ends.
const JOINTS: &str = "的了是在和与也都我你他她它谁这那们";
/// Characters that join words as often as they are a part of one (过 in 过滤, 通过 and 看过): it
/// takes other places to see which.
const EITHER: &str = "就而及或有不把被让给对从到为以着过里个之其于等每很再还又并但若如所将会能要";

/// Words with such a character that a label may have.
const NOUNS: &[&str] = &[
    "会议", "会话", "会员", "会计", "性能", "功能", "智能", "技能", "节能", "能源", "能力", "过滤", "过期", "过程",
    "摘要", "概要", "纪要", "要点", "要素", "对象", "对话", "对齐", "等级", "并发", "并行", "社会", "机会", "里程",
    "个人", "场所", "让步", "还原", "再生", "有效", "所有", "以太", "着色", "从库", "把手", "被子", "将军", "聚会",
];
/// Words with such a character that say too little for a label, and end a word beside them.
const OTHERS: &[&str] = &[
    "要求", "需要", "重要", "主要", "必要", "能够", "可能", "对比", "对应", "针对", "对于", "可以", "所以", "以及",
    "以后", "以前", "以上", "以下", "过去", "通过", "超过", "经过", "不过", "因为", "为了", "从而", "与其", "参与",
    "之前", "之后", "之间", "等待", "等于", "再次", "每个", "各个", "整个", "一个", "或者", "是否", "但是", "还是",
    "没有", "只有", "具有", "拥有", "不同", "不断", "不足", "不能", "不要", "由于", "关于", "基于", "属于", "而且",
    "然而", "及时", "涉及", "如果", "例如", "如何", "并且", "我们", "你们", "他们", "其他", "其中", "其它", "将来",
    "即将", "每天", "每次", "每周", "每月", "很多", "这样", "这里", "这个", "那个", "那么", "那里", "也许", "有关",
];
/// Words with a joint in them that may as well be the end of a word and a joint (问题存在, 保存在).
const DOUBTFUL: &[&str] =
    &["存在", "现在", "正在", "所在", "在线", "在场", "了解", "和平", "总和", "首都", "都市", "是非", "与会"];

/// The longest word that a pair grows to, in characters.
const LONGEST: usize = 6;
/// How often the longer word has to occur where the pair does, and how often the same neighbour may
/// stand beside a whole word.
const SHARE: f64 = 0.6;

fn is_joint(c: char) -> bool {
    JOINTS.contains(c) || EITHER.contains(c)
}

/// Whether `a` and `b`, in this order, are one of `words`.
fn are(words: &[&str], a: char, b: char) -> bool {
    words.iter().any(|word| word.starts_with(a) && word.ends_with(b))
}

/// Whether a character that joins words stands in `word`, and it is none of those that have one.
pub(super) fn is_broken(word: &str) -> bool {
    word.chars().any(is_joint) && !NOUNS.contains(&word)
}

/// What stands at the end of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    /// No Chinese character.
    Open,
    /// Another word begins there.
    Word,
    /// A character that may be the rest of the word, or join it to another.
    Joint(char),
    /// A character that may be the rest of the word.
    Rest(char),
}

/// The text on one side of a pair, from the pair on outwards.
struct Side<'a> {
    chars: &'a [char],
    /// Whether it is read from right to left.
    back: bool,
    /// The pair's own character on this side.
    own: Option<char>,
}

impl Side<'_> {
    fn at(&self, at: usize) -> Option<char> {
        self.chars.get(at).copied().filter(|c| is_cjk(*c))
    }

    /// Whether `near`, which stands next to the pair, and `far` are one of `words`.
    fn are(&self, words: &[&str], near: Option<char>, far: Option<char>) -> bool {
        let (a, b) = if self.back { (far, near) } else { (near, far) };
        a.zip(b).is_some_and(|(a, b)| are(words, a, b))
    }

    /// Whether the pair's own character belongs to a word that has a joint in it.
    fn splits_a_word(&self) -> bool {
        self.are(NOUNS, self.own, self.at(0)) || self.are(OTHERS, self.own, self.at(0))
    }

    /// How many characters a window may take on this side, with what stands behind them then.
    fn reaches(&self) -> Vec<(usize, Edge)> {
        let mut out = Vec::new();
        let mut at = 0;
        while at <= LONGEST {
            let inner = if at == 0 { self.own } else { self.at(at - 1) };
            let (next, after) = (self.at(at), self.at(at + 1));
            let noun = self.are(NOUNS, next, after);
            let other = self.are(OTHERS, next, after);
            let edge = match next {
                None => Edge::Open,
                Some(_) if noun || other => Edge::Word,
                Some(c) if EITHER.contains(c) || self.are(DOUBTFUL, inner, next) => Edge::Joint(c),
                Some(c) if JOINTS.contains(c) => Edge::Word,
                Some(c) => Edge::Rest(c),
            };
            out.push((at, edge));
            at += match next {
                Some(_) if noun => 2,
                Some(c) if !other && !is_joint(c) => 1,
                _ => break,
            };
        }
        out
    }
}

/// A window around a pair, wherever it stands.
#[derive(Debug, Default)]
struct Window {
    places: usize,
    /// Places where no Chinese character stands on either side.
    alone: usize,
    before: BTreeMap<Edged, usize>,
    after: BTreeMap<Edged, usize>,
}

/// A neighbour, and whether it may be a joint.
type Edged = (char, bool);

impl Window {
    fn take(&mut self, before: Edge, after: Edge) {
        self.places += 1;
        self.alone += usize::from(before == Edge::Open && after == Edge::Open);
        for (side, edge) in [(&mut self.before, before), (&mut self.after, after)] {
            match edge {
                Edge::Open | Edge::Word => {}
                Edge::Joint(c) => *side.entry((c, true)).or_insert(0) += 1,
                Edge::Rest(c) => *side.entry((c, false)).or_insert(0) += 1,
            }
        }
    }

    /// Whether no neighbour stands there nearly always. Of a word that is `firm`, joints may.
    fn is_free(&self, firm: bool) -> bool {
        let most = SHARE * self.places as f64;
        let sides = self.before.iter().chain(&self.after);
        sides.filter(|((_, joint), _)| !(firm && *joint)).all(|(_, count)| *count as f64 <= most)
    }
}

/// The word that a pair of characters is a part of: the longest stretch around it that occurs
/// almost as often as the pair itself and whose neighbours on both sides vary (boundary entropy, in
/// its simplest form: no neighbour stands there in more than three of five places). One that is seen
/// to be whole comes before a longer one that is not.
pub(super) fn whole_word(pair: &str, texts: &[String], names: &[String]) -> Option<Written> {
    let (first, last) = (pair.chars().next(), pair.chars().next_back());
    let size = pair.chars().count();
    let mut windows: BTreeMap<String, Window> = BTreeMap::new();
    let mut places = 0_usize;
    for text in texts {
        for (at, found) in text.match_indices(pair) {
            if places == PLACES {
                break;
            }
            places += 1;
            let before: Vec<char> = text.get(..at)?.chars().rev().take(LONGEST + 2).collect();
            let after: Vec<char> = text.get(at + found.len()..)?.chars().take(LONGEST + 2).collect();
            let before = Side { chars: &before, back: true, own: first };
            let after = Side { chars: &after, back: false, own: last };
            if !NOUNS.contains(&pair) && (before.splits_a_word() || after.splits_a_word()) {
                continue;
            }
            let rights = after.reaches();
            for (left, outside) in before.reaches() {
                for &(right, beyond) in rights.iter().filter(|(right, _)| size + left + right <= LONGEST) {
                    let head = before.chars.iter().take(left).rev();
                    let word = head.copied().chain(found.chars()).chain(after.chars.iter().take(right).copied());
                    windows.entry(word.collect()).or_default().take(outside, beyond);
                }
            }
        }
    }
    let words = windows.into_iter().filter_map(|(word, window)| {
        let firm = window.alone > 0 || names.iter().any(|name| begins_or_ends(name, &word));
        // What stands there once is no more than what happens to stand there.
        let often = window.places > 1 || word.as_str() == pair;
        let whole = often && window.places as f64 >= SHARE * places as f64 && window.is_free(firm);
        whole.then_some(Written { term: word, firm })
    });
    words.max_by(|a, b| {
        let size = |word: &Written| word.term.chars().count();
        a.firm.cmp(&b.firm).then(size(a).cmp(&size(b))).then(b.term.cmp(&a.term))
    })
}

/// Whether a run of Chinese characters in `name` begins or ends with `word`, and what is left of it is
/// nothing or long enough for a word.
fn begins_or_ends(name: &str, word: &str) -> bool {
    let long = |rest: &str| rest.is_empty() || rest.chars().nth(1).is_some();
    let ends = |run: &str| run.strip_prefix(word).is_some_and(long) || run.strip_suffix(word).is_some_and(long);
    name.split(|c: char| !is_cjk(c)).any(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written_beside(names: &[&str], term: &str, text: &str) -> String {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        whole_word(term, &[text.to_owned()], &names).map_or_else(|| "–".to_owned(), |written| written.term)
    }

    fn written(term: &str, text: &str) -> String {
        written_beside(&[], term, text)
    }

    #[test]
    fn chinese_pairs_grow_to_the_word_that_they_are_a_part_of() {
        let text = "审计页要短。审计页在手机上。编辑器里的审计页。新审计页";
        assert_eq!(written("计页", text), "审计页");
        assert_eq!(written("审计", text), "审计页");
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
    }

    #[test]
    fn a_word_that_a_joint_follows_is_not_taken_for_a_piece_of_another() {
        // 目的 and 存在 are words too, and neither is meant here.
        assert_eq!(written("项目", "项目的进度。项目的预算。看项目。"), "项目");
        assert_eq!(written("保存", "保存在本地。自动保存。先保存在缓存。保存两份。"), "保存");
    }

    #[test]
    fn an_unlisted_word_with_a_joint_in_it_leaves_no_piece() {
        // 工会 is no word that is known here.
        assert_eq!(written("建工", "新建工会。组建工会。"), "–");
        assert_eq!(written("题存", "问题存在。问题存在已久。"), "–");
    }

    #[test]
    fn words_with_a_joint_that_mean_something_stay_whole() {
        assert_eq!(written("性能", "性能预算。首屏性能。"), "性能");
        assert_eq!(written("会议", "会议记录归档。会议记录公开。"), "会议记录");
        assert_eq!(written("记录", "会议记录归档。会议记录公开。"), "会议记录");
        assert!(is_broken("需要") && is_broken("在手") && !is_broken("性能") && !is_broken("备份"));
    }

    #[test]
    fn what_a_name_begins_or_ends_with_is_a_word_before_a_joint_too() {
        let text = "备份要加密。备份要异地。";
        assert_eq!(written("备份", text), "–");
        assert_eq!(written_beside(&["备份策略"], "备份", text), "备份");
        assert!(begins_or_ends("备份策略", "策略") && !begins_or_ends("备份策略", "份策"));
        assert!(!begins_or_ends("审计页", "审计"));
    }
}
