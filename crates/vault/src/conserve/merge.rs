//! A merge: two notes become one, and nothing of either is lost.

use std::collections::{BTreeMap, BTreeSet};

use crate::anchor::heading_key;
use crate::capability;
use crate::change::Change;
use crate::conserve::retarget::{self, Turn};
use crate::conserve::{Part, Scene, Violation, properties};
use crate::graph::{EdgeKey, EdgeTarget};
use crate::link::Link;
use crate::note::Document;
use crate::path::NotePath;
use crate::rename::{Moves, bears_links};
use crate::resolve::Resolution;
use crate::snapshot::Snapshot;

/// Properties of the note that stays which take in values.
const JOINED: [&str; 6] = ["aliases:", "alias:", "Aliases:", "tags:", "tag:", "Tags:"];

/// Checks a merge: blocks, edges, properties of the two, and that of every other file nothing but
/// the spelling of links to the one that goes has changed.
pub(super) fn check(keep: &NotePath, drop: &NotePath, scene: &Scene<'_>) -> Vec<Violation> {
    let out_of_rule = |path: &NotePath| Violation::OutOfRule { path: path.clone() };
    let mut found: Vec<Violation> = Vec::new();
    for change in &scene.set.changes {
        let covered = match change {
            Change::Rename { from, to, .. } => from == drop && capability::is_discarded(scene.set, change, to),
            Change::Replace { path, .. } => bears_links(path) && path != drop,
            _ => false,
        };
        if !covered {
            found.push(out_of_rule(change.path()));
        }
    }
    let merged = scene.parts.iter().find(|part| part.path() == keep && part.old.is_some());
    let gone = scene.parts.iter().find(|part| part.touched.from.as_ref() == Some(drop));
    let (Some(merged), Some(gone)) = (merged, gone.and_then(|gone| Some((gone, gone.old.as_ref()?)))) else {
        found.push(out_of_rule(if merged.is_none() { keep } else { drop }));
        return found;
    };
    let Some(old) = merged.old.as_ref() else { return found };
    let moves: Moves = [(drop.clone(), keep.clone())].into_iter().collect();
    let turn = Turn { moves: &moves, now: scene.now, after: scene.after };
    let (gone, gone_doc) = gone;
    if gone.touched.text_before() != Some(gone.touched.text_after()) {
        found.push(out_of_rule(drop));
    }
    found.extend(edges(&turn, (keep, old), (drop, gone_doc), &merged.new));
    found.extend(blocks(merged, old, gone, gone_doc));
    found.extend(properties::check_but(merged, &JOINED));
    found.extend(values_lost(merged, old, gone_doc));
    let others = scene.parts.iter().filter(|part| part.path() != keep && part.touched.from.is_none());
    found.extend(others.filter_map(|part| changed(&turn, drop, gone_doc, &merged.new, part)));
    let touched: BTreeSet<&NotePath> = scene.parts.iter().map(Part::path).chain([drop]).collect();
    let rest = moves.concerned(scene.now).into_iter().filter(|path| !touched.contains(path));
    found.extend(rest.filter_map(|path| retarget::other(&turn, &path)));
    found
}

/// The edges of both stand in the one, those that led to the one that goes lead to the one that stays.
fn edges(
    turn: &Turn<'_>,
    keep: (&NotePath, &Document),
    drop: (&NotePath, &Document),
    merged: &Document,
) -> Option<Violation> {
    let have: BTreeSet<EdgeKey> = turn.after.edges_of(keep.0, merged).into_iter().collect();
    // A relative link to nothing is spelled anew for the folder of the note that stays.
    let relative = have.iter().any(is_relative);
    let mut missing: Vec<EdgeKey> = [keep, drop]
        .iter()
        .flat_map(|(path, doc)| turn.now.edges_of(path, doc))
        .map(|edge| mapped(turn, edge))
        .filter(|edge| !(have.contains(edge) || (is_relative(edge) && relative)))
        .collect();
    missing.sort();
    missing.dedup();
    (!missing.is_empty()).then(|| Violation::EdgesLost { path: keep.0.clone(), missing })
}

fn is_relative(edge: &EdgeKey) -> bool {
    matches!(&edge.target, EdgeTarget::Unresolved(key) if key.starts_with('.'))
}

fn mapped(turn: &Turn<'_>, edge: EdgeKey) -> EdgeKey {
    match edge.target {
        EdgeTarget::File(file) => EdgeKey { target: EdgeTarget::File(turn.moves.to(&file).clone()), ..edge },
        EdgeTarget::Unresolved(_) => edge,
    }
}

/// Each block and heading of the note that stays stands as often as before at least, each of the other at least
/// once.
fn blocks(merged: &Part<'_>, old: &Document, gone: &Part<'_>, gone_doc: &Document) -> Option<Violation> {
    let mut need: BTreeMap<String, usize> = BTreeMap::new();
    let texts = |text: &str, doc: &Document| -> Vec<String> {
        let headings = doc.headings.iter().map(|h| format!("{} {}", "#".repeat(h.level.into()), heading_key(&h.text)));
        skeletons(text, doc).into_iter().filter(|block| !block.is_empty()).chain(headings).collect()
    };
    for block in texts(merged.touched.text_before().unwrap_or(""), old) {
        *need.entry(block).or_default() += 1;
    }
    for block in texts(gone.touched.text_before().unwrap_or(""), gone_doc) {
        need.entry(block).or_insert(1);
    }
    for block in texts(merged.touched.text_after(), &merged.new) {
        if let Some(count) = need.get_mut(&block) {
            *count = count.saturating_sub(1);
        }
    }
    let blocks: Vec<String> =
        need.into_iter().filter(|(_, count)| *count > 0).map(|(text, _)| text.replace('\0', "…")).collect();
    (!blocks.is_empty()).then(|| Violation::BlocksLost { path: merged.path().clone(), blocks })
}

