//! What was there at the last check: `.dormouse/consolidate/baseline`. Links that vanish without a
//! dream or a split behind it can't be told from a person's edit, so they are reported, not judged.
//!
//! One record a note, in path order, its edges as one run of bytes that is carried over as it is
//! while the note's content is the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use dormouse_vault::{CommitError, NotePath, Vault, Version};

use super::{FindingKind, Findings, Severity};
use crate::inputs::{Digest, Inputs};
use crate::state::Cut;

/// Lost links of one note that are named; the rest is counted.
const MOST_SHOWN: usize = 8;

/// The digest notes of a check with their links.
#[derive(Debug, Default)]
pub(crate) struct Baseline {
    bytes: Vec<u8>,
    /// In path order.
    notes: Vec<Known>,
}

/// Where a note's record is.
#[derive(Debug)]
struct Known {
    path: NotePath,
    version: Version,
    edges: std::ops::Range<usize>,
}

/// A resolved link: its target, and its predicate or nothing.
type Edge<'a> = (&'a str, &'a str);

impl Baseline {
    const FILE: &'static str = "consolidate/baseline";
    const HEAD: &'static [u8] = b"dormouse baseline 1\n";

    /// The last check's; `None` when there was none, or its file is cut or of another build.
    pub(crate) fn load(vault: &Vault) -> Option<Self> {
        Self::read(fs::read(vault.cache_dir().join(Self::FILE)).ok()?)
    }

    /// Keeps the digest notes of now for the next check. What `before` has of a note with the same
    /// content is copied.
    pub(crate) fn store(vault: &Vault, inputs: &Inputs<'_>, before: Option<&Self>) -> Result<(), CommitError> {
        vault.write_cache(Self::FILE, &Self::of(inputs, before))
    }

    fn of(inputs: &Inputs<'_>, before: Option<&Self>) -> Vec<u8> {
        let mut out = Self::HEAD.to_vec();
        let mut rest = before.map_or(&[][..], |b| &b.notes).iter().peekable();
        let mut blob = Vec::new();
        for digest in &inputs.digests {
            let path = digest.path();
            while rest.next_if(|known| known.path < *path).is_some() {}
            let known = rest.next_if(|known| known.path == *path && known.version == digest.note.version);
            blob.clear();
            match known.and_then(|known| before?.bytes.get(known.edges.clone())) {
                Some(same) => blob.extend_from_slice(same),
                None => {
                    for edge in inputs.snapshot.graph().out_edges(path) {
                        put(&mut blob, edge.target.as_str());
                        put(&mut blob, edge.predicate.unwrap_or(""));
                    }
                }
            }
            put(&mut out, path.as_str());
            out.extend_from_slice(digest.note.version.as_bytes());
            out.extend_from_slice(&u32::try_from(blob.len()).unwrap_or(0).to_le_bytes());
            out.extend_from_slice(&blob);
        }
        let sum = Version::of(&out);
        out.extend_from_slice(sum.as_bytes());
        out
    }

    fn read(bytes: Vec<u8>) -> Option<Self> {
        let (body, sum) = bytes.split_last_chunk::<16>()?;
        if Version::of(body).as_bytes() != sum {
            return None;
        }
        let mut notes = Vec::new();
        let mut from = Cut(body.strip_prefix(Self::HEAD)?);
        while !from.0.is_empty() {
            let path = NotePath::new(text(&mut from)?).ok()?;
            let version = Version::from_bytes(from.take()?);
            let length = usize::try_from(u32::from_le_bytes(from.take()?)).ok()?;
            let start = body.len() - from.0.len();
            from.some(length)?;
            notes.push(Known { path, version, edges: start..start + length });
        }
        Some(Self { bytes, notes })
    }

