//! The questions, and how well they are answered.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use dormouse_fixtures::{Evidence, Question};
use dormouse_vault::daily::DailyEvent;
use dormouse_vault::{NotePath, Snapshot, Vault};
use serde::{Deserialize, Serialize};

/// A place that answers a question: a note, and a block of it where it is known.
pub(crate) type Place = (NotePath, Option<String>);

/// A question as asked in this run.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Unique.
    pub(crate) id: String,
    /// The words.
    pub(crate) query: String,
    /// Its kind, for the breakdown.
    pub(crate) kind: String,
    evidence: Vec<Wanted>,
}

#[derive(Debug, Clone)]
enum Wanted {
    Block(String, Option<String>),
    Said { session: String, says: String },
    Commit(String),
}

/// Retrieval figures over a set of questions, as fractions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// Share of a question's evidence notes among the first five results, averaged.
    #[serde(rename = "recall@5")]
    pub(crate) recall_5: f64,
    /// The same among the first ten.
    #[serde(rename = "recall@10")]
    pub(crate) recall_10: f64,
    /// Mean reciprocal rank of the first result that holds evidence.
    pub(crate) mrr: f64,
    /// How many questions.
    pub(crate) questions: usize,
}

impl Asked {
    /// The question that asks for one commit by its own subject.
    pub(crate) fn known_item(hash: &str, event: &DailyEvent) -> Self {
        Self {
            id: hash.to_owned(),
            query: event.name.clone(),
            kind: "known-item".into(),
            evidence: vec![Wanted::Commit(hash.to_owned())],
        }
    }

    /// The notes and blocks that answer it in this vault; what can't be found is left out, and
    /// `missing` counts it.
    pub(crate) fn places(&self, vault: &Vault, snapshot: &Snapshot, missing: &mut usize) -> Vec<Place> {
        let mut places = Vec::new();
        for wanted in &self.evidence {
            match wanted.place(vault, snapshot) {
                Some(place) => places.push(place),
                None => *missing += 1,
            }
        }
        places
    }

    /// Whether nothing answers it.
    pub(crate) fn has_no_answer(&self) -> bool {
        self.evidence.is_empty()
    }
}

impl Wanted {
    fn place(&self, vault: &Vault, snapshot: &Snapshot) -> Option<Place> {
        match self {
            Self::Block(note, block) => {
                let path = NotePath::new(note).ok()?;
                snapshot.exists(&path).then(|| (path, block.clone()))
            }
            Self::Commit(hash) => snapshot
                .notes()
                .find(|n| n.doc().frontmatter.text("commit") == Some(hash))
                .map(|n| (n.path.clone(), None)),
            Self::Said { session, says } => {
                let wanted = squeeze(says);
                snapshot
                    .notes()
                    .filter(|n| n.doc().frontmatter.text("session").is_some_and(|s| s.starts_with(session.as_str())))
                    .find_map(|note| {
                        let text = vault.read(&note.path).ok()?.text;
                        let block = note
                            .doc()
                            .blocks
                            .iter()
                            .find(|b| text.get(b.span.clone()).is_some_and(|t| squeeze(t).contains(&wanted)))?;
                        Some((note.path.clone(), block.id.clone()))
                    })
            }
        }
    }
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The example vault's questions.
pub(crate) fn of_fixtures() -> Vec<Asked> {
    dormouse_fixtures::questions().into_iter().map(from_fixture).collect()
}

fn from_fixture(question: Question) -> Asked {
    let evidence = question.evidence.into_iter().map(|e| match e {
        Evidence::Block { note, block } => Wanted::Block(note, block),
        Evidence::Said { session, says } => Wanted::Said { session, says },
    });
    Asked { id: question.id, query: question.query, kind: question.kind, evidence: evidence.collect() }
}

/// Questions from a file of JSON lines: `{id, query, kind | category, evidence: [{note, block}]}`.
pub(crate) fn of_file(file: &Path) -> Result<Vec<Asked>> {
    #[derive(Deserialize)]
    struct Line {
        id: String,
        query: String,
        #[serde(alias = "category", default)]
        kind: String,
        #[serde(default)]
        evidence: Vec<Evidence>,
    }
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let lines = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty());
    lines
        .map(|(n, line)| {
            let line: Line = serde_json::from_str(line).with_context(|| format!("{}:{}", file.display(), n + 1))?;
            Ok(from_fixture(Question {
                id: line.id,
                query: line.query,
                lang: String::new(),
                kind: line.kind,
                evidence: line.evidence,
            }))
        })
        .collect()
}

/// Adds up one question's result lists. A result covers an evidence note when it is that note, or a
/// digest of which a returned passage cites the evidence's own block.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    sum: Figures,
}

impl Tally {
    /// Counts one question: `results` are the places that each result covers, best first.
    pub(crate) fn add(&mut self, wanted: &[Place], results: &[Vec<Place>]) {
        let notes: BTreeSet<&NotePath> = wanted.iter().map(|(note, _)| note).collect();
        let covered = |k: usize| {
            let seen = results.iter().take(k).flatten();
            let hit: BTreeSet<&NotePath> = seen.filter(|p| covers(p, wanted)).map(|(n, _)| n).collect();
            hit.len() as f64 / notes.len().max(1) as f64
        };
        let first = results.iter().position(|places| places.iter().any(|p| covers(p, wanted)));
        self.sum.recall_5 += covered(5);
        self.sum.recall_10 += covered(10);
        self.sum.mrr += first.map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0));
        self.sum.questions += 1;
    }

    /// The averages.
    pub(crate) fn figures(&self) -> Figures {
        let n = self.sum.questions.max(1) as f64;
        Figures {
            recall_5: self.sum.recall_5 / n,
            recall_10: self.sum.recall_10 / n,
            mrr: self.sum.mrr / n,
            questions: self.sum.questions,
        }
    }
}

/// A result that is the note itself has no block; one that cites must cite the very block, where
/// the evidence names one.
fn covers((note, block): &Place, wanted: &[Place]) -> bool {
    wanted.iter().any(|(n, b)| n == note && (block.is_none() || b.is_none() || b == block))
}

#[cfg(test)]
mod tests {
    use dormouse_vault::NotePath;

    use super::{Place, Tally};

    fn place(text: &str) -> Place {
        let (note, block) = text.split_once('^').map_or((text, None), |(n, b)| (n, Some(b.to_owned())));
        (NotePath::new(note).unwrap(), block)
    }

    #[test]
    fn a_citing_digest_counts_only_for_the_very_block() {
        let wanted = [place("a.md^b1"), place("b.md^b2")];
        let mut tally = Tally::default();
        tally.add(&wanted, &[vec![place("d.md"), place("a.md^b9")], vec![place("d2.md"), place("b.md^b2")]]);
        let figures = tally.figures();
        assert!((figures.recall_5 - 0.5).abs() < 1e-9);
        assert!((figures.mrr - 0.5).abs() < 1e-9);
    }
}
