//! Measures retrieval on a vault with questions whose evidence is known.
//!
//! `cargo run -p dormouse-recall --example measure -- VAULT QUERIES.jsonl [--without SIGNAL]…
//! [--scope PROPERTY] [--set NAME=VALUE]… [--filter QUERY]… [--control FOLDER,…] [--now TIME]`
//!
//! A question is `{"query", "category"?, "<scope>"?, "evidence": [{"note", "block"?}]}`. With
//! `--scope conv`, a question searches only the notes whose property `conv` is its own; `--filter
//! in:daily` is added to each query. The vault is copied first and never touched.
//!
//! Blocks are counted by their passages, in order of their scores. With `--control digest,meta`
//! the same questions are also asked of a copy without these folders, and both arms are counted by
//! notes, ten results of three passages as a caller gets them: a result covers an evidence note
//! when it is that note, when it stands for that note as well (`also_at`), or when a digest's passage cites
//! the very block.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a command that prints a table and copies a folder"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use dormouse_fixtures::TempVault;
use dormouse_recall::{Hit, Recall, RecallConfig, SearchRequest, SignalSwitches};
use dormouse_vault::{Layer, Vault};
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

#[derive(Default)]
struct NoteSums {
    questions: f64,
    recall_5: f64,
    recall_10: f64,
    reciprocal: f64,
}

/// What is asked of each arm.
struct Setting {
    config: RecallConfig,
    signals: SignalSwitches,
    scope: Option<String>,
    filter: String,
    now: Option<DateTime<FixedOffset>>,
}

type Place = (String, Option<String>);

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(vault), Some(queries)) = (args.next(), args.next()) else {
        return Err("measure VAULT QUERIES.jsonl [--without SIGNAL] [--scope PROPERTY] [--set NAME=VALUE] [--filter QUERY] [--control FOLDER,…] [--now TIME]".into());
    };
    let mut setting = Setting {
        config: RecallConfig::default(),
        signals: SignalSwitches::ALL,
        scope: None,
        filter: String::new(),
        now: None,
    };
    let mut control = None;
    let mut config = serde_json::to_value(RecallConfig::default())?;
    while let Some(arg) = args.next() {
        let value = args.next().ok_or("an option needs a value")?;
        match arg.as_str() {
            "--without" => {
                setting.signals = if value == "all" { SignalSwitches::NONE } else { setting.signals.without(&value) }
            }
            "--scope" => setting.scope = Some(value),
            "--filter" => setting.filter = format!(" {value}"),
            "--control" => control = Some(value),
            "--now" => setting.now = Some(value.parse()?),
            "--set" => {
                let (name, value) = value.split_once('=').ok_or("--set NAME=VALUE")?;
                let fields = config.as_object_mut().ok_or("settings")?;
                fields.insert(name.to_owned(), serde_json::from_str(value)?);
            }
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    setting.config = serde_json::from_value(config)?;
    let questions: Vec<Value> =
        std::fs::read_to_string(queries)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let Some(control) = control else {
        return measure(&vault, &[], &questions, &setting);
    };
    println!("{:<28} {:>5} {:>8} {:>9} {:>6}", "", "n", "recall@5", "recall@10", "MRR");
    let left_out: Vec<&str> = control.split(',').collect();
    notes("as it is", &vault, &[], &questions, &setting)?;
    notes("control", &vault, &left_out, &questions, &setting)
}

/// A copy of the vault without some folders, and recall over it.
fn open(vault: &str, left_out: &[&str], config: &RecallConfig) -> Result<(TempVault, Recall), Box<dyn Error>> {
    let copy = dormouse_fixtures::temp_vault("");
    dormouse_fixtures::copy_tree(Path::new(vault), copy.path());
    for folder in left_out {
        let folder = copy.path().join(folder);
        if folder.exists() {
            std::fs::remove_dir_all(folder)?;
        }
    }
    let cache = copy.path().join(".dormouse");
    if cache.exists() {
        std::fs::remove_dir_all(cache)?;
    }
    let recall = Recall::open(Arc::new(Vault::open(copy.path())?), config.clone())?;
    recall.sync()?;
    Ok((copy, recall))
}

fn request(question: &Value, setting: &Setting) -> Result<SearchRequest, Box<dyn Error>> {
    let text = question.get("query").and_then(Value::as_str).ok_or("a question without query")?;
    let mut request = SearchRequest {
        signals: setting.signals,
        quiet: true,
        now: setting.now,
        ..SearchRequest::new(format!("{text}{}", setting.filter))
    };
    if let Some(key) = &setting.scope
        && let Some(value) = question.get(key).and_then(Value::as_str)
    {
        request.filters.properties.insert(key.clone(), value.to_owned());
    }
    Ok(request)
}

fn category(question: &Value) -> &str {
    question.get("category").and_then(Value::as_str).unwrap_or("all")
}

fn wanted(question: &Value) -> BTreeSet<Place> {
    let place = |e: &Value, key: &str| e.get(key).and_then(Value::as_str).map(str::to_owned);
    question
        .get("evidence")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|e| Some((place(e, "note")?, place(e, "block"))))
        .collect()
}

