//! Retrieval against questions whose evidence is known, through the crate's public door.
//!
//! `cargo xtask bench retrieval --data DIR [--scope conversation|vault] [--unit block|note]
//! [--embed PATH] [--json FILE] [--lines FILE] [--limit N] [--set NAME=VALUE]… [--against NAME=VALUE]…
//! [--arm NAME=DIR]… [--context N]
//! [--ablate] [--arms] [--typo]`
//!
//! `DIR` holds `vault/` and `queries.jsonl`, a line a question: `{"id", "query", "category"?, "conv"?,
//! "evidence": [{"note", "block"?}]}`. It may be a file of LongMemEval as well. The vault is copied to
//! a temporary folder, opened there as any vault is, and asked by `Recall::search`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a measurement talks to a person and builds its own folder"
)]

mod ask;
mod bootstrap;
mod data;
mod figures;
mod longmemeval;
mod options;
mod report;
mod rivals;
mod typo;

use std::error::Error;
use std::process::ExitCode;

use options::Options;

/// Whatever went wrong: a measurement stops and says so.
type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Outcome<()> {
    let Some(options) = Options::read(std::env::args().skip(1))? else {
        println!("{}", options::HELP);
        return Ok(());
    };
    if options.data.is_file() {
        return longmemeval::run(&options);
    }
    if !options.vault().exists() {
        return Err(
            format!("{} is not there; name a folder with vault/ and queries.jsonl", options.vault().display()).into()
        );
    }
    let questions = data::read(&options.questions(), options.limit)?;
    let bench = ask::Bench::open(&options, &options.vault(), &[])?;
    let asked = bench.ask(&questions, &options.config, options.signals, options.scope)?;
    let mut json = report::json(&asked);
    report::print(&asked, options.unit);
    if let Some(other) = &options.against {
        let against = bench.ask(&questions, other, options.signals, options.scope)?;
        println!("\nthe other setting, and what it gains [95 % of {} draws]", bootstrap::DRAWS);
        report::compare("other", &asked, &against, options.unit, &mut json);
    }
    if !options.control.is_empty() {
        println!(
            "\nthe control without {}, and what it gains [95 % of {} draws]",
            options.control.join(", "),
            bootstrap::DRAWS
        );
        let control = ask::Bench::open(&options, &options.vault(), &options.control)?;
        let control = control.ask(&questions, &options.config, options.signals, options.scope)?;
        report::compare("control", &asked, &control, options.unit, &mut json);
    }
    for (name, folder) in &options.others {
        println!("\nthe vault {name}, and what it gains [95 % of {} draws]", bootstrap::DRAWS);
        let other = ask::Bench::open(&options, folder, &[])?;
        let other = other.ask(&questions, &options.config, options.signals, options.scope)?;
        report::compare(name, &asked, &other, options.unit, &mut json);
    }
    if options.arms {
        println!("\narms, and what they gain over the engine [95 % of {} draws]", bootstrap::DRAWS);
        for (name, arm) in rivals::arms(&bench, &questions, options.scope)? {
            report::compare(name, &asked, &arm, options.unit, &mut json);
        }
        for (name, signals) in ask::bare() {
            let arm = bench.ask(&questions, &options.config, signals, options.scope)?;
            report::compare(name, &asked, &arm, options.unit, &mut json);
        }
    }
    if options.typo {
        let slipped: Vec<data::Question> = questions.iter().map(typo::slip).collect();
        println!("\na slip in one word of each question, without and with correction");
        for (name, correct_typos) in [("uncorrected", false), ("corrected", true)] {
            let config = dormouse_recall::RecallConfig { correct_typos, ..options.config.clone() };
            let arm = bench.ask(&slipped, &config, options.signals, options.scope)?;
            report::compare(name, &asked, &arm, options.unit, &mut json);
        }
    }
    if options.ablate {
        println!("\none part taken out, and what that gains [95 % of {} draws]", bootstrap::DRAWS);
        for (name, config, signals) in options::ablations(&options.config, options.signals)? {
            let arm = bench.ask(&questions, &config, signals, options.scope)?;
            report::compare(&name, &asked, &arm, options.unit, &mut json);
        }
    }
    if let Some(file) = &options.lines {
        report::lines(&asked, file)?;
    }
    if let Some(file) = &options.json {
        std::fs::write(file, serde_json::to_string_pretty(&json)? + "\n")?;
    }
    Ok(())
}
