//! Notes on their way into a reply: their order, their explanation, and which say the same.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use dormouse_vault::text::is_cjk;
use dormouse_vault::{Layer, Note, NotePath};

use super::blocks::Scored;
use super::factors::Factors;
use super::reply::{Explain, Hit, Named};
use crate::text::fold;

/// Another note takes a digest's place only from this share of its score on.
const WORTH_A_PLACE: f64 = 0.3;
/// Two passages of this many characters (a Chinese one counts three) are the same text, shorter ones may
/// be two things that happened.
const SAME_TEXT: usize = 40;
/// Blocks beside the best one that count for their note.
const SUPPORTERS: usize = 5;

/// A note on its way into the reply.
pub(crate) struct Candidate {
    pub(crate) note: Arc<Note>,
    pub(crate) blocks: Vec<Scored>,
    pub(crate) factors: Factors,
    /// Share of the further blocks.
    share: f64,
    /// Factor for what reaches the note along links; 1 without any.
    pub(crate) links: f64,
    /// Factor for the better place of a note that says the same; 1 without one.
    pub(crate) shared: f64,
    /// Notes that say the same.
    pub(crate) also_at: Vec<NotePath>,
}

impl Candidate {
    /// A note that stands for itself.
    pub(crate) fn new(note: &Arc<Note>, blocks: Vec<Scored>, factors: Factors, share: f64) -> Self {
        Self { note: Arc::clone(note), blocks, factors, share, links: 1.0, shared: 1.0, also_at: Vec::new() }
    }

    /// The best block's score times the note's factors and the support of its other blocks.
    pub(crate) fn score(&self) -> f64 {
        self.blocks.first().map_or(0.0, Scored::score) * self.support() * self.factor()
    }

    /// Factor for the note's further blocks: 1 + a share of each of the next [`SUPPORTERS`], as a
    /// part of the best.
    fn support(&self) -> f64 {
        let mut scores = self.blocks.iter().map(Scored::score);
        let best = scores.next().unwrap_or(0.0);
        let others: f64 = scores.take(SUPPORTERS).sum();
        if best > 0.0 { (1.0 + self.share * others / best).clamp(0.5, 2.0) } else { 1.0 }
    }

    /// The product of the note's own factors.
    pub(crate) fn factor(&self) -> f64 {
        self.factors.product() * self.links * self.shared
    }
}

/// How a score came about.
pub(crate) fn explain(candidate: &Candidate) -> Explain {
    let (best, factors) = (candidate.blocks.first(), &candidate.factors);
    let named = |name: &str, value| Named { name: name.to_owned(), value };
    let text = best.map_or(0.0, Scored::text);
    let shared = (candidate.shared > 1.0).then(|| named("shared", candidate.shared));
    let named_factors = [
        named("text", text),
        named("speaker", best.map_or(1.0, |s| s.speaker)),
        named("cast", best.map_or(1.0, |s| s.cast)),
        named("layer", factors.layer),
        named("centrality", factors.centrality),
        named("community", factors.community),
        named("recency", factors.recency),
        named("links", candidate.links),
        named("support", candidate.support()),
    ];
    Explain {
        factors: named_factors.into_iter().chain(shared).collect(),
        parts: best.map(|s| s.parts.iter().map(|(name, value)| named(name, *value)).collect()).unwrap_or_default(),
    }
}

/// The hit that already shows every passage of this one, when its texts are long enough to be no
/// coincidence.
pub(crate) fn same_text(hit: &Hit, texts: &BTreeMap<String, usize>) -> Option<usize> {
    let mut first = None;
    for passage in &hit.passages {
        let text = fold(&passage.text);
        let length: usize = text.chars().map(|c| if is_cjk(c) { 3 } else { 1 }).sum();
        if length < SAME_TEXT {
            return None;
        }
        first = Some(*texts.get(&text)?);
    }
    first
}

/// Digests take at most their share of the first places, as long as other notes answer too.
pub(crate) fn uncrowded(ranked: Vec<Candidate>, share: f64) -> Vec<Candidate> {
    let (mut digests, mut others): (VecDeque<_>, VecDeque<_>) =
        ranked.into_iter().partition(|c| c.note.layer == Layer::Digest);
    let mut out: Vec<Candidate> = Vec::with_capacity(digests.len() + others.len());
    let mut taken = 0.0;
    loop {
        let place = (out.len() + 1) as f64;
        let next = match (digests.front(), others.front()) {
            (None, None) => return out,
            (Some(_), None) => digests.pop_front(),
            (None, Some(_)) => others.pop_front(),
            (Some(digest), Some(other)) => {
                let crowded = taken >= (share * place).ceil() && other.score() >= WORTH_A_PLACE * digest.score();
                if digest.score() > other.score() && !crowded { digests.pop_front() } else { others.pop_front() }
            }
        };
        if let Some(next) = next {
            taken += f64::from(u8::from(next.note.layer == Layer::Digest));
            out.push(next);
        }
    }
}
