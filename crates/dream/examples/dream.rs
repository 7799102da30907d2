//! The dream stage alone: reads a vault, and shows which digest notes it would write. Nothing is
//! written without `--write`.
//!
//! `cargo run -p dormouse-dream --example dream -- VAULT 2026-11-30 [--write]`; without arguments it
//! dreams over a small vault of its own.
#![allow(clippy::print_stdout, reason = "an example talks to its terminal")]

use std::error::Error;
use std::path::PathBuf;

use chrono::{DateTime, NaiveDate, NaiveTime};
use dormouse_dream::{
    DreamConfig, DreamContext, DreamEvent, DreamRequest, ExtractiveAbstractor, LexicalNeighbours, dream,
};
use dormouse_vault::{FixedClock, Vault};

/// Two events: a decision, and a talk that is worth nothing later.
const SMALL: &str = "\
=== daily/2026-11-02/why-not-rank-fusion.md
# Why not rank fusion

We decided to add normalised scores, because fusion by rank lost six points. ^b1
=== daily/2026-11-03/coffee.md
# Coffee

The machine is loud today. ^b1
";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let small = dormouse_fixtures::temp_vault(SMALL);
    let folder = args.next().map_or_else(|| small.path().to_owned(), PathBuf::from);
    let day = args.next().unwrap_or_else(|| "2026-11-30".to_owned());
    let write = args.any(|a| a == "--write");
    // The stage never looks at the real clock: the day comes in from outside.
    let noon = NaiveDate::parse_from_str(&day, "%Y-%m-%d")?.and_time(NaiveTime::MIN).and_utc();
    let clock = FixedClock::new(DateTime::from(noon));
    let vault = Vault::open(&folder)?;
    let progress = |event: &DreamEvent<'_>| {
        if let DreamEvent::Finished { report } = event {
            println!("{}: {} unit(s)", report.path, report.kept.len());
        }
    };
    let report = dream(
        DreamContext {
            vault: &vault,
            abstractor: &ExtractiveAbstractor,
            neighbours: &LexicalNeighbours::new(&vault),
            clock: &clock,
            config: &DreamConfig::default(),
            observer: &progress,
            cancel: &|| false,
        },
        DreamRequest { dry_run: !write, ..DreamRequest::default() },
    )
    .await?;
    for diff in &report.diffs {
        println!("{}", diff.diff);
    }
    println!("{}", serde_json::to_string_pretty(&report.totals)?);
    Ok(())
}