/// Prints one arm, counted by notes.
fn notes(
    arm: &str,
    vault: &str,
    left_out: &[&str],
    questions: &[Value],
    setting: &Setting,
) -> Result<(), Box<dyn Error>> {
    let (_copy, recall) = open(vault, left_out, &setting.config)?;
    let mut sums: BTreeMap<String, NoteSums> = BTreeMap::new();
    let (mut asked, started) = (0_u32, std::time::Instant::now());
    for question in questions {
        let reply = recall.search(&request(question, setting)?)?;
        asked += 1;
        let wanted = wanted(question);
        if wanted.is_empty() || category(question) == "adversarial" {
            continue;
        }
        let notes: BTreeSet<&String> = wanted.iter().map(|(note, _)| note).collect();
        let covered: Vec<BTreeSet<String>> = reply.hits.iter().map(|hit| covers(hit, &wanted)).collect();
        let within = |k: usize| {
            let seen: BTreeSet<&String> = covered.iter().take(k).flatten().collect();
            seen.len() as f64 / notes.len() as f64
        };
        let first = covered.iter().position(|c| !c.is_empty());
        for group in ["all", category(question)] {
            let sum = sums.entry(group.to_owned()).or_default();
            sum.questions += 1.0;
            sum.recall_5 += within(5);
            sum.recall_10 += within(10);
            sum.reciprocal += first.map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0));
        }
        if std::env::var_os("SHOW").is_some() {
            println!("{arm}\t{:?}\t{:.2}\t{:?}", question.get("id"), within(5), first);
        }
    }
    for (name, sum) in &sums {
        println!(
            "{:<28} {:>5} {:>8.1} {:>9.1} {:>6.3}",
            format!("{arm}: {name}"),
            sum.questions,
            100.0 * sum.recall_5 / sum.questions,
            100.0 * sum.recall_10 / sum.questions,
            sum.reciprocal / sum.questions
        );
    }
    println!("{arm}: {:?} a query", started.elapsed() / asked.max(1));
    Ok(())
}

/// The evidence notes that a result covers.
fn covers(hit: &Hit, wanted: &BTreeSet<Place>) -> BTreeSet<String> {
    let mut out: BTreeSet<String> = BTreeSet::from([hit.path.to_string()]);
    out.extend(hit.also_at.iter().map(ToString::to_string));
    out.retain(|path| wanted.iter().any(|(note, _)| note == path));
    if hit.layer == Layer::Digest {
        for cite in hit.passages.iter().flat_map(|p| &p.cites) {
            let note = cite.note.to_string();
            if cite.block.is_some() && wanted.iter().any(|(n, b)| *n == note && (b.is_none() || *b == cite.block)) {
                out.insert(note);
            }
        }
    }
    out
}

/// Prints one arm, counted by blocks.
fn measure(vault: &str, left_out: &[&str], questions: &[Value], setting: &Setting) -> Result<(), Box<dyn Error>> {
    let (_copy, recall) = open(vault, left_out, &setting.config)?;
    let mut sums: BTreeMap<String, Sums> = BTreeMap::new();
    let started = std::time::Instant::now();
    let mut asked = 0_u32;
    for question in questions {
        let category = category(question);
        let request = SearchRequest { limit: 40, passages: 20, ..request(question, setting)? };
        let reply = recall.search(&request)?;
        asked += 1;
        let mut blocks: Vec<(f64, Place)> = Vec::new();
        for hit in &reply.hits {
            blocks.extend(hit.passages.iter().map(|p| (p.score, (hit.path.to_string(), p.block_id.clone()))));
        }
        blocks.sort_by(|a, b| b.0.total_cmp(&a.0));
        let blocks: Vec<Place> = blocks.into_iter().map(|(_, at)| at).collect();
        let notes: Vec<String> = reply.hits.iter().map(|hit| hit.path.to_string()).collect();
        let wanted = wanted(question);
        let wanted_notes: BTreeSet<String> = wanted.iter().map(|(note, _)| note.clone()).collect();
        if wanted.is_empty() {
            continue;
        }
        let groups: &[&str] = if category == "adversarial" { &["adversarial"] } else { &["", "all but adversarial"] };
        for group in groups {
            let sum = sums.entry(if group.is_empty() { category.to_owned() } else { (*group).to_owned() }).or_default();
            sum.questions += 1.0;
            sum.block_5 += share(&blocks, &wanted, 5);
            sum.block_10 += share(&blocks, &wanted, 10);
            sum.ndcg_10 += ndcg(&blocks, &wanted);
            sum.note_1 += share(&notes, &wanted_notes, 1);
            sum.note_5 += share(&notes, &wanted_notes, 5);
        }
    }
    println!("{asked} questions, {:?} each", started.elapsed() / asked.max(1));
    println!("{:<20} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9}", "", "n", "block R@5", "R@10", "nDCG@10", "note R@1", "R@5");
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
    let found = ranked.iter().take(k).filter(|at| wanted.contains(at)).count();
    found as f64 / wanted.len().max(1) as f64
}

fn ndcg<T: Ord>(ranked: &[T], wanted: &BTreeSet<T>) -> f64 {
    let gain = |at: usize| 1.0 / (at as f64 + 2.0).log2();
    let got: f64 =
        ranked.iter().take(10).enumerate().filter(|(_, at)| wanted.contains(at)).map(|(at, _)| gain(at)).sum();
    let best: f64 = (0..wanted.len().min(10)).map(gain).sum();
    if best > 0.0 { got / best } else { 0.0 }
}
