//! The dream stage alone: reads a vault, and shows which digest notes it would write. Nothing is
//! written without `--write`.
//!
//! ```text
//! cargo run -p dormouse-dream --example dream_alone -- ~/notes 2026-11-30 [--write]
//! ```
#![allow(clippy::print_stdout, reason = "an example talks to its terminal")]

use std::error::Error;

use chrono::{DateTime, NaiveDate, NaiveTime};
use dormouse_dream::{
    DreamConfig, DreamContext, DreamEvent, DreamRequest, ExtractiveAbstractor, LexicalNeighbours,
    dream,
};
use dormouse_vault::{FixedClock, Vault};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(folder), Some(day)) = (args.next(), args.next()) else {
        println!("usage: dream_alone VAULT YYYY-MM-DD [--write]");
        return Ok(());
    };
    let write = args.any(|a| a == "--write");
    // The stage never looks at the real clock: the day comes in from outside.
    let noon = NaiveDate::parse_from_str(&day, "%Y-%m-%d")?
        .and_time(NaiveTime::MIN)
        .and_utc();
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
        DreamRequest {
            dry_run: !write,
            ..DreamRequest::default()
        },
    )
    .await?;
    for diff in &report.diffs {
        println!("{}", diff.diff);
    }
    println!("{}", serde_json::to_string_pretty(&report.totals)?);
    Ok(())
}
