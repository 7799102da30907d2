//! What was really said: turns without tool chatter, greetings and injected text.

use std::collections::BTreeSet;

use dormouse_model::{Message, Role};
use dormouse_vault::text::{content_words, sentences};

use crate::context::{fenced_parts, without_fenced};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Agent,
}

/// One message's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) message: usize,
    pub(super) speaker: Speaker,
    pub(super) text: String,
}

/// Sentences of at least this many content words are recognised when they come back from the vault.
const INJECTED_WORDS: usize = 5;

/// The turns of a conversation.
pub(super) fn spoken(messages: &[Message]) -> Vec<Turn> {
    let mut injected: BTreeSet<Vec<String>> = BTreeSet::new();
    let mut out = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        for part in fenced_parts(&message.content) {
            remember(part, &mut injected);
        }
        let speaker = match message.role {
            Role::User if !is_ours(&message.content) => Speaker::User,
            Role::Assistant => Speaker::Agent,
            Role::Tool => {
                remember(&message.content, &mut injected);
                continue;
            }
            _ => continue,
        };
        let mut text = without_blobs(&without_fenced(&message.content));
        if speaker == Speaker::Agent {
            text = without_injected(&text, &injected);
            if !message.tool_calls.is_empty() && announces_tool(&text) {
                continue;
            }
        }
        let text = text.trim();
        if !text.is_empty() && !is_phatic(text) {
            out.push(Turn { message: at, speaker, text: text.to_owned() });
        }
    }
    out
}

/// Messages that the loop itself writes in the user's place.
fn is_ours(text: &str) -> bool {
    ["[continue]", "[tool call]", "[Earlier in this conversation", "<TOOL_RESULT"]
        .iter()
        .any(|mark| text.starts_with(mark))
}

fn remember(text: &str, injected: &mut BTreeSet<Vec<String>>) {
    for range in sentences(text) {
        let words = content_words(text.get(range).unwrap_or_default());
        if words.len() >= INJECTED_WORDS {
            injected.insert(words);
        }
    }
}

