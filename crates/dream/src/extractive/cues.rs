//! Cues: which words say that a sentence is worth keeping, in English and Chinese.

use dormouse_vault::text::is_cjk;

use super::acts::act;
use super::durable::is_durable;
use super::measured::{is_measured, states_figure};
use super::noise::{is_idle, is_over_soon, unquoted};
use crate::material::Material;

/// What kind of statement a sentence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// What was decided, or holds from now on.
    Decision,
    /// Why something happened, and what mended it.
    Cause,
    /// What was learned.
    Lesson,
    /// What must, may not, always, never.
    Rule,
    /// What somebody prefers, wants, dislikes.
    Preference,
    /// A number with a unit that something measured.
    Measure,
    /// How something is done, in one sentence.
    Method,
}

/// A class, and whether it stands for itself. A weak cue counts only beside a strong one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cue {
    pub(super) class: Class,
    pub(super) strong: bool,
}

/// What the heading over a passage says about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// Its items are statements of this class.
    Of(Class),
    /// Its items are steps.
    Steps,
}

const HEADINGS: &[(Section, &[&str], &[&str])] = &[
    (
        Section::Steps,
        &["steps", "procedure", "how to", "checklist", "runbook", "instructions"],
        &["步骤", "流程", "操作方法", "做法", "清单"],
    ),
    (
        Section::Of(Class::Lesson),
        &["learned", "learnt", "lesson", "lessons", "takeaway", "takeaways", "insight", "insights"],
        &["教训", "经验", "学到", "收获", "心得", "启示"],
    ),
    (
        Section::Of(Class::Preference),
        &["preference", "preferences", "wants", "likes", "dislikes", "wishes"],
        &["偏好", "喜好", "习惯", "要求", "期望"],
    ),
    (
        Section::Of(Class::Decision),
        &["decision", "decisions", "decided", "conclusion", "conclusions", "resolution", "agreed"],
        &["决定", "决策", "结论", "约定", "决议"],
    ),
    (
        Section::Of(Class::Cause),
        &["cause", "root cause", "fix", "reason", "reasons"],
        &["原因", "根因", "修复", "解决"],
    ),
    (
        Section::Of(Class::Rule),
        &["rule", "rules", "convention", "conventions", "never", "always"],
        &["规则", "规矩", "规定", "禁忌", "注意事项"],
    ),
    (
        Section::Of(Class::Measure),
        &["finding", "findings", "result", "results", "measurement", "measurements"],
        &["结果", "测量", "发现", "数据"],
    ),
];

/// What the headings over a passage say; the innermost one that says anything counts.
pub(super) fn section(headings: &[String]) -> Option<Section> {
    headings.iter().rev().find_map(|h| heading(h))
}

/// What one heading says. Only short headings count: a long one is a title.
pub(super) fn heading(text: &str) -> Option<Section> {
    let padded = padded(text);
    if padded.split_whitespace().count() > 6 || text.chars().filter(|c| is_cjk(*c)).count() > 8 {
        return None;
    }
    let hit = |english: &[&str], chinese: &[&str]| {
        english.iter().any(|cue| padded.contains(&format!(" {cue} "))) || chinese.iter().any(|cue| text.contains(cue))
    };
    HEADINGS.iter().find(|(_, english, chinese)| hit(english, chinese)).map(|(section, ..)| *section)
}

/// Lower case, words between single blanks, one blank at each end: `contains(" cue ")` finds words.
pub(crate) fn padded(text: &str) -> String {
    let mut out = String::from(" ");
    for c in text.to_lowercase().chars() {
        if c.is_alphanumeric() {
            out.push(c);
        } else if !matches!(c, '\'' | '’') && !out.ends_with(' ') {
            out.push(' ');
        }
    }
    if !out.ends_with(' ') {
        out.push(' ');
    }
    out
}

