//! What a run found: the table on the terminal, `report.md` and `report.json`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use super::questions::Figures;

/// The whole result. Everything but `timings_ms` is the same at every run on the same story.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    /// What was lived through.
    pub(crate) story: String,
    /// Who dreamed: `extractive`, or the model's name.
    pub(crate) abstractor: String,
    /// Broken invariants; empty when all holds.
    pub(crate) violations: Vec<String>,
    /// How many single checks were made.
    pub(crate) checks: usize,
    /// What happened.
    pub(crate) counts: Counts,
    /// The themes at the end, largest first.
    pub(crate) themes: Vec<Theme>,
    /// All signals, with digests.
    pub(crate) questions: Figures,
    /// The control: the same vault without `digest/` and `meta/`, indexed anew.
    pub(crate) questions_without_digests: Figures,
    /// All signals but the named one.
    pub(crate) ablation: BTreeMap<String, Figures>,
    /// All signals, by kind of question.
    pub(crate) by_kind: BTreeMap<String, Figures>,
    /// The control, by kind of question.
    pub(crate) by_kind_without_digests: BTreeMap<String, Figures>,
    /// Wall time of each stage, in milliseconds.
    pub(crate) timings_ms: BTreeMap<String, u64>,
}

/// What happened, in numbers.
#[derive(Debug, Default, Serialize)]
#[allow(missing_docs, reason = "the names are the documentation; they are the keys of report.json")]
pub(crate) struct Counts {
    pub(crate) days: usize,
    pub(crate) events: usize,
    pub(crate) resources: usize,
    pub(crate) conversations: usize,
    pub(crate) events_from_conversations: usize,
    pub(crate) user_notes: usize,
    pub(crate) units_kept: usize,
    pub(crate) units_known: usize,
    pub(crate) units_dropped: usize,
    pub(crate) facts_dropped: usize,
    pub(crate) created: usize,
    pub(crate) corroborated: usize,
    pub(crate) refined: usize,
    pub(crate) corrected: usize,
    pub(crate) failed_dreams: usize,
    pub(crate) pending: usize,
    pub(crate) digests: usize,
    pub(crate) edges: usize,
    pub(crate) communities: usize,
    pub(crate) archived: usize,
    pub(crate) duplicates: usize,
    pub(crate) splits: usize,
    pub(crate) health_severe: usize,
    pub(crate) health_warnings: usize,
    pub(crate) model_calls: u64,
    pub(crate) questions: usize,
    pub(crate) questions_without_answer: usize,
    pub(crate) evidence_not_found: usize,
}

/// A theme at the end.
#[derive(Debug, Serialize)]
pub(crate) struct Theme {
    /// Its label.
    pub(crate) label: String,
    /// How many notes.
    pub(crate) notes: usize,
    /// The note in its middle.
    pub(crate) hub: String,
}

impl Report {
    /// The table, as Markdown that also reads well on a terminal.
    pub(crate) fn to_markdown(&self) -> String {
        let mut out = String::new();
        let c = &self.counts;
        let _ = writeln!(out, "# Dogfood: {}\n", self.story);
        let who = if self.abstractor == "extractive" {
            "the offline extractive abstractor (no model involved)"
        } else {
            &self.abstractor
        };
        let _ = writeln!(out, "Dreamed by {who}.\n");
        let rows: Vec<(&str, String)> = vec![
            ("days lived", c.days.to_string()),
            (
                "events",
                format!(
                    "{} ({} of them from {} conversations)",
                    c.events + c.events_from_conversations,
                    c.events_from_conversations,
                    c.conversations
                ),
            ),
            ("resources", c.resources.to_string()),
            ("user's own files", c.user_notes.to_string()),
            (
                "units kept / dropped",
                format!(
                    "{} ({} known already) / {} (and {} single facts)",
                    c.units_kept, c.units_known, c.units_dropped, c.facts_dropped
                ),
            ),
            ("notes created", c.created.to_string()),
            (
                "notes updated",
                format!("{} corroborated, {} refined, {} corrected", c.corroborated, c.refined, c.corrected),
            ),
            ("digests at the end", c.digests.to_string()),
            ("edges of the vault", c.edges.to_string()),
            ("communities", c.communities.to_string()),
            ("archived", c.archived.to_string()),
            ("duplicate pairs", c.duplicates.to_string()),
            ("splits", c.splits.to_string()),
            ("dreams that failed", c.failed_dreams.to_string()),
            ("material still pending", c.pending.to_string()),
            ("health", format!("{} severe, {} warnings", c.health_severe, c.health_warnings)),
        ];
        table(&mut out, &["what happened", ""], rows.into_iter().map(|(k, v)| vec![k.to_owned(), v]));
        self.themes_to(&mut out);
        self.questions_to(&mut out);
        let _ = writeln!(out, "## Time\n");
        table(&mut out, &["stage", "ms"], self.timings_ms.iter().map(|(k, v)| vec![k.clone(), v.to_string()]));
        let _ = writeln!(out, "## Invariants\n\n{} checks, {} violations", self.checks, self.violations.len());
        for violation in &self.violations {
            let _ = writeln!(out, "- {violation}");
        }
        out
    }

