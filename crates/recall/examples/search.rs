//! Recall alone: searches a vault and shows how each score came about.
//!
//! `cargo run -p dormouse-recall --example search -- VAULT QUERY…`; without arguments it searches a
//! small vault of its own.
#![allow(clippy::print_stdout, reason = "a command that prints what it found")]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_recall::{Recall, RecallConfig, SearchRequest};
use dormouse_vault::Vault;

const SMALL: &str = "=== daily/2026-11-01/trip.md\nWe took the ferry to the island. ^b1\n\nThe sea was rough. ^b2\n=== digest/wiki/ferry.md\nThe ferry is rough in November. (derived_from:: [[daily/2026-11-01/trip#^b2]])\n";

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let small = dormouse_fixtures::temp_vault(SMALL);
    let folder = args.next().map_or_else(|| small.path().to_owned(), PathBuf::from);
    let words: Vec<String> = args.collect();
    let query = if words.is_empty() { "how is the ferry".to_owned() } else { words.join(" ") };
    let recall = Recall::open(Arc::new(Vault::open(folder)?), RecallConfig::default())?;
    let reply = recall.search(&SearchRequest { explain: true, ..SearchRequest::new(query) })?;
    for hit in &reply.hits {
        println!("{:.3}  {}  ({})", hit.score, hit.name, hit.path);
        if let Some(explain) = &hit.explain {
            let shown = |list: &[dormouse_recall::Named], by: &str| {
                list.iter().map(|n| format!("{} {:.2}", n.name, n.value)).collect::<Vec<_>>().join(by)
            };
            println!("       {}  =  {}", shown(&explain.factors, " × "), shown(&explain.parts, " + "));
        }
        for passage in &hit.passages {
            println!("       {}: {}", passage.lines.0, passage.text.replace('\n', " "));
        }
    }
    reply.warnings.iter().chain(&reply.notices).for_each(|line| println!("! {line}"));
    Ok(())
}