#[rustfmt::skip]
const PREFER_EN: &[&str] = &[
    "prefers", "prefer", "preferred", "preference", "would rather", "favourite", "favorite", "user wants", "user wanted",
    "user wishes", "user likes", "user liked", "user dislikes", "user disliked", "user expects", "user insists", "user asked for",
    "user asks for", "user does not want", "user doesnt want", "user did not want", "user was clear", "user was firm", "allergic to",
];
#[rustfmt::skip]
const DECIDE_EN: &[&str] = &[
    "decided", "we chose", "i chose", "was chosen", "settled on", "agreed to", "agreed on", "is superseded", "are superseded",
    "supersedes", "superseded by", "replaced by", "from now on", "from today", "as of today", "we will use", "we use", "we do not use",
    "is not offered", "went with", "ruled out", "rejected", "the decision", "switched to", "moved to",
];
#[rustfmt::skip]
const CAUSE_EN: &[&str] = &[
    "the cause", "root cause", "caused by", "the reason", "the fix", "fixed by", "was fixed", "is fixed by", "turned out", "turns out",
    "the bug was", "the problem was", "the trap",
];
const LESSON_EN: &[&str] = &["learned", "learnt", "lesson", "lessons", "takeaway", "in hindsight", "next time"];
const RULE_EN: &[&str] =
    &["must", "must not", "not allowed", "is forbidden", "are forbidden", "under no circumstances", "at all times"];
const RULE_START_EN: &[&str] = &["never", "always", "do not", "dont", "avoid", "make sure", "remember to"];
#[rustfmt::skip]
const WEAK_EN: &[&str] = &[
    "because", "since", "so that", "never", "always", "only", "has to", "have to", "should", "may not", "cannot", "instead of", "no gain",
    "does not", "is not", "are not", "which is why", "no longer", "means that", "holds", "requires", "default",
];
#[rustfmt::skip]
const PREFER_ZH: &[&str] = &["希望", "偏好", "喜欢", "习惯", "强调", "倾向", "更愿意", "讨厌", "不想", "想要", "要求", "过敏"];
const DECIDE_ZH: &[&str] = &[
    "决定",
    "选定",
    "改为",
    "改用",
    "定为",
    "采用",
    "敲定",
    "商定",
    "约定",
    "结论是",
    "确认为",
    "从今天起",
    "取代",
    "作废",
];
const CAUSE_ZH: &[&str] = &["原因", "根因", "起因", "修复方法", "修复:", "修复：", "解决办法", "解决方法", "之所以"];
const LESSON_ZH: &[&str] = &["教训", "学到", "吸取", "下次", "事后看"];
const RULE_ZH: &[&str] =
    &["必须", "不得", "禁止", "绝不", "永远", "从不", "一律", "以后都", "今后", "只能", "务必", "切勿"];
const RULE_START_ZH: &[&str] = &["以后周", "以后每", "不要", "不能", "别", "勿", "总是", "始终", "每次"];
const WEAK_ZH: &[&str] = &[
    "因为",
    "由于",
    "所以",
    "导致",
    "只有",
    "不能",
    "不再",
    "应该",
    "应当",
    "总是",
    "始终",
    "不要",
    "需要",
    "否则",
    "而不是",
];

/// Questions that the user asked, told in a sentence: no statement.
const ASKED: &[&str] = &[
    "asked if",
    "asked why",
    "asked whether",
    "asked how",
    "asked when",
    "asked what",
    "wondered",
    "用户问",
    "问为什么",
    "问了",
];

