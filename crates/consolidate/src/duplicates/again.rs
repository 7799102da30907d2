//! The candidate pairs after a few changes, from those of an earlier run: only what the changed notes
//! touch is met anew, and the result is that of [`super::candidates::by_text`].

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::candidates::{COMMON, Common, NEXT, is_worth};
use super::signature::{SKETCH, Signature};
use crate::error::ConsolidateError;
use crate::progress::Watch;

/// Pairs that are worth a look, with what of each sketch is boilerplate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Met {
    /// Indices `a < b`, each pair once, in order.
    pub(super) pairs: Vec<(u32, u32)>,
    pub(super) common: Common,
}

/// What has happened since.
#[derive(Debug, Default)]
pub(super) struct Since {
    /// Where each note of then is now, in order; `None` when it is gone or has changed.
    pub(super) now: Vec<Option<u32>>,
    /// The notes of now that are new or have changed, ascending.
    pub(super) changed: Vec<u32>,
    /// The signatures of then that are no more, with the number of notes of now before each.
    pub(super) gone: Vec<(u32, Signature)>,
    /// How many notes are in both, since they were edited.
    pub(super) edited: usize,
}

impl Since {
    /// How many notes have come, gone or changed.
    pub(super) fn notes(&self) -> usize {
        self.changed.len() + self.gone.len() - self.edited
    }
}

/// Who has a feature: indices of notes, ascending.
type Holders = HashMap<u32, Vec<u32>>;

/// The pairs of now. Linear in the features of all notes with a small constant, and in those that
/// changed notes share with others.
pub(super) fn meet_again(
    signatures: &[Signature],
    then: &Met,
    since: &Since,
    watch: &Watch<'_>,
) -> Result<Met, ConsolidateError> {
    let changed: BTreeSet<u32> = since.changed.iter().copied().collect();
    let sketch = |note: u32| signatures.get(note as usize).map_or(&[][..], |s| s.sketch.as_slice());
    let of_changed = changed.iter().flat_map(|note| sketch(*note)).copied();
    let mut touched: Vec<u32> =
        of_changed.chain(since.gone.iter().flat_map(|(_, s)| s.sketch.iter().copied())).collect();
    let holders = holders(signatures, &mut touched);
    watch.check()?;
    let mut common: Common = vec![0; signatures.len()];
    for (now, bits) in since.now.iter().zip(&then.common) {
        if let Some(slot) = now.and_then(|now| common.get_mut(now as usize)) {
            *slot = *bits;
        }
    }
    let mut gone: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (before, signature) in &since.gone {
        signature.sketch.iter().for_each(|feature| gone.entry(*feature).or_default().push(*before));
    }
    let mut affected = changed.clone();
    for feature in &touched {
        let (none, lost) = (Vec::new(), gone.get(feature).map_or(&[][..], Vec::as_slice));
        let have = holders.get(feature).unwrap_or(&none);
        let new = have.iter().filter(|note| changed.contains(note)).count();
        let (was, is) = (have.len() - new + lost.len() > COMMON, have.len() > COMMON);
        if was != is {
            affected.extend(have);
        } else if is {
            let inserted = have.iter().enumerate().filter(|(_, note)| changed.contains(note)).map(|(at, _)| at);
            let removed = lost.iter().map(|before| have.partition_point(|note| note < before));
            for at in inserted.chain(removed) {
                affected.extend(have.iter().skip(at.saturating_sub(NEXT)).take(2 * NEXT + 1));
            }
        }
        for note in have.iter().filter(|note| was != is || changed.contains(note)) {
            let at = sketch(*note).binary_search(feature).ok();
            if let (Some(at), Some(bits)) = (at, common.get_mut(*note as usize)) {
                let bit = 1 << at.min(SKETCH - 1);
                *bits = if is { *bits | bit } else { *bits & !bit };
            }
        }
    }
    watch.check()?;
    let holders = if affected.len() == changed.len() {
        holders
    } else {
        let mut wanted: Vec<u32> = affected.iter().flat_map(|note| sketch(*note)).copied().collect();
        self::holders(signatures, &mut wanted)
    };
    let kept = then.pairs.iter().filter_map(|(a, b)| {
        let now = |then: u32| *since.now.get(then as usize)?;
        Some((now(*a)?, now(*b)?)).filter(|(a, b)| !affected.contains(a) && !affected.contains(b))
    });
    let mut pairs: Vec<(u32, u32)> = kept.collect();
    for (done, &note) in affected.iter().enumerate() {
        if done % 64 == 0 {
            watch.check()?;
        }
        for (other, times) in partners(note, sketch(note), &holders) {
            let (a, b) = (note.min(other), note.max(other));
            // A pair of two affected notes is met from its first one.
            if (note < other || !affected.contains(&other))
                && is_worth(signatures, &common, a as usize, b as usize, times)
            {
                pairs.push((a, b));
            }
        }
    }
    pairs.sort_unstable();
    Ok(Met { pairs, common })
}

