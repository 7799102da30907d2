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
pub(super) fn units<'a>(notes: impl Iterator<Item = &'a NotePath>, vectors: &dyn Vectors) -> Vec<Option<Unit>> {
    let mut length = None;
    notes
        .map(|note| {
            let vector = vectors.vector(note)?;
            let norm = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
            let fits = *length.get_or_insert(vector.len()) == vector.len() && norm.is_finite() && norm > 0.0;
            fits.then(|| vector.iter().map(|x| (f64::from(*x) / norm) as f32).collect())
        })
        .collect()
}

/// Cosine of two vectors, -1..=1; -1 when one is missing.
pub(super) fn cosine(a: Option<&Unit>, b: Option<&Unit>) -> f64 {
    match (a, b) {
        (Some(a), Some(b)) => a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum(),
        _ => -1.0,
    }
}

/// Pairs of indices that may mean the same. Near-linear: of a crowded bucket each is paired with its
/// next neighbours.
pub(super) fn pairs(units: &[Option<Unit>], watch: &Watch<'_>) -> Result<Vec<(u32, u32)>, ConsolidateError> {
    let Some(length) = units.iter().flatten().map(Vec::len).next().filter(|n| *n > 0) else {
        return Ok(Vec::new());
    };
    let mut out = Vec::new();
    for table in 0..TABLES as u64 {
        watch.check()?;
        let planes: Vec<Vec<(usize, f32)>> = (0..BITS as u64).map(|bit| plane(mix(table << 8 | bit), length)).collect();
        let mut keyed: Vec<(u32, u32)> = units
            .iter()
            .enumerate()
            .filter_map(|(note, unit)| Some((side(unit.as_ref()?, &planes), note as u32)))
            .collect();
        keyed.sort_unstable();
        for group in keyed.chunk_by(|a, b| a.0 == b.0) {
            for (i, a) in group.iter().enumerate() {
                out.extend(group.iter().skip(i + 1).take(COMMON).map(|b| (a.1, b.1)));
            }
        }
    }
    out.sort_unstable();
    out.dedup();
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
        let watch = Watch { task: crate::Task::Duplicates, progress: &crate::Silent, cancel: &|| false };
        let pairs = pairs(&units, &watch).unwrap();
        let met = (0..200_u32).filter(|i| pairs.binary_search(&(2 * i, 2 * i + 1)).is_ok()).count();
        assert!(met >= 190, "{met}");
        assert!(pairs.len() < 20_000, "{}", pairs.len());
    }
}
