//! Paired bootstrap: how sure a difference between two settings is.

/// How often the questions are drawn anew.
pub(crate) const DRAWS: usize = 2_000;

/// SplitMix64: small, seeded, the same on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % bound.max(1) as u64).unwrap_or(0)
    }
}

/// The mean of the differences, and the interval that holds 95 % of the means of questions drawn
/// with replacement.
pub(crate) fn interval(differences: &[f64]) -> (f64, f64, f64) {
    let count = differences.len().max(1) as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let mut random = Random(20_261_130);
    let mut means: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let drawn = (0..differences.len()).filter_map(|_| differences.get(random.below(differences.len())));
            drawn.sum::<f64>() / count
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means.get((share * DRAWS as f64) as usize).copied().unwrap_or(mean);
    (mean, at(0.025), at(0.975))
}