/// What a sentence is; `None` when nothing speaks for keeping it.
pub(super) fn classify(sentence: &str) -> Option<Cue> {
    let trimmed = sentence.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '”' | ')' | '）'));
    // A question, or what only opens a list.
    if trimmed.ends_with(['?', '？', ':', '：']) {
        return None;
    }
    let padded = padded(sentence);
    if ASKED.iter().any(|cue| padded.contains(&format!(" {cue} ")) || (!cue.is_ascii() && sentence.contains(cue))) {
        return None;
    }
    if about_the_talk(sentence) || begins_a_task(&padded) || is_idle(sentence) {
        return None;
    }
    // What is quoted is not said; an evidence that is a quote alone says nothing.
    let unquoted = unquoted(sentence);
    let (sentence, padded) = (unquoted.as_str(), self::padded(&unquoted));
    let english = |cues: &[&str]| cues.iter().any(|cue| padded.contains(&format!(" {cue} ")));
    let chinese = |cues: &[&str]| cues.iter().any(|cue| sentence.contains(cue));
    let begins = |english: &[&str], chinese: &[&str]| {
        english.iter().any(|cue| padded.starts_with(&format!(" {cue} ")))
            || chinese.iter().any(|cue| sentence.trim_start().starts_with(cue))
    };
    let cue = |class, strong| Some(Cue { class, strong });
    if let Some(class) = label(sentence) {
        return cue(class, true);
    }
    if english(PREFER_EN) || chinese(PREFER_ZH) {
        return cue(Class::Preference, true);
    }
    if begins(RULE_START_EN, RULE_START_ZH) || english(RULE_EN) || chinese(RULE_ZH) {
        return cue(Class::Rule, true);
    }
    if english(DECIDE_EN) || chinese(DECIDE_ZH) {
        return if is_over_soon(sentence) { None } else { cue(Class::Decision, true) };
    }
    if english(CAUSE_EN) || chinese(CAUSE_ZH) {
        return cue(Class::Cause, true);
    }
    if english(LESSON_EN) || chinese(LESSON_ZH) {
        return cue(Class::Lesson, true);
    }
    // The person as an actor is anecdote, unless it was a wish.
    if speaks_of_user(&padded, sentence, true) {
        return None;
    }
    if states_figure(sentence) {
        return cue(Class::Measure, true);
    }
    if let Some(class) = act(sentence).filter(|_| !is_over_soon(sentence)) {
        return cue(class, true);
    }
    if is_durable(sentence) && !is_over_soon(sentence) {
        return cue(Class::Lesson, true);
    }
    if is_measured(sentence) {
        return cue(Class::Measure, false);
    }
    (english(WEAK_EN) || chinese(WEAK_ZH)).then_some(Cue { class: Class::Cause, strong: false })
}

/// `Decision: …`, `教训：…`: a statement that says itself what it is.
fn label(sentence: &str) -> Option<Class> {
    let (label, _) = sentence.split_once([':', '：'])?;
    match heading(label.trim_matches(|c: char| matches!(c, '*' | '_' | ' ')))? {
        Section::Of(class) if label.chars().count() <= 16 => Some(class),
        _ => None,
    }
}

/// Whether the sentence speaks of the person who is served: as its subject, or anywhere.
pub(super) fn speaks_of_user(padded: &str, sentence: &str, subject: bool) -> bool {
    if subject {
        padded.starts_with(" the user ") || padded.starts_with(" user ") || sentence.trim_start().starts_with("用户")
    } else {
        padded.contains(" user ") || padded.contains(" users ") || sentence.contains("用户")
    }
}

/// A statement without the clauses that say what stays as it was.
pub(super) fn what_holds_no_more(text: &str) -> String {
    const STAYS: &[&str] = &["仍然", "不变", "照旧", " still ", " unchanged "];
    text.split_inclusive(['；', '。', ';'])
        .filter(|clause| {
            let padded = padded(clause);
            !STAYS.iter().any(|cue| padded.contains(cue))
        })
        .collect()
}

/// Whether a material is about the person: its name says so, or its description has the person as
/// its subject and their ways as its matter.
pub(super) fn about_person(material: &Material) -> bool {
    if matches!(heading(&material.name), Some(Section::Of(Class::Preference))) {
        return true;
    }
    let about = material.description.as_deref().unwrap_or("");
    let padded = padded(about);
    let ways = ["方式", "偏好", "习惯", "要求"].iter().any(|w| about.contains(w))
        || ["prefers", "preference", "preferences", "wants", "likes", "wishes"]
            .iter()
            .any(|w| padded.contains(&format!(" {w} ")));
    ways && speaks_of_user(&padded, about, true)
}

