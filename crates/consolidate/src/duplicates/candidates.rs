//! Which pairs are worth comparing: an inverted index over the sketches. A pair is met by the rare
//! features that it shares; features that many notes have are boilerplate and meet nobody but
//! neighbours, so that the work grows with the number of notes.

use super::names;
use super::signature::{SKETCH, Signature};
use crate::error::ConsolidateError;
use crate::progress::Watch;

/// A feature that more notes have is boilerplate: a template's words, a greeting, a licence.
pub(super) const COMMON: usize = 8;
/// Of a boilerplate feature, how many of the following notes each one is paired with: a family of
/// copies, whose every feature is common, still holds together.
pub(super) const NEXT: usize = 2;
/// Pairs that are counted at once; more are counted in several passes.
const AT_ONCE: usize = 4_000_000;
/// Share of the rarer features of the smaller note that must be common, before texts are compared.
const WORTH: f64 = 0.1;

/// Which features of each sketch are boilerplate: bit i for the i-th.
pub(super) type Common = Vec<u128>;

/// Pairs of indices `a < b`, each once, in order, and what of each sketch is boilerplate.
/// O(n log n) in the features; memory is bounded by them.
pub(super) fn by_text(
    signatures: &[Signature],
    watch: &Watch<'_>,
) -> Result<(Vec<(u32, u32)>, Common), ConsolidateError> {
    let mut postings: Vec<u64> = Vec::with_capacity(signatures.iter().map(|s| s.sketch.len()).sum());
    for (note, signature) in signatures.iter().enumerate() {
        postings.extend(signature.sketch.iter().map(|feature| (u64::from(*feature) << 32) | note as u64));
    }
    watch.check()?;
    postings.sort_unstable();
    watch.check()?;
    let mut common: Common = vec![0; signatures.len()];
    for group in groups(&postings).filter(|group| group.len() > COMMON) {
        for posting in group {
            let (feature, note) = split(*posting);
            let at = signatures.get(note as usize).and_then(|s| s.sketch.binary_search(&feature).ok());
            if let (Some(at), Some(bits)) = (at, common.get_mut(note as usize)) {
                *bits |= 1 << at.min(SKETCH - 1);
            }
        }
    }
    watch.check()?;
    let mut out = Vec::new();
    let total: usize = groups(&postings).map(|group| met(group).count()).sum();
    let passes = (total / AT_ONCE + 1) as u32;
    let mut pairs: Vec<u64> = Vec::new();
    for pass in 0..passes {
        watch.check()?;
        pairs.clear();
        let of_pass = |pair: &(u32, u32)| pair.0 % passes == pass;
        pairs.extend(groups(&postings).flat_map(met).filter(of_pass).map(|(a, b)| (u64::from(a) << 32) | u64::from(b)));
        watch.check()?;
        pairs.sort_unstable();
        watch.check()?;
        for run in pairs.chunk_by(|x, y| x == y) {
            let Some((a, b)) = run.first().map(|pair| split(*pair)) else { continue };
            if is_worth(signatures, &common, a as usize, b as usize, run.len()) {
                out.push((a, b));
            }
        }
    }
    out.sort_unstable();
    Ok((out, common))
}

fn split(two: u64) -> (u32, u32) {
    ((two >> 32) as u32, two as u32)
}

/// The postings of each feature that several notes have.
fn groups(postings: &[u64]) -> impl Iterator<Item = &[u64]> {
    postings.chunk_by(|a, b| a >> 32 == b >> 32).filter(|group| group.len() > 1)
}

/// The pairs that one feature brings together.
fn met(group: &[u64]) -> impl Iterator<Item = (u32, u32)> {
    let reach = if group.len() > COMMON { NEXT } else { COMMON };
    let after = move |i: usize| group.iter().skip(i + 1).take(reach);
    group.iter().enumerate().flat_map(move |(i, a)| after(i).map(|b| (*a as u32, *b as u32)))
}

/// Whether two sketches, which were met `times`, have enough in common for a look at the texts.
pub(super) fn is_worth(signatures: &[Signature], common: &[u128], a: usize, b: usize, times: usize) -> bool {
    let (Some(x), Some(y)) = (signatures.get(a), signatures.get(b)) else { return false };
    let smaller = x.sketch.len().min(y.sketch.len());
    if times < 2 && smaller > 4 {
        return false;
    }
    let rare = Sample::of(x, y, common.get(a).copied().unwrap_or(0), common.get(b).copied().unwrap_or(0));
    rare.share() >= WORTH || rare.is_family()
}

/// The part of two sketches in which both are complete, and what of it they share.
pub(super) struct Sample {
    /// Features of each that are not boilerplate.
    pub(super) rare: (usize, usize),
    /// Those that both have.
    pub(super) shared: usize,
    /// All features of each, and all that both have.
    all: (usize, usize, usize),
}

