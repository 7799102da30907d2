//! The metrics. R@k is the share of a question's evidence among the first k, averaged over the
//! questions; MRR and nDCG@10 are binary.

use std::collections::BTreeMap;

use crate::data::Place;

/// The character budgets that are counted.
pub(crate) const BUDGETS: [usize; 4] = [1_000, 2_000, 4_000, 8_000];
/// The category that the main figures leave out.
pub(crate) const LEFT_OUT: &str = "adversarial";

/// The figures of one ranking, or the average of many.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Figures {
    pub(crate) recall_1: f64,
    pub(crate) recall_5: f64,
    pub(crate) recall_10: f64,
    pub(crate) recall_20: f64,
    pub(crate) mrr: f64,
    pub(crate) ndcg_10: f64,
}

impl Figures {
    /// The names, in the order of [`Figures::values`].
    pub(crate) const NAMES: [&'static str; 6] = ["recall@1", "recall@5", "recall@10", "recall@20", "mrr", "ndcg@10"];

    /// The numbers in order.
    pub(crate) fn values(self) -> [f64; 6] {
        [self.recall_1, self.recall_5, self.recall_10, self.recall_20, self.mrr, self.ndcg_10]
    }

    fn from_values([recall_1, recall_5, recall_10, recall_20, mrr, ndcg_10]: [f64; 6]) -> Self {
        Self { recall_1, recall_5, recall_10, recall_20, mrr, ndcg_10 }
    }

    /// The figures of a ranking of blocks.
    fn of_blocks(ranked: &[Place], wanted: &[Place]) -> Self {
        Self::of(wanted, |place| ranked.iter().position(|got| covers(got, place)))
    }

    /// The figures of `wanted` places, each of which counts at its rank.
    fn of<T>(wanted: &[T], rank: impl Fn(&T) -> Option<usize>) -> Self {
        let ranks: Vec<usize> = wanted.iter().filter_map(rank).collect();
        let share = |k: usize| ranks.iter().filter(|rank| **rank < k).count() as f64 / wanted.len().max(1) as f64;
        let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
        let got: f64 = ranks.iter().filter(|rank| **rank < 10).map(|rank| gain(*rank)).sum();
        let best: f64 = (0..wanted.len().min(10)).map(gain).sum();
        Self {
            recall_1: share(1),
            recall_5: share(5),
            recall_10: share(10),
            recall_20: share(20),
            mrr: ranks.iter().min().map_or(0.0, |rank| 1.0 / (*rank as f64 + 1.0)),
            ndcg_10: if best > 0.0 { got / best } else { 0.0 },
        }
    }

    /// The average.
    pub(crate) fn mean<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let mut sums = [0.0; 6];
        let mut count = 0.0_f64;
        for one in all {
            sums.iter_mut().zip(one.values()).for_each(|(sum, value)| *sum += value);
            count += 1.0;
        }
        Self::from_values(sums.map(|sum| sum / count.max(1.0)))
    }
}

/// The notes that one result stands for: its own and those that say the same. A digest's passage stands for
/// the very block that it cites.
#[derive(Debug, Clone)]
pub(crate) struct Covering {
    pub(crate) notes: Vec<String>,
    pub(crate) cited: Vec<Place>,
}

impl Covering {
    /// Whether it covers a note of the evidence, where `wanted` are its blocks.
    fn covers(&self, note: &str, wanted: &[Place]) -> bool {
        self.notes.iter().any(|have| have == note)
            || self.cited.iter().any(|cited| cited.0 == note && wanted.iter().any(|place| covers(cited, place)))
    }
}

/// Whether a block is what was wanted: the very block, or any of the note where none is named.
fn covers(got: &Place, wanted: &Place) -> bool {
    got.0 == wanted.0 && (wanted.1.is_none() || got.1 == wanted.1)
}

/// A question, answered.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    pub(crate) id: String,
    pub(crate) category: String,
    pub(crate) block: Figures,
    pub(crate) note: Figures,
    /// The share of the evidence within each of [`BUDGETS`].
    pub(crate) within: [f64; BUDGETS.len()],
    /// The share of the answer's words in a context, where that was asked.
    pub(crate) answer_words: Option<f64>,
    pub(crate) milliseconds: f64,
}

impl Answered {
    /// Counts a ranking of blocks with their lengths in characters, and one of notes.
    pub(crate) fn of(
        id: &str,
        category: &str,
        wanted: &[Place],
        blocks: &[(Place, usize)],
        notes: &[Covering],
        milliseconds: f64,
    ) -> Self {
        let places: Vec<Place> = blocks.iter().map(|(place, _)| place.clone()).collect();
        let mut wanted_blocks = wanted.to_vec();
        wanted_blocks.sort();
        wanted_blocks.dedup();
        let mut wanted_notes: Vec<&str> = wanted.iter().map(|(note, _)| note.as_str()).collect();
        wanted_notes.sort_unstable();
        wanted_notes.dedup();
        Self {
            id: id.to_owned(),
            category: category.to_owned(),
            block: Figures::of_blocks(&places, &wanted_blocks),
            note: Figures::of(&wanted_notes, |note| notes.iter().position(|got| got.covers(note, &wanted_blocks))),
            within: BUDGETS.map(|budget| within(blocks, &wanted_blocks, budget)),
            answer_words: None,
            milliseconds,
        }
    }
}

/// The share of the evidence in the first blocks that fit; one that doesn't fit is skipped.
fn within(blocks: &[(Place, usize)], wanted: &[Place], budget: usize) -> f64 {
    let mut left = budget;
    let mut taken: Vec<Place> = Vec::new();
    for (place, length) in blocks {
        if *length <= left {
            left -= length;
            taken.push(place.clone());
        }
    }
    let found = wanted.iter().filter(|place| taken.iter().any(|got| covers(got, place))).count();
    found as f64 / wanted.len().max(1) as f64
}

/// The mean share of the answers' words in a context; `None` when nobody asked.
pub(crate) fn mean_answer_words<'a>(all: impl Iterator<Item = &'a Answered>) -> Option<f64> {
    let shares: Vec<f64> = all.filter_map(|one| one.answer_words).collect();
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
}

/// The questions that the main figures are made of.
pub(crate) fn counted(asked: &[Answered]) -> impl Iterator<Item = &Answered> {
    asked.iter().filter(|one| one.category != LEFT_OUT)
}

/// By category, in order.
pub(crate) fn by_category(asked: &[Answered]) -> BTreeMap<&str, Vec<&Answered>> {
    let mut out: BTreeMap<&str, Vec<&Answered>> = BTreeMap::new();
    for one in asked {
        out.entry(&one.category).or_default().push(one);
    }
    out
}
