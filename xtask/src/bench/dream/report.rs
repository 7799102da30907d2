//! What the proof says, for a person and for a program.
#![expect(clippy::indexing_slicing, reason = "a JSON value that lacks a key reads as null")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dormouse_dream::DreamReport;
use dormouse_vault::{Layer, Snapshot};
use serde_json::{Map, Value, json};

use super::arms::Question;

/// How much of the sources the digests cite.
pub(crate) struct Coverage {
    /// Blocks of the sources, and those of them that a digest cites.
    blocks: (usize, usize),
    /// Blocks of the questions' evidence, and those of them that a digest cites.
    evidence: (usize, usize),
}

impl Coverage {
    /// Counts.
    pub(crate) fn of(snapshot: &Snapshot, questions: &[Question]) -> Self {
        let mut cited: BTreeSet<(String, String)> = BTreeSet::new();
        let mut blocks = 0;
        for note in snapshot.notes() {
            if note.layer != Layer::Digest {
                blocks += note.doc().blocks.iter().filter(|block| block.id.is_some()).count();
                continue;
            }
            for (link, resolution) in snapshot.links_of(note) {
                if let (Some(path), Some(block)) = (resolution.path(), link.subpath.strip_prefix("#^")) {
                    cited.insert((path.to_string(), block.to_lowercase()));
                }
            }
        }
        let wanted: BTreeSet<(String, String)> = questions
            .iter()
            .flat_map(|question| &question.evidence)
            .filter_map(|(note, block)| Some((note.clone(), block.as_ref()?.to_lowercase())))
            .collect();
        Self { blocks: (blocks, cited.len()), evidence: (wanted.len(), wanted.intersection(&cited).count()) }
    }
}

/// Everything that was measured.
pub(crate) struct Proof {
    data: PathBuf,
    dreamed: Value,
    coverage: Coverage,
    without: Value,
    with: Value,
    control: Value,
}

impl Proof {
    /// Takes apart what the measurement of retrieval said of the three vaults.
    pub(crate) fn new(
        data: &Path,
        dreamed: &DreamReport,
        seconds: f64,
        coverage: Coverage,
        asked: &Value,
    ) -> Result<Self> {
        let arm = |name: &str| {
            asked.pointer(&format!("/against/{name}")).cloned().with_context(|| format!("the arm {name} is missing"))
        };
        let (with, control) = (arm("with")?, arm("control")?);
        let mut without = asked.clone();
        without.as_object_mut().into_iter().for_each(|all| {
            all.remove("against");
        });
        let totals = dreamed.totals;
        let units = totals.units_kept + totals.units_dropped;
        let facts: usize = dreamed.materials.iter().flat_map(|m| &m.kept).map(|unit| unit.facts).sum();
        let dropped: usize = dreamed.materials.iter().flat_map(|m| &m.dropped).map(|unit| unit.facts).sum();
        let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
        let dreamed = json!({
            "by": dreamed.abstractor,
            "totals": totals,
            "units_dropped_share": share(totals.units_dropped, units),
            "facts_dropped_share": share(dropped, facts + dropped),
            "usage": dreamed.usage,
            "seconds": seconds,
        });
        Ok(Self { data: data.to_owned(), dreamed, coverage, without, with, control })
    }

    /// `without`, `with` and `control` in the form of the measurement of retrieval; `delta` is with over
    /// without, blocks.
    pub(crate) fn to_json(&self) -> Value {
        let shape = |arm: &Value| {
            let mut arm = arm.clone();
            for key in ["gain", "gain_by_category"] {
                arm.as_object_mut().into_iter().for_each(|all| {
                    all.remove(key);
                });
            }
            arm
        };
        let delta = |arm: &Value| json!({"overall": arm["gain"], "by_category": arm["gain_by_category"]});
        json!({
            "data": self.data,
            "dream": self.dreamed,
            "coverage": {
                "blocks": self.coverage.blocks.0, "blocks_cited": self.coverage.blocks.1,
                "evidence": self.coverage.evidence.0, "evidence_cited": self.coverage.evidence.1,
            },
            "without": self.without,
            "with": shape(&self.with),
            "control": shape(&self.control),
            "delta": delta(&self.with),
            "delta_control": delta(&self.control),
        })
    }