/// Whether a sentence only starts some work together.
fn begins_a_task(padded: &str) -> bool {
    ["lets", "let us", "shall we", "i want to", "i want a", "i need to"]
        .iter()
        .any(|w| padded.starts_with(&format!(" {w} ")))
}

/// Whether a sentence is about the conversation itself: that something was asked to be kept.
pub(super) fn about_the_talk(sentence: &str) -> bool {
    let padded = padded(sentence);
    let asked = [" user asked for ", " user asks for ", " asked me to "].iter().any(|w| padded.contains(w));
    let kept = [
        " to be kept ",
        " to be remembered ",
        " to be noted ",
        " to be written down ",
        " to keep it ",
        " example above ",
        " note above ",
    ]
    .iter()
    .any(|w| padded.contains(w));
    asked && kept || sentence.contains("用户要求记") || sentence.contains("用户让我记")
}

/// Whether a statement says that an older one holds no more.
pub(super) fn supersedes(text: &str) -> bool {
    const ENGLISH: &[&str] = &[
        "superseded",
        "supersedes",
        "no longer",
        "any more",
        "anymore",
        "replaced",
        "replaces",
        "lowered",
        "raised to",
        "was wrong",
        "is wrong",
        "changed to",
        "become",
        "becomes",
        "instead of",
        "not true",
        "correction",
        "rather than",
    ];
    const CHINESE: &[&str] =
        &["不再", "取代", "作废", "改为", "改成", "改用", "推翻", "更正", "而不是", "降为", "降到", "提高到"];
    let padded = padded(text);
    ENGLISH.iter().any(|cue| padded.contains(&format!(" {cue} "))) || CHINESE.iter().any(|cue| text.contains(cue))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sentence: &str, expected: Option<(Class, bool)>) {
        assert_eq!(classify(sentence).map(|c| (c.class, c.strong)), expected, "{sentence}");
    }

    #[test]
    fn cue_sentences_are_recognised_in_both_languages() {
        check("The cause was the YAML 1.1 reading of short words.", Some((Class::Cause, true)));
        check("The user prefers short answers.", Some((Class::Preference, true)));
        check("Never start a server without asking first.", Some((Class::Rule, true)));
        check("From now on every error message ends with a hint.", Some((Class::Decision, true)));
        check("That cost 7.0 points.", Some((Class::Measure, false)));
        check("Reindexing takes 4 s on 10k notes", Some((Class::Measure, true)));
        check("The timeout of the gateway is 30 seconds.", Some((Class::Measure, true)));
        check("网关的超时是 30 秒。", Some((Class::Measure, true)));
        check("It is 4 seconds.", Some((Class::Measure, false)));
        check("The walk took 40 minutes.", Some((Class::Measure, false)));
        check("原因是那台电脑把文件名存成 NFD。", Some((Class::Cause, true)));
        check("用户希望用中文讨论设计。", Some((Class::Preference, true)));
        check("不要自动删除副本。", Some((Class::Rule, true)));
        check("单字是 90.2%,二元组是 95.8%。", Some((Class::Measure, false)));
    }

    #[test]
    fn anecdotes_and_questions_are_nothing() {
        check("The user made coffee, came back, and it was still linking.", None);
        check("The user asked why blog posts recommend it.", None);
        check("Should we use petgraph?", None);
        check("At a quarter to six the build finished and so did the day.", None);
        check("用户看到 15.6 时以为是笔误。", None);
        check("窗台上的薄荷长得太快。", None);
    }

    #[test]
    fn headings_name_what_stands_under_them() {
        assert_eq!(heading("What we learned"), Some(Section::Of(Class::Lesson)));
        assert_eq!(heading("Steps"), Some(Section::Steps));
        assert_eq!(heading("决定"), Some(Section::Of(Class::Decision)));
        assert_eq!(heading("What the user wants"), Some(Section::Of(Class::Preference)));
        assert_eq!(heading("议题一:写入权限"), None);
    }
}
