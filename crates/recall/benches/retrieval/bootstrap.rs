//! Paired bootstrap: how sure a difference between two settings is.

use dormouse_fixtures::SplitMix64;

/// How often the questions are drawn anew.
pub(crate) const DRAWS: usize = 2_000;

/// The mean of the differences, and the interval that holds 95 % of the means of questions drawn
/// with replacement.
pub(crate) fn interval(differences: &[f64]) -> (f64, f64, f64) {
    let count = differences.len().max(1) as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let mut random = SplitMix64(20_261_130);
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
