//! Conversations, one turn a passage: what the speakers say about themselves.

use dormouse_vault::text::sentences;

use super::cues::padded;
use crate::markdown::plain;
use crate::material::{Language, Marker, Material};

/// What a speaker says that is worth keeping.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Said {
    pub(super) speaker: String,
    pub(super) evidence: String,
    pub(super) text: String,
}

/// `**Name**: text` as speaker and text.
pub(crate) fn turn(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("**")?;
    let (name, after) = rest.split_once("**")?;
    let name = name.trim_end_matches([':', '：']).trim();
    let said = after.trim_start_matches([':', '：', ' ']);
    (!name.is_empty() && name.chars().count() <= 40 && !said.is_empty()).then_some((name, said))
}

/// Whether most passages are turns.
pub(super) fn is_chat(material: &Material) -> bool {
    let prose = material.passages.iter().filter(|p| p.marker != Marker::Verbatim).count();
    let turns = material.passages.iter().filter(|p| turn(&p.text).is_some()).count();
    turns >= 3 && turns * 2 > prose
}

#[rustfmt::skip]
const ENGLISH: &[&str] = &[
    "i love", "i like", "i prefer", "i enjoy", "i hate", "i dislike", "i cant stand", "i want to", "i hope to", "i plan to", "im planning", "im going to",
    "my favorite", "my favourite", "my dream", "my goal", "my hobby", "my passion", "allergic", "i decided", "ive decided", "i chose", "i learned",
    "ive learned", "i realized", "i realised", "i won", "i lost", "i started", "ive started", "i finished", "i got", "i bought", "i moved", "i joined",
    "i quit", "i adopted", "i made", "i wrote", "i visited", "i went to", "i signed up", "i passed", "i began", "i met", "i work", "im working", "i live",
    "ive been", "i used to", "i always", "i never", "we decided", "we won", "we started", "we went to", "we bought", "we got", "we adopted", "we moved",
    "my job", "my wife", "my husband", "my partner", "my mom", "my dad", "my sister", "my brother", "my son", "my daughter", "my kids", "my dog", "my cat",
    "my family",
];
#[rustfmt::skip]
const CHINESE: &[&str] = &[
    "我喜欢", "我爱", "我讨厌", "我希望", "我打算", "我计划", "我决定", "我最喜欢", "我学会", "我开始", "我买了", "我搬", "我加入", "我过敏",
    "我想要", "我的梦想", "我的爱好", "我习惯", "我们决定", "我一直", "我从不", "我赢", "我完成",
];

/// What is kept of a conversation, in order. The question that a turn answers stands before it in
/// brackets, and the speaker in front: that resolves its references.
pub(super) fn statements(material: &Material) -> Vec<Said> {
    let mut out = Vec::new();
    let mut asked: Option<String> = None;
    for passage in &material.passages {
        let Some((speaker, said)) = turn(&passage.text) else {
            asked = None;
            continue;
        };
        let ranges = sentences(said);
        let lines: Vec<&str> = ranges.iter().filter_map(|r| said.get(r.clone())).collect();
        let kept: Vec<&str> = lines.iter().copied().filter(|line| is_kept(line)).take(2).collect();
        if !kept.is_empty() {
            let statement = kept.join(" ");
            let context = asked.as_deref().map(|q| format!("[{q}] ")).unwrap_or_default();
            out.push(Said {
                speaker: speaker.to_owned(),
                evidence: kept.first().copied().unwrap_or(said).to_owned(),
                text: format!("{context}{speaker}: {statement}"),
            });
        }
        asked = lines
            .last()
            .filter(|l| l.trim_end().ends_with(['?', '？']))
            .filter(|l| l.chars().count() <= 120)
            .map(|l| plain(l).replace(['[', ']'], ""));
    }
    out
}

fn is_kept(line: &str) -> bool {
    let chinese = Language::of(line) == Language::Chinese;
    if line.trim_end().ends_with(['?', '？']) || !chinese && line.split_whitespace().count() < 5 {
        return false;
    }
    let padded = padded(line);
    ENGLISH.iter().any(|cue| padded.contains(&format!(" {cue} "))) || CHINESE.iter().any(|cue| line.contains(cue))
}
