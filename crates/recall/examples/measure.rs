//! Measures retrieval on a vault with questions whose evidence is known.
//!
//! `cargo run -p dormouse-recall --example measure -- VAULT QUERIES.jsonl [--without SIGNAL]…
//! [--scope PROPERTY] [--set NAME=VALUE]…`
//!
//! A question is `{"query", "category"?, "<scope>"?, "evidence": [{"note", "block"?}]}`. With
//! `--scope conv`, a question searches only the notes whose property `conv` is its own. The vault is
//! copied first and never touched.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a command that prints a table and copies a folder"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use dormouse_recall::{Recall, RecallConfig, SearchRequest, SignalSwitches};
use dormouse_vault::Vault;
use serde_json::Value;

#[derive(Default)]
struct Sums {
    questions: f64,
    block_5: f64,
    block_10: f64,
    ndcg_10: f64,
    note_1: f64,
    note_5: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(vault), Some(queries)) = (args.next(), args.next()) else {
        return Err(
            "measure VAULT QUERIES.jsonl [--without SIGNAL] [--scope PROPERTY] [--set NAME=VALUE]"
                .into(),
        );
    };
    let mut signals = SignalSwitches::ALL;
    let mut scope = None;
    let mut config = serde_json::to_value(RecallConfig::default())?;
    while let Some(arg) = args.next() {
        let value = args.next().ok_or("an option needs a value")?;
        match arg.as_str() {
            "--without" => {
                signals = if value == "all" {
                    SignalSwitches::NONE
                } else {
                    signals.without(&value)
                }
            }
            "--scope" => scope = Some(value),
            "--set" => {
                let (name, value) = value.split_once('=').ok_or("--set NAME=VALUE")?;
                let fields = config.as_object_mut().ok_or("settings")?;
                fields.insert(name.to_owned(), serde_json::from_str(value)?);
            }
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    let copy = dormouse_fixtures::temp_vault("");
    dormouse_fixtures::copy_tree(Path::new(&vault), copy.path());
    let recall = Recall::open(
        Arc::new(Vault::open(copy.path())?),
        serde_json::from_value(config)?,
    )?;
    let started = std::time::Instant::now();
    let report = recall.sync()?;
    println!("{} notes indexed in {:?}", report.notes, started.elapsed());
    measure(
        &recall,
        &std::fs::read_to_string(queries)?,
        signals,
        scope.as_deref(),
    )
}

fn measure(
    recall: &Recall,
    queries: &str,
    signals: SignalSwitches,
    scope: Option<&str>,
) -> Result<(), Box<dyn Error>> {
    let mut sums: BTreeMap<String, Sums> = BTreeMap::new();
    let started = std::time::Instant::now();
    let mut asked = 0_u32;
    for line in queries.lines() {
        let question: Value = serde_json::from_str(line)?;
        let category = question
            .get("category")
            .and_then(Value::as_str)
            .unwrap_or("all");
        let text = question
            .get("query")
            .and_then(Value::as_str)
            .ok_or("a question without query")?;
        let mut request = SearchRequest {
            limit: 40,
            passages: 20,
            signals,
            quiet: true,
            ..SearchRequest::new(text)
        };
        if let Some((key, value)) = scope.and_then(|key| Some((key, question.get(key)?.as_str()?)))
        {
            request
                .filters
                .properties
                .insert(key.to_owned(), value.to_owned());
        }
        let reply = recall.search(&request)?;
        asked += 1;
        let mut blocks: Vec<(f64, (String, Option<String>))> = Vec::new();
        for hit in &reply.hits {
            blocks.extend(
                hit.passages
                    .iter()
                    .map(|p| (p.score, (hit.path.to_string(), p.block_id.clone()))),
            );
        }
        blocks.sort_by(|a, b| b.0.total_cmp(&a.0));
        let blocks: Vec<(String, Option<String>)> = blocks.into_iter().map(|(_, at)| at).collect();
        let notes: Vec<String> = reply.hits.iter().map(|hit| hit.path.to_string()).collect();
        let evidence = question
            .get("evidence")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let place = |e: &Value, key: &str| e.get(key).and_then(Value::as_str).map(str::to_owned);
        let wanted: BTreeSet<(String, Option<String>)> = evidence
            .iter()
            .filter_map(|e| Some((place(e, "note")?, place(e, "block"))))
            .collect();
        let wanted_notes: BTreeSet<String> = wanted.iter().map(|(note, _)| note.clone()).collect();
        if wanted.is_empty() {
            continue;
        }
        let groups: &[&str] = if category == "adversarial" {
            &["adversarial"]
        } else {
            &["", "all but adversarial"]
        };
        for group in groups {
            let sum = sums
                .entry(if group.is_empty() {
                    category.to_owned()
                } else {
                    (*group).to_owned()
                })
                .or_default();
            sum.questions += 1.0;
            sum.block_5 += share(&blocks, &wanted, 5);
            sum.block_10 += share(&blocks, &wanted, 10);
            sum.ndcg_10 += ndcg(&blocks, &wanted);
            sum.note_1 += share(&notes, &wanted_notes, 1);
            sum.note_5 += share(&notes, &wanted_notes, 5);
        }
    }
    println!(
        "{asked} questions, {:?} each",
        started.elapsed() / asked.max(1)
    );
    println!(
        "{:<20} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "n", "block R@5", "R@10", "nDCG@10", "note R@1", "R@5"
    );
    for (name, sum) in &sums {
        let per = |value: f64| 100.0 * value / sum.questions;
        println!(
            "{name:<20} {:>5} {:>9.1} {:>9.1} {:>9.1} {:>9.1} {:>9.1}",
            sum.questions,
            per(sum.block_5),
            per(sum.block_10),
            per(sum.ndcg_10),
            per(sum.note_1),
            per(sum.note_5)
        );
    }
    Ok(())
}

fn share<T: Ord>(ranked: &[T], wanted: &BTreeSet<T>, k: usize) -> f64 {
    let found = ranked
        .iter()
        .take(k)
        .filter(|at| wanted.contains(at))
        .count();
    found as f64 / wanted.len().max(1) as f64
}

fn ndcg<T: Ord>(ranked: &[T], wanted: &BTreeSet<T>) -> f64 {
    let gain = |at: usize| 1.0 / (at as f64 + 2.0).log2();
    let got: f64 = ranked
        .iter()
        .take(10)
        .enumerate()
        .filter(|(_, at)| wanted.contains(at))
        .map(|(at, _)| gain(at))
        .sum();
    let best: f64 = (0..wanted.len().min(10)).map(gain).sum();
    if best > 0.0 { got / best } else { 0.0 }
}
