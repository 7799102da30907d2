//! What a stated wish is about: wishes about one thing belong into one note.

use super::cues::{padded, speaks_of_user};
use crate::material::Language;

/// Things that people who work together have wishes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Topic {
    /// How answers, reports and figures are given.
    Reports,
    /// What goes into a commit, and how it is described.
    Commits,
    /// What is not done before somebody was asked.
    Consent,
    /// How texts are worded.
    Wording,
    /// How somebody is told of things while they do something else.
    Interruptions,
}

#[rustfmt::skip]
const TOPICS: &[(Topic, &[&str], &[&str])] = &[
    (
        Topic::Consent,
        &["without asking", "asking first", "ask me", "ask first", "asked first", "see the plan before", "said yes to", "my yes", "before agreeing"],
        &["同意之后", "先问", "未经同意", "征得同意", "我同意", "先征求"],
    ),
    (
        Topic::Interruptions,
        &["pop up", "popup", "woken", "notification", "notifications", "interrupt", "interrupted", "remind me", "reminded"],
        &["弹窗", "打扰", "通知", "提醒"],
    ),
    (
        Topic::Wording,
        &["exclamation mark", "exclamation marks", "emoji", "emojis", "wording", "tone of", "punctuation"],
        &["感叹号", "表情符号", "标点", "术语", "措辞", "文风"],
    ),
    (
        Topic::Commits,
        &["commit", "commits", "commit message", "commit messages"],
        &["提交"],
    ),
    (
        Topic::Reports,
        &[
            "answer", "answers", "conclusion", "conclusions", "report", "reports", "table", "tables", "plot", "plots", "chart", "charts",
            "weekly report", "decimal place", "decimal places",
        ],
        &["汇报", "报告", "周报", "周回顾", "结论", "结果表", "图表", "坏消息"],
    ),
];

/// The topic of a wish; `None` when it has none of these, or speaks of somebody other than the user.
pub(super) fn topic(text: &str) -> Option<Topic> {
    let padded = padded(text);
    let other = ["reviewer", "colleague"].iter().any(|w| padded.contains(&format!(" {w} ")))
        || text.contains("评审者")
        || text.contains("同事");
    if other && !speaks_of_user(&padded, text, false) {
        return None;
    }
    TOPICS
        .iter()
        .find(|(_, english, chinese)| {
            english.iter().any(|cue| padded.contains(&format!(" {cue} ")))
                || chinese.iter().any(|cue| text.contains(cue))
        })
        .map(|(topic, ..)| *topic)
}

/// The name of the note in which wishes of this topic gather.
pub(super) fn name(topic: Topic, language: Language) -> &'static str {
    match (topic, language) {
        (Topic::Reports, Language::English) => "How the user wants answers and reports",
        (Topic::Reports, Language::Chinese) => "用户希望的汇报方式",
        (Topic::Commits, Language::English) => "How the user wants commits",
        (Topic::Commits, Language::Chinese) => "用户对提交的要求",
        (Topic::Wording, Language::English) => "How the user wants texts to be worded",
        (Topic::Wording, Language::Chinese) => "用户希望的文字风格",
        (Topic::Interruptions, Language::English) => "How the user wants to be told of things",
        (Topic::Interruptions, Language::Chinese) => "用户希望的通知方式",
        (Topic::Consent, Language::English) => "What the user is asked about first",
        (Topic::Consent, Language::Chinese) => "先征得用户同意的事",
    }
}

/// Whether a name is that of a note in which wishes gather.
pub(super) fn is_name(text: &str) -> bool {
    TOPICS.iter().any(|(topic, ..)| {
        [Language::English, Language::Chinese].into_iter().any(|language| name(*topic, language) == text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_about_one_thing_have_one_topic_in_both_languages() {
        assert_eq!(topic("The user prefers a plot over a table."), Some(Topic::Reports));
        assert_eq!(topic("用户希望报告的第一段先写失败。"), Some(Topic::Reports));
        assert_eq!(topic("用户希望依赖升级单独提交。"), Some(Topic::Commits));
        assert_eq!(topic("Never start a server without asking first."), Some(Topic::Consent));
        assert_eq!(topic("评审者要求审计页的图表在手机上也能读。"), None);
        assert_eq!(topic("The user prefers tea."), None);
    }
}