impl Sample {
    pub(super) fn of(x: &Signature, y: &Signature, common_x: u128, common_y: u128) -> Self {
        let end =
            |s: &Signature| if s.sketch.len() < SKETCH { u32::MAX } else { s.sketch.last().copied().unwrap_or(0) };
        let end = end(x).min(end(y));
        let mut sample = Self { rare: (0, 0), shared: 0, all: (0, 0, 0) };
        let (mut i, mut j) = (0, 0);
        while let (Some(p), Some(q)) = (at(x, i, end), at(y, j, end)) {
            if p == u64::MAX && q == u64::MAX {
                break;
            }
            if p <= q {
                sample.all.0 += 1;
                sample.rare.0 += usize::from(common_x >> i & 1 == 0);
            }
            if q <= p {
                sample.all.1 += 1;
                sample.rare.1 += usize::from(common_y >> j & 1 == 0);
            }
            if p == q {
                sample.all.2 += 1;
                sample.shared += usize::from(common_x >> i & 1 == 0);
            }
            i += usize::from(p <= q);
            j += usize::from(q <= p);
        }
        sample
    }

    /// Of the rare features of the note that has fewer, those that both have, 0..=1.
    pub(super) fn share(&self) -> f64 {
        self.shared as f64 / self.rare.0.min(self.rare.1).max(1) as f64
    }

    /// Whether both are nearly all boilerplate, and nearly the same.
    pub(super) fn is_family(&self) -> bool {
        let few = |rare: usize, all: usize| 4 * rare <= all;
        let (x, y, both) = self.all;
        few(self.rare.0, x) && few(self.rare.1, y) && 10 * both >= 8 * x.max(y)
    }
}

/// The `i`-th feature up to `end`; a value above all where there is none.
fn at(signature: &Signature, i: usize, end: u32) -> Option<u64> {
    let feature = signature.sketch.get(i).filter(|f| **f <= end);
    Some(feature.map_or(u64::MAX, |f| u64::from(*f)))
}

/// Pairs of notes with the same text, or with the same or nearly the same name: each note with at
/// most [`COMMON`] of its neighbours in a bucket.
pub(super) fn by_name_and_text(
    signatures: &[Signature],
    names: &[String],
    watch: &Watch<'_>,
) -> Result<Vec<(u32, u32)>, ConsolidateError> {
    let mut keyed: Vec<(u8, u64, u32)> = Vec::new();
    for (note, (signature, name)) in signatures.iter().zip(names).enumerate() {
        if note % 1024 == 0 {
            watch.check()?;
        }
        let note = note as u32;
        if signature.text != 0 {
            keyed.push((0, signature.text, note));
        }
        if !name.is_empty() {
            keyed.push((1, names::hash(name), note));
        }
        keyed.extend(names::bands(name).into_iter().map(|band| (2, band, note)));
    }
    watch.check()?;
    keyed.sort_unstable();
    watch.check()?;
    let mut out: Vec<(u32, u32)> = Vec::new();
    for group in keyed.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        for (i, a) in group.iter().enumerate() {
            out.extend(group.iter().skip(i + 1).take(COMMON).filter(|b| b.2 != a.2).map(|b| (a.2, b.2)));
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;

    fn meet(texts: &[&str]) -> Vec<(u32, u32)> {
        let signatures: Vec<_> = texts.iter().map(|text| Signature::of(text)).collect();
        let watch = Watch { task: crate::Task::Duplicates, progress: &Silent, cancel: &|| false };
        by_text(&signatures, &watch).unwrap().0
    }

    const A: &str = "The grey heron fishes at dawn. Otters sleep in the reeds. A ferry crosses the lake at noon.";

    #[test]
    fn notes_that_share_sentences_meet_and_others_do_not() {
        let part = "A ferry crosses the lake at noon. Otters sleep in the reeds. The baker sells bread until evening.";
        assert_eq!(meet(&[A, "Nothing of that stands here, it is about gardens.", part]), [(0, 2)]);
    }

    #[test]
    fn a_search_by_name_stops_when_it_is_cancelled() {
        let watch = |cancel| Watch { task: crate::Task::Duplicates, progress: &Silent, cancel };
        let (signatures, names) = (vec![Signature::of(A); 2], vec!["grey heron".to_owned(); 2]);
        let met = |cancel| by_name_and_text(&signatures, &names, &watch(cancel));
        assert!(met(&|| false).is_ok_and(|pairs| pairs.contains(&(0, 1))));
        assert!(matches!(met(&|| true), Err(ConsolidateError::Cancelled)));
    }

    #[test]
    fn boilerplate_brings_nobody_together_but_a_family_of_copies_holds() {
        let frame = "Minutes of the weekly meeting in the large room. Everybody agreed with the plan as it was shown. ";
        let notes: Vec<String> = (0..40)
            .map(|i| format!("{frame}Alpha{i} beta{i} gamma{i} delta{i} eta{i}. Zeta{i} rho{i} tau{i} chi{i} psi{i}."))
            .collect();
        assert!(meet(&notes.iter().map(String::as_str).collect::<Vec<_>>()).is_empty());
        let copies = meet(&[A; 40]);
        assert!(copies.len() >= 39 && copies.len() <= 40 * NEXT, "{}", copies.len());
    }

    #[test]
    fn a_sample_of_two_long_notes_tells_what_they_share() {
        let text = |range: std::ops::Range<usize>| -> String {
            range.map(|i| format!("Word{i} thing{i} place{i} time{i} other{i}. ")).collect()
        };
        let (a, b) = (Signature::of(&text(0..400)), Signature::of(&text(160..560)));
        let sample = Sample::of(&a, &b, 0, 0);
        assert!((sample.share() - 0.6).abs() < 0.15, "{}", sample.share());
    }
}
