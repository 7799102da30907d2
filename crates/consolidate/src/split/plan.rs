//! Whether a note is split, and how. Pure.

use std::collections::BTreeSet;

use chrono::{DateTime, FixedOffset};
use dormouse_vault::meta::Cooldowns;
use dormouse_vault::text::estimate_tokens;
use dormouse_vault::{Change, ChangeSet, Conservation, Layer, Note, NoteText, Snapshot, Writer};

use super::sections::{Section, entangled, likeness_across, sections, themes};
use super::{KeepReason, SplitDecision, SplitPlan, render};
use crate::config::SplitConfig;

/// Sections are compared pair by pair.
const MAX_SECTIONS: usize = 128;

/// Decides about the note that was read as `text`, which must be the version that `snapshot` has.
///
/// Split when the body has more tokens than the threshold *and* at least two themes stand apart:
/// groups of top-level sections with little vocabulary in common, each large enough for a note.
/// The parent keeps frontmatter, lead and what belongs to no theme; every block goes, verbatim,
/// into exactly one note. Unsure is `Keep`. O(sections² · words).
#[must_use]
pub fn plan(
    snapshot: &Snapshot,
    text: &NoteText,
    cooldowns: Option<&Cooldowns>,
    config: &SplitConfig,
    now: DateTime<FixedOffset>,
) -> SplitDecision {
    match decide(snapshot, text, cooldowns, config, now) {
        Ok(plan) => SplitDecision::Split(Box::new(plan)),
        Err(reason) => SplitDecision::Keep(reason),
    }
}

fn decide(
    snapshot: &Snapshot,
    text: &NoteText,
    cooldowns: Option<&Cooldowns>,
    config: &SplitConfig,
    now: DateTime<FixedOffset>,
) -> Result<SplitPlan, KeepReason> {
    let note = snapshot.note(&text.path).ok_or(KeepReason::Stale)?;
    if note.layer != Layer::Digest || note.bucket.is_none() || !note.is_live() {
        return Err(KeepReason::NotADigest);
    }
    if note.version != text.version {
        return Err(KeepReason::Stale);
    }
    let has_frontmatter = note.doc().frontmatter.span.is_some();
    if !text.utf8 || !note.utf8 || (has_frontmatter && !note.doc().frontmatter.well_formed) {
        return Err(KeepReason::Malformed);
    }
    if note.is_locked() {
        return Err(KeepReason::Locked);
    }
    if cooldowns.and_then(|c| c.notes.get(&text.path)).is_some_and(|until| *until > now.to_utc()) {
        return Err(KeepReason::CoolingDown);
    }
    let tokens = estimate_tokens(text.text.get(note.doc().body.clone()).unwrap_or(""));
    if tokens <= config.threshold_tokens {
        return Err(KeepReason::ShortEnough { tokens, threshold: config.threshold_tokens });
    }
    if entangled(note.doc(), &text.text) || links_to_itself(snapshot, note) {
        return Err(KeepReason::Entangled);
    }
    let (lead, sections) = sections(note.doc(), &text.text);
    if sections.len() > MAX_SECTIONS {
        return Err(KeepReason::TooManySections { max: MAX_SECTIONS });
    }
    let fixed = anchored(snapshot, note, &sections);
    let groups = movable(&sections, &fixed, config);
    if groups.len() < 2 {
        return Err(KeepReason::OneTheme);
    }
    let across = likeness_across(&sections, &groups);
    let drawn = render::draw(snapshot, note, &text.text, lead, &sections, &groups);
    let mut set = ChangeSet::new(
        Writer::Split,
        Conservation::SplitUnion {
            parent: note.path.clone(),
            children: drawn.children.iter().map(|c| c.0.path.clone()).collect(),
        },
    );
    set.changes.push(Change::Replace { path: note.path.clone(), expected: text.version, content: drawn.parent });
    let mut children = Vec::new();
    for (child, content) in drawn.children {
        set.changes.push(Change::Create { path: child.path.clone(), content });
        children.push(child);
    }
    let reason = format!(
        "{tokens} tokens, more than {}; {} themes, alike by at most {across:.2} (one theme from {:.2})",
        config.threshold_tokens,
        children.len(),
        config.cohesion,
    );
    Ok(SplitPlan { parent: note.path.clone(), children, reason, change_set: set })
}

/// The themes that can leave: no anchored section, large enough, not all of the note's only theme.
fn movable(sections: &[Section], fixed: &BTreeSet<usize>, config: &SplitConfig) -> Vec<Vec<usize>> {
    let all = themes(sections, config.cohesion);
    if all.len() < 2 {
        return Vec::new();
    }
    let size = |theme: &[usize]| theme.iter().filter_map(|i| sections.get(*i)).map(|s| s.tokens).sum::<usize>();
    let speaks =
        |theme: &[usize]| theme.iter().filter_map(|i| sections.get(*i)).any(|s| !s.statement.trim().is_empty());
    all.into_iter()
        .filter(|t| size(t) >= config.min_child_tokens && speaks(t) && !t.iter().any(|i| fixed.contains(i)))
        .collect()
}

/// Whether a link of the note means the note itself: in a child it would mean the child.
fn links_to_itself(snapshot: &Snapshot, note: &Note) -> bool {
    snapshot.graph().out_edges(&note.path).into_iter().any(|e| *e.target == note.path)
}

/// The sections that other notes link to by heading or block: they stay, so that the anchors hold.
fn anchored(snapshot: &Snapshot, note: &Note, sections: &[Section]) -> BTreeSet<usize> {
    let line_of = |at: usize| {
        let heads =
            note.doc().headings.iter().filter(|h| h.span.start == at || h.span.start.abs_diff(at) < 4).map(|h| h.line);
        heads.min()
    };
    let lines: Vec<u32> = sections.iter().filter_map(|s| line_of(s.span.start)).collect();
    let mut out = BTreeSet::new();
    for edge in snapshot.graph().in_edges(&note.path) {
        let Some(source) = snapshot.note(edge.source) else {
            continue;
        };
        for (link, resolution) in snapshot.links_of(source) {
            if link.subpath.is_empty() || resolution.path() != Some(&note.path) {
                continue;
            }
            if let Some(line) = snapshot.anchor_line(&note.path, &link.subpath)
                && let Some(section) = lines.iter().rposition(|&start| start <= line)
            {
                out.insert(section);
            }
        }
    }
    out
}
