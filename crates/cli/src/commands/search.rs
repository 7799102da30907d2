//! `dormouse search`: ranked notes with their best passages.

use std::io::{self, Write};

use anyhow::Result;
use dormouse_recall::{Direction, Explain, Hit, Passage, SearchReply, SearchRequest, Via};

use super::Scene;
use crate::args::SearchArgs;
use crate::output::{Output, bold, dim, styled};

/// The longest passage that is shown to a person, in characters.
const SHOWN: usize = 240;

pub(crate) fn run(scene: &Scene, args: &SearchArgs, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    let recall = scene.recall(&vault)?;
    let reply = recall.search(&SearchRequest {
        limit: args.limit as usize,
        include_archived: args.archived,
        explain: args.explain,
        cursor: args.cursor.clone(),
        byte_budget: args.budget,
        passages: args.passages as usize,
        max_passage_bytes: args.passage_bytes,
        soft_dates: args.soft_dates || !args.no_soft_dates,
        expand: args.expand as usize,
        expand_limit: args.expand_limit as usize,
        ..SearchRequest::new(args.query.join(" "))
    })?;
    out.emit(&reply, |w| page(w, &reply))?;
    Ok(0)
}

fn page(w: &mut dyn Write, reply: &SearchReply) -> io::Result<()> {
    for warning in reply.warnings.iter().chain(&reply.notices) {
        writeln!(w, "{}", dim(format!("· {warning}")))?;
    }
    if reply.hits.is_empty() {
        return writeln!(w, "Nothing found. Fewer or other words may help; `dormouse list` shows what there is.");
    }
    for (rank, hit) in reply.hits.iter().enumerate() {
        note(w, rank + 1, hit)?;
    }
    if !reply.expanded.is_empty() {
        writeln!(w, "Linked:")?;
    }
    for found in &reply.expanded {
        let how = dim(format!("{} {}", arrow(&found.via), found.via.from));
        writeln!(w, "    {}{} {how}", "  ".repeat(found.depth.saturating_sub(1)), styled("36", &found.path))?;
    }
    if reply.left_out.bytes > 0 {
        let left_out = reply.left_out;
        let passages = super::counted(left_out.passages, "passage");
        writeln!(w, "{}", dim(format!("left out: {passages}, {} bytes; more with --budget", left_out.bytes)))?;
    }
    if let Some(cursor) = &reply.cursor {
        let (shown, total) = (reply.hits.len(), super::counted(reply.total, "note"));
        writeln!(w, "{}", dim(format!("{shown} of {total}; more with --limit, or --cursor {cursor}")))?;
    }
    Ok(())
}

/// Which way a link goes, seen from the note behind the arrow, and its predicate.
fn arrow(via: &Via) -> String {
    let arrow = if via.direction == Direction::In { "→" } else { "←" };
    match &via.predicate {
        Some(predicate) => format!("{arrow} {predicate}"),
        None => arrow.to_owned(),
    }
}

fn note(w: &mut dyn Write, rank: usize, hit: &Hit) -> io::Result<()> {
    let date = hit.date.map(|d| format!(" · {d}")).unwrap_or_default();
    let archived = if hit.archived { " · archived" } else { "" };
    writeln!(w, "{rank:>2}. {} {}", bold(&hit.name), dim(format!("{:.3}{date}{archived}", hit.score)))?;
    writeln!(w, "    {}", styled("36", &hit.path))?;
    for passage in &hit.passages {
        block(w, passage)?;
    }
    if !hit.also_at.is_empty() {
        let places: Vec<String> = hit.also_at.iter().map(ToString::to_string).collect();
        writeln!(w, "    {}", dim(format!("the same text: {}", places.join(", "))))?;
    }
    if let Some(explain) = &hit.explain {
        writeln!(w, "    {}", dim(explained(explain)))?;
    }
    writeln!(w)
}

fn block(w: &mut dyn Write, passage: &Passage) -> io::Result<()> {
    let heading = if passage.heading_path.is_empty() {
        String::new()
    } else {
        format!("{} › ", passage.heading_path.join(" › "))
    };
    let part = if passage.cut { ", in part" } else { "" };
    writeln!(w, "    {}", dim(format!("{heading}line {}{part}", passage.lines.0)))?;
    let text = marked(passage);
    text.lines().try_for_each(|line| writeln!(w, "    │ {line}"))
}

/// The passage with the query's words underlined, cut to what a person reads.
fn marked(passage: &Passage) -> String {
    let mut end = passage.text.char_indices().nth(SHOWN).map_or(passage.text.len(), |(at, _)| at);
    if let Some(cut) = passage.highlights.iter().find(|h| h.start < end && h.end > end) {
        end = cut.end;
    }
    let mut text = String::new();
    let mut at = 0;
    for mark in passage.highlights.iter().filter(|h| h.end <= end) {
        text.push_str(passage.text.get(at..mark.start).unwrap_or_default());
        text.push_str(&styled("1;33", passage.text.get(mark.clone()).unwrap_or_default()));
        at = mark.end;
    }
    text.push_str(passage.text.get(at..end).unwrap_or_default());
    if end < passage.text.len() {
        text.push('…');
    }
    text
}

/// `score = text 0.91 (bm25 0.60 + note 0.31) × layer 1.10 × …`
fn explained(explain: &Explain) -> String {
    let parts: Vec<String> = explain.parts.iter().map(|p| format!("{} {:.3}", p.name, p.value)).collect();
    let factors: Vec<String> = explain
        .factors
        .iter()
        .enumerate()
        .map(|(i, f)| {
            let detail = if i == 0 && !parts.is_empty() { format!(" ({})", parts.join(" + ")) } else { String::new() };
            format!("{} {:.3}{detail}", f.name, f.value)
        })
        .collect();
    format!("score = {}", factors.join(" × "))
}

#[cfg(test)]
mod tests {
    use dormouse_recall::Passage;

    use super::marked;

    #[test]
    fn long_passages_are_cut_between_characters_and_never_inside_a_highlight() {
        let text = format!("{} 记忆系统", "长".repeat(238));
        let start = text.find('记').unwrap();
        let passage = Passage { highlights: std::iter::once(start..text.len()).collect(), text, ..Passage::default() };
        assert!(marked(&passage).ends_with("\u{1b}[1;33m记忆系统\u{1b}[0m"));
    }
}
