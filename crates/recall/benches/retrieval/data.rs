//! The questions of a data folder.

use std::path::Path;

use serde::Deserialize;

use crate::Outcome;

/// A block of a note, or a note where no block is named.
pub(crate) type Place = (String, Option<String>);

/// A question with the places that answer it.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) id: String,
    pub(crate) query: String,
    pub(crate) category: String,
    /// The conversation that it belongs to.
    pub(crate) conversation: Option<String>,
    pub(crate) evidence: Vec<Place>,
    /// What is to be answered, where the file says so.
    pub(crate) answer: Option<String>,
}

#[derive(Deserialize)]
struct Line {
    id: String,
    query: String,
    #[serde(default, alias = "kind")]
    category: String,
    conv: Option<String>,
    evidence: Vec<Evidence>,
    /// A text or a number.
    answer: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Evidence {
    /// Absent where a conversation answers, whose notes have no names yet.
    note: Option<String>,
    block: Option<String>,
}

/// Reads questions; of more than `limit` questions every n-th is kept.
pub(crate) fn read(file: &Path, limit: Option<usize>) -> Outcome<Vec<Question>> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut out = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: Line =
            serde_json::from_str(line).map_err(|error| format!("{}:{}: {error}", file.display(), number + 1))?;
        out.push(Question {
            id: line.id,
            query: line.query,
            category: if line.category.is_empty() { "all".to_owned() } else { line.category },
            conversation: line.conv,
            evidence: line.evidence.into_iter().filter_map(|e| Some((e.note?, e.block))).collect(),
            answer: line.answer.map(|answer| answer.as_str().map_or_else(|| answer.to_string(), str::to_owned)),
        });
    }
    out.retain(|question| !question.evidence.is_empty());
    Ok(thinned(out, limit))
}

/// At most `limit` of a list, spread evenly.
pub(crate) fn thinned<T>(list: Vec<T>, limit: Option<usize>) -> Vec<T> {
    let count = list.len();
    let limit = limit.unwrap_or(count).clamp(1, count.max(1));
    let mut taken = 0;
    let spread = list.into_iter().enumerate().filter(|(at, _)| {
        let due = (at + 1) * limit / count.max(1) > taken;
        taken += usize::from(due);
        due
    });
    spread.map(|(_, item)| item).collect()
}