/// Who has each of `wanted`, which is sorted on the way.
fn holders(signatures: &[Signature], wanted: &mut Vec<u32>) -> Holders {
    const BITS: u32 = 20;
    wanted.sort_unstable();
    wanted.dedup();
    // Most features are none of these: a bit says so without a search.
    let mut seen = vec![0_u64; 1 << (BITS - 6)];
    let place = |feature: u32| ((feature >> (32 - BITS + 6)) as usize, 1_u64 << (feature >> (32 - BITS) & 63));
    for feature in wanted.iter() {
        let (word, bit) = place(*feature);
        seen.get_mut(word).into_iter().for_each(|word| *word |= bit);
    }
    let mut out: Holders = HashMap::with_capacity(wanted.len());
    for (note, signature) in (0_u32..).zip(signatures) {
        for feature in &signature.sketch {
            let (word, bit) = place(*feature);
            if seen.get(word).is_some_and(|word| word & bit != 0) && wanted.binary_search(feature).is_ok() {
                out.entry(*feature).or_default().push(note);
            }
        }
    }
    out
}

/// The notes that a note meets, and how often.
fn partners(note: u32, sketch: &[u32], holders: &Holders) -> BTreeMap<u32, usize> {
    let mut out = BTreeMap::new();
    for have in sketch.iter().filter_map(|feature| holders.get(feature)) {
        let Ok(at) = have.binary_search(&note) else { continue };
        let reach = if have.len() > COMMON { NEXT } else { COMMON };
        let near = have.iter().enumerate().skip(at.saturating_sub(reach)).take_while(|(i, _)| *i <= at + reach);
        near.filter(|(i, _)| *i != at).for_each(|(_, other)| *out.entry(*other).or_insert(0) += 1);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::candidates::by_text;
    use super::*;
    use crate::progress::Silent;

    fn watch() -> Watch<'static> {
        Watch { task: crate::Task::Duplicates, progress: &Silent, cancel: &|| false }
    }

    fn met(signatures: &[Signature]) -> Met {
        let (pairs, common) = by_text(signatures, &watch()).unwrap();
        Met { pairs, common }
    }

    /// A note of few features, so that many meet and some features are everybody's.
    fn signature(features: &[u8]) -> Signature {
        let mut sketch: Vec<u32> = features.iter().map(|f| u32::from(*f).wrapping_mul(0x9E37_79B9)).collect();
        sketch.sort_unstable();
        sketch.dedup();
        Signature { text: features.iter().fold(7, |hash, f| hash * 31 + u64::from(*f)), tokens: 50, sketch }
    }

    proptest! {
        #[test]
        fn what_is_met_again_is_what_is_met_from_scratch(
            notes in prop::collection::vec((prop::collection::vec(0_u8..40, 0..9), 0_u8..10), 0..40),
            more in prop::collection::vec(prop::collection::vec(0_u8..40, 0..9), 40),
        ) {
            // Of each note: 0 is gone, 1 has changed, 2 has a new one before it, the others stay.
            let then: Vec<Signature> = notes.iter().map(|(features, _)| signature(features)).collect();
            let (mut now, mut since) = (Vec::new(), Since::default());
            for ((features, what), other) in notes.iter().zip(&more) {
                let next = now.len() as u32;
                match what {
                    0 => {
                        since.now.push(None);
                        since.gone.push((next, signature(features)));
                    }
                    1 => {
                        since.now.push(None);
                        since.gone.push((next, signature(features)));
                        since.changed.push(next);
                        now.push(signature(other));
                    }
                    2 => {
                        since.changed.push(next);
                        now.push(signature(other));
                        since.now.push(Some(next + 1));
                        now.push(signature(features));
                    }
                    _ => {
                        since.now.push(Some(next));
                        now.push(signature(features));
                    }
                }
            }
            prop_assert_eq!(meet_again(&now, &met(&then), &since, &watch()).unwrap(), met(&now));
        }
    }
}
