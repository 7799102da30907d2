//! `dormouse remember`: something that happened becomes a daily event.

use std::io::Read;

use anyhow::{Context, Result};
use dormouse_vault::daily::{DailyEvent, plan_event};
use dormouse_vault::text::{sentences, truncate_chars};
use dormouse_vault::{FileDiff, NotePath};
use serde::Serialize;

use super::Scene;
use crate::args::RememberArgs;
use crate::failure::refuse;
use crate::output::Output;

/// The longest name that is taken from the text itself, in characters.
const NAME_CHARS: usize = 60;

#[derive(Debug, Serialize)]
struct Reply {
    path: NotePath,
    name: String,
    written: bool,
    diff: Vec<FileDiff>,
}

pub(crate) fn run(scene: &Scene, args: &RememberArgs, out: &mut Output) -> Result<u8> {
    let text = match &args.text {
        Some(text) => text.clone(),
        None => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("standard input is no UTF-8 text")?;
            text
        }
    };
    let blocks: Vec<String> = paragraphs(&text);
    let Some(first) = blocks.first() else {
        return Err(refuse(
            "usage",
            "there is nothing to remember",
            "give the text as an argument or on standard input",
        ));
    };
    let sentence = sentences(first).into_iter().next().and_then(|r| first.get(r)).unwrap_or(first);
    let name = args
        .title
        .clone()
        .unwrap_or_else(|| truncate_chars(sentence.trim_end_matches(['.', '。']), NAME_CHARS).trim().to_owned());
    let event = DailyEvent {
        at: scene.clock().now(),
        name: name.clone(),
        description: truncate_chars(sentence, 200).to_owned(),
        properties: vec![("source".into(), "remember".into())],
        blocks,
    };
    let vault = scene.open()?;
    let (path, plan) = plan_event(&event, &vault.snapshot());
    let diff = if args.dry_run { vault.preview(&plan)? } else { Vec::new() };
    if !args.dry_run {
        vault.commit(&plan)?;
    }
    let reply = Reply { path, name, written: !args.dry_run, diff };
    out.emit(&reply, |w| {
        if reply.written {
            writeln!(w, "Remembered “{}” in {}", reply.name, reply.path)
        } else {
            reply.diff.iter().try_for_each(|d| writeln!(w, "{}", d.diff))
        }
    })?;
    Ok(0)
}

/// The paragraphs of a text, fences kept whole.
fn paragraphs(text: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut block = String::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let marker = ["```", "~~~"].into_iter().find(|m| line.trim_start().starts_with(m));
        if line.trim().is_empty() && fence.is_none() {
            push(&mut block, &mut blocks);
            continue;
        }
        match (fence, marker) {
            (None, Some(m)) => fence = Some(m),
            (Some(open), Some(m)) if open == m => fence = None,
            _ => {}
        }
        if !block.is_empty() {
            block.push('\n');
        }
        block.push_str(line);
    }
    push(&mut block, &mut blocks);
    blocks
}

fn push(block: &mut String, blocks: &mut Vec<String>) {
    let text = std::mem::take(block);
    if !text.trim().is_empty() {
        blocks.push(text);
    }
}

#[cfg(test)]
mod tests {
    use super::paragraphs;

    #[test]
    fn blank_lines_cut_paragraphs_but_not_fences() {
        assert_eq!(paragraphs("one\ntwo\n\n```\na\n\nb\n```\n\nlast\n"), ["one\ntwo", "```\na\n\nb\n```", "last"]);
        assert!(paragraphs(" \n\n").is_empty());
    }
}