    fn edges(&self, known: &Known) -> Vec<Edge<'_>> {
        let mut from = Cut(self.bytes.get(known.edges.clone()).unwrap_or_default());
        std::iter::from_fn(|| Some((text(&mut from)?, text(&mut from)?))).collect()
    }

    /// Reports notes that are gone and links that vanished. A note that moved (the same content under
    /// another path) is followed, and so are links to it; one that lies in the trash was meant to go.
    pub(super) fn compare(&self, inputs: &Inputs<'_>, out: &mut Findings) {
        let gone: Vec<&Known> = self.notes.iter().filter(|known| inputs.position(&known.path).is_none()).collect();
        let moved = self.moved(inputs, &gone);
        for known in gone {
            let hidden = inputs.snapshot.note(&known.path).is_some_and(|n| !n.is_live() || !n.utf8);
            match moved.get(&known.path).and_then(|path| inputs.digest(path)) {
                Some(digest) => self.compare_note(inputs, known, digest, &moved, out),
                None if hidden || inputs.is_in_trash(&known.path) => {}
                None => out.add(Severity::Warning, FindingKind::NoteGone, Some(&known.path), None, || {
                    "was there at the last check and is gone; restore it if nobody meant that".to_owned()
                }),
            }
        }
        let mut rest = self.notes.iter().peekable();
        for digest in &inputs.digests {
            while rest.next_if(|known| known.path < *digest.path()).is_some() {}
            if let Some(known) = rest.next_if(|known| known.path == *digest.path()) {
                self.compare_note(inputs, known, digest, &moved, out);
            }
        }
    }

    /// Where the notes went that are `gone` from their path.
    fn moved<'a>(&self, inputs: &'a Inputs, gone: &[&Known]) -> BTreeMap<NotePath, &'a NotePath> {
        if gone.is_empty() {
            return BTreeMap::new();
        }
        let known = |path: &NotePath| self.notes.binary_search_by(|known| known.path.cmp(path)).is_ok();
        let new = inputs.digests.iter().filter(|d| !known(d.path()));
        let new: BTreeMap<Version, &NotePath> = new.map(|d| (d.note.version, d.path())).collect();
        gone.iter().filter_map(|k| Some((k.path.clone(), *new.get(&k.version)?))).collect()
    }

    fn compare_note(
        &self,
        inputs: &Inputs<'_>,
        known: &Known,
        digest: &Digest<'_>,
        moved: &BTreeMap<NotePath, &NotePath>,
        out: &mut Findings,
    ) {
        if digest.note.version == known.version {
            return;
        }
        let present = edges_with_parts(inputs, digest);
        let follow = |target: &str| {
            let target = NotePath::new(target).ok()?;
            Some(moved.get(&target).map_or(target, |path| (*path).clone()))
        };
        let known: BTreeSet<(NotePath, &str)> = self
            .edges(known)
            .into_iter()
            .filter_map(|(target, predicate)| Some((follow(target)?, predicate)))
            .collect();
        let mut new: Vec<&str> =
            present.iter().filter(|(t, p)| !known.contains(&((*t).clone(), *p))).map(|(_, p)| *p).collect();
        let mut missing = Vec::new();
        for (target, predicate) in known.iter().filter(|(t, p)| !present.contains(&(t, p))) {
            // A link of the same kind to something new, in place of one to a file that is no more:
            // that file was renamed.
            let renamed = !inputs.snapshot.exists(target);
            if let Some(at) = new.iter().position(|p| p == predicate).filter(|_| renamed) {
                new.swap_remove(at);
                continue;
            }
            // What was deleted or merged on purpose: links to it went with it.
            if renamed && inputs.is_in_trash(target) {
                continue;
            }
            let shown = if predicate.is_empty() { String::new() } else { format!("{predicate}:: ") };
            missing.push(format!("{shown}[[{}]]", target.link_target()));
        }
        if !missing.is_empty() {
            // As code: a page must not link on behalf of a note that doesn't any more.
            out.add(Severity::Warning, FindingKind::LinksLost, Some(digest.path()), None, || {
                let shown: Vec<&str> = missing.iter().take(MOST_SHOWN).map(String::as_str).collect();
                let more = missing.len() - shown.len();
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("{} link(s) lost since the last check: `{}`{more}", missing.len(), shown.join("`, `"))
            });
        }
    }
}

/// The edges of a note and of the notes that were split from it: what a split moved away stands in
/// the children, which link to the parent.
fn edges_with_parts<'a>(inputs: &'a Inputs, digest: &'a Digest) -> BTreeSet<(&'a NotePath, &'a str)> {
    let graph = inputs.snapshot.graph();
    let parts = graph.in_edges(digest.path()).into_iter().filter(|e| e.predicate == Some(crate::split::PART_OF));
    let sources = parts.map(|e| e.source).chain([digest.path()]);
    sources.flat_map(|path| graph.out_edges(path)).map(|e| (e.target, e.predicate.unwrap_or(""))).collect()
}

fn put(out: &mut Vec<u8>, text: &str) {
    let length = u16::try_from(text.len()).unwrap_or(0);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(text.as_bytes().get(..usize::from(length)).unwrap_or_default());
}

fn text<'a>(from: &mut Cut<'a>) -> Option<&'a str> {
    let length = u16::from_le_bytes(from.take()?);
    std::str::from_utf8(from.some(usize::from(length))?).ok()
}
