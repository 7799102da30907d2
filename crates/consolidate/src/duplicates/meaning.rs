//! Pairs that mean the same, when a caller has vectors: random hyperplanes (Charikar 2002), then the
//! real cosine.

use dormouse_vault::NotePath;

use super::candidates::COMMON;
use crate::error::ConsolidateError;
use crate::progress::Watch;
use crate::rng::{SplitMix64, mix};

/// Vectors of notes, of whoever has some. One that is missing, of another length than the rest, or
/// not finite only leaves its note out.
pub trait Vectors {
    /// The vector of what the note says at this moment, of any norm.
    fn vector(&self, note: &NotePath) -> Option<&[f32]>;
}

/// Tables of hash bits, and bits of each: two vectors with a cosine of 0.92 share one of the tables
/// with probability 0.99.
const TABLES: usize = 24;
const BITS: usize = 12;
/// Coordinates that a hyperplane looks at.
const COORDINATES: usize = 32;

/// A vector of norm 1.
pub(super) type Unit = Vec<f32>;

/// The vectors of `notes`, scaled; `None` where there is none of the common length.
pub(super) fn units<'a>(
    notes: impl Iterator<Item = &'a NotePath>,
    vectors: &dyn Vectors,
    watch: &Watch<'_>,
) -> Result<Vec<Option<Unit>>, ConsolidateError> {
    let mut length = None;
    let mut unit = |note| {
        let vector: &[f32] = vectors.vector(note)?;
        let norm = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
        let fits = *length.get_or_insert(vector.len()) == vector.len() && norm.is_finite() && norm > 0.0;
        fits.then(|| vector.iter().map(|x| (f64::from(*x) / norm) as f32).collect())
    };
    notes.map(|note| watch.check().map(|()| unit(note))).collect()
}

/// Cosine of two vectors, -1..=1; -1 when one is missing.
pub(super) fn cosine(a: Option<&Unit>, b: Option<&Unit>) -> f64 {
    match (a, b) {
        (Some(a), Some(b)) => a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum(),
        _ => -1.0,
    }
}

/// Pairs of indices `a < b` with a cosine of at least `least`, each once, in order. Near-linear: of a
/// crowded bucket each is paired with its next neighbours. Memory follows the pairs that it returns.
pub(super) fn pairs(
    units: &[Option<Unit>],
    least: f64,
    watch: &Watch<'_>,
) -> Result<Vec<(u32, u32)>, ConsolidateError> {
    let Some(length) = units.iter().flatten().map(Vec::len).next().filter(|n| *n > 0) else {
        return Ok(Vec::new());
    };
    let unit = |at: u32| units.get(at as usize).and_then(Option::as_ref);
    let near = |(a, b): &(u32, u32)| cosine(unit(*a), unit(*b)) >= least;
    let mut out = Vec::new();
    for table in 0..TABLES as u64 {
        let planes: Vec<Vec<(usize, f32)>> = (0..BITS as u64).map(|bit| plane(mix(table << 8 | bit), length)).collect();
        let mut keyed: Vec<(u32, u32)> = Vec::with_capacity(units.len());
        for (note, unit) in units.iter().enumerate() {
            if note % 1024 == 0 {
                watch.check()?;
            }
            keyed.extend(unit.as_ref().map(|unit| (side(unit, &planes), note as u32)));
        }
        keyed.sort_unstable();
        for group in keyed.chunk_by(|a, b| a.0 == b.0) {
            for (i, a) in group.iter().enumerate() {
                if i % 64 == 0 {
                    watch.check()?;
                }
                out.extend(group.iter().skip(i + 1).take(COMMON).map(|b| (a.1, b.1)).filter(near));
            }
        }
        // Runs of earlier tables are in order already, which this sort makes use of.
        out.sort();
        out.dedup();
    }
    Ok(out)
}

fn plane(seed: u64, length: usize) -> Vec<(usize, f32)> {
    let mut random = SplitMix64::new(seed);
    let count = COORDINATES.min(length);
    (0..count).map(|_| (random.below(length), if random.next() & 1 == 0 { 1.0 } else { -1.0 })).collect()
}

fn side(unit: &Unit, planes: &[Vec<(usize, f32)>]) -> u32 {
    planes.iter().fold(0, |bits, plane| {
        let sum: f32 = plane.iter().filter_map(|(at, sign)| unit.get(*at).map(|x| x * sign)).sum();
        bits << 1 | u32::from(sum > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;

    #[test]
    fn near_vectors_meet_and_far_ones_seldom() {
        let mut random = SplitMix64::new(7);
        let mut unit = || -> Vec<f32> { (0..64).map(|_| random.unit() as f32 - 0.5).collect() };
        let scaled = |v: Vec<f32>| {
            let norm = v.iter().map(|x| x * x).sum::<f32>().sqrt();
            Some(v.iter().map(|x| x / norm).collect::<Vec<_>>())
        };
        let mut units = Vec::new();
        for _ in 0..200 {
            let (a, noise) = (unit(), unit());
            let b = a.iter().zip(&noise).map(|(x, n)| x + 0.3 * n).collect();
            units.extend([scaled(a), scaled(b)]);
        }
        let watch = |cancel| Watch { task: crate::Task::Duplicates, progress: &Silent, cancel };
        assert!(matches!(pairs(&units, -1.0, &watch(&|| true)), Err(ConsolidateError::Cancelled)));
        let near = pairs(&units, 0.9, &watch(&|| false)).unwrap();
        assert!(near.iter().all(|(a, b)| a / 2 == b / 2), "{near:?}");
        let pairs = pairs(&units, -1.0, &watch(&|| false)).unwrap();
        let met = (0..200_u32).filter(|i| pairs.binary_search(&(2 * i, 2 * i + 1)).is_ok()).count();
        assert!(met >= 190, "{met}");
        assert!(pairs.len() < 20_000, "{}", pairs.len());
    }
}