    /// A page.
    pub(crate) fn to_markdown(&self) -> String {
        let mut out = String::new();
        let percent = |value: &Value, at: &str| 100.0 * value.pointer(at).and_then(Value::as_f64).unwrap_or(f64::NAN);
        let of = |(whole, part): (usize, usize)| format!("{part} of {whole}");
        let _ = writeln!(
            out,
            "dreamed by {} in {:.0} s: {} units kept, {:.1} % of units and {:.1} % of facts dropped; {} notes created, {} updates",
            self.dreamed["by"].as_str().unwrap_or_default(),
            self.dreamed["seconds"].as_f64().unwrap_or_default(),
            self.dreamed["totals"]["units_kept"],
            percent(&self.dreamed, "/units_dropped_share"),
            percent(&self.dreamed, "/facts_dropped_share"),
            self.dreamed["totals"]["created"],
            self.dreamed["totals"]["corroborated"].as_u64().unwrap_or_default()
                + self.dreamed["totals"]["refined"].as_u64().unwrap_or_default()
                + self.dreamed["totals"]["corrected"].as_u64().unwrap_or_default(),
        );
        let _ = writeln!(
            out,
            "cited: {} source blocks, {} evidence blocks; {} requests, {} tokens in, {} out\n",
            of(self.coverage.blocks),
            of(self.coverage.evidence),
            self.dreamed["usage"]["calls"],
            self.dreamed["usage"]["input_tokens"],
            self.dreamed["usage"]["output_tokens"],
        );
        for unit in ["block", "note"] {
            let _ = writeln!(out, "| {unit}s | without R@10 | with | control | without nDCG@10 | with | control |");
            out.push_str("|---|---|---|---|---|---|---|\n");
            let categories = self.without.pointer(&format!("/{unit}/by_category")).and_then(Value::as_object);
            let names = std::iter::once(None).chain(categories.into_iter().flat_map(Map::keys).map(Some));
            for name in names {
                let at = |metric: &str| match name {
                    None => format!("/{unit}/overall/{metric}"),
                    Some(name) => format!("/{unit}/by_category/{name}/{metric}"),
                };
                let _ = write!(out, "| {} |", name.map_or("overall", String::as_str));
                for metric in ["recall@10", "ndcg@10"] {
                    for arm in [&self.without, &self.with, &self.control] {
                        let _ = write!(out, " {:.1} |", percent(arm, &at(metric)));
                    }
                }
                out.push('\n');
            }
            out.push('\n');
        }
        out.push_str(
            "| gain over without, blocks | R@10 | nDCG@10 | control: R@10 | nDCG@10 |\n|---|---|---|---|---|\n",
        );
        let categories = self.with["gain_by_category"].as_object();
        let names = std::iter::once(None).chain(categories.into_iter().flat_map(Map::keys).map(Some));
        for name in names {
            let _ = write!(out, "| {} |", name.map_or("overall", String::as_str));
            for arm in [&self.with, &self.control] {
                for metric in ["recall@10", "ndcg@10"] {
                    let gain = name.map_or(&arm["gain"][metric], |name| &arm["gain_by_category"][name][metric]);
                    let part = |key: &str| percent(gain, &format!("/{key}"));
                    let _ = write!(out, " {:+.1} [{:+.1} {:+.1}] |", part("mean"), part("low"), part("high"));
                }
            }
            out.push('\n');
        }
        out.push_str("\n| | without | with | control |\n|---|---|---|---|\n");
        let rows = [
            ("evidence in 2,000 returned characters", "/within_chars/2000"),
            ("evidence in 4,000 returned characters", "/within_chars/4000"),
            ("answer's words in a context of 2,000 characters", "/answer_words_in_context/overall"),
            ("the same, multi-hop", "/answer_words_in_context/by_category/multi-hop"),
        ];
        for (name, at) in rows {
            let _ = write!(out, "| {name} |");
            for arm in [&self.without, &self.with, &self.control] {
                let _ = write!(out, " {:.1} |", percent(arm, at));
            }
            out.push('\n');
        }
        out
    }
}
