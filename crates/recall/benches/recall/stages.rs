//! What is measured, a process each.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use dormouse_fixtures::SplitMix64;
use dormouse_recall::{Recall, RecallConfig, SearchRequest, TraverseRequest};
use dormouse_vault::{NotePath, Vault};

use crate::machine::{bytes_below, cpu_ms, own_mb, peak_mb, percentile};
use crate::vaults::{Random, name, query};
use crate::{Figures, bare};

/// Runs one stage and prints its figures.
pub(crate) fn run(stage: &str, root: &Path, language: &str, count: usize) {
    let mut out = Figures::new();
    let mut note = |name: &str, value: f64| {
        out.insert(name.to_owned(), value);
    };
    match stage {
        "open" => {
            let vault = Vault::open(root).unwrap();
            note("notes", vault.snapshot().notes().count() as f64);
        }
        "bare" => {
            let vault = Vault::open(root).unwrap();
            let before = cpu_ms();
            let folder = root.join(".dormouse/bare");
            note("blocks", bare::index(&vault, &folder) as f64);
            note("cpu", cpu_ms() - before);
            fs::remove_dir_all(folder).unwrap();
        }
        "cold" => {
            let recall = open(root);
            let before = cpu_ms();
            recall.sync().unwrap();
            note("cpu", cpu_ms() - before);
            note("size", size(root));
        }
        "size" => note("size", size(root)),
        "once" => {
            let mut random = Random(SplitMix64(11));
            let text = query(&mut random, language);
            note("hits", ask(&open(root), &text) as f64);
        }
        "query" => queries(root, language, count, &mut note),
        "walk" => {
            let recall = open(root);
            let mut random = Random(SplitMix64(3));
            let notes = recall.vault().snapshot().notes().count();
            let mut took: Vec<f64> = (0..count)
                .map(|_| {
                    let started = Instant::now();
                    walk(&recall, random.below(notes));
                    milliseconds(started)
                })
                .collect();
            note("p95", percentile(&mut took, 0.95));
        }
        "edit" => note("p95", edits(root, count)),
        "beside" => note("ratio", beside(root, language, count as u64)),
        editor => {
            let at: usize = editor.strip_prefix("editor").unwrap().parse().unwrap();
            edit_much(root, at, count);
        }
    }
    note("peak", peak_mb());
    println!("{}", serde_json::to_string(&out).unwrap());
}

fn open(root: &Path) -> Recall {
    let config = RecallConfig { spool: false, ..RecallConfig::default() };
    Recall::open(Arc::new(Vault::open(root).unwrap()), config).unwrap()
}

fn size(root: &Path) -> f64 {
    bytes_below(&root.join(".dormouse/index"), "") / bytes_below(root, ".dormouse")
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

fn ask(recall: &Recall, text: &str) -> usize {
    recall.search(&SearchRequest { quiet: true, ..SearchRequest::new(text) }).unwrap().hits.len()
}

fn walk(recall: &Recall, number: usize) -> usize {
    let request = TraverseRequest { from: name(number), depth: 1, ..TraverseRequest::default() };
    recall.traverse(&request).unwrap().notes.len()
}

fn queries(root: &Path, language: &str, count: usize, note: &mut dyn FnMut(&str, f64)) {
    let recall = open(root);
    recall.sync().unwrap();
    let searcher = bare::open(recall.vault());
    let mut random = Random(SplitMix64(11));
    let asked: Vec<String> = (0..count).map(|_| query(&mut random, language)).collect();
    let started = Instant::now();
    ask(&recall, &asked[0]);
    note("first", milliseconds(started));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut answered, mut found) = (0, 0);
    for text in &asked {
        let started = Instant::now();
        answered += usize::from(ask(&recall, text) > 0);
        ours.push(milliseconds(started));
        let started = Instant::now();
        found += usize::from(bare::first_ten(&searcher, text) > 0);
        theirs.push(milliseconds(started));
    }
    assert!(2 * answered > asked.len() && answered <= found, "{answered} and {found} of {} are answered", asked.len());
    for (name, share) in [("p50", 0.50), ("p95", 0.95), ("p99", 0.99)] {
        note(name, percentile(&mut ours, share));
        note(&format!("bare {name}"), percentile(&mut theirs, share));
    }
    let before = cpu_ms();
    thread::sleep(Duration::from_secs(2));
    note("idle", cpu_ms() - before);
    note("own", own_mb());
}

/// From the saving of a file to the answer that has it.
fn edits(root: &Path, count: usize) -> f64 {
    let recall = open(root);
    recall.sync().unwrap();
    let mut took = Vec::new();
    for number in 0..count {
        let path = NotePath::new(&name(number * 7)).unwrap();
        let file = root.join(path.as_str());
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, format!("{text}\nOnly here stands quux{number}.\n")).unwrap();
        let started = Instant::now();
        recall.vault().refresh_files([path.clone()]);
        let reply =
            recall.search(&SearchRequest { quiet: true, ..SearchRequest::new(format!("quux{number}")) }).unwrap();
        took.push(milliseconds(started));
        assert_eq!(reply.hits.first().map(|hit| &hit.path), Some(&path));
        fs::write(&file, text).unwrap();
        recall.vault().refresh_files([path]);
    }
    percentile(&mut took, 0.95)
}

/// How much longer a search takes while another thread walks along links without a pause.
fn beside(root: &Path, language: &str, seconds: u64) -> f64 {
    let recall = open(root);
    recall.sync().unwrap();
    let searches = || {
        let mut random = Random(SplitMix64(5));
        let (started, mut count) = (Instant::now(), 0.0);
        while started.elapsed() < Duration::from_secs(seconds) {
            ask(&recall, &query(&mut random, language));
            count += 1.0;
        }
        count
    };
    let alone = searches();
    let done = AtomicBool::new(false);
    let together = thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Random(SplitMix64(9));
            while !done.load(Ordering::Relaxed) {
                walk(&recall, random.below(1_000));
            }
        });
        let count = searches();
        done.store(true, Ordering::Relaxed);
        count
    });
    alone / together
}

/// One of several processes that edit notes of their own and keep the index up.
fn edit_much(root: &Path, at: usize, count: usize) {
    let recall = open(root);
    for number in 0..count {
        let path = NotePath::new(&name(4 * (number % 50) + at)).unwrap();
        let file = root.join(path.as_str());
        let text = fs::read_to_string(&file).unwrap();
        let first = text.split("\nEdited ").next().unwrap_or(&text);
        fs::write(&file, format!("{first}\nEdited {number} times by editor {at}.\n")).unwrap();
        recall.vault().refresh_files([path]);
        recall.sync().unwrap();
    }
}
