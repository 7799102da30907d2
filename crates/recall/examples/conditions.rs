//! What conditions, lists and walks cost in a large generated vault.
//!
//! `cargo run --release -p dormouse-recall --example conditions -- [NOTES, default 20000]`
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a measurement talks to a person, builds its own folder, and stops where that fails"
)]

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use dormouse_recall::{ListRequest, Recall, RecallConfig, SearchRequest, TraverseRequest};
use dormouse_vault::Vault;

/// Runs of each question; the first and the median are shown.
const RUNS: usize = 9;

fn main() {
    let notes: usize = std::env::args().nth(1).map_or(20_000, |text| text.parse().unwrap());
    let folder = std::env::temp_dir().join(format!("dormouse-conditions-{}", std::process::id()));
    generate(&folder, notes);
    let vault = Arc::new(Vault::open(&folder).unwrap());
    let recall = Recall::open(vault, RecallConfig::default()).unwrap();
    recall.sync().unwrap();
    println!("{notes} notes; milliseconds of the first run and the median of {RUNS}");
    for query in [
        "",
        "in:digest",
        "folder:area/7",
        "date:2026-03",
        "links:n00007",
        "links-to:\"Note 7\"",
        "tag:t7",
        "tag:nobody",
        "prop:status=open -tag:t1",
        "is:pending",
    ] {
        let list = ListRequest { query: query.to_owned(), ..ListRequest::default() };
        measure(&format!("list {query}"), || recall.list(&list).unwrap().total);
    }
    for query in ["ferry", "ferry tag:t7", "ferry -in:digest date:2026-03", "ferry links:n00007"] {
        let search = SearchRequest { quiet: true, ..SearchRequest::new(query) };
        measure(&format!("search {query}"), || recall.search(&search).unwrap().total);
    }
    for (from, depth) in [("n00007", 1), ("n00007", 3), ("hub", 1)] {
        let walk = TraverseRequest { from: from.to_owned(), depth, ..TraverseRequest::default() };
        measure(&format!("traverse {from} {depth}"), || recall.traverse(&walk).unwrap().total);
    }
    fs::remove_dir_all(&folder).unwrap();
}

fn measure(name: &str, ask: impl Fn() -> usize) {
    let mut times = Vec::new();
    let mut found = 0;
    for _ in 0..RUNS {
        let started = Instant::now();
        found = ask();
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    let first = times.first().copied().unwrap_or_default();
    times.sort_by(f64::total_cmp);
    println!("{first:>9.2} {:>9.2}  {name} ({found})", times.get(RUNS / 2).copied().unwrap_or_default());
}

/// Notes of a few paragraphs with tags, properties, dates and links, and one hub.
fn generate(folder: &std::path::Path, notes: usize) {
    let mut hub = String::new();
    for i in 0..notes {
        let place = match i % 4 {
            0 => format!("digest/wiki/{}", i % 50),
            1 => format!("daily/2026-{:02}-{:02}", i % 12 + 1, i % 28 + 1),
            _ => format!("area/{}", i % 20),
        };
        let sentence = "The harbour keeps a list of boats, crews and hours, and the ferry is one of them. ";
        let text = format!(
            "---\nname: Note {i}\ntags: [t{}, u{}]\nstatus: {}\ndate: 2026-{:02}-{:02}\n---\n# Note {i}\n\n{}\n\n- see [[n{:05}]] and [[n{:05}]]\n\n{}\n",
            i % 40,
            i % 7,
            if i % 3 == 0 { "open" } else { "closed" },
            i % 12 + 1,
            i % 28 + 1,
            sentence.repeat(3),
            (i * 7 + 1) % notes,
            (i * 13 + 5) % notes,
            sentence.repeat(i % 5),
        );
        fs::create_dir_all(folder.join(&place)).unwrap();
        fs::write(folder.join(format!("{place}/n{i:05}.md")), text).unwrap();
        if i % 4 == 2 {
            hub.push_str(&format!("[[n{i:05}]]\n"));
        }
    }
    fs::write(folder.join("hub.md"), hub).unwrap();
}
