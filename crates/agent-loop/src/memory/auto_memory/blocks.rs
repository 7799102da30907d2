//! What was said, in blocks: one statement each, the speaker in front.

use dormouse_vault::text::sentences;

use super::spoken::{Speaker, Turn};

/// The blocks of an intent. Paragraphs, list items and code fences become blocks of their own; each
/// starts with its speaker, but for list items and code, which follow their sentence. Headings and
/// block ids that were quoted lose their marks, so that the note's own structure stays clear.
pub(super) fn blocks(turns: &[Turn], chinese: bool, max_chars: usize) -> Vec<String> {
    let mut out = Vec::new();
    for turn in turns {
        let speaker = match (turn.speaker, chinese) {
            (Speaker::User, false) => "User: ",
            (Speaker::Agent, false) => "Agent: ",
            (Speaker::User, true) => "用户：",
            (Speaker::Agent, true) => "助手：",
        };
        for part in parts(&turn.text) {
            match part {
                Part::Text(text) => {
                    out.extend(pieces(&text, max_chars).into_iter().map(|piece| format!("{speaker}{piece}")));
                }
                Part::Item(text) | Part::Code(text) => out.push(text),
            }
        }
    }
    out
}

enum Part {
    Text(String),
    Item(String),
    Code(String),
}

fn parts(text: &str) -> Vec<Part> {
    let mut out = Vec::new();
    let mut paragraph: Vec<String> = Vec::new();
    let mut code: Option<Vec<&str>> = None;
    for line in text.lines() {
        if let Some(mut lines) = code.take() {
            lines.push(line);
            if line.trim_start().starts_with("```") {
                out.push(Part::Code(lines.join("\n")));
            } else {
                code = Some(lines);
            }
            continue;
        }
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            flush(&mut paragraph, &mut out);
            code = Some(vec![line.trim_start()]);
        } else if trimmed.is_empty() || is_rule(trimmed) {
            flush(&mut paragraph, &mut out);
        } else if is_item(trimmed) {
            flush(&mut paragraph, &mut out);
            out.push(Part::Item(without_id(trimmed).to_owned()));
        } else {
            paragraph.push(without_id(trimmed.trim_start_matches('#').trim_start()).to_owned());
        }
    }
    if let Some(mut lines) = code {
        lines.push("```");
        out.push(Part::Code(lines.join("\n")));
    }
    flush(&mut paragraph, &mut out);
    out
}

fn flush(paragraph: &mut Vec<String>, out: &mut Vec<Part>) {
    let text = std::mem::take(paragraph).join(" ");
    if !text.trim().is_empty() {
        out.push(Part::Text(text));
    }
}

fn is_rule(line: &str) -> bool {
    line.len() >= 3
        && ["-", "*", "_", "="]
            .iter()
            .any(|mark| line.replace([' ', '\t'], "").trim_matches(|c: char| mark.starts_with(c)).is_empty())
}

fn is_item(line: &str) -> bool {
    if ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark)) {
        return true;
    }
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    (1..=9).contains(&digits) && line.get(digits..).is_some_and(|rest| rest.starts_with(". ") || rest.starts_with(") "))
}

/// Without a trailing ` ^id`: ids are given by the writer, each once.
fn without_id(line: &str) -> &str {
    match line.rsplit_once(" ^") {
        Some((text, id)) if !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') => {
            text.trim_end()
        }
        _ => line,
    }
}

/// The text in pieces of at most `max` characters, cut between sentences where that is possible.
fn pieces(text: &str, max: usize) -> Vec<String> {
    if text.chars().count() <= max {
        return vec![text.to_owned()];
    }
    let max = max.max(1);
    let mut out: Vec<String> = Vec::new();
    for range in sentences(text) {
        let sentence = text.get(range).unwrap_or_default();
        let length = sentence.chars().count();
        match out.last_mut() {
            Some(last) if last.chars().count() + length < max => {
                last.push(' ');
                last.push_str(sentence);
            }
            _ if length <= max => out.push(sentence.to_owned()),
            _ => {
                let chars: Vec<char> = sentence.chars().collect();
                out.extend(chars.chunks(max).map(|chunk| chunk.iter().collect::<String>()));
            }
        }
    }
    out
}
