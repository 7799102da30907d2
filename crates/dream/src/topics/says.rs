//! What a sentence does: asks, intends, answers, reports that something is done.

use crate::extractive::padded;

fn any(text: &str, english: &[&str], chinese: &[&str]) -> bool {
    let padded = padded(text);
    english.iter().any(|cue| padded.contains(&format!(" {cue} "))) || chinese.iter().any(|cue| text.contains(cue))
}

/// Whether it ends as a question, or says that something is open.
pub(super) fn asks(sentence: &str) -> bool {
    ends_as_question(sentence)
        || any(sentence, &["open question", "to be decided", "still undecided"], &["待定", "待解决", "还没定"])
}

/// Whether it ends with a question mark.
pub(super) fn ends_as_question(sentence: &str) -> bool {
    sentence.trim_end().trim_end_matches(['"', '”', '」', ')', '）', '*', '_']).ends_with(['?', '？'])
}

/// Whether it leaves a question open: nobody knows, somebody is to be asked.
pub(super) fn is_unsure(sentence: &str) -> bool {
    any(
        sentence,
        &[
            "not sure",
            "no idea",
            "dont know",
            "doesnt know",
            "nobody knows",
            "unclear",
            "not clear",
            "ask",
            "find out",
            "look into",
            "check",
            "maybe",
            "perhaps",
            "undecided",
            "later",
            "not decided",
            "depends",
        ],
        &[
            "不知道",
            "不清楚",
            "不确定",
            "没想好",
            "问一下",
            "问问",
            "查一下",
            "也许",
            "可能",
            "再说",
            "看情况",
            "还没定",
        ],
    )
}

/// Whether it says what somebody is going to do.
pub(super) fn intends(sentence: &str) -> bool {
    any(
        sentence,
        &[
            "will",
            "ill",
            "well",
            "need to",
            "needs to",
            "have to",
            "has to",
            "must",
            "should",
            "going to",
            "remind",
            "follow up",
            "todo",
            "to do",
            "due",
            "deadline",
            "lets",
            "promised",
            "plan to",
            "planning to",
            "want to",
            "appointment",
            "expires",
            "renew",
            "dont forget",
            "remember to",
            "is supposed to",
            "by",
        ],
        &["要", "得", "记得", "提醒", "跟进", "打算", "计划", "截止", "到期", "之前", "约了", "别忘", "该", "准备"],
    )
}

/// Whether it says how things always are, or are wanted: no single day is meant.
pub(super) fn is_standing(sentence: &str) -> bool {
    any(
        sentence,
        &["every", "each", "always", "usually", "whenever", "prefers", "likes to", "wants every"],
        &["每", "总是", "一向", "习惯", "偏好", "用户希望", "用户要求"],
    )
}

/// Whether it says that something is done or off.
pub(super) fn is_done(sentence: &str) -> bool {
    any(
        sentence,
        &[
            "done",
            "finished",
            "sent",
            "fixed",
            "called",
            "paid",
            "renewed",
            "submitted",
            "handed in",
            "shipped",
            "delivered",
            "cancelled",
            "canceled",
            "went",
            "booked",
            "bought",
            "returned",
            "settled",
            "closed",
            "moved",
            "was",
            "were",
            "has been",
            "decided",
        ],
        &[
            "完成", "做完", "搞定", "办好", "交了", "发了", "打了", "付了", "续了", "取消", "已经", "买了", "去了",
            "解决", "定了", "弄好", "好了",
        ],
    )
}