/// The blocks of a text, one for one, with what a merge may write anew cut out: where links
/// lead, the blocks' ids, and the kind of line ends.
pub(crate) fn skeletons(text: &str, doc: &Document) -> Vec<String> {
    without(text, doc, doc.links.iter().map(|link| cut(text, link)).collect())
}

/// The blocks of a text, one for one, without their ids: word for word, links and all.
pub(crate) fn words(text: &str, doc: &Document) -> Vec<String> {
    without(text, doc, Vec::new())
}

fn without(text: &str, doc: &Document, mut cuts: Vec<std::ops::Range<usize>>) -> Vec<String> {
    cuts.sort_by_key(|span| (span.start, span.end));
    let blocks = doc.blocks.iter().map(|block| (&block.span, block.id.as_deref()));
    blocks
        .map(|(span, id)| {
            let (mut out, mut at) = (String::new(), span.start);
            let first = cuts.partition_point(|cut| cut.start < span.start);
            for cut in cuts.iter().skip(first).take_while(|cut| cut.start < span.end) {
                if cut.start >= at {
                    out.push_str(text.get(at..cut.start).unwrap_or(""));
                    out.push('\0');
                    at = cut.end;
                }
            }
            out.push_str(text.get(at..span.end).unwrap_or(""));
            without_id(&out.replace(['\r', '\u{feff}'], ""), id).trim().to_owned()
        })
        .collect()
}

/// The id at the end of a block's text, and one alone on a last line, which is that of another.
fn without_id<'t>(text: &'t str, id: Option<&str>) -> &'t str {
    let text = text.trim_end();
    let own = id.and_then(|id| text.strip_suffix(id)).and_then(|head| head.strip_suffix('^'));
    let text = own.unwrap_or(text).trim_end();
    let last = text.rsplit('\n').next().unwrap_or(text).trim();
    let alone = last.strip_prefix('^').is_some_and(|id| {
        !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') && last.len() < text.len()
    });
    if alone { text.strip_suffix(last).unwrap_or(text).trim_end() } else { text }
}

/// Target and subpath of a link, as they are written.
fn cut(text: &str, link: &Link) -> std::ops::Range<usize> {
    let span = link.target_span.clone();
    let rest = text.get(span.end..link.span.end).unwrap_or("");
    let close = |c: char| matches!(c, '|' | ']' | ')' | '>' | '"' | '\'' | '\\') || c.is_whitespace();
    let subpath = if rest.starts_with('#') { rest.find(close).unwrap_or(rest.len()) } else { 0 };
    let subpath = if rest.starts_with(&link.subpath) { link.subpath.len() } else { subpath };
    span.start..span.end + subpath
}

/// Aliases and tags of both are there.
fn values_lost(merged: &Part<'_>, old: &Document, gone: &Document) -> Option<Violation> {
    let values = |doc: &Document| -> BTreeSet<String> {
        let tags = doc.frontmatter.tags().into_iter().map(|tag| format!("tags: {}", tag.to_lowercase()));
        doc.frontmatter.aliases().into_iter().map(|alias| format!("aliases: {}", alias.trim())).chain(tags).collect()
    };
    let have = values(&merged.new);
    let lines: Vec<String> = values(old).union(&values(gone)).filter(|value| !have.contains(*value)).cloned().collect();
    (!lines.is_empty()).then(|| Violation::PropertiesLost { path: merged.path().clone(), lines })
}

/// What of another file changed beside the spelling of its links to the note that goes.
fn changed(turn: &Turn<'_>, drop: &NotePath, gone: &Document, merged: &Document, part: &Part<'_>) -> Option<Violation> {
    let path = part.path();
    let before = part.touched.text_before()?;
    let old = part.old.as_ref()?;
    let out = || Some(Violation::OutOfRule { path: path.clone() });
    if old.links.len() != part.new.links.len()
        || skeleton(before, old) != skeleton(part.touched.text_after(), &part.new)
    {
        return out();
    }
    for (was, is) in old.links.iter().zip(&part.new.links) {
        let (from, to) = (meaning(turn.now, path, was), meaning(turn.after, path, is));
        let wanted = from.clone().map(|key| mapped(turn, key));
        if was.kind != is.kind || wanted != to {
            let missing = wanted.into_iter().collect();
            return Some(Violation::EdgesLost { path: path.clone(), missing });
        }
        let leads = from.is_some_and(|key| key.target == EdgeTarget::File(drop.clone()));
        let broken = gone.anchor_line(&was.subpath).is_some() && merged.anchor_line(&is.subpath).is_none();
        if (!leads && was.subpath != is.subpath) || (leads && broken) {
            return out();
        }
    }
    None
}

fn meaning(snapshot: &Snapshot, source: &NotePath, link: &Link) -> Option<EdgeKey> {
    let target = match snapshot.resolve_link(source, link) {
        Resolution::File { path, .. } => EdgeTarget::File(path),
        Resolution::Unresolved(key) => EdgeTarget::Unresolved(key),
        Resolution::External => return None,
    };
    Some(EdgeKey { target, predicate: link.predicate.as_ref().map(|p| p.to_lowercase()) })
}

/// A text with targets and subpaths of its links cut out.
fn skeleton(text: &str, doc: &Document) -> String {
    let mut cuts: Vec<_> = doc.links.iter().map(|link| cut(text, link)).collect();
    cuts.sort_by_key(|span| (span.start, span.end));
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for cut in cuts.into_iter().filter(|cut| cut.start <= cut.end) {
        out.push_str(text.get(at..cut.start).unwrap_or(""));
        out.push('\0');
        at = at.max(cut.end);
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}
