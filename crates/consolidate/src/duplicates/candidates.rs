//! Which pairs are worth comparing: MinHash signatures cut into bands (Broder 1997; Leskovec,
//! Rajaraman, Ullman, Mining of Massive Datasets, ch. 3), equal texts, equal and near-equal names.

use std::collections::{BTreeMap, BTreeSet};

use super::judge::View;
use super::names;
use crate::error::ConsolidateError;
use crate::progress::Watch;
use crate::rng::mix;

/// 128 hashes in 32 bands of 4: a pair with Jaccard 0.5 is met with probability 0.87, one with 0.6
/// with 0.99.
const BANDS: usize = 32;
const ROWS: usize = 4;
/// In a bucket with more notes each is compared with its next neighbours only: boilerplate must not
/// make the search quadratic.
const NEIGHBOURS: usize = 32;

/// Pairs of indices `a < b`, each once, in order.
pub(super) fn pairs(views: &[View], watch: &Watch<'_>) -> Result<BTreeSet<(usize, usize)>, ConsolidateError> {
    let mut buckets: BTreeMap<(u64, u64), Vec<usize>> = BTreeMap::new();
    for (at, view) in views.iter().enumerate() {
        if at % 64 == 0 {
            watch.step(views.len() + at)?;
        }
        for (band, hash) in bands(&signature(&view.shingles)).into_iter().enumerate() {
            buckets.entry((band as u64, hash)).or_default().push(at);
        }
        if !view.words.is_empty() {
            buckets.entry((1000, view.text_hash)).or_default().push(at);
        }
        buckets.entry((1001, names::hash(&view.name))).or_default().push(at);
        for hash in names::bands(&view.name) {
            buckets.entry((1002, hash)).or_default().push(at);
        }
    }
    let mut out = BTreeSet::new();
    for members in buckets.into_values() {
        for (i, &a) in members.iter().enumerate() {
            for &b in members.iter().skip(i + 1).take(NEIGHBOURS).filter(|b| **b != a) {
                out.insert((a.min(b), a.max(b)));
            }
        }
    }
    Ok(out)
}

/// The smallest value of each of the hash functions over the set; empty for an empty set.
fn signature(shingles: &BTreeSet<u64>) -> Vec<u64> {
    if shingles.is_empty() {
        return Vec::new();
    }
    let salt = |i: usize| mix(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(i as u64 + 1));
    (0..BANDS * ROWS).map(|i| shingles.iter().map(|s| mix(s ^ salt(i))).min().unwrap_or(u64::MAX)).collect()
}

fn bands(signature: &[u64]) -> Vec<u64> {
    signature
        .chunks(ROWS)
        .map(|rows| rows.iter().fold(0, |hash, row| mix(hash ^ row.wrapping_add(0x9E37_79B9))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_of_signatures_is_near_the_jaccard_of_the_sets() {
        let set = |range: std::ops::Range<u64>| range.map(mix).collect::<BTreeSet<_>>();
        let (a, b) = (signature(&set(0..300)), signature(&set(100..400)));
        let alike = a.iter().zip(&b).filter(|(x, y)| x == y).count() as f64 / a.len() as f64;
        assert!((alike - 0.5).abs() < 0.15, "{alike}");
        assert!(signature(&BTreeSet::new()).is_empty());
    }

    #[test]
    fn bands_meet_nearly_all_pairs_that_are_alike_and_few_others() {
        let set = |range: std::ops::Range<u64>| range.map(mix).collect::<BTreeSet<_>>();
        let meet = |shared: u64| {
            let trials = (0..200_u64).filter(|t| {
                let from = t * 10_000;
                let (a, b) = (set(from..from + 100), set(from + 100 - shared..from + 200 - shared));
                let (a, b) = (bands(&signature(&a)), bands(&signature(&b)));
                a.iter().zip(&b).any(|(x, y)| x == y)
            });
            trials.count()
        };
        // 75 of 125 in common is a Jaccard of 0.6, 18 of 182 one of 0.1.
        assert!(meet(75) >= 190, "{}", meet(75));
        assert!(meet(18) <= 10, "{}", meet(18));
    }
}
