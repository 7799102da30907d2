//! Whether a note is split, and how. Pure.

use std::collections::BTreeSet;
use std::ops::Range;

use chrono::{DateTime, FixedOffset};
use dormouse_vault::meta::Cooldowns;
use dormouse_vault::text::estimate_tokens;
use dormouse_vault::{Change, ChangeSet, Conservation, Document, Layer, Note, NotePath, NoteText, Snapshot, Writer};

use super::question::{SplitJudgement, SplitQuestion};
use super::render::{self, Parts};
use super::sections::{Section, likeness_across, sections, themes};
use super::ties::{Inbound, Signpost, settle, ties};
use super::{KeepReason, SplitDecision, SplitPlan};
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
    match look(snapshot, text, cooldowns, config, now) {
        Ok(open) => open.by_words(),
        Err(reason) => SplitDecision::Keep(reason),
    }
}

/// [`plan`] up to the question which sections are one theme: for a caller that asks a model.
#[must_use]
pub fn consider<'a>(
    snapshot: &'a Snapshot,
    text: &'a NoteText,
    cooldowns: Option<&Cooldowns>,
    config: &'a SplitConfig,
    now: DateTime<FixedOffset>,
) -> Considered<'a> {
    match look(snapshot, text, cooldowns, config, now) {
        Ok(open) => Considered::Open(Box::new(open)),
        Err(reason) => Considered::Keep(reason),
    }
}

/// What [`consider`] found.
#[derive(Debug)]
pub enum Considered<'a> {
    /// There is nothing to decide: leave the note as it is.
    Keep(KeepReason),
    /// The note is long enough and can be split.
    Open(Box<OpenSplit<'a>>),
}

/// A note that can be split, before anybody has said along which sections.
#[derive(Debug)]
pub struct OpenSplit<'a> {
    snapshot: &'a Snapshot,
    note: &'a Note,
    text: &'a NoteText,
    config: &'a SplitConfig,
    tokens: usize,
    lead: Range<usize>,
    sections: Vec<Section>,
    inbound: Inbound,
    /// The first section of each tie.
    tied: Vec<usize>,
}

fn look<'a>(
    snapshot: &'a Snapshot,
    text: &'a NoteText,
    cooldowns: Option<&Cooldowns>,
    config: &'a SplitConfig,
    now: DateTime<FixedOffset>,
) -> Result<OpenSplit<'a>, KeepReason> {
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
    let (lead, sections) = sections(note.doc(), &text.text);
    if sections.len() > MAX_SECTIONS {
        return Err(KeepReason::TooManySections { max: MAX_SECTIONS });
    }
    if sections.len() < 2 {
        return Err(KeepReason::OneTheme);
    }
    let mut inbound = inbound(snapshot, note, &sections);
    let ties = ties(&text.text, &lead, &sections);
    let tied = settle(&ties, &mut inbound.fixed, sections.len());
    let free: BTreeSet<usize> =
        (0..sections.len()).filter(|i| !inbound.fixed.contains(i)).filter_map(|i| tied.get(i)).copied().collect();
    if free.len() < 2 {
        return Err(KeepReason::Entangled);
    }
    Ok(OpenSplit { snapshot, note, text, config, tokens, lead, sections, inbound, tied })
}