/// The text without sentences that came from the vault word for word.
fn without_injected(text: &str, injected: &BTreeSet<Vec<String>>) -> String {
    if injected.is_empty() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for range in sentences(text) {
        let sentence = text.get(range.clone()).unwrap_or_default();
        out.push_str(text.get(at..range.start).unwrap_or_default());
        if !injected.contains(&content_words(sentence)) {
            out.push_str(sentence);
        }
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Lines that are data and not words: long runs without a blank, of the base64 alphabet.
fn without_blobs(text: &str) -> String {
    let blob = |line: &str| {
        line.split_whitespace().any(|word| {
            word.len() > 200
                && word.bytes().all(|b| {
                    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_' | b':' | b';' | b',')
                })
        })
    };
    text.lines().filter(|line| !blob(line)).collect::<Vec<_>>().join("\n")
}

/// A short announcement beside a tool call: `Let me check.`
fn announces_tool(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    let starts = [
        "let me ",
        "i'll ",
        "i will ",
        "one moment",
        "checking",
        "looking",
        "searching",
        "reading",
        "让我",
        "我来",
        "我先",
        "我查",
        "我看",
        "稍等",
        "正在",
        "先查",
        "查一下",
        "看一下",
    ];
    starts.iter().any(|s| lower.starts_with(s)) && lower.chars().count() <= 80 && sentences(&lower).len() <= 1
}

/// Greetings, thanks and bare consent: words without a matter.
fn is_phatic(text: &str) -> bool {
    let lower = text.to_lowercase();
    let rest: String = lower.chars().map(|c| if c.is_alphanumeric() || c == '\'' { c } else { ' ' }).collect();
    let mut rest = format!(" {} ", rest.split_whitespace().collect::<Vec<_>>().join(" "));
    for phrase in PHATIC_ENGLISH {
        rest = rest.replace(&format!(" {phrase} "), " ");
    }
    let mut rest = rest.trim().to_owned();
    for phrase in PHATIC_CHINESE {
        rest = rest.replace(phrase, "");
    }
    rest.trim().is_empty()
}

/// Longest first where one begins another.
const PHATIC_ENGLISH: &[&str] = &[
    "good morning",
    "good afternoon",
    "good evening",
    "good night",
    "see you tomorrow",
    "see you",
    "until tomorrow",
    "thank you very much",
    "thank you",
    "thanks a lot",
    "thanks",
    "you're welcome",
    "you are welcome",
    "welcome",
    "hello",
    "hi",
    "hey",
    "bye",
    "goodbye",
    "ok",
    "okay",
    "perfect",
    "nice",
    "great",
    "good",
    "fine",
    "right",
    "sure",
    "yes",
    "no",
    "done",
    "noted",
    "got it",
    "that was all",
    "that's all",
    "go ahead",
    "cool",
    "alright",
    "there",
];
const PHATIC_CHINESE: &[&str] = &[
    "早上好",
    "下午好",
    "晚上好",
    "你好",
    "您好",
    "谢谢你",
    "谢谢您",
    "谢谢",
    "不客气",
    "再见",
    "明天见",
    "晚安",
    "好的",
    "明白了",
    "明白",
    "收到",
    "可以了",
    "可以",
    "没问题",
    "就这样",
    "嗯",
    "好",
    "行",
    "对",
    "是的",
];

/// The first request of an intent: what it is about. `None` for small talk.
pub(super) fn first_request(intent: &[Turn]) -> Option<String> {
    let user = |turn: &&Turn| turn.speaker == Speaker::User;
    let asks =
        intent.iter().filter(user).find(|turn| is_request(&turn.text)).is_some() || has_answered_question(intent);
    if !asks {
        return None;
    }
    // The opening words name the matter, but for those that only announce it.
    let opening = intent.iter().filter(user).find(|turn| content_words(&turn.text).len() >= 3)?;
    Some(matter(&opening.text))
}

/// The text from its first sentence that says something: `Two things.` does not.
fn matter(text: &str) -> String {
    let all = sentences(text);
    let says = |range: &std::ops::Range<usize>| {
        let sentence = without_lead_in(text.get(range.clone()).unwrap_or_default());
        content_words(sentence).len() >= 2 && !is_phatic(sentence)
    };
    let from = all.iter().find(|range| says(range)).map_or(0, |range| range.start);
    without_lead_in(text.get(from..).unwrap_or(text)).to_owned()
}

/// Whether somebody wants, asks, decides or lays down something.
pub(super) fn is_request(text: &str) -> bool {
    let lower = text.to_lowercase();
    let padded = format!(" {} ", lower.replace(['\n', ',', ';', ':', '.', '!', '"', '('], " "));
    let question = sentences(&lower).iter().filter_map(|r| lower.get(r.clone())).any(|sentence| {
        let open = ["what ", "why ", "how ", "which ", "where ", "when ", "who ", "can ", "could ", "would "];
        sentence.ends_with('?') && open.iter().any(|w| sentence.starts_with(w) || sentence.contains(&format!(" {}", w)))
    });
    question
        || WANTS_ENGLISH.iter().any(|cue| padded.contains(cue))
        || WANTS_CHINESE.iter().any(|cue| lower.contains(cue))
}

const WANTS_ENGLISH: &[&str] = &[
    " i want ",
    " i need ",
    " i'd like ",
    " i would like ",
    " we need ",
    " we should ",
    " you should ",
    " should ",
    " must ",
    " please ",
    " let's ",
    " let us ",
    " give me ",
    " show me ",
    " tell me ",
    " make ",
    " add ",
    " remove ",
    " fix ",
    " use ",
    " write ",
    " keep ",
    " ask me ",
    " remind me ",
    " remember ",
    " never ",
    " always ",
    " decision ",
    " decided ",
    " we agreed ",
    " from now on ",
    " i prefer ",
    " prefer ",
    " don't ",
    " do not ",
    " instead of ",
    " change ",
    " rename ",
];
const WANTS_CHINESE: &[&str] = &[
    "我想",
    "我要",
    "想要",
    "希望",
    "请",
    "帮我",
    "需要",
    "应该",
    "必须",
    "不要",
    "以后",
    "记住",
    "记一下",
    "定个",
    "决定",
    "规矩",
    "改成",
    "改为",
    "换成",
    "怎么",
    "为什么",
    "什么",
    "多少",
    "哪",
    "能不能",
    "可不可以",
    "第一步",
    "保留",
    "删",
    "加上",
    "喜欢",
    "偏好",
];

/// Whether a question of the user is taken up by the next turn of the agent: a word of it comes back.
fn has_answered_question(intent: &[Turn]) -> bool {
    intent.windows(2).any(|pair| {
        let [question, answer] = pair else {
            return false;
        };
        let asks = question.speaker == Speaker::User && question.text.trim_end().ends_with(['?', '？']);
        if !asks || answer.speaker != Speaker::Agent {
            return false;
        }
        let said: BTreeSet<String> = content_words(&answer.text).into_iter().collect();
        content_words(&question.text).iter().any(|word| word.chars().count() >= 2 && said.contains(word))
    })
}

/// A sentence without the words that only lead into it.
pub(super) fn without_lead_in(sentence: &str) -> &str {
    let mut rest = sentence.trim();
    loop {
        let before = rest.len();
        for lead in LEAD_INS {
            let matches = rest.get(..lead.len()).is_some_and(|head| head.eq_ignore_ascii_case(lead));
            let after = rest.get(lead.len()..).unwrap_or_default();
            let ends = lead.chars().last().is_some_and(|c| !c.is_ascii_alphabetic())
                || after.chars().next().is_none_or(|c| !c.is_alphanumeric());
            if matches && ends {
                rest = after.trim_start_matches([' ', ',', '.', ':', '，', '。', '：', '、', '!', '！', '?']);
            }
        }
        if rest.len() == before {
            return if rest.is_empty() { sentence.trim() } else { rest };
        }
    }
}

const LEAD_INS: &[&str] = &[
    "good",
    "ok",
    "okay",
    "fine",
    "yes",
    "right",
    "thanks",
    "hello",
    "hi",
    "well",
    "so",
    "now",
    "then",
    "two things",
    "first",
    "second thing",
    "second",
    "another thing",
    "one more thing",
    "by the way",
    "not related",
    "please",
    "can you",
    "could you",
    "would you",
    "i want you to",
    "i'd like you to",
    "let's",
    "你好",
    "您好",
    "好的",
    "好",
    "先说",
    "第一件事",
    "第二件事",
    "第三件事",
    "另外",
    "还有",
    "顺便问一下",
    "顺便",
    "请你",
    "请",
    "麻烦你",
];