    fn themes_to(&self, out: &mut String) {
        if self.themes.is_empty() {
            return;
        }
        let _ = writeln!(out, "## Themes\n");
        let rows = self.themes.iter().map(|t| vec![t.label.clone(), t.notes.to_string(), t.hub.clone()]);
        table(out, &["theme", "notes", "hub"], rows);
    }

    fn questions_to(&self, out: &mut String) {
        let c = &self.counts;
        let _ = writeln!(out, "## Questions\n");
        if c.questions == 0 {
            let _ = writeln!(out, "No questions go with this story.\n");
            return;
        }
        let _ = writeln!(
            out,
            "{} questions with answers, {} without. A result counts when it is the note that answers, or a digest of which a returned passage cites the very block.\n",
            c.questions, c.questions_without_answer
        );
        if self.by_kind.keys().all(|kind| kind == "known-item") {
            let _ = writeln!(
                out,
                "Each question is a commit's own subject: the figures show that nothing is lost, not how good the ranking is.\n"
            );
        }
        let mut rows = vec![
            figures("all signals", &self.questions),
            figures("without the digests", &self.questions_without_digests),
        ];
        rows.extend(self.ablation.iter().map(|(name, f)| figures(&format!("all but {name}"), f)));
        table(out, &["ranking", "recall@5", "recall@10", "MRR"], rows.into_iter());
        let rows = self.by_kind.iter().map(|(kind, f)| {
            let control = self.by_kind_without_digests.get(kind).copied().unwrap_or_default();
            vec![kind.clone(), f.questions.to_string(), percent(f.recall_10), percent(control.recall_10)]
        });
        table(out, &["kind", "questions", "recall@10", "without the digests"], rows);
    }

    /// Writes `report.md` and `report.json` into `folder`.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        for (name, text) in
            [("report.md", self.to_markdown()), ("report.json", format!("{}\n", serde_json::to_string_pretty(self)?))]
        {
            let file = folder.join(name);
            std::fs::write(&file, text).with_context(|| file.display().to_string())?;
        }
        Ok(())
    }
}

fn figures(name: &str, f: &Figures) -> Vec<String> {
    vec![name.to_owned(), percent(f.recall_5), percent(f.recall_10), format!("{:.3}", f.mrr)]
}

fn percent(fraction: f64) -> String {
    format!("{:.1} %", fraction * 100.0)
}

/// An aligned Markdown table.
fn table(out: &mut String, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let rows: Vec<Vec<String>> = rows.collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|r| r.get(column)).map(|c| c.chars().count());
        cells.chain(head.get(column).map(|h| h.chars().count())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut line = |cells: Vec<String>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let _ = writeln!(out, "| {} |", padded.collect::<Vec<_>>().join(" | "));
    };
    line(head.iter().map(ToString::to_string).collect());
    line(widths.iter().map(|w| "-".repeat((*w).max(3))).collect());
    for row in rows {
        line(row);
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    #[test]
    fn tables_are_aligned() {
        let mut out = String::new();
        super::table(&mut out, &["a", "long head"], [vec!["wide cell".to_owned(), "1".to_owned()]].into_iter());
        assert_eq!(out, "| a         | long head |\n| --------- | --------- |\n| wide cell | 1         |\n\n");
    }
}