impl OpenSplit<'_> {
    /// The question for a model.
    #[must_use]
    pub fn question(&self) -> SplitQuestion {
        let mut theme_of = self.tied.clone();
        for theme in themes(&self.sections, self.config.cohesion, &self.tied) {
            let first = theme.first().copied().unwrap_or(0);
            theme.iter().filter_map(|i| theme_of.get_mut(*i).map(|t| *t = first)).for_each(drop);
        }
        let outline = |(i, s): (usize, &Section)| {
            let theme = theme_of.get(i).copied().unwrap_or(i);
            SplitQuestion::outline(&s.heading, &s.statement, s.tokens, theme, self.inbound.fixed.contains(&i))
        };
        let sections = self.sections.iter().enumerate().map(outline).collect();
        SplitQuestion { note: self.note.name.to_string(), tokens: self.tokens, sections }
    }

    /// Decides by the words alone.
    #[must_use]
    pub fn by_words(&self) -> SplitDecision {
        let groups = movable(&self.sections, &self.inbound.fixed, &self.tied, self.config);
        let across = likeness_across(&self.sections, &groups);
        let why = format!("alike by at most {across:.2} (one theme from {:.2})", self.config.cohesion);
        self.decide(&groups, &why)
    }

    /// Decides as a model judged. Its groups are made sound: what has to stay stays, what is tied
    /// leaves together, and a group that is too small for a note stays.
    #[must_use]
    pub fn by_judgement(&self, judgement: &SplitJudgement) -> SplitDecision {
        let mut groups = judgement.groups(&self.inbound.fixed, &self.tied);
        groups.retain(|group| is_large_enough(&self.sections, group, self.config));
        self.decide(&groups, "by a model's judgement")
    }

    fn decide(&self, groups: &[Vec<usize>], why: &str) -> SplitDecision {
        match self.plan(groups, why) {
            Ok(plan) => SplitDecision::Split(Box::new(plan)),
            Err(reason) => SplitDecision::Keep(reason),
        }
    }

    fn plan(&self, groups: &[Vec<usize>], why: &str) -> Result<SplitPlan, KeepReason> {
        let note = self.note;
        if groups.len() < 2 {
            return Err(if self.inbound.fixed.is_empty() { KeepReason::OneTheme } else { KeepReason::Entangled });
        }
        let signposts: Vec<Signpost> = self.inbound.signposts.iter().copied().collect();
        let parts = Parts { lead: self.lead.clone(), sections: &self.sections, groups, signposts: &signposts };
        let drawn = render::draw(self.snapshot, note, &self.text.text, &parts);
        let parent = Document::parse(&drawn.parent);
        let leads = |subpath: &str| parent.anchor_line(subpath).is_some() || note.doc().anchor_line(subpath).is_none();
        if !self.inbound.subpaths.iter().all(|(subpath, _)| leads(subpath)) {
            return Err(KeepReason::Entangled);
        }
        let mut set = ChangeSet::new(
            Writer::Split,
            Conservation::SplitUnion {
                parent: note.path.clone(),
                children: drawn.children.iter().map(|c| c.0.path.clone()).collect(),
            },
        );
        let (path, expected) = (note.path.clone(), self.text.version);
        set.changes.push(Change::Replace { path, expected, content: drawn.parent });
        let mut children = Vec::new();
        for (child, content) in drawn.children {
            set.changes.push(Change::Create { path: child.path.clone(), content });
            children.push(child);
        }
        let (tokens, threshold) = (self.tokens, self.config.threshold_tokens);
        let reason = format!("{tokens} tokens, more than {threshold}; {} themes, {why}", children.len());
        Ok(SplitPlan { parent: note.path.clone(), children, reason, change_set: set })
    }
}

/// The themes that can leave: no section that must stay, large enough, not all of the note's only
/// theme.
fn movable(sections: &[Section], fixed: &BTreeSet<usize>, tied: &[usize], config: &SplitConfig) -> Vec<Vec<usize>> {
    let all = themes(sections, config.cohesion, tied);
    if all.len() < 2 {
        return Vec::new();
    }
    let leaves =
        |theme: &Vec<usize>| is_large_enough(sections, theme, config) && !theme.iter().any(|i| fixed.contains(i));
    all.into_iter().filter(leaves).collect()
}

/// Whether a theme has tokens enough for a note, and says something.
fn is_large_enough(sections: &[Section], theme: &[usize], config: &SplitConfig) -> bool {
    let of = || theme.iter().filter_map(|i| sections.get(*i));
    of().map(|s| s.tokens).sum::<usize>() >= config.min_child_tokens && of().any(|s| !s.statement.trim().is_empty())
}

/// What links hold: sections that other notes link to by a block's id stay, and so does a section
/// with a link to the note itself, and what that link means. Of a section that is linked to by a
/// heading the note keeps the heading.
fn inbound(snapshot: &Snapshot, note: &Note, sections: &[Section]) -> Inbound {
    let doc = note.doc();
    let section_at = |at: usize| sections.iter().position(|s| s.span.contains(&at));
    let mut out = Inbound::default();
    let sources: BTreeSet<&NotePath> =
        snapshot.graph().in_edges(&note.path).into_iter().map(|e| e.source).chain([&note.path]).collect();
    for source in sources {
        let Some(from) = snapshot.note(source).or_else(|| snapshot.canvas(source)) else {
            continue;
        };
        for (link, resolution) in snapshot.links_of(from) {
            if resolution.path() != Some(&note.path) {
                continue;
            }
            let itself = *source == note.path;
            if itself {
                out.fixed.extend(section_at(link.span.start));
            }
            if link.subpath.is_empty() {
                continue;
            }
            let Some(line) = doc.anchor_line(&link.subpath) else {
                continue;
            };
            out.subpaths.insert((link.subpath.clone(), source.clone()));
            let is_block = link.subpath.rsplit('#').next().is_some_and(|last| last.trim().starts_with('^'));
            if is_block || itself {
                let block = doc.blocks.iter().find(|b| b.lines.0 == line).map(|b| b.span.start);
                let heading = doc.headings.iter().find(|h| h.line == line).map(|h| h.span.start);
                out.fixed.extend(block.or(heading).and_then(section_at));
                continue;
            }
            // The heading and those above it, down from the section's own.
            let Some(at) = doc.headings.iter().position(|h| h.line == line) else {
                continue;
            };
            let Some(section) = doc.headings.get(at).and_then(|h| section_at(h.span.start)) else {
                continue;
            };
            let mut level = u8::MAX;
            for (heading, above) in doc.headings.iter().enumerate().take(at + 1).rev() {
                if section_at(above.span.start) != Some(section) {
                    break;
                }
                if above.level < level {
                    level = above.level;
                    out.signposts.insert(Signpost { section, heading });
                }
            }
        }
    }
    out
}
