//! LongMemEval's own file: a question with its own haystack of sessions each.
//!
//! Every haystack becomes a vault of one daily note per session, dated as the session is; a session
//! is found when its note is. any@5 asks for one of the answer's sessions among the first five,
//! all@5 for all of them. Questions without an answer (`…_abs`) have no evidence and are left out.

use std::collections::BTreeMap;
use std::io::Write as _;

use dormouse_fixtures::temp_vault;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::Outcome;
use crate::ask::Bench;
use crate::data::{Question, thinned};
use crate::figures::Answered;
use crate::options::{Options, Scope};

#[derive(Deserialize)]
struct Item {
    question_id: String,
    #[serde(default)]
    question_type: String,
    question: String,
    #[serde(default)]
    haystack_dates: Vec<String>,
    haystack_session_ids: Vec<String>,
    haystack_sessions: Vec<Vec<Turn>>,
    #[serde(default)]
    answer_session_ids: Vec<String>,
}

#[derive(Deserialize)]
struct Turn {
    role: String,
    content: String,
}

/// The figures of a question.
struct Line {
    id: String,
    kind: String,
    any_5: bool,
    all_5: bool,
    ndcg_10: f64,
    milliseconds: f64,
}

/// Asks every question of its own vault.
pub(crate) fn run(options: &Options) -> Outcome<()> {
    let items: Vec<Item> = serde_json::from_reader(std::io::BufReader::new(std::fs::File::open(&options.data)?))?;
    let items: Vec<Item> = items.into_iter().filter(|item| !item.question_id.ends_with("_abs")).collect();
    let items = thinned(items, options.limit);
    let mut lines: Vec<Line> = Vec::with_capacity(items.len());
    for item in &items {
        let (question, bench) = haystack(item, options)?;
        let asked = bench.ask(std::slice::from_ref(&question), &options.config, options.signals, Scope::Vault)?;
        lines.extend(asked.iter().map(|answered| line(item, answered)));
    }
    let mut kinds: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
    for line in &lines {
        kinds.entry("overall").or_default().push(line);
        kinds.entry(line.kind.as_str()).or_default().push(line);
    }
    println!("{:<28} {:>5} {:>7} {:>7} {:>8}", "", "n", "any@5", "all@5", "nDCG@10");
    let mut json = Map::new();
    for (kind, group) in &kinds {
        let share = |of: fn(&Line) -> f64| group.iter().map(|line| of(line)).sum::<f64>() / group.len().max(1) as f64;
        let figures =
            [share(|l| f64::from(u8::from(l.any_5))), share(|l| f64::from(u8::from(l.all_5))), share(|l| l.ndcg_10)];
        let [any, all, ndcg] = figures.map(|value| 100.0 * value);
        println!("{kind:<28} {:>5} {any:>7.1} {all:>7.1} {ndcg:>8.1}", group.len());
        let [any, all, ndcg] = figures;
        json.insert((*kind).to_owned(), json!({"questions": group.len(), "any@5": any, "all@5": all, "ndcg@10": ndcg}));
    }
    if let Some(file) = &options.json {
        std::fs::write(file, serde_json::to_string_pretty(&Value::Object(json))? + "\n")?;
    }
    if let Some(file) = &options.lines {
        let mut out = std::io::BufWriter::new(std::fs::File::create(file)?);
        for line in &lines {
            let (id, kind) = (&line.id, &line.kind);
            let (any, all, ndcg, ms) = (line.any_5, line.all_5, line.ndcg_10, line.milliseconds);
            writeln!(
                out,
                "{}",
                json!({"id": id, "question_type": kind, "any@5": any, "all@5": all, "ndcg@10": ndcg, "milliseconds": ms})
            )?;
        }
    }
    Ok(())
}

/// The vault of a question.
fn haystack(item: &Item, options: &Options) -> Outcome<(Question, Bench)> {
    let vault = temp_vault("");
    let mut paths: BTreeMap<&str, String> = BTreeMap::new();
    let sessions = item.haystack_session_ids.iter().zip(&item.haystack_sessions);
    for (number, (id, turns)) in sessions.enumerate() {
        // `2023/05/20 (Sat) 02:21`
        let date: String = item.haystack_dates.get(number).map(|d| d.chars().take(10).collect()).unwrap_or_default();
        let date = date.replace('/', "-");
        let folder = if date.is_empty() { "undated" } else { &date };
        let path = format!("daily/{folder}/{id}.md");
        let mut text = String::new();
        for (at, turn) in turns.iter().enumerate() {
            // One block a turn: a blank line would cut it.
            let said: Vec<&str> = turn.content.lines().filter(|line| !line.trim().is_empty()).collect();
            text.push_str(&format!("**{}**: {} ^t{at}\n\n", turn.role, said.join("\n")));
        }
        vault.write(&path, text);
        paths.insert(id, path);
    }
    let evidence = item.answer_session_ids.iter().filter_map(|id| Some((paths.get(id.as_str())?.clone(), None)));
    let question = Question {
        id: item.question_id.clone(),
        query: item.question.clone(),
        category: item.question_type.clone(),
        conversation: None,
        evidence: evidence.collect(),
        answer: None,
    };
    Ok((question, Bench::over(vault, &options.config, options.embed.as_deref())?))
}

fn line(item: &Item, answered: &Answered) -> Line {
    let note = answered.note;
    Line {
        id: item.question_id.clone(),
        kind: item.question_type.clone(),
        any_5: note.recall_5 > 0.0,
        all_5: note.recall_5 >= 1.0 - 1e-9,
        ndcg_10: note.ndcg_10,
        milliseconds: answered.milliseconds,
    }
}
